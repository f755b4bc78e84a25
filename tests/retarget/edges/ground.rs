//! Heights, ground and soles; bodies that are mirrored or swapped.

use super::actor::*;
use crate::support::*;
use glam::{DQuat, DVec3, Vec3};
use phalanx::retarget::{
    Alignment, Ground, HumanoidMap, MapOrigin, Reference, RetargetError, RetargetOptions,
    RetargetReport, Retargeting, mirror,
};
use phalanx::rig::Rig;
use phalanx::skeleton::Trs;
use std::f64::consts::FRAC_PI_2;

/// Heights of the hips in a clip of the target, frame by frame.
fn heights(actor: &Actor, to: &Rig, options: RetargetOptions) -> (Vec<f64>, RetargetReport) {
    let from = actor.rig();
    let done = retarget(&from, to, clip(&from, "take"), options);
    let map = map(to);
    let height =
        |k: usize| Posed::at(to.skeleton(), &done.clip, k as f32 / 30.0).place(&map, B::Hips).y;
    ((0..actor.frames.len()).map(height).collect(), done.report)
}

/// Lying, sitting, falling and jumping bodies keep their height above the ground where the source's is, from rest poses
/// that stand on it and from those whose hips are the origin.
#[test]
fn clips_that_lie_or_sit_keep_their_height() {
    let to = target().rig();
    let lies = Pose::stands().with(B::Hips, None, DQuat::from_rotation_x(-FRAC_PI_2));
    let thigh = DQuat::from_rotation_x(-FRAC_PI_2);
    let sits = Pose::stands().with(B::LeftUpperLeg, Some(B::LeftLowerLeg), thigh).with(
        B::RightUpperLeg,
        Some(B::RightLowerLeg),
        thigh,
    );
    let pose =
        |pose: &Pose, height: f64| Pose { hips: DVec3::new(0.0, height, 0.0), ..pose.clone() };
    let stands = Pose::stands();
    for frames in [
        vec![pose(&lies, 0.12), pose(&lies, 0.07)],
        vec![pose(&sits, 0.32), pose(&sits, 0.3)],
        vec![
            pose(&stands, 0.55),
            pose(&stands, 0.55),
            pose(&stands, 0.55),
            pose(&lies, 0.2),
            pose(&lies, 0.07),
        ],
        vec![pose(&stands, 0.55), pose(&stands, 0.95), pose(&stands, 0.55)],
        vec![pose(&stands, 0.95), pose(&stands, 1.0)],
        (0..12).map(|k| pose(&stands, 0.55 - 0.09 * f64::from(k))).collect(),
    ] {
        for hips in [DVec3::ZERO, HIPS] {
            let actor = Actor::new(Pose { hips, ..Pose::stands() }, frames.clone());
            let (heights, report) = heights(&actor, &to, RetargetOptions::default());
            // Both bodies have the same proportions but for 4 mm of a metre.
            assert!((report.ratio - 0.5).abs() < 6e-3, "{}", report.ratio);
            for (height, pose) in heights.iter().zip(&frames) {
                let wanted = pose.hips.y * actor.size * 0.5;
                assert!((height - wanted).abs() < 8e-3, "{hips}: {height} for {wanted}");
            }
            let origin = hips == DVec3::ZERO;
            assert_eq!(report.ground == Ground::Origin, origin);
        }
    }
    // A clip whose hips stay near those of a rest pose in the origin stands where that does.
    let frames = vec![pose(&stands, 0.0), pose(&stands, -0.05)];
    let actor = Actor::new(pose(&stands, 0.0), frames);
    let (heights_of, report) = heights(&actor, &to, RetargetOptions::default());
    assert_eq!(report.ground, Ground::Reference);
    let rest = Posed::rest(to.skeleton()).place(&map(&to), B::Hips).y;
    assert!((heights_of[0] - rest).abs() < 6e-3, "{heights_of:?} {rest}");
    // It may be asked for.
    let asked = RetargetOptions { ground: Ground::Origin, ..RetargetOptions::default() };
    let (sunk, _) = heights(&actor, &to, asked);
    assert!(sunk[0].abs() < 0.02, "{sunk:?}");
}

