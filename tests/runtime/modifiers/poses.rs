//! Poses that the host gives whole, against an f64 blend of both poses.

use super::{Body, Cast, wide};
use glam::{DAffine3, DQuat, DVec3, Quat, Vec3};
use phalanx::crowd::{BoneBuffer, CrowdSnapshot, PlayOptions, PoseStage, Tier, Tiers};
use phalanx::math::Affine3x4;
use phalanx::playback::{
    MAX_MODIFIERS, Mixer, MixerSnapshot, PlaybackError, PoseSpace, Target, TwoBoneIk,
};
use phalanx::skeleton::Trs;
use phalanx_testkit::oracle::Pose;
use phalanx_testkit::oracle::pose::{blended, relative};
use phalanx_testkit::rigs::finite;
use phalanx_workload::hash01;

const DT: f64 = 1.0 / 32.0;

/// A pose of a body that no clip has, by number: in skeleton order and as the oracle has it, by node.
pub fn pose(body: &Body, number: u64) -> (Vec<Trs>, Pose) {
    let mut all = body.scene.rest();
    let r = |joint: usize, k: u64| 2.0 * hash01(number * 1000 + joint as u64 * 10 + k) as f32 - 1.0;
    let joints = body.nodes.iter().enumerate().map(|(joint, &node)| {
        let rest = &body.scene.nodes[node].rest;
        let turn = Quat::from_xyzw(r(joint, 0), r(joint, 1), r(joint, 2), r(joint, 3));
        let away = Vec3::new(r(joint, 4), r(joint, 5), r(joint, 6)) * 0.05;
        let scale = Vec3::ONE + Vec3::new(r(joint, 7), r(joint, 8), r(joint, 9)) * 0.05;
        let local = Trs {
            translation: Vec3::from(rest.t.map(|v| v as f32)) + away,
            // Of any length.
            rotation: turn.normalize() * (0.5 + hash01(number + joint as u64) as f32),
            scale: Vec3::from(rest.s.map(|v| v as f32)) * scale,
        };
        all[node].t = local.translation.as_dvec3().to_array();
        all[node].r = local.rotation.as_dquat().normalize().to_array();
        all[node].s = local.scale.as_dvec3().to_array();
        local
    });
    let joints = joints.collect();
    (joints, all)
}

#[test]
fn poses_are_blended_as_the_oracle_blends_them() {
    let body = Body::character();
    for (n, clip) in (0..body.scene.clips.len()).enumerate() {
        for weight in [0.0, 0.01, 0.5, 0.999, 1.0f32] {
            let mut cast = Cast::new(&body.rig, 3);
            let mut mixer = Mixer::new(body.rig.clone()).unwrap();
            let (given, of_oracle) = pose(body, n as u64);
            let time = (body.scene.clips[clip].duration * hash01(n as u64 + 7)) as f32;
            (0..2).for_each(|i| cast.hold(i, clip, time));
            let ids = [cast.all[0], cast.all[2]];
            let both = [&given[..], &given[..]].concat();
            cast.crowd.set_poses(cast.rig, &ids, &both, PoseSpace::Local, &[weight]).unwrap();
            let held = phalanx_testkit::ruler::held(time.into(), 1.0);
            let of_mixer = mixer.clip_by_index(clip).unwrap();
            let mut player = mixer.player();
            player.play(0, of_mixer, &held).unwrap();
            player.set_pose(&given, PoseSpace::Local).unwrap();
            player.fade_pose(weight, 0.0).unwrap();
            let what = format!("clip {clip}, weight {weight}");
            let animated = body.scene.pose(clip, time.into());
            let poses = [animated, body.scene.rest()];
            for (i, animated) in [0, 2].into_iter().zip(poses) {
                let want = body.worlds(&blended(&animated, &of_oracle, weight.into()));
                body.close(&cast.models(i), &want, (2.0, 1e-4), &what);
                let rows = cast.frame().swap_remove(i);
                body.palette(&rows, &want, 2e-4, &what);
                // The local transforms that are read are those.
                let mut read = vec![Trs::IDENTITY; given.len()];
                let joints: Vec<usize> = (0..given.len()).collect();
                let (rig, id) = (cast.rig, cast.all[i]);
                cast.crowd.local_poses(rig, &joints, &[id], PoseStage::After, &mut read).unwrap();
                let mixed = blended(&animated, &of_oracle, weight.into());
                for (joint, read) in read.iter().enumerate() {
                    let want = &mixed[body.nodes[joint]];
                    let off = read.translation.as_dvec3().distance(DVec3::from(want.t));
                    let dot = read.rotation.as_dquat().dot(DQuat::from_array(want.r)).abs();
                    let wide = read.scale.as_dvec3().distance(DVec3::from(want.s));
                    assert!(off < 1e-5 && dot > 1.0 - 1e-5 && wide < 1e-5, "{what}: {joint}");
                }
            }
            let rows = cast.frame();
            assert!(mixer.evaluate() == rows[0], "{what}");
            let mut plain = Cast::new(&body.rig, 3);
            (0..2).for_each(|i| plain.hold(i, clip, time));
            let without = plain.frame();
            assert!(rows[1] == without[1] && (rows[0] == without[0]) == (weight == 0.0), "{what}");
            assert_eq!(cast.crowd.playing(ids[0]).unwrap().pose_weight(), Some(weight));
            // Cleared, all bits are as before.
            cast.crowd.clear_poses(&ids).unwrap();
            assert!(cast.frame() == without, "{what}");
            assert_eq!(cast.crowd.playing(ids[0]).unwrap().pose_weight(), None);
        }
    }
}

