//! Meshes, materials and images as plain arrays, for CPU skinning and renderers.
//!
//! Start with [`Mesh`]; a rig lists its meshes in [`Rig::meshes`](crate::rig::Rig::meshes).

mod check;
mod image;
mod influences;
mod material;
mod texture;
#[cfg(feature = "images")]
mod webp;

#[cfg(feature = "phx")]
pub(crate) use image::MAX_IMAGE_SIDE;
pub(crate) use image::MAX_MIME_TYPE;
#[cfg(all(feature = "images", any(feature = "gltf", feature = "phx")))]
pub(crate) use image::Survey;
pub(crate) use image::is_mime_type;
pub use image::{Image, ImageData, ImageMode};
pub use influences::Influences;
#[cfg(feature = "gltf")]
pub(crate) use material::TEX_COORD_SETS;
pub use material::{AlphaMode, Material};
pub use texture::{Filter, Sampler, Texture, TextureTransform, Wrap};

/// A mesh: primitives with common default morph weights.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Name in the file, if any.
    pub name: Option<String>,
    /// Primitives, in file order.
    pub primitives: Vec<Primitive>,
    /// Default weights of the morph targets; empty if there are none.
    pub weights: Vec<f32>,
}

/// One drawable part of a mesh, in mesh space, with vertices in file order.
///
/// An optional stream is empty if the file lacks it, otherwise as long as `positions`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Primitive {
    /// Positions in metres, as in the file.
    pub positions: Vec<[f32; 3]>,
    /// Unit normals.
    pub normals: Vec<[f32; 3]>,
    /// Unit tangents; w is the sign of the bitangent.
    pub tangents: Vec<[f32; 4]>,
    /// First texture coordinate set.
    pub uvs: Vec<[f32; 2]>,
    /// Second texture coordinate set. Imports keep it where a texture of the material uses it.
    pub uvs1: Vec<[f32; 2]>,
    /// Vertex colours, linear RGBA.
    pub colors: Vec<[f32; 4]>,
    /// Triangle list. Strips and fans are converted; points and lines have no indices.
    pub indices: Vec<u32>,
    /// Skin influences; `Influences::default()` if the primitive is rigid.
    pub influences: Influences,
    /// Morph targets in file order.
    pub targets: Vec<MorphTarget>,
    /// Index into the materials of the rig.
    pub material: Option<usize>,
}

/// Displacements of one morph target. A stream that the target does not change is empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MorphTarget {
    /// Added to positions, times the weight; metres.
    pub positions: Vec<[f32; 3]>,
    /// Added to normals, times the weight.
    pub normals: Vec<[f32; 3]>,
    /// Added to the tangents' xyz, times the weight.
    pub tangents: Vec<[f32; 3]>,
}
