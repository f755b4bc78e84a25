//! The transfer itself, on made humanoids: against VRM's formulas, and by what must hold.

use crate::support::*;
use glam::{DQuat, DVec3};
use phalanx::clip::Channel;
use phalanx::import::raw::{Interpolation, RawChannel, RawTrack};
use phalanx::retarget::{Alignment, Ground, Reference, RetargetOptions};
use phalanx::rig::Rig;

pub fn unaligned() -> RetargetOptions {
    RetargetOptions { alignment: Alignment::None, ..RetargetOptions::default() }
}

/// `N = W·L⁻¹·q·W⁻¹` and `q′ = L′·W′⁻¹·N·W′`, joint by joint, as the note has them.
#[test]
fn equal_bones_follow_the_formulas_of_the_note() {
    let from = Made { axes: 3, size: 1.8, ..Made::default() }.with_dance(11, 20);
    let to = Made {
        axes: 9,
        size: 0.4,
        names: |bone, name| bone.map_or_else(|| name.to_owned(), |b| b.name().to_owned()),
        ..Made::default()
    };
    let (a, b) = (from.rig(), to.rig());
    let dance = clip(&a, "dance");
    let done = retarget(&a, &b, dance, unaligned());
    assert_eq!(done.report.bones.len(), 23);
    let (map_a, map_b) = (map(&a), map(&b));
    let (rest_a, rest_b) = (Posed::rest(a.skeleton()), Posed::rest(b.skeleton()));
    let q = |posed: &Posed, joint: usize| posed.locals[joint].rotation.as_dquat().normalize();
    for time in times(dance) {
        let source = Posed::at(a.skeleton(), dance, time);
        let result = Posed::at(b.skeleton(), &done.clip, time);
        for (bone, joint) in map_a.bones() {
            let (w, l) = (rest_a.turns[joint], q(&rest_a, joint));
            let n = w * l.inverse() * q(&source, joint) * w.inverse();
            let there = map_b.joint(bone).unwrap();
            let (w, l) = (rest_b.turns[there], q(&rest_b, there));
            let expected = l * w.inverse() * n * w;
            let error = angle(expected, q(&result, there));
            assert!(error < 2e-6, "{bone} at {time}: {error:e}");
        }
        // The hips: the way from the rest pose times the ratio of the hips' heights.
        let ratio = rest_b.place(&map_b, B::Hips).y / rest_a.place(&map_a, B::Hips).y;
        assert!((ratio - done.report.ratio).abs() < 1e-6);
        let way = source.place(&map_a, B::Hips) - rest_a.place(&map_a, B::Hips);
        let expected = rest_b.place(&map_b, B::Hips) + way * ratio;
        let error = (result.place(&map_b, B::Hips) - expected).length();
        assert!(error < 1e-6, "{time}: {error:e}");
    }
    // One timeline stays one, with its keys.
    assert_eq!(done.clip.timelines().len(), 1);
    assert_eq!(done.clip.timelines().next(), dance.timelines().next());
    assert_eq!(done.report.between_keys, 0.0);
}

#[test]
fn onto_a_copy_is_the_identity() {
    for made in [
        Made { axes: 5, ..Made::default() },
        Made { axes: 5, arms: 0.8, twists: true, armature: 0.01, ..Made::default() },
        Made { facing: DQuat::from_rotation_x(-std::f64::consts::FRAC_PI_2), ..Made::default() },
    ] {
        // A body of another name above the hips is another body: its clips are not just copied.
        let made = Made {
            names: |_, name| match name {
                "Armature" => "Root".to_owned(),
                _ => format!("mixamorig:{name}"),
            },
            ..made
        };
        let copy = made.rig();
        let made = Made { names: Made::default().names, ..made };
        let rig = made.with_dance(3, 40).rig();
        let dance = clip(&rig, "dance");
        let done = retarget(&rig, &copy, dance, RetargetOptions::default());
        assert!(done.report.aligned.is_empty(), "{:?}", done.report.aligned);
        assert_eq!(done.report.ratio, 1.0);
        let map = map(&rig);
        for time in times(dance) {
            let source = Posed::at(rig.skeleton(), dance, time);
            let result = Posed::at(copy.skeleton(), &done.clip, time);
            // All joints: those without a bone, too, but the one above the hips, which does not turn.
            for joint in 0..rig.skeleton().len() {
                let error = angle(source.turns[joint], result.turns[joint]);
                assert!(error < 1e-6, "{joint}: {error:e}");
            }
            let hips = map.joint(B::Hips).unwrap();
            assert!((source.places[hips] - result.places[hips]).length() < 1e-6);
        }
    }
}

