//! Baking of clips that were baked before.

use super::*;
use crate::build::{BuildOptions, build_rig};
use crate::clip::{Channel, Encoding};
use crate::raw::{Interpolation, RawChannel, RawClip, RawNode, RawScene, RawTrack};
use crate::skeleton::{ChannelValue, UserChannel};
use glam::Quat;

/// Packed keys of joints and scalars are read as integers: their blocks have fewer rows than keys.
#[test]
fn baked_clips_can_be_baked_again() {
    let times: Vec<f32> = (0..40).map(|k| k as f32 / 30.0).collect();
    let turn = |&t: &f32| Quat::from_rotation_x((5.0 * t).sin()).to_array();
    let scene = RawScene {
        nodes: vec![RawNode::default()],
        clips: vec![RawClip {
            duration: 1.3,
            tracks: vec![RawTrack {
                node: 0,
                channel: RawChannel::Rotation,
                interpolation: Interpolation::Linear,
                times: times.clone(),
                values: times.iter().flat_map(turn).collect(),
            }],
            user_tracks: vec![RawTrack {
                node: 0,
                channel: RawChannel::Weights,
                interpolation: Interpolation::Linear,
                values: times.iter().map(|t| (3.0 * t).cos()).collect(),
                times,
            }],
            ..RawClip::default()
        }],
        channels: vec![UserChannel { name: "smile".into(), rest: ChannelValue::Float(0.0) }],
        scenes: vec![vec![0]],
        ..RawScene::default()
    };
    let rig = build_rig(scene, &BuildOptions::default()).expect("the scene is sound");
    let (skeleton, options) = (rig.skeleton(), BakeOptions::default());
    let (once, _) = bake(&rig.clips()[0], skeleton, &options).expect("the clip fits");
    for channel in [Channel::Rotation, Channel::Scalar] {
        let packed = |e| matches!(e, Encoding::Packed { .. });
        assert!(once.blocks(channel).iter().all(|b| packed(b.encoding)));
    }
    let (twice, report) = bake(&once, skeleton, &options).expect("the clip fits");
    assert!(report.max <= options.max_error, "{}", report.max);
    assert!(report.scalar_relative <= options.scalar_error);
    assert_eq!(twice.bytes(), once.bytes());
    // This error needs more than 16 bits, so rotations become f32 rows.
    let fine = BakeOptions { max_error: 1e-9, ..options };
    let (fine, _) = bake(&once, skeleton, &fine).expect("the clip fits");
    assert_eq!(fine.timelines().len(), once.timelines().len());
}
