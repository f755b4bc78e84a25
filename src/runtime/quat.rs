//! The arithmetic of sampling and blending, per lane, for vectors of any width: what the jobs and
//! the fused run share.

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

/// `a + t (b − a)`, exact at both ends.
#[inline(always)]
pub(crate) fn lerp<S: Simd, V: Floats<S>, const C: usize>(
    simd: S,
    a: &[V; C],
    b: &[V; C],
    t: V,
) -> [V; C] {
    each!(V::splat(simd, 0.0); C; c => b[c].mul_add(t, a[c].mul_add(-t, a[c])))
}

/// `a + t (b − a)` of 16-bit integers, whose difference is exact.
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

/// As [`packed_lerp`] of quaternions in steps of a lattice, its parameter corrected as [`slerp`] does, by
/// two terms in e: what keys of 16 bits are off by is more than the 1.3e-6 radians that it leaves at 30
/// degrees between keys (3.9e-5 at 60). e is half the square of the way, so no key's value is needed.
#[inline(always)]
pub(crate) fn packed_slerp<S: Simd, V: Floats<S>>(
    simd: S,
    a: &[V; 4],
    b: &[V; 4],
    step: V,
    t: V,
) -> [V; 4] {
    let c = |v: f32| V::splat(simd, v);
    let way = each!(t; 4; c => b[c] - a[c]);
    let square = dot4(&way, &way) * (step * step);
    let k = square * square.mul_add(c(0.25 * 0.21), c(0.5 * 0.6665));
    let t = (t * (t - c(0.5)) * (t - c(1.0))).mul_add(k, t);
    each!(t; 4; c => way[c].mul_add(t, a[c]))
}

/// The largest rotation between neighbouring keys that [`slerp`] is fitted for, radians.
/// Builders insert keys into wider gaps.
pub(crate) const SLERP_MAX_ANGLE: f64 = std::f64::consts::PI / 3.0;

/// Below this rotation between all neighbouring keys a block needs no correction: plain normalised
/// lerp stays within 1.7e-7 of slerp, per component (2.5 degrees; observed 1.67e-7).
pub(crate) const NLERP_MAX_ANGLE: f64 = 2.5 * std::f64::consts::PI / 180.0;

/// The parameter at which normalised lerp meets slerp's parameter `t`; `e` is 1 − the keys' cosine.
///
/// Form after Kapoulkine's "onlerp" (t + t (t − ½)(t − 1) k); k is a minimax fit of our own over
/// rotations up to 60 degrees between keys: worst component error 1.4e-7 in exact arithmetic.
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
/// cosine. The square of the length is 1 − 2t(1 − t)e.
#[inline(always)]
pub(crate) fn inverse_length<S: Simd, V: Floats<S>>(simd: S, e: V, t: V) -> V {
    inverse_root(simd, (e + e) * t.mul_add(-t, t))
}

/// `1 / √(1 − d)` for d up to 0.067, half way between keys 60 degrees apart: a minimax cubic of our own, within
/// 1.1e-7.
#[inline(always)]
pub(crate) fn inverse_root<S: Simd, V: Floats<S>>(simd: S, d: V) -> V {
    let c = |v: f32| V::splat(simd, v);
    let p = d.mul_add(c(0.352_792_8), c(0.373_250_2));
    d.mul_add(d.mul_add(p, c(0.500_024)), c(1.0))
}

/// `w / √n` where n is close to 1, the square of what lies between two quaternions of a lattice: a minimax
/// parabola of our own, within 1.5e-6 of the whole for n from 0.95 (50 degrees between keys) to 1.002.
#[inline(always)]
pub(crate) fn weight_of_square<S: Simd, V: Floats<S>>(simd: S, n: V, w: V) -> V {
    let c = |v: f32| V::splat(simd, v) * w;
    n.mul_add(n.mul_add(c(0.398_679_1), c(-1.296_949_8)), c(1.898_271_2))
}

/// Cubic Hermite spline: value and out-tangent of a key, in-tangent and value of the next; tangents
/// per interval.
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

/// Replaces what a spline through zero, or past f32's range, left without a direction by the
/// identity.
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

