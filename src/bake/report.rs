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
    /// rounding at the size of the model: 4.8e-7 of the longest path down the joints from the origin. The allowance is
    /// not proven to suffice. Tests search for a larger error at random times of many clips.
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
    /// Size of the baked clip in memory, bytes.
    pub bytes: usize,
    /// Bytes of the blocks of animated translations, rotations, scales and scalars: a part of `bytes`.
    pub channel_bytes: [usize; 4],
    /// Bytes of constant blocks: a part of `bytes`. The rest are key times, tables and root motion.
    pub constant_bytes: usize,
    /// Size of the raw data, bytes: 40 per joint and frame.
    pub raw_bytes: usize,
}

impl ErrorReport {
    /// Sets the sizes of a clip and of its raw data.
    pub(super) fn measure_size(&mut self, clip: &Clip, raw_bytes: usize) {
        for channel in Channel::ALL {
            for b in clip.blocks(channel) {
                let bytes = b.encoding.extent(channel, b.kind, clip.keys_of(b)).bytes();
                match b.kind {
                    BlockKind::Constant => self.constant_bytes += bytes,
                    _ => self.channel_bytes[channel as usize] += bytes,
                }
            }
        }
        (self.bytes, self.raw_bytes) = (clip.bytes(), raw_bytes);
    }

    /// Compression ratio: raw bytes per byte of the baked clip.
    pub fn ratio(&self) -> f32 {
        self.raw_bytes as f32 / self.bytes.max(1) as f32
    }
}
