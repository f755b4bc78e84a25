//! `BuildError`: why a skeleton, skin, mask, clip, mesh or rig cannot be made; and the fault of each, as data.
//!
//! This module lies below the modules whose errors it names, so that each of them can return them. They re-export their
//! own errors and word the messages of those that state limits.

mod clip;
mod job;
mod rig;
mod skeleton;

use crate::suggest::LookupError;
use crate::words::are;
pub use clip::ClipFault;
pub(crate) use clip::{MAX_RESAMPLED_KEYS, MAX_ROOT_STEPS};
pub use job::JobError;
pub use rig::{MeshFault, RigFault};
pub use skeleton::{SkeletonFault, SkeletonMismatch};
use thiserror::Error;

/// Limit on the scalars (morph weights of all nodes and numbers of user channels) of a skeleton.
pub(crate) const MAX_SCALARS: usize = 1 << 16;

/// Why a skeleton, a skin, a mask, a clip, a mesh or a rig cannot be made, from raw data or from parts.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The parents of the nodes form a cycle.
    #[error("the parents of the nodes form a cycle")]
    Cycle,
    /// More scalars than 16-bit block indices can address.
    #[error("{count} morph weights and numbers of user channels, the limit is {MAX_SCALARS}")]
    TooManyScalars {
        /// Number of scalars.
        count: usize,
    },
    /// An index is out of range.
    #[error("{place}: {what} {index} is out of range, there {} {have}", are(*.have as u64))]
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
    /// A stream of a primitive in raw data does not have one element per vertex.
    #[error("mesh {mesh}, primitive {primitive}: {stream} has {have} elements, needs {needed}")]
    Stream {
        /// Index of the mesh.
        mesh: usize,
        /// Index of the primitive in the mesh.
        primitive: usize,
        /// Name of the stream.
        stream: &'static str,
        /// Length of the stream.
        have: usize,
        /// Number of vertices.
        needed: usize,
    },
    /// No joint has the given name, path or index, or several match.
    #[error(transparent)]
    Joint(#[from] LookupError),
    /// The joints do not form a skeleton, a skin or a mask.
    #[error("{0}")]
    Skeleton(SkeletonFault),
    /// The parts of a clip do not fit each other or another lane order, raw tracks cannot become a clip, or the root
    /// motion cannot be extracted as requested.
    #[error("{0}")]
    Clip(ClipFault),
    /// The streams of a primitive, a material or an image are invalid.
    #[error("{0}")]
    Mesh(MeshFault),
    /// The parts of a rig do not fit each other, or a scene cannot be a level of detail of it.
    #[error("{0}")]
    Rig(RigFault),
    /// The frame that an additive clip refers to cannot be sampled.
    #[error("additive reference: {0}")]
    Reference(JobError),
    /// A skin of a scene is invalid.
    #[error("skin {skin}: {source}")]
    OfSkin {
        /// Index of the skin.
        skin: usize,
        /// The cause.
        source: Box<BuildError>,
    },
    /// A clip of a scene is invalid.
    #[error("animation {clip}: {source}")]
    Animation {
        /// Index of the clip.
        clip: usize,
        /// The cause.
        source: Box<BuildError>,
    },
    /// A primitive of a scene or a rig is invalid.
    #[error("mesh {mesh}, primitive {primitive}: {source}")]
    OfPrimitive {
        /// Index of the mesh.
        mesh: usize,
        /// Index of the primitive in the mesh.
        primitive: usize,
        /// The cause.
        source: Box<BuildError>,
    },
    /// A material of a scene or a rig is invalid.
    #[error("material {material}: {source}")]
    OfMaterial {
        /// Index of the material.
        material: usize,
        /// The cause.
        source: Box<BuildError>,
    },
    /// The scene of a file is invalid.
    #[error("{file}: {source}")]
    OfFile {
        /// Name of the file.
        file: String,
        /// The cause.
        source: Box<BuildError>,
    },
}

impl BuildError {
    /// The error as that of an animation of a scene.
    pub(crate) fn in_animation(self, clip: usize) -> Self {
        Self::Animation { clip, source: Box::new(self) }
    }
}
