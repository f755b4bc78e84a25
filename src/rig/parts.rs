//! `RigParts`: a rig as a builder or a reader has it, checked before it becomes one.

use super::{MorphRange, Rig, RigMesh, RigNode, SlotBounds};
use crate::clip::Clip;
use crate::mesh::{Image, Material, PrimitiveError};
use crate::skeleton::{NO_JOINT, Skeleton, Skin};
use std::sync::Arc;
use thiserror::Error;

/// The parts of a rig; see [`Rig`] for what they are.
#[derive(Clone, Debug)]
pub struct RigParts {
    /// A label: the file's name.
    pub name: String,
    /// The skeleton.
    pub skeleton: Arc<Skeleton>,
    /// The file's skins, then one for rigid meshes if there are any.
    pub skins: Vec<Skin>,
    /// How many of them are the file's.
    pub file_skins: usize,
    /// Clips that fit the skeleton.
    pub clips: Vec<Arc<Clip>>,
    /// All nodes.
    pub nodes: Vec<RigNode>,
    /// Root nodes of the default scene.
    pub roots: Vec<usize>,
    /// The meshes.
    pub meshes: Vec<RigMesh>,
    /// The materials.
    pub materials: Vec<Material>,
    /// The images.
    pub images: Vec<Option<Image>>,
    /// Nodes with morph weights.
    pub morphs: Vec<MorphRange>,
}

/// Why parts are no rig.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum RigError {
    /// An index points past the end of what it indexes.
    #[error("{place}: {what} {index}, there are {have}")]
    Index {
        /// Where the index stands.
        place: String,
        /// What it names.
        what: &'static str,
        /// The index.
        index: usize,
        /// How many there are.
        have: usize,
    },
    /// The parents of the nodes form a cycle.
    #[error("the parents of the nodes form a cycle")]
    Cycle,
    /// A clip was built for another skeleton or another lane order.
    #[error(
        "clip {clip} does not fit the skeleton: its hash is {have:016x}, needed is {needed:016x}"
    )]
    Clip {
        /// The clip.
        clip: usize,
        /// Its structure's or layout's hash.
        have: u64,
        /// The skeleton's.
        needed: u64,
    },
    /// A primitive's streams do not fit each other.
    #[error("mesh {mesh}, primitive {primitive}: {source}")]
    Primitive {
        /// Place of the mesh in the rig.
        mesh: usize,
        /// The primitive.
        primitive: usize,
        /// Why.
        source: PrimitiveError,
    },
    /// A picture has not four bytes per pixel.
    #[error("image {image} holds {have} bytes, needed are {needed}")]
    Image {
        /// The image.
        image: usize,
        /// Its bytes.
        have: usize,
        /// Bytes needed.
        needed: u64,
    },
}

impl Rig {
    /// Makes a rig of its parts and measures the boxes of its slots.
    ///
    /// # Errors
    /// If an index is out of range, nodes form a cycle, or a clip or a stream does not fit.
    pub fn new(parts: RigParts) -> Result<Self, RigError> {
        check_nodes(&parts)?;
        check_clips(&parts)?;
        for (place, mesh) in parts.meshes.iter().enumerate() {
            check_mesh(&parts, place, mesh)?;
        }
        for (image, i) in parts.images.iter().enumerate() {
            let Some(i) = i else { continue };
            let needed = u64::from(i.width) * u64::from(i.height) * 4;
            if i.rgba.len() as u64 != needed {
                let have = i.rgba.len();
                return Err(RigError::Image {
                    image,
                    have,
                    needed,
                });
            }
        }
        let mut palette_offsets = Vec::with_capacity(parts.skins.len());
        let mut next = 0;
        for skin in &parts.skins {
            palette_offsets.push(next);
            next += skin.len();
        }
        let slot_bounds = SlotBounds::measure(&parts.skins, &palette_offsets, &parts.meshes);
        Ok(Self {
            name: parts.name,
            skeleton: parts.skeleton,
            skins: parts.skins,
            file_skins: parts.file_skins,
            palette_offsets,
            palette_len: next,
            clips: parts.clips,
            nodes: parts.nodes,
            roots: parts.roots,
            meshes: parts.meshes,
            materials: parts.materials,
            images: parts.images,
            morphs: parts.morphs,
            slot_bounds,
        })
    }
}