/// `sum + w q`, with `q` on the sum's side; `w` is not negative.
#[inline(always)]
pub(crate) fn align<S: Simd, V: Floats<S>>(simd: S, sum: &[V; 4], q: &[V; 4], w: V) -> [V; 4] {
    let w = w.copysign(dot4(sum, q));
    each!(V::splat(simd, 0.0); 4; c => q[c].mul_add(w, sum[c]))
}

/// Hamilton product `a × b` (xyzw).
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

/// `nlerp(1, d, w)` before it is normalised, on d's near side of the identity; a negative weight
/// turns the other way.
#[inline(always)]
pub(crate) fn turn<S: Simd, V: Floats<S>>(simd: S, d: &[V; 4], w: V) -> [V; 4] {
    let side = V::splat(simd, 1.0).copysign(d[3]);
    let size = w.abs();
    let (flip, turn) = (size * side, w * side);
    [
        d[0] * turn,
        d[1] * turn,
        d[2] * turn,
        d[3].mul_add(flip, V::splat(simd, 1.0) - size),
    ]
}

/// `q · nlerp(1, d, w)`, of any length.
#[inline(always)]
pub(crate) fn add_turn<S: Simd, V: Floats<S>>(simd: S, q: &[V; 4], d: &[V; 4], w: V) -> [V; 4] {
    product(q, &turn(simd, d, w))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Kernel, Lanes, SimdLevel, dispatch};

    /// Applies a function to up to 16 numbers at some level.
    struct Each<'a, F>(&'a [f32], F);

    /// A function of one vector, at any level.
    trait OfVector {
        fn of<S: Simd, V: Floats<S>>(&self, simd: S, v: V) -> V;
    }

    impl<F: OfVector> Kernel for Each<'_, F> {
        type Output = Vec<f32>;
        #[inline(always)]
        fn run<S: Lanes>(self, simd: S) -> Vec<f32> {
            let mut out = Vec::new();
            for &v in self.0 {
                let v = <S::f32s as SimdBase<S>>::splat(simd, v);
                out.push(self.1.of(simd, v).as_slice()[0]);
            }
            out
        }
    }

    fn grid(from: f64, to: f64) -> Vec<f32> {
        let n = 20_000;
        let at = |i: i32| (from + (to - from) * f64::from(i) / f64::from(n)) as f32;
        (0..=n).map(at).collect()
    }

    /// The largest error relative to an exact value.
    fn worst(function: impl OfVector + Copy, values: &[f32], exact: impl Fn(f64) -> f64) -> f64 {
        let mut worst = 0.0f64;
        for level in SimdLevel::supported() {
            let found = dispatch(level, Each(values, function));
            assert_eq!(found.len(), values.len());
            for (&v, found) in values.iter().zip(found) {
                let exact = exact(f64::from(v));
                worst = worst.max(((f64::from(found) - exact) / exact).abs());
            }
        }
        worst
    }

    #[derive(Clone, Copy)]
    struct WeightOfSquare(f32);

    impl OfVector for WeightOfSquare {
        #[inline(always)]
        fn of<S: Simd, V: Floats<S>>(&self, simd: S, n: V) -> V {
            weight_of_square(simd, n, V::splat(simd, self.0))
        }
    }

    #[derive(Clone, Copy)]
    struct InverseRoot;

    impl OfVector for InverseRoot {
        #[inline(always)]
        fn of<S: Simd, V: Floats<S>>(&self, simd: S, d: V) -> V {
            inverse_root(simd, d)
        }
    }

    #[derive(Clone, Copy)]
    struct InverseLength(f32);

    impl OfVector for InverseLength {
        #[inline(always)]
        fn of<S: Simd, V: Floats<S>>(&self, simd: S, e: V) -> V {
            inverse_length(simd, e, V::splat(simd, self.0))
        }
    }

    #[derive(Clone, Copy)]
    struct Slerp(f32);

    impl OfVector for Slerp {
        #[inline(always)]
        fn of<S: Simd, V: Floats<S>>(&self, simd: S, e: V) -> V {
            slerp(simd, e, V::splat(simd, self.0))
        }
    }

    #[derive(Clone, Copy)]
    struct PackedSlerp {
        /// x and w of the second key in steps; the first is the identity.
        key: [f32; 2],
        /// Steps of 1.
        one: f32,
        t: f32,
        wanted: usize,
    }

    impl OfVector for PackedSlerp {
        #[inline(always)]
        fn of<S: Simd, V: Floats<S>>(&self, simd: S, step: V) -> V {
            let c = |v: f32| V::splat(simd, v);
            let a = [c(0.0), c(0.0), c(0.0), c(self.one)];
            let b = [c(self.key[0]), c(0.0), c(0.0), c(self.key[1])];
            packed_slerp(simd, &a, &b, step, c(self.t))[self.wanted]
        }
    }

    /// Half the angle at the corrected parameter: half of what two terms leave, and rounding.
    #[test]
    fn packed_keys_meet_slerp() {
        let one = 32_768.0f32;
        for (angle, most) in [(10.0, 2e-7), (30.0, 1e-6), (60.0, 2.2e-5)] {
            let half = 0.5 * f64::to_radians(angle);
            let key = [half.sin(), half.cos()].map(|v| (v * f64::from(one)) as f32);
            for t in [0.1f32, 0.2, 0.3, 0.7, 0.8, 0.9] {
                let wanted = f64::from(t) * half;
                for level in SimdLevel::supported() {
                    let component = |wanted| {
                        let of = PackedSlerp {
                            key,
                            one,
                            t,
                            wanted,
                        };
                        f64::from(dispatch(level, Each(&[1.0 / one], of))[0])
                    };
                    let error = (component(0).atan2(component(3)) - wanted).abs();
                    assert!(error < most, "{angle} degrees at {t}: off by {error:e}");
                }
            }
        }
    }

    /// What a weight of one third is, and rounding beside the fit's own error.
    #[test]
    fn the_weight_of_a_square_is_the_inverse_root() {
        let squares = grid(0.95, 1.002);
        for w in [1.0, 1.0f32 / 3.0, 0.003] {
            let exact = |n: f64| f64::from(w) / n.sqrt();
            let error = worst(WeightOfSquare(w), &squares, exact);
            assert!(error < 1.8e-6, "weight {w}: off by {error:e} of it");
        }
    }

    #[test]
    fn inverse_roots_are_within_what_they_say() {
        let exact = |d: f64| 1.0 / (1.0 - d).sqrt();
        let error = worst(InverseRoot, &grid(0.0, 0.067), exact);
        assert!(error < 2.5e-7, "off by {error:e}");
        // Of the length of a lerp between keys up to 60 degrees of rotation apart.
        let most = 1.0 - (0.5 * SLERP_MAX_ANGLE).cos();
        for t in [0.0f32, 0.125, 0.5, 0.8, 1.0] {
            let at = f64::from(t);
            let exact = |e: f64| 1.0 / (1.0 - 2.0 * at * (1.0 - at) * e).sqrt();
            let error = worst(InverseLength(t), &grid(0.0, most), exact);
            assert!(error < 4e-7, "at {t}: off by {error:e}");
        }
    }

    /// Where normalised lerp shows what slerp does: the angle at the corrected parameter.
    #[test]
    fn the_corrected_parameter_meets_slerp() {
        for angle in [1.0, 10.0, 30.0, 45.0, 60.0] {
            // Between quaternions lies half of the rotation.
            let half = 0.5 * f64::to_radians(angle);
            let e = [(1.0 - half.cos()) as f32];
            for t in [0.05f32, 0.25, 0.4, 0.6, 0.75, 0.95] {
                let exact = f64::from(t);
                for level in SimdLevel::supported() {
                    let s = f64::from(dispatch(level, Each(&e, Slerp(t)))[0]);
                    let (x, y) = (1.0 - s + s * half.cos(), s * half.sin());
                    let error = (y.atan2(x) - exact * half).abs();
                    assert!(
                        error < 3e-7,
                        "{angle} degrees at {t}: off by {error:e} radians"
                    );
                }
            }
        }
    }
}
