//! Down a hierarchy of row matrices: model matrices into a scratch, palette rows into the output,
//! front to back. A lane file, because checks of every index cost a third of the walk.

use super::lanes_ops::Lanes;
use super::{Affine3x4, Row};
use fearless_simd::prelude::*;

/// Where a step takes a local matrix from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Local {
    /// Three rows of the locals, this one and those one and two strides on.
    Moving(u32),
    /// The constants of the walk.
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
    constants: Vec<Rows>,
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
        steps: Vec<Step>,
        constants: Vec<Rows>,
        binds: Vec<Rows>,
        (locals, stride): (usize, usize),
        models: usize,
    ) -> Self {
        let fits = |s: &Step| {
            let local = match s.local {
                Local::Moving(at) => (at as usize) < locals.saturating_sub(2 * stride),
                Local::Constant(at) => (at as usize) < constants.len(),
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
            constants,
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
        let stream = stream && output.as_ptr().addr().is_multiple_of(16);
        let stride = S::f32s::LEN;
        if stride != self.stride
            || locals.len() < self.locals
            || models.len() < self.models
            || models.is_empty()
            || output.len() < self.binds.len()
        {
            debug_assert!(false, "a buffer is shorter than the walk");
            return;
        }
        let mut rows = self.binds.iter().zip(output);
        let mut spread = simd.splat_matrix(simd.load_matrix(&models[0].0));
        for step in &self.steps {
            if !step.chained {
                // SAFETY: `new` has checked parent < self.models, which is at most models.len().
                let parent = unsafe { models.get_unchecked(usize::from(step.parent)) };
                spread = simd.splat_matrix(simd.load_matrix(&parent.0));
            }
            // Two products in the code, for their addresses: one read costs one instruction then.
            let product = match step.local {
                Local::Moving(at) => {
                    let at = at as usize;
                    // SAFETY: `new` has checked at + 2 stride < self.locals <= locals.len().
                    let local = unsafe {
                        [
                            locals.get_unchecked(at),
                            locals.get_unchecked(at + stride),
                            locals.get_unchecked(at + 2 * stride),
                        ]
                    };
                    Some(simd.multiply(&spread, local))
                }
                Local::Constant(at) => {
                    // SAFETY: `new` has checked at < constants.len().
                    let [x, y, z] = unsafe { self.constants.get_unchecked(at as usize) };
                    Some(simd.multiply(&spread, [x, y, z]))
                }
                Local::Done => None,
            };
            if let Some(model) = product {
                if step.model != 0 {
                    // SAFETY: `new` has checked model < self.models <= models.len().
                    let keep = unsafe { models.get_unchecked_mut(usize::from(step.model)) };
                    simd.store_matrix(model, &mut keep.0);
                }
                spread = simd.splat_matrix(model);
            }
            for _ in 0..step.rows {
                // SAFETY: the rows of all steps sum to binds.len(), which is at most output.len().
                let ([x, y, z], out) = unsafe { rows.next().unwrap_unchecked() };
                let m = simd.multiply(&spread, [x, y, z]);
                let out = bytemuck::must_cast_mut(&mut out.rows);
                if stream {
                    // SAFETY: the first row lies at a multiple of 16 bytes, and rows have 48.
                    unsafe { simd.stream_rows(m, out) };
                } else {
                    simd.store_rows(m, out);
                }
            }
        }
    }
}
