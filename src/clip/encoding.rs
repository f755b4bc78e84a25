//! `Encoding`: how a block's keys are stored, as rows of f32 or as 16-bit integers.

use super::block::Channel;
use crate::math::LANES;

/// How the keys of a block are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Rows of f32.
    #[default]
    Float,
    /// 16-bit integers; the block's rows hold their ranges: one row per component with the least
    /// value of every lane, and one with the lanes' steps. A value is `least + step × integer`.
    /// Only for linear blocks.
    Packed {
        /// The first integer of the first key.
        first: u32,
        /// Lanes stored per component, 1 to 16: those before the last that moves. The lanes
        /// behind them have step 0.
        lanes: u8,
    },
}

impl Encoding {
    /// Rows that a block of `keys` keys takes, of `per_key` rows each.
    pub(crate) const fn rows(self, channel: Channel, keys: usize, per_key: usize) -> usize {
        match self {
            Self::Float => keys * per_key,
            Self::Packed { .. } => channel.components() + 1,
        }
    }
}

/// Integers behind the last key of a block, so that a whole row can be read at any of its components.
pub(crate) const fn slack(lanes: usize) -> usize {
    LANES - lanes
}