#[test]
fn there_and_back_again() {
    let from = Made { axes: 2, arms: 0.1, size: 1.7, ..Made::default() }.with_dance(21, 30);
    let to = Made { axes: 8, arms: 0.8, size: 0.6, ..Made::default() };
    let (a, b) = (from.rig(), to.rig());
    let dance = clip(&a, "dance");
    let there = retarget(&a, &b, dance, RetargetOptions::default());
    let back = retarget(&b, &a, &there.clip, RetargetOptions::default());
    assert!(there.report.aligned.iter().any(|x| x.0 == B::LeftUpperArm && x.1 > 0.6));
    let map = map(&a);
    let (mut turn, mut way) = (0.0f64, 0.0f64);
    for time in times(dance) {
        let source = Posed::at(a.skeleton(), dance, time);
        let result = Posed::at(a.skeleton(), &back.clip, time);
        for (_, joint) in map.bones() {
            turn = turn.max(angle(source.turns[joint], result.turns[joint]));
        }
        let hips = map.joint(B::Hips).unwrap();
        way = way.max((source.places[hips] - result.places[hips]).length());
    }
    println!("there and back: {turn:e} rad, {way:e} m");
    assert!(turn < 5e-6 && way < 2e-6, "{turn:e} {way:e}");
}

#[test]
fn limbs_point_where_those_of_the_source_do() {
    let from = Made { axes: 4, arms: 0.0, size: 1.7, ..Made::default() }.with_dance(5, 25);
    for to in [
        Made { axes: 6, arms: 0.9, ..Made::default() },
        Made { axes: 6, arms: 0.5, twists: true, armature: 0.01, ..Made::default() },
        Made { axes: 1, without: &[B::Chest, B::Neck, B::LeftShoulder], ..Made::default() },
    ] {
        let (a, b) = (from.rig(), to.rig());
        let dance = clip(&a, "dance");
        let done = retarget(&a, &b, dance, RetargetOptions::default());
        let (map_a, map_b) = (map(&a), map(&b));
        for time in times(dance) {
            let source = Posed::at(a.skeleton(), dance, time);
            let result = Posed::at(b.skeleton(), &done.clip, time);
            for (bone, end) in LIMBS {
                let wanted = source.direction(&map_a, bone, end);
                let error = (result.direction(&map_b, bone, end) - wanted).length();
                assert!(error < 1e-4, "{bone} at {time}: {error:e}");
            }
            // Other bones change their rotation in space as the source's do.
            let (rest_a, rest_b) = (Posed::rest(a.skeleton()), Posed::rest(b.skeleton()));
            for bone in [B::Hips, B::Spine, B::Head, B::RightShoulder, B::LeftFoot, B::RightFoot] {
                let wanted = source.turn(&map_a, bone) * rest_a.turn(&map_a, bone).inverse();
                let have = result.turn(&map_b, bone) * rest_b.turn(&map_b, bone).inverse();
                let error = angle(wanted, have);
                assert!(error < 1e-4, "{bone} at {time}: {error:e}");
            }
        }
        assert_eq!(done.report.passed_on, to.without, "bones that the target lacks");
    }
}

#[test]
fn bones_with_nothing_below_pass_no_rotation_on() {
    let from = Made { axes: 4, ..Made::default() }.with_dance(5, 5);
    let to = Made {
        axes: 4,
        names: |_, name| name.to_owned(),
        without: &[B::Chest, B::Head, B::LeftToes, B::RightHand],
        ..Made::default()
    };
    let (a, b) = (from.rig(), to.rig());
    let report = retarget(&a, &b, clip(&a, "dance"), unaligned()).report;
    // The index finger below the right hand takes its rotation over.
    assert_eq!(report.passed_on, [B::Chest, B::RightHand]);
    for end in ["mixamorig:Head", "mixamorig:LeftToeBase"] {
        assert!(report.left.iter().any(|l| l == end), "{:?}", report.left);
    }
}

