//! What is wrong with a clip.

use super::SkeletonMismatch;
use crate::math::channel::Channel;

/// Why a clip is rejected.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ClipFault {
    /// The duration is negative, NaN, or above [`MAX_SECONDS`](crate::skeleton::MAX_SECONDS).
    Duration {
        /// Name of the clip.
        clip: String,
        /// Duration, seconds.
        duration: f32,
    },
    /// A timeline has too few or too many keys: at most [`MAX_KEYS`](crate::clip::MAX_KEYS) if they are evenly spaced,
    /// otherwise at most [`MAX_IRREGULAR_KEYS`](crate::clip::MAX_IRREGULAR_KEYS).
    KeyCount {
        /// Name of the clip.
        clip: String,
        /// Index of the timeline.
        timeline: usize,
        /// Number of keys.
        keys: usize,
        /// The most keys allowed.
        limit: usize,
    },
    /// Times do not increase, or exceed [`MAX_SECONDS`](crate::skeleton::MAX_SECONDS) in magnitude.
    Times {
        /// Name of the clip.
        clip: String,
        /// Index of the timeline.
        timeline: usize,
        /// Index of the key.
        key: usize,
    },
    /// There are more irregular timelines than 16-bit hint indices.
    TooManyTimelines {
        /// Name of the clip.
        clip: String,
        /// Number of irregular timelines.
        count: usize,
    },
    /// A block refers to lanes, rows, integers or a timeline that do not exist.
    Block {
        /// Name of the clip.
        clip: String,
        /// The channel.
        channel: Channel,
        /// Index in the channel's list of blocks.
        index: usize,
        /// What the block refers to.
        what: &'static str,
        /// Index or end of the reference.
        needed: usize,
        /// Number of existing elements.
        have: usize,
    },
    /// There is no such clip.
    Unknown {
        /// Name of the clip.
        clip: usize,
        /// Number of clips of the rig.
        clips: usize,
    },
    /// A marker is outside the clip.
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
    /// There are more markers than 16-bit marker indices.
    TooManyMarkers {
        /// Name of the clip.
        clip: String,
        /// Number of markers.
        count: usize,
    },
    /// A row holds NaN or infinity.
    NotFinite {
        /// Name of the clip.
        clip: String,
        /// Index of the row.
        row: usize,
    },
    /// A number is beyond its limit.
    Beyond {
        /// Name of the clip.
        clip: String,
        /// Where the number is: channel, joint and key.
        place: String,
        /// Value of the number.
        value: f32,
        /// The exceeded limit, upper or lower.
        limit: f32,
    },
    /// The product of scales down a chain of joints exceeds [`MAX_CHAIN_SCALE`](crate::skeleton::MAX_CHAIN_SCALE).
    Scale {
        /// Name of the clip.
        clip: String,
        /// Index of the joint.
        joint: usize,
        /// Name of the joint.
        name: String,
        /// Product of the largest scales down to the joint.
        product: f64,
    },
    /// Blocks share rows or integers more often than [`MAX_SHARING`](crate::clip::MAX_SHARING).
    Sharing {
        /// Name of the clip.
        clip: String,
        /// Rows or integers.
        what: &'static str,
        /// Number read, summed over the blocks.
        needed: usize,
        /// Largest number allowed.
        limit: usize,
    },
    /// The root motion is invalid, or not allowed.
    RootMotion {
        /// Name of the clip.
        clip: String,
        /// The fault.
        what: &'static str,
        /// The key, joint or count at fault.
        index: usize,
    },
    /// The skeletons differ in more than the order of their lanes and joints.
    LaneSkeleton {
        /// The clip.
        clip: String,
        /// The first difference: in the clip's skeleton, and in the other.
        mismatch: SkeletonMismatch,
    },
    /// The clip needs more memory in the new order than allowed.
    LaneMemory {
        /// The clip.
        clip: String,
        /// Bytes needed, at least.
        needed: usize,
        /// Bytes allowed.
        limit: usize,
    },
}