/// Feet of a target that stands on no origin get the height of its rest pose: the source's soles are subtracted.
#[test]
fn soles_of_the_source_are_no_height() {
    let lifted = Actor::new(Pose { hips: HIPS + DVec3::Y * 3.0, ..Pose::stands() }, dance(2));
    let to = lifted.rig();
    let mut frames = vec![Pose::stands(); 3];
    frames.iter_mut().for_each(|pose| pose.hips.y += 0.03);
    let actor =
        Actor { size: 1.0, ..Actor::new(Pose { hips: DVec3::ZERO, ..Pose::stands() }, frames) };
    let (heights, report) = heights(&actor, &to, RetargetOptions::default());
    assert_eq!(report.ground, Ground::Origin);
    let rest = (HIPS.y + 3.0) * lifted.size;
    assert!((heights[0] - rest).abs() < 1e-5, "{heights:?} {rest}");
    // A body that floats has no soles to be subtracted.
    let mut floats = actor.clone();
    floats.frames.iter_mut().for_each(|pose| pose.hips.y += 0.3);
    let (heights, _) = self::heights(&floats, &to, RetargetOptions::default());
    let wanted = rest + (0.33 + SOLE) * 1.8;
    assert!((heights[0] - wanted).abs() < 1e-4, "{heights:?} {wanted}");
}

/// Soles that are thicker in the source than in the target, or below the ground, change no height.
#[test]
fn thick_and_sunken_soles_keep_heights() {
    let origin = Pose { hips: DVec3::ZERO, ..Pose::stands() };
    let to = Actor { size: 1.0, ..Actor::new(Pose::stands(), dance(2)) }.rig();
    let lifted = HIPS + DVec3::Y * 3.0;
    let high = Actor::new(Pose { hips: lifted, ..Pose::stands() }, dance(2));
    let high = Actor { size: 1.0, ..high }.rig();
    for off in [0.03, -0.02] {
        let mut frames = vec![Pose::stands(); 3];
        frames.iter_mut().for_each(|pose| pose.hips.y += off);
        let actor = Actor { size: 1.0, ..Actor::new(origin.clone(), frames) };
        let (of, report) = heights(&actor, &to, RetargetOptions::default());
        assert_eq!(report.ground, Ground::Origin);
        // Soles at -0.01 count as on the ground, and get the height of the target's.
        let wanted = HIPS.y + off + if off < 0.0 { SOLE } else { 0.0 };
        assert!((of[0] - wanted).abs() < 1e-5, "{off}: {of:?} {wanted}");
        // A target that does not stand on the origin.
        let (of, _) = heights(&actor, &high, RetargetOptions::default());
        let wanted = lifted.y + if off < 0.0 { off + SOLE } else { 0.0 };
        assert!((of[0] - wanted).abs() < 1e-5, "{off}: {of:?} {wanted}");
    }
}

/// The height of the toes above where those of the rest pose are, frame by frame.
fn sunk(actor: &Actor, to: &Rig) -> Vec<f64> {
    let from = actor.rig();
    let done = retarget(&from, to, clip(&from, "take"), RetargetOptions::default());
    let map = map(to);
    let toes = |posed: Posed| posed.place(&map, B::LeftToes).y;
    let rest = toes(Posed::rest(to.skeleton()));
    let frames = 0..actor.frames.len();
    frames.map(|k| toes(Posed::at(to.skeleton(), &done.clip, k as f32 / 30.0)) - rest).collect()
}

