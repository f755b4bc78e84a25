//! `BuildError`: why a skeleton, a skin, a clip, a mesh or a rig is rejected; and what is wrong with each, as data.
//!
//! The room lies below those whose errors it names, so that each can return them. The rooms re-export their own and
//! word the messages of those that state limits.

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
        /// How many there are.
        count: usize,
    },
    /// An index is out of range.
    #[error("{place}: {what} {index} is out of range, there {} {have}", are(*.have as u64))]
    Index {
        /// Where the index occurs.
        place: String,
        /// What it refers to.
        what: &'static str,
        /// The index.
        index: usize,
        /// How many there are.
        have: usize,
    },
    /// A stream of a primitive of raw data does not have one element per vertex.
    #[error("mesh {mesh}, primitive {primitive}: {stream} has {have} elements, needs {needed}")]
    Stream {
        /// The mesh.
        mesh: usize,
        /// The primitive.
        primitive: usize,
        /// The stream.
        stream: &'static str,
        /// Its length.
        have: usize,
        /// The length needed.
        needed: usize,
    },
    /// A joint that is named was not found.
    #[error(transparent)]
    Joint(#[from] LookupError),
    /// The joints do not form a skeleton, a skin or a mask.
    #[error("{0}")]
    Skeleton(SkeletonFault),
    /// The parts of a clip do not fit each other or another lane order, raw tracks cannot become a clip, or its root motion
    /// cannot be extracted as requested.
    #[error("{0}")]
    Clip(ClipFault),
    /// The streams of a primitive, a material or an image are rejected.
    #[error("{0}")]
    Mesh(MeshFault),
    /// The parts of a rig do not fit each other, or a scene cannot be a level of detail of it.
    #[error("{0}")]
    Rig(RigFault),
    /// The frame that an additive clip refers to cannot be sampled.
    #[error("additive reference: {0}")]
    Reference(JobError),
    /// A skin of a scene is rejected.
    #[error("skin {skin}: {source}")]
    OfSkin {
        /// The skin.
        skin: usize,
        /// The cause.
        source: Box<BuildError>,
    },
    /// A clip of a scene is rejected.
    #[error("animation {clip}: {source}")]
    Animation {
        /// The clip.
        clip: usize,
        /// The cause.
        source: Box<BuildError>,
    },
    /// A primitive of a scene or a rig is rejected.
    #[error("mesh {mesh}, primitive {primitive}: {source}")]
    OfPrimitive {
        /// The mesh.
        mesh: usize,
        /// The primitive.
        primitive: usize,
        /// The cause.
        source: Box<BuildError>,
    },
    /// A material of a scene or a rig is rejected.
    #[error("material {material}: {source}")]
    OfMaterial {
        /// The material.
        material: usize,
        /// The cause.
        source: Box<BuildError>,
    },
    /// The scene of a file is rejected.
    #[error("{file}: {source}")]
    OfFile {
        /// The file.
        file: String,
        /// The cause.
        source: Box<BuildError>,
    },
}
