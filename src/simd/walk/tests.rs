//! Every condition that a walk checks, one by one; and walks in buffers larger than they need, whose rest must stay
//! untouched.

use super::*;
use crate::simd::lanes::{Kernel, SimdLevel, dispatch};
use crate::simd::stream::Fence;
use std::panic::{AssertUnwindSafe, catch_unwind};

const MODELS: usize = 3;
const BINDS: usize = 4;
const CONSTANTS: usize = 2;
/// Elements of each buffer beyond those that a walk may write.
const GUARD: usize = 64;
const UNTOUCHED: f32 = 777.0;

struct Run<'a> {
    walk: &'a Walk,
    constants: (&'a WalkConstants, &'a WalkConstants),
    locals: &'a [[f32; 4]],
    models: &'a mut [Row],
    output: &'a mut [Affine3x4],
    streaming: Option<Streaming<'a>>,
}

impl Kernel for Run<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) {
        let Self { walk, constants, locals, models, output, streaming } = self;
        walk.run(simd, constants, locals, models, output, streaming);
    }
}

fn moved(x: f32) -> Rows {
    [[1.0, 0.0, 0.0, x], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]
}

fn step(local: Local, parent: u16, model: u16, rows: u16) -> Step {
    Step { local, parent, model, rows, chained: false }
}

/// The rows of two triples of locals: of 2 × `stride` matrices.
fn locals_of(stride: usize) -> usize {
    6 * stride
}

/// The last matrix of the two triples, a constant below it, and rows of the first step's model matrix.
fn steps(stride: usize) -> Vec<Step> {
    vec![
        step(Local::Moving(4 * stride as u32 - 1), 0, 1, 1),
        step(Local::Constant(1), 1, 2, 2),
        step(Local::Done, 1, 0, 1),
    ]
}

fn checked(steps: Vec<Step>, stride: usize) -> Result<Walk, WalkError> {
    Walk::new(steps, (CONSTANTS, BINDS), (locals_of(stride), stride), MODELS)
}

fn walk(stride: usize) -> Walk {
    checked(steps(stride), stride).unwrap()
}

fn constants(walk: &Walk) -> WalkConstants {
    walk.constants(&[moved(5.0), moved(20.0)], vec![moved(0.25); BINDS])
}

/// Buffers that are larger than a walk needs.
struct Buffers {
    locals: Vec<[f32; 4]>,
    models: Vec<Row>,
    /// The number of floats of the output before the palette rows.
    shift: usize,
    output: Vec<Row>,
}

impl Buffers {
    fn new(stride: usize, shift: usize) -> Self {
        let mut locals = vec![[UNTOUCHED; 4]; locals_of(stride) + GUARD * stride];
        for (r, row) in moved(100.0).into_iter().enumerate() {
            locals[4 * stride - 1 + r * stride] = row;
        }
        let mut models = vec![Row::splat(UNTOUCHED); MODELS + GUARD];
        for (r, row) in moved(1000.0).into_iter().enumerate() {
            models[0].0[4 * r..][..4].copy_from_slice(&row);
        }
        Self { locals, models, shift, output: vec![Row::splat(UNTOUCHED); BINDS + GUARD] }
    }

    /// Runs in buffers of these sizes. A run that does nothing fails an assertion in debug builds; its message is the
    /// error.
    fn run(
        &mut self,
        (walk, constants): (&Walk, (&WalkConstants, &WalkConstants)),
        level: SimdLevel,
        [locals, models, output]: [usize; 3],
        stream: bool,
    ) -> Option<String> {
        let fence = stream.then(|| Fence::new(level));
        let floats: &mut [f32] = bytemuck::cast_slice_mut(&mut self.output);
        let run = Run {
            walk,
            constants,
            locals: &self.locals[..locals],
            models: &mut self.models[..models],
            output: bytemuck::cast_slice_mut(&mut floats[self.shift..][..12 * output]),
            streaming: fence.as_ref().map(Fence::streaming),
        };
        let cut = catch_unwind(AssertUnwindSafe(|| dispatch(level, run))).err()?;
        let text = cut.downcast_ref::<String>().cloned();
        text.or_else(|| cut.downcast_ref::<&str>().map(ToString::to_string))
    }

