//! The decay of offsets between two poses: a quintic that ends at rest, and offsets of rotations as half of an angle
//! about an axis.
//!
//! After D. Bollo, "Inertialization: High-Performance Animation Transitions in Gears of War", GDC 2018. An offset x0 > 0
//! with the velocity v0 decays over t1 seconds by the quintic with x(0) = x0, x'(0) = v0, x''(0) = a0 and
//! x(t1) = x'(t1) = x''(t1) = 0, where v0 > 0 counts as 0, t1 is at most −5·x0/v0, and
//! a0 = max(0, (−8·v0·t1 − 20·x0)/t1²). With s = t/t1, u = 1 − s and r = v0·t1/x0, which lies in [−5, 0]:
//!
//! ```text
//! x(t) = x0·u³·(1 + s·((3 + r) + s·c))      c = 6 + 3·r + a0·t1²/(2·x0) = max(6 + 3·r, −4 − r)
//! ```
//!
//! It neither passes 0 nor leaves [0, x0].

use super::quat::{Floats, product};
use crate::simd::each;
use fearless_simd::{Simd, prelude::*};

/// The share of an offset that is left after `seconds` of a fade, in [0, 1]. `rate` is −v0/x0 per lane, at least 0, and
/// `inverse` is 1 over the seconds of the whole fade.
#[inline(always)]
pub(crate) fn decay<S: Simd, V: Floats<S>>(simd: S, rate: V, (seconds, inverse): (V, V)) -> V {
    let c = |v: f32| V::splat(simd, v);
    // A rate above 5 · inverse shortens the fade.
    let inverse = inverse.max(rate * c(0.2));
    let r = -(rate / inverse);
    let s = (seconds * inverse).min(c(1.0));
    let u = c(1.0) - s;
    let curve = r.mul_add(c(3.0), c(6.0)).max(-(r + c(4.0)));
    let sum = s.mul_add(s.mul_add(curve, r + c(3.0)), c(1.0));
    u * u * u * sum
}

/// The rotation by the angle 2·|d|·`share` about `d`, for |d| ≤ π/2. Abramowitz and Stegun, Handbook of Mathematical
/// Functions, 4.3.97 and 4.3.99: within 1e-8 and rounding.
#[inline(always)]
pub(crate) fn turned<S: Simd, V: Floats<S>>(simd: S, d: &[V; 3], share: V) -> [V; 4] {
    let c = |v: f32| V::splat(simd, v);
    let half = each!(share; 3; i => d[i] * share);
    let x = half[0].mul_add(half[0], half[1].mul_add(half[1], half[2] * half[2]));
    let sum = |[a, b, c3, d, e]: [f32; 5]| {
        let high = x.mul_add(x.mul_add(c(e), c(d)), c(c3));
        x * x.mul_add(x.mul_add(high, c(b)), c(a))
    };
    let sin = c(1.0) + sum([-0.166_666_67, 0.008_333_332, -0.000_198_409, 2.752_6e-6, -2.39e-8]);
    let cos = c(1.0) + sum([-0.5, 0.041_666_64, -0.001_388_839_7, 2.476_09e-5, -2.605e-7]);
    [half[0] * sin, half[1] * sin, half[2] * sin, cos]
}

/// The angle in [0, π/2] of two numbers that are not negative: y/x is its tangent. Abramowitz and Stegun, 4.4.49: within
/// 2e-8 and rounding.
#[inline(always)]
fn angle<S: Simd, V: Floats<S>>(simd: S, y: V, x: V) -> V {
    let c = |v: f32| V::splat(simd, v);
    let t = y.min(x) / y.max(x).max(c(f32::MIN_POSITIVE));
    let t2 = t * t;
    let mut sum = c(0.002_866_225_7);
    let terms =
        [-0.016_165_737, 0.042_909_614, -0.075_289_64, 0.106_562_64, -0.142_089, 0.199_935_51];
    let mut i = 0;
    while i < terms.len() {
        sum = sum.mul_add(t2, c(terms[i]));
        i += 1;
    }
    sum = sum.mul_add(t2, c(-0.333_331_45));
    let low = (t * t2).mul_add(sum, t);
    y.simd_gt(x).select(c(std::f32::consts::FRAC_PI_2) - low, low)
}

