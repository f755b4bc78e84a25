//! What is wrong with a clip, of parts or of raw tracks, and why its root motion cannot be extracted.

use super::SkeletonMismatch;
use crate::math::channel::Channel;
use crate::suggest::LookupError;

/// Limit on the keys of a timeline that is resampled. Up to this number f32 times are spaced as evenly as
/// [`REGULAR_TOLERANCE`](crate::clip::REGULAR_TOLERANCE) requires, at any rate; 9.7 hours at 120 Hz.
pub(crate) const MAX_RESAMPLED_KEYS: usize = 1 << 22;

/// Limit on the steps of the search for root motion: one per node for every clip, and one per joint at or above it for
/// every joint examined. A thousand clips of a thousand nodes take a million.
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
    /// No joint has the name, path or index of the joint of root motion, or several have it.
    RootJoint(LookupError),
    /// A joint above that of root motion is animated too, so the motion is not the joint's alone.
    MovingAncestor {
        /// The clip.
        clip: String,
        /// The joint of the motion.
        joint: String,
        /// The animated joint above it.
        above: String,
    },
    /// The joints above that of root motion have non-uniform or zero scale, through which the motion cannot be carried.
    RootScale(String),
    /// Root motion needs more keys than four for each of the joint's, and than an irregular timeline holds.
    RootKeys {
        /// The clip.
        clip: String,
        /// Keys needed.
        keys: usize,
        /// The limit.
        limit: usize,
    },
    /// There are so many clips, nodes and levels that the search for root motion would take too long.
    RootWork(u64),
}
