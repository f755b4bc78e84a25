//! Batches of overrides: what single calls do, at once, or nothing.

use glam::{Quat, Vec3};
use phalanx::crowd::{BoneBuffer, Crowd, CrowdError, InstanceId, PoseSpace, RigId, Unknown};
use phalanx::math::Affine3x4;
use phalanx_testkit::chain::rig;
use phalanx_testkit::ruler::{ruler, shift};
use phalanx_workload::hash01;

const JOINTS: [usize; 3] = [2, 7, 15];

fn crowd(count: usize) -> (Crowd, RigId, Vec<InstanceId>) {
    let mut crowd = Crowd::with_tag(3).unwrap();
    let id = crowd.add_rig(rig()).unwrap();
    let all = (0..count).map(|_| crowd.spawn(id).unwrap()).collect();
    (crowd, id, all)
}

fn turn(seed: usize) -> Affine3x4 {
    let angle = hash01(seed as u64) as f32;
    let turned = Quat::from_rotation_z(angle);
    Affine3x4::from_scale_rotation_translation(Vec3::ONE, turned, Vec3::Y * 0.1)
}

fn scaled(by: f32) -> Affine3x4 {
    Affine3x4::from_scale_rotation_translation(Vec3::splat(by), Quat::IDENTITY, Vec3::ZERO)
}

#[test]
fn a_batch_is_its_single_calls() {
    for threads in [1, 4] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| {
            let (mut one, _, all) = crowd(600);
            let (mut many, id, same) = crowd(600);
            assert_eq!(all, same);
            // Some have others already.
            for crowd in [&mut one, &mut many] {
                for &i in all.iter().step_by(3) {
                    crowd.set_world(i, shift(i.index() as f32)).unwrap();
                    crowd.player(i).unwrap().set_override(7, turn(1)).unwrap();
                    crowd.player(i).unwrap().set_override(11, turn(2)).unwrap();
                }
            }
            // In any order.
            let chosen: Vec<_> = all.iter().rev().step_by(2).copied().collect();
            let locals: Vec<_> = (0..chosen.len() * 3).map(turn).collect();
            for (&i, locals) in chosen.iter().zip(locals.chunks(3)) {
                for (joint, local) in JOINTS.into_iter().zip(locals) {
                    one.player(i).unwrap().set_override(joint, *local).unwrap();
                }
            }
            many.set_overrides(id, &JOINTS, &chosen, &locals, PoseSpace::Local, &[1.0]).unwrap();
            assert!(one.snapshot() == many.snapshot(), "{threads} workers");
            let hash = |crowd: &mut Crowd| {
                let mut buffer = BoneBuffer::new();
                crowd.evaluate(&mut buffer);
                buffer.hash()
            };
            assert_eq!(hash(&mut one), hash(&mut many), "{threads} workers");
            // In other spaces, with weights.
            let weights: Vec<_> = chosen.iter().map(|i| hash01(i.index() as u64) as f32).collect();
            for space in [PoseSpace::World, PoseSpace::Model] {
                for ((&i, locals), &weight) in chosen.iter().zip(locals.chunks(3)).zip(&weights) {
                    let mut player = one.player(i).unwrap();
                    for (joint, matrix) in JOINTS.into_iter().zip(locals) {
                        player.set_override_weighted(joint, *matrix, space, weight).unwrap();
                    }
                }
                many.set_overrides(id, &JOINTS, &chosen, &locals, space, &weights).unwrap();
                assert!(one.snapshot() == many.snapshot(), "{threads} workers");
                assert_eq!(hash(&mut one), hash(&mut many), "{threads} workers");
            }
            // The later of two holds.
            let twice = [all[5], all[5]];
            let two = [turn(8), turn(9)];
            many.set_overrides(id, &[4], &twice, &two, PoseSpace::Local, &[1.0]).unwrap();
            let mut set = many.playing(all[5]).unwrap().overrides();
            assert_eq!(set.find(|o| o.0 == 4), Some((4, &two[1])));
        });
    }
}