/// Two clips at once, and layers of weights: what the clips give is read with the pose at weight 0.
#[test]
fn poses_blend_with_what_several_clips_give() {
    let body = Body::character();
    let mut cast = Cast::new(&body.rig, 2);
    for n in 0..2 {
        cast.hold(n, 0, 0.3);
        let other = cast.crowd.clip_by_index(cast.rig, 4).unwrap();
        let half = PlayOptions { weight: 0.4, speed: 0.0, time: 0.2, ..PlayOptions::default() };
        cast.crowd.player(cast.all[n]).unwrap().add(0, other, &half).unwrap();
    }
    let joints: Vec<usize> = (0..body.nodes.len()).collect();
    let mut animated = vec![Trs::IDENTITY; joints.len()];
    let (rig, ids) = (cast.rig, cast.all.clone());
    cast.crowd.local_poses(rig, &joints, &ids[..1], PoseStage::Before, &mut animated).unwrap();
    let mut all = body.scene.rest();
    for (joint, local) in animated.iter().enumerate() {
        let node = &mut all[body.nodes[joint]];
        node.t = local.translation.as_dvec3().to_array();
        node.r = local.rotation.as_dquat().to_array();
        node.s = local.scale.as_dvec3().to_array();
    }
    let (given, of_oracle) = pose(body, 5);
    cast.crowd.set_poses(rig, &ids[..1], &given, PoseSpace::Local, &[0.3]).unwrap();
    let want = body.worlds(&blended(&all, &of_oracle, f64::from(0.3f32)));
    body.close(&cast.models(0), &want, (2.0, 1e-4), "two clips");
    // Modifiers, of which there are none, would get the blended pose.
    let [mut before, mut after] = [animated.clone(), animated.clone()];
    cast.crowd.local_poses(rig, &joints, &ids[..1], PoseStage::Before, &mut before).unwrap();
    cast.crowd.local_poses(rig, &joints, &ids[..1], PoseStage::After, &mut after).unwrap();
    assert!(before == after && before != animated);
}

