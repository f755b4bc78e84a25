//! What is wrong with a mesh, a material, an image or a rig.

use super::SkeletonMismatch;

/// Why the streams of a primitive, a material or an image are rejected.
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
    /// A number is NaN or outside of its range.
    MaterialNumber {
        /// Name of the number.
        what: &'static str,
        /// Its value.
        value: f32,
        /// Least allowed value.
        least: f32,
        /// Largest allowed value.
        most: f32,
    },
    /// A texture uses texture coordinates that primitives do not keep.
    TexCoord {
        /// Use of the texture.
        texture: &'static str,
        /// Number of the set.
        tex_coord: u32,
    },
    /// It is damaged, too large, or neither PNG, JPEG nor a WebP that is not animated.
    ImageDecode {
        /// Its MIME type.
        mime: String,
        /// The decoder's reason.
        reason: String,
    },
    /// Decoding needs more memory than the caller allows.
    ImageMemory {
        /// Its MIME type.
        mime: String,
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        limit: u64,
    },
}

/// Why a rig is rejected.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RigFault {
    /// An index is out of range.
    Index {
        /// Where the index is.
        place: String,
        /// What the index refers to.
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
        /// Its name.
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
        /// What is included: all clips, or also those of additive layers.
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
    /// The meshes use more slots than [`MAX_SHARED_SLOTS`](crate::rig::MAX_SHARED_SLOTS), summed over pairs of mesh and skin.
    SharedSlots(u64),
    /// A detail of a level that the rig does not have.
    Level {
        /// The level.
        level: usize,
        /// Levels of the rig.
        levels: usize,
    },
    /// The meshes of a detail have more vertices than [`MAX_DETAIL_VERTICES`](crate::rig::MAX_DETAIL_VERTICES), counted for each skin that they are
    /// drawn with.
    DetailVertices(u64),
    /// A decoded image does not have four bytes per pixel.
    Image {
        /// Index of the image.
        image: usize,
        /// Bytes of the image.
        have: usize,
        /// Expected bytes.
        needed: u64,
    },
    /// The MIME type of an encoded image is no such text.
    MimeType {
        /// Index of the image.
        image: usize,
        /// Bytes of the text.
        length: usize,
    },
    /// The file has no skinned mesh.
    LodNoMesh,
    /// No skin of the rig has all joints of the level's skin.
    LodNoSkin {
        /// The rig.
        rig: String,
        /// The first joint that is missing.
        joint: String,
    },
    /// The level has a different bind pose.
    LodBindPose {
        /// The rig.
        rig: String,
        /// The joint.
        joint: String,
    },
}
