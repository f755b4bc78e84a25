//! Small rigs made in code.

use glam::Vec3;
use phalanx::build::build_rig;
use phalanx::crowd::{Crowd, InstanceId, LayerOptions, RigId};
use phalanx::import::raw::{
    Interpolation, RawChannel, RawClip, RawNode, RawScene, RawSkin, RawTrack,
};
use phalanx::math::Affine3x4;
use phalanx::playback::{BlendSpaceId, ClipId};
use phalanx::rig::Rig;
use std::sync::Arc;

/// One joint of this name. Clip "a" moves it along x from 0 to 1 in one second, "b" from 0 to 2 in two
/// seconds, "c" from 0 to 3 in one.
pub fn one_joint(name: &str) -> Arc<Rig> {
    let clip = |name: &str, duration: f32, way: f32| RawClip {
        name: Some(name.into()),
        duration,
        tracks: vec![RawTrack {
            node: 0,
            channel: RawChannel::Translation,
            interpolation: Interpolation::Linear,
            times: vec![0.0, duration],
            values: [Vec3::ZERO, Vec3::X * way].iter().flat_map(|v| v.to_array()).collect(),
        }],
        ..RawClip::default()
    };
    let scene = RawScene {
        name: "one".into(),
        nodes: vec![RawNode { name: Some(name.into()), ..RawNode::default() }],
        skins: vec![RawSkin {
            name: None,
            joints: vec![0],
            inverse_bind: vec![Affine3x4::IDENTITY.to_cols_array()],
        }],
        clips: vec![clip("a", 1.0, 1.0), clip("b", 2.0, 2.0), clip("c", 1.0, 3.0)],
        ..RawScene::default()
    };
    Arc::new(build_rig(scene, &Default::default()).unwrap())
}

/// One handle of every kind that a crowd gives out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Handles {
    pub rig: RigId,
    pub instance: InstanceId,
    pub clip: ClipId,
    pub space: BlendSpaceId,
}

impl Handles {
    /// Adds a rig with an instance and a blend space.
    pub fn add(crowd: &mut Crowd, rig: &Arc<Rig>) -> Self {
        let layers = vec![LayerOptions::default(); 2];
        let id = crowd.add_rig_with_layers(rig.clone(), layers).unwrap();
        let [a, b] = ["a", "b"].map(|name| crowd.clip_named(id, name).unwrap());
        Self {
            rig: id,
            instance: crowd.spawn(id).unwrap(),
            clip: a,
            space: crowd.add_blend_space(id, &[(0.0, a), (1.0, b)]).unwrap(),
        }
    }
}

/// A chain of joints that nothing moves.
pub fn chain(joints: usize) -> Arc<Rig> {
    let nodes = (0..joints).map(|i| RawNode {
        name: Some(format!("joint{i}")),
        parent: i.checked_sub(1),
        ..RawNode::default()
    });
    let scene = RawScene {
        name: "chain".into(),
        nodes: nodes.collect(),
        skins: vec![RawSkin {
            name: None,
            joints: (0..joints).collect(),
            inverse_bind: vec![Affine3x4::IDENTITY.to_cols_array(); joints],
        }],
        ..RawScene::default()
    };
    Arc::new(build_rig(scene, &Default::default()).unwrap())
}