    fn rows(&self) -> &[f32] {
        &bytemuck::cast_slice::<Row, f32>(&self.output)[self.shift..]
    }

    fn untouched(&self, models: usize, output: usize) -> bool {
        let models = self.models[models..].iter().flat_map(|r| r.0);
        let all: &[f32] = bytemuck::cast_slice(&self.output);
        let (before, after) = (&all[..self.shift], &self.rows()[12 * output..]);
        let mut all = models.chain(before.iter().chain(after).copied());
        all.all(|v| v == UNTOUCHED)
    }
}

/// Floats have four alignments; rows that are not aligned to 16 bytes are not streamed.
#[test]
fn a_walk_writes_its_rows_and_no_others() {
    for level in SimdLevel::supported() {
        let stride = level.width();
        let walk = walk(stride);
        let of = constants(&walk);
        for (stream, shift) in [0, 1, 2, 3, 4].map(|s| [(false, s), (true, s)]).concat() {
            let mut buffers = Buffers::new(stride, shift);
            let sizes = [locals_of(stride), MODELS, BINDS];
            let what = format!("{level}, {shift} floats in, stream {stream}");
            assert_eq!(buffers.run((&walk, (&of, &of)), level, sizes, stream), None, "{what}");
            let first = moved(1000.0 + 100.0 + 0.25);
            let second = moved(1000.0 + 100.0 + 20.0 + 0.25);
            let wanted = [first, second, second, first].concat().concat();
            assert_eq!(buffers.rows()[..12 * BINDS], wanted, "{what}");
            assert!(buffers.untouched(MODELS, BINDS), "{what}");
        }
    }
}

/// A palette of nine rows is equal whether its inverse binds are all stored or partly taken from common ones.
#[test]
fn what_constants_have_in_common_changes_no_row() {
    for level in SimdLevel::supported() {
        let stride = level.width();
        let steps: Vec<Step> =
            (0..9).map(|i| step(Local::Moving(4 * stride as u32 - 1), 0, 0, 1 + i % 2)).collect();
        let rows: usize = steps.iter().map(|s| usize::from(s.rows)).sum();
        let locals = (locals_of(stride), stride);
        let walk = Walk::new(steps, (0, rows), locals, MODELS).unwrap();
        let common: Vec<Rows> = (0..rows).map(|i| moved(i as f32)).collect();
        let base = walk.constants(&[], common.clone());
        // Bit r of a set: row r differs from the common one.
        for differing in 0..1u32 << 9 {
            let mut binds = common.clone();
            let mut row = 0;
            for (i, step) in walk.steps.iter().enumerate() {
                row += usize::from(step.rows);
                if differing >> i & 1 == 1 {
                    binds[row - 1] = moved(500.0 + i as f32);
                }
            }
            let own = walk.own(walk.constants(&[], binds.clone()), &base);
            let mut buffers = Buffers::new(stride, 0);
            buffers.output = vec![Row::splat(UNTOUCHED); rows + GUARD];
            let sizes = [locals_of(stride), MODELS, rows];
            assert_eq!(buffers.run((&walk, (&own, &base)), level, sizes, false), None);
            let wanted = binds.iter().map(|bind| moved(1100.0 + bind[0][3]));
            let wanted = wanted.collect::<Vec<_>>().concat().concat();
            let what = format!("{level}, {differing:09b}");
            assert_eq!(buffers.rows()[..12 * rows], wanted, "{what}");
            assert!(buffers.untouched(MODELS, rows), "{what}");
            assert!(own.binds.len() <= rows && (differing > 0 || own.binds.is_empty()), "{what}");
        }
    }
}

