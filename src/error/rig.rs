//! `MeshFault` and `RigFault`: why a mesh, a material, an image or a rig is invalid.

use super::SkeletonMismatch;

/// Why the streams of a primitive, a material or an image are invalid.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum MeshFault {
    /// A stream has the wrong length.
    Stream {
        /// Name of the stream.
        stream: &'static str,
        /// Length of the stream.
        have: usize,
        /// Expected length.
        needed: usize,
    },
    /// A vertex index is out of range.
    Vertex {
        /// The index.
        index: usize,
        /// Number of vertices.
        have: usize,
    },
    /// A position or displacement is NaN or beyond [`MAX_LENGTH`](crate::skeleton::MAX_LENGTH).
    Beyond {
        /// Name of the stream.
        stream: &'static str,
        /// Index of the vertex.
        vertex: usize,
        /// Value of the component.
        value: f32,
    },
    /// A number of a material is NaN or outside its range.
    MaterialNumber {
        /// Name of the number.
        what: &'static str,
        /// Value of the number.
        value: f32,
        /// Least allowed value.
        least: f32,
        /// Largest allowed value.
        most: f32,
    },
    /// A texture uses a set of texture coordinates that primitives do not keep.
    TexCoord {
        /// Use of the texture, such as base colour.
        texture: &'static str,
        /// Number of the set of texture coordinates.
        tex_coord: u32,
    },
    /// The image is damaged, too large, or neither PNG, JPEG nor a WebP without animation.
    ImageDecode {
        /// MIME type of the image.
        mime: String,
        /// The decoder's reason.
        reason: String,
    },
    /// Decoding the image needs more memory than the caller allows.
    ImageMemory {
        /// MIME type of the image.
        mime: String,
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        limit: u64,
    },
}

/// Why a rig is invalid.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RigFault {
    /// An index is out of range.
    Index {
        /// Text for the place of the index.
        place: String,
        /// The kind of element that the index refers to.
        what: &'static str,
        /// The index.
        index: usize,
        /// Number of existing elements.
        have: usize,
    },
    /// A clip was built for another skeleton or another lane order.
    Clip {
        /// Index of the clip.
        clip: usize,
        /// Name of the clip.
        name: String,
        /// The first difference: in the clip's skeleton, and in the rig's.
        mismatch: SkeletonMismatch,
    },
    /// A transform of a node has a number beyond its limit.
    Beyond {
        /// Index of the node in the file.
        node: usize,
        /// Name of the node.
        name: String,
        /// The part of the transform.
        what: &'static str,
        /// Value of the number.
        value: f32,
        /// The exceeded limit, upper or lower.
        limit: f32,
    },
    /// The product of scales down a chain of joints exceeds its limit.
    Scales {
        /// Text for the scales included: of the rest pose and all clips, or with those of additive layers.
        what: &'static str,
        /// Index of the joint.
        joint: usize,
        /// Name of the joint.
        name: String,
        /// Product of the largest scales down to the joint.
        product: f64,
        /// Largest product allowed.
        limit: f64,
    },
    /// The meshes use more than 2^28 slots, summed over pairs of mesh and skin.
    SharedSlots(u64),
    /// The rig has no such level of detail.
    Level {
        /// Number of the level.
        level: usize,
        /// Number of levels of the rig.
        levels: usize,
    },
    /// The meshes of a detail have more than 2^26 vertices, counted for each skin that they are drawn with, each morph
    /// target and each four influences.
    DetailVertices(u64),
    /// A decoded image does not have four bytes per pixel.
    Image {
        /// Index of the image.
        image: usize,
        /// Number of bytes of the image.
        have: usize,
        /// Expected number of bytes.
        needed: u64,
    },
    /// The MIME type of an encoded image is too long or not printable ASCII.
    MimeType {
        /// Index of the image.
        image: usize,
        /// Length of the text, bytes.
        length: usize,
    },
    /// The file of a level of detail has no skinned mesh.
    LodNoMesh,
    /// No skin of the rig has all joints of the level's skin.
    LodNoSkin {
        /// Name of the rig.
        rig: String,
        /// Name of the first joint that is missing.
        joint: String,
    },
    /// A joint has another bind pose in the level than in the rig.
    LodBindPose {
        /// Name of the rig.
        rig: String,
        /// Name of the joint.
        joint: String,
    },
}
