//! Reference poses.

use super::actor::*;
use crate::support::*;
use glam::{DMat4, DQuat, DVec3};
use phalanx::retarget::{
    Alignment, Reference, RetargetError, RetargetOptions, RetargetReport, Retargeting,
};
use phalanx::rig::Rig;
use std::f64::consts::FRAC_PI_2;

/// The target's bones turn as those of the motion, seen in another space, and so do its limbs and its way. Poses of the
/// motion show the T-pose with no turn.
fn follows(actor: &Actor, to: &Rig, options: RetargetOptions, space: DQuat) -> RetargetReport {
    let from = actor.rig();
    let done = retarget(&from, to, clip(&from, "take"), options);
    let map = map(to);
    let rest = Posed::rest(to.skeleton());
    let there = |k: usize| Posed::at(to.skeleton(), &done.clip, k as f32 / 30.0);
    let first = there(0).place(&map, B::Hips);
    for (k, pose) in actor.frames.iter().enumerate() {
        let result = there(k);
        for (bone, joint) in map.bones() {
            let wanted = space * pose.turns[at(bone)] * rest.turns[joint];
            let error = angle(result.turns[joint], wanted);
            // Limbs of both are aligned: they point alike, but for twist, and hands follow them.
            let limb = LIMBS.iter().any(|limb| limb.0 == bone);
            let hand = below(at(bone), B::LeftHand) || below(at(bone), B::RightHand);
            assert!(limb || hand || error < 2e-3, "{bone} in frame {k}: {error}");
        }
        for limb in LIMBS {
            let wanted = space * pose.direction(limb);
            let error = (result.direction(&map, limb.0, limb.1) - wanted).length();
            assert!(error < 2e-4, "{} in frame {k}: {error}", limb.0);
        }
        let way = space * (pose.hips - actor.frames[0].hips) * actor.size * done.report.ratio;
        let error = (result.place(&map, B::Hips) - first - way).length();
        assert!(error < 1e-5, "hips in frame {k}: {error}");
    }
    done.report
}

/// A reference pose that is turned about the up axis is turned as a whole, and so is what it stands for.
#[test]
fn references_are_turned_as_a_whole() {
    let to = target().rig();
    for degrees in [0.0, 3.0, 25.0, 31.0, 45.0, 60.0, 91.0, 133.0, 180.0, -100.0] {
        let turned = all(dance(8), yaw(degrees));
        // The rest pose faces forwards, the take is turned.
        let actor = Actor::new(Pose::stands(), turned.clone());
        let from = actor.rig();
        let first = Reference::of_clip(clip(&from, "take"), from.skeleton(), 0.0).unwrap();
        follows(&actor, &to, options(first), yaw(-degrees));
        // The rest pose is turned as well.
        let actor = Actor::new(Pose::stands().turned(yaw(degrees)), turned);
        follows(&actor, &to, RetargetOptions::default(), yaw(-degrees));
    }
}

/// Limbs and way of the target, where those of the motion are in another space.
fn limbs_follow(actor: &Actor, to: &Rig, options: RetargetOptions, space: DQuat) {
    let from = actor.rig();
    let done = retarget(&from, to, clip(&from, "take"), options);
    let map = map(to);
    let there = |k: usize| Posed::at(to.skeleton(), &done.clip, k as f32 / 30.0);
    let first = there(0).place(&map, B::Hips);
    for (k, pose) in actor.frames.iter().enumerate() {
        for limb in LIMBS {
            let wanted = space * pose.direction(limb);
            let error = (there(k).direction(&map, limb.0, limb.1) - wanted).length();
            assert!(error < 2e-4, "{} in frame {k}: {error}", limb.0);
        }
        let way = space * (pose.hips - actor.frames[0].hips) * actor.size * done.report.ratio;
        let error = (there(k).place(&map, B::Hips) - first - way).length();
        assert!(error < 1e-5, "hips in frame {k}: {error}");
    }
}

