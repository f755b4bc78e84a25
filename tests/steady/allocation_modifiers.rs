//! Steady frames with modifiers allocate nothing, counted by the global allocator: targets by arrays and one by one,
//! weights that fade in and out, overrides with weights, whole poses, a hook.

use glam::{Quat, Vec3};
use phalanx::crowd::{BoneBuffer, Crowd, PoseStage};
use phalanx::playback::{
    Aim, EndRotation, Feet, Ground, Hook, Mixer, Pole, PoseSpace, Target, TwoBoneIk,
};
use phalanx::skeleton::Trs;
use phalanx_testkit::alloc::{self, allocations, pool};
use phalanx_workload::standard_crowd;
use std::sync::Arc;

#[test]
fn steady_frames_with_modifiers_allocate_nothing() {
    let _alone = alloc::alone();
    for threads in [1, 3] {
        let counted = pool(threads).install(|| {
            let rig = Arc::new(phalanx::import::mannequin().unwrap());
            let joint = |name: &str| rig.skeleton().joint(name).unwrap();
            let (hand, head) = (joint("RightHand"), joint("Head"));
            let arm = TwoBoneIk { stretch: 1.2, soft: 0.1, ..TwoBoneIk::new(hand) };
            let leg = TwoBoneIk {
                pole: Pole::Direction(Vec3::Z),
                end_rotation: EndRotation::Follow,
                ..TwoBoneIk::new(joint("LeftFoot"))
            };
            let (mut crowd, all) = standard_crowd(rig.clone(), &[0, 1, 2], 300).unwrap();
            let id = all[0].rig();
            let arms = crowd.add_modifier(id, arm.clone()).unwrap();
            let legs = crowd.add_modifier(id, leg).unwrap();
            let look = Aim { limit: 1.2, soft: 0.3, speed: 3.0, ..Aim::new(head) };
            let looks = crowd.add_modifier(id, look.clone()).unwrap();
            let ankles = [joint("LeftFoot"), joint("RightFoot")];
            let feet = crowd.add_modifier(id, Feet::new(joint("Hips"), &ankles)).unwrap();
            let mut at = [Vec3::ZERO; 400];
            crowd.watch(id, &[hand], PoseStage::After).unwrap();
            let hook = crowd.add_modifier(id, Hook::default()).unwrap();
            crowd.set_targets(hook, &all[50..150], &[Target::default()], &[1.0]).unwrap();
            let poses = vec![Trs::IDENTITY; 60 * rig.skeleton().len()];
            let mut buffer = BoneBuffer::new();
            let mut targets = vec![Target::default(); 200];
            let mut weights = vec![0.0; 200];
            let local = Trs { translation: Vec3::Y * 0.1, ..Trs::IDENTITY };
            let mut frame = |crowd: &mut Crowd, n: usize| {
                for (k, (target, weight)) in targets.iter_mut().zip(&mut weights).enumerate() {
                    let at = Vec3::new(0.2, 1.2 + 0.01 * ((n + k) % 7) as f32, 0.3);
                    *target = match (n + k) % 3 {
                        0 => Target::model(at),
                        1 => Target { normal: Some(Vec3::X), ..Target::world(at) },
                        _ => Target { rotation: Some(Quat::IDENTITY), ..Target::joint(head, at) },
                    };
                    *weight = 0.25 * ((n + k) % 5) as f32;
                }
                crowd.set_targets(arms, &all[100..], &targets, &weights).unwrap();
                crowd.set_targets(looks, &all[50..250], &targets, &weights).unwrap();
                for (k, &i) in all[..100].iter().enumerate() {
                    let mut player = crowd.player(i).unwrap();
                    player.set_target(legs, targets[k]).unwrap();
                    if n % 10 == k % 10 {
                        let weight = if (n / 10).is_multiple_of(2) { 1.0 } else { 0.0 };
                        player.fade_modifier(legs, weight, 0.05).unwrap();
                        player
                            .set_override_weighted(4, local, PoseSpace::Local, weights[k])
                            .unwrap();
                        player.set_model_rotation(head, Quat::IDENTITY, weights[k]).unwrap();
                        let space = [PoseSpace::Model, PoseSpace::World][k % 2];
                        player.set_override_weighted(7, local, space, 1.0).unwrap();
                    }
                }
                crowd.foot_positions(feet, &all[50..250], &mut at).unwrap();
                let grounds =
                    at.map(|at| Ground { height: 0.1 * at.x, normal: Vec3::new(0.1, 1.0, at.z) });
                crowd.set_grounds(feet, &all[50..250], &grounds, &weights).unwrap();
                crowd.advance(1.0 / 60.0).unwrap();
                let given = &all[n % 5 * 20..][..60];
                let pose_weights: &[f32] = if n.is_multiple_of(2) { &[0.5] } else { &[] };
                crowd.set_poses(id, given, &poses, PoseSpace::World, pose_weights).unwrap();
                crowd.fade_poses(&given[..10], 0.0, 0.1).unwrap();
                if n.is_multiple_of(7) {
                    crowd.clear_poses(&given[20..]).unwrap();
                }
                crowd.evaluate_with(&mut buffer, &|_, pose, _| {
                    let model = pose.model(head).unwrap();
                    pose.set_model(head, model).unwrap();
                    // Refusals allocate nothing either.
                    assert!(pose.set_local(99, model).is_err());
                });
                assert_eq!(crowd.watched(all[150], PoseStage::After).unwrap().age, Some(0));
                crowd.model_matrix(all[3], hand).unwrap();
            };
            (0..40).for_each(|n| frame(&mut crowd, n));
            let before = allocations();
            (40..120).for_each(|n| frame(&mut crowd, n));
            let of_crowd = allocations() - before;
            // That the count can rise at all.
            crowd.snapshot();
            assert!(allocations() > before + of_crowd);

            let mut mixer = Mixer::new(rig.clone()).unwrap();
            let by = mixer.add_modifier(arm).unwrap();
            let looks = mixer.add_modifier(look).unwrap();
            let hook = mixer.add_modifier(Hook::default()).unwrap();
            mixer.player().fade_modifier(hook, 1.0, 0.0).unwrap();
            let mut frame = |n: usize| {
                let mut player = mixer.player();
                player.set_target(by, Target::model(Vec3::Y * (1.0 + 0.01 * n as f32))).unwrap();
                let weight = if n % 20 < 10 { 1.0 } else { 0.0 };
                player.fade_modifier(by, weight, 0.1).unwrap();
                player.set_target(looks, Target::world(Vec3::X * (n % 9) as f32)).unwrap();
                player.fade_modifier(looks, weight, 0.1).unwrap();
                player
                    .set_override_weighted(4, local, PoseSpace::Local, 0.01 * (n % 50) as f32)
                    .unwrap();
                mixer.advance(1.0 / 60.0).unwrap();
                mixer.player().set_pose(&poses[..47], PoseSpace::Model).unwrap();
                mixer.player().fade_pose(weight, 0.2).unwrap();
                mixer.evaluate_with(&|pose, _| pose.set_local(head, local).unwrap());
            };
            (0..40).for_each(&mut frame);
            let before = allocations();
            (40..120).for_each(&mut frame);
            (of_crowd, allocations() - before)
        });
        assert_eq!(counted, (0, 0), "{threads} workers");
    }
}
