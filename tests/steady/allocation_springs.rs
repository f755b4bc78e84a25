//! Steady frames with springs, and with blend spaces in a plane whose parameters follow, allocate nothing, counted by the
//! global allocator: also while instances jump, change tiers, and fade by offsets.

use glam::{Affine3A, Vec3};
use phalanx::crowd::{BlendSpace, BoneBuffer, Crowd, PlayOptions, Tier, Tiers};
use phalanx::playback::{CrossFade, EventKind, FadeKind, Mixer, Playable};
use phalanx::rig::Rig;
use phalanx::skeleton::{ColliderShape, SpringBones, SpringChain, SpringCollider, SpringJoint};
use phalanx_testkit::alloc::{self, allocations, pool};
use phalanx_workload::standard_crowd;
use std::sync::Arc;

/// Both arms swing, and do not pass the hips.
fn arms(rig: &Rig) -> SpringBones {
    let skeleton = rig.skeleton();
    let parent = |joint: usize| usize::from(skeleton.parents()[joint]);
    let hips = skeleton.joint("Hips").unwrap();
    let chains = ["LeftHand", "RightHand"].map(|hand| {
        let hand = skeleton.joint(hand).unwrap();
        let joints = [parent(parent(hand)), parent(hand), hand];
        let joints = joints.map(|joint| SpringJoint { radius: 0.05, ..SpringJoint::new(joint) });
        let center = hand.is_multiple_of(2).then_some(hips);
        SpringChain { joints: joints.to_vec(), colliders: vec![0], center }
    });
    let shape = ColliderShape::sphere(Vec3::ZERO, 0.2);
    let colliders = vec![SpringCollider { joint: hips, shape }];
    SpringBones { chains: chains.to_vec(), colliders, ..SpringBones::default() }
}