#[test]
fn constants_of_another_walk_are_left_alone() {
    for level in SimdLevel::supported() {
        let stride = level.width();
        let (own, other) = (walk(stride), walk(stride));
        let (fits, foreign) = (constants(&own), constants(&other));
        for pair in [(&foreign, &fits), (&fits, &foreign), (&foreign, &foreign)] {
            let mut buffers = Buffers::new(stride, 0);
            let sizes = [locals_of(stride), MODELS, BINDS];
            let said = buffers.run((&own, pair), level, sizes, false);
            let wanted = cfg!(debug_assertions).then_some("a buffer is shorter than the walk");
            assert_eq!(said.as_deref(), wanted, "{level}");
            assert!(buffers.untouched(1, 0), "{level}");
        }
    }
}

#[test]
fn buffers_that_are_too_short_are_left_alone() {
    for level in SimdLevel::supported() {
        let stride = level.width();
        let own = walk(stride);
        // Other levels have registers of another width.
        let (wider, narrower) = (walk(2 * stride), walk(stride / 2));
        let nothing = Walk::new(Vec::new(), (0, 0), (0, stride), 0).unwrap();
        let [locals, models, output] = [locals_of(stride), MODELS, BINDS];
        let fits = constants(&own);
        let few = own.constants(&[], vec![moved(0.25); BINDS]);
        let unbound = own.constants(&[moved(5.0), moved(20.0)], vec![moved(0.25); BINDS - 1]);
        for of in [few, unbound] {
            let mut buffers = Buffers::new(stride, 0);
            let said = buffers.run((&own, (&of, &of)), level, [locals, models, output], false);
            let wanted = cfg!(debug_assertions).then_some("a buffer is shorter than the walk");
            assert_eq!(said.as_deref(), wanted, "{level}");
            assert!(buffers.untouched(1, 0), "{level}");
        }
        let cases = [
            ("locals", &own, [locals - 1, models, output]),
            ("no locals", &own, [0, models, output]),
            ("models", &own, [locals, models - 1, output]),
            ("the root alone", &own, [locals, 1, output]),
            ("no models", &own, [locals, 0, output]),
            ("no root", &nothing, [0, 0, 0]),
            ("output", &own, [locals, models, output - 1]),
            ("no output", &own, [locals, models, 0]),
            ("a wider stride", &wider, [2 * locals, models, output]),
            ("a narrower stride", &narrower, [2 * locals, models, output]),
        ];
        for (what, walk, sizes) in cases {
            for stream in [false, true] {
                let mut buffers = Buffers::new(stride, 0);
                let said = buffers.run((walk, (&fits, &fits)), level, sizes, stream);
                let wanted = cfg!(debug_assertions).then_some("a buffer is shorter than the walk");
                assert_eq!(said.as_deref(), wanted, "{level}, {what}");
                assert!(buffers.untouched(1, 0), "{level}, {what} {stream}");
            }
        }
    }
}

/// The error of the usual steps with one of them changed.
fn refused(stride: usize, change: impl Fn(&mut [Step])) -> Option<WalkError> {
    let mut steps = steps(stride);
    change(&mut steps);
    checked(steps, stride).err()
}

#[test]
fn local_matrices_outside_their_rows_are_refused() {
    for stride in [4, 8, 16] {
        let rows = locals_of(stride);
        // The rows of a matrix are one stride apart.
        for (row, fits) in [
            (0, true),
            (rows - 2 * stride - 1, true),
            (rows - 2 * stride, false),
            (rows - stride, false),
            (rows - 1, false),
            (rows, false),
            (u32::MAX as usize, false),
        ] {
            let row = row as u32;
            let wanted = (!fits).then_some(WalkError::Moving { step: 0, row, stride, rows });
            let found = refused(stride, |s| s[0].local = Local::Moving(row));
            assert_eq!(found, wanted, "row {row} of {rows}");
        }
    }
    // A matrix has three rows.
    for rows in [0, 4, 8] {
        let steps = vec![step(Local::Moving(0), 0, 0, 0)];
        let found = Walk::new(steps, (0, 0), (rows, 4), 1).err();
        let (step, row, stride) = (0, 0, 4);
        let wanted = WalkError::Moving { step, row, stride, rows };
        assert_eq!(found, Some(wanted));
    }
}

