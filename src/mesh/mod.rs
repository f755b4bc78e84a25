//! Meshes as plain arrays: what CPU skinning and the renderers read. No file types, no GPU types.

mod check;
mod image;
mod influences;

pub use check::PrimitiveError;
#[cfg(feature = "images")]
pub(crate) use image::Survey;
pub use image::{EncodedImage, Image, ImageData, ImageMode, MAX_IMAGE_SIDE};
pub use influences::Influences;

/// A mesh: primitives that share morph targets' default weights.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// The name in the file, if any.
    pub name: Option<String>,
    /// Primitives in file order.
    pub primitives: Vec<Primitive>,
    /// Default morph weights; empty if there are no targets.
    pub weights: Vec<f32>,
}

/// One drawable part of a mesh, in mesh space; vertices are in file order.
///
/// Optional streams are empty when the file lacks them, else as long as `positions`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Primitive {
    /// Positions, metres as in the file.
    pub positions: Vec<[f32; 3]>,
    /// Unit normals.
    pub normals: Vec<[f32; 3]>,
    /// Unit tangents; w is the bitangent's sign.
    pub tangents: Vec<[f32; 4]>,
    /// First texture coordinate set.
    pub uvs: Vec<[f32; 2]>,
    /// Vertex colours, linear RGBA.
    pub colors: Vec<[f32; 4]>,
    /// Triangle list (strips and fans are unrolled; points and lines have none).
    pub indices: Vec<u32>,
    /// Skin influences; `Influences::default()` if the primitive is rigid.
    pub influences: Influences,
    /// Morph targets in file order.
    pub targets: Vec<MorphTarget>,
    /// Index into the materials of the file.
    pub material: Option<usize>,
}

/// Displacements of one morph target; a stream is empty when the target leaves it alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MorphTarget {
    /// Added to positions, times the weight.
    pub positions: Vec<[f32; 3]>,
    /// Added to normals, times the weight.
    pub normals: Vec<[f32; 3]>,
    /// Added to the tangents' xyz, times the weight.
    pub tangents: Vec<[f32; 3]>,
}

/// What the renderers use of a material.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// The name in the file, if any.
    pub name: Option<String>,
    /// Base colour factor, linear RGBA.
    pub base_color: [f32; 4],
    /// Index into the images of the file.
    pub base_color_image: Option<usize>,
    /// Drawn from both sides.
    pub double_sided: bool,
}

impl Default for Material {
    fn default() -> Self {
        Self {
            name: None,
            base_color: [1.0; 4],
            base_color_image: None,
            double_sided: false,
        }
    }
}
