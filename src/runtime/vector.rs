//! Sixteen-lane pieces that several kernels share.

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

/// Dot product of two quaternions, per lane.
#[inline(always)]
pub(crate) fn dot4<S: Simd>(a: &[f32x16<S>; 4], b: &[f32x16<S>; 4]) -> f32x16<S> {
    a[0].mul_add(b[0], a[1].mul_add(b[1], a[2].mul_add(b[2], a[3] * b[3])))
}

/// Normalises quaternions; exact square root and division.
#[inline(always)]
pub(crate) fn normalize4<S: Simd>(simd: S, q: &mut [f32x16<S>; 4]) {
    let inverse = f32x16::splat(simd, 1.0) / dot4(q, q).sqrt();
    for c in q.iter_mut() {
        *c *= inverse;
    }
}

/// Hamilton product `a × b`, per lane (xyzw).
#[inline(always)]
pub(crate) fn mul_quat<S: Simd>(a: &[f32x16<S>; 4], b: &[f32x16<S>; 4]) -> [f32x16<S>; 4] {
    let [ax, ay, az, aw] = *a;
    let [bx, by, bz, bw] = *b;
    [
        aw.mul_add(bx, ax.mul_add(bw, ay.mul_add(bz, -(az * by)))),
        aw.mul_add(by, ay.mul_add(bw, az.mul_add(bx, -(ax * bz)))),
        aw.mul_add(bz, az.mul_add(bw, ax.mul_add(by, -(ay * bx)))),
        aw.mul_add(bw, -(ax.mul_add(bx, ay.mul_add(by, az * bz)))),
    ]
}
