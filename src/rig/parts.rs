//! `RigParts`: the unchecked parts of a rig, and their checks.

use super::limits::{self, distinct};
use super::scales::check_scales;
use super::{Aabb, Reach, Rig, RigMesh, RigNode, measure_slots};
use crate::clip::Clip;
use crate::error::BuildError;
use crate::mesh::{ImageData, MAX_MIME_TYPE, Material, Mesh, is_mime_type};
use crate::skeleton::{NO_JOINT, Skeleton, Skin};
use crate::words::{are, shorten};
use std::ops::Range;
use std::sync::Arc;

/// The parts of a rig, unchecked; [`Rig::new`] checks them. See [`Rig`] for their meaning.
#[derive(Clone, Debug)]
pub struct RigParts {
    /// Label: the name of the file.
    pub name: String,
    /// The skeleton.
    pub skeleton: Arc<Skeleton>,
    /// The file's skins, then one for rigid meshes if there are any.
    pub skins: Vec<Skin>,
    /// Number of the file's skins.
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
    pub images: Vec<Option<ImageData>>,
}

impl Rig {
    /// Checks the parts, makes a rig and measures the boxes of its slots.
    ///
    /// # Errors
    /// If an index is out of range, nodes form a cycle, a number is beyond its limit, or a clip, a stream or
    /// an image does not fit.
    pub fn new(parts: RigParts) -> Result<Self, BuildError> {
        check_nodes(&parts)?;
        check_materials(&parts)?;
        check_clips(&parts)?;
        check_meshes(&parts)?;
        for (image, i) in parts.images.iter().enumerate() {
            match i {
                None => {}
                Some(ImageData::Decoded(i)) => {
                    let needed = u64::from(i.width) * u64::from(i.height) * 4;
                    let have = i.rgba.len();
                    if have as u64 != needed {
                        return Err(BuildError::invalid(format!(
                            "image {image} holds {have} bytes, expected {needed}"
                        )));
                    }
                }
                Some(ImageData::Encoded { mime, .. }) if !is_mime_type(mime.as_bytes()) => {
                    let length = mime.len();
                    return Err(BuildError::invalid(format!(
                        "image {image}: its MIME type of {length} bytes is not printable ASCII of at most \
                         {MAX_MIME_TYPE} bytes"
                    )));
                }
                Some(ImageData::Encoded { .. }) => {}
            }
        }
        let (palette_offsets, palette_len) = palette(&parts.skins);
        let slot_bounds = measure_slots(&parts.skins, &palette_offsets, &parts.meshes)?;
        let clips = parts.clips.iter().map(|c| &**c);
        let reach = Reach::new(&parts.skeleton, &parts.skins, &slot_bounds, clips);
        let displacements = displacements(&parts.skeleton, &parts.meshes, &parts.nodes);
        Ok(Self {
            name: parts.name,
            skeleton: parts.skeleton,
            skins: parts.skins,
            file_skins: parts.file_skins,
            palette_offsets,
            palette_len,
            clips: parts.clips,
            nodes: parts.nodes,
            roots: parts.roots,
            meshes: parts.meshes,
            materials: parts.materials,
            images: Arc::new(parts.images),
            slot_bounds,
            reach,
            displacements,
            clip_bounds: Vec::new(),
            bounds_file: None,
            derived: Default::default(),
            layouts: Default::default(),
            measures: Default::default(),
            humanoid: Vec::new(),
            springs: Default::default(),
            detail: None,
        })
    }

    /// Replaces the meshes and the bounds of their slots. Measures the reach of the rig; drops the bounds of clips, which
    /// the old meshes determined.
    pub(crate) fn set_meshes(&mut self, meshes: Vec<RigMesh>, slot_bounds: Vec<Aabb>) {
        let clips = self.clips.iter().map(|c| &**c);
        self.reach = Reach::new(&self.skeleton, &self.skins, &slot_bounds, clips);
        self.displacements = displacements(&self.skeleton, &meshes, &self.nodes);
        self.meshes = meshes;
        self.slot_bounds = slot_bounds;
        self.clip_bounds.clear();
        self.bounds_file = None;
        self.measures = Default::default();
    }

    /// Makes a joint, or the origin of the model, the anchor. Returns false, without a change, unless it is above all
    /// joints that move vertices.
    #[cfg(feature = "phx")]
    pub(crate) fn set_anchor(&mut self, anchor: Option<u16>) -> bool {
        let above = Reach::new(&self.skeleton, &self.skins, &self.slot_bounds, std::iter::empty());
        let fits = anchor == above.anchor
            || anchor.is_some() && above.chain(&self.skeleton).any(|joint| Some(joint) == anchor);
        if fits {
            self.reach = above.around(anchor);
        }
        fits
    }

