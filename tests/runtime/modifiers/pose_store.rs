//! Poses of many instances are stored as if they were set one by one, whoever is given in which order.

use super::{Body, Cast};
use glam::{Quat, Vec3};
use phalanx::crowd::CrowdSnapshot;
use phalanx::playback::PoseSpace;
use phalanx::skeleton::Trs;
use phalanx_testkit::lively::Dice;

/// A pose of the built-in character; every second one with scales other than 1.
fn pose(body: &Body, number: u64) -> Vec<Trs> {
    let skeleton = body.rig.skeleton();
    let turn = Quat::from_rotation_z(0.1 * number as f32);
    let mut all: Vec<Trs> = (0..skeleton.len()).map(|joint| skeleton.rest(joint)).collect();
    for joint in &mut all {
        joint.rotation *= turn;
    }
    if number.is_multiple_of(2) {
        let joint = number as usize / 2 % all.len();
        all[joint].scale = Vec3::new(0.9, 1.0, 1.2);
    }
    all
}

#[test]
fn batches_of_poses_are_single_calls_whoever_is_given() {
    let body = Body::character();
    let (mut many, mut single) = (Cast::new(&body.rig, 40), Cast::new(&body.rig, 40));
    let mut dice = Dice(7);
    for n in 0..40 {
        for cast in [&mut many, &mut single] {
            cast.hold(n, n % 10, 0.3);
        }
    }
    for step in 0..60u64 {
        let ids = &many.all;
        let mut given: Vec<usize> = match step % 6 {
            0 | 3 => (0..40).collect(),
            1 => (0..40).rev().collect(),
            2 => (0..40).filter(|_| dice.below(2) == 0).collect(),
            4 => vec![dice.below(40)],
            // Some twice.
            _ => (0..20).map(|_| dice.below(40)).collect(),
        };
        if step == 0 {
            given.truncate(25);
        }
        let chosen: Vec<_> = given.iter().map(|&n| ids[n]).collect();
        let odd = step % 4 < 2;
        let number = |k: usize| if odd { 2 * k as u64 + 1 } else { step + k as u64 };
        let poses: Vec<Trs> = (0..given.len()).flat_map(|k| pose(body, number(k))).collect();
        let weight = [0.3, 0.5, 1.0, 0.1][step as usize / 2 % 4];
        many.crowd.set_poses(many.rig, &chosen, &poses, PoseSpace::Local, &[weight]).unwrap();
        for (&n, pose) in given.iter().zip(poses.chunks(body.rig.skeleton().len())) {
            let mut player = single.crowd.player(single.all[n]).unwrap();
            player.set_pose(pose, PoseSpace::Local).unwrap();
            player.fade_pose(weight, 0.0).unwrap();
        }
        if step % 9 == 8 {
            let n = dice.below(40);
            for cast in [&mut many, &mut single] {
                cast.crowd.player(cast.all[n]).unwrap().clear_pose();
            }
        }
        assert!(many.crowd.snapshot() == single.crowd.snapshot(), "step {step}");
        let rows = many.frame();
        assert!(rows == single.frame(), "step {step}");
        // What is read from bytes gives the same bits.
        let read = CrowdSnapshot::from_bytes(&many.crowd.snapshot().to_bytes()).unwrap();
        let mut other = Cast::new(&body.rig, 40);
        other.crowd.restore(&read).unwrap();
        assert!(other.frame() == rows, "step {step}");
    }
}
