//! Blending: the actions of one layer, one layer over another, additive layers. The rules are in `evaluate::blend`.

use super::channels;
use super::check::{JobError, exact, in_range, parts, same_shape};
use crate::clip::ClipKind;
use crate::evaluate::blend::{
    add_rotation, add_scale, cover, cover_rotation, join, scaled, shares,
};
use crate::evaluate::quat::{align, unit};
use crate::math::{LANES, Row};
use crate::simd::{Kernel, Lanes, SimdLevel, dispatch, each};
use crate::skeleton::{JointMask, Pose};
use fearless_simd::prelude::*;

/// Limit on the weight of an action: sums and squares of weights within it stay finite in f32.
pub const MAX_ACTION_WEIGHT: f32 = 1.0e6;

/// Blends the actions of one layer.
///
/// Weights are ≥ 0. If they sum to less than 1, the rest pose takes the remainder; if they sum to more, they are
/// divided by the sum. Translations, scales and scalars become weighted sums. Rotations are summed in order, the rest
/// pose last, each aligned to the hemisphere of the running sum; the sum is normalised.
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
    /// Checks the inputs, then blends.
    ///
    /// # Errors
    /// If a pose has another shape than `rest`, or a weight is negative or not finite.
    pub fn run(self) -> Result<(), JobError> {
        self.run_at(SimdLevel::current())
    }

    fn run_at(self, level: SimdLevel) -> Result<(), JobError> {
        const NAME: &str = "BlendJob";
        let needed = self.rest.shape();
        for (pose, weight) in self.actions {
            same_shape(NAME, parts!("action"), pose.shape(), needed)?;
            in_range(NAME, "weight", *weight, 0.0, MAX_ACTION_WEIGHT)?;
        }
        same_shape(NAME, parts!("output"), self.output.shape(), needed)?;
        dispatch(level, self);
        Ok(())
    }
}

/// Blends a layer over what lies below it, or adds an additive one, with w = weight × mask.
///
/// A full layer blends `pose` towards `layer` by w. An additive one adds it: rotation q · nlerp(1, d, w), translation
/// t + w · Δt, scale s · lerp(1, r, w), scalar v + w · Δv. A negative weight rotates the other way (d is conjugated).
#[derive(Debug)]
pub struct LayerJob<'a> {
    /// The pose below, and the result.
    pub pose: &'a mut Pose,
    /// The layer's pose: blended from full clips, or sampled from an additive one.
    pub layer: &'a Pose,
    /// Whether `layer` is full or additive.
    pub kind: ClipKind,
    /// The layer's weight, in [0, 1]; of an additive layer in [−1, 1]. Scalars blend by it alone.
    pub weight: f32,
    /// A weight per joint; `None` counts as 1 everywhere.
    pub mask: Option<&'a JointMask>,
}

impl LayerJob<'_> {
    /// Checks the inputs, then blends or adds.
    ///
    /// # Errors
    /// If the poses or the mask differ in shape, or the weight is outside its range.
    pub fn run(self) -> Result<(), JobError> {
        self.run_at(SimdLevel::current())
    }

    fn run_at(self, level: SimdLevel) -> Result<(), JobError> {
        const NAME: &str = "LayerJob";
        same_shape(NAME, parts!("layer"), self.layer.shape(), self.pose.shape())?;
        let least = if self.kind == ClipKind::Additive { -1.0 } else { 0.0 };
        in_range(NAME, "weight", self.weight, least, 1.0)?;
        if let Some(mask) = self.mask {
            exact(NAME, "mask", mask.rows().len(), self.pose.blocks())?;
        }
        dispatch(level, self);
        Ok(())
    }
}

impl Kernel for BlendJob<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) {
        let Self { actions, rest, output } = self;
        let shares = shares(actions.iter().map(|a| a.1).sum());
        let mut first = true;
        for &(pose, weight) in actions {
            if weight > 0.0 {
                accumulate(simd, output, pose, weight * shares.factor, first);
                first = false;
            }
        }
        if first {
            output.copy_from(rest);
        } else {
            finish_layer(simd, output, rest, shares.rest);
        }
    }
}

#[inline(always)]
fn read<S: Lanes, const C: usize>(simd: S, rows: &[Row; C], lane: usize) -> [S::f32s; C] {
    each!(S::f32s::splat(simd, 0.0); C; c => {
        S::f32s::from_slice(simd, &rows[c].0[lane..lane + S::f32s::LEN])
    })
}

#[inline(always)]
fn write<S: Lanes, const C: usize>(_: S, v: &[S::f32s; C], rows: &mut [Row; C], lane: usize) {
    for c in 0..C {
        v[c].store_slice(&mut rows[c].0[lane..lane + S::f32s::LEN]);
    }
}

/// Combines each register of rows with that of another pose. It is a macro, as closures are not always inlined into the
/// function that enables the instruction set.
macro_rules! change {
    ($simd:expr, $rows:expr, $by:expr, |$a:ident, $b:ident, $lane:ident| $value:expr) => {{
        let (rows, by) = ($rows, $by);
        let mut $lane = 0;
        while $lane < LANES {
            let ($a, $b) = (read($simd, rows, $lane), read($simd, by, $lane));
            write($simd, &$value, rows, $lane);
            $lane += S::f32s::LEN;
        }
    }};
}