#[test]
fn poses_in_model_and_world_space_are_where_they_were_given() {
    let body = Body::character();
    for number in 0..8u64 {
        let (mut local, _) = pose(body, number);
        // Even scales: no shear is dropped.
        for (joint, local) in local.iter_mut().enumerate() {
            local.scale = Vec3::splat(local.scale.x * if joint % 11 == 3 { -1.0 } else { 1.0 });
        }
        let parents = body.rig.skeleton().parents();
        let wide_of = |t: &Trs| {
            let (t, r, s) = (t.translation, t.rotation.as_dquat().normalize(), t.scale);
            DAffine3::from_scale_rotation_translation(s.as_dvec3(), r, t.as_dvec3())
        };
        let world = DAffine3::from_scale_rotation_translation(
            DVec3::splat(1.5),
            DQuat::from_rotation_y(0.3 * number as f64),
            DVec3::new(120.0, -3.0, 40.0 * number as f64),
        );
        for space in [PoseSpace::Model, PoseSpace::World] {
            let mut models: Vec<DAffine3> = Vec::new();
            for (joint, local) in local.iter().enumerate() {
                let above = models.get(usize::from(parents[joint])).copied();
                models.push(above.unwrap_or(DAffine3::IDENTITY) * wide_of(local));
            }
            let given: Vec<Trs> = models
                .iter()
                .map(|&m| {
                    let m = if space == PoseSpace::World { world * m } else { m };
                    let (scale, rotation, t) = m.to_scale_rotation_translation();
                    let (translation, rotation) = (t.as_vec3(), rotation.as_quat());
                    Trs { translation, rotation, scale: scale.as_vec3() }
                })
                .collect();
            let mut cast = Cast::new(&body.rig, 1);
            cast.hold(0, 2, 0.2);
            let to_world: [f32; 16] = glam::DMat4::from(world).to_cols_array().map(|v| v as f32);
            cast.crowd.set_world(cast.all[0], Affine3x4::from_cols_array(&to_world)).unwrap();
            cast.crowd.set_poses(cast.rig, &cast.all, &given, space, &[1.0]).unwrap();
            for (joint, (have, want)) in cast.models(0).iter().zip(&models).enumerate() {
                let want = glam::DMat4::from(*want).to_cols_array();
                let have = wide(have);
                let off = (0..16).map(|k| (have[k] - want[k]).abs()).fold(0.0, f64::max);
                assert!(off < 2e-4, "{space:?} {number}: joint {joint} is off by {off:e}");
            }
        }
    }
}

/// Below uneven scales the positions are kept; axes are those of the nearest transform without shear.
#[test]
fn uneven_scales_keep_positions_and_refuse_none() {
    let uneven = Trs { scale: Vec3::new(0.5, 2.0, -1.5), ..super::by([0.0, 1.0, 0.0]) };
    let turn = Quat::from_euler(glam::EulerRot::XYZ, 0.4, 0.7, -0.2);
    let line = [uneven, Trs { rotation: turn, ..super::by([0.1, 0.2, 0.3]) }, uneven];
    let body = Body::of(super::line(&line));
    let mut cast = Cast::new(&body.rig, 1);
    let given: Vec<Trs> = (0..3)
        .map(|n| Trs {
            translation: Vec3::new(0.3, 0.5 * n as f32, 0.1),
            rotation: Quat::from_rotation_z(0.2 * n as f32),
            scale: uneven.scale,
        })
        .collect();
    cast.crowd.set_poses(cast.rig, &cast.all, &given, PoseSpace::Model, &[1.0]).unwrap();
    let models = cast.models(0);
    finite(&models, "models");
    for (joint, (have, want)) in models.iter().zip(&given).enumerate().take(2) {
        let off = have.translation().distance(want.translation);
        assert!(off < 1e-5, "joint {joint} is off by {off}");
    }
    let want = relative(&given[0].into_wide(), &given[1].into_wide());
    let mut read = [Trs::IDENTITY];
    cast.crowd.local_poses(cast.rig, &[1], &cast.all, PoseStage::After, &mut read).unwrap();
    assert!(read[0].translation.as_dvec3().distance(want) < 1e-5);
}

trait IntoWide {
    fn into_wide(self) -> DAffine3;
}

impl IntoWide for Trs {
    fn into_wide(self) -> DAffine3 {
        DAffine3::from_scale_rotation_translation(
            self.scale.as_dvec3(),
            self.rotation.as_dquat(),
            self.translation.as_dvec3(),
        )
    }
}