#[test]
fn a_refused_batch_changes_nothing() {
    let (mut crowd, id, all) = crowd(5);
    let other = crowd.add_rig(ruler()).unwrap();
    let stranger = crowd.spawn(other).unwrap();
    crowd.player(all[2]).unwrap().set_override(1, scaled(900.0)).unwrap();
    let gone = crowd.spawn(id).unwrap();
    crowd.despawn(gone).unwrap();
    let before = crowd.snapshot();
    let one = Affine3x4::IDENTITY;
    let crowd_rig = crowd.rig(id).unwrap().name().to_owned();
    let crowd_names = crowd.rig(id).unwrap().skeleton().names().to_vec();
    let mut refused = |rig, joints: &[usize], instances: &[InstanceId], locals: &[Affine3x4]| {
        let error = crowd.set_overrides(rig, joints, instances, locals, PoseSpace::Local, &[1.0]);
        assert!(crowd.snapshot() == before);
        error.unwrap_err()
    };
    let error = refused(id, &[2, 1], &all[..1], &[one; 2]);
    let names = crowd_names.clone();
    assert_eq!(
        error.to_string(),
        format!(
            "joint 1 (\"{}\") is given after joint 2 (\"{}\"); joints have to ascend",
            names[1], names[2]
        )
    );
    let error = refused(id, &[2, 2], &all[..1], &[one; 2]);
    let twice = matches!(error, CrowdError::JointOrder { joint: 2, after: 2, .. });
    assert!(twice, "{error:?}");
    let error = refused(id, &[0, 2], &all, &[one; 9]);
    assert_eq!(error.to_string(), "9 values given for 2 joints of 5 instances");
    let error = refused(id, &[20], &all, &[one; 5]);
    assert!(matches!(error, CrowdError::Lookup(_)), "{error}");
    let error = refused(id, &[0], &[all[0], stranger], &[one; 2]);
    let (instance, rig) = (stranger, id);
    let why = Unknown::OtherRig { here: rig, user: "this call" };
    let other = matches!(error, CrowdError::UnknownInstance { instance: i, why: w, .. } if (i, w) == (instance, why));
    assert!(other, "{error}");
    let error = refused(id, &[0], &[all[0], gone], &[one; 2]);
    let unknown = matches!(error, CrowdError::UnknownInstance { instance, .. } if instance == gone);
    assert!(unknown, "{error}");
    let error = refused(id, &[0], &all[..2], &[one, shift(f32::NAN)]);
    let refusal = |joint: usize, instance: InstanceId, why: &str| {
        let quoted = &crowd_rig;
        let name = &crowd_names[joint];
        format!("the override of joint {joint} (\"{name}\") of {instance} (\"{quoted}\"): {why}")
    };
    let why = "the matrix has NaN, beyond the limit of 3.4028235e38";
    assert_eq!(error.to_string(), refusal(0, all[1], why));
    let error = refused(id, &[0], &all[..2], &[one, shift(f32::MAX)]);
    let why = "the translation has 3.4028235e38, beyond the limit of 1e9";
    assert_eq!(error.to_string(), refusal(0, all[1], why));
    // The last instance alone is stretched too far, by an override that it has and one of the batch.
    let error = refused(id, &[4], &all[..3], &[scaled(2000.0); 3]);
    assert!(
        error.to_string().starts_with(&refusal(
            4,
            all[2],
            "with those of the joints above it, it stretches by 1.8"
        )),
        "{error}"
    );
    for weights in [&[][..], &[0.5; 2], &[0.5, 1.5, 0.5]] {
        let refused =
            crowd.set_overrides(id, &[4], &all[..3], &[one; 3], PoseSpace::Model, weights);
        assert!(refused.is_err() && crowd.snapshot() == before, "{weights:?}");
    }
    // In place of the one that it has it may be so large; without instances or joints nothing happens.
    let locals = [scaled(2000.0); 3];
    crowd.set_overrides(id, &[1], &all[..3], &locals, PoseSpace::Local, &[1.0]).unwrap();
    crowd.set_overrides(id, &[1], &[], &[], PoseSpace::Local, &[1.0]).unwrap();
    crowd.set_overrides(id, &[], &all, &[], PoseSpace::Local, &[1.0]).unwrap();
}

/// Rotations have no stretch: an override of every joint is no reason to walk the chains, nor to refuse.
#[test]
fn all_joints_may_be_overridden() {
    let (mut crowd, id, all) = crowd(2);
    let joints: Vec<usize> = (0..20).collect();
    let locals: Vec<_> = (0..40).map(turn).collect();
    crowd.set_overrides(id, &joints, &all, &locals, PoseSpace::Local, &[1.0]).unwrap();
    let set: Vec<_> = crowd.playing(all[1]).unwrap().overrides().collect();
    let expected: Vec<_> = joints.iter().copied().zip(&locals[20..]).collect();
    assert_eq!(set, expected);
    let mut model = Affine3x4::IDENTITY;
    for local in &locals[20..] {
        model = model * *local;
    }
    let tip = crowd.model_matrix(all[1], 19).unwrap();
    phalanx_testkit::chain::close(&[tip], &[model]);
}
