//! Poses of many instances are read into the host's arrays.

use phalanx::crowd::{Crowd, InstanceId, PlayOptions, PoseStage, RigId, Target, TwoBoneIk};
use phalanx::math::Affine3x4;
use phalanx::skeleton::Trs;
use std::sync::Arc;

/// A crowd that walks at different times; every third instance has an override and every second a bent arm.
fn walkers(count: usize) -> (Crowd, RigId, Vec<InstanceId>) {
    let mut crowd = Crowd::new();
    let rig = crowd.add_rig(Arc::new(phalanx::import::mannequin().unwrap())).unwrap();
    let mut all = Vec::new();
    crowd.spawn_many(rig, count, &mut all).unwrap();
    let walk = crowd.clip_named(rig, "Walk").unwrap();
    crowd.play_many(&all, 0, &[walk], &[PlayOptions::default()]).unwrap();
    let times: Vec<f64> = (0..count).map(|n| 0.013 * n as f64).collect();
    crowd.set_times(&all, 0, &[walk], &times).unwrap();
    (crowd, rig, all)
}

fn change(crowd: &mut Crowd, rig: RigId, all: &[InstanceId]) {
    let skeleton = crowd.rig(rig).unwrap().skeleton();
    let (hand, head) = (skeleton.joint("RightHand").unwrap(), skeleton.joint("Head").unwrap());
    let turned = Trs { rotation: glam::Quat::from_rotation_x(0.7), ..skeleton.rest(head) };
    let reach = crowd.add_modifier(rig, TwoBoneIk::new(hand)).unwrap();
    for (n, &instance) in all.iter().enumerate() {
        if n % 3 == 0 {
            crowd.player(instance).unwrap().set_override(head, turned).unwrap();
        }
        if n % 2 == 0 {
            let target = Target::model(glam::Vec3::new(-0.3, 1.2, 0.2));
            crowd.set_targets(reach, &[instance], &[target], &[1.0]).unwrap();
        }
    }
}

