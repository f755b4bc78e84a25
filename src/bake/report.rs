//! What baking a clip came to.

use crate::clip::{Block, BlockKind, Channel, Clip, Encoding};
use crate::math::Row;

/// The error of a built clip against its raw one, and its bytes in memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ErrorReport {
    /// The largest error over joints and times, metres.
    pub max: f32,
    /// The mean over joints and times.
    pub mean: f32,
    /// What 99 of 100 errors stay below.
    pub p99: f32,
    /// The joint of the largest.
    pub worst_joint: u16,
    /// Its time, seconds.
    pub worst_time: f32,
    /// Joints × times that were measured.
    pub samples: usize,
    /// The largest error of a scalar (morph weights, user channels), in its own unit.
    pub scalar_max: f32,
    /// The largest error of a scalar in parts of its range over the raw clip's keys, or of 1 where the
    /// range is smaller; without what f32 rounds. What `BakeSettings::scalar_error` bounds, for
    /// quaternions before they are normalised.
    pub scalar_relative: f32,
    /// Bytes of the built clip.
    pub bytes: TrackBytes,
    /// Bytes of raw data: 40 per joint and frame.
    pub raw_bytes: usize,
}

/// Bytes of a clip in memory, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrackBytes {
    /// Translations that move.
    pub translation: usize,
    /// Rotations that move.
    pub rotation: usize,
    /// Scales that move.
    pub scale: usize,
    /// Scalars that move.
    pub scalar: usize,
    /// Blocks that do not move.
    pub constant: usize,
    /// Key times, tables and root motion.
    pub tables: usize,
}

impl TrackBytes {
    /// Counts a clip.
    pub fn of(clip: &Clip) -> Self {
        let mut out = Self::default();
        for channel in Channel::ALL {
            for b in clip.blocks(channel) {
                let bytes = block_bytes(clip, channel, b);
                *match (b.kind, channel) {
                    (BlockKind::Constant, _) => &mut out.constant,
                    (_, Channel::Translation) => &mut out.translation,
                    (_, Channel::Rotation) => &mut out.rotation,
                    (_, Channel::Scale) => &mut out.scale,
                    (_, Channel::Scalar) => &mut out.scalar,
                } += bytes;
            }
        }
        out.tables = clip.bytes().saturating_sub(out.keys());
        out
    }

    fn keys(&self) -> usize {
        self.translation + self.rotation + self.scale + self.scalar + self.constant
    }

    /// All of them.
    pub fn total(&self) -> usize {
        self.keys() + self.tables
    }
}

impl ErrorReport {
    /// Raw bytes per byte of the built clip.
    pub fn ratio(&self) -> f32 {
        self.raw_bytes as f32 / self.bytes.total().max(1) as f32
    }
}

fn block_bytes(clip: &Clip, channel: Channel, b: &Block) -> usize {
    let keys = clip.keys_of(b);
    let rows = b.encoding.rows(channel, keys, b.kind.rows_per_key(channel));
    let packed = match b.encoding {
        Encoding::Float => 0,
        Encoding::Packed { lanes, .. } => keys * channel.components() * usize::from(lanes),
    };
    rows * size_of::<Row>() + packed * size_of::<u16>()
}
