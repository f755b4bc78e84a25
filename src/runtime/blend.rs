//! Blending: the actions of one layer, one layer over another, additive layers.
//!
//! These are the public jobs and the rules of instances with overrides. The fused kernel has the same rules
//! in `fused/mix.rs`; `tests/palette_hash/plans.rs` compares the two.

use super::channels;
use super::error::{JobError, exact, in_range, same_shape};
use super::quat::{align, product, turn, unit};
use super::vector::{lanes, load, store, store_all};
use crate::math::Row;
use crate::simd::{Kernel, Lanes, SimdLevel, dispatch, each};
use crate::skeleton::{JointMask, Pose};
use fearless_simd::{f32x16, prelude::*};

/// The sum of weights up to which a layer's actions are completed by the rest pose.
pub const REST_THRESHOLD: f32 = 1.0;

/// The largest weight of an action: far beyond use, and its sums and squares stay finite in f32.
pub const MAX_ACTION_WEIGHT: f32 = 1.0e6;

/// Blends the actions of one layer.
///
/// Weights are ≥ 0. If they sum to less than 1, the rest pose takes the remainder; if to more, they
/// are divided by the sum. Translation, scale and scalars: weighted sums. Rotations: each aligned to
/// the hemisphere of the running sum, in order, the rest pose last; summed and normalised.
#[derive(Debug)]
pub struct BlendJob<'a> {
    /// Poses and their weights, in action order; rotations normalised.
    pub actions: &'a [(&'a Pose, f32)],
    /// The skeleton's rest pose.
    pub rest: &'a Pose,
    /// The result.
    pub output: &'a mut Pose,
}

impl BlendJob<'_> {
    const NAME: &'static str = "BlendJob";

    /// Checks shapes and weights.
    ///
    /// # Errors
    /// If a pose has another shape than `rest`, or a weight is negative or not finite.
    pub fn validate(&self) -> Result<(), JobError> {
        let needed = self.rest.shape();
        for (pose, weight) in self.actions {
            same_shape(Self::NAME, ACTION_NAMES, pose.shape(), needed)?;
            in_range(Self::NAME, "weight", *weight, 0.0, MAX_ACTION_WEIGHT)?;
        }
        same_shape(Self::NAME, OUTPUT_NAMES, self.output.shape(), needed)
    }

    /// Validates, then blends.
    ///
    /// # Errors
    /// Those of [`BlendJob::validate`].
    pub fn run(self) -> Result<(), JobError> {
        self.validate()?;
        dispatch(SimdLevel::current(), BlendKernel(self));
        Ok(())
    }
}

/// Blends one layer over what lies below it: `below` towards `above` by weight × mask.
#[derive(Debug)]
pub struct LayerJob<'a> {
    /// The pose below, and the result.
    pub pose: &'a mut Pose,
    /// The layer's pose.
    pub above: &'a Pose,
    /// The layer's weight, in [0, 1]; scalars blend by it alone.
    pub weight: f32,
    /// A weight per joint; none counts as 1 everywhere.
    pub mask: Option<&'a JointMask>,
}

impl LayerJob<'_> {
    const NAME: &'static str = "LayerJob";

    /// Checks shapes, weight and mask.
    ///
    /// # Errors
    /// If the poses or the mask differ in shape, or the weight is outside [0, 1].
    pub fn validate(&self) -> Result<(), JobError> {
        same_shape(
            Self::NAME,
            ABOVE_NAMES,
            self.above.shape(),
            self.pose.shape(),
        )?;
        in_range(Self::NAME, "weight", self.weight, 0.0, 1.0)?;
        check_mask(Self::NAME, self.mask, self.pose)
    }

    /// Validates, then blends.
    ///
    /// # Errors
    /// Those of [`LayerJob::validate`].
    pub fn run(self) -> Result<(), JobError> {
        self.validate()?;
        dispatch(SimdLevel::current(), LayerKernel(self));
        Ok(())
    }
}

/// Adds an additive pose: rotation q · nlerp(1, d, w), translation t + w · Δt, scale s · lerp(1, r, w),
/// scalar v + w · Δv, with w = weight × mask. A negative weight turns the other way (d conjugated).
#[derive(Debug)]
pub struct AdditiveJob<'a> {
    /// The pose below, and the result.
    pub pose: &'a mut Pose,
    /// The additive pose (sampled from an additive clip).
    pub delta: &'a Pose,
    /// The layer's weight, in [−1, 1].
    pub weight: f32,
    /// A weight per joint; none counts as 1 everywhere.
    pub mask: Option<&'a JointMask>,
}

