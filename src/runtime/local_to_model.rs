//! `LocalToModelJob`: local transforms to model-space matrices, parents first.

use super::error::{JobError, exact, same_shape};
use super::quat::dot4;
use super::vector::load;
use crate::math::{Affine3x4, LANES};
use crate::simd::{Kernel, Lanes, SimdLevel, dispatch, each};
use crate::skeleton::{NO_JOINT, Pose, Skeleton};
use fearless_simd::{f32x4, f32x16, prelude::*};

/// The matrix rows of sixteen lanes: row i of lane l is `[i][l]`.
pub(crate) type LocalBlock = [[[f32; 4]; LANES]; 3];

/// Turns local transforms into model-space matrices.
///
/// Rotations need not be normalised (2/|q|² folds that in). Model space is the space of the roots'
/// parents.
#[derive(Debug)]
pub struct LocalToModelJob<'a> {
    /// The skeleton.
    pub skeleton: &'a Skeleton,
    /// Local transforms in lane order.
    pub pose: &'a Pose,
    /// Scratch: one per block of the skeleton.
    pub locals: &'a mut LocalMatrices,
    /// One matrix per joint, in joint order.
    pub output: &'a mut [Affine3x4],
}

/// Scratch of a [`LocalToModelJob`]: the local matrices of a skeleton, in lane order.
#[derive(Clone, Debug, Default)]
pub struct LocalMatrices(pub(crate) Vec<LocalBlock>);

impl LocalMatrices {
    /// Scratch for a skeleton.
    pub fn new(skeleton: &Skeleton) -> Self {
        Self(vec![[[[0.0; 4]; LANES]; 3]; skeleton.blocks()])
    }
}

impl LocalToModelJob<'_> {
    const NAME: &'static str = "LocalToModelJob";

    /// Checks sizes.
    ///
    /// # Errors
    /// If the pose, the scratch or the output do not fit the skeleton.
    pub fn validate(&self) -> Result<(), JobError> {
        let mut needed = self.skeleton.rest_pose().shape();
        needed[3] = self.pose.scalar_blocks();
        same_shape(
            Self::NAME,
            [
                "pose.translation",
                "pose.rotation",
                "pose.scale",
                "pose.scalars",
            ],
            self.pose.shape(),
            needed,
        )?;
        exact(
            Self::NAME,
            "locals",
            self.locals.0.len(),
            self.skeleton.blocks(),
        )?;
        exact(Self::NAME, "output", self.output.len(), self.skeleton.len())
    }

    /// Validates, then runs.
    ///
    /// # Errors
    /// Those of [`LocalToModelJob::validate`].
    pub fn run(self) -> Result<(), JobError> {
        self.validate()?;
        dispatch(SimdLevel::current(), LocalToModelKernel(self));
        Ok(())
    }
}

struct LocalToModelKernel<'a>(LocalToModelJob<'a>);

impl Kernel for LocalToModelKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) {
        let job = self.0;
        compose(simd, job.pose, &mut job.locals.0);
        walk(simd, job.skeleton, &job.locals.0, job.output);
    }
}

/// Composes the local matrices of all blocks and transposes them to rows per lane.
#[inline(always)]
pub(crate) fn compose<S: Simd>(simd: S, pose: &Pose, locals: &mut [LocalBlock]) {
    let splat = |v| f32x16::splat(simd, v);
    let one = splat(1.0);
    for (b, out) in locals.iter_mut().enumerate() {
        let q = each!(splat(0.0); 4; c => load(simd, &pose.rotation[b][c]));
        let t = each!(splat(0.0); 3; c => load(simd, &pose.translation[b][c]));
        let [sx, sy, sz] = each!(splat(0.0); 3; c => load(simd, &pose.scale[b][c]));
        let k = splat(2.0) / dot4(&q, &q);
        let [x, y, z, w] = q;
        let (xs, ys, zs) = (x * k, y * k, z * k);
        let (xx, yy, zz) = (x * xs, y * ys, z * zs);
        let (xy, xz, yz) = (x * ys, x * zs, y * zs);
        let (wx, wy, wz) = (w * xs, w * ys, w * zs);
        let rows = [
            [(one - (yy + zz)) * sx, (xy - wz) * sy, (xz + wy) * sz, t[0]],
            [(xy + wz) * sx, (one - (xx + zz)) * sy, (yz - wx) * sz, t[1]],
            [(xz - wy) * sx, (yz + wx) * sy, (one - (xx + yy)) * sz, t[2]],
        ];
        for (row, out) in rows.into_iter().zip(out.iter_mut()) {
            transpose(simd, row, out);
        }
    }
}

/// Stores four lanes-wide components as four floats per lane.
#[inline(always)]
fn transpose<S: Simd>(simd: S, row: [f32x16<S>; 4], out: &mut [[f32; 4]; LANES]) {
    let quarters = each!([f32x4::splat(simd, 0.0); 4]; 4; i => {
        let (low, high) = row[i].split();
        let (a, b) = low.split();
        let (c, d) = high.split();
        [a, b, c, d]
    });
    let out: &mut [[f32; 16]; 4] = bytemuck::must_cast_mut(out);
    for (i, out) in out.iter_mut().enumerate() {
        let four = [
            quarters[0][i],
            quarters[1][i],
            quarters[2][i],
            quarters[3][i],
        ];
        simd.store_four_interleaved_f32x4(four, out);
    }
}

/// Multiplies down the hierarchy.
#[inline(always)]
pub(crate) fn walk<S: Lanes>(
    simd: S,
    skeleton: &Skeleton,
    locals: &[LocalBlock],
    models: &mut [Affine3x4],
) {
    let joints = skeleton.parents().iter().zip(skeleton.lane_of());
    for (joint, (&parent, &lane)) in joints.enumerate() {
        let (b, l) = (usize::from(lane) / LANES, usize::from(lane) % LANES);
        let block = &locals[b];
        let local = [&block[0][l], &block[1][l], &block[2][l]];
        if parent == NO_JOINT {
            models[joint].rows = [*local[0], *local[1], *local[2]];
        } else {
            let parent = models[usize::from(parent)];
            multiply(simd, &parent, local, &mut models[joint]);
        }
    }
}

/// `a × b` into `out`.
#[inline(always)]
pub(crate) fn multiply<S: Lanes>(simd: S, a: &Affine3x4, b: [&[f32; 4]; 3], out: &mut Affine3x4) {
    let a = simd.load_rows(bytemuck::must_cast_ref(&a.rows));
    let product = simd.multiply(&simd.splat_matrix(a), b);
    simd.store_rows(product, bytemuck::must_cast_mut(&mut out.rows));
}

#[cfg(test)]
mod tests;
