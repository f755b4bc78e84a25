//! Section NODE: the nodes of the rig, its roots, the meshes on them and the morph weights.

use super::error::{Fault, ReadError};
use super::names::{NameTable, Names};
use super::read::SectionReader;
use super::write::Bytes;
use crate::mesh::Mesh;
use crate::rig::{Rig, RigMesh, RigNode, distinct};
use crate::skeleton::{NO_JOINT, Trs};
use std::sync::Arc;

/// The contents of the section.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    pub name: String,
    pub nodes: Vec<RigNode>,
    pub roots: Vec<usize>,
    pub meshes: Vec<RigMesh>,
}

pub(super) fn write(rig: &Rig, names: &mut NameTable) -> Vec<u8> {
    let mut out = Bytes::default();
    out.one(names.add(Some(rig.name())));
    out.count(rig.nodes().len());
    out.count(rig.roots().len());
    out.count(rig.meshes().len());
    let morphs = || rig.nodes().iter().enumerate().filter(|(_, n)| !n.morphs.is_empty());
    out.count(morphs().count());
    for n in rig.nodes() {
        out.count(n.source);
        out.one(names.add(n.name.as_deref()));
        out.index(n.parent);
        out.one(n.joint.unwrap_or(NO_JOINT));
        out.one(u16::from(n.matrix.is_some()));
        out.many(&n.local.to_array());
    }
    for matrix in rig.nodes().iter().filter_map(|n| n.matrix.as_ref()) {
        out.many(matrix);
    }
    for &root in rig.roots() {
        out.count(root);
    }
    let (_, shared) = distinct(rig.meshes());
    for (m, mesh) in rig.meshes().iter().zip(shared) {
        out.count(m.node);
        out.count(m.source);
        out.count(mesh);
        out.count(m.skin);
        out.index(m.rigid_slot.map(usize::from));
        out.count(m.lod);
    }
    for (node, n) in morphs() {
        out.count(node);
        out.count(n.morphs.start);
        out.count(n.morphs.len());
    }
    out.0
}

/// Reads the section. Indices of meshes and of nodes with morph weights are checked here, all others by `Rig::new`.
pub(super) fn read(
    mut r: SectionReader<'_>,
    names: &Names,
    meshes: &[Arc<Mesh>],
) -> Result<Nodes, ReadError> {
    let name = r.named(names, "the rig's name")?.unwrap_or_default();
    let mut out = Nodes { name, ..Nodes::default() };
    let nodes = r.count("the number of nodes", 56)?;
    let roots = r.count("the number of roots", 4)?;
    let placed = r.count("the number of meshes on nodes", 24)?;
    let morphs = r.count("the number of morph ranges", 12)?;
    let mut matrices = Vec::new();
    for node in 0..nodes {
        r.charge(size_of::<RigNode>())?;
        let [source, name, parent]: [u32; 3] = r.one("a node")?;
        let name = r.name(names, name)?;
        let [joint, flags]: [u16; 2] = r.one("the joint of a node")?;
        r.bits("the flags of a node", flags.into(), 1)?;
        if flags == 1 {
            matrices.push(node);
        }
        let local: Vec<[f32; 10]> = r.floats(1, "the transform of a node")?;
        out.nodes.push(RigNode {
            source: source as usize,
            name,
            parent: optional(parent),
            local: local.first().map_or_else(Default::default, |&l| Trs::from(l)),
            matrix: None,
            joint: (joint != NO_JOINT).then_some(joint),
            morphs: 0..0,
        });
    }
    let values: Vec<[f32; 16]> = r.floats(matrices.len(), "matrices of nodes")?;
    for (node, matrix) in matrices.into_iter().zip(values) {
        out.nodes[node].matrix = Some(matrix);
    }
    let roots: Vec<u32> = r.many(roots, "roots")?;
    r.charge(roots.len() * 8)?;
    out.roots = roots.into_iter().map(|n| n as usize).collect();
    for _ in 0..placed {
        r.charge(size_of::<RigMesh>())?;
        let [node, source, mesh, skin, slot, lod]: [u32; 6] = r.one("a mesh on a node")?;
        let mesh = r.index("the mesh of a node", mesh, meshes.len())?;
        let slot = match optional(slot) {
            Some(slot) => {
                Some(r.index("the slot of a rigid mesh", slot as u32, usize::from(u16::MAX))? as u16)
            }
            None => None,
        };
        out.meshes.push(RigMesh {
            node: node as usize,
            source: source as usize,
            mesh: meshes[mesh].clone(),
            skin: skin as usize,
            rigid_slot: slot,
            // A rig has at most one level per mesh: this bounds loops over all levels by the size of the file.
            lod: r.index("the level of detail", lod, placed)?,
        });
    }
    for _ in 0..morphs {
        let [node, first, count]: [u32; 3] = r.one("a morph range")?;
        let node = r.index("the node of a morph range", node, nodes)?;
        let (first, morphs) = (first as usize, &mut out.nodes[node].morphs);
        if *morphs != (0..0) {
            return Err(r.whole(Fault::Invalid(format!("node {node} has two morph ranges"))));
        }
        *morphs = first..first.saturating_add(count as usize);
    }
    r.finish()?;
    Ok(out)
}

fn optional(index: u32) -> Option<usize> {
    (index != u32::MAX).then_some(index as usize)
}