impl AdditiveJob<'_> {
    const NAME: &'static str = "AdditiveJob";

    /// Checks shapes, weight and mask.
    ///
    /// # Errors
    /// If the poses or the mask differ in shape, or the weight is outside [−1, 1].
    pub fn validate(&self) -> Result<(), JobError> {
        same_shape(
            Self::NAME,
            DELTA_NAMES,
            self.delta.shape(),
            self.pose.shape(),
        )?;
        in_range(Self::NAME, "weight", self.weight, -1.0, 1.0)?;
        check_mask(Self::NAME, self.mask, self.pose)
    }

    /// Validates, then adds.
    ///
    /// # Errors
    /// Those of [`AdditiveJob::validate`].
    pub fn run(self) -> Result<(), JobError> {
        self.validate()?;
        dispatch(SimdLevel::current(), AdditiveKernel(self));
        Ok(())
    }
}

const ACTION_NAMES: [&str; 4] = [
    "action.translation",
    "action.rotation",
    "action.scale",
    "action.scalars",
];
const OUTPUT_NAMES: [&str; 4] = [
    "output.translation",
    "output.rotation",
    "output.scale",
    "output.scalars",
];
const ABOVE_NAMES: [&str; 4] = [
    "above.translation",
    "above.rotation",
    "above.scale",
    "above.scalars",
];
const DELTA_NAMES: [&str; 4] = [
    "delta.translation",
    "delta.rotation",
    "delta.scale",
    "delta.scalars",
];

fn check_mask(job: &'static str, mask: Option<&JointMask>, pose: &Pose) -> Result<(), JobError> {
    mask.map_or(Ok(()), |m| {
        exact(job, "mask", m.rows().len(), pose.blocks())
    })
}

struct BlendKernel<'a>(BlendJob<'a>);

impl Kernel for BlendKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) {
        let BlendJob {
            actions,
            rest,
            output,
        } = self.0;
        let total: f32 = actions.iter().map(|a| a.1).sum();
        let mut first = true;
        for &(pose, weight) in actions {
            if weight > 0.0 {
                accumulate(simd, output, pose, weight, first);
                first = false;
            }
        }
        finish_layer(simd, output, rest, total, first);
    }
}

/// Adds a weighted pose to the running sum; the first one starts it.
#[inline(always)]
pub(crate) fn accumulate<S: Simd>(simd: S, sum: &mut Pose, pose: &Pose, weight: f32, first: bool) {
    if !first {
        channels::align(sum, pose);
    }
    let w = f32x16::splat(simd, weight);
    for (sum, rows) in sum.translation.iter_mut().zip(&pose.translation) {
        add_rows(simd, sum, rows, w, first);
    }
    for (sum, rows) in sum.scale.iter_mut().zip(&pose.scale) {
        add_rows(simd, sum, rows, w, first);
    }
    for (sum, row) in sum.scalars.iter_mut().zip(&pose.scalars) {
        add_rows(
            simd,
            std::array::from_mut(sum),
            std::array::from_ref(row),
            w,
            first,
        );
    }
    for (sum, rows) in sum.rotation.iter_mut().zip(&pose.rotation) {
        let q = each!(f32x16::splat(simd, 0.0); 4; c => load(simd, &rows[c]));
        let mut base = [f32x16::splat(simd, 0.0); 4];
        if !first {
            base = each!(f32x16::splat(simd, 0.0); 4; c => load(simd, &sum[c]));
        }
        store_all(align(simd, &base, &q, w), sum);
    }
}

#[inline(always)]
fn add_rows<S: Simd, const C: usize>(
    simd: S,
    sum: &mut [Row; C],
    rows: &[Row; C],
    w: f32x16<S>,
    first: bool,
) {
    for c in 0..C {
        let v = load(simd, &rows[c]);
        let v = if first {
            v * w
        } else {
            v.mul_add(w, load(simd, &sum[c]))
        };
        store(v, &mut sum[c]);
    }
}

/// Completes a layer's sum: the rest pose takes what is missing to 1, or the sum is divided by the
/// total; rotations are normalised. `empty` says that nothing was accumulated.
#[inline(always)]
pub(crate) fn finish_layer<S: Simd>(simd: S, sum: &mut Pose, rest: &Pose, total: f32, empty: bool) {
    if empty {
        sum.copy_from(rest);
        return;
    }
    if total < REST_THRESHOLD {
        accumulate(simd, sum, rest, REST_THRESHOLD - total, false);
    } else if total > REST_THRESHOLD {
        let inverse = f32x16::splat(simd, REST_THRESHOLD / total);
        let vectors = sum.translation.iter_mut().chain(&mut sum.scale).flatten();
        for row in vectors.chain(&mut sum.scalars) {
            store(load(simd, row) * inverse, row);
        }
    }
    for rows in &mut sum.rotation {
        let q = each!(f32x16::splat(simd, 0.0); 4; c => load(simd, &rows[c]));
        store_all(unit(simd, &q), rows);
    }
    channels::normalize(sum);
}

