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

/// The number of rows that `lanes` lanes fill.
pub(crate) const fn blocks_for(lanes: usize) -> usize {
    lanes.div_ceil(LANES)
}

/// Components of unit quaternions (and of matrices, relative to the largest) smaller than this are
/// rounding noise of exporters and of f64: 1e-9 is a rotation of 1e-7 degrees. Their products
/// down a hierarchy become denormals, which cost about 150 cycles each.
pub(crate) const NOISE: f32 = 1e-9;

/// [`NOISE`] of translations and scales, in the file's unit.
pub(crate) const NOISE_LENGTH: f32 = 1e-12;

/// Flushes noise to zero.
pub(crate) fn settle(value: f32, noise: f32) -> f32 {
    if value.abs() < noise { 0.0 } else { value }
}

/// Whether the magnitude of a value is at most `limit`; false for NaN.
#[inline(always)]
pub(crate) fn within(value: f32, limit: f32) -> bool {
    value.abs() <= limit
}

/// Whether every value has a magnitude of at most `limit`, in one vectorized pass; false for NaN.
pub(crate) fn all_within(values: &[f32], limit: f32) -> bool {
    let mut beyond = [0u32; LANES];
    let (rows, rest) = values.as_chunks::<LANES>();
    for row in rows {
        for (beyond, v) in beyond.iter_mut().zip(row) {
            *beyond |= u32::from(!within(*v, limit));
        }
    }
    beyond.iter().all(|&b| b == 0) && rest.iter().all(|&v| within(v, limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_of_a_bad_value_is_found() {
        let mut values: Vec<f32> = (0..53).map(|i| i as f32 * -6e36).collect();
        assert!(all_within(&values, f32::MAX) && all_within(&[], f32::MAX));
        for i in 0..values.len() {
            for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                let sound = std::mem::replace(&mut values[i], bad);
                assert!(!all_within(&values, f32::MAX), "{bad} at {i}");
                values[i] = sound;
            }
            let limit = 52.0 * 6e36;
            assert!(all_within(&values, limit));
            let sound = std::mem::replace(&mut values[i], -limit.next_up());
            assert!(!all_within(&values, limit), "{i}");
            values[i] = sound;
        }
    }
}
