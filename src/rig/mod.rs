//! Rigs: everything that a file of one character contains.
//!
//! Start with [`Rig`]. Rigs come from [`import`](crate::import), from a .phx file or from
//! [`build_rig`](crate::build::build_rig). Mixers and crowds are made from rigs.

mod bounds;
mod clip_bounds;
mod derived;
mod detail;
mod layouts;
mod limits;
mod measured;
mod parts;
mod reach;
mod scales;

use crate::clip::{Clip, Marker};
use crate::error::BuildError;
use crate::mesh::{ImageData, Material, Mesh};
use crate::skeleton::{HumanBone, Skeleton, Skin, SpringBones, Trs};
pub use crate::suggest::LookupError;
use crate::words::shorten;
pub use bounds::Aabb;
pub(crate) use bounds::measure_slots;
pub use clip_bounds::{ClipBounds, Sphere};
use detail::Detail;
pub use detail::DetailOptions;
#[cfg(feature = "phx")]
pub(crate) use limits::distinct;
pub(crate) use measured::ClipSpeed;
pub use parts::RigParts;
pub(crate) use parts::{CYCLE, is_forest};
pub(crate) use reach::{Extremes, Reach};
pub(crate) use scales::check_scales;
use std::ops::Range;
use std::sync::Arc;

/// A character: one skeleton, its skins, clips, meshes, materials and images.
///
/// A rig owns its parts and the tables derived from them: palette offsets and the boxes of slots. The
/// skeleton, clips and meshes are reference-counted and immutable.
///
/// ```
/// # #[cfg(feature = "gltf")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let rig = phalanx::import::mannequin()?;
/// let walk = rig.find_clip("Walk").ok_or("no clip Walk")?;
/// println!("{}: {} s", rig.name(), rig.clips()[walk].duration());
/// // Joints are found by name, path or index.
/// let hand = rig.skeleton().joint("RightHand")?;
/// println!("{} of {} joints", rig.skeleton().path(hand), rig.skeleton().len());
/// // A row of an instance's palette for every slot of every skin.
/// assert_eq!(rig.palette_len(), rig.skins().iter().map(|s| s.joints().len()).sum::<usize>());
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "gltf"))]
/// # fn main() {}
/// ```
#[derive(Clone, Debug)]
pub struct Rig {
    pub(crate) name: String,
    pub(crate) skeleton: Arc<Skeleton>,
    pub(crate) skins: Vec<Skin>,
    pub(crate) file_skins: usize,
    pub(crate) palette_offsets: Vec<usize>,
    pub(crate) palette_len: usize,
    pub(crate) clips: Vec<Arc<Clip>>,
    pub(crate) nodes: Vec<RigNode>,
    pub(crate) roots: Vec<usize>,
    pub(crate) meshes: Vec<RigMesh>,
    pub(crate) materials: Vec<Material>,
    /// Images, shared with details of the rig.
    pub(crate) images: Arc<Vec<Option<ImageData>>>,
    pub(crate) slot_bounds: Vec<Aabb>,
    pub(crate) reach: Reach,
    /// For each scalar, the largest distance that a weight of 1 moves a vertex, in mesh space.
    pub(crate) displacements: Vec<f32>,
    /// Bounds by the index of the clip, also of clips of `bounds_file` that the rig was read without.
    pub(crate) clip_bounds: Vec<Option<ClipBounds>>,
    /// The checksum of the table of the file that states the bounds.
    pub(crate) bounds_file: Option<u64>,
    /// Tables that evaluation makes and keeps with the rig, by type.
    pub(crate) derived: derived::Derived,
    pub(crate) layouts: layouts::Layouts,
    pub(crate) measures: measured::Measures,
    pub(crate) humanoid: Vec<(HumanBone, u16)>,
    pub(crate) springs: SpringBones,
    /// The relation to the full rig, if the rig is a detail.
    pub(crate) detail: Option<Detail>,
}

/// A node of the file: a joint of the skeleton, or static relative to the joint above.
#[derive(Clone, Debug, PartialEq)]
pub struct RigNode {
    /// Index in the file.
    pub source: usize,
    /// Name in the file, if any.
    pub name: Option<String>,
    /// Parent, as an index into [`Rig::nodes`].
    pub parent: Option<usize>,
    /// Rest transform relative to the parent, in metres.
    pub local: Trs,
    /// The node's 4×4 matrix, column-major, if the file has one.
    pub matrix: Option<[f32; 16]>,
    /// The node's joint, if it is one.
    pub joint: Option<u16>,
    /// The scalars of the skeleton that hold the morph weights of the node's mesh; empty if it has none.
    pub morphs: Range<usize>,
}

/// A mesh attached to a node of the rig.
#[derive(Clone, Debug)]
pub struct RigMesh {
    /// The node that the mesh is attached to, as an index into [`Rig::nodes`].
    pub node: usize,
    /// Index of the mesh in the file.
    pub source: usize,
    /// Vertices, triangles and influences, shared by all nodes that draw the mesh.
    pub mesh: Arc<Mesh>,
    /// The skin that influences refer to, as an index into [`Rig::skins`]; of rigid meshes the last.
    pub skin: usize,
    /// The slot that moves a rigid mesh; `None` if the mesh is skinned.
    pub rigid_slot: Option<u16>,
    /// Level of detail; 0 is the finest.
    pub lod: usize,
}

