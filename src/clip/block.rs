//! Blocks: sixteen lanes of a channel, and how their keys are interpolated and stored.

use super::encoding::Encoding;
use crate::math::LANES;
pub use crate::math::channel::Channel;

/// How the keys of a block are interpolated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockKind {
    /// One value for all times.
    Constant,
    /// One value per key, interpolated linearly; rotations by normalised lerp.
    Linear,
    /// Like `Linear`, for rotations with large steps: the parameter is corrected to follow slerp.
    Slerp,
    /// Cubic Hermite: in-tangent, value and out-tangent per key. Tangents are per interval, not per second.
    Cubic,
}

/// One channel of sixteen lanes of a clip. Blocks in which all lanes keep their default are not stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    /// Index of the block: its lanes begin at `16 × block`.
    pub block: u16,
    /// How the keys are interpolated.
    pub kind: BlockKind,
    /// How the keys are stored.
    pub encoding: Encoding,
    /// Lanes with stepped interpolation (bit l: lane l).
    pub hold: u16,
    /// Lanes whose keys differ (bit l: lane l); set by [`Clip::new`](super::Clip::new).
    pub moving: u16,
    /// Index of the timeline; unused if constant.
    pub timeline: u32,
    /// Index of the first row of the block's keys, or of their ranges if it is packed.
    pub first_row: u32,
}

impl Block {
    pub(crate) const fn constant(block: usize, first_row: usize) -> Self {
        Self {
            block: block as u16,
            kind: BlockKind::Constant,
            encoding: Encoding::Float,
            hold: 0,
            moving: 0,
            timeline: 0,
            first_row: first_row as u32,
        }
    }

    /// Whether a lane moves; only lanes of blocks with a timeline do.
    pub(crate) const fn moves(&self, lane: usize) -> bool {
        self.moving >> lane & 1 == 1
    }

    /// Whether a lane holds each key until the next.
    pub(crate) const fn holds(&self, lane: usize) -> bool {
        self.hold >> lane & 1 == 1
    }
}

/// Splits a lane into its block and its position within the block.
pub(crate) const fn split_lane(lane: usize) -> (usize, usize) {
    (lane / LANES, lane % LANES)
}
