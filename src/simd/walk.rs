//! The pass down a hierarchy of row matrices: model matrices into scratch memory, palette rows into the
//! output, front to back. It is a lane file because bounds checks take a third of its time.

use super::lanes::out_of_line;
use super::ops::{Lanes, prefetch};
use super::stream::{StreamRow, Streaming};
use crate::math::{Affine3x4, Row};
use fearless_simd::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

mod check;

use check::{WalkError, check_local, constant_rows};

/// The place of a step's local matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Local {
    /// An index into the locals: the first of three rows, which are one stride apart.
    Moving(u32),
    /// A constant of the walk: its number in the steps given to [`Walk::new`], and within the walk the index of its first
    /// row, as for the locals.
    Constant(u32),
    /// No local matrix: the step adds palette rows to a model matrix that is computed already.
    Done,
}

/// One step down the hierarchy: a model matrix, then the palette rows of its joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Step {
    pub local: Local,
    /// The model matrix of the parent, or with `Done` the one to use: joint + 1, or 0 for the root.
    pub parent: u16,
    /// The model matrix that keeps the product: joint + 1, or 0 if no later step reads it.
    pub model: u16,
    /// The number of palette rows that follow: model matrix × the next inverse binds.
    pub rows: u16,
    /// True if the previous step leaves the parent's matrix in registers.
    pub chained: bool,
}

/// The rows of a 3×4 matrix.
pub(crate) type Rows = [[f32; 4]; 3];

/// Steps whose every index is checked against the buffer sizes that [`Walk::run`] requires.
#[derive(Clone, Debug, Default)]
pub(crate) struct Walk {
    steps: Vec<Step>,
    /// A number that only copies of this walk share. The empty walk has 0.
    id: u64,
    /// The number of rows of the constants, and of inverse binds.
    constants: usize,
    binds: usize,
    /// The number of rows of the locals, and the distance between the rows of a matrix.
    locals: usize,
    stride: usize,
    /// The number of model matrices, including the root.
    models: usize,
}

/// The constants and the inverse binds of a walk. A walk can run with several of them; each leaves out what it shares
/// with common ones (see [`Walk::own`]).
#[derive(Clone, Debug, Default)]
pub(crate) struct WalkConstants {
    /// The id of the walk that they are laid out for; [`NO_WALK`] if their number differs from what it needs.
    walk: u64,
    /// Rows in triples, strided like the locals, so that one form of address serves both. Empty if the common ones hold.
    constants: Vec<[f32; 4]>,
    /// Inverse binds of the spans with `own`, one span after another.
    binds: Vec<Rows>,
    /// Ranges of steps, in order, each with one source of inverse binds.
    spans: Vec<Span>,
}

/// Consecutive steps.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Span {
    /// The step behind the last one of the span.
    end: u32,
    /// The first palette row of the span.
    row: u32,
    /// True if the inverse binds are in [`WalkConstants::binds`] of these constants; false if the common constants hold
    /// them.
    own: bool,
}

/// The id of the next walk.
static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// The id of constants that fit no walk.
const NO_WALK: u64 = u64::MAX;

/// The fewest palette rows for which a span of common inverse binds is kept: a span costs some ten instructions.
const COMMON_ROWS: u32 = 3;

impl WalkConstants {
    /// Prefetches the constants and inverse binds that are stored here.
    #[inline(always)]
    pub fn prefetch(&self) {
        prefetch(&self.constants);
        prefetch(&self.binds);
    }
}

impl Walk {
    /// Checks the steps for a number of constants and inverse binds. `locals` holds the number of rows of local
    /// matrices and the distance between the rows of one; `models` counts the root's matrix.
    ///
    /// # Errors
    /// If an index of a step is outside its buffer, a step reads a parent that none before it keeps, or
    /// the steps do not write one palette row for each of `binds`.
    pub fn new(
        mut steps: Vec<Step>,
        (constants, binds): (usize, usize),
        (locals, stride): (usize, usize),
        models: usize,
    ) -> Result<Self, WalkError> {
        if stride == 0 {
            return Err(WalkError::Stride);
        }
        let mut kept = vec![false; models];
        if let Some(root) = kept.first_mut() {
            *root = true;
        }
        for (i, step) in steps.iter_mut().enumerate() {
            check_local(i, &mut step.local, constants, (locals, stride))?;
            let Step { parent, model, .. } = *step;
            match kept.get(usize::from(parent)) {
                None => {
                    return Err(WalkError::Parent { step: i, parent, models });
                }
                Some(false) if !step.chained => return Err(WalkError::Order { step: i, parent }),
                Some(_) => {}
            }
            let Some(keep) = kept.get_mut(usize::from(model)) else {
                return Err(WalkError::Model { step: i, model, models });
            };
            *keep |= step.local != Local::Done;
        }
        let rows: usize = steps.iter().map(|s| usize::from(s.rows)).sum();
        if rows != binds {
            return Err(WalkError::Rows { rows, binds });
        }
        Ok(Self {
            steps,
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            constants: constant_rows(constants, stride),
            binds,
            locals,
            stride,
            models,
        })
    }

