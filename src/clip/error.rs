//! `ClipError`: why parts are no clip.

use super::block::Channel;
use super::limits::MAX_SHARING;
use super::marker::MAX_MARKERS;
use super::timeline::MAX_KEYS;
use crate::skeleton::{MAX_CHAIN_SCALE, MAX_SECONDS};
use thiserror::Error;

/// Why parts are no clip.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ClipError {
    /// The duration is negative, NaN, or above [`MAX_SECONDS`].
    #[error("clip \"{clip}\": the duration is {duration} s, allowed are 0 to {MAX_SECONDS:e}")]
    Duration {
        /// The clip.
        clip: String,
        /// Its duration.
        duration: f32,
    },
    /// A timeline has too few or too many keys.
    #[error("clip \"{clip}\": timeline {timeline} has {keys} keys, allowed are 2 to {MAX_KEYS}")]
    KeyCount {
        /// The clip.
        clip: String,
        /// The timeline.
        timeline: usize,
        /// Its keys.
        keys: usize,
    },
    /// Times do not increase, or lie beyond [`MAX_SECONDS`].
    #[error(
        "clip \"{clip}\": timeline {timeline}, key {key}: times must increase, from -{MAX_SECONDS:e} to {MAX_SECONDS:e}"
    )]
    Times {
        /// The clip.
        clip: String,
        /// The timeline.
        timeline: usize,
        /// The key.
        key: usize,
    },
    /// More timelines than hints can be told apart.
    #[error(
        "clip \"{clip}\": {count} irregular timelines, the limit is {}",
        u16::MAX
    )]
    TooManyTimelines {
        /// The clip.
        clip: String,
        /// Irregular timelines.
        count: usize,
    },
    /// A block names lanes, rows or a timeline that do not exist.
    #[error("clip \"{clip}\": {channel:?} block {index} reaches {what} {needed}, there are {have}")]
    Block {
        /// The clip.
        clip: String,
        /// The channel.
        channel: Channel,
        /// Position in the channel's list of blocks.
        index: usize,
        /// What it reaches past.
        what: &'static str,
        /// How far it reaches.
        needed: usize,
        /// How many there are.
        have: usize,
    },
    /// There is no such clip.
    #[error("there is no clip {clip}, the rig has {clips}")]
    Unknown {
        /// The clip.
        clip: usize,
        /// Clips of the rig.
        clips: usize,
    },
    /// A marker lies outside the clip.
    #[error("clip \"{clip}\": marker \"{marker}\" is at {time} s, the clip ends at {duration} s")]
    Marker {
        /// The clip.
        clip: String,
        /// The marker.
        marker: String,
        /// Its time.
        time: f32,
        /// Seconds of the clip.
        duration: f32,
    },
    /// More markers than events can name.
    #[error("clip \"{clip}\": {count} markers, the limit is {MAX_MARKERS}")]
    TooManyMarkers {
        /// The clip.
        clip: String,
        /// Markers.
        count: usize,
    },
    /// A row holds NaN or an infinity.
    #[error("clip \"{clip}\": row {row} is not finite")]
    NotFinite {
        /// The clip.
        clip: String,
        /// The row.
        row: usize,
    },
    /// A number is beyond its limit.
    #[error("clip \"{clip}\": {place}: {value:e} is beyond the limit of {limit:e}")]
    Beyond {
        /// The clip.
        clip: String,
        /// Where it stands.
        place: String,
        /// The number.
        value: f32,
        /// What it may be at most, or at least.
        limit: f32,
    },
    /// The scales multiply to too much down a chain of joints.
    #[error(
        "clip \"{clip}\": the largest scales down to joint {joint} \"{name}\" multiply to {product:e}, the limit is {MAX_CHAIN_SCALE:e}"
    )]
    Scale {
        /// The clip.
        clip: String,
        /// The joint.
        joint: usize,
        /// Its name.
        name: String,
        /// The product.
        product: f64,
    },
    /// Blocks share rows or integers too often.
    #[error(
        "clip \"{clip}\": blocks read {needed} {what}, the limit is {limit} ({MAX_SHARING} times what is there)"
    )]
    Sharing {
        /// The clip.
        clip: String,
        /// Rows or integers.
        what: &'static str,
        /// How many are read, counted for every block.
        needed: usize,
        /// How many may be.
        limit: usize,
    },
    /// The root motion is not usable, or none may be there.
    #[error("clip \"{clip}\", root motion: {what} ({index})")]
    RootMotion {
        /// The clip.
        clip: String,
        /// What is wrong.
        what: &'static str,
        /// With which key, joint or count.
        index: usize,
    },
}
