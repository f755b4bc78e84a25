//! `Row`: one cache line of lanes, the unit of every SoA buffer.

use bytemuck::{Pod, Zeroable};

/// Lanes of a [`Row`].
pub const LANES: usize = 16;

/// Sixteen f32 lanes in one 64-byte cache line.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct Row(pub [f32; LANES]);

impl Default for Row {
    fn default() -> Self {
        Self::splat(0.0)
    }
}

impl Row {
    /// The same value in every lane.
    pub const fn splat(value: f32) -> Self {
        Self([value; LANES])
    }
}

/// The number of rows that hold `lanes` lanes.
pub const fn blocks_for(lanes: usize) -> usize {
    lanes.div_ceil(LANES)
}
