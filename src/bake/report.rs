//! `ErrorReport`: error and size of a baked clip.

use crate::clip::{BlockKind, Channel, Clip};

/// The error of a baked clip against the raw one, and its size in memory.
///
/// The error of a joint at a time is the largest displacement of the points on its shell, in model space. The points
/// lie at the shell's distance in model space, whatever scales the joint and the nodes above it have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ErrorReport {
    /// The error of any joint at any time, against an exact evaluation of the raw clip, metres.
    ///
    /// It is [`measured`](Self::measured), plus an allowance of 2% for the times between those measured, plus a bound of f32
    /// rounding at the size of the model: 4.8e-7 of the longest path down the joints from the origin. The allowance is no
    /// proof. Tests search for a larger error at random times of many clips.
    pub max: f32,
    /// Largest error that was measured, over joints and times, metres. Additional times around the largest errors count here,
    /// but not in `mean`, `p99` and `samples`.
    pub measured: f32,
    /// Mean error over joints and times, metres.
    pub mean: f32,
    /// 99th percentile of the error over joints and times, metres.
    pub p99: f32,
    /// Joint with the largest measured error.
    pub worst_joint: u16,
    /// Time of the largest measured error, seconds.
    pub worst_time: f32,
    /// Number of measurements: joints × times.
    pub samples: usize,
    /// Largest error of a scalar (morph weight or component of a user channel), in its own unit.
    pub scalar_max: f32,
    /// Largest error of a scalar relative to its range in the raw clip, or to 1 if the range is smaller. Rounding to f32 is
    /// subtracted. Quaternions count before they are normalised.
    /// [`BakeOptions::scalar_error`](super::BakeOptions::scalar_error) bounds this number.
    pub scalar_relative: f32,
    /// Size of the baked clip, bytes.
    pub bytes: TrackBytes,
    /// Size of the raw data, bytes: 40 per joint and frame.
    pub raw_bytes: usize,
}

/// Size of a clip in memory, in bytes by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrackBytes {
    /// Blocks of animated translations.
    pub translation: usize,
    /// Blocks of animated rotations.
    pub rotation: usize,
    /// Blocks of animated scales.
    pub scale: usize,
    /// Blocks of animated scalars.
    pub scalar: usize,
    /// Constant blocks.
    pub constant: usize,
    /// Key times, tables and root motion.
    pub tables: usize,
}

impl TrackBytes {
    /// Measures a clip.
    pub(crate) fn of(clip: &Clip) -> Self {
        let mut out = Self::default();
        for channel in Channel::ALL {
            for b in clip.blocks(channel) {
                let keys = clip.keys_of(b);
                *match (b.kind, channel) {
                    (BlockKind::Constant, _) => &mut out.constant,
                    (_, Channel::Translation) => &mut out.translation,
                    (_, Channel::Rotation) => &mut out.rotation,
                    (_, Channel::Scale) => &mut out.scale,
                    (_, Channel::Scalar) => &mut out.scalar,
                } += b.encoding.extent(channel, b.kind, keys).bytes();
            }
        }
        out.tables = clip.bytes().saturating_sub(out.keys());
        out
    }

    fn keys(&self) -> usize {
        self.translation + self.rotation + self.scale + self.scalar + self.constant
    }

    /// Total bytes.
    pub fn total(&self) -> usize {
        self.keys() + self.tables
    }
}

impl ErrorReport {
    /// Compression ratio: raw bytes per byte of the baked clip.
    pub fn ratio(&self) -> f32 {
        self.raw_bytes as f32 / self.bytes.total().max(1) as f32
    }
}
