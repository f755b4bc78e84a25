//! Local matrices of a group of lanes, transposed to rows.

use super::mix::Mix;
use crate::runtime::plan::{Group, Source};
use crate::runtime::quat::dot4;
use crate::simd::{Lanes, each};
use fearless_simd::prelude::*;

/// Writes the rows of a group's local matrices to `out`, from the blended pose.
#[inline(always)]
pub(super) fn compose<S: Lanes>(mix: &Mix<'_, S>, group: &Group, pose: &[f32], out: &mut [f32]) {
    let one = S::f32s::splat(mix.simd, 1.0);
    let vector = |source: Source| -> [S::f32s; 3] {
        match source {
            Source::Varying(register) => mix.get(pose, register),
            Source::Fixed(at) => mix.fixed(at, group.lane),
            Source::One => [one; 3],
        }
    };
    let q: [_; 4] = match group.rotation {
        Source::Varying(register) => mix.get(pose, register),
        Source::Fixed(at) => mix.fixed(at, group.lane),
        Source::One => [one; 4],
    };
    // 2 / |q|² folds the normalisation in.
    let k = (one + one) / dot4(&q, &q);
    let [x, y, z, w] = q;
    let (xs, ys, zs) = (x * k, y * k, z * k);
    let (xx, yy, zz) = (x * xs, y * ys, z * zs);
    let (xy, xz, yz) = (x * ys, x * zs, y * zs);
    let (wx, wy, wz) = (w * xs, w * ys, w * zs);
    let mut rows = [
        [one - (yy + zz), xy - wz, xz + wy],
        [xy + wz, one - (xx + zz), yz - wx],
        [xz - wy, yz + wx, one - (xx + yy)],
    ];
    if group.scale != Source::One {
        let s = vector(group.scale);
        rows = each!([one; 3]; 3; r => each!(one; 3; c => rows[r][c] * s[c]));
    }
    let t = vector(group.translation);
    let width = S::f32s::LEN;
    let mut r = 0;
    while r < 3 {
        let [a, b, c] = rows[r];
        let parts = mix.simd.transpose([a, b, c, t[r]]);
        let out = &mut out[r * 4 * width..(r + 1) * 4 * width];
        let mut i = 0;
        while i < 4 {
            parts[i].store_slice(&mut out[i * width..(i + 1) * width]);
            i += 1;
        }
        r += 1;
    }
}