fn apart(a: &Affine3x4, b: &Affine3x4) -> f32 {
    let (a, b) = (a.rows.as_flattened(), b.rows.as_flattened());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

#[test]
fn model_poses_are_model_matrices_after_the_stage_and_those_of_an_unchanged_twin_before_it() {
    let (mut crowd, rig, all) = walkers(100);
    let (twin, _, twins) = walkers(100);
    change(&mut crowd, rig, &all);
    let joints: Vec<usize> = (0..crowd.rig(rig).unwrap().skeleton().len()).rev().collect();
    let mut after = vec![Affine3x4::IDENTITY; joints.len() * all.len()];
    let mut before = after.clone();
    crowd.model_poses(rig, &joints, &all, PoseStage::After, &mut after).unwrap();
    crowd.model_poses(rig, &joints, &all, PoseStage::Before, &mut before).unwrap();
    let mut changed = 0;
    for (n, (&instance, &other)) in all.iter().zip(&twins).enumerate() {
        let (models, plain) =
            (crowd.model_matrices(instance).unwrap(), twin.model_matrices(other).unwrap());
        for (k, &joint) in joints.iter().enumerate() {
            let at = n * joints.len() + k;
            assert_eq!(after[at], models[joint]);
            assert!(apart(&before[at], &plain[joint]) < 1e-5);
            changed += usize::from(apart(&before[at], &after[at]) > 1e-3);
        }
    }
    assert!(changed > 500, "{changed}");
}

/// Asserts that local transforms multiply to the model matrices that the same call gives.
fn multiply(crowd: &Crowd, rig: RigId, all: &[InstanceId]) {
    let parents = crowd.rig(rig).unwrap().skeleton().parents().to_vec();
    let joints: Vec<usize> = (0..parents.len()).collect();
    let mut locals = vec![Trs::IDENTITY; joints.len() * all.len()];
    for stage in [PoseStage::Before, PoseStage::After] {
        crowd.local_poses(rig, &joints, all, stage, &mut locals).unwrap();
        let mut expected = vec![Affine3x4::IDENTITY; locals.len()];
        crowd.model_poses(rig, &joints, all, stage, &mut expected).unwrap();
        for (locals, expected) in locals.chunks(parents.len()).zip(expected.chunks(parents.len())) {
            let mut models: Vec<glam::DAffine3> = Vec::new();
            for (local, &parent) in locals.iter().zip(&parents) {
                let local = glam::DAffine3::from_scale_rotation_translation(
                    local.scale.as_dvec3(),
                    local.rotation.as_dquat().normalize(),
                    local.translation.as_dvec3(),
                );
                let above = models.get(usize::from(parent)).copied();
                models.push(above.unwrap_or(glam::DAffine3::IDENTITY) * local);
            }
            for (model, expected) in models.iter().zip(expected) {
                assert!(apart(&(*model).into(), expected) < 1e-5);
            }
        }
    }
}

/// Clips of which joints are constant, at values of their own in each clip: in one the lower half, in two all.
#[test]
fn constant_joints_are_those_of_the_clip_that_plays_alone() {
    let mut raw = phalanx_testkit::chain::raw();
    for (n, clip) in raw.clips.iter_mut().enumerate() {
        for track in clip.tracks.iter_mut().filter(|track| n > 0 || track.node > 9) {
            track.times.truncate(1);
            track.values.truncate(4);
        }
    }
    let mut crowd = Crowd::new();
    let rig = crowd.add_rig(phalanx_testkit::rigs::built(raw)).unwrap();
    let mut all = Vec::new();
    crowd.spawn_many(rig, 4, &mut all).unwrap();
    for (n, &instance) in all[..3].iter().enumerate() {
        let clip = crowd.clip_by_index(rig, n).unwrap();
        crowd.play(instance, clip, &PlayOptions::default()).unwrap();
    }
    crowd.advance(0.3).unwrap();
    multiply(&crowd, rig, &all);
    // The model matrix of a constant joint, to which the chain reaches, and one behind a chain that moves.
    let ik = TwoBoneIk { axis: Some(glam::Vec3::X), ..TwoBoneIk::new(4) };
    let reach = crowd.add_modifier(rig, ik).unwrap();
    let held = Target::joint(15, glam::Vec3::ZERO);
    let joint = |crowd: &Crowd, i| crowd.model_matrix(i, 15).unwrap().translation();
    for &instance in &all {
        let before = joint(&crowd, instance);
        crowd.set_targets(reach, &[instance], &[held], &[1.0]).unwrap();
        let upper = crowd.model_matrix(instance, 2).unwrap().translation();
        let end = crowd.model_matrix(instance, 4).unwrap().translation();
        let toward = (before - upper).normalize();
        assert!((end - upper).normalize().dot(toward) > 0.999, "{end} {upper} {before}");
    }
    multiply(&crowd, rig, &all);
}

/// Joints that a clip does not move are constant, at values of their own in each clip; one instance is at rest, and some
/// play two clips.
#[test]
fn local_poses_multiply_to_model_matrices() {
    let (mut crowd, rig, all) = walkers(70);
    for (n, &instance) in all.iter().enumerate() {
        let clip = crowd.clip_by_index(rig, n % 11).unwrap();
        crowd.play(instance, clip, &PlayOptions { time: 0.1, ..PlayOptions::default() }).unwrap();
        if n % 5 == 4 {
            let other = crowd.clip_by_index(rig, (n + 3) % 11).unwrap();
            crowd.fade_to(instance, other, 1.0, &PlayOptions::default()).unwrap();
        }
    }
    crowd.player(all[1]).unwrap().stop_all(0.0).unwrap();
    crowd.advance(0.25).unwrap();
    change(&mut crowd, rig, &all);
    multiply(&crowd, rig, &all);
}

#[test]
fn what_is_read_of_an_instance_does_not_depend_on_others() {
    let (mut crowd, rig, all) = walkers(9);
    change(&mut crowd, rig, &all);
    let joints: Vec<usize> = (0..crowd.rig(rig).unwrap().skeleton().len()).collect();
    let read = |instances: &[InstanceId], stage| {
        let mut out = vec![Trs::IDENTITY; joints.len() * instances.len()];
        crowd.local_poses(rig, &joints, instances, stage, &mut out).unwrap();
        out
    };
    for stage in [PoseStage::Before, PoseStage::After] {
        let together = read(&all, stage);
        for (&instance, together) in all.iter().zip(together.chunks(joints.len())) {
            assert_eq!(read(&[instance], stage), together);
            // After one that the stage changes.
            read(&all[..1], PoseStage::After);
            assert_eq!(read(&[instance], stage), together);
        }
    }
}

#[test]
fn arrays_that_do_not_fit_are_refused_and_nothing_is_written() {
    let (mut crowd, rig, all) = walkers(3);
    let other = crowd.add_rig(Arc::new(phalanx::import::mannequin().unwrap())).unwrap();
    let stranger = crowd.spawn(other).unwrap();
    let mut out = [Trs::IDENTITY; 6];
    let mut read = |joints: &[usize], instances: &[InstanceId]| {
        let read = crowd.local_poses(rig, joints, instances, PoseStage::After, &mut out);
        assert_eq!(out, [Trs::IDENTITY; 6]);
        read.unwrap_err().to_string()
    };
    assert_eq!(read(&[1], &all), "6 values given for 1 joint of 3 instances");
    assert!(read(&[1, 4_000], &all).contains("4000"));
    assert!(read(&[1, 2], &[all[0], all[1], stranger]).contains("rig"));
    crowd.despawn(all[2]).unwrap();
    let mut read = |instances: &[InstanceId]| {
        crowd.local_poses(rig, &[1, 2], instances, PoseStage::After, &mut out).unwrap_err()
    };
    assert!(read(&all).to_string().contains("despawned"));
}
