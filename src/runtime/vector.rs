//! Sixteen-lane operations that several kernels share.

use crate::math::Row;
use fearless_simd::{f32x16, mask32x16, prelude::*};

/// Loads a row.
#[inline(always)]
pub(crate) fn load<S: Simd>(simd: S, row: &Row) -> f32x16<S> {
    f32x16::load_array_ref(simd, &row.0)
}

/// Stores a row.
#[inline(always)]
pub(crate) fn store<S: Simd>(v: f32x16<S>, row: &mut Row) {
    v.store_array(&mut row.0);
}

/// Stores the rows of a value of several components.
#[inline(always)]
pub(crate) fn store_all<S: Simd, const C: usize>(v: [f32x16<S>; C], rows: &mut [Row; C]) {
    for (v, row) in v.into_iter().zip(rows) {
        store(v, row);
    }
}

/// The lanes whose bit is set.
#[inline(always)]
pub(crate) fn lanes<S: Simd>(simd: S, bits: u16) -> mask32x16<S> {
    mask32x16::from_bitmask(simd, u64::from(bits))
}