#[test]
fn joints_between_bones_pass_their_rotation_on() {
    // In the source, joints between the bones turn, too: the bones below take it over.
    let from = Made { axes: 4, twists: true, ..Made::default() }.with_dance(5, 25);
    let to = Made { axes: 6, names: |_, name| name.to_owned(), ..Made::default() };
    let (a, b) = (from.rig(), to.rig());
    let dance = clip(&a, "dance");
    let done = retarget(&a, &b, dance, unaligned());
    assert_eq!(done.report.left, ["mixamorig:Tail"]);
    assert!(done.report.between_keys > 0.0 && done.report.between_keys <= 1e-4);
    let (map_a, map_b) = (map(&a), map(&b));
    let (rest_a, rest_b) = (Posed::rest(a.skeleton()), Posed::rest(b.skeleton()));
    for time in times(dance) {
        let source = Posed::at(a.skeleton(), dance, time);
        let result = Posed::at(b.skeleton(), &done.clip, time);
        for (bone, _) in map_b.bones() {
            let wanted = source.turn(&map_a, bone) * rest_a.turn(&map_a, bone).inverse();
            let have = result.turn(&map_b, bone) * rest_b.turn(&map_b, bone).inverse();
            let error = angle(wanted, have);
            assert!(error < 4e-4, "{bone} at {time}: {error:e}");
        }
    }
}

#[test]
fn characters_that_face_elsewhere_go_their_own_way() {
    let from = Made { axes: 4, ..Made::default() }.with_dance(5, 15);
    // As VRM 0.x, which faces −Z, and as files with Z up.
    for facing in [
        DQuat::from_rotation_y(std::f64::consts::PI),
        DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2),
    ] {
        let to = Made { axes: 6, facing, size: 3.0, ..Made::default() };
        let (a, b) = (from.rig(), to.rig());
        let dance = clip(&a, "dance");
        let done = retarget(&a, &b, dance, RetargetOptions::default());
        let (map_a, map_b) = (map(&a), map(&b));
        let (rest_a, rest_b) = (Posed::rest(a.skeleton()), Posed::rest(b.skeleton()));
        for time in times(dance) {
            let source = Posed::at(a.skeleton(), dance, time);
            let result = Posed::at(b.skeleton(), &done.clip, time);
            for (bone, end) in LIMBS {
                let wanted = facing * source.direction(&map_a, bone, end);
                let error = (result.direction(&map_b, bone, end) - wanted).length();
                assert!(error < 1e-4, "{bone} at {time}: {error:e}");
            }
            let way = source.place(&map_a, B::Hips) - rest_a.place(&map_a, B::Hips);
            let have = result.place(&map_b, B::Hips) - rest_b.place(&map_b, B::Hips);
            let error = (have - facing * way * done.report.ratio).length();
            assert!(error < 1e-5, "{error:e}");
        }
    }
}

#[test]
fn a_reference_pose_takes_the_place_of_the_rest_pose() {
    // The target rests with arms down; a pose of its clip has them up, as the source's rest pose.
    let from = Made { axes: 4, ..Made::default() }.with_dance(5, 15);
    let down = Made { axes: 0, arms: 0.8, ..Made::default() };
    let mut up = down.clone();
    let node = |bone: B| down.bones().iter().find(|b| b.0 == bone).unwrap().1;
    let lift = |bone: B, angle: f64| RawTrack {
        node: node(bone),
        channel: RawChannel::Rotation,
        interpolation: Interpolation::Linear,
        times: vec![0.0, 2.0],
        values: [0.0, angle]
            .iter()
            .flat_map(|a| DQuat::from_rotation_z(*a).to_array().map(|v| v as f32))
            .collect(),
    };
    up.clips.push(phalanx::import::raw::RawClip {
        name: Some("lift".into()),
        duration: 2.0,
        tracks: vec![
            lift(B::LeftUpperArm, 0.8),
            lift(B::RightUpperArm, -0.8),
            lift(B::LeftUpperLeg, -0.2),
            lift(B::RightUpperLeg, 0.2),
        ],
        ..Default::default()
    });
    let (a, b) = (from.rig(), up.rig());
    let dance = clip(&a, "dance");
    let options = RetargetOptions {
        target_reference: Reference::of_clip(clip(&b, "lift"), b.skeleton(), 2.0).unwrap(),
        ..unaligned()
    };
    let by_clip = retarget(&a, &b, dance, options);
    let by_hand = Made { axes: 0, ..Made::default() }.rig();
    let t_pose = retarget(&a, &by_hand, dance, unaligned());
    let map = map(&b);
    for time in times(dance) {
        let have = Posed::at(b.skeleton(), &by_clip.clip, time);
        let wanted = Posed::at(by_hand.skeleton(), &t_pose.clip, time);
        for (bone, end) in LIMBS {
            let error = have.direction(&map, bone, end) - wanted.direction(&map, bone, end);
            assert!(error.length() < 1e-5, "{bone}: {error}");
        }
    }
}

