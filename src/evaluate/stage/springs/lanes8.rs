//! Vectors and matrices of three, one per lane of eight.

use crate::evaluate::stage::vec3s::{Mat3s, Vec3s};
use crate::simd::each;
use fearless_simd::{f32x4, f32x8, prelude::*};

/// The number of lanes.
pub(crate) const LANES: usize = 8;

/// A row of eight matrices, lane by lane.
pub(super) type RowOf8 = [f32; 4 * LANES];

/// A component of eight joints.
pub(crate) type Lanes8 = [f32; LANES];

/// Eight vectors.
pub(super) type Vec3x8<S> = Vec3s<f32x8<S>>;

/// Eight matrices.
pub(super) type Mat3x8<S> = Mat3s<f32x8<S>>;

impl<S: Simd> Vec3s<f32x8<S>> {
    #[inline(always)]
    pub fn load(simd: S, rows: [&Lanes8; 3]) -> Self {
        Self(each!(f32x8::splat(simd, 0.0); 3; c => f32x8::load_array_ref(simd, rows[c])))
    }

    #[inline(always)]
    pub fn splat(simd: S, v: [f32; 3]) -> Self {
        Self(each!(f32x8::splat(simd, 0.0); 3; c => f32x8::splat(simd, v[c])))
    }

    #[inline(always)]
    pub fn store(self, rows: &mut [Lanes8]) {
        if let [x, y, z] = rows {
            self.0[0].store_array(x);
            self.0[1].store_array(y);
            self.0[2].store_array(z);
        }
    }

    /// The vectors without elements that are not finite, and others in their place.
    #[inline(always)]
    pub fn finite_or(self, other: Self) -> Self {
        let sum = self.0[0] + self.0[1] + self.0[2];
        let zero = f32x8::splat(sum.simd, 0.0);
        Self::select((sum * zero).simd_eq(zero), self, other)
    }
}

impl<S: Simd> Mat3s<f32x8<S>> {
    /// The rotations of quaternions of any length but 0.
    #[inline(always)]
    pub fn turning(axis: Vec3x8<S>, w: f32x8<S>) -> Self {
        let s = 2.0 / (axis.dot(axis) + w * w);
        let ([x, y, z], by) = (axis.0, axis * s);
        let [sx, sy, sz] = by.0;
        let [wx, wy, wz] = (by * w).0;
        let one = f32x8::splat(w.simd, 1.0);
        Self([
            Vec3s([one - (sy * y + sz * z), sx * y + wz, sx * z - wy]),
            Vec3s([sx * y - wz, one - (sx * x + sz * z), sy * z + wx]),
            Vec3s([sx * z + wy, sy * z - wx, one - (sx * x + sy * y)]),
        ])
    }
}

/// The four components of a row of eight matrices.
#[inline(always)]
fn four<S: Simd>(simd: S, row: &RowOf8) -> [f32x8<S>; 4] {
    let (halves, _) = row.as_chunks::<16>();
    let a = simd.load_four_interleaved_f32x4(&halves[0]);
    let b = simd.load_four_interleaved_f32x4(&halves[1]);
    each!(f32x8::splat(simd, 0.0); 4; i => simd.combine_f32x4(a[i], b[i]))
}

/// The linear parts and the translations of eight matrices.
#[inline(always)]
pub(super) fn wide<S: Simd>(simd: S, rows: &[RowOf8; 3]) -> (Mat3x8<S>, Vec3x8<S>) {
    let [x, y, z] = [four(simd, &rows[0]), four(simd, &rows[1]), four(simd, &rows[2])];
    let [a, b, c, d] = each!(Vec3s([x[0]; 3]); 4; c => Vec3s([x[c], y[c], z[c]]));
    (Mat3s([a, b, c]), d)
}

/// The rows of eight matrices.
#[inline(always)]
pub(super) fn rows<S: Simd>(simd: S, linear: Mat3x8<S>, translation: Vec3x8<S>) -> [RowOf8; 3] {
    let [x, y, z] = linear.0;
    let mut rows = [[0.0; 4 * LANES]; 3];
    let mut r = 0;
    while r < 3 {
        let zero = f32x4::splat(simd, 0.0);
        let all = [x.0[r], y.0[r], z.0[r], translation.0[r]];
        let (mut low, mut high) = ([zero; 4], [zero; 4]);
        let mut i = 0;
        while i < 4 {
            (low[i], high[i]) = simd.split_f32x8(all[i]);
            i += 1;
        }
        let (halves, _) = rows[r].as_chunks_mut::<16>();
        simd.store_four_interleaved_f32x4(low, &mut halves[0]);
        simd.store_four_interleaved_f32x4(high, &mut halves[1]);
        r += 1;
    }
    rows
}