/// Half of the rotation from `to` to `shown` as an angle about an axis, in the frame of `to`, and the rate at which it
/// decays: its velocity over its length, negated, at least 0. `before` is the same rotation `inverse` of a second ago. A
/// rotation of less than [`SAME`] counts as none.
#[inline(always)]
pub(crate) fn rotation_offset<S: Simd, V: Floats<S>>(
    simd: S,
    now: &[V; 4],
    before: &[V; 4],
    inverse: V,
) -> ([V; 3], V) {
    let zero = V::splat(simd, 0.0);
    let side = V::splat(simd, 1.0).copysign(now[3]);
    let [x, y, z, w] = each!(zero; 4; i => now[i] * side);
    let sin = x.mul_add(x, y.mul_add(y, z * z)).sqrt();
    let half = angle(simd, sin, w);
    let differs = sin.simd_gt(V::splat(simd, SAME));
    let over = V::splat(simd, 1.0) / sin.max(V::splat(simd, f32::MIN_POSITIVE));
    let axis = [x * over, y * over, z * over];
    // The twist of `before` about the axis, and the change from it to the present, as products of complex numbers.
    let along = axis[0].mul_add(before[0], axis[1].mul_add(before[1], axis[2] * before[2]));
    let re = w.mul_add(before[3], sin * along);
    let im = sin.mul_add(before[3], -(w * along)) * V::splat(simd, 1.0).copysign(re);
    let moved = angle(simd, im.abs(), re.abs()).copysign(im);
    let rate = (-(moved * inverse) / half.max(V::splat(simd, SAME))).max(zero);
    let d = each!(zero; 3; i => differs.select(axis[i] * half, zero));
    (d, differs.select(rate, zero))
}

/// An offset of a translation, a scale or scalars, and the rate at which it decays, as [`rotation_offset`]: by the
/// velocity along its direction. `size` is the value against which an offset is negligible.
#[inline(always)]
pub(crate) fn vector_offset<S: Simd, V: Floats<S>, const C: usize>(
    simd: S,
    (now, before): (&[V; C], &[V; C]),
    size: &[V; C],
    inverse: V,
) -> ([V; C], V) {
    let zero = V::splat(simd, 0.0);
    let (mut square, mut along, mut of_size) = (zero, zero, zero);
    let mut i = 0;
    while i < C {
        square = now[i].mul_add(now[i], square);
        along = (now[i] - before[i]).mul_add(now[i], along);
        of_size = size[i].mul_add(size[i], of_size);
        i += 1;
    }
    let least = (of_size * V::splat(simd, SAME * SAME)).max(V::splat(simd, f32::MIN_POSITIVE));
    let differs = square.simd_gt(least);
    let rate = (-(along * inverse) / square.max(least)).max(zero);
    (each!(zero; C; i => differs.select(now[i], zero)), differs.select(rate, zero))
}

/// Half an angle, and a share of a vector's length, below which two values count as equal.
const SAME: f32 = 1e-6;

/// `a⁻¹ · b` of rotations of length 1.
#[inline(always)]
pub(crate) fn between<S: Simd, V: Floats<S>>(a: &[V; 4], b: &[V; 4]) -> [V; 4] {
    product(&[-a[0], -a[1], -a[2], a[3]], b)
}

/// The rotation as far before `q` as `later` is behind it: `q · later⁻¹ · q`.
#[inline(always)]
pub(crate) fn mirrored<S: Simd, V: Floats<S>>(q: &[V; 4], later: &[V; 4]) -> [V; 4] {
    let back = between(later, q);
    product(q, &back)
}

#[cfg(test)]
mod tests;
