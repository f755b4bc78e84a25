//! `Encoding`: how a block's keys are stored, as rows of f32 or as 16-bit integers.

use crate::math::LANES;

/// How the keys of a block are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Rows of f32.
    #[default]
    Float,
    /// 16-bit integers: a value is `least + step × integer`. The block's rows hold the ranges: one row of
    /// least values per component, then one row of steps. Only for [`Linear`](super::BlockKind::Linear)
    /// and [`Slerp`](super::BlockKind::Slerp) blocks.
    Packed {
        /// Index of the first integer of the first key.
        first: u32,
        /// Lanes stored per component, 1 to 16: up to the last one that moves. Later lanes have step 0.
        lanes: u8,
    },
}

/// Integers that must follow the last key of a block, so that a whole row can be read at any component.
pub(crate) const fn slack(lanes: usize) -> usize {
    LANES - lanes
}