/// Hips whose joints are not level do not turn the body, in a rest pose or in another reference.
#[test]
fn uneven_hips_do_not_turn_the_body() {
    let to = target().rig();
    for degrees in [0.0, 8.0, 12.0, 28.0, 75.0, 102.0] {
        for uneven in [4.0, -9.0, 25.0] {
            let mut rest = Pose::stands().turned(yaw(degrees));
            // Chest and legs are where they are.
            rest.turns[at(B::Hips)] = yaw(degrees + uneven);
            let actor = Actor::new(rest, all(dance(6), yaw(degrees)));
            limbs_follow(&actor, &to, RetargetOptions::default(), yaw(-degrees));
            let mut frames = all(dance(6), yaw(degrees));
            frames[0].turns[at(B::Hips)] = yaw(degrees + uneven);
            let actor = Actor::new(Pose::stands(), frames);
            let from = actor.rig();
            let first = Reference::of_clip(clip(&from, "take"), from.skeleton(), 0.0).unwrap();
            limbs_follow(&actor, &to, options(first), yaw(-degrees));
        }
    }
}

/// What a reference pose leans is not taken for up: a level path stays level.
#[test]
fn references_that_lean_keep_paths_level() {
    let to = target().rig();
    let map = map(&to);
    for degrees in [10.0f64, 30.0, 40.0, 45.0, 50.0, 60.0, -45.0] {
        for axis in [DVec3::X, DVec3::Z] {
            let lean = DQuat::from_axis_angle(axis, degrees.to_radians());
            let frames = (0..6).map(|k| {
                let mut pose = Pose::stands().with(B::Hips, None, lean);
                pose.hips += DVec3::new(0.0, 0.0, 0.3) * f64::from(k);
                pose
            });
            let frames: Vec<Pose> = frames.collect();
            for file in [0.0, 1.0, -1.0].map(|q| DQuat::from_rotation_x(q * FRAC_PI_2)) {
                let actor = Actor::new(Pose::stands().turned(file), all(frames.clone(), file));
                let from = actor.rig();
                let first = Reference::of_clip(clip(&from, "take"), from.skeleton(), 0.0).unwrap();
                let done = retarget(&from, &to, clip(&from, "take"), options(first));
                let place = |k: usize| {
                    Posed::at(to.skeleton(), &done.clip, k as f32 / 30.0).place(&map, B::Hips)
                };
                let way = DVec3::Z * (1.5 * actor.size * done.report.ratio);
                let error = (place(5) - place(0) - way).length();
                assert!(error < 1e-5, "{degrees} about {axis}: {error}");
            }
        }
    }
}

