//! The evaluation of a frame: rayon over ranges of instances, each with its own part of the output memory and
//! its own scratch.

use super::memory::Output;
use crate::playback::lent::Lent;
use crate::playback::pool::{How, PaletteNeeds, PaletteScratch, Pool, WatchPart};
use std::ops::Range;

/// A range of fewer instances is not split further: rayon's cost of a split stays below 1%.
const CHUNK: usize = 32;
/// Ranges per worker: more than one, so that workers that finish early can take over others.
const PARTS_PER_WORKER: usize = 8;

/// From this many bytes of palettes on, rows are stored past the caches. A frame of 67 rows a character, and the copy of
/// its rows that an upload makes, on an EPYC with 32 MB of third-level cache: 6 MB took 242 ns plain and 290 streamed,
/// 13 MB 335 and 306, 26 MB 511 and 340.
pub(super) const STREAM_BYTES: usize = 10 << 20;

/// From this many bytes of keys on, what the next instances read is prefetched. Fewer stay in the second-level cache,
/// and asking for what is there costs a tenth of a frame.
pub(super) const COLD_BYTES: usize = 2 << 20;

/// A scratch for every range that a frame is split into.
#[derive(Debug, Default)]
pub(crate) struct Scratches {
    all: Vec<PaletteScratch>,
    /// What they were reserved for.
    needs: PaletteNeeds,
}

impl Scratches {
    /// Makes room for the instances of a pool. What there is stays.
    pub fn reserve(&mut self, pool: &Pool) {
        let needs = self.needs.max(&pool.needs(pool.state.len()));
        if needs != self.needs {
            self.all.iter_mut().for_each(|s| s.reserve(&needs));
            self.needs = needs;
        }
    }

    /// The scratches for `instances` on the current rayon pool, with room for the pools that were
    /// [reserved](Self::reserve).
    pub fn prepare(&mut self, instances: usize) -> &mut [PaletteScratch] {
        let workers = rayon::current_num_threads();
        let parts = match workers {
            0 | 1 => 1,
            _ => (workers * PARTS_PER_WORKER).min(instances / CHUNK).max(1),
        };
        self.take(parts)
    }

    /// That many scratches.
    pub fn take(&mut self, parts: usize) -> &mut [PaletteScratch] {
        while self.all.len() < parts {
            let mut scratch = PaletteScratch::default();
            scratch.reserve(&self.needs);
            self.all.push(scratch);
        }
        &mut self.all[..parts]
    }
}

/// A range of instances that one worker evaluates, with its hints, watched joints and scratch.
pub(super) struct Part<'a> {
    pub pool: &'a Pool,
    /// The pool that the worker evaluates next.
    pub next: Option<&'a Pool>,
    pub instances: Range<usize>,
    pub how: How,
    pub hints: &'a mut [u16],
    pub watch: WatchPart<'a>,
    pub scratch: &'a mut PaletteScratch,
}

/// All instances of some pools, with scratches and output.
pub(super) struct Pools<'a, O> {
    pub pools: &'a mut [Option<Pool>],
    pub how: How,
    pub scratches: &'a mut [PaletteScratch],
    pub output: O,
}

impl<O: Output> Pools<'_, O> {
    /// Splits between pools by their rows, then within a pool, down to one scratch; `join` runs both halves without
    /// allocating.
    pub fn run(self) {
        let Self {
            pools,
            how,
            scratches,
            output,
        } = self;
        if scratches.len() > 1 && pools.len() > 1 {
            let all: usize = pools.iter().map(rows).sum();
            let mut before = 0;
            let mut middle = 0;
            // The pool in the middle goes to the half that lacks more.
            while middle < pools.len() && before + rows(&pools[middle]) / 2 < all / 2 {
                before += rows(&pools[middle]);
                middle += 1;
            }
            let middle = middle.clamp(1, pools.len() - 1);
            let before: usize = pools[..middle].iter().map(rows).sum();
            let share = (scratches.len() * before).checked_div(all).unwrap_or(0);
            let share = share.clamp(1, scratches.len() - 1);
            let (pools_a, pools_b) = pools.split_at_mut(middle);
            let (scratches_a, scratches_b) = scratches.split_at_mut(share);
            let (output_a, output_b) = output.split(before);
            let a = Pools {
                pools: pools_a,
                how,
                scratches: scratches_a,
                output: output_a,
            };
            let b = Pools {
                pools: pools_b,
                how,
                scratches: scratches_b,
                output: output_b,
            };
            rayon::join(|| a.run(), || b.run());
            return;
        }
        let mut rest = output;
        let mut pools = pools;
        while let Some((pool, others)) = pools.split_first_mut() {
            pools = others;
            let (now, later) = rest.split(rows(pool));
            rest = later;
            let Some(pool) = pool else { continue };
            let next = pools.iter().flatten().next();
            let mut lent = Lent::new(pool, |pool| &mut pool.hints);
            let (pool, hints) = lent.split();
            let run = |pool: &Pool, hints: &mut [u16], watch: WatchPart<'_>| {
                Task {
                    pool,
                    next,
                    how,
                    first: 0,
                    end: pool.state.len(),
                    hints,
                    watch,
                    scratches: &mut *scratches,
                    output: now,
                }
                .run();
            };
            if pool.watch.is_empty() {
                run(pool, hints, WatchPart::default());
            } else {
                let mut lent = Lent::new(pool, |pool| &mut pool.watch);
                let (pool, watch) = lent.split();
                run(pool, hints, watch.frame());
            }
        }
    }
}

/// The rows that a frame writes of a pool.
fn rows(pool: &Option<Pool>) -> usize {
    let rows = |p: &Pool| p.places.counts().written * p.places.stride();
    pool.as_ref().map_or(0, rows)
}

/// A range of a pool's instances, with its hints, watched joints, scratches and output.
struct Task<'a, O> {
    pool: &'a Pool,
    /// The pool behind it.
    next: Option<&'a Pool>,
    how: How,
    first: usize,
    end: usize,
    hints: &'a mut [u16],
    watch: WatchPart<'a>,
    scratches: &'a mut [PaletteScratch],
    output: O,
}

impl<O: Output> Task<'_, O> {
    /// Splits down to one scratch; `join` runs both halves without allocating.
    pub fn run(self) {
        let parts = self.scratches.len();
        if parts <= 1 {
            if let Some(scratch) = self.scratches.first_mut() {
                self.output.fill(Part {
                    pool: self.pool,
                    next: self.next,
                    instances: self.first..self.end,
                    how: self.how,
                    hints: self.hints,
                    watch: self.watch,
                    scratch,
                });
            }
            return;
        }
        let count = self.end - self.first;
        let half = count * (parts / 2) / parts;
        let middle = self.first + half;
        let places = &self.pool.places;
        let palettes = places.written(self.first, middle);
        let stride = self.pool.hints_per_instance();
        let (hints_a, hints_b) = self.hints.split_at_mut(half * stride);
        let (watch_a, watch_b) = self.watch.split(half);
        let (output_a, output_b) = self.output.split(palettes * places.stride());
        let (scratches_a, scratches_b) = self.scratches.split_at_mut(parts / 2);
        let a = Task {
            pool: self.pool,
            next: None,
            how: self.how,
            first: self.first,
            end: middle,
            hints: hints_a,
            watch: watch_a,
            scratches: scratches_a,
            output: output_a,
        };
        let b = Task {
            pool: self.pool,
            next: self.next,
            how: self.how,
            first: middle,
            end: self.end,
            hints: hints_b,
            watch: watch_b,
            scratches: scratches_b,
            output: output_b,
        };
        rayon::join(|| a.run(), || b.run());
    }
}
