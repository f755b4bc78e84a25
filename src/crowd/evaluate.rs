//! The evaluation of a frame: rayon over ranges of instances, each with its own part of the output memory and
//! its own scratch.

use super::memory::Output;
use crate::playback::RigId;
use crate::playback::pool::{PaletteScratch, Pool};
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
pub(crate) struct Scratches(Vec<PaletteScratch>);

impl Scratches {
    /// The scratches for `instances` of one pool on the current rayon pool, with room for its rig.
    pub fn prepare(&mut self, pool: &mut Pool, instances: usize) -> &mut [PaletteScratch] {
        let workers = rayon::current_num_threads();
        let parts = match workers {
            0 | 1 => 1,
            _ => (workers * PARTS_PER_WORKER).min(instances / CHUNK).max(1),
        };
        if self.0.len() < parts {
            self.0.resize_with(parts, PaletteScratch::default);
        }
        let scratches = &mut self.0[..parts];
        pool.reserve_all(scratches);
        scratches
    }

    /// Frees the scratch of a rig that is removed.
    pub fn forget(&mut self, rig: RigId) {
        self.0.iter_mut().for_each(|s| s.instance.forget(rig));
    }
}

/// A range of instances that one worker evaluates, with its hints and scratch.
pub(super) struct Part<'a> {
    pub pool: &'a Pool,
    pub instances: Range<usize>,
    /// The level, and whether rows go past the caches.
    pub how: (SimdLevel, bool),
    pub hints: &'a mut [u16],
    pub scratch: &'a mut PaletteScratch,
}

/// A range of a pool's instances, with its hints, scratches and output.
pub(super) struct Task<'a, O> {
    pub pool: &'a Pool,
    /// The level, and whether rows go past the caches.
    pub how: (SimdLevel, bool),
    pub first: usize,
    pub end: usize,
    pub hints: &'a mut [u16],
    pub scratches: &'a mut [PaletteScratch],
    pub output: O,
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
        let (output_a, output_b) = self.output.split(palettes * places.stride());
        let (scratches_a, scratches_b) = self.scratches.split_at_mut(parts / 2);
        let a = Task {
            pool: self.pool,
            how: self.how,
            first: self.first,
            end: middle,
            hints: hints_a,
            scratches: scratches_a,
            output: output_a,
        };
        let b = Task {
            pool: self.pool,
            how: self.how,
            first: middle,
            end: self.end,
            hints: hints_b,
            scratches: scratches_b,
            output: output_b,
        };
        rayon::join(|| a.run(), || b.run());
    }
}