    /// The rig without images.
    #[cfg(feature = "phx")]
    pub(crate) fn without_images(&self) -> Self {
        let mut rig = self.clone();
        rig.images = Arc::default();
        rig
    }

    /// The parts of the rig. Clips, meshes and the skeleton are shared; images are copied.
    pub fn parts(&self) -> RigParts {
        RigParts {
            name: self.name.clone(),
            skeleton: self.skeleton.clone(),
            skins: self.skins.clone(),
            file_skins: self.file_skins,
            clips: self.clips.clone(),
            nodes: self.nodes.clone(),
            roots: self.roots.clone(),
            meshes: self.meshes.clone(),
            materials: self.materials.clone(),
            images: self.images.to_vec(),
        }
    }
}

/// The first palette row of each skin, and the number of rows.
pub(super) fn palette(skins: &[Skin]) -> (Vec<usize>, usize) {
    let mut len = 0;
    let first = |skin: &Skin| {
        len += skin.len();
        len - skin.len()
    };
    let offsets = skins.iter().map(first).collect();
    (offsets, len)
}

/// For each scalar, the largest distance that a weight of 1 moves a vertex, in mesh space.
pub(super) fn displacements(
    skeleton: &Skeleton,
    meshes: &[RigMesh],
    nodes: &[RigNode],
) -> Vec<f32> {
    let mut all = vec![0.0f32; skeleton.scalars().len()];
    let (distinct, which) = distinct(meshes);
    let mut measured: Vec<Option<Vec<f32>>> = vec![None; distinct.len()];
    for (mesh, at) in meshes.iter().zip(which) {
        let range = nodes.get(mesh.node).map(|n| n.morphs.clone());
        let Some(scalars) = range.and_then(|r| all.get_mut(r)).filter(|s| !s.is_empty()) else {
            continue;
        };
        let most = measured[at].get_or_insert_with(|| reaches(&mesh.mesh));
        for (scalar, &most) in scalars.iter_mut().zip(&*most) {
            *scalar = scalar.max(most);
        }
    }
    all
}

/// For each morph target of a mesh, the longest displacement.
fn reaches(mesh: &Mesh) -> Vec<f32> {
    let targets = mesh.primitives.iter().map(|p| p.targets.len()).max();
    let longest = |target: usize| {
        let of = mesh.primitives.iter().filter_map(|p| p.targets.get(target));
        let all = of.flat_map(|t| &t.positions);
        all.map(|d| glam::Vec3::from(*d).length()).fold(0.0, f32::max)
    };
    (0..targets.unwrap_or(0)).map(longest).collect()
}

fn within(
    place: impl FnOnce() -> String,
    what: &'static str,
    index: usize,
    have: usize,
) -> Result<(), BuildError> {
    if index < have {
        return Ok(());
    }
    Err(BuildError::Index { place: place(), what, index, have })
}

fn check_nodes(parts: &RigParts) -> Result<(), BuildError> {
    let (nodes, joints) = (parts.nodes.len(), parts.skeleton.len());
    let scalars = parts.skeleton.scalars().len();
    for (i, n) in parts.nodes.iter().enumerate() {
        let place = || format!("node {i}");
        within(place, "parent", n.parent.unwrap_or(0), nodes)?;
        if let Some(joint) = n.joint {
            within(place, "joint", usize::from(joint), joints)?;
        }
        let Range { start, end } = n.morphs;
        if start > end || end > scalars {
            return Err(BuildError::invalid(format!(
                "{}: its morph weights are scalars {start} to {end}, there {} {scalars}",
                place(),
                are(scalars as u64)
            )));
        }
    }
    if !is_forest(&parts.nodes, |n| n.parent) {
        return Err(BuildError::invalid(CYCLE));
    }
    limits::check_nodes(&parts.nodes).map_err(|(node, b)| {
        let (source, name) = (parts.nodes[node].source, parts.nodes[node].name.as_deref());
        let name = shorten(name.unwrap_or_default());
        let place = format!("node {source} \"{name}\": a number of the {}", b.what);
        BuildError::Beyond { place, value: b.value, limit: b.limit }
    })?;
    for &root in &parts.roots {
        within(|| "roots".into(), "node", root, nodes)?;
    }
    for (i, skin) in parts.skins.iter().enumerate() {
        for &joint in skin.joints().iter().filter(|&&j| j != NO_JOINT) {
            within(|| format!("skin {i}"), "joint", usize::from(joint), joints)?;
        }
    }
    // A rig has at most one skin besides the file's.
    let extra = parts.skins.len().wrapping_sub(parts.file_skins);
    within(|| "skins".into(), "skin for rigid meshes", extra, 2)?;
    Ok(())
}