    /// Prefetches the steps.
    #[inline(always)]
    pub fn prefetch(&self) {
        prefetch(&self.steps);
    }

    /// Lays constants out for this walk. If their number differs from the walk's, [`run`](Self::run) refuses them.
    pub fn constants(&self, constants: &[Rows], binds: Vec<Rows>) -> WalkConstants {
        let stride = self.stride.max(1);
        let mut spread = vec![[0.0; 4]; constant_rows(constants.len(), stride)];
        let triples = spread.chunks_exact_mut(3 * stride);
        for (triple, constants) in triples.zip(constants.chunks(stride)) {
            for (n, constant) in constants.iter().enumerate() {
                for (r, row) in constant.iter().enumerate() {
                    triple[r * stride + n] = *row;
                }
            }
        }
        WalkConstants {
            walk: match binds.len() == self.binds && spread.len() == self.constants {
                true => self.id,
                false => NO_WALK,
            },
            constants: spread,
            binds,
            spans: vec![Span { end: self.steps.len() as u32, row: 0, own: true }],
        }
    }

    /// Removes from `all` the values that equal `common`'s: [`run`](Self::run) takes them from `common`. If `all` or
    /// `common` is of another walk or was reduced before, `all` is returned unchanged.
    pub fn own(&self, all: WalkConstants, common: &WalkConstants) -> WalkConstants {
        let whole = |c: &WalkConstants| c.walk == self.id && c.binds.len() == self.binds;
        if !(whole(&all) && whole(common)) {
            return all;
        }
        let mut spans: Vec<Span> = Vec::new();
        let mut row = 0;
        for (end, step) in (1..).zip(&self.steps) {
            let rows = row..row + usize::from(step.rows);
            let own = all.binds[rows.clone()] != common.binds[rows.clone()];
            match spans.last_mut() {
                Some(last) if last.own == own || rows.is_empty() => last.end = end,
                _ => spans.push(Span { end, row: row as u32, own }),
            }
            row = rows.end;
        }
        let ends = spans.iter().skip(1).map(|span| span.row);
        let ends: Vec<u32> = ends.chain([row as u32]).collect();
        let mut joined: Vec<Span> = Vec::new();
        let mut binds = Vec::new();
        for (mut span, end) in spans.into_iter().zip(ends) {
            span.own |= end - span.row < COMMON_ROWS;
            if span.own {
                binds.extend_from_slice(&all.binds[span.row as usize..end as usize]);
            }
            match joined.last_mut() {
                Some(last) if last.own == span.own => last.end = span.end,
                _ => joined.push(span),
            }
        }
        WalkConstants {
            walk: self.id,
            constants: match all.constants == common.constants {
                true => Vec::new(),
                false => all.constants,
            },
            binds,
            spans: joined,
        }
    }

    /// Runs all steps. `models[0]` is the root's matrix; the others are scratch. What `constants` leaves out is read from
    /// `common`; the two may be the same. With `streaming`, and if the output is aligned to 16 bytes, rows are stored past
    /// the caches: until the fence is dropped, nothing may read them. Does nothing if a buffer is shorter than the walk
    /// requires, or the constants belong to another walk.
    #[inline(always)]
    pub fn run<S: Lanes>(
        &self,
        simd: S,
        (constants, common): (&WalkConstants, &WalkConstants),
        locals: &[[f32; 4]],
        models: &mut [Row],
        output: &mut [Affine3x4],
        streaming: Option<Streaming<'_>>,
    ) {
        let rows = match constants.constants.is_empty() {
            true => &common.constants[..],
            false => &constants.constants[..],
        };
        if S::f32s::LEN != self.stride
            || constants.walk != self.id
            || common.walk != self.id
            || rows.len() < self.constants
            || common.binds.len() < self.binds
            || locals.len() < self.locals
            || models.len() < self.models
            || models.is_empty()
            || output.len() < self.binds
        {
            debug_assert!(false, "a buffer is shorter than the walk");
            return;
        }
        let constants = (rows, constants, common);
        if let Some(streaming) = streaming
            && let Some(output) = StreamRow::of(output)
        {
            self.out_of_line(simd, constants, locals, models, output, Stream(streaming));
        } else {
            self.out_of_line(simd, constants, locals, models, output, Plain);
        }
    }