#[test]
fn overrides_and_modifiers_come_after_poses() {
    let body = Body::character();
    let ik = TwoBoneIk::new(body.joint("RightHand"));
    let target = Target::model(Vec3::new(-0.28, 1.25, 0.27));
    let mut cast = Cast::new(&body.rig, 1);
    let by = cast.crowd.add_modifier(cast.rig, ik.clone()).unwrap();
    cast.hold(0, 1, 0.4);
    cast.aim(0, by, target, 1.0);
    let head = body.joint("Head");
    let turn = Trs { translation: Vec3::Y * 0.1, ..Trs::IDENTITY };
    cast.crowd.player(cast.all[0]).unwrap().set_override(head, turn).unwrap();
    // The clips' own pose in model space, moved: only the root differs from it.
    let (mut given, mut of_oracle) = pose(body, 3);
    for (joint, local) in given.iter_mut().enumerate() {
        let node = body.nodes[joint];
        let rest = &body.scene.nodes[node].rest;
        of_oracle[node] = rest.clone();
        local.translation = Vec3::from(rest.t.map(|v| v as f32));
        local.rotation = Quat::from_array(rest.r.map(|v| v as f32));
        local.scale = Vec3::from(rest.s.map(|v| v as f32));
    }
    cast.crowd.set_poses(cast.rig, &cast.all, &given, PoseSpace::Local, &[0.25]).unwrap();
    let animated = body.scene.pose(1, f64::from(0.4f32));
    let mut mixed = blended(&animated, &of_oracle, 0.25);
    let node = body.nodes[head];
    (mixed[node].t, mixed[node].r) = ([0.0, f64::from(0.1f32), 0.0], [0.0, 0.0, 0.0, 1.0]);
    mixed[node].s = [1.0; 3];
    let want = body.bent(&body.worlds(&mixed), &ik, (&target, &Affine3x4::IDENTITY), 1.0);
    body.close(&cast.models(0), &want, (0.5, 1e-4), "a pose, an override and a modifier");
}

#[test]
fn weights_of_poses_fade() {
    let body = Body::character();
    let (given, _) = pose(body, 9);
    let with = |weight: f32| {
        let mut cast = Cast::new(&body.rig, 1);
        cast.hold(0, 0, 0.3);
        cast.crowd.set_poses(cast.rig, &cast.all, &given, PoseSpace::Local, &[weight]).unwrap();
        cast.frame().remove(0)
    };
    let mut cast = Cast::new(&body.rig, 1);
    cast.hold(0, 0, 0.3);
    let mut player = cast.crowd.player(cast.all[0]).unwrap();
    assert!(matches!(player.fade_pose(1.0, 0.0), Err(PlaybackError::NoPose)));
    player.set_pose(&given, PoseSpace::Local).unwrap();
    assert!(cast.frame()[0] == with(0.0));
    cast.crowd.fade_poses(&cast.all, 1.0, 8.0 * DT as f32).unwrap();
    for step in 1..=10 {
        // Other poses keep the fade.
        cast.crowd.set_poses(cast.rig, &cast.all, &given, PoseSpace::Local, &[]).unwrap();
        cast.crowd.advance(DT).unwrap();
        assert!(cast.frame()[0] == with((step as f32 / 8.0).min(1.0)), "{step}");
    }
    cast.crowd.fade_poses(&cast.all, 0.0, 2.0 * DT as f32).unwrap();
    for weight in [0.5, 0.0, 0.0] {
        cast.crowd.advance(DT).unwrap();
        assert!(cast.frame()[0] == with(weight), "{weight}");
    }
    // The next instance at an index has none.
    cast.crowd.fade_poses(&cast.all, 1.0, 0.0).unwrap();
    cast.crowd.despawn(cast.all[0]).unwrap();
    cast.all[0] = cast.crowd.spawn(cast.rig).unwrap();
    cast.hold(0, 0, 0.3);
    assert!(cast.frame()[0] == with(0.0));
}

/// A pose that comes after one whose fade was running fades once in a step.
#[test]
fn a_removed_pose_leaves_no_fade() {
    let body = Body::character();
    let (given, _) = pose(body, 9);
    for despawns in [false, true] {
        let mut cast = Cast::new(&body.rig, 1);
        for _ in 0..3 {
            let mut player = cast.crowd.player(cast.all[0]).unwrap();
            player.set_pose(&given, PoseSpace::Local).unwrap();
            player.fade_pose(1.0, 8.0 * DT as f32).unwrap();
            player.clear_pose();
            if despawns {
                cast.crowd.despawn(cast.all[0]).unwrap();
                cast.all[0] = cast.crowd.spawn(cast.rig).unwrap();
            }
        }
        let mut player = cast.crowd.player(cast.all[0]).unwrap();
        player.set_pose(&given, PoseSpace::Local).unwrap();
        player.fade_pose(1.0, 8.0 * DT as f32).unwrap();
        cast.crowd.advance(DT).unwrap();
        assert_eq!(cast.crowd.playing(cast.all[0]).unwrap().pose_weight(), Some(0.125));
    }
}

