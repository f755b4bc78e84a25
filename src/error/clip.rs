//! `ClipFault`: why a clip is invalid, cannot be built from parts or raw tracks, or has no root motion to extract.

use super::SkeletonMismatch;
use crate::math::channel::Channel;
use crate::suggest::LookupError;

/// Limit on the keys of a resampled timeline. Up to this number, f32 times are spaced as evenly as
/// [`REGULAR_TOLERANCE`](crate::clip::REGULAR_TOLERANCE) requires, at any rate; 9.7 hours at 120 Hz.
pub(crate) const MAX_RESAMPLED_KEYS: usize = 1 << 22;

/// Limit on the steps of the search for root motion: one per clip and node, and one per joint on the chain from each
/// examined joint up to the root. A thousand clips of a thousand nodes take a million.
pub(crate) const MAX_ROOT_STEPS: u64 = 1 << 28;

/// Why a clip is rejected, or cannot be built from raw tracks.
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
        /// The kind of element that the block refers to.
        what: &'static str,
        /// Index or end of the reference.
        needed: usize,
        /// Number of existing elements.
        have: usize,
    },
    /// The rig has no such clip.
    Unknown {
        /// Index of the clip.
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
        /// Text for the place of the number: channel, joint and key.
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
    /// Blocks share rows or integers more often than 16 times each.
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
        /// The fault, as the message states it.
        what: &'static str,
        /// The key, joint or count at fault.
        index: usize,
    },
    /// The skeletons differ in more than the order of their lanes and joints.
    LaneSkeleton {
        /// Name of the clip.
        clip: String,
        /// The first difference: in the clip's skeleton, and in the other one.
        mismatch: SkeletonMismatch,
    },
    /// The clip needs more memory in the new lane order than allowed.
    LaneMemory {
        /// Name of the clip.
        clip: String,
        /// Lower bound of the bytes needed.
        needed: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// The lengths of a track do not match.
    TrackLength {
        /// Name of the clip.
        clip: String,
        /// Index of the track.
        track: usize,
        /// Index of the node that the track animates.
        node: usize,
        /// Number of key times.
        keys: usize,
        /// Number of values.
        values: usize,
        /// Number of values needed.
        needed: usize,
    },
    /// A track animates a node or morph target that the skeleton lacks.
    Target {
        /// Name of the clip.
        clip: String,
        /// Index of the track.
        track: usize,
        /// Index of the node.
        node: usize,
        /// The node or morph target that is missing, as the message states it.
        what: &'static str,
    },
    /// A track of a user channel is not the only one of its channel in the clip, does not fit the skeleton's channel,
    /// or has wrong lengths, times that do not increase, or values that are not finite.
    UserTrack {
        /// Name of the clip.
        clip: String,
        /// Name of the user channel.
        channel: String,
        /// The fault, as the message states it.
        what: &'static str,
        /// Number found; for keys and values that are checked one by one, the number of good ones before the first bad
        /// one.
        have: usize,
        /// Number needed.
        needed: usize,
    },
    /// The union of a block's key times is too long, and no even grid of f32 times can replace it.
    TooManyKeys {
        /// Name of the clip.
        clip: String,
        /// The channel.
        channel: Channel,
        /// Index of the block.
        block: usize,
        /// Number of keys in the union.
        keys: usize,
    },
    /// The clip's rows take more memory than allowed.
    TooLarge {
        /// Name of the clip.
        clip: String,
        /// Number of keys of the block that is beyond the limit; 0 if it is not a block of keys.
        keys: u32,
        /// Lower bound of the bytes needed.
        needed: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// The operating system cannot provide the memory that the clip's rows take.
    OutOfMemory {
        /// Name of the clip.
        clip: String,
        /// Lower bound of the bytes needed.
        needed: usize,
    },
    /// No joint has the name, path or index given for root motion, or several have it.
    RootJoint(LookupError),
    /// A joint above the joint of root motion is animated too, so the motion is not only the joint's.
    MovingAncestor {
        /// Name of the clip.
        clip: String,
        /// Name of the joint of root motion.
        joint: String,
        /// Name of the animated joint above it.
        above: String,
    },
    /// The joints above the joint of root motion have non-uniform or zero scale, through which the motion cannot be
    /// carried.
    RootScale(String),
    /// Root motion needs more than four keys for each key of the joint, and more than an irregular timeline holds.
    RootKeys {
        /// Name of the clip.
        clip: String,
        /// Number of keys needed.
        keys: usize,
        /// Largest number of keys allowed.
        limit: usize,
    },
    /// The search for root motion would take this many steps, more than are allowed.
    RootWork(u64),
}
