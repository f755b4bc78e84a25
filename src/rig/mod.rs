//! `Rig`: what a file of one character becomes. Skeleton, skins, clips, meshes and the tables
//! derived from them. Shared and immutable; knows `clip`, `skeleton` and `mesh`.

mod bounds;
mod limits;
mod parts;
mod scales;

use crate::clip::{Clip, ClipError, Marker};
use crate::mesh::{ImageData, Material, Mesh};
use crate::skeleton::{Skeleton, Skin, Trs};
pub use bounds::{Aabb, SlotBounds};
pub use limits::MAX_SHARED_SLOTS;
#[cfg(feature = "phx")]
pub(crate) use limits::distinct;
pub(crate) use parts::is_forest;
pub use parts::{RigError, RigParts};
pub use scales::ScaleError;
pub(crate) use scales::check_scales;
use std::ops::Range;
use std::sync::Arc;

/// A character: one skeleton, its skins, its clips and its meshes.
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
    pub(crate) images: Vec<Option<ImageData>>,
    pub(crate) morphs: Vec<MorphRange>,
    pub(crate) slot_bounds: SlotBounds,
}

/// A node of the file: a joint of the skeleton, or one that stays in the scene.
#[derive(Clone, Debug, PartialEq)]
pub struct RigNode {
    /// Index in the file.
    pub source: usize,
    /// Name in the file, if any.
    pub name: Option<String>,
    /// Parent, as a position in [`Rig::nodes`].
    pub parent: Option<usize>,
    /// Rest transform relative to the parent.
    pub local: Trs,
    /// The 16 column-major floats, if the file gave a matrix.
    pub matrix: Option<[f32; 16]>,
    /// The joint that it is, if any.
    pub joint: Option<u16>,
}

/// A mesh as it hangs on the rig.
#[derive(Clone, Debug)]
pub struct RigMesh {
    /// The node that draws it, as a position in [`Rig::nodes`].
    pub node: usize,
    /// Index of the mesh in the file.
    pub source: usize,
    /// Vertices, triangles, influences.
    pub mesh: Arc<Mesh>,
    /// The skin of its influences, as a position in [`Rig::skins`]; for rigid meshes the skin of
    /// [`Rig::rigid_skin`].
    pub skin: usize,
    /// The slot that moves a rigid mesh; `None` if the mesh is skinned.
    pub rigid_slot: Option<u16>,
    /// Level of detail, 0 is the finest.
    pub lod: usize,
}

/// The scalars that are the morph weights of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MorphRange {
    /// The node, as a position in [`Rig::nodes`].
    pub node: usize,
    /// Its scalars in the skeleton.
    pub scalars: Range<usize>,
}

impl Rig {
    /// A label: the file's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The skeleton.
    pub fn skeleton(&self) -> &Arc<Skeleton> {
        &self.skeleton
    }

    /// All skins: the file's, in file order, then one for rigid meshes if there are any.
    pub fn skins(&self) -> &[Skin] {
        &self.skins
    }

    /// The file's skins, in file order.
    pub fn file_skins(&self) -> &[Skin] {
        &self.skins[..self.file_skins]
    }

    /// The skin made for meshes without one: a slot per rigid mesh node.
    pub fn rigid_skin(&self) -> Option<usize> {
        (self.skins.len() > self.file_skins).then_some(self.file_skins)
    }

    /// Rows of one instance's palette: all skins, one after another.
    pub fn palette_len(&self) -> usize {
        self.palette_len
    }

    /// The first palette row of a skin.
    pub fn palette_offset(&self, skin: usize) -> usize {
        self.palette_offsets[skin]
    }

    /// The clips, in file order.
    pub fn clips(&self) -> &[Arc<Clip>] {
        &self.clips
    }

    /// Gives a clip markers in place of those it has.
    ///
    /// # Errors
    /// If there is no such clip, a marker lies outside it, or there are too many.
    pub fn set_markers(&mut self, clip: usize, markers: Vec<Marker>) -> Result<(), ClipError> {
        let clips = self.clips.len();
        let place = self.clips.get_mut(clip);
        let place = place.ok_or(ClipError::Unknown { clip, clips })?;
        *place = Arc::new(place.as_ref().clone().with_markers(markers)?);
        Ok(())
    }

    /// The first clip of that name.
    pub fn find_clip(&self, name: &str) -> Option<usize> {
        self.clips.iter().position(|c| c.name() == name)
    }

    /// All nodes of the file.
    pub fn nodes(&self) -> &[RigNode] {
        &self.nodes
    }

    /// Root nodes of the default scene, as positions in [`Rig::nodes`].
    pub fn roots(&self) -> &[usize] {
        &self.roots
    }

    /// The meshes, in node order, finest level of detail first.
    pub fn meshes(&self) -> &[RigMesh] {
        &self.meshes
    }

    /// Levels of detail, at least 1.
    pub fn lod_count(&self) -> usize {
        self.meshes.iter().map(|m| m.lod + 1).max().unwrap_or(1)
    }

    /// The materials, in file order.
    pub fn materials(&self) -> &[Material] {
        &self.materials
    }

    /// The images, in file order; `None` where one could not be decoded or was left out
    /// ([`ImageMode`](crate::mesh::ImageMode)).
    pub fn images(&self) -> &[Option<ImageData>] {
        &self.images
    }

    /// Nodes with morph weights, and where those lie among the skeleton's scalars.
    pub fn morphs(&self) -> &[MorphRange] {
        &self.morphs
    }

    /// For every palette row, the box of the vertices that it moves.
    pub fn slot_bounds(&self) -> &SlotBounds {
        &self.slot_bounds
    }
}
