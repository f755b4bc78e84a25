//! `BuildError`: why a skeleton, skin, mask, clip, mesh or rig cannot be made.
//!
//! This module lies below the modules whose errors it names, so that each of them can return them.

mod job;

use crate::suggest::LookupError;
use crate::words::{are, plural, shorten};
pub use job::JobError;
use std::borrow::Cow;
use thiserror::Error;

/// Limit on the scalars (morph weights of all nodes and numbers of user channels) of a skeleton.
pub(crate) const MAX_SCALARS: usize = 1 << 16;

/// Limit on the keys of a resampled timeline. Up to this number, f32 times are spaced as evenly as
/// [`REGULAR_TOLERANCE`](crate::clip::REGULAR_TOLERANCE) requires, at any rate; 9.7 hours at 120 Hz.
pub(crate) const MAX_RESAMPLED_KEYS: usize = 1 << 22;

/// Limit on the steps of the search for root motion: one per clip and node, and one per joint on the chain from each
/// examined joint up to the root. A thousand clips of a thousand nodes take a million.
pub(crate) const MAX_ROOT_STEPS: u64 = 1 << 28;

/// An error of making a skeleton, a skin, a mask, a clip, a mesh or a rig, from raw data or from parts. Names are cut
/// after 40 characters in messages.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A fault that no host treats separately: the words say what is wrong, and where.
    #[error("{0}")]
    Invalid(Cow<'static, str>),
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
    /// A number, or a product of scales down a chain of joints, is NaN or beyond its limit.
    #[error("{place} is {value:e}, the limit is {limit:e}")]
    Beyond {
        /// Text for the number and its place: `clip "Walk": translation of joint 3 "Hips", key 7`.
        place: String,
        /// The number.
        value: f32,
        /// The exceeded limit, upper or lower.
        limit: f32,
    },
    /// More elements, memory or work is needed than is allowed.
    #[error("{what}, the limit is {limit}")]
    Limit {
        /// Text for the need, with its number.
        what: String,
        /// Number needed.
        needed: u64,
        /// Largest number allowed.
        limit: u64,
    },
    /// The rows of a clip take more memory than allowed.
    #[error("clip \"{clip}\"{} needs {needed} bytes of rows, the limit is {limit}", blocks(*.keys), clip = shorten(.clip))]
    ClipBytes {
        /// Name of the clip.
        clip: String,
        /// Number of keys of the block that is beyond the limit; 0 if it is not a block of keys.
        keys: u32,
        /// Lower bound of the bytes needed.
        needed: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// The union of a block's key times is too long, and no even grid of f32 times can replace it.
    #[error("clip \"{clip}\": {block} has {keys} key times, the limit is {limit}, and no {MAX_RESAMPLED_KEYS} evenly spaced \
        times can replace them", clip = shorten(.clip))]
    KeyTimes {
        /// Name of the clip.
        clip: String,
        /// Text for the block: its channel and index.
        block: String,
        /// Number of keys in the union.
        keys: usize,
        /// Largest number of keys at uneven times.
        limit: usize,
    },
    /// A marker is outside its clip.
    #[error("clip \"{clip}\": marker \"{marker}\" is at {time} s, the clip ends at {duration} s",
        clip = shorten(.clip), marker = shorten(.marker))]
    Marker {
        /// Name of the clip.
        clip: String,
        /// Name of the marker.
        marker: String,
        /// Time of the marker, seconds.
        time: f32,
        /// Duration of the clip, seconds.
        duration: f32,
    },
    /// A clip was built for another skeleton.
    #[error("clip \"{clip}\" was built for another skeleton: {mismatch}", clip = shorten(.clip))]
    Skeleton {
        /// Name of the clip.
        clip: String,
        /// The first difference: in the clip's skeleton, and in the other one.
        mismatch: SkeletonMismatch,
    },
    /// No joint has the given name, path or index, or several match.
    #[error(transparent)]
    Joint(#[from] LookupError),
    /// Root motion cannot be carried through the joints above its joint: one is animated, or they have non-uniform or zero
    /// scale.
    #[error("root motion: {0}")]
    RootMotion(String),
    /// The frame that an additive clip refers to cannot be sampled.
    #[error("additive reference: {0}")]
    Reference(JobError),
    /// A clip of a scene is invalid.
    #[error("animation {clip}: {source}")]
    Animation {
        /// Index of the clip.
        clip: usize,
        /// The cause.
        source: Box<BuildError>,
    },
    /// A skin, a primitive or a material of a scene or a rig is invalid, the scene of a file, or the joint of root motion.
    #[error("{place}: {source}")]
    In {
        /// Text for the place: `skin 2`, `mesh 0, primitive 1`, the name of the file.
        place: String,
        /// The cause.
        source: Box<BuildError>,
    },
}

/// The blocks of a clip whose keys are beyond a limit.
fn blocks(keys: u32) -> String {
    match keys {
        0 => String::new(),
        keys => format!(", with blocks of {},", plural(keys.into(), "key")),
    }
}

/// How the skeleton of some data differs from the one that it is used with.
#[derive(Clone, Debug, PartialEq)]
pub enum SkeletonMismatch {
    /// The joints or the scalars differ: the first difference as text, with the values of both skeletons.
    Structure(String),
    /// Only the lane orders differ: [`reorder_lanes`](crate::clip::reorder_lanes) converts a clip.
    LaneOrder,
    /// The joints are the same in another order, and the lane orders differ too:
    /// [`reorder_lanes`](crate::clip::reorder_lanes) converts a clip.
    JointOrder,
}

impl BuildError {
    /// A fault in words.
    pub(crate) fn invalid(words: impl Into<Cow<'static, str>>) -> Self {
        Self::Invalid(words.into())
    }

    /// A fault of a clip in words.
    pub(crate) fn of_clip(clip: &str, words: impl std::fmt::Display) -> Self {
        Self::invalid(format!("clip \"{}\": {words}", shorten(clip)))
    }

    /// An exceeded limit of a clip; `what` counts what is limited.
    pub(crate) fn clip_limit(
        clip: &str,
        what: impl std::fmt::Display,
        needed: usize,
        limit: usize,
    ) -> Self {
        Self::limit(format!("clip \"{}\": {what}", shorten(clip)), needed, limit)
    }

    /// More than is allowed.
    pub(crate) fn limit(what: impl Into<String>, needed: usize, limit: usize) -> Self {
        Self::Limit { what: what.into(), needed: needed as u64, limit: limit as u64 }
    }

    /// The error at a place.
    pub(crate) fn within(self, place: impl Into<String>) -> Self {
        Self::In { place: place.into(), source: Box::new(self) }
    }

    /// The error as that of an animation of a scene.
    pub(crate) fn in_animation(self, clip: usize) -> Self {
        Self::Animation { clip, source: Box::new(self) }
    }
}