/// Rest poses that do not stand, as files of motion capture have them: every bone along x, flat legs, a body on its back.
fn lying() -> [(&'static str, Pose); 4] {
    let along_x = |index: usize| {
        let next = (index + 1..BODY.len()).find(|&i| BODY[i].2 == index);
        next.map_or(DQuat::IDENTITY, |next| {
            DQuat::from_rotation_arc(Pose::offset(next).normalize(), DVec3::X)
        })
    };
    let mut row = Pose::stands();
    for index in 2..BODY.len() {
        row.turns[index] = along_x(index);
    }
    let forward = DQuat::from_rotation_x(-FRAC_PI_2);
    let flat =
        Pose::stands().with(B::LeftUpperLeg, None, forward).with(B::RightUpperLeg, None, forward);
    [
        ("row", row),
        ("flat legs", flat),
        ("back", Pose::stands().turned(forward)),
        ("side", Pose::stands().turned(DQuat::from_rotation_z(FRAC_PI_2))),
    ]
}

/// The first frame that stands takes the place of a rest pose that does not.
#[test]
fn frames_that_stand_take_the_place_of_rest_poses_that_lie() {
    let to = target().rig();
    for (name, rest) in lying() {
        // It gets up first.
        let down = DQuat::from_rotation_x(-FRAC_PI_2);
        let mut first = Pose::stands().with(B::Hips, None, down);
        first.hips.y = 0.1;
        let mut frames = vec![first.clone(), first];
        frames.extend(dance(6));
        let mut actor = Actor::new(rest.clone(), frames);
        // As files of motion capture are read: bound in their rest pose.
        actor.bind = Some((rest, DMat4::IDENTITY));
        let from = actor.rig();
        let map = map(&from);
        let found =
            Reference::find(&from, &map, "source").unwrap_or_else(|e| panic!("{name}: {e}"));
        let Reference::Frame { clip, time, .. } = &found.0 else {
            panic!("{name}: {:?}", found.0);
        };
        // Within the steps of frames that are looked at.
        assert!(*clip == "take" && (0.05..0.08).contains(time), "{name}: {time}");
        // Exact if it shows what the target's rest pose shows.
        let third = Reference::of_clip(&from.clips()[0], from.skeleton(), 2.0 / 30.0).unwrap();
        let actor = Actor { frames: actor.frames[2..].to_vec(), ..actor };
        let report = follows(&actor, &to, options(third), DQuat::IDENTITY);
        assert!((report.ratio - 0.5).abs() < 5e-3, "{name}: {}", report.ratio);
    }
}

/// A body that rises slowly stands where it no longer leans, not in the first frame that is nearly upright.
#[test]
fn frames_that_stand_are_those_at_the_end_of_a_rise() {
    let [row, ..] = lying();
    let frames = (0..20).map(|k| {
        let lean = DQuat::from_rotation_x((80.0 - 8.0 * f64::from(k)).max(0.0).to_radians());
        Pose::stands().with(B::Hips, None, lean)
    });
    let mut actor = Actor::new(row.1.clone(), frames.collect());
    actor.bind = Some((row.1, DMat4::IDENTITY));
    let from = actor.rig();
    let found = Reference::find(&from, &map(&from), "source").unwrap().0;
    let Reference::Frame { time, .. } = &found else { panic!("{found:?}") };
    assert!((time - 10.0 / 30.0).abs() < 0.011, "{time}");
}

/// Without such a frame nothing is written: the error has the heights.
#[test]
fn rest_poses_that_lie_are_refused() {
    let to = target().rig();
    for (name, rest) in lying() {
        let mut lies = Pose::stands().with(B::Hips, None, DQuat::from_rotation_x(-1.2));
        lies.hips.y = 0.1;
        let lies = if name == "back" || name == "side" { dance(3) } else { vec![lies; 3] };
        let actor = Actor::new(rest, lies);
        let from = actor.rig();
        let (own, map_to) = (map(&from), map(&to));
        let sides = ((from.skeleton(), &own), (to.skeleton(), &map_to));
        let refused = Retargeting::new(sides.0, sides.1, RetargetOptions::default());
        // A body that lies along an axis may be one whose up is that axis: clips tell.
        if name == "back" || name == "side" {
            let found = Reference::find(&from, &own, "source").unwrap();
            assert!(matches!(found.0, Reference::Frame { .. }), "{name}");
            continue;
        }
        let Err(RetargetError::Lies { side: "source", height, leg, .. }) = refused.map(|_| ())
        else {
            panic!("{name}");
        };
        assert!(height < 0.5 * leg, "{name}: {height} {leg}");
        let refused = Reference::find(&from, &own, "source").map(|found| found.1);
        assert!(matches!(refused, Err(RetargetError::Lies { .. })), "{name}: {refused:?}");
        // Asked for, it is taken; but hips do not leave the ground by lengths of legs.
        let rest = (0..from.skeleton().len()).map(|j| from.skeleton().rest(j));
        let asked = options(Reference::Pose(rest.collect()));
        match Retargeting::new(sides.0, sides.1, asked) {
            Err(RetargetError::Height { .. }) => {}
            Err(error) => panic!("{name}: {error}"),
            Ok(ready) => match ready.retarget(&from.clips()[0]) {
                Err(RetargetError::Far { source_height, target_height, .. }) => {
                    assert!(source_height.abs() <= 3.0 && target_height.abs() > 3.0, "{name}");
                }
                Err(error) => panic!("{name}: {error}"),
                Ok(done) => {
                    let map = map(&to);
                    let hips = Posed::at(to.skeleton(), &done.0, 0.0).place(&map, B::Hips);
                    assert!(hips.length() < 3.0, "{name}: {hips}");
                }
            },
        }
    }
}

/// Heights of poses that are taken as they are may have no sense: hips that leave the ground by lengths of legs are refused.
#[test]
fn hips_beyond_all_legs_are_refused() {
    let to = target().rig();
    let [_, (_, flat), ..] = lying();
    let actor = Actor::new(flat, vec![Pose::stands(); 3]);
    let from = actor.rig();
    let rest = (0..from.skeleton().len()).map(|j| from.skeleton().rest(j));
    let as_they_are =
        RetargetOptions { alignment: Alignment::None, ..options(Reference::Pose(rest.collect())) };
    let (own, map_to) = (map(&from), map(&to));
    let sides = ((from.skeleton(), &own), (to.skeleton(), &map_to));
    let ready = Retargeting::new(sides.0, sides.1, as_they_are).unwrap();
    match ready.retarget(&from.clips()[0]).map(|done| done.1) {
        Err(RetargetError::Far { source_height, target_height, .. }) => {
            assert!(source_height.abs() <= 3.0 && target_height.abs() > 3.0)
        }
        other => panic!("{other:?}"),
    }
}

/// Files whose up is another axis stand.
#[test]
fn other_ups_stand() {
    let up = DQuat::from_rotation_x(FRAC_PI_2);
    let mut frames = dance(6);
    // It lies down at the end.
    let mut lies = Pose::stands().with(B::Hips, None, DQuat::from_rotation_x(-FRAC_PI_2));
    lies.hips.y = 0.1;
    frames.extend([lies.clone(), lies]);
    let actor = Actor::new(Pose::stands().turned(up), all(frames, up));
    let from = actor.rig();
    let found = Reference::find(&from, &map(&from), "source").unwrap();
    assert_eq!(found.0, Reference::Rest);
    follows(&actor, &target().rig(), options(found.0), up.inverse());
}

/// An idle pose: arms down, a knee bent, the head turned, hips twisted.
fn idle() -> Pose {
    Pose::stands()
        .with(B::Hips, None, yaw(9.0))
        .with(B::Head, None, yaw(20.0))
        .with(B::LeftUpperArm, None, DQuat::from_rotation_z(-1.3))
        .with(B::RightUpperArm, None, DQuat::from_rotation_z(1.2))
        .with(B::LeftUpperLeg, None, DQuat::from_rotation_x(-0.2))
        .with(B::LeftLowerLeg, None, DQuat::from_rotation_x(0.3))
}

/// A T-pose that the bind matrices alone hold is the reference, in whatever space the meshes are.
#[test]
fn bind_poses_are_references() {
    let to = target().rig();
    let quarter = DMat4::from_rotation_x(FRAC_PI_2);
    for space in [
        DMat4::IDENTITY,
        DMat4::from_scale(DVec3::splat(100.0)),
        quarter * DMat4::from_scale(DVec3::splat(0.01)),
        DMat4::from_translation(DVec3::new(0.0, 0.3, 0.0)),
    ] {
        let mut actor = Actor::new(idle(), dance(6));
        actor.bind = Some((Pose::stands(), space));
        let from = actor.rig();
        let found = Reference::find(&from, &map(&from), "source").unwrap();
        assert!(matches!(found.0, Reference::Bind(_)), "{space}");
        let report = follows(&actor, &to, options(found.0), DQuat::IDENTITY);
        assert!((report.ratio - 0.5).abs() < 5e-3, "{}", report.ratio);
        let asked = Reference::bind(&from, &map(&from)).unwrap();
        follows(&actor, &to, options(asked), DQuat::IDENTITY);
    }
    // Where the rest pose faces does not matter.
    for degrees in [30.0, 60.0, 135.0, 180.0] {
        let mut actor = Actor::new(idle().turned(yaw(degrees)), dance(6));
        actor.bind = Some((Pose::stands(), DMat4::IDENTITY));
        let from = actor.rig();
        let found = Reference::find(&from, &map(&from), "source").unwrap();
        assert!(matches!(found.0, Reference::Bind(_)));
        follows(&actor, &to, options(found.0), DQuat::IDENTITY);
    }
    // Of two poses of that kind the rest pose is taken, and the other offered.
    let mut actor = Actor::new(Pose::stands(), dance(3));
    let lowered = Pose::stands().with(B::LeftUpperArm, None, DQuat::from_rotation_z(-0.2));
    actor.bind = Some((lowered, DMat4::IDENTITY));
    let from = actor.rig();
    let found = Reference::find(&from, &map(&from), "source").unwrap();
    assert_eq!(found.0, Reference::Rest);
    assert!((found.1 - 0.2).abs() < 1e-4, "{}", found.1);
    // Without skins there is none.
    actor.bind = None;
    let plain = actor.rig();
    let none = Reference::bind(&plain, &map(&plain));
    assert_eq!(none, Err(RetargetError::NoBind));
}
