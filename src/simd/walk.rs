//! Down a hierarchy of row matrices: model matrices into a scratch, palette rows into the output,
//! front to back. A lane file, because checks of every index cost a third of the walk.

use super::lanes::apart;
use super::ops::Lanes;
use crate::math::{Affine3x4, Row};
use fearless_simd::prelude::*;

/// Where a step takes a local matrix from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Local {
    /// Three rows of the locals, this one and those one and two strides on.
    Moving(u32),
    /// The constants of the walk, by number for [`Walk::new`], in rows as the locals within it.
    Constant(u32),
    /// None: the model matrix is there already.
    Done,
}

/// One step down the hierarchy: a model matrix, then palette rows that hang on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Step {
    pub local: Local,
    /// Model matrix to multiply, or to take as it is: joint + 1, 0 for the root.
    pub parent: u16,
    /// Where to keep the product: joint + 1, 0 if nothing further reads it.
    pub model: u16,
    /// The next palette rows: model matrix × the next constants.
    pub rows: u16,
    /// The parent is what the step before has left in registers.
    pub chained: bool,
}

/// The rows of a 3×4 matrix.
pub(crate) type Rows = [[f32; 4]; 3];

/// Steps whose every index has been checked against the sizes that [`Walk::run`] asks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Walk {
    steps: Vec<Step>,
    /// Spread like the locals, so that one address form serves both.
    constants: Vec<[f32; 4]>,
    binds: Vec<Rows>,
    /// Rows of the locals, and the distance between the rows of a matrix.
    locals: usize,
    stride: usize,
    /// Model matrices, the root included.
    models: usize,
}

impl Walk {
    /// Checks the steps.
    ///
    /// # Panics
    /// If a step's index lies outside its buffer, or the steps do not write all of `binds`.
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
            "a step of the walk lies outside its buffers"
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

    /// Walks down. `models[0]` is the root's matrix; the others are scratch. With `stream` the rows go
    /// past the caches, if they lie at multiples of 16 bytes; the caller settles them. Does nothing if
    /// a buffer is shorter than the walk was made for.
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
        // Functions of their own: among the loops of sampling, the walk's registers are spilled at
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

    /// All steps; `run` has compared the buffers with what `new` has checked. With `STREAM` the output
    /// lies at a multiple of 16 bytes.
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
                // SAFETY: `new` has checked that at + 2 stride lies within self.constants, or below
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
                // SAFETY: the rows of all steps sum to binds.len(), which is at most output.len(): so
                // many times both are read here and moved on, at the last to one past the end.
                let ([x, y, z], row) = unsafe { (&*bind, &mut (*out).rows) };
                let m = simd.multiply(&spread, [x, y, z]);
                let row = bytemuck::must_cast_mut(row);
                if STREAM {
                    // SAFETY: the first row lies at a multiple of 16 bytes, and rows have 48.
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
