//! Rigs of more lanes than a set has bits: several groups of lanes to a unit.

use phalanx::build::build_rig;
use phalanx::crowd::{BoneBuffer, Crowd, PlayOptions};
use phalanx::import::raw::{
    Interpolation, RawChannel, RawClip, RawNode, RawScene, RawSkin, RawTrack,
};
use phalanx::math::{Affine3x4, Row};
use phalanx::rig::Rig;
use phalanx::runtime::{BlendJob, LocalToModelJob, PaletteJob};
use phalanx_testkit::sample::sample;
use phalanx_workload::hash01;
use std::sync::Arc;

/// A root with children, in short chains. Of every clip about a third of the joints move, and a third are held
/// elsewhere than at rest.
fn rig(joints: usize) -> Arc<Rig> {
    let mut nodes = vec![RawNode::default(); joints];
    for (joint, node) in nodes.iter_mut().enumerate().skip(1) {
        node.parent = Some(if joint % 3 == 0 { 0 } else { joint - 1 });
    }
    let clip = |seed: u64| {
        let random = |n: u64| hash01(seed * 1_000_003 + n) as f32;
        let mut tracks = Vec::new();
        for node in 0..joints {
            let n = node as u64 * 16;
            let kind = (random(n) * 3.0) as u32;
            let angles = [random(n + 1), random(n + 2)];
            let keys = match kind {
                0 => continue,
                1 => [angles[0]; 2],
                _ => angles,
            };
            let turn = |a: f32| [0.0, (a / 2.0).sin(), 0.0, (a / 2.0).cos()];
            tracks.push(RawTrack {
                node,
                channel: RawChannel::Rotation,
                interpolation: Interpolation::Linear,
                times: vec![0.0, 1.0],
                values: keys.map(turn).concat(),
            });
            if node % 5 == 0 {
                tracks.push(RawTrack {
                    node,
                    channel: RawChannel::Translation,
                    interpolation: Interpolation::Linear,
                    times: vec![0.0, 1.0],
                    values: vec![keys[0], 0.0, 1.0, keys[1], 0.5, 1.0],
                });
            }
        }
        RawClip { name: Some(format!("clip{seed}")), duration: 1.0, tracks, ..RawClip::default() }
    };
    let scene = RawScene {
        nodes,
        skins: vec![RawSkin {
            name: None,
            joints: (0..joints).collect(),
            inverse_bind: vec![Affine3x4::IDENTITY.to_cols_array(); joints],
        }],
        clips: (1..4).map(clip).collect(),
        ..RawScene::default()
    };
    Arc::new(build_rig(scene, &Default::default()).unwrap())
}

/// The palette by the public jobs.
fn by_jobs(rig: &Rig, playing: &[(usize, f32)], time: f32) -> Vec<Affine3x4> {
    let skeleton = rig.skeleton();
    let sampled = |&(clip, weight): &(usize, f32)| {
        let output = sample(&rig.clips()[clip], skeleton, time).unwrap();
        (output, weight)
    };
    let poses: Vec<_> = playing.iter().map(sampled).collect();
    let actions: Vec<_> = poses.iter().map(|(pose, weight)| (pose, *weight)).collect();
    let mut pose = skeleton.rest_pose().clone();
    let blend = BlendJob { actions: &actions, rest: skeleton.rest_pose(), output: &mut pose };
    blend.run().unwrap();
    let mut models = vec![Affine3x4::IDENTITY; skeleton.len()];
    let job = LocalToModelJob {
        skeleton,
        pose: &pose,
        locals: &mut vec![[Row::splat(0.0); 12]; skeleton.blocks()],
        output: &mut models,
    };
    job.run().unwrap();
    let skin = &rig.skins()[0];
    let mut output = vec![Affine3x4::IDENTITY; skin.len()];
    let job = PaletteJob { skin, models: &models, output: &mut output };
    job.run().unwrap();
    output
}

#[test]
fn palettes_of_large_rigs_are_those_of_the_jobs() {
    // 256 lanes fill 64 units of four, 512 those of eight, 1,024 those of sixteen.
    for joints in [255, 300, 511, 600, 1023, 1025, 1500] {
        let rig = rig(joints);
        let mut crowd = Crowd::new();
        let id = crowd.add_rig(rig.clone()).unwrap();
        let sets: [&[(usize, f32)]; 4] = [
            &[(0, 1.0)],
            &[(0, 0.4), (1, 0.6)],
            &[(2, 0.25), (1, 0.25)],
            &[(0, 0.2), (1, 0.5), (2, 0.3)],
        ];
        let time = 0.37;
        let instances = sets.map(|set| {
            let instance = crowd.spawn(id).unwrap();
            for &(clip, weight) in set {
                let options =
                    PlayOptions { time: f64::from(time), weight, ..PlayOptions::default() };
                let clip = crowd.clip_by_index(id, clip).unwrap();
                crowd.player(instance).unwrap().add(0, clip, &options).unwrap();
            }
            instance
        });
        let mut buffer = BoneBuffer::new();
        crowd.evaluate(&mut buffer);
        for (instance, set) in instances.into_iter().zip(sets) {
            let rows = &buffer.rows()[crowd.palette_range(instance).unwrap()];
            for (slot, (row, wanted)) in rows.iter().zip(by_jobs(&rig, set, time)).enumerate() {
                let (a, b) = (row.rows.as_flattened(), wanted.rows.as_flattened());
                let worst = a.iter().zip(b).fold(0.0f32, |w, (a, b)| w.max((a - b).abs()));
                assert!(worst < 2e-5, "{joints} joints, {set:?}, slot {slot}: {worst:e}");
            }
            // Overrides and questions take the same way.
            let models = crowd.model_matrices(instance).unwrap();
            assert_eq!(models.len(), joints);
            let last = Affine3x4::from_scale_rotation_translation(
                [2.0; 3].into(),
                phalanx::glam::Quat::from_rotation_x(1.0),
                [1.0, 2.0, 3.0].into(),
            );
            crowd.player(instance).unwrap().set_override(joints - 1, last).unwrap();
            let parent = rig.skeleton().parents()[joints - 1];
            let wanted = models[usize::from(parent)] * last;
            let found = crowd.model_matrix(instance, joints - 1).unwrap();
            let (a, b) = (found.rows.as_flattened(), wanted.rows.as_flattened());
            let worst = a.iter().zip(b).fold(0.0f32, |w, (a, b)| w.max((a - b).abs()));
            assert!(worst < 2e-5, "{joints} joints, override: {worst:e}");
        }
    }
}
