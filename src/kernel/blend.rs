//! The rules of blending, each once: for values of any width. The jobs apply them to the rows of poses, the run of
//! an instance to its registers.

use super::quat::{Floats, add_turn, align, unit};
use crate::simd::each;
use fearless_simd::Simd;

/// The sum of weights up to which a layer's actions are completed by the rest pose.
pub const REST_THRESHOLD: f32 = 1.0;

/// If the weights of a layer sum to this or more, the rest pose has no share: the two weights of a crossfade sum to
/// the threshold except for the rounding of their steps.
const FULL: f32 = REST_THRESHOLD - 1e-5;

/// What becomes of a sampled value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blend {
    /// It is the layer's only one.
    Set,
    /// It starts a weighted sum.
    First,
    /// It joins one.
    Join,
    /// It is a difference to the pose below.
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
        Shares {
            rest: 0.0,
            factor: REST_THRESHOLD / total,
        }
    } else {
        Shares {
            rest: REST_THRESHOLD - total,
            factor: 1.0,
        }
    }
}

/// `v × w` joins a sum.
#[inline(always)]
pub(crate) fn join<S: Simd, V: Floats<S>, const C: usize>(
    simd: S,
    sum: &[V; C],
    v: &[V; C],
    w: V,
) -> [V; C] {
    each!(V::splat(simd, 0.0); C; c => v[c].mul_add(w, sum[c]))
}

/// `v × w` starts a sum.
#[inline(always)]
pub(crate) fn scaled<S: Simd, V: Floats<S>, const C: usize>(simd: S, v: &[V; C], w: V) -> [V; C] {
    each!(V::splat(simd, 0.0); C; c => v[c] * w)
}

/// Lays a translation, a scale or scalars over those below, by a weight in [0, 1].
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

/// Lays a rotation over the one below, by a weight in [0, 1]. Both are of length 1, the result is not.
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

/// Adds a difference of scales: the ratio to the reference, by a weight in [−1, 1].
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

/// Adds a difference of rotations, by a weight in [−1, 1]: `q · nlerp(1, d, w)`. `d` is of length 1, the result
/// is not.
#[inline(always)]
pub(crate) fn add_rotation<S: Simd, V: Floats<S>>(
    simd: S,
    below: &[V; 4],
    d: &[V; 4],
    w: V,
) -> [V; 4] {
    add_turn(simd, below, d, w)
}

/// A rotation of length 1, at the end of a blend.
#[inline(always)]
pub(crate) fn finish_rotation<S: Simd, V: Floats<S>>(simd: S, q: &[V; 4]) -> [V; 4] {
    unit(simd, q)
}
