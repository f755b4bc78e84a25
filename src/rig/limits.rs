//! Limits on the nodes of a rig, and on the work for meshes that many nodes share.

use super::{RigMesh, RigNode};
use crate::mesh::Mesh;
use crate::skeleton::limits::{Beyond, MAX_LENGTH, beyond, check_local};
use glam::{DAffine3, DMat4};
use std::collections::HashMap;
use std::sync::Arc;

/// Limit on the slots visited to measure the boxes of a rig: about one second of work.
///
/// Each pair of a mesh and a skin that is drawn together counts with the slots that the mesh uses. A rig of
/// 500 meshes with 200 slots each has 100,000.
pub(super) const MAX_SHARED_SLOTS: u64 = 1 << 28;

/// Limit on the vertices of the meshes that a detail copies: about one second of work and 5 GiB.
///
/// Each pair of a mesh and a skin that is drawn together counts with the vertices of the mesh, and again for each morph
/// target and for every four influences. A character of 100,000 vertices with 52 targets has 5 million.
pub(super) const MAX_DETAIL_VERTICES: u64 = 1 << 26;

/// Checks the numbers of all nodes. Returns the first node with a number beyond its limit.
///
/// A node that is not a joint is static, so its matrix relative to the joint above must be within
/// [`MAX_LENGTH`] too. The parents must form a forest.
pub(super) fn check_nodes(nodes: &[RigNode]) -> Result<(), (usize, Beyond)> {
    for (n, node) in nodes.iter().enumerate() {
        let matrix = node.matrix.as_ref().map_or(&[][..], |m| &m[..]);
        check_local(&node.local)
            .and_then(|()| beyond("scale", &node.local.scale.to_array(), MAX_LENGTH))
            .and_then(|()| beyond("matrix", matrix, MAX_LENGTH))
            .map_err(|b| (n, b))?;
    }
    let mut offsets: Vec<Option<DAffine3>> =
        nodes.iter().map(|n| n.joint.map(|_| DAffine3::IDENTITY)).collect();
    let mut path = Vec::new();
    for start in 0..nodes.len() {
        let mut at = Some(start);
        while let Some(n) = at.filter(|&n| offsets[n].is_none()) {
            path.push(n);
            at = nodes[n].parent;
        }
        let mut above = at.and_then(|n| offsets[n]).unwrap_or_default();
        while let Some(n) = path.pop() {
            above *= local(&nodes[n]);
            let elements = above.to_cols_array().map(|v| v as f32);
            let what = "matrix relative to the joint above";
            beyond(what, &elements, MAX_LENGTH).map_err(|b| (n, b))?;
            offsets[n] = Some(above);
        }
    }
    Ok(())
}

fn local(node: &RigNode) -> DAffine3 {
    match &node.matrix {
        Some(m) => DAffine3::from_mat4(DMat4::from_cols_array(&m.map(f64::from))),
        None => DAffine3::from_scale_rotation_translation(
            node.local.scale.as_dvec3(),
            node.local.rotation.as_dquat(),
            node.local.translation.as_dvec3(),
        ),
    }
}

/// The distinct meshes of a rig, in the order of their first use, and for each entry its index among them.
pub(crate) fn distinct(meshes: &[RigMesh]) -> (Vec<&Arc<Mesh>>, Vec<usize>) {
    let mut all = Vec::new();
    let mut indices: HashMap<*const Mesh, usize> = HashMap::new();
    let which = meshes.iter().map(|m| {
        *indices.entry(Arc::as_ptr(&m.mesh)).or_insert_with(|| {
            all.push(&m.mesh);
            all.len() - 1
        })
    });
    let which = which.collect();
    (all, which)
}