/// Feet stand as high as those of the target, if those of the source are lower, and where the legs of a rest pose in the
/// origin are spread and those of the clip are not.
#[test]
fn feet_do_not_sink() {
    let to = Made::default().rig();
    let origin = Pose { hips: DVec3::ZERO, ..Pose::stands() };
    let mut frames = vec![Pose::stands(); 3];
    frames.iter_mut().for_each(|pose| pose.hips.y -= SOLE);
    let flat = sunk(&Actor::new(origin.clone(), frames), &to);
    assert!(flat.iter().all(|off| off.abs() < 1e-4), "{flat:?}");
    // A rest pose that is sunk or lifted against the ground of its clip.
    for off in [-0.2, -0.1, -0.03, 0.03, 0.05, 0.1, 0.2, 0.3] {
        let rest = Pose { hips: HIPS + DVec3::Y * off, ..Pose::stands() };
        let stale = sunk(&Actor::new(rest, vec![Pose::stands(); 3]), &to);
        assert!(stale.iter().all(|off| off.abs() < 1e-3), "{off}: {stale:?}");
    }
    // In place: hips stay in the origin.
    for follow in [false, true] {
        let spread = origin.clone().spread(0.4, follow);
        let still = sunk(&Actor::new(spread, vec![origin.clone(); 3]), &to);
        assert!(still.iter().all(|off| off.abs() < 1e-3), "{still:?}");
    }
}

/// Legs that are spread in the rest pose alone: soles are level and toes at their height where the motion has them so,
/// whether the feet of the rest pose are turned along with the legs or not.
#[test]
fn soles_are_level_below_spread_legs() {
    for size in [0.9, 2.0] {
        let to = Made { size, ..target() }.rig();
        let map = map(&to);
        let rest = Posed::rest(to.skeleton());
        for degrees in [4.0f64, 12.0, 20.0, 28.0] {
            for (follow, lift) in [(true, 0.0), (false, 0.0), (true, 0.55), (false, 0.55)] {
                let mut spread = Pose::stands().spread(degrees.to_radians(), follow);
                let low = spread.place(B::LeftToes).y;
                // Its hips are the origin, or its toes stand on the ground.
                spread.hips.y = if lift > 0.0 { spread.hips.y - low + SOLE } else { 0.0 };
                let mut frames = vec![Pose::stands(); 2];
                let step = DQuat::from_rotation_x(-0.5);
                frames.extend([
                    Pose::stands().with(B::LeftUpperLeg, None, step),
                    Pose::stands().spread(0.3, false),
                ]);
                let actor = Actor::new(spread, frames);
                let from = actor.rig();
                let done = retarget(&from, &to, clip(&from, "take"), RetargetOptions::default());
                let what = format!("{degrees}, {follow}, {lift}, {size}");
                assert_eq!(done.report.tilted, follow, "{what}");
                for (k, pose) in actor.frames.iter().enumerate() {
                    let result = Posed::at(to.skeleton(), &done.clip, k as f32 / 30.0);
                    for foot in [B::LeftFoot, B::RightFoot] {
                        let wanted = pose.turns[at(foot)] * rest.turn(&map, foot);
                        let error = angle(result.turn(&map, foot), wanted);
                        assert!(error < 2e-3, "{what}: {foot} in frame {k}: {error}");
                    }
                }
                for toes in [B::LeftToes, B::RightToes] {
                    let place = |posed: &Posed| posed.place(&map, toes).y;
                    let result = Posed::at(to.skeleton(), &done.clip, 0.0);
                    let error = place(&result) - place(&rest);
                    assert!(error.abs() < 4e-3 * size, "{what}: {toes} {error}");
                }
            }
        }
    }
}

/// Arms that differ a little between the sides do not move the body when it is mirrored.
#[test]
fn mirrored_bodies_stay_on_the_ground() {
    let rest = Pose {
        hips: DVec3::ZERO,
        ..Pose::stands().with(B::LeftUpperArm, None, DQuat::from_rotation_z(-0.002))
    };
    let actor = Actor::new(rest, dance(5));
    let rig = actor.rig();
    let own = map(&rig);
    let done = Retargeted::from(mirror(&rig.clips()[0], rig.skeleton(), &own).unwrap());
    for (k, pose) in actor.frames.iter().enumerate() {
        let hips = Posed::at(rig.skeleton(), &done.clip, k as f32 / 30.0).place(&own, B::Hips);
        let wanted = pose.hips * DVec3::new(-1.0, 1.0, 1.0) * actor.size;
        assert!((hips - wanted).length() < 1e-5, "{k}: {hips} {wanted}");
    }
}