fn check_materials(parts: &RigParts) -> Result<(), BuildError> {
    for (material, m) in parts.materials.iter().enumerate() {
        m.check().map_err(|source| source.within(format!("material {material}")))?;
        for (_, texture) in m.textures() {
            let place = || format!("material {material}");
            within(place, "image", texture.image, parts.images.len())?;
        }
    }
    Ok(())
}

fn check_clips(parts: &RigParts) -> Result<(), BuildError> {
    let skeleton = &parts.skeleton;
    for (clip, c) in parts.clips.iter().enumerate() {
        if let Some(mismatch) = c.skeleton().mismatch(skeleton) {
            let fault = BuildError::Skeleton { clip: c.name().to_owned(), mismatch };
            return Err(fault.within(format!("clip {clip}")));
        }
    }
    // Additive layers are checked by crowds and mixers, which set their number of actions.
    let clips = parts.clips.iter().map(|c| &**c);
    check_scales(skeleton, clips, 0)
}

/// Checks each mesh once, however many nodes draw it.
fn check_meshes(parts: &RigParts) -> Result<(), BuildError> {
    let (distinct, which) = distinct(&parts.meshes);
    let mut known: Vec<Option<Used>> = vec![None; distinct.len()];
    for (place, (mesh, &at)) in parts.meshes.iter().zip(&which).enumerate() {
        let name = || format!("mesh {place}");
        within(name, "node", mesh.node, parts.nodes.len())?;
        within(name, "skin", mesh.skin, parts.skins.len())?;
        let slots = parts.skins[mesh.skin].len();
        if let Some(slot) = mesh.rigid_slot {
            within(name, "slot", usize::from(slot), slots)?;
        }
        let used = match known[at] {
            Some(used) => used,
            None => check_mesh(parts, place, &mesh.mesh)?,
        };
        known[at] = Some(used);
        if let (Some((slot, primitive)), None) = (used, mesh.rigid_slot) {
            let place = || format!("mesh {place}, primitive {primitive}");
            within(place, "slot", usize::from(slot), slots)?;
        }
    }
    Ok(())
}

/// The largest slot with a weight in a mesh, and its primitive.
type Used = Option<(u16, usize)>;

/// Checks a mesh independently of its nodes.
fn check_mesh(parts: &RigParts, place: usize, mesh: &Mesh) -> Result<Used, BuildError> {
    #[cfg(test)]
    tests::LOOKED_AT.set(tests::LOOKED_AT.get() + 1);
    let mut most: Used = None;
    for (primitive, p) in mesh.primitives.iter().enumerate() {
        let place_of = || format!("mesh {place}, primitive {primitive}");
        p.check().map_err(|source| source.within(place_of()))?;
        if let Some(material) = p.material {
            within(place_of, "material", material, parts.materials.len())?;
        }
        let influences = p.influences.joints.iter().zip(&p.influences.weights);
        let used = influences.filter(|(_, weight)| **weight != 0.0);
        let slot = used.map(|(&slot, _)| slot).max();
        if most.is_none_or(|(other, _)| slot > Some(other)) {
            most = slot.map(|slot| (slot, primitive)).or(most);
        }
    }
    Ok(most)
}

/// The fault of nodes that are their own ancestors.
pub(crate) const CYCLE: &str = "the parents of the nodes form a cycle";

/// True if no node is its own ancestor. Parents must be in range.
pub(crate) fn is_forest<N>(nodes: &[N], parent: impl Fn(&N) -> Option<usize>) -> bool {
    // 0: not visited, 1: on the current path, 2: known to lead to a root.
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

#[cfg(test)]
mod tests {
    use crate::build::build_rig;
    use crate::mesh::{Mesh, Primitive};
    use crate::raw::{RawNode, RawScene};
    use std::cell::Cell;

    thread_local! {
        /// Number of meshes checked.
        pub(super) static LOOKED_AT: Cell<usize> = const { Cell::new(0) };
    }

    #[test]
    fn a_mesh_is_checked_once_however_many_nodes_draw_it() {
        let mesh = || Mesh {
            primitives: vec![Primitive { positions: vec![[0.0; 3]; 3], ..Primitive::default() }],
            ..Mesh::default()
        };
        let node = |n: usize| RawNode { mesh: Some(n % 2), ..RawNode::default() };
        let raw = RawScene {
            nodes: (0..1000).map(node).collect(),
            meshes: vec![mesh(), mesh()],
            ..RawScene::default()
        };
        LOOKED_AT.set(0);
        let rig = build_rig(raw, &Default::default()).unwrap();
        assert_eq!(rig.meshes().len(), 1000);
        assert_eq!(LOOKED_AT.get(), 2);
    }
}
