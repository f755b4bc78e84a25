//! Channels and blocks: what a clip's keys are of, and how they are meant.

use super::encoding::Encoding;
use crate::math::LANES;

/// The properties that a clip moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Channel {
    /// Three rows a key.
    Translation = 0,
    /// Four rows a key.
    Rotation = 1,
    /// Three rows a key.
    Scale = 2,
    /// One row a key.
    Scalar = 3,
}

impl Channel {
    /// All channels in order.
    pub const ALL: [Self; 4] = [Self::Translation, Self::Rotation, Self::Scale, Self::Scalar];

    /// Rows of one value.
    pub const fn components(self) -> usize {
        match self {
            Self::Translation | Self::Scale => 3,
            Self::Rotation => 4,
            Self::Scalar => 1,
        }
    }
}

/// How a block's keys are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockKind {
    /// One value, held for ever.
    Constant,
    /// A value per key, interpolated linearly (rotations: normalised lerp).
    Linear,
    /// As `Linear`, for rotations whose keys lie apart: the parameter is corrected to follow slerp.
    Slerp,
    /// In-tangent, value and out-tangent per key; tangents are per interval, not per second.
    Cubic,
}

/// Sixteen lanes of one channel of a clip. Blocks that stay at their default are not stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    /// Lanes `16 × block ..`.
    pub block: u16,
    /// How values between keys come about.
    pub kind: BlockKind,
    /// How the keys are stored.
    pub encoding: Encoding,
    /// Lanes that hold a key's value until the next key (bit l: lane l).
    pub hold: u16,
    /// Lanes whose keys differ (bit l: lane l); found by [`Clip::new`](super::Clip::new).
    pub moving: u16,
    /// Index of its timeline; unused if constant.
    pub timeline: u32,
    /// Its first row: of its keys, or of their ranges.
    pub first_row: u32,
}

/// What a block does, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrackCounts {
    /// Lanes that change over time.
    pub animated: usize,
    /// Lanes that are constant but not at their default.
    pub constant: usize,
}

impl BlockKind {
    /// Rows of one key of this kind.
    pub const fn rows_per_key(self, channel: Channel) -> usize {
        match self {
            Self::Cubic => 3 * channel.components(),
            _ => channel.components(),
        }
    }
}

/// The lane `lane` of a row index, as (block, lane within the block).
pub(crate) const fn split_lane(lane: usize) -> (usize, usize) {
    (lane / LANES, lane % LANES)
}