struct LayerKernel<'a>(LayerJob<'a>);

impl Kernel for LayerKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) {
        let LayerJob {
            pose,
            above,
            weight,
            mask,
        } = self.0;
        blend_layer(simd, pose, above, weight, mask);
    }
}

/// Weight × mask of a block.
#[inline(always)]
fn lane_weights<S: Simd>(
    simd: S,
    weight: f32,
    mask: Option<&JointMask>,
    block: usize,
) -> f32x16<S> {
    let w = f32x16::splat(simd, weight);
    mask.map_or(w, |m| load(simd, &m.rows()[block]) * w)
}

#[inline(always)]
pub(crate) fn blend_layer<S: Simd>(
    simd: S,
    pose: &mut Pose,
    above: &Pose,
    weight: f32,
    mask: Option<&JointMask>,
) {
    for b in 0..pose.blocks() {
        let w = lane_weights(simd, weight, mask, b);
        let keep = f32x16::splat(simd, 1.0) - w;
        for (below, above) in pose.translation[b]
            .iter_mut()
            .chain(&mut pose.scale[b])
            .zip(above.translation[b].iter().chain(&above.scale[b]))
        {
            let v = load(simd, above).mul_add(w, load(simd, below) * keep);
            store(v, below);
        }
        let q0 = each!(f32x16::splat(simd, 0.0); 4; c => load(simd, &pose.rotation[b][c]));
        let q1 = each!(f32x16::splat(simd, 0.0); 4; c => load(simd, &above.rotation[b][c]));
        let kept = each!(f32x16::splat(simd, 0.0); 4; c => q0[c] * keep);
        let q = align(simd, &kept, &q1, w);
        store_all(unit(simd, &q), &mut pose.rotation[b]);
    }
    channels::align(pose, above);
    let w = f32x16::splat(simd, weight);
    let keep = f32x16::splat(simd, 1.0) - w;
    for (below, above) in pose.scalars.iter_mut().zip(&above.scalars) {
        store(
            load(simd, above).mul_add(w, load(simd, below) * keep),
            below,
        );
    }
    channels::normalize(pose);
}

struct AdditiveKernel<'a>(AdditiveJob<'a>);

impl Kernel for AdditiveKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) {
        let AdditiveJob {
            pose,
            delta,
            weight,
            mask,
        } = self.0;
        add_layer(simd, pose, delta, weight, mask);
    }
}

#[inline(always)]
pub(crate) fn add_layer<S: Simd>(
    simd: S,
    pose: &mut Pose,
    delta: &Pose,
    weight: f32,
    mask: Option<&JointMask>,
) {
    let one = f32x16::splat(simd, 1.0);
    for b in 0..pose.blocks() {
        let w = lane_weights(simd, weight, mask, b);
        for (below, delta) in pose.translation[b].iter_mut().zip(&delta.translation[b]) {
            store(load(simd, delta).mul_add(w, load(simd, below)), below);
        }
        for (below, ratio) in pose.scale[b].iter_mut().zip(&delta.scale[b]) {
            let factor = (load(simd, ratio) - one).mul_add(w, one);
            store(load(simd, below) * factor, below);
        }
        let q = each!(f32x16::splat(simd, 0.0); 4; c => load(simd, &pose.rotation[b][c]));
        let d = each!(f32x16::splat(simd, 0.0); 4; c => load(simd, &delta.rotation[b][c]));
        let step = unit(simd, &turn(simd, &d, w));
        let out = unit(simd, &product(&q, &step));
        store_all(out, &mut pose.rotation[b]);
    }
    for b in 0..pose.scalar_blocks() {
        let turning = channels::lanes_of(pose, b);
        let below = load(simd, &pose.scalars[b]);
        let w = lanes(simd, turning).select(f32x16::splat(simd, 0.0), f32x16::splat(simd, weight));
        let sum = load(simd, &delta.scalars[b]).mul_add(w, below);
        store(sum, &mut pose.scalars[b]);
    }
    channels::add(pose, delta, weight);
}

#[cfg(test)]
mod tests;