/// Adds a weighted pose to the running sum; the first one starts it.
#[inline(always)]
pub(super) fn accumulate<S: Lanes>(simd: S, sum: &mut Pose, pose: &Pose, weight: f32, first: bool) {
    if !first {
        channels::align(sum, pose);
    }
    let w = S::f32s::splat(simd, weight);
    let vectors = sum.translation.iter_mut().zip(&pose.translation);
    for (sum, rows) in vectors.chain(sum.scale.iter_mut().zip(&pose.scale)) {
        change!(simd, sum, rows, |sum, v, lane| match first {
            true => scaled(simd, &v, w),
            false => join(simd, &sum, &v, w),
        });
    }
    for (sum, row) in sum.scalars.iter_mut().zip(&pose.scalars) {
        let (sum, row) = (std::array::from_mut(sum), std::array::from_ref(row));
        change!(simd, sum, row, |sum, v, lane| match first {
            true => scaled(simd, &v, w),
            false => join(simd, &sum, &v, w),
        });
    }
    for (sum, rows) in sum.rotation.iter_mut().zip(&pose.rotation) {
        change!(simd, sum, rows, |sum, q, lane| match first {
            true => scaled(simd, &q, w),
            false => align(simd, &sum, &q, w),
        });
    }
}

/// Adds the rest pose's share to a layer's sum and normalises rotations.
#[inline(always)]
pub(super) fn finish_layer<S: Lanes>(simd: S, sum: &mut Pose, rest: &Pose, share: f32) {
    if share > 0.0 {
        accumulate(simd, sum, rest, share, false);
    }
    for rows in &mut sum.rotation {
        let mut lane = 0;
        while lane < LANES {
            let q = read(simd, rows, lane);
            write(simd, &unit(simd, &q), rows, lane);
            lane += S::f32s::LEN;
        }
    }
    channels::normalize(sum);
}

impl Kernel for LayerJob<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) {
        let Self { pose, layer, kind, weight, mask } = self;
        match kind {
            ClipKind::Full => cover_pose(simd, pose, layer, weight, mask),
            ClipKind::Additive => add_pose(simd, pose, layer, weight, mask),
        }
    }
}

/// Weight × mask of a register.
#[inline(always)]
fn lane_weights<S: Lanes>(
    simd: S,
    weight: f32,
    mask: Option<&JointMask>,
    block: usize,
    lane: usize,
) -> S::f32s {
    let w = S::f32s::splat(simd, weight);
    match mask {
        Some(mask) => {
            let [m] = read(simd, std::array::from_ref(&mask.rows()[block]), lane);
            m * w
        }
        None => w,
    }
}

#[inline(always)]
pub(super) fn cover_pose<S: Lanes>(
    simd: S,
    pose: &mut Pose,
    above: &Pose,
    weight: f32,
    mask: Option<&JointMask>,
) {
    for b in 0..pose.blocks() {
        let vectors = [
            (&mut pose.translation[b], &above.translation[b]),
            (&mut pose.scale[b], &above.scale[b]),
        ];
        for (below, above) in vectors {
            change!(simd, below, above, |below, above, lane| {
                cover(simd, &below, &above, lane_weights(simd, weight, mask, b, lane))
            });
        }
        let (below, above) = (&mut pose.rotation[b], &above.rotation[b]);
        change!(simd, below, above, |below, above, lane| {
            unit(
                simd,
                &cover_rotation(simd, &below, &above, lane_weights(simd, weight, mask, b, lane)),
            )
        });
    }
    channels::align(pose, above);
    let w = S::f32s::splat(simd, weight);
    for (below, above) in pose.scalars.iter_mut().zip(&above.scalars) {
        let (below, above) = (std::array::from_mut(below), std::array::from_ref(above));
        change!(simd, below, above, |below, above, lane| { cover(simd, &below, &above, w) });
    }
    channels::normalize(pose);
}

#[inline(always)]
pub(super) fn add_pose<S: Lanes>(
    simd: S,
    pose: &mut Pose,
    delta: &Pose,
    weight: f32,
    mask: Option<&JointMask>,
) {
    for b in 0..pose.blocks() {
        let (below, delta_t) = (&mut pose.translation[b], &delta.translation[b]);
        change!(simd, below, delta_t, |below, delta, lane| {
            join(simd, &below, &delta, lane_weights(simd, weight, mask, b, lane))
        });
        change!(simd, &mut pose.scale[b], &delta.scale[b], |below, ratio, lane| add_scale(
            simd,
            &below,
            &ratio,
            lane_weights(simd, weight, mask, b, lane)
        ));
        let (below, delta_q) = (&mut pose.rotation[b], &delta.rotation[b]);
        change!(simd, below, delta_q, |below, d, lane| {
            unit(simd, &add_rotation(simd, &below, &d, lane_weights(simd, weight, mask, b, lane)))
        });
    }
    for b in 0..pose.scalar_blocks() {
        let turning = channels::lanes_of(pose, b);
        let below = std::array::from_mut(&mut pose.scalars[b]);
        let delta = std::array::from_ref(&delta.scalars[b]);
        change!(simd, below, delta, |below, delta, lane| {
            let turning = S::mask32s::from_bitmask(simd, u64::from(turning) >> lane);
            let zero = S::f32s::splat(simd, 0.0);
            let w = turning.select(zero, S::f32s::splat(simd, weight));
            join(simd, &below, &delta, w)
        });
    }
    channels::add(pose, delta, weight);
}

#[cfg(test)]
mod tests;