#[test]
fn kinds_of_curves_are_kept() {
    for (interpolation, exact) in [
        (Interpolation::Step, true),
        (Interpolation::CubicSpline, true),
        (Interpolation::Linear, true),
    ] {
        let mut from = Made { axes: 4, ..Made::default() };
        let node = from.bones().iter().find(|b| b.0 == B::LeftLowerArm).unwrap().1;
        let rest = from.rig();
        let joint = map(&rest).joint(B::LeftLowerArm).unwrap();
        let rest = rest.skeleton().rest(joint).rotation.as_dquat();
        let key = |angle: f64| (rest * DQuat::from_rotation_y(angle)).to_array().map(|v| v as f32);
        let tangent = [0.3, -0.2, 0.4, 0.1f32];
        let values = [0.0, 0.6, -0.4].iter().flat_map(|a| match interpolation {
            Interpolation::CubicSpline => [tangent, key(*a), tangent].concat(),
            _ => key(*a).to_vec(),
        });
        from.clips.push(phalanx::import::raw::RawClip {
            name: Some("wave".into()),
            duration: 1.0,
            tracks: vec![RawTrack {
                node,
                channel: RawChannel::Rotation,
                interpolation,
                times: vec![0.0, 0.3, 1.0],
                values: values.collect(),
            }],
            ..Default::default()
        });
        let (a, b) = (from.rig(), Made { axes: 6, ..Made::default() }.rig());
        let wave = clip(&a, "wave");
        let done = retarget(&a, &b, wave, unaligned());
        assert_eq!(done.report.between_keys == 0.0, exact);
        let kind = |c: &phalanx::clip::Clip| {
            c.blocks(Channel::Rotation)
                .iter()
                .map(|b| (b.kind, b.hold != 0))
                .max_by_key(|k| k.0 as u8)
        };
        assert_eq!(kind(wave), kind(&done.clip));
        let (map_a, map_b) = (map(&a), map(&b));
        let (rest_a, rest_b) = (Posed::rest(a.skeleton()), Posed::rest(b.skeleton()));
        for time in times(wave) {
            let source = Posed::at(a.skeleton(), wave, time);
            let result = Posed::at(b.skeleton(), &done.clip, time);
            let arm = B::LeftLowerArm;
            let wanted = source.turn(&map_a, arm) * rest_a.turn(&map_a, arm).inverse();
            let have = result.turn(&map_b, arm) * rest_b.turn(&map_b, arm).inverse();
            assert!(
                angle(wanted, have) < 4e-6,
                "{interpolation:?} at {time}: {:e}",
                angle(wanted, have)
            );
        }
    }
}

