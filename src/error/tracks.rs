//! Why raw tracks cannot become a clip, or root motion cannot be extracted from them.

use crate::math::channel::Channel;
use crate::suggest::LookupError;

/// Why a clip cannot be built.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TrackFault {
    /// The lengths of a track do not match.
    TrackLength {
        /// The clip.
        clip: String,
        /// The track.
        track: usize,
        /// Its node.
        node: usize,
        /// Key times.
        keys: usize,
        /// Values.
        values: usize,
        /// Values needed.
        needed: usize,
    },
    /// A track animates a node or morph target that the skeleton lacks.
    Target {
        /// The clip.
        clip: String,
        /// The track.
        track: usize,
        /// The node.
        node: usize,
        /// What it lacks.
        what: &'static str,
    },
    /// A track of a user channel has wrong lengths or times that do not increase, or is not the only one.
    UserTrack {
        /// The clip.
        clip: String,
        /// The channel.
        channel: String,
        /// What is wrong.
        what: &'static str,
        /// How many are good.
        have: usize,
        /// How many are needed.
        needed: usize,
    },
    /// The union of a block's key times is too long, and no even grid of f32 times can take its place.
    TooManyKeys {
        /// The clip.
        clip: String,
        /// The channel.
        channel: Channel,
        /// The block.
        block: usize,
        /// Keys of the union.
        keys: usize,
    },
    /// The clip's rows take more memory than allowed.
    TooLarge {
        /// The clip.
        clip: String,
        /// Keys of the block that is beyond the limit; 0 if it is no block of keys.
        keys: u32,
        /// Bytes needed, at least.
        needed: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// The operating system cannot provide the memory that the clip's rows take.
    OutOfMemory {
        /// The clip.
        clip: String,
        /// Bytes needed, at least.
        needed: usize,
    },
}

/// Why root motion cannot be extracted.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RootMotionFault {
    /// No joint has that name, path or index, or several have it.
    Joint(LookupError),
    /// A joint above is animated too, so the motion is not the joint's alone.
    MovingAncestor {
        /// The clip.
        clip: String,
        /// The joint of the motion.
        joint: String,
        /// The animated joint above it.
        above: String,
    },
    /// The joints above have non-uniform or zero scale, through which the motion cannot be carried.
    Scale(String),
    /// The motion needs more keys than four for each of the joint's, and than an irregular timeline holds.
    TooManyKeys {
        /// The clip.
        clip: String,
        /// Keys needed.
        keys: usize,
        /// The limit.
        limit: usize,
    },
    /// There are so many clips, nodes and levels that the search would take too long.
    Work(u64),
}
