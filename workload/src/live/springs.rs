//! Characters with hair that swings: eight chains of four joints on a head, and three bodies that they do not pass.

use super::crowds::{Playing, joint_of};
use super::poses::ClipSource;
use super::scene::{LiveError, find_joint};
use glam::{Quat, Vec3};
use phalanx::crowd::{CrowdError, Target};
use phalanx::import::raw::RawNode;
use phalanx::math::Affine3x4;
use phalanx::rig::Rig;
use phalanx::skeleton::{
    ColliderShape, SpringBones, SpringChain, SpringCollider, SpringJoint, Trs,
};

const CHAINS: usize = 8;
const JOINTS: usize = 4;

/// The rig with the chains, which are joints of its first skin, and with its own clips.
///
/// # Errors
/// If it cannot be built.
pub fn haired(source: &ClipSource) -> Result<Rig, LiveError> {
    let skeleton = source.rig().skeleton();
    let head = find_joint(skeleton, &["head"]);
    source.build_with(|raw| {
        for chain in 0..CHAINS {
            let turn = Quat::from_rotation_y(chain as f32 / CHAINS as f32 * std::f32::consts::TAU);
            let mut parent = source.node(head);
            for joint in 0..JOINTS {
                let node = raw.nodes.len();
                let name = Some(format!("hair {chain} {joint}"));
                let first = Trs { translation: Vec3::Y * 0.1, rotation: turn, scale: Vec3::ONE };
                let next = Vec3::new(0.02, -0.06, 0.05);
                let next = Trs { translation: next, ..Trs::IDENTITY };
                let local = if joint == 0 { first } else { next };
                let parent = std::mem::replace(&mut parent, node);
                let parent = Some(parent);
                raw.nodes.push(RawNode { source: node, name, parent, local, ..RawNode::default() });
                if let Some(skin) = raw.skins.first_mut() {
                    skin.joints.push(node);
                    skin.inverse_bind.push(Affine3x4::IDENTITY.to_cols_array());
                }
            }
        }
    })
}

/// Lets the chains of every character swing with a weight.
///
/// # Errors
/// If the rig is not [`haired`].
pub fn swing(mut playing: Playing, weight: f32) -> Result<Playing, LiveError> {
    let [head, spine] = [&["head"][..], &["chest", "spine"]].map(|name| joint_of(&playing, name));
    let (head, spine) = (head?, spine?);
    if let Some(rig) = playing.instances.first().map(|first| first.rig()) {
        let skeleton = playing.crowd.rig(rig)?.skeleton().clone();
        let mut springs = SpringBones::default();
        for chain in 0..CHAINS {
            let mut joints = Vec::new();
            for joint in 0..JOINTS {
                let name = format!("hair {chain} {joint}");
                let place = skeleton.joint(&*name).map_err(CrowdError::from)?;
                joints.push(SpringJoint {
                    tail: (joint + 1 == JOINTS).then_some(Vec3::new(0.0, -0.06, 0.0)),
                    radius: 0.02,
                    stiffness: 0.5,
                    gravity: Vec3::NEG_Y * 0.3,
                    drag: 0.3,
                    ..SpringJoint::new(place)
                });
            }
            let colliders = vec![0, 1, 2];
            springs.chains.push(SpringChain { joints, colliders, center: None });
        }
        let shoulders = [Vec3::new(-0.15, 0.1, 0.0), Vec3::new(0.15, 0.1, 0.0)];
        let capsule = ColliderShape::Capsule { ends: shoulders, radius: 0.08, inside: false };
        springs.colliders = vec![
            SpringCollider { joint: head, shape: ColliderShape::sphere(Vec3::Y * 0.08, 0.1) },
            SpringCollider { joint: head, shape: ColliderShape::sphere(Vec3::ZERO, 0.08) },
            SpringCollider { joint: spine, shape: capsule },
        ];
        let by = playing.crowd.add_modifier(rig, springs)?;
        playing.crowd.set_targets(by, &playing.instances, &[Target::default()], &[weight])?;
    }
    Ok(playing)
}
