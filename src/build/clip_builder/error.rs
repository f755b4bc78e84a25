//! `ClipBuildError`: why raw tracks are no clip.

use crate::clip::{Channel, ClipError, MAX_KEYS};
use thiserror::Error;

/// Why a clip cannot be built.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ClipBuildError {
    /// A track's lengths do not fit each other.
    #[error(
        "clip \"{clip}\", track {track} (node {node}): {keys} keys and {values} values, needed are {needed}"
    )]
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
    /// A track moves a node or morph target that the skeleton does not hold.
    #[error("clip \"{clip}\", track {track}: node {node} has no such {what}")]
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
    /// A track of a user channel has wrong lengths, times that do not increase, or is the second one.
    #[error("clip \"{clip}\", user channel \"{channel}\": {what}: {have}, needed are {needed}")]
    UserTrack {
        /// The clip.
        clip: String,
        /// The channel.
        channel: String,
        /// What is wrong.
        what: &'static str,
        /// How many there are, or the key.
        have: usize,
        /// How many are needed.
        needed: usize,
    },
    /// The union of a block's key times is too long.
    #[error(
        "clip \"{clip}\": the joint key times of {channel:?} block {block} are {keys}, the limit is {MAX_KEYS}"
    )]
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
    /// The clip's rows would outgrow the limit.
    #[error("clip \"{clip}\" needs {needed} bytes of rows, the limit is {limit}")]
    TooLarge {
        /// The clip.
        clip: String,
        /// Bytes needed, at least.
        needed: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// The packed clip was refused.
    #[error(transparent)]
    Clip(#[from] ClipError),
}
