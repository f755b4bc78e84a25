//! The rules of blending, each once, for values of any width. The jobs apply them to rows of poses, the run of an
//! instance to registers.

use super::quat::{Floats, align, product, turn};
use crate::simd::each;
use fearless_simd::Simd;

/// The sum of weights below which the rest pose takes the remainder of a layer.
pub const REST_THRESHOLD: f32 = 1.0;

/// Sum of a layer's weights from which the rest pose has no share: rounding leaves the two weights of a crossfade
/// slightly below the threshold.
const FULL: f32 = REST_THRESHOLD - 1e-5;

/// How a sampled value enters the pose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blend {
    /// The value replaces the pose: it is the layer's only one.
    Set,
    /// The weighted value starts a sum.
    First,
    /// The weighted value is added to a sum.
    Join,
    /// The value is a difference, applied to the pose below.
    Add,
}

/// A layer's weights: the share of the rest pose, and the factor on the weights of its actions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shares {
    pub rest: f32,
    pub factor: f32,
}

/// The shares of a layer whose weights sum to `total`: below the threshold the rest pose takes the remainder, above
/// it they are divided by the sum.
#[inline(always)]
pub(crate) fn shares(total: f32) -> Shares {
    if total >= FULL {
        Shares { rest: 0.0, factor: REST_THRESHOLD / total }
    } else {
        Shares { rest: REST_THRESHOLD - total, factor: 1.0 }
    }
}

/// Adds `v × w` to a sum.
#[inline(always)]
pub(crate) fn join<S: Simd, V: Floats<S>, const C: usize>(
    simd: S,
    sum: &[V; C],
    v: &[V; C],
    w: V,
) -> [V; C] {
    each!(V::splat(simd, 0.0); C; c => v[c].mul_add(w, sum[c]))
}

/// `v × w`, the start of a sum.
#[inline(always)]
pub(crate) fn scaled<S: Simd, V: Floats<S>, const C: usize>(simd: S, v: &[V; C], w: V) -> [V; C] {
    each!(V::splat(simd, 0.0); C; c => v[c] * w)
}

/// Blends a translation, a scale or scalars over the value below, by a weight in [0, 1].
#[inline(always)]
pub(crate) fn cover<S: Simd, V: Floats<S>, const C: usize>(
    simd: S,
    below: &[V; C],
    above: &[V; C],
    w: V,
) -> [V; C] {
    let keep = V::splat(simd, 1.0) - w;
    each!(V::splat(simd, 0.0); C; c => above[c].mul_add(w, below[c] * keep))
}

/// Blends a rotation over the one below, by a weight in [0, 1]. Both are of length 1, the result is not.
#[inline(always)]
pub(crate) fn cover_rotation<S: Simd, V: Floats<S>>(
    simd: S,
    below: &[V; 4],
    above: &[V; 4],
    w: V,
) -> [V; 4] {
    let keep = V::splat(simd, 1.0) - w;
    align(simd, &scaled(simd, below, keep), above, w)
}

/// Applies a difference of scales: the ratio to the reference, by a weight in [−1, 1].
#[inline(always)]
pub(crate) fn add_scale<S: Simd, V: Floats<S>, const C: usize>(
    simd: S,
    below: &[V; C],
    ratio: &[V; C],
    w: V,
) -> [V; C] {
    let one = V::splat(simd, 1.0);
    each!(V::splat(simd, 0.0); C; c => below[c] * (ratio[c] - one).mul_add(w, one))
}

/// Applies a difference of rotations by a weight in [−1, 1]: `q · nlerp(1, d, w)`. `d` is of length 1, the result
/// is not.
#[inline(always)]
pub(crate) fn add_rotation<S: Simd, V: Floats<S>>(
    simd: S,
    below: &[V; 4],
    d: &[V; 4],
    w: V,
) -> [V; 4] {
    product(below, &turn(simd, d, w))
}