/// A hidden hand, below an arm with an uneven scale, in any space.
#[test]
fn scales_of_nothing_are_kept() {
    let body = Body::character();
    let (mut given, _) = pose(body, 3);
    let skeleton = body.rig.skeleton();
    let is_leaf = |&joint: &usize| !skeleton.parents().contains(&(joint as u16));
    let leaves: Vec<usize> = (0..given.len()).filter(is_leaf).collect();
    for (n, &leaf) in leaves.iter().enumerate() {
        given[leaf].scale = [Vec3::ZERO, Vec3::new(1.0, 0.0, 1.0)][n % 2];
    }
    for space in [PoseSpace::Local, PoseSpace::Model, PoseSpace::World] {
        let mut cast = Cast::new(&body.rig, 1);
        cast.crowd.set_poses(cast.rig, &cast.all, &given, space, &[1.0]).unwrap();
        finite(&cast.frame()[0], "a frame");
        for &leaf in &leaves {
            let mut read = [Trs::IDENTITY];
            let stage = PoseStage::After;
            cast.crowd.local_poses(cast.rig, &[leaf], &cast.all, stage, &mut read).unwrap();
            assert_eq!(read[0].scale.x == 0.0, given[leaf].scale.x == 0.0, "{leaf}, {space:?}");
            assert!(read[0].scale.y == 0.0 && read[0].rotation.is_finite(), "{leaf}, {space:?}");
        }
    }
}