/// A joint above the hips that mirrors what is below has no transfer by rotations.
#[test]
fn mirroring_joints_are_refused() {
    let plain = Made::default().rig();
    for axes in [DVec3::new(-1.0, 1.0, 1.0), DVec3::splat(-1.0)] {
        let actor = Actor::new(Pose::stands(), dance(3));
        let mut joints: Vec<_> = (0..actor.rig().skeleton().len()).collect();
        let rig = actor.rig();
        let skeleton = rig.skeleton();
        joints.retain(|&j| skeleton.names()[j] == "Armature");
        let mut pose: Vec<Trs> = (0..skeleton.len()).map(|j| skeleton.rest(j)).collect();
        pose[joints[0]].scale = Vec3::from_array(axes.to_array().map(|v| v as f32));
        let (own, other) = (map(&rig), map(&plain));
        let mirrored = Reference::Pose(pose);
        for (sides, options, side) in [
            (((skeleton, &own), (plain.skeleton(), &other)), options(mirrored.clone()), "source"),
            (
                ((plain.skeleton(), &other), (skeleton, &own)),
                RetargetOptions {
                    target_reference: mirrored.clone(),
                    ..RetargetOptions::default()
                },
                "target",
            ),
        ] {
            match Retargeting::new(sides.0, sides.1, options).map(|_| ()) {
                Err(RetargetError::JointScale { side: s, name, fault, .. }) => {
                    assert_eq!((s, name.as_str()), (side, "Armature"));
                    assert!(fault.contains("mirrors"), "{fault}");
                }
                other => panic!("{axes}: {other:?}"),
            }
        }
    }
}

/// Joints of the left side on the right: the report says so.
#[test]
fn swapped_sides_are_said() {
    let swapped = |name: &str| match name.strip_prefix("Left") {
        Some(rest) => format!("Right{rest}"),
        None => name.replace("Right", "Left"),
    };
    for (names, expected) in [(swapped as fn(&str) -> String, true), (str::to_owned, false)] {
        let actor = Actor { names, ..Actor::new(Pose::stands(), dance(3)) };
        let from = actor.rig();
        let to = target().rig();
        let done = retarget(&from, &to, clip(&from, "take"), RetargetOptions::default());
        assert_eq!(done.report.swapped, [expected, false]);
        // Without toes bent knees show it.
        let knee = DQuat::from_rotation_x(-0.2);
        let bent = Pose::stands().with(B::LeftUpperLeg, Some(B::LeftLowerLeg), knee).with(
            B::RightUpperLeg,
            Some(B::RightLowerLeg),
            knee,
        );
        let from = Actor { names, ..Actor::new(bent, dance(3)) }.rig();
        let toeless = without(&map(&from), &from, &[B::LeftToes, B::RightToes]);
        let ready = Retargeting::new(
            (from.skeleton(), &toeless),
            (to.skeleton(), &map(&to)),
            RetargetOptions::default(),
        );
        let report = ready.unwrap().retarget(&from.clips()[0]).unwrap().1;
        assert_eq!(report.swapped, [expected, false]);
        // The same body as the target: its legs are aligned with straight ones.
        let ready = Retargeting::new(
            (to.skeleton(), &map(&to)),
            (from.skeleton(), &toeless),
            RetargetOptions::default(),
        );
        let report = ready.unwrap().retarget(&to.clips()[0]).unwrap().1;
        assert_eq!(report.swapped, [false, expected]);
    }
}

