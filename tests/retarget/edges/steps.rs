//! Root motion, and feet that are planted: what travels, and what is a loop.

use super::actor::*;
use crate::support::*;
use glam::{DQuat, DVec3};
use phalanx::build::{BuildOptions, RootMotionOptions, build_rig};
use phalanx::import::raw::RawNode;
use phalanx::retarget::RetargetOptions;
use phalanx::rig::Rig;
use std::f64::consts::PI;

/// A rig of the actor whose root motion is extracted, with turns.
fn rooted(actor: &Actor, axes: [bool; 3]) -> Rig {
    let options = BuildOptions {
        root_motion: Some(RootMotionOptions {
            joint: Some("Hips".into()),
            axes: Some(axes),
            rotation: true,
            ..RootMotionOptions::default()
        }),
        ..BuildOptions::default()
    };
    build_rig(actor.raw(), &options).unwrap()
}

/// Root motion of the other side turns the other way, and goes to the other side; at any size.
#[test]
fn mirrored_root_motion_turns_the_other_way() {
    let frames: Vec<Pose> = (0..8)
        .map(|k| {
            let mut pose = Pose::stands().turned(yaw(6.0 * f64::from(k)));
            pose.hips += DVec3::new(0.04, 0.0, 0.1) * f64::from(k);
            pose
        })
        .collect();
    let actor = Actor::new(Pose::stands(), frames.clone());
    let from = rooted(&actor, [true, false, true]);
    // Its hips are another joint: there is one more above.
    let to = {
        let mut raw = Actor::new(Pose::stands(), dance(2)).raw();
        for node in &mut raw.nodes {
            node.parent = Some(node.parent.map_or(0, |parent| parent + 1));
        }
        raw.nodes.insert(0, RawNode::default());
        raw.clips[0].tracks.iter_mut().for_each(|t| t.node += 1);
        build_rig(raw, &BuildOptions::default()).unwrap()
    };
    for mirror in [false, true] {
        let options = RetargetOptions { mirror, ..RetargetOptions::default() };
        let done = retarget(&from, &to, clip(&from, "take"), options);
        let motion = done.clip.root_motion().unwrap();
        assert_eq!(Some(usize::from(motion.parts().joint)), map(&to).joint(B::Hips), "{mirror}");
        let side = if mirror { -1.0 } else { 1.0 };
        let ratio = done.report.ratio;
        for (k, pose) in frames.iter().enumerate() {
            let there = motion.at(k as f64 / 30.0);
            let wanted = yaw(side * 6.0 * k as f64);
            let error = angle(there.rotation, wanted);
            assert!(error < 2e-3, "{mirror}, frame {k}: {error}");
            // Where it brings the hips.
            let posed = Posed::at(to.skeleton(), &done.clip, k as f32 / 30.0);
            let hips = posed.place(&map(&to), B::Hips);
            let hips = there.rotation * hips + there.translation;
            let place = pose.hips * DVec3::new(side, 1.0, 1.0) * actor.size * ratio;
            let rest = Posed::rest(to.skeleton()).place(&map(&to), B::Hips);
            let wanted = DVec3::new(rest.x + place.x, rest.y, rest.z + place.z);
            let error = (hips - wanted).length();
            assert!(error < 3e-3, "{mirror}, frame {k}: {hips} {wanted}");
        }
    }
}

/// A body that steps on the spot: the leg swings back on the ground and comes forwards with a bent knee.
fn treadmill(seconds: f64, drift: f64) -> Actor {
    let leg = |phase: f64| match phase {
        p if p < 0.6 => (0.35 - 0.7 * p / 0.6, 0.0),
        p => {
            let part = (p - 0.6) / 0.4;
            (-0.35 + 0.7 * part, 1.2 * (PI * part).sin())
        }
    };
    let count = (seconds * 30.0) as usize;
    let frames = (0..=count).map(|k| {
        let time = k as f64 / 30.0;
        let mut pose = Pose::stands();
        for (thigh, shin, foot, start) in [
            (B::LeftUpperLeg, B::LeftLowerLeg, B::LeftFoot, 0.0),
            (B::RightUpperLeg, B::RightLowerLeg, B::RightFoot, 0.5),
        ] {
            let (swing, bend) = leg((time + start).fract());
            pose = pose.with(thigh, Some(foot), DQuat::from_rotation_x(-swing)).with(
                shin,
                Some(foot),
                DQuat::from_rotation_x(bend),
            );
        }
        pose.hips.z += drift * time / seconds;
        pose
    });
    // Hips of another height than 1.
    Actor { size: 3.2, ..Actor::new(Pose::stands(), frames.collect()) }
}

