//! The evaluation of a frame: rayon over ranges of instances, each with its own part of the output memory and
//! its own scratch.

use super::memory::Output;
use crate::playback::lent::Lent;
use crate::playback::pool::{PaletteNeeds, PaletteScratch, Pool, WatchPart};
use crate::simd::SimdLevel;
use std::ops::Range;

/// A range of fewer instances is not split further: rayon's cost of a split stays below 1%.
const CHUNK: usize = 32;
/// Ranges per worker: more than one, so that workers that finish early can take over others.
const PARTS_PER_WORKER: usize = 8;

/// From this many bytes of palettes on, rows are stored past the caches. Stores alone, per 67 rows:
/// 32 MB took 173 to 259 ns plain and 142 to 159 streamed; 16 MB 124 to 138 and 135 to 244; 3 MB 107
/// and 129.
pub(super) const STREAM_BYTES: usize = 24 << 20;

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
    pub instances: Range<usize>,
    /// The level, and whether rows go past the caches.
    pub how: (SimdLevel, bool),
    pub hints: &'a mut [u16],
    pub watch: WatchPart<'a>,
    pub scratch: &'a mut PaletteScratch,
}

/// All instances of some pools, with scratches and output.
pub(super) struct Pools<'a, O> {
    pub pools: &'a mut [Option<Pool>],
    /// The level, and whether rows go past the caches.
    pub how: (SimdLevel, bool),
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
        for pool in pools {
            let (now, later) = rest.split(rows(pool));
            rest = later;
            let Some(pool) = pool else { continue };
            let mut lent = Lent::new(pool, |pool| &mut pool.hints);
            let (pool, hints) = lent.split();
            let mut lent = Lent::new(pool, |pool| &mut pool.watch);
            let (pool, watch) = lent.split();
            Task {
                pool,
                how,
                first: 0,
                end: pool.state.len(),
                hints,
                watch: watch.frame(),
                scratches,
                output: now,
            }
            .run();
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
    /// The level, and whether rows go past the caches.
    how: (SimdLevel, bool),
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