    /// [`steps`](Self::steps) out of line: inlined among the loops of sampling, the walk's registers would be spilled
    /// at every step.
    #[inline(always)]
    fn out_of_line<S: Lanes, W: StoreRow>(
        &self,
        simd: S,
        constants: (&[[f32; 4]], &WalkConstants, &WalkConstants),
        locals: &[[f32; 4]],
        models: &mut [Row],
        output: &mut [W::Row],
        store: W,
    ) {
        out_of_line(
            simd,
            #[inline(always)]
            || self.steps(simd, constants, locals, models, output, store),
        );
    }

    /// All steps. `run` has compared the buffers with the sizes that `new` checked; `rows` holds the constants.
    #[inline(always)]
    fn steps<S: Lanes, W: StoreRow>(
        &self,
        simd: S,
        (rows, own, common): (&[[f32; 4]], &WalkConstants, &WalkConstants),
        locals: &[[f32; 4]],
        models: &mut [Row],
        output: &mut [W::Row],
        store: W,
    ) {
        let stride = S::f32s::LEN;
        let (moving, constant) = (locals.as_ptr(), rows.as_ptr());
        let mut out = output.as_mut_ptr();
        let mut spread = simd.splat_matrix(simd.load_matrix(&models[0].0));
        let (all, mut own_bind) = (self.steps.as_ptr(), own.binds.as_ptr());
        let mut at = all;
        for span in &own.spans {
            // SAFETY: the constants belong to this walk: `constants` and `own` have made spans that end at ascending
            // steps of it, the last at its end; their first rows lie within the common binds.
            let (end, shared) = unsafe {
                let shared = common.binds.as_ptr().add(span.row as usize);
                (all.add(span.end as usize), shared)
            };
            let mut bind = if span.own { own_bind } else { shared };
            while at != end {
                // SAFETY: as above, each step is read once.
                let step = unsafe { &*at };
                // SAFETY: as above.
                at = unsafe { at.add(1) };
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
                    // SAFETY: `check_local` has checked that at + 2 stride is below self.constants, which is at
                    // most rows.len(), or below self.locals, which is at most locals.len().
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
                    // SAFETY: the rows of all steps sum to self.binds, which is at most output.len() and
                    // common.binds.len(); `own.binds` has the rows of its spans one after another. Both pointers are
                    // read and advanced once for every row, so they end one past the end at most.
                    let ([x, y, z], row) = unsafe { (&*bind, &mut *out) };
                    store.store(simd, simd.multiply(&spread, [x, y, z]), row);
                    // SAFETY: as above.
                    (bind, out) = unsafe { (bind.add(1), out.add(1)) };
                }
            }
            if span.own {
                own_bind = bind;
            }
        }
    }
}

/// How a walk stores palette rows.
trait StoreRow: Copy {
    type Row;
    fn store<S: Lanes>(self, simd: S, m: S::Matrix, row: &mut Self::Row);
}

#[derive(Clone, Copy)]
struct Plain;

impl StoreRow for Plain {
    type Row = Affine3x4;

    #[inline(always)]
    fn store<S: Lanes>(self, simd: S, m: S::Matrix, row: &mut Affine3x4) {
        simd.store_rows(m, bytemuck::must_cast_mut(&mut row.rows));
    }
}

/// Stores past the caches.
#[derive(Clone, Copy)]
struct Stream<'a>(Streaming<'a>);

impl StoreRow for Stream<'_> {
    type Row = StreamRow;

    #[inline(always)]
    fn store<S: Lanes>(self, simd: S, m: S::Matrix, row: &mut StreamRow) {
        // SAFETY: a walk reads no palette row, and `Walk::run` requires the same of its callers until
        // the fence is dropped.
        unsafe { simd.stream_rows(m, row, self.0) }
    }
}

#[cfg(test)]
mod tests;