/// Captured motion: hips rest in the origin, and the clip lifts them.
#[test]
fn captures_stand_on_the_ground() {
    let mut from = Made::default();
    let hips = from.bones().iter().find(|b| b.0 == B::Hips).unwrap().1;
    // The armature above the hips puts them into the origin.
    let height = 0.55f32;
    from.clips.push(phalanx::import::raw::RawClip {
        name: Some("take".into()),
        duration: 1.0,
        tracks: vec![RawTrack {
            node: hips,
            channel: RawChannel::Translation,
            interpolation: Interpolation::Linear,
            times: vec![0.0, 1.0],
            values: vec![0.0, height, 0.0, 0.3, height, 0.6],
        }],
        ..Default::default()
    });
    let rig = from.rig();
    let lowered: Vec<_> = (0..rig.skeleton().len())
        .map(|j| {
            let mut local = rig.skeleton().rest(j);
            if j == map(&rig).joint(B::Hips).unwrap() {
                local.translation = glam::Vec3::ZERO;
            }
            local
        })
        .collect();
    let to = Made { size: 2.0, ..Made::default() }.rig();
    let options = RetargetOptions {
        source_reference: Reference::Pose(lowered),
        ..RetargetOptions::default()
    };
    let take = clip(&rig, "take");
    let done = retarget(&rig, &to, take, options.clone());
    assert_eq!(done.report.ground, Ground::Origin);
    let hips = |done: &Retargeted, time| {
        Posed::at(to.skeleton(), &done.clip, time).place(&map(&to), B::Hips)
    };
    // The source's hips are 0.54 above the lowest toe when they stand 0.55 high; the target's 1.10 above ground.
    let ratio = done.report.ratio;
    assert!((hips(&done, 0.0).y - f64::from(height) * ratio).abs() < 1e-5);
    assert!((hips(&done, 1.0).z - 0.6 * ratio).abs() < 1e-5);
    let options = RetargetOptions { ground: Ground::Reference, ..options };
    let wrong = retarget(&rig, &to, take, options);
    assert!(hips(&wrong, 0.0).y > 1.5 * hips(&done, 0.0).y);
}

#[test]
fn markers_and_root_motion_are_kept() {
    use phalanx::clip::Marker;
    let from = phalanx::import::mannequin_with(&ImportOptions {
        root_motion: Some(RootMotionOptions::default()),
        ..ImportOptions::default()
    })
    .unwrap();
    let moving = from
        .clips()
        .iter()
        .find(|c| c.root_motion().is_some_and(|m| m.whole().translation.length() > 0.1));
    let moving = moving.unwrap().as_ref().clone();
    let moving = moving.with_markers(vec![Marker::new("step", 0.25)]).unwrap();
    let to = Made { size: 4.0, axes: 3, ..Made::default() }.rig();
    let done = retarget(&from, &to, &moving, RetargetOptions::default());
    assert_eq!(done.clip.markers(), moving.markers());
    assert_eq!(done.clip.duration(), moving.duration());
    let (a, b) = (moving.root_motion().unwrap(), done.clip.root_motion().unwrap());
    let expected = a.whole().translation * done.report.ratio;
    assert!((b.whole().translation - expected).length() < 1e-5);
    assert!(done.report.root_motion && done.report.ratio > 1.5);
}

use phalanx::build::RootMotionOptions;
use phalanx::import::ImportOptions;

/// A pose of a skeleton that is moved as a whole.
fn moved(rig: &Rig, up: f64) -> Reference {
    let hips = map(rig).joint(B::Hips).unwrap();
    let pose = (0..rig.skeleton().len()).map(|j| {
        let mut local = rig.skeleton().rest(j);
        if j == hips {
            local.translation.y += up as f32;
        }
        local
    });
    Reference::Pose(pose.collect())
}

/// One body, once standing and once with its hips in the origin or lifted: the ratio is 1 and feet stand.
#[test]
fn one_body_in_two_heights_keeps_its_height() {
    let from = Made { size: 1.8, ..Made::default() }.with_dance(5, 15);
    let rig = from.rig();
    let (dance, map) = (clip(&rig, "dance"), map(&rig));
    let height = Posed::rest(rig.skeleton()).place(&map, B::Hips).y;
    let retargeted = |source: Reference, target: Reference| {
        let options = RetargetOptions {
            source_reference: source,
            target_reference: target,
            ..RetargetOptions::default()
        };
        retarget(&rig, &rig, dance, options)
    };
    let apart = |done: &Retargeted, up: f64| {
        let apart = times(dance).into_iter().map(|time| {
            let source = Posed::at(rig.skeleton(), dance, time);
            let result = Posed::at(rig.skeleton(), &done.clip, time);
            let wanted = source.place(&map, B::LeftToes) + DVec3::Y * up;
            (result.place(&map, B::LeftToes) - wanted).length()
        });
        apart.fold(0.0, f64::max)
    };
    // The source's clip is at the height of a standing body; its reference is not.
    for up in [-height, 1.0] {
        let done = retargeted(moved(&rig, up), Reference::Rest);
        assert!((done.report.ratio - 1.0).abs() < 1e-6, "{up}: {}", done.report.ratio);
        let error = apart(&done, 0.0);
        assert!(error < 1e-5, "from {up}: {error:e}");
        // A target stands where its reference pose does.
        let done = retargeted(Reference::Rest, moved(&rig, up));
        assert!((done.report.ratio - 1.0).abs() < 1e-6, "{up}: {}", done.report.ratio);
        let error = apart(&done, up);
        assert!(error < 1e-5, "onto {up}: {error:e}");
    }
    let done = retargeted(moved(&rig, -height), moved(&rig, 1.0));
    assert!((done.report.ratio - 1.0).abs() < 1e-6, "{}", done.report.ratio);
}

