//! Walks in buffers larger than they need; the rest of each buffer must stay untouched.

use super::*;
use crate::simd::lanes::{Kernel, SimdLevel, dispatch};
use std::panic::{AssertUnwindSafe, catch_unwind};

const MODELS: usize = 3;
const BINDS: usize = 4;
/// Rows, matrices and blocks beyond those that a walk may write.
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
    [
        [1.0, 0.0, 0.0, x],
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
    ]
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

/// The last matrix of two blocks, a constant below it, and rows of the first step's model matrix.
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
    Walk::new(
        steps,
        &constants,
        binds,
        (locals_of(stride), stride),
        MODELS,
    )
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

    /// Runs in buffers of these sizes; returns false if the run panicked.
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
        // Other levels have registers of another width.
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
                // Debug builds assert.
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
        // The rows of a matrix are one stride apart.
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
        // Two constants occupy a block; its other entries hold zeros.
        for (n, fits) in [
            (0, true),
            (stride - 1, true),
            (stride, false),
            (1 << 20, false),
        ] {
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
    // Fewer rows than one matrix.
    let few = |locals| {
        Walk::new(
            vec![step(Local::Moving(0), 0, 0, 0)],
            &[],
            vec![],
            locals,
            1,
        )
    };
    assert!(catch_unwind(|| few((8, 4))).is_err());
    assert!(catch_unwind(|| few((0, 4))).is_err());
}
