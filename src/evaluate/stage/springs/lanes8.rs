//! Vectors and matrices of three, one per lane of eight.

use crate::evaluate::stage::vec3s::{Mat3s, Vec3s};
use crate::math::Affine3x4;
use crate::simd::each;
use fearless_simd::{f32x4, f32x8, mask32x8, prelude::*};

/// The number of lanes.
pub(crate) const LANES: usize = 8;

/// A component of eight joints.
pub(crate) type Lanes8 = [f32; LANES];

/// Eight matrices in memory: the columns of their linear parts, then their translations.
pub(super) type Models8 = [Lanes8; 12];

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

    /// The vectors of which all elements are finite.
    #[inline(always)]
    pub fn finite(self) -> mask32x8<S> {
        let sum = self.0[0] + self.0[1] + self.0[2];
        let zero = f32x8::splat(sum.simd, 0.0);
        (sum * zero).simd_eq(zero)
    }

    /// The vectors without elements that are not finite, and others in their place.
    #[inline(always)]
    pub fn finite_or(self, other: Self) -> Self {
        Self::select(self.finite(), self, other)
    }
}

impl<S: Simd> Mat3s<f32x8<S>> {
    /// The rotations of quaternions of any length but 0; `s` is 2 over the square of it.
    #[inline(always)]
    pub fn turning(axis: Vec3x8<S>, w: f32x8<S>, s: f32x8<S>) -> Self {
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

/// The transpose of four registers of four.
#[inline(always)]
fn transposed<S: Simd>(simd: S, [a, b, c, d]: [f32x4<S>; 4]) -> [f32x4<S>; 4] {
    let [e, f] = [simd.zip_low_f32x4(a, c), simd.zip_low_f32x4(b, d)];
    let [g, h] = [simd.zip_high_f32x4(a, c), simd.zip_high_f32x4(b, d)];
    [
        simd.zip_low_f32x4(e, f),
        simd.zip_high_f32x4(e, f),
        simd.zip_low_f32x4(g, h),
        simd.zip_high_f32x4(g, h),
    ]
}

/// The rows of eight matrices, by number and lane.
pub(super) type Rows8<'a> = [[&'a [f32; 4]; LANES]; 3];

/// The linear parts and the translations of eight matrices.
#[inline(always)]
pub(super) fn wide<S: Simd>(simd: S, rows: &Rows8<'_>) -> (Mat3x8<S>, Vec3x8<S>) {
    let zero = f32x4::splat(simd, 0.0);
    let mut all = [Vec3s([f32x8::splat(simd, 0.0); 3]); 4];
    let mut r = 0;
    while r < 3 {
        let of = &rows[r];
        let low = transposed(simd, each!(zero; 4; i => f32x4::load_array_ref(simd, of[i])));
        let high = transposed(simd, each!(zero; 4; i => f32x4::load_array_ref(simd, of[4 + i])));
        let mut c = 0;
        while c < 4 {
            all[c].0[r] = simd.combine_f32x4(low[c], high[c]);
            c += 1;
        }
        r += 1;
    }
    let [a, b, c, d] = all;
    (Mat3s([a, b, c]), d)
}

/// The rows of matrices.
#[inline(always)]
pub(super) fn rows_of(all: &[Affine3x4; LANES]) -> Rows8<'_> {
    let first = &all[0].rows[0];
    each!([first; LANES]; 3; r => each!(first; LANES; lane => &all[lane].rows[r]))
}

/// Row `r` of eight matrices.
#[inline(always)]
pub(super) fn row<S: Simd>(
    simd: S,
    (linear, translation): (&Mat3x8<S>, Vec3x8<S>),
    r: usize,
) -> [f32x4<S>; LANES] {
    let [x, y, z] = linear.0;
    let zero = f32x4::splat(simd, 0.0);
    let all = [x.0[r], y.0[r], z.0[r], translation.0[r]];
    let (mut low, mut high) = ([zero; 4], [zero; 4]);
    let mut i = 0;
    while i < 4 {
        (low[i], high[i]) = simd.split_f32x8(all[i]);
        i += 1;
    }
    let ([a, b, c, d], [e, f, g, h]) = (transposed(simd, low), transposed(simd, high));
    [a, b, c, d, e, f, g, h]
}

/// The linear parts and the translations of matrices in memory.
#[inline(always)]
pub(super) fn load_models<S: Simd>(simd: S, from: &Models8) -> (Mat3x8<S>, Vec3x8<S>) {
    let zero = Vec3s([f32x8::splat(simd, 0.0); 3]);
    let [a, b, c, d] = each!(zero; 4; c => {
        Vec3x8::load(simd, [&from[3 * c], &from[3 * c + 1], &from[3 * c + 2]])
    });
    (Mat3s([a, b, c]), d)
}

/// The linear part and the translation of one matrix, in all lanes.
#[inline(always)]
pub(super) fn splat_model<S: Simd>(simd: S, model: &Affine3x4) -> (Mat3x8<S>, Vec3x8<S>) {
    let [x, y, z] = &model.rows;
    let zero = Vec3s([f32x8::splat(simd, 0.0); 3]);
    let [a, b, c, d] = each!(zero; 4; c => Vec3x8::splat(simd, [x[c], y[c], z[c]]));
    (Mat3s([a, b, c]), d)
}

#[inline(always)]
pub(super) fn store_models<S: Simd>(
    (linear, translation): (&Mat3x8<S>, Vec3x8<S>),
    to: &mut Models8,
) {
    let (columns, last) = to.split_at_mut(9);
    linear.0[0].store(&mut columns[..3]);
    linear.0[1].store(&mut columns[3..6]);
    linear.0[2].store(&mut columns[6..]);
    translation.store(last);
}

/// The matrix of a lane.
pub(super) fn model_of(from: &Models8, lane: usize) -> Affine3x4 {
    let row = |r: usize| [from[r][lane], from[3 + r][lane], from[6 + r][lane], from[9 + r][lane]];
    Affine3x4 { rows: [row(0), row(1), row(2)] }
}
