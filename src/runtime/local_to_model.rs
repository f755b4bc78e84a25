//! `LocalToModelJob`: local transforms to model-space matrices, parents first.

use super::check::{JobError, exact, parts, same_shape};
use crate::evaluate::track::load;
use crate::evaluate::{compose, group_floats, multiply, scratch_row};
use crate::math::{Affine3x4, LANES, Row};
use crate::simd::{Kernel, Lanes, SimdLevel, dispatch};
use crate::skeleton::{NO_JOINT, Pose, Skeleton};
use fearless_simd::prelude::*;

/// Turns local transforms into model-space matrices.
///
/// Rotations need not be normalised: the factor 2/|q|² normalises them. Model space is the space of the roots' parents.
#[derive(Debug)]
pub struct LocalToModelJob<'a> {
    /// The skeleton.
    pub skeleton: &'a Skeleton,
    /// Local transforms in lane order.
    pub pose: &'a Pose,
    /// Scratch: twelve rows per block of the skeleton, its local matrices in lane order.
    pub locals: &'a mut [[Row; 12]],
    /// One matrix per joint, in joint order.
    pub output: &'a mut [Affine3x4],
}

/// Rows of one block's local matrices: three rows of four floats for each of 16 lanes.
pub(super) const LOCAL_ROWS: usize = 12;

impl LocalToModelJob<'_> {
    /// Checks the sizes, then runs.
    ///
    /// # Errors
    /// If the pose, the scratch or the output do not fit the skeleton.
    pub fn run(self) -> Result<(), JobError> {
        self.run_at(SimdLevel::current())
    }

    fn run_at(self, level: SimdLevel) -> Result<(), JobError> {
        const NAME: &str = "LocalToModelJob";
        let mut needed = self.skeleton.rest_pose().shape();
        needed[3] = self.pose.scalar_blocks();
        same_shape(NAME, parts!("pose"), self.pose.shape(), needed)?;
        exact(NAME, "locals", self.locals.len(), self.skeleton.blocks())?;
        exact(NAME, "output", self.output.len(), self.skeleton.len())?;
        dispatch(level, self);
        Ok(())
    }
}

impl Kernel for LocalToModelJob<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) {
        compose_pose(simd, self.pose, self.locals);
        walk(simd, self.skeleton, self.locals, self.output);
    }
}

/// Composes the local matrices of all blocks, in the layout of [`scratch_row`].
#[inline(always)]
fn compose_pose<S: Lanes>(simd: S, pose: &Pose, locals: &mut [[Row; LOCAL_ROWS]]) {
    let floats: &mut [f32] = bytemuck::must_cast_slice_mut(locals.as_flattened_mut());
    let groups = floats.chunks_exact_mut(group_floats(S::f32s::LEN));
    for (group, out) in groups.enumerate() {
        let lane = group * S::f32s::LEN;
        let (b, lane) = (lane / LANES, (lane % LANES) as u8);
        let q = load(simd, &pose.rotation[b], 0, lane);
        let t = load(simd, &pose.translation[b], 0, lane);
        let s = load(simd, &pose.scale[b], 0, lane);
        compose(simd, &t, &q, Some(&s), out);
    }
}

/// Multiplies down the hierarchy.
#[inline(always)]
fn walk<S: Lanes>(
    simd: S,
    skeleton: &Skeleton,
    locals: &[[Row; LOCAL_ROWS]],
    models: &mut [Affine3x4],
) {
    let rows: &[[f32; 4]] = bytemuck::must_cast_slice(locals.as_flattened());
    let joints = skeleton.parents().iter().zip(skeleton.lane_of());
    for (joint, (&parent, &lane)) in joints.enumerate() {
        let width = S::f32s::LEN;
        let first = scratch_row(lane.into(), width) as usize;
        let local = &rows[first..first + 2 * width + 1];
        let local = [&local[0], &local[width], &local[2 * width]];
        if parent == NO_JOINT {
            models[joint].rows = local.map(|row| *row);
        } else {
            let parent = models[usize::from(parent)];
            multiply(simd, &parent, local, &mut models[joint]);
        }
    }
}

#[cfg(test)]
mod tests;
