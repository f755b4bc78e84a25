//! The arithmetic of sampling and blending, per lane, for vectors of any width: shared by the jobs and the run of an
//! instance.
//!
//! Bounds compare results in f32, at any level, with f64; the tests sweep them.

use crate::simd::each;
use fearless_simd::{Simd, SimdFloat, prelude::*};

/// A vector of `f32` lanes.
pub(crate) trait Floats<S: Simd>: SimdFloat<S, Element = f32> {}
impl<S: Simd, V: SimdFloat<S, Element = f32>> Floats<S> for V {}

/// Dot product of two quaternions.
#[inline(always)]
pub(crate) fn dot4<S: Simd, V: Floats<S>>(a: &[V; 4], b: &[V; 4]) -> V {
    a[0].mul_add(b[0], a[1].mul_add(b[1], a[2].mul_add(b[2], a[3] * b[3])))
}

/// `a + t (b − a)`, exact at both ends; within 1.8e-7 of the larger magnitude.
#[inline(always)]
pub(crate) fn lerp<S: Simd, V: Floats<S>, const C: usize>(
    simd: S,
    a: &[V; C],
    b: &[V; C],
    t: V,
) -> [V; C] {
    each!(V::splat(simd, 0.0); C; c => b[c].mul_add(t, a[c].mul_add(-t, a[c])))
}

/// `a + t (b − a)` of 16-bit integers, whose difference is exact; within 8e-8 of the larger one.
#[inline(always)]
pub(crate) fn packed_lerp<S: Simd, V: Floats<S>, const C: usize>(
    simd: S,
    a: &[V; C],
    b: &[V; C],
    t: V,
) -> [V; C] {
    each!(V::splat(simd, 0.0); C; c => (b[c] - a[c]).mul_add(t, a[c]))
}

/// Integers to values: `least + step × k`.
#[inline(always)]
pub(crate) fn from_steps<S: Simd, V: Floats<S>, const C: usize>(
    simd: S,
    least: &[V; C],
    step: V,
    k: &[V; C],
) -> [V; C] {
    each!(V::splat(simd, 0.0); C; c => k[c].mul_add(step, least[c]))
}

/// [`packed_lerp`] of quaternions in steps of a lattice, with its parameter corrected as in [`slerp`], by two terms in
/// e: the error of 16-bit keys exceeds the 1.4e-6 radians that this leaves up to 30 degrees between keys (3.9e-5 up to
/// 60). e is half the square of the keys' distance, so no key's value is needed.
#[inline(always)]
pub(crate) fn packed_slerp<S: Simd, V: Floats<S>>(
    simd: S,
    a: &[V; 4],
    b: &[V; 4],
    step: V,
    t: V,
) -> [V; 4] {
    let c = |v: f32| V::splat(simd, v);
    let chord = each!(t; 4; c => b[c] - a[c]);
    let square = dot4(&chord, &chord) * (step * step);
    let k = square * square.mul_add(c(0.25 * 0.21), c(0.5 * 0.6665));
    let t = (t * (t - c(0.5)) * (t - c(1.0))).mul_add(k, t);
    each!(t; 4; c => chord[c].mul_add(t, a[c]))
}

/// The largest rotation between neighbouring keys that [`slerp`] is fitted for, radians.
/// Builders insert keys into wider gaps.
pub(crate) const SLERP_MAX_ANGLE: f64 = std::f64::consts::PI / 3.0;

/// Below this rotation between all neighbouring keys (2.5 degrees) a block needs no correction: plain
/// normalised lerp stays within 1.7e-7 of slerp per component in exact arithmetic, 2.2e-7 in f32.
pub(crate) const NLERP_MAX_ANGLE: f64 = 2.5 * std::f64::consts::PI / 180.0;

/// The parameter at which normalised lerp meets slerp's parameter `t`; `e` is 1 − the keys' cosine.
///
/// Form after Kapoulkine's "onlerp" (t + t (t − ½)(t − 1) k); k is fitted here, as a minimax over rotations up to 60
/// degrees between keys: worst component error 1.4e-7 in exact arithmetic, 1.6e-7 in f32. [`lerp`] and
/// [`inverse_length`] make a rotation within 3e-7 per component of it.
#[inline(always)]
pub(crate) fn slerp<S: Simd, V: Floats<S>>(simd: S, e: V, t: V) -> V {
    let c = |v: f32| V::splat(simd, v);
    let h = t - c(0.5);
    let k = e
        * (e.mul_add(c(0.141_198_65), c(0.666_239_44))
            + h * h * e.mul_add(c(0.594_884_3), c(-0.002_797_831)));
    let s = t * h * (t - c(1.0));
    s.mul_add(k, t)
}

/// `1 / |lerp(a, b, t)|` for unit quaternions up to 60 degrees of rotation apart; `e` is 1 − their
/// cosine. The square of the length is 1 − 2t(1 − t)e. Relative error at most 2e-7.
#[inline(always)]
pub(crate) fn inverse_length<S: Simd, V: Floats<S>>(simd: S, e: V, t: V) -> V {
    inverse_root(simd, (e + e) * t.mul_add(-t, t))
}