/// Joints and properties of every kind move: onto itself nothing changes.
#[test]
fn translations_and_scales_onto_itself_are_kept() {
    let made = Made {
        axes: 5,
        armature: 0.5,
        names: |_, name| match name {
            "Armature" => name.to_owned(),
            _ => format!("mixamorig:{name}"),
        },
        ..Made::default()
    }
    .with_dance(3, 9);
    let rig = made.rig();
    let node = |name: &str| {
        let found = rig.nodes().iter().position(|n| n.name.as_deref() == Some(name));
        found.unwrap()
    };
    let mut random = Random(8);
    let mut track = |name: &str, channel: RawChannel, around: glam::Vec3| {
        let steps = (0..9).flat_map(|_| {
            let step = DVec3::new(random.next(), random.next(), random.next()) * 0.1;
            (around + step.as_vec3()).to_array()
        });
        RawTrack {
            node: node(name),
            channel,
            interpolation: Interpolation::Linear,
            times: (0..9).map(|k| k as f32 / 30.0).collect(),
            values: steps.collect(),
        }
    };
    let rest = |name: &str| rig.skeleton().rest(rig.skeleton().joint(name).unwrap());
    let (t, s) = (RawChannel::Translation, RawChannel::Scale);
    let tracks = [
        track("Armature", s, glam::Vec3::splat(0.5)),
        track("mixamorig:LeftForeArm", t, rest("mixamorig:LeftForeArm").translation),
        track("mixamorig:Tail", t, rest("mixamorig:Tail").translation),
        track("mixamorig:Head", s, glam::Vec3::ONE),
        track("mixamorig:Hips", s, glam::Vec3::ONE),
        track("mixamorig:Tail", s, glam::Vec3::ONE),
    ];
    // Of a copy with another joint above the hips, what is above them is not kept.
    let names = |_: Option<B>, name: &str| match name {
        "Armature" => "Root".to_owned(),
        _ => format!("mixamorig:{name}"),
    };
    let copy = Made { names, ..made.clone() }.rig();
    for (tracks, copies) in [(&tracks[1..], true), (&tracks[..], false)] {
        let mut own = made.clone();
        own.clips[0].tracks.extend_from_slice(tracks);
        let rig = own.rig();
        let dance = clip(&rig, "dance");
        let target = if copies { &copy } else { &rig };
        let done = retarget(&rig, target, dance, RetargetOptions::default());
        for time in times(dance) {
            let source = Posed::at(rig.skeleton(), dance, time);
            let result = Posed::at(target.skeleton(), &done.clip, time);
            for (joint, name) in rig.skeleton().names().iter().enumerate() {
                let (a, b) = (&source.locals[joint], &result.locals[joint]);
                let apart = (a.translation - b.translation).length() + (a.scale - b.scale).length();
                assert!(apart < 1e-5, "{name} at {time}: {a:?} {b:?}");
            }
        }
        let report = done.report;
        assert_eq!(report.translations_kept.len(), 2, "{:?}", report.translations_kept);
        assert_eq!(report.scales_kept.len(), tracks.len() - 2, "{:?}", report.scales_kept);
        assert!(report.scales_dropped.is_empty() && report.translations_dropped.is_empty());
    }
}
