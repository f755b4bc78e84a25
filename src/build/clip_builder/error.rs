//! `TrackFault`: why raw tracks cannot become a clip.

use super::key_times::MAX_RESAMPLED_KEYS;
use crate::clip::{Channel, MAX_IRREGULAR_KEYS};
use crate::words::{plural, says, shorten};

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

says! { TrackFault:
    Self::TrackLength { clip, track, node, keys, values, needed } =>
        ("clip \"{clip}\", track {track} (node {node}): {} and {}, needs {}",
        plural(*keys as u64, "key"),
        plural(*values as u64, "value"),
        plural(*needed as u64, "value"),
        clip = shorten(clip)),
    Self::Target { clip, track, node, what } =>
        ("clip \"{clip}\", track {track}: node {node} has no such {what}", clip = shorten(clip)),
    Self::UserTrack { clip, channel, what, have, needed } =>
        ("clip \"{clip}\", user channel \"{channel}\": {what}: {have}, needed: {needed}",
        clip = shorten(clip), channel = shorten(channel)),
    Self::TooManyKeys { clip, channel, block, keys } =>
        ("clip \"{clip}\": {channel} block {block} has {keys} key times, the limit is {MAX_IRREGULAR_KEYS}, and no \
        {MAX_RESAMPLED_KEYS} evenly spaced times can replace them", clip = shorten(clip)),
    Self::TooLarge { clip, keys, needed, limit } =>
        ("clip \"{clip}\"{} needs {needed} bytes of rows, the limit is {limit}",
        match keys { 0 => String::new(), &n => format!(", with blocks of {},", plural(u64::from(n), "key")) },
        clip = shorten(clip)),
    Self::OutOfMemory { clip, needed } =>
        ("clip \"{clip}\" needs {needed} bytes of memory for its rows, more than there are", clip = shorten(clip)),
}