fn planting(from: &Rig) -> phalanx::retarget::FeetReport {
    let options = RetargetOptions { plant_feet: true, ..RetargetOptions::default() };
    let done = retarget(from, &target().rig(), clip(from, "take"), options);
    done.report.feet.unwrap()
}

/// Hips that drift less than a foot in contact may slide in that time do not travel: the ground below them moves.
#[test]
fn hips_travel_by_their_way_in_all_the_time() {
    // A standing foot slides by 0.35 heights of 0.55 a second.
    let slide = 0.35 * HIPS.y;
    for (seconds, share, travels) in [
        (3.0, 0.6, false),
        (3.0, 0.9, false),
        (3.0, 1.3, true),
        (0.5, 1.5, true),
        (0.5, 0.6, false),
    ] {
        let from = treadmill(seconds, slide * seconds * share).rig();
        let feet = planting(&from);
        let speed = DVec3::from_array(feet.ground_velocity).length();
        assert_eq!(speed == 0.0, travels, "{seconds} s, {share}: {feet:?}");
        // Back, at the speed of the leg: 0.7 of its length in 0.6 s, and the drift.
        let back = -0.7 * 0.47 * 3.2 / 0.6;
        let off = feet.ground_velocity[2] - back;
        assert!(travels || off.abs() < 0.6, "{feet:?}");
    }
}

/// Hips that rise do not travel: their way is that along the ground.
#[test]
fn hips_that_rise_do_not_travel() {
    let mut actor = treadmill(0.5, 0.0);
    let most = 0.35 * HIPS.y * 0.5;
    let last = actor.frames.len() - 1;
    for (k, pose) in actor.frames.iter_mut().enumerate() {
        // At the end alone: before it, feet are low.
        pose.hips.y += if k == last { 1.5 * most } else { 0.0 };
    }
    let feet = planting(&actor.rig());
    assert!(feet.ground_velocity[2] < -0.5, "{feet:?}");
}

/// A body that stands, lifts both feet one after the other and stands again, somewhere else by `end`.
fn steps(end: impl Fn(f64) -> Pose) -> Actor {
    let frames = (0..=30).map(|k| {
        let time = f64::from(k) / 30.0;
        let lift = |from: f64| ((time - from) / 0.2).clamp(0.0, 1.0) * PI;
        let mut pose = end(((time - 0.3) / 0.4).clamp(0.0, 1.0));
        for (thigh, shin, foot, from) in [
            (B::LeftUpperLeg, B::LeftLowerLeg, B::LeftFoot, 0.3),
            (B::RightUpperLeg, B::RightLowerLeg, B::RightFoot, 0.5),
        ] {
            let bend = 0.6 * lift(from).sin();
            let about = pose.turns[at(B::Hips)] * DVec3::X;
            pose = pose.with(thigh, Some(foot), DQuat::from_axis_angle(about, -bend)).with(
                shin,
                Some(foot),
                DQuat::from_axis_angle(about, 2.0 * bend),
            );
        }
        pose
    });
    Actor::new(Pose::stands(), frames.collect())
}

/// A clip ends where it began if its hips neither rose nor turned, and its feet are below them as before: then a contact
/// spans the seam. Else each foot stands twice.
#[test]
fn contacts_span_the_seam_of_loops_alone() {
    let stays = steps(|_| Pose::stands());
    assert_eq!(planting(&stays.rig()).contacts, 2);
    let moved = |way: DVec3| steps(move |part| Pose { hips: HIPS + way * part, ..Pose::stands() });
    // Along the ground a loop may move on.
    assert_eq!(planting(&moved(DVec3::Z * 0.1).rig()).contacts, 2);
    // Up to a step of 0.02, within the height of contacts.
    for way in [DVec3::Y * 0.02, DVec3::Y * -0.02] {
        assert_eq!(planting(&moved(way).rig()).contacts, 4, "{way}");
        // The same with root motion, which takes the height along.
        let from = rooted(&moved(way), [true; 3]);
        assert_eq!(planting(&from).contacts, 4, "{way}");
    }
    // A foot is put elsewhere below the hips.
    let wider = steps(|part| {
        let turn = DQuat::from_rotation_z(0.05 * part);
        Pose::stands().with(B::LeftUpperLeg, Some(B::LeftFoot), turn)
    });
    assert_eq!(planting(&wider.rig()).contacts, 4);
    // Turned, with root motion: in its pose nothing turns.
    let turned = steps(|part| Pose::stands().turned(yaw(20.0 * part)));
    let from = rooted(&turned, [true, false, true]);
    assert_eq!(planting(&from).contacts, 4);
    let from = rooted(&steps(|_| Pose::stands()), [true, false, true]);
    assert_eq!(planting(&from).contacts, 2);
}
