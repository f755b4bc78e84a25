//! The frame's evaluation: rayon over ranges of instances, each with its own slice of the buffer.

use super::actions::ACTIONS_PER_LAYER;
use super::pool::Pool;
use crate::math::{Affine3x4, SimdLevel};
use crate::runtime::fused::FusedScratch;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Instances of one task. Large enough to hide rayon's cost of a split (below 1%), small enough to
/// balance a thousand instances over eight workers.
const CHUNK: usize = 32;

/// One worker's buffers: a scratch per pool.
#[derive(Debug, Default)]
pub(crate) struct WorkerScratch {
    pub pools: Vec<FusedScratch>,
}

/// The buffers of all workers.
#[derive(Debug, Default)]
pub(crate) struct Workers(Vec<Mutex<WorkerScratch>>);

impl Workers {
    /// Makes room for the workers of the current rayon pool and for all rigs.
    pub fn prepare<'a>(&mut self, pools: impl Iterator<Item = (usize, &'a Pool)> + Clone) {
        let wanted = rayon::current_num_threads() + 1;
        if self.0.len() < wanted {
            self.0.resize_with(wanted, Mutex::default);
        }
        for worker in &mut self.0 {
            let worker = worker.get_mut().unwrap_or_else(PoisonError::into_inner);
            for (index, pool) in pools.clone() {
                worker.prepare(index, pool);
            }
        }
    }

    /// Forgets a rig's buffers.
    pub fn forget(&mut self, index: usize) {
        for worker in &mut self.0 {
            let worker = worker.get_mut().unwrap_or_else(PoisonError::into_inner);
            if let Some(slot) = worker.pools.get_mut(index) {
                *slot = FusedScratch::default();
            }
        }
    }

    /// The buffers of the current worker.
    fn lock(&self) -> MutexGuard<'_, WorkerScratch> {
        let index = rayon::current_thread_index().map_or(0, |i| i + 1);
        let worker = &self.0[index % self.0.len()];
        worker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WorkerScratch {
    pub fn prepare(&mut self, index: usize, pool: &Pool) -> &mut FusedScratch {
        if self.pools.len() <= index {
            self.pools.resize_with(index + 1, FusedScratch::default);
        }
        let scratch = &mut self.pools[index];
        let actions = pool.layers.len() * ACTIONS_PER_LAYER;
        scratch.reserve(&pool.rig, actions * pool.timelines);
        scratch
    }
}

/// A range of a pool's instances, with the hints and the rows that are theirs.
pub(crate) struct Task<'a> {
    pub pool: &'a Pool,
    pub pool_index: usize,
    pub workers: &'a Workers,
    pub level: SimdLevel,
    pub first: usize,
    pub end: usize,
    pub hints: &'a mut [u16],
    pub rows: &'a mut [Affine3x4],
}

impl Task<'_> {
    /// Splits down to chunks; `join` runs both halves without allocating.
    pub fn run(self) {
        let count = self.end - self.first;
        if count <= CHUNK {
            self.run_chunk();
            return;
        }
        let half = count / 2;
        let middle = self.first + half;
        let rank = &self.pool.rank;
        let palettes = (rank[middle] - rank[self.first]) as usize;
        let (hints_a, hints_b) = self
            .hints
            .split_at_mut(half * self.pool.hints_per_instance());
        let (rows_a, rows_b) = self
            .rows
            .split_at_mut(palettes * self.pool.rig.palette_len());
        let a = Task {
            end: middle,
            hints: hints_a,
            rows: rows_a,
            ..self
        };
        let b = Task {
            pool: a.pool,
            pool_index: a.pool_index,
            workers: a.workers,
            level: a.level,
            first: middle,
            end: self.end,
            hints: hints_b,
            rows: rows_b,
        };
        rayon::join(|| a.run(), || b.run());
    }

    fn run_chunk(self) {
        let mut worker = self.workers.lock();
        let scratch = worker.prepare(self.pool_index, self.pool);
        let stride = self.pool.hints_per_instance();
        let mut rows = self.rows;
        for index in self.first..self.end {
            if !self.pool.scheduled(index) {
                continue;
            }
            let at = (index - self.first) * stride;
            let (now, later) = rows.split_at_mut(self.pool.rig.palette_len());
            let hints = &mut self.hints[at..at + stride];
            self.pool.evaluate(index, self.level, hints, scratch, now);
            rows = later;
        }
    }
}