#[test]
fn poses_that_are_refused_change_nothing() {
    let body = Body::character();
    let mut cast = Cast::new(&body.rig, 3);
    let (good, _) = pose(body, 1);
    let three = good.repeat(3);
    cast.crowd.set_poses(cast.rig, &cast.all, &three, PoseSpace::Local, &[0.5]).unwrap();
    let (saved, rows) = (cast.crowd.snapshot(), cast.frame());
    let head = body.joint("Head");
    let at = good.len() + head;
    let nan = f32::NAN;
    type Spoil = (&'static str, fn(&mut Trs));
    let spoils: [Spoil; 8] = [
        ("translation is NaN", |t| t.translation.y = f32::NAN),
        ("translation is inf", |t| t.translation.z = f32::INFINITY),
        ("translation is 2e9", |t| t.translation.x = -2e9),
        ("scale is NaN", |t| t.scale.x = f32::NAN),
        ("scale is inf", |t| t.scale.x = f32::INFINITY),
        ("rotation has the length NaN", |t| t.rotation.w = f32::NAN),
        ("rotation has the length 0e0", |t| t.rotation = Quat::from_array([0.0; 4])),
        ("rotation has the length inf", |t| t.rotation.x = f32::INFINITY),
    ];
    for space in [PoseSpace::Local, PoseSpace::Model, PoseSpace::World] {
        for (what, spoil) in &spoils {
            let mut all = three.clone();
            spoil(&mut all[at]);
            let refused = cast.crowd.set_poses(cast.rig, &cast.all, &all, space, &[1.0]);
            let error = refused.unwrap_err();
            let PlaybackError::Element { element: 1, source } = &error else { panic!("{error}") };
            let text = error.to_string();
            // Beyond its limit in another space is what a joint is from its parent.
            if space == PoseSpace::Local || !what.contains("2e9") {
                assert!(text.contains("\"Head\"") && text.contains(what), "{what}: {text}");
            }
            assert!(matches!(**source, PlaybackError::Pose { .. }), "{text}");
            assert!(cast.crowd.snapshot() == saved, "{what}");
        }
    }
    let mut wide = three.clone();
    wide[at].scale *= 101.0;
    let ids = cast.all.clone();
    let mut refuse = |poses: &[Trs], weights: &[f32]| {
        let refused = cast.crowd.set_poses(cast.rig, &ids, poses, PoseSpace::Local, weights);
        let text = refused.unwrap_err().to_string();
        assert!(cast.crowd.snapshot() == saved, "{text}");
        text
    };
    let text = refuse(&wide, &[1.0]);
    assert!(text.contains("\"Head\"") && text.contains("limit of 1e2"), "{text}");
    assert!(refuse(&three[1..], &[1.0]).contains("140 values given for 47 joints of 3 instances"));
    assert!(refuse(&three, &[1.0, 0.5]).contains("weights: 2 values for 3 instances"));
    for weight in [1.1, -0.1, nan] {
        assert!(refuse(&three, &[0.5, weight, 0.5]).contains("element 1: weight"));
    }
    let mut player = cast.crowd.player(cast.all[0]).unwrap();
    let short = player.set_pose(&good[1..], PoseSpace::Local);
    assert!(matches!(
        short,
        Err(PlaybackError::JointValues { values: 46, instances: 1, joints: 47 })
    ));
    assert!(player.fade_pose(2.0, 0.0).is_err() && player.fade_pose(0.5, -1.0).is_err());
    assert!(cast.crowd.fade_poses(&cast.all, 0.5, f32::NAN).is_err());
    // A world transform without an inverse.
    cast.crowd.set_world(cast.all[2], Affine3x4 { rows: [[0.0; 4]; 3] }).unwrap();
    let saved = cast.crowd.snapshot();
    let refused = cast.crowd.set_poses(cast.rig, &cast.all, &three, PoseSpace::World, &[1.0]);
    assert!(matches!(refused, Err(PlaybackError::Element { element: 2, .. })));
    // What is refused is none of the numbers that were given.
    let text = refused.unwrap_err().to_string();
    assert!(text.contains("(\"Root\"): in model space, its translation is NaN"), "{text}");
    let mut flat = good.clone();
    flat[body.joint("Spine")].scale = Vec3::ZERO;
    let refused = cast.crowd.set_poses(cast.rig, &cast.all[..1], &flat, PoseSpace::Model, &[1.0]);
    let text = refused.unwrap_err().to_string();
    assert!(text.contains("(\"Spine1\"): relative to the joint above it, its transl"), "{text}");
    let gone = cast.all[1];
    assert!(cast.crowd.snapshot() == saved && cast.frame() == rows);
    cast.crowd.despawn(gone).unwrap();
    let refused = cast.crowd.set_poses(cast.rig, &cast.all, &three, PoseSpace::Local, &[1.0]);
    assert!(matches!(refused, Err(PlaybackError::UnknownInstance { .. })));
    let refused = cast.crowd.clear_poses(&cast.all).unwrap_err();
    assert!(matches!(refused, PlaybackError::Element { element: 1, .. }), "{refused}");
    let other = cast.crowd.add_rig(body.rig.clone()).unwrap();
    let stranger = cast.crowd.spawn(other).unwrap();
    let refused = cast.crowd.set_poses(cast.rig, &[stranger], &good, PoseSpace::Local, &[1.0]);
    assert!(matches!(refused, Err(PlaybackError::UnknownInstance { .. })));
    let no_pose = cast.crowd.fade_poses(&[stranger], 1.0, 0.0).unwrap_err();
    assert!(no_pose.to_string().contains("element 0: the character has no pose"), "{no_pose}");
}

#[test]
fn many_poses_are_the_same_for_any_number_of_workers() {
    let body = Body::character();
    let build = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut cast = Cast::new(&body.rig, 100);
            let poses: Vec<Trs> = (0..100).flat_map(|n| pose(body, n).0).collect();
            (0..100).for_each(|n| cast.hold(n, n % 10, 0.1));
            let weights: Vec<f32> = (0..100).map(|n| n as f32 / 99.0).collect();
            let (rig, ids) = (cast.rig, cast.all.clone());
            cast.crowd.set_poses(rig, &ids, &poses, PoseSpace::Model, &weights).unwrap();
            // The first that is refused is named.
            let mut bad = poses.clone();
            for at in [70 * 47 + 3, 20 * 47 + 5, 90 * 47] {
                bad[at].scale.x = f32::NAN;
            }
            let refused = cast.crowd.set_poses(rig, &ids, &bad, PoseSpace::Local, &weights);
            assert!(matches!(refused, Err(PlaybackError::Element { element: 20, .. })));
            cast.frame()
        })
    };
    let one = build(1);
    for threads in [2, 5] {
        assert!(build(threads) == one, "{threads} workers");
    }
}