impl Rig {
    /// The label of the rig: the name of its file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The skeleton.
    pub fn skeleton(&self) -> &Arc<Skeleton> {
        &self.skeleton
    }

    /// All skins: the file's skins in file order, then one with a slot per node of a rigid mesh, if there are any.
    pub fn skins(&self) -> &[Skin] {
        &self.skins
    }

    /// The skins of the file, in file order.
    pub fn file_skins(&self) -> &[Skin] {
        &self.skins[..self.file_skins]
    }

    /// Rows of an instance's palette: the slots of all skins, one after another.
    pub fn palette_len(&self) -> usize {
        self.palette_len
    }

    /// The first palette row of a skin. Panics if there is no such skin.
    pub fn palette_offset(&self, skin: usize) -> usize {
        self.palette_offsets[skin]
    }

    /// The clips, in file order.
    pub fn clips(&self) -> &[Arc<Clip>] {
        &self.clips
    }

    /// Replaces the markers of a clip.
    ///
    /// # Errors
    /// If there is no such clip, a marker is outside the clip, or there are more than
    /// 65,535. The rig is then unchanged.
    pub fn set_markers(&mut self, clip: usize, markers: Vec<Marker>) -> Result<(), BuildError> {
        let have = self.clips.len();
        let Some(own) = self.clips.get_mut(clip) else {
            let place = format!("rig \"{}\"", shorten(&self.name));
            return Err(BuildError::Index { place, what: "clip", index: clip, have });
        };
        *own = Arc::new(own.as_ref().clone().with_markers(markers)?);
        Ok(())
    }

    /// Index of the first clip with this name.
    pub fn find_clip(&self, name: &str) -> Option<usize> {
        self.clips.iter().position(|c| c.name() == name)
    }

    /// Index of the first clip with this name, or an error that suggests others.
    ///
    /// # Errors
    /// If no clip has this name.
    pub fn clip_named(&self, name: &str) -> Result<usize, LookupError> {
        let names = self.clips.iter().map(|c| c.name());
        let none = || LookupError::no_clip(self.name(), name, names);
        self.find_clip(name).ok_or_else(none)
    }

    /// All nodes of the file.
    pub fn nodes(&self) -> &[RigNode] {
        &self.nodes
    }

    /// Root nodes of the default scene, as indices into [`Rig::nodes`].
    pub fn roots(&self) -> &[usize] {
        &self.roots
    }

    /// The meshes: in node order, finest level of detail first.
    pub fn meshes(&self) -> &[RigMesh] {
        &self.meshes
    }

    /// Number of levels of detail, at least 1.
    pub fn lod_count(&self) -> usize {
        self.meshes.iter().map(|m| m.lod + 1).max().unwrap_or(1)
    }

    /// The materials, in file order.
    pub fn materials(&self) -> &[Material] {
        &self.materials
    }

    /// The images, in file order. `None` for an image that could not be decoded or was left out; see
    /// [`ImageMode`](crate::mesh::ImageMode).
    pub fn images(&self) -> &[Option<ImageData>] {
        &self.images
    }

    /// The bones of a humanoid and their joints, as a VRM file or a .phx file baked from one states them; otherwise empty.
    /// Bones ascend; no joint occurs twice. [`HumanoidMap::of_rig`](crate::retarget::HumanoidMap::of_rig) checks the rest.
    pub fn humanoid(&self) -> &[(HumanBone, u16)] {
        &self.humanoid
    }

    /// The springs that a VRM file or a .phx file baked from one states; otherwise empty. They swing once a crowd or mixer
    /// has them as a [modifier](crate::playback::Modifier::Springs).
    pub fn springs(&self) -> &SpringBones {
        &self.springs
    }

    /// For each palette row, the bounding box of the vertices that it moves, in mesh space; empty if it moves none.
    ///
    /// A skinned vertex is a weighted mean of its positions under each of its slots. The union of the transformed boxes
    /// therefore contains the deformed mesh, for weights that sum to 1 and morph weights in [0, 1].
    pub fn slot_bounds(&self) -> &[Aabb] {
        &self.slot_bounds
    }

    /// The volume that the meshes take while a clip plays, by the index of the clip. `None` if there is no such clip, it is
    /// additive, or it was not measured: see [`clip_bounds`](crate::runtime::clip_bounds).
    pub fn clip_bounds(&self, clip: usize) -> Option<&ClipBounds> {
        self.clips.get(clip)?;
        self.clip_bounds.get(clip)?.as_ref()
    }

    /// The bounds of a clip, if they are known without measuring: if it is the rig's own clip at `index`, or was read from
    /// the rig's file.
    pub(crate) fn stated_bounds(&self, index: usize, clip: &Arc<Clip>) -> Option<&ClipBounds> {
        let own = self.clips.get(index);
        let at = match clip.origin.0 {
            _ if own.is_some_and(|own| Arc::ptr_eq(own, clip)) => index,
            Some((file, at)) if self.bounds_file == Some(file) => at as usize,
            _ => return None,
        };
        self.clip_bounds.get(at)?.as_ref()
    }

    /// The joint around which blends of clips are bounded: it is above all joints that move vertices, and no clip of
    /// the rig rotates or scales a joint above it. `None` stands for the origin of the model.
    pub fn anchor(&self) -> Option<u16> {
        self.reach.anchor
    }

    /// For each scalar, the largest distance that a weight of 1 moves a vertex, in mesh space.
    pub(crate) fn displacements(&self) -> &[f32] {
        &self.displacements
    }
}
