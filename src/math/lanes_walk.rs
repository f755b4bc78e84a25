//! Down a hierarchy of row matrices: model matrices into a scratch, palette rows into the output,
//! front to back. A lane file, because checks of every index cost a third of the walk.

use super::lanes::apart;
use super::lanes_ops::Lanes;
use super::{Affine3x4, Row};
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
mod tests {
    use super::super::lanes::{Kernel, SimdLevel, dispatch};
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    const MODELS: usize = 3;
    const BINDS: usize = 4;
    /// Rows, matrices and blocks that lie behind what a walk may touch.
    const GUARD: usize = 64;
    const UNTOUCHED: f32 = 777.0;

    struct Run<'a> {
        walk: &'a Walk,
        locals: &'a [[f32; 4]],
        models: &'a mut [Row],
        output: &'a mut [Affine3x4],
        stream: bool,
    }

    impl Kernel for Run<'_> {
        type Output = ();
        #[inline(always)]
        fn run<S: Lanes>(self, simd: S) {
            let Self {
                walk,
                locals,
                models,
                output,
                stream,
            } = self;
            walk.run(simd, locals, models, output, stream);
        }
    }

    fn moved(x: f32) -> Rows {
        [[1.0, 0.0, 0.0, x], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]
    }

    fn step(local: Local, parent: u16, model: u16, rows: u16) -> Step {
        Step {
            local,
            parent,
            model,
            rows,
            chained: false,
        }
    }

    /// Two blocks of locals.
    fn locals_of(stride: usize) -> usize {
        6 * stride
    }

    /// The last matrix of two blocks, a constant below it, and rows on what the first step has left.
    fn steps(stride: usize) -> Vec<Step> {
        vec![
            step(Local::Moving(4 * stride as u32 - 1), 0, 1, 1),
            step(Local::Constant(1), 1, 2, 2),
            step(Local::Done, 1, 0, 1),
        ]
    }

    fn walk(steps: Vec<Step>, stride: usize) -> Walk {
        let constants = [moved(5.0), moved(20.0)];
        let binds = vec![moved(0.25); BINDS];
        Walk::new(steps, &constants, binds, (locals_of(stride), stride), MODELS)
    }

    /// Buffers that are larger than a walk needs.
    struct Buffers {
        locals: Vec<[f32; 4]>,
        models: Vec<Row>,
        output: Vec<Affine3x4>,
    }

    impl Buffers {
        fn new(stride: usize) -> Self {
            let mut locals = vec![[UNTOUCHED; 4]; locals_of(stride) + GUARD * stride];
            for (r, row) in moved(100.0).into_iter().enumerate() {
                locals[4 * stride - 1 + r * stride] = row;
            }
            let mut models = vec![Row::splat(UNTOUCHED); MODELS + GUARD];
            for (r, row) in moved(1000.0).into_iter().enumerate() {
                models[0].0[4 * r..][..4].copy_from_slice(&row);
            }
            let rows = [[UNTOUCHED; 4]; 3];
            Self {
                locals,
                models,
                output: vec![Affine3x4 { rows }; BINDS + GUARD],
            }
        }

        /// Runs in so much of the buffers; whether they were taken.
        fn run(
            &mut self,
            walk: &Walk,
            level: SimdLevel,
            [locals, models, output]: [usize; 3],
            stream: bool,
        ) -> bool {
            let run = Run {
                walk,
                locals: &self.locals[..locals],
                models: &mut self.models[..models],
                output: &mut self.output[..output],
                stream,
            };
            catch_unwind(AssertUnwindSafe(|| dispatch(level, run))).is_ok()
        }

        fn untouched(&self, models: usize, output: usize) -> bool {
            let models = self.models[models..].iter().flat_map(|r| r.0);
            let output = self.output[output..].iter().flat_map(|m| m.rows);
            let mut all = models.chain(output.flatten());
            all.all(|v| v == UNTOUCHED)
        }
    }

    #[test]
    fn a_walk_writes_its_rows_and_no_others() {
        for level in SimdLevel::supported() {
            let stride = level.width();
            let walk = walk(steps(stride), stride);
            for stream in [false, true] {
                let mut buffers = Buffers::new(stride);
                let sizes = [locals_of(stride), MODELS, BINDS];
                assert!(buffers.run(&walk, level, sizes, stream), "{level}");
                let found = [0, 1, 2, 3].map(|i| buffers.output[i].rows);
                let first = moved(1000.0 + 100.0 + 0.25);
                let second = moved(1000.0 + 100.0 + 20.0 + 0.25);
                assert_eq!(found, [first, second, second, first], "{level} {stream}");
                assert!(buffers.untouched(MODELS, BINDS), "{level} {stream}");
            }
        }
    }

    #[test]
    fn buffers_that_are_too_short_are_left_alone() {
        for level in SimdLevel::supported() {
            let stride = level.width();
            let fit = [locals_of(stride), MODELS, BINDS];
            let own = walk(steps(stride), stride);
            // Other levels have registers of other widths.
            let other = walk(steps(2 * stride), 2 * stride);
            let [locals, models, output] = fit;
            let cases = [
                (&own, [locals - 1, models, output]),
                (&own, [locals, models - 1, output]),
                (&own, [locals, 0, output]),
                (&own, [locals, models, output - 1]),
                (&own, [locals, models, 0]),
                (&other, [2 * locals, models, output]),
            ];
            for (walk, sizes) in cases {
                for stream in [false, true] {
                    let mut buffers = Buffers::new(stride);
                    let taken = buffers.run(walk, level, sizes, stream);
                    // Debug builds say so.
                    assert_eq!(taken, !cfg!(debug_assertions), "{level} {sizes:?}");
                    assert!(buffers.untouched(1, 0), "{level} {sizes:?} {stream}");
                }
            }
        }
    }

    #[test]
    fn steps_outside_their_buffers_are_refused() {
        for stride in [4, 8, 16] {
            let with = |at: usize, change: fn(&mut Step, u32), value: usize| {
                let mut steps = steps(stride);
                change(&mut steps[at], value as u32);
                catch_unwind(|| walk(steps, stride)).is_ok()
            };
            let moving = |s: &mut Step, at| s.local = Local::Moving(at);
            let constant = |s: &mut Step, n| s.local = Local::Constant(n);
            let rows = locals_of(stride);
            // A matrix has rows one and two strides on.
            for (at, fits) in [
                (0, true),
                (rows - 2 * stride - 1, true),
                (rows - 2 * stride, false),
                (rows - stride, false),
                (rows - 1, false),
                (rows, false),
                (u32::MAX as usize, false),
            ] {
                assert_eq!(with(0, moving, at), fits, "row {at} of {rows}");
            }
            // Two constants take a block, whose places behind them hold zeros.
            for (n, fits) in [(0, true), (stride - 1, true), (stride, false), (1 << 20, false)] {
                assert_eq!(with(1, constant, n), fits, "constant {n}, stride {stride}");
            }
            for (value, fits) in [(MODELS - 1, true), (MODELS, false), (65_535, false)] {
                let parent = |s: &mut Step, at: u32| s.parent = at as u16;
                let model = |s: &mut Step, at: u32| s.model = at as u16;
                assert_eq!(with(0, parent, value), fits, "parent {value}");
                assert_eq!(with(1, model, value), fits, "model {value}");
            }
            for (rows, fits) in [(0, false), (1, false), (2, true), (3, false)] {
                let write = |s: &mut Step, rows: u32| s.rows = rows as u16;
                assert_eq!(with(1, write, rows), fits, "{rows} rows");
            }
        }
        // Fewer rows than a matrix has.
        let few = |locals| Walk::new(vec![step(Local::Moving(0), 0, 0, 0)], &[], vec![], locals, 1);
        assert!(catch_unwind(|| few((8, 4))).is_err());
        assert!(catch_unwind(|| few((0, 4))).is_err());
    }
}