#[test]
fn snapshots_have_poses() {
    let body = Body::character();
    let make = || {
        let mut cast = Cast::new(&body.rig, 4);
        for n in 0..4 {
            let clip = cast.crowd.clip_by_index(cast.rig, n).unwrap();
            cast.crowd.play(cast.all[n], clip, &PlayOptions::default()).unwrap();
        }
        cast
    };
    let mut cast = make();
    let poses: Vec<Trs> = (0..3).flat_map(|n| pose(body, n).0).collect();
    let ids = cast.all.clone();
    cast.crowd.set_poses(cast.rig, &ids[..3], &poses, PoseSpace::Local, &[0.3, 0.0, 1.0]).unwrap();
    cast.crowd.fade_poses(&ids[..2], 0.8, 0.5).unwrap();
    cast.crowd.advance(DT).unwrap();
    let saved = cast.crowd.snapshot();
    let bytes = saved.to_bytes();
    let read = CrowdSnapshot::from_bytes(&bytes).unwrap();
    assert!(read == saved && read.to_bytes() == bytes);
    let frames = |cast: &mut Cast| -> Vec<_> {
        let frame = |_| {
            cast.crowd.advance(DT).unwrap();
            cast.frame()
        };
        (0..20).map(frame).collect()
    };
    let wanted = frames(&mut cast);
    for from in [&saved, &read] {
        cast.crowd.clear_poses(&ids).unwrap();
        let other = pose(body, 8).0;
        cast.crowd.set_poses(cast.rig, &ids[3..], &other, PoseSpace::Local, &[1.0]).unwrap();
        cast.frame();
        cast.crowd.restore(from).unwrap();
        assert!(cast.crowd.snapshot() == saved);
        assert!(frames(&mut cast) == wanted);
    }
    let mut other = make();
    other.crowd.restore(&read).unwrap();
    assert!(frames(&mut other) == wanted);
    // Every number of a pose and of its weight is in it.
    let mut seen = vec![bytes.clone()];
    for at in 0..10 {
        cast.crowd.restore(&saved).unwrap();
        let mut changed = poses[..47].to_vec();
        let joint = &mut changed[7];
        match at {
            0..3 => joint.translation[at] += 0.01,
            3..6 => joint.scale[at - 3] += 0.01,
            6 => joint.rotation = Quat::from_rotation_x(0.1) * joint.rotation,
            7 => joint.rotation = -joint.rotation,
            8 => cast.crowd.fade_poses(&ids[..1], 0.1, 0.0).unwrap(),
            _ => cast.crowd.clear_poses(&ids[..1]).unwrap(),
        }
        if at < 8 {
            cast.crowd.set_poses(cast.rig, &ids[..1], &changed, PoseSpace::Local, &[]).unwrap();
        }
        let now = cast.crowd.snapshot().to_bytes();
        assert!(!seen.contains(&now), "{at}");
        seen.push(now);
    }
    let mut mixer = Mixer::new(body.rig.clone()).unwrap();
    mixer.player().set_pose(&poses[..47], PoseSpace::Model).unwrap();
    mixer.player().fade_pose(0.7, 1.0).unwrap();
    mixer.advance(0.25).unwrap();
    let saved = MixerSnapshot::from_bytes(&mixer.snapshot().to_bytes()).unwrap();
    let wanted = mixer.evaluate().to_vec();
    mixer.player().clear_pose();
    assert!(mixer.evaluate() != wanted);
    mixer.restore(&saved).unwrap();
    assert!(mixer.evaluate() == wanted);
    // The number of modifiers that a rig can have leaves a place for the pose.
    assert_eq!(MAX_MODIFIERS, 63);
}