fn without(map: &HumanoidMap, rig: &Rig, bones: &[B]) -> HumanoidMap {
    let pairs: Vec<_> = map.bones().filter(|(bone, _)| !bones.contains(bone)).collect();
    HumanoidMap::new(rig.skeleton(), &pairs, MapOrigin::Given).unwrap()
}

/// Of a body without legs the trunk is measured: its hips are where those of the other body are in the reference poses.
#[test]
fn bodies_without_legs_have_the_height_of_their_trunk() {
    let legs = [
        B::LeftUpperLeg,
        B::LeftLowerLeg,
        B::LeftFoot,
        B::LeftToes,
        B::RightUpperLeg,
        B::RightLowerLeg,
        B::RightFoot,
        B::RightToes,
    ];
    for (lift, lacks) in [(0.0, [true, false]), (-0.55, [true, false]), (0.0, [false, true])] {
        let rest = Pose { hips: HIPS + DVec3::Y * lift, ..Pose::stands() };
        let mut frames = vec![rest.clone(); 3];
        frames[1].hips += DVec3::new(0.0, -0.2, 0.0);
        frames[2].hips += DVec3::new(0.0, 0.1, 0.4);
        let actor = Actor { size: 1.0, ..Actor::new(rest, frames) };
        let (from, to) = (actor.rig(), Made { size: 3.0, ..Made::default() }.rig());
        let part = |rig: &Rig, lacks: bool| match lacks {
            true => without(&map(rig), rig, &legs),
            false => map(rig),
        };
        let maps = [part(&from, lacks[0]), part(&to, lacks[1])];
        let ready = Retargeting::new(
            (from.skeleton(), &maps[0]),
            (to.skeleton(), &maps[1]),
            RetargetOptions::default(),
        );
        let (clip, report) = ready.unwrap().retarget(&from.clips()[0]).unwrap();
        assert!((report.ratio - 3.0).abs() < 1e-5, "{}", report.ratio);
        for (k, pose) in actor.frames.iter().enumerate() {
            let hips = Posed::at(to.skeleton(), &clip, k as f32 / 30.0).place(&map(&to), B::Hips);
            let wanted = 3.0 * (pose.hips - DVec3::Y * lift);
            assert!((hips - wanted).length() < 1e-4, "{lift}, frame {k}: {hips} {wanted}");
        }
    }
}

/// Without alignment heights are those of the poses: legs that are bent in both stay so.
#[test]
fn heights_without_alignment_are_those_of_the_poses() {
    let bent = |angle: f64| {
        let knees = [(B::LeftUpperLeg, B::LeftLowerLeg), (B::RightUpperLeg, B::RightLowerLeg)];
        knees.into_iter().fold(Pose::stands(), |pose, (thigh, shin)| {
            pose.with(thigh, None, DQuat::from_rotation_x(-angle)).with(
                shin,
                None,
                DQuat::from_rotation_x(2.0 * angle),
            )
        })
    };
    // Its toes are on the ground.
    let mut rest = bent(0.5);
    rest.hips.y -= rest.place(B::LeftToes).y - SOLE;
    let actor = Actor::new(rest, dance(2));
    let to = Made::default().rig();
    let from = actor.rig();
    let rest = Posed::rest(from.skeleton());
    let own = map(&from);
    for (alignment, height) in [
        (Alignment::None, rest.place(&own, B::Hips).y),
        // Straight: the bend of both legs is added.
        (Alignment::Limbs, {
            let [hip, knee, foot] =
                [B::LeftUpperLeg, B::LeftLowerLeg, B::LeftFoot].map(|b| rest.place(&own, b));
            let leg = hip.distance(knee) + knee.distance(foot);
            rest.place(&own, B::Hips).y + leg - (hip.y - foot.y)
        }),
    ] {
        let options = RetargetOptions { alignment, ..RetargetOptions::default() };
        let done = retarget(&from, &to, clip(&from, "take"), options);
        let error = done.report.heights[0] - height;
        assert!(error.abs() < 1e-5, "{alignment:?}: {error}");
    }
}
