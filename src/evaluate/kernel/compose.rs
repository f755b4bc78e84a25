//! Local matrices of a group of lanes, transposed to rows, and the product of two matrices.

use super::quat::{Floats, dot4};
use crate::math::Affine3x4;
use crate::simd::{Lanes, each};
use fearless_simd::prelude::*;

/// Writes the rows of local matrices, twelve floats per lane, to `out`. `None` for the scale is a scale of 1. The
/// rotation may have any length.
#[inline(always)]
pub(crate) fn compose<S: Lanes>(
    simd: S,
    t: &[S::f32s; 3],
    q: &[S::f32s; 4],
    scale: Option<&[S::f32s; 3]>,
    out: &mut [f32],
) where
    S::f32s: Floats<S>,
{
    let one = S::f32s::splat(simd, 1.0);
    // 2 / |q|² folds the normalisation in.
    let k = (one + one) / dot4(q, q);
    let [x, y, z, w] = *q;
    let (xs, ys, zs) = (x * k, y * k, z * k);
    let (xx, yy, zz) = (x * xs, y * ys, z * zs);
    let (xy, xz, yz) = (x * ys, x * zs, y * zs);
    let (wx, wy, wz) = (w * xs, w * ys, w * zs);
    let mut rows = [
        [one - (yy + zz), xy - wz, xz + wy],
        [xy + wz, one - (xx + zz), yz - wx],
        [xz - wy, yz + wx, one - (xx + yy)],
    ];
    if let Some(s) = scale {
        rows = each!([one; 3]; 3; r => each!(one; 3; c => rows[r][c] * s[c]));
    }
    let width = S::f32s::LEN;
    let mut r = 0;
    while r < 3 {
        let [a, b, c] = rows[r];
        let parts = simd.transpose([a, b, c, t[r]]);
        let out = &mut out[r * 4 * width..(r + 1) * 4 * width];
        let mut i = 0;
        while i < 4 {
            parts[i].store_slice(&mut out[i * width..(i + 1) * width]);
            i += 1;
        }
        r += 1;
    }
}

/// `a × b` into `out`.
#[inline(always)]
pub(crate) fn multiply<S: Lanes>(simd: S, a: &Affine3x4, b: [&[f32; 4]; 3], out: &mut Affine3x4) {
    let a = simd.load_rows(bytemuck::must_cast_ref(&a.rows));
    let product = simd.multiply(&simd.splat_matrix(a), b);
    simd.store_rows(product, bytemuck::must_cast_mut(&mut out.rows));
}