/// `1 / √(1 − d)` for d up to 0.067, half way between keys 60 degrees apart: a minimax cubic. Relative error at most
/// 1.1e-7 in exact arithmetic, 1.8e-7 in f32.
#[inline(always)]
pub(crate) fn inverse_root<S: Simd, V: Floats<S>>(simd: S, d: V) -> V {
    let c = |v: f32| V::splat(simd, v);
    let p = d.mul_add(c(0.352_792_8), c(0.373_250_2));
    d.mul_add(d.mul_add(p, c(0.500_024)), c(1.0))
}

/// `w / √n` where n is close to 1: the squared length of a value between two quaternions of a lattice. A minimax
/// parabola; relative error at most 1.5e-6 for n from 0.95 (50 degrees between keys) to 1.002 in exact arithmetic,
/// 1.8e-6 in f32.
#[inline(always)]
pub(crate) fn weight_of_square<S: Simd, V: Floats<S>>(simd: S, n: V, w: V) -> V {
    let c = |v: f32| V::splat(simd, v) * w;
    n.mul_add(n.mul_add(c(0.398_679_1), c(-1.296_949_8)), c(1.898_271_2))
}

/// Cubic Hermite spline: value and out-tangent of a key, in-tangent and value of the next; tangents
/// per interval. Within 2e-7 of the sum of the four magnitudes.
#[inline(always)]
pub(crate) fn hermite<S: Simd, V: Floats<S>, const C: usize>(
    simd: S,
    [v0, m0, m1, v1]: [[V; C]; 4],
    t: V,
) -> [V; C] {
    let one = V::splat(simd, 1.0);
    let (t2, u) = (t * t, one - t);
    let h01 = t2 * (V::splat(simd, 3.0) - t - t);
    let h00 = one - h01;
    let h10 = t * u * u;
    let h11 = -(t2 * u);
    each!(V::splat(simd, 0.0); C; i => {
        v0[i].mul_add(h00, v1[i].mul_add(h01, m0[i].mul_add(h10, m1[i] * h11)))
    })
}

/// Replaces a rotation without a direction by the identity: a spline can pass through zero or exceed f32's range.
#[inline(always)]
pub(crate) fn guard<S: Simd, V: Floats<S>>(simd: S, q: [V; 4]) -> [V; 4] {
    let n = dot4(&q, &q);
    let low = n.simd_gt(V::splat(simd, f32::MIN_POSITIVE));
    let valid = low & n.simd_lt(V::splat(simd, f32::INFINITY));
    each!(V::splat(simd, 0.0); 4; c => {
        valid.select(q[c], V::splat(simd, if c == 3 { 1.0 } else { 0.0 }))
    })
}

/// `q / |q|`; exact square root and division.
#[inline(always)]
pub(crate) fn unit<S: Simd, V: Floats<S>>(simd: S, q: &[V; 4]) -> [V; 4] {
    let inverse = V::splat(simd, 1.0) / dot4(q, q).sqrt();
    each!(V::splat(simd, 0.0); 4; c => q[c] * inverse)
}

/// `sum + w q`, with `q` on the sum's hemisphere; `w` is not negative.
#[inline(always)]
pub(crate) fn align<S: Simd, V: Floats<S>>(simd: S, sum: &[V; 4], q: &[V; 4], w: V) -> [V; 4] {
    let w = w.copysign(dot4(sum, q));
    each!(V::splat(simd, 0.0); 4; c => q[c].mul_add(w, sum[c]))
}

/// Hamilton product `a × b` (xyzw). Within 1.6e-7 of the product of the lengths per component.
#[inline(always)]
pub(crate) fn product<S: Simd, V: Floats<S>>(a: &[V; 4], b: &[V; 4]) -> [V; 4] {
    let [ax, ay, az, aw] = *a;
    let [bx, by, bz, bw] = *b;
    [
        aw.mul_add(bx, ax.mul_add(bw, ay.mul_add(bz, -(az * by)))),
        aw.mul_add(by, ay.mul_add(bw, az.mul_add(bx, -(ax * bz)))),
        aw.mul_add(bz, az.mul_add(bw, ax.mul_add(by, -(ay * bx)))),
        aw.mul_add(bw, -(ax.mul_add(bx, ay.mul_add(by, az * bz)))),
    ]
}

/// `nlerp(1, d, w)` before normalisation, with `d` on the identity's hemisphere; a negative weight turns the other
/// way. Within 6e-8 per component for a unit `d` and weights in [−1, 1].
#[inline(always)]
pub(crate) fn turn<S: Simd, V: Floats<S>>(simd: S, d: &[V; 4], w: V) -> [V; 4] {
    let side = V::splat(simd, 1.0).copysign(d[3]);
    let size = w.abs();
    let (flip, turn) = (size * side, w * side);
    [d[0] * turn, d[1] * turn, d[2] * turn, d[3].mul_add(flip, V::splat(simd, 1.0) - size)]
}

#[cfg(test)]
mod tests;