#[test]
fn stored_poses_are_checked() {
    let body = Body::character();
    let mut cast = Cast::new(&body.rig, 1);
    let (given, _) = pose(body, 2);
    cast.crowd.set_poses(cast.rig, &cast.all, &given, PoseSpace::Local, &[0.5]).unwrap();
    let bytes = cast.crowd.snapshot().to_bytes();
    // The rotation of lane 0: x of the pose's fourth row.
    let joint = usize::from(body.rig.skeleton().joint_of()[0]);
    let x = given[joint].rotation.normalize().x;
    let found =
        bytes.windows(4).position(|b| (f32::from_le_bytes(b.try_into().unwrap()) - x).abs() < 1e-6);
    let at = found.unwrap();
    let with = |value: f32| {
        let mut changed = bytes.clone();
        changed[at..at + 4].copy_from_slice(&value.to_le_bytes());
        phalanx_testkit::lively::seal_snapshot(&mut changed);
        changed
    };
    assert!(CrowdSnapshot::from_bytes(&with(f32::NAN)).is_err());
    assert!(CrowdSnapshot::from_bytes(&with(2e9)).is_err());
    let long = CrowdSnapshot::from_bytes(&with(4.0)).unwrap();
    let refused = cast.crowd.restore(&long).unwrap_err();
    assert!(matches!(refused, PlaybackError::Snapshot { part: "poses", .. }), "{refused}");
    // Fuzzed bytes at any place: an error, or a crowd that evaluates.
    for at in (0..bytes.len()).step_by(7) {
        let mut changed = bytes.clone();
        changed[at] ^= 0x41;
        phalanx_testkit::lively::seal_snapshot(&mut changed);
        if let Ok(read) = CrowdSnapshot::from_bytes(&changed)
            && cast.crowd.restore(&read).is_ok()
        {
            cast.crowd.evaluate(&mut BoneBuffer::new());
        }
    }
}

#[test]
fn who_has_a_pose_has_a_palette_of_its_own_and_bounds_around_it() {
    let body = Body::character();
    let mut cast = Cast::new(&body.rig, 12);
    for n in 0..12 {
        let clip = cast.crowd.clip_by_index(cast.rig, 1).unwrap();
        cast.crowd.play(cast.all[n], clip, &PlayOptions::default()).unwrap();
    }
    let tier = Tier { shared_error: Some(0.05), ..Tier::default() };
    cast.crowd.set_tiers(Some(Tiers { tiers: vec![tier], ..Tiers::default() })).unwrap();
    let shared = |cast: &Cast, n: usize| cast.crowd.shown(cast.all[n]).unwrap().shared;
    cast.frame();
    assert!((0..12).all(|n| shared(&cast, n)));
    let (mut given, _) = pose(body, 4);
    given[0].translation = Vec3::new(7.0, 0.0, -3.0);
    let ids = [cast.all[3], cast.all[5]];
    let both = given.repeat(2);
    cast.crowd.set_poses(cast.rig, &ids, &both, PoseSpace::Local, &[1.0, 0.0]).unwrap();
    for n in [3, 5] {
        let rows = cast.frame();
        assert_eq!(shared(&cast, n), n == 5);
        if n == 3 {
            let mixer = &mut Mixer::new(body.rig.clone()).unwrap();
            mixer.player().set_pose(&given, PoseSpace::Local).unwrap();
            mixer.player().fade_pose(1.0, 0.0).unwrap();
            assert!(mixer.evaluate() == rows[3]);
        }
    }
    for (weight, id) in [(1.0, ids[0]), (0.4, ids[0]), (0.0, ids[1])] {
        cast.crowd.fade_poses(&[id], weight, 0.0).unwrap();
        let sphere = cast.crowd.bounding_sphere(id).unwrap().unwrap();
        for model in cast.crowd.model_matrices(id).unwrap() {
            let off = model.translation().distance(Vec3::from(sphere.center));
            assert!(off <= sphere.radius, "{weight}: {off} of {sphere:?}");
        }
        assert!(sphere.radius < 60.0, "{weight}: {sphere:?}");
    }
    // A fade that has not begun to count is of the pose later.
    cast.crowd.fade_poses(&ids[1..], 1.0, 1.0).unwrap();
    let sphere = cast.crowd.bounding_sphere(ids[1]).unwrap().unwrap();
    cast.crowd.advance(2.0).unwrap();
    let root = cast.crowd.model_matrix(ids[1], 0).unwrap().translation();
    assert!(root.distance(Vec3::from(sphere.center)) <= sphere.radius);
}
