use super::*;
use crate::bake::{BakeOptions, COARSEST, bake};
use crate::build::{BuildOptions, build_rig};
use crate::raw::{Interpolation, RawChannel, RawClip, RawNode, RawScene, RawTrack};
use crate::rig::Rig;
use crate::skeleton;
use glam::{Quat, Vec3};

/// A chain of joints that scale by `scale` each. Their tracks differ in kind and times and move by up to
/// `way` metres, far beyond what 16 bits can hold.
fn hostile(scale: f32, way: f32) -> Rig {
    let node = |i: usize| RawNode {
        source: i,
        parent: i.checked_sub(1),
        local: skeleton::Trs {
            translation: Vec3::new(way, -way, 0.5),
            rotation: Quat::from_rotation_x(i as f32),
            scale: Vec3::splat(scale),
        },
        ..RawNode::default()
    };
    let track = |node: usize| {
        let times: Vec<f32> = (0..5).map(|k| (k * (node + 3)) as f32 * 0.013).collect();
        let turn = |k: usize| Quat::from_rotation_z(k as f32).to_array().to_vec();
        let place = |k: usize| vec![way * (k as f32).sin(), 0.1, -way];
        let keys = 0..times.len();
        let (channel, values): (_, Vec<f32>) = match node % 2 {
            0 => (RawChannel::Rotation, keys.flat_map(turn).collect()),
            _ => (RawChannel::Translation, keys.flat_map(place).collect()),
        };
        RawTrack {
            node,
            channel,
            interpolation: [Interpolation::Linear, Interpolation::Step][node / 2 % 2],
            times,
            values,
        }
    };
    let scene = RawScene {
        nodes: (0..12).map(node).collect(),
        clips: vec![RawClip {
            duration: 1.0,
            tracks: (0..12).map(track).collect(),
            ..RawClip::default()
        }],
        scenes: vec![vec![0]],
        ..RawScene::default()
    };
    build_rig(scene, &BuildOptions::default()).expect("the scene is sound")
}

#[test]
fn rounds_are_bounded() {
    let mut missed = 0;
    for (scale, way) in [(1.0, 0.1), (1.0, 1e6), (7.0, 1e6), (9.9, 1e6), (1e-3, 1.0)] {
        let rig = hostile(scale, way);
        let (skeleton, clip) = (rig.skeleton(), &rig.clips()[0]);
        let settings = BakeOptions::default();
        let tracks = Tracks::new(clip, skeleton, &settings, COARSEST[0]);
        // NaN and infinite targets result from errors that are not finite.
        for target in [1e-4, 1.0, 1e-30, 0.0, f64::NAN, f64::INFINITY] {
            let (state, reached) = search(&tracks, target);
            assert!(state.rounds <= ROUNDS + LOCAL + FINER + HALVED, "{scale} {way} {target}");
            missed += usize::from(!reached && state.rounds == ROUNDS + LOCAL + FINER + HALVED);
        }
        let (built, report) = bake(clip, skeleton, &settings).expect("the clip fits");
        assert!(built == **clip || report.max <= settings.max_error);
    }
    assert!(missed > 10, "{missed} searches used all of their rounds");
}

/// Halving ends at a share with negligible error.
#[test]
fn the_last_shares_are_small() {
    let last = LARGEST_SHARE * 0.5f64.powi(HALVED as i32);
    assert!(last <= 1e-3, "{last} of the error");
}