#[test]
fn constants_that_do_not_exist_are_refused() {
    for stride in [4, 8, 16] {
        // The walk has two constants.
        for (constant, fits) in [
            (0, true),
            (1, true),
            (2, false),
            (stride as u32 - 1, false),
            (stride as u32, false),
            (1 << 20, false),
            (u32::MAX, false),
        ] {
            let wanted = (!fits).then_some(WalkError::Constant { step: 1, constant, constants: 2 });
            let found = refused(stride, |s| s[1].local = Local::Constant(constant));
            assert_eq!(found, wanted, "constant {constant}, stride {stride}");
        }
    }
    // The last of 12 constants, in three triples of 4: its rows end the store.
    let steps = vec![step(Local::Constant(11), 0, 0, 0)];
    let walk = Walk::new(steps, (12, 0), (0, 4), 1).unwrap();
    let [Step { local, .. }] = walk.steps[..] else { panic!("{:?}", walk.steps) };
    assert_eq!((local, walk.constants), (Local::Constant(27), 36));
    let rows = walk.constants(&[moved(1.0); 12], Vec::new()).constants;
    assert_eq!((rows.len(), rows[27][3]), (36, 1.0));
}

#[test]
fn model_matrices_that_do_not_exist_are_refused() {
    const ANY: u16 = u16::MAX;
    let models = MODELS;
    for at in 0..3 {
        for (value, fits) in [(0, true), (MODELS as u16, false), (ANY, false)] {
            let found = refused(4, |s| s[at].parent = value);
            let wanted = (!fits).then_some(WalkError::Parent { step: at, parent: value, models });
            assert_eq!(found, wanted, "step {at}, parent {value}");
            // Later steps read the products of the first two steps.
            let found = refused(4, |s| s[at].model = value);
            let wanted = if fits {
                let order = WalkError::Order { step: 1, parent: 1 };
                (at == 0).then_some(order)
            } else {
                Some(WalkError::Model { step: at, model: value, models })
            };
            assert_eq!(found, wanted, "step {at}, model {value}");
        }
    }
    // Without a model matrix there is no root.
    let steps = vec![step(Local::Done, 0, 0, 0)];
    let found = Walk::new(steps, (0, 0), (0, 4), 0).err();
    let (step, parent, models) = (0, 0, 0);
    let wanted = WalkError::Parent { step, parent, models };
    assert_eq!(found, Some(wanted));
}

#[test]
fn parents_behind_their_children_are_refused() {
    let order = |step, parent| Some(WalkError::Order { step, parent });
    assert_eq!(refused(4, |s| s.swap(0, 1)), order(0, 1));
    assert_eq!(refused(4, |s| s.swap(0, 2)), order(0, 1));
    // Refused: a parent that no step keeps, a step's own product, and that of a step without a product.
    assert_eq!(refused(4, |s| s[2].parent = 2), None);
    assert_eq!(refused(4, |s| (s[1].model, s[2].parent) = (0, 2)), order(2, 2));
    assert_eq!(refused(4, |s| s[0].parent = 1), order(0, 1));
    let done = |s: &mut [Step]| s[0].local = Local::Done;
    assert_eq!(refused(4, done), order(1, 1));
    // A chained step takes its parent's matrix from registers.
    let chained = |s: &mut [Step]| (s[0].model, s[1].chained, s[2].chained) = (0, true, true);
    assert_eq!(refused(4, chained), None);
}

#[test]
fn rows_without_an_inverse_bind_are_refused() {
    for (rows, fits) in [(0, false), (1, false), (2, true), (3, false)] {
        let found = refused(4, |s| s[1].rows = rows);
        let wanted =
            (!fits).then_some(WalkError::Rows { rows: usize::from(rows) + 2, binds: BINDS });
        assert_eq!(found, wanted, "{rows} rows");
    }
}

#[test]
fn a_stride_of_zero_is_refused() {
    let found = Walk::new(steps(4), (0, 0), (24, 0), MODELS).err();
    assert_eq!(found, Some(WalkError::Stride));
}