fn within(
    place: impl FnOnce() -> String,
    what: &'static str,
    index: usize,
    have: usize,
) -> Result<(), RigError> {
    if index < have {
        return Ok(());
    }
    Err(RigError::Index {
        place: place(),
        what,
        index,
        have,
    })
}

fn check_nodes(parts: &RigParts) -> Result<(), RigError> {
    let (nodes, joints) = (parts.nodes.len(), parts.skeleton.len());
    for (i, n) in parts.nodes.iter().enumerate() {
        let place = || format!("node {i}");
        within(place, "parent", n.parent.unwrap_or(0), nodes)?;
        if let Some(joint) = n.joint {
            within(place, "joint", usize::from(joint), joints)?;
        }
    }
    if !is_forest(&parts.nodes, |n| n.parent) {
        return Err(RigError::Cycle);
    }
    for &root in &parts.roots {
        within(|| "roots".into(), "node", root, nodes)?;
    }
    for (i, skin) in parts.skins.iter().enumerate() {
        for &joint in skin.joints().iter().filter(|&&j| j != NO_JOINT) {
            within(|| format!("skin {i}"), "joint", usize::from(joint), joints)?;
        }
    }
    // The file's skins, and at most one more.
    let extra = parts.skins.len().wrapping_sub(parts.file_skins);
    within(|| "skins".into(), "skin for rigid meshes", extra, 2)?;
    let scalars = parts.skeleton.scalars().len();
    for (i, m) in parts.morphs.iter().enumerate() {
        let place = || format!("morph range {i}");
        within(place, "node", m.node, nodes)?;
        within(place, "scalar", m.scalars.end, scalars + 1)?;
        within(place, "first scalar", m.scalars.start, m.scalars.end + 1)?;
    }
    for (i, m) in parts.materials.iter().enumerate() {
        if let Some(image) = m.base_color_image {
            within(
                || format!("material {i}"),
                "image",
                image,
                parts.images.len(),
            )?;
        }
    }
    Ok(())
}

fn check_clips(parts: &RigParts) -> Result<(), RigError> {
    let skeleton = &parts.skeleton;
    for (clip, c) in parts.clips.iter().enumerate() {
        let pairs = [
            (c.structure_hash(), skeleton.structure_hash()),
            (c.layout_hash(), skeleton.layout_hash()),
        ];
        if let Some((have, needed)) = pairs.into_iter().find(|(have, needed)| have != needed) {
            return Err(RigError::Clip { clip, have, needed });
        }
    }
    Ok(())
}

fn check_mesh(parts: &RigParts, place: usize, mesh: &RigMesh) -> Result<(), RigError> {
    let name = || format!("mesh {place}");
    within(name, "node", mesh.node, parts.nodes.len())?;
    within(name, "skin", mesh.skin, parts.skins.len())?;
    let slots = parts.skins[mesh.skin].len();
    if let Some(slot) = mesh.rigid_slot {
        within(name, "slot", usize::from(slot), slots)?;
    }
    for (primitive, p) in mesh.mesh.primitives.iter().enumerate() {
        let place_of = || format!("mesh {place}, primitive {primitive}");
        p.check().map_err(|source| RigError::Primitive {
            mesh: place,
            primitive,
            source,
        })?;
        if let Some(material) = p.material {
            within(place_of, "material", material, parts.materials.len())?;
        }
        if mesh.rigid_slot.is_some() {
            continue;
        }
        let influences = p.influences.joints.iter().zip(&p.influences.weights);
        for (&slot, _) in influences.filter(|(_, weight)| **weight != 0.0) {
            within(place_of, "slot", usize::from(slot), slots)?;
        }
    }
    Ok(())
}

/// Whether no node is its own ancestor. The parents must be in range.
pub(crate) fn is_forest<N>(nodes: &[N], parent: impl Fn(&N) -> Option<usize>) -> bool {
    // 0: not seen, 1: on the way up from here, 2: leads to a root.
    let mut state = vec![0u8; nodes.len()];
    let mut path = Vec::new();
    for start in 0..nodes.len() {
        let mut at = Some(start);
        while let Some(n) = at.filter(|&n| state[n] != 2) {
            if state[n] == 1 {
                return false;
            }
            state[n] = 1;
            path.push(n);
            at = parent(&nodes[n]);
        }
        for n in path.drain(..) {
            state[n] = 2;
        }
    }
    true
}
