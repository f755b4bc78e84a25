//! The pass down a hierarchy of row matrices: model matrices into scratch memory, palette rows into the
//! output, front to back. It is a lane file because bounds checks take a third of its time.

use super::lanes::apart;
use super::ops::Lanes;
use crate::math::{Affine3x4, Row};
use fearless_simd::prelude::*;

/// Where a step reads its local matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Local {
    /// Three rows of the locals: this index, and one and two strides further.
    Moving(u32),
    /// A constant of the walk: its number for [`Walk::new`], and within the walk an index of rows, as for
    /// the locals.
    Constant(u32),
    /// Nowhere: the step adds palette rows to a model matrix that is computed already.
    Done,
}

/// One step down the hierarchy: a model matrix, then the palette rows of its joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Step {
    pub local: Local,
    /// The model matrix of the parent, or with `Done` the one to use: joint + 1, 0 for the root.
    pub parent: u16,
    /// Where to store the product: joint + 1, or 0 if no later step reads it.
    pub model: u16,
    /// The number of palette rows that follow: model matrix × the next inverse binds.
    pub rows: u16,
    /// The parent's matrix is in registers, left there by the previous step.
    pub chained: bool,
}

/// The rows of a 3×4 matrix.
pub(crate) type Rows = [[f32; 4]; 3];

/// Steps whose every index is checked against the buffer sizes that [`Walk::run`] requires.
#[derive(Clone, Debug, Default)]
pub(crate) struct Walk {
    steps: Vec<Step>,
    /// Strided like the locals, so that one form of address serves both.
    constants: Vec<[f32; 4]>,
    binds: Vec<Rows>,
    /// The number of rows of the locals, and the distance between the rows of a matrix.
    locals: usize,
    stride: usize,
    /// The number of model matrices, including the root.
    models: usize,
}

impl Walk {
    /// Checks the steps.
    ///
    /// # Panics
    /// If a step's index is outside its buffer, or the steps do not write all of `binds`.
    pub fn new(
        mut steps: Vec<Step>,
        constants: &[Rows],
        binds: Vec<Rows>,
        (locals, stride): (usize, usize),
        models: usize,
    ) -> Self {
        for step in &mut steps {
            if let Local::Constant(at) = &mut step.local {
                let n = *at as usize;
                *at = (n / stride * 3 * stride + n % stride) as u32;
            }
        }
        let mut spread = vec![[0.0; 4]; constants.len().next_multiple_of(stride) * 3];
        let blocks = spread.chunks_exact_mut(3 * stride);
        for (block, constants) in blocks.zip(constants.chunks(stride)) {
            for (n, constant) in constants.iter().enumerate() {
                for (r, row) in constant.iter().enumerate() {
                    block[r * stride + n] = *row;
                }
            }
        }
        let fits = |s: &Step| {
            let local = match s.local {
                Local::Moving(at) => (at as usize) < locals.saturating_sub(2 * stride),
                Local::Constant(at) => (at as usize) < spread.len().saturating_sub(2 * stride),
                Local::Done => true,
            };
            local && usize::from(s.parent.max(s.model)) < models
        };
        let rows: usize = steps.iter().map(|s| usize::from(s.rows)).sum();
        assert!(
            steps.iter().all(fits) && rows == binds.len(),
            "a step of the walk is outside its buffers"
        );
        Self {
            steps,
            constants: spread,
            binds,
            locals,
            stride,
            models,
        }
    }

    /// Runs all steps. `models[0]` is the root's matrix; the others are scratch. With `stream`, and if
    /// the output is aligned to 16 bytes, rows are stored past the caches, and the caller must call
    /// [`Lanes::settle_streams`]. Does nothing if a buffer is shorter than the walk requires.
    #[inline(always)]
    pub fn run<S: Lanes>(
        &self,
        simd: S,
        locals: &[[f32; 4]],
        models: &mut [Row],
        output: &mut [Affine3x4],
        stream: bool,
    ) {
        if S::f32s::LEN != self.stride
            || locals.len() < self.locals
            || models.len() < self.models
            || models.is_empty()
            || output.len() < self.binds.len()
        {
            debug_assert!(false, "a buffer is shorter than the walk");
            return;
        }
        // Out of line: inlined among the loops of sampling, the walk's registers would be spilled at
        // every step.
        if stream && output.as_ptr().addr().is_multiple_of(16) {
            apart(
                simd,
                #[inline(always)]
                || self.steps::<S, true>(simd, locals, models, output),
            );
        } else {
            apart(
                simd,
                #[inline(always)]
                || self.steps::<S, false>(simd, locals, models, output),
            );
        }
    }

    /// All steps. `run` has compared the buffers with the sizes that `new` checked. With `STREAM` the
    /// output must be aligned to 16 bytes.
    #[inline(always)]
    fn steps<S: Lanes, const STREAM: bool>(
        &self,
        simd: S,
        locals: &[[f32; 4]],
        models: &mut [Row],
        output: &mut [Affine3x4],
    ) {
        let stride = S::f32s::LEN;
        let (moving, constant) = (locals.as_ptr(), self.constants.as_ptr());
        let mut bind = self.binds.as_ptr();
        let mut out = output.as_mut_ptr();
        let mut spread = simd.splat_matrix(simd.load_matrix(&models[0].0));
        for step in &self.steps {
            if !step.chained {
                // SAFETY: `new` has checked parent < self.models, which is at most models.len().
                let parent = unsafe { models.get_unchecked(usize::from(step.parent)) };
                spread = simd.splat_matrix(simd.load_matrix(&parent.0));
            }
            let source = match step.local {
                Local::Moving(at) => Some((moving, at as usize)),
                Local::Constant(at) => Some((constant, at as usize)),
                Local::Done => None,
            };
            if let Some((rows, at)) = source {
                // SAFETY: `new` has checked that at + 2 stride is within self.constants, or below
                // self.locals, which is at most locals.len().
                let local = unsafe {
                    let first = rows.add(at);
                    [&*first, &*first.add(stride), &*first.add(2 * stride)]
                };
                let model = simd.multiply(&spread, local);
                if step.model != 0 {
                    // SAFETY: `new` has checked model < self.models <= models.len().
                    let keep = unsafe { models.get_unchecked_mut(usize::from(step.model)) };
                    simd.store_matrix(model, &mut keep.0);
                }
                spread = simd.splat_matrix(model);
            }
            for _ in 0..step.rows {
                // SAFETY: the rows of all steps sum to binds.len(), which is at most output.len(). Both
                // pointers are read and advanced that many times, so they end one past the end at most.
                let ([x, y, z], row) = unsafe { (&*bind, &mut (*out).rows) };
                let m = simd.multiply(&spread, [x, y, z]);
                let row = bytemuck::must_cast_mut(row);
                if STREAM {
                    // SAFETY: the first row is aligned to 16 bytes, and a row has 48.
                    unsafe { simd.stream_rows(m, row) };
                } else {
                    simd.store_rows(m, row);
                }
                // SAFETY: as above.
                (bind, out) = unsafe { (bind.add(1), out.add(1)) };
            }
        }
    }
}

#[cfg(test)]
mod tests;
