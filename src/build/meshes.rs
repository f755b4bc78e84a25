//! The skins and meshes of a rig, built from raw ones.

use super::anchors::Anchors;
use crate::error::BuildError;
use crate::math::Affine3x4;
use crate::mesh::Mesh;
use crate::raw::RawScene;
use crate::rig::RigMesh;
use crate::skeleton::{NO_JOINT, Skin};
use std::sync::Arc;

pub(super) type SkinsAndMeshes = (Vec<Skin>, Vec<RigMesh>, usize);

/// The file's skins, one more for rigid meshes, the meshes of all nodes, and the number of file skins.
pub(super) fn skins_and_meshes(
    raw: &RawScene,
    shared: &[Arc<Mesh>],
    joint_of_node: &[u16],
    joints: usize,
) -> Result<SkinsAndMeshes, BuildError> {
    let mut skins = Vec::with_capacity(raw.skins.len() + 1);
    for (skin, s) in raw.skins.iter().enumerate() {
        let slots = s.joints.iter().map(|&n| joint_of_node[n]).collect();
        let bind = s.inverse_bind.iter().map(Affine3x4::from_cols_array).collect();
        let made = Skin::new(s.name.clone(), slots, bind, joints);
        skins.push(made.map_err(|source| source.within(format!("skin {skin}")))?);
    }
    let file_skins = skins.len();
    let (mut rigid_joints, mut rigid_bind) = (Vec::new(), Vec::new());
    let mut anchors = Anchors::new(raw, joint_of_node);
    let mut meshes = Vec::new();
    for (node, n) in raw.nodes.iter().enumerate() {
        let Some(source) = n.mesh else { continue };
        let rigid_slot = if n.skin.is_none() {
            // Slots are 16-bit: a crowd does not draw rigid meshes beyond their number.
            if rigid_joints.len() >= usize::from(NO_JOINT) {
                continue;
            }
            let (joint, offset) = anchors.of(node);
            rigid_joints.push(joint);
            rigid_bind.push(offset);
            Some(rigid_joints.len() as u16 - 1)
        } else {
            None
        };
        meshes.push(RigMesh {
            node,
            source,
            mesh: shared[source].clone(),
            skin: n.skin.unwrap_or(file_skins),
            rigid_slot,
            lod: 0,
        });
    }
    if !rigid_joints.is_empty() {
        let skin = Skin::new(None, rigid_joints, rigid_bind, joints);
        skins.push(skin.map_err(|source| source.within(format!("skin {file_skins}")))?);
    }
    Ok((skins, meshes, file_skins))
}