#[test]
fn steady_frames_with_springs_and_planes_allocate_nothing() {
    let _alone = alloc::alone();
    let inertial = CrossFade { kind: FadeKind::Inertial, ..0.3.into() };
    let tier = |height, rate, springs| Tier {
        height,
        rate,
        interpolate: rate > 2,
        springs,
        ..Tier::default()
    };
    let tiers =
        [tier(30.0, 1, true), tier(20.0, 2, true), tier(10.0, 4, true), tier(0.0, 1, false)];
    for (threads, tiered) in [(1, false), (3, false), (3, true)] {
        let counted = pool(threads).install(|| {
            let rig = Arc::new(phalanx::import::mannequin().unwrap());
            let (mut crowd, all) = standard_crowd(rig.clone(), &[0, 1, 2], 80).unwrap();
            let id = all[0].rig();
            let [a, b, c] = [0, 1, 2].map(|clip| crowd.clip_by_index(id, clip).unwrap());
            let points = [([0.0, 0.0], a), ([0.0, 1.0], b), ([1.0, 0.0], c), ([1.0, 1.0], a)];
            let plane = BlendSpace::plane(&points).following(0.25);
            let plane = crowd.add_blend_space(id, plane).unwrap();
            crowd.play_many(&all, 0, &[plane], &[PlayOptions::default()]).unwrap();
            let by = crowd.add_modifier(id, arms(&rig)).unwrap();
            for &i in &all {
                crowd.player(i).unwrap().fade_modifier(by, 1.0, 0.2).unwrap();
            }
            if tiered {
                let tiers = Tiers { tiers: tiers.to_vec(), ..Tiers::default() };
                crowd.set_tiers(Some(tiers)).unwrap();
            }
            let mut heights = vec![0.0; all.len()];
            let mut values = vec![[0.0; 2]; all.len() / 2];
            let (mut buffer, mut stopped) = (BoneBuffer::new(), 0);
            let mut frame = |crowd: &mut Crowd, n: usize| {
                for (i, height) in heights.iter_mut().enumerate() {
                    *height = 5.0 + 10.0 * ((i + n / 6) % 4) as f32;
                }
                for (k, value) in values.iter_mut().enumerate() {
                    *value = [(k + n / 5) % 4, (k + n / 7) % 3].map(|v| v as f32 * 0.4);
                }
                if tiered {
                    crowd.set_importances(id, &heights).unwrap();
                }
                crowd.set_parameters(&all[..values.len()], 0, &[plane], &values).unwrap();
                for (k, &i) in all.iter().enumerate() {
                    let at = Vec3::X * (0.1 * (n + k) as f32).sin();
                    let world = Affine3A::from_translation(at);
                    match (n + k) % 50 {
                        0 => crowd.teleport(i, world).unwrap(),
                        _ => crowd.set_world(i, world).unwrap(),
                    }
                }
                for (k, &i) in
                    all[values.len()..].iter().enumerate().filter(|(k, _)| k % 24 == n % 24)
                {
                    let (from, to): (Playable, Playable) = match n / 24 % 2 {
                        0 => (plane.into(), b.into()),
                        _ => (b.into(), plane.into()),
                    };
                    let options =
                        PlayOptions { parameter: [0.3, 0.6].into(), ..PlayOptions::default() };
                    let fade = if k % 3 == 0 { 0.3.into() } else { inertial };
                    crowd.player(i).unwrap().cross_fade(0, from, to, fade, &options).unwrap();
                }
                crowd.advance(1.0 / 72.0).unwrap();
                stopped += crowd.events().iter().filter(|e| e.kind == EventKind::Stopped).count();
                crowd.evaluate(&mut buffer);
                crowd.model_matrix(all[3], 5).unwrap();
            };
            (0..240).for_each(|n| frame(&mut crowd, n));
            let before = allocations();
            (240..340).for_each(|n| frame(&mut crowd, n));
            let of_crowd = allocations() - before;
            assert!(stopped > 50, "{stopped}");

            let mut mixer = Mixer::new(rig.clone()).unwrap();
            let [a, b, c] = [0, 1, 2].map(|clip| mixer.clip_by_index(clip).unwrap());
            let points = [([0.0, 0.0], a), ([0.0, 1.0], b), ([1.0, 0.0], c)];
            let plane = mixer.add_blend_space(BlendSpace::plane(&points).following(0.4)).unwrap();
            let by = mixer.add_modifier(arms(&rig)).unwrap();
            mixer.player().fade_modifier(by, 0.5, 0.0).unwrap();
            mixer.player().play(0, plane, &PlayOptions::default()).unwrap();
            let mut frame = |n: usize| {
                let mut player = mixer.player();
                let value = [0.2 * (n / 9 % 5) as f32, 0.3 * (n / 4 % 4) as f32];
                match n % 40 {
                    0 => player.cross_fade(0, plane, b, inertial, &PlayOptions::default()).unwrap(),
                    20 => {
                        player.cross_fade(0, b, plane, inertial, &PlayOptions::default()).unwrap()
                    }
                    21.. => player.set_parameter(0, plane, value).unwrap(),
                    _ => {}
                }
                mixer.advance(1.0 / 60.0).unwrap();
                mixer.evaluate();
            };
            (0..80).for_each(&mut frame);
            let before = allocations();
            (80..200).for_each(&mut frame);
            (of_crowd, allocations() - before)
        });
        assert_eq!(counted, (0, 0), "{threads} workers, in tiers: {tiered}");
    }
}

/// The call that lets a weight leave 0 makes room for the state. Frames allocate nothing, once a thread has its buffers.
#[test]
fn frames_after_a_weight_leaves_zero_allocate_nothing() {
    let _alone = alloc::alone();
    let counted = pool(1).install(|| {
        let rig = Arc::new(phalanx::import::mannequin().unwrap());
        let (mut crowd, all) = standard_crowd(rig.clone(), &[0, 1, 2], 20).unwrap();
        let by = crowd.add_modifier(all[0].rig(), arms(&rig)).unwrap();
        crowd.player(all[0]).unwrap().fade_modifier(by, 1.0, 0.0).unwrap();
        let mut buffer = BoneBuffer::new();
        let mut frame = |n: usize| {
            for (k, &i) in all.iter().enumerate().filter(|(k, _)| n >= 20 && k % 10 == n % 10) {
                let weight = if (n / 10).is_multiple_of(2) { 1.0 } else { 0.0 };
                crowd.player(i).unwrap().fade_modifier(by, weight, 0.1 * (k % 2) as f32).unwrap();
            }
            let before = allocations();
            crowd.advance(1.0 / 60.0).unwrap();
            crowd.evaluate(&mut buffer);
            allocations() - before
        };
        (0..60).map(&mut frame).collect::<Vec<_>>()
    });
    assert!(counted[20..].iter().all(|&n| n == 0), "{counted:?}");
}
