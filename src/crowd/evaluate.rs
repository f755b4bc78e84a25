//! The frame's evaluation: rayon over ranges of instances, each with its own slice of the buffer and
//! its own scratch.

use crate::math::{Affine3x4, SimdLevel};
use crate::playback::pool::{PaletteScratch, Pool};

/// Instances below which a range is not split further: rayon's cost of a split stays below 1%.
const CHUNK: usize = 32;
/// Ranges per worker: enough that workers which finish early find more to do.
const PARTS_PER_WORKER: usize = 8;

/// From this many bytes of palettes on, rows are stored past the caches. Stores alone, per 67 rows:
/// 32 MB took 173 to 259 ns plain and 142 to 159 streamed; 16 MB 124 to 138 and 135 to 244; 3 MB 107
/// and 129.
pub(crate) const STREAM_BYTES: usize = 24 << 20;

/// A scratch for every range that a frame is split into.
#[derive(Debug, Default)]
pub(crate) struct Scratches(Vec<PaletteScratch>);

impl Scratches {
    /// The scratches for `instances` of one pool on the current rayon pool, with room for its rig.
    pub fn prepare(&mut self, pool: &Pool, instances: usize) -> &mut [PaletteScratch] {
        let workers = rayon::current_num_threads();
        let parts = match workers {
            0 | 1 => 1,
            _ => (workers * PARTS_PER_WORKER).min(instances / CHUNK).max(1),
        };
        if self.0.len() < parts {
            self.0.resize_with(parts, PaletteScratch::default);
        }
        let scratches = &mut self.0[..parts];
        for scratch in scratches.iter_mut() {
            pool.reserve(scratch);
        }
        scratches
    }
}

/// A range of a pool's instances, with the hints, scratches and rows that are theirs.
pub(crate) struct Task<'a> {
    pub pool: &'a Pool,
    pub level: SimdLevel,
    /// Whether the rows go past the caches.
    pub stream: bool,
    pub first: usize,
    pub end: usize,
    pub hints: &'a mut [u16],
    pub scratches: &'a mut [PaletteScratch],
    pub rows: &'a mut [Affine3x4],
}

impl Task<'_> {
    /// Splits down to one scratch; `join` runs both halves without allocating.
    pub fn run(self) {
        let parts = self.scratches.len();
        if parts <= 1 {
            if let Some(scratch) = self.scratches.first_mut() {
                let all = self.first..self.end;
                self.pool.evaluate(
                    all,
                    (self.level, self.stream),
                    self.hints,
                    scratch,
                    self.rows,
                );
            }
            return;
        }
        let count = self.end - self.first;
        let half = count * (parts / 2) / parts;
        let middle = self.first + half;
        let rank = &self.pool.rank;
        let palettes = (rank[middle] - rank[self.first]) as usize;
        let stride = self.pool.hints_per_instance();
        let (hints_a, hints_b) = self.hints.split_at_mut(half * stride);
        let (rows_a, rows_b) = self
            .rows
            .split_at_mut(palettes * self.pool.rig.palette_len());
        let (scratches_a, scratches_b) = self.scratches.split_at_mut(parts / 2);
        let a = Task {
            end: middle,
            hints: hints_a,
            scratches: scratches_a,
            rows: rows_a,
            ..self
        };
        let b = Task {
            first: middle,
            end: self.end,
            hints: hints_b,
            scratches: scratches_b,
            rows: rows_b,
            ..a
        };
        rayon::join(|| a.run(), || b.run());
    }
}
