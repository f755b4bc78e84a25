//! `Scratches`: the buffers of a frame's workers, and the sizes from which rows are streamed and keys prefetched.

use super::tiers::{Order, OrderNeeds, Work};
use crate::evaluate::{Instances, Needs, PaletteScratch};
use crate::playback::pool::Pool;
use crate::threads;

/// A range of fewer palettes is not split further: rayon's cost of a split stays below 1%.
const CHUNK: usize = 32;
/// Ranges per worker: more than one, so that workers that finish early can take over others.
const PARTS_PER_WORKER: usize = 8;

/// Bytes of palettes in a frame from which rows are stored past the caches. Nanoseconds per character of 67 rows, with
/// the copy that an upload makes, on an EPYC with 32 MB of third-level cache: 6 MB took 242 plain and 290 streamed, 13
/// MB 335 and 306, 26 MB 511 and 340.
pub(super) const STREAM_BYTES: usize = 10 << 20;

/// Bytes of keys from which the keys of the next instances are prefetched. Fewer bytes stay in the second-level
/// cache, where prefetching would cost a tenth of a frame.
pub(super) const COLD_BYTES: usize = 2 << 20;

/// The buffers of a worker.
#[derive(Debug, Default)]
pub(crate) struct WorkerScratch {
    pub palettes: PaletteScratch,
    pub order: Order,
    /// Works in another order.
    pub arranged: Vec<Work>,
}

impl WorkerScratch {
    fn reserve(&mut self, (palettes, order): &(Needs, OrderNeeds)) {
        self.palettes.reserve(palettes);
        self.order.reserve(order);
    }
}

/// A scratch for every range that a frame is split into.
#[derive(Debug, Default)]
pub(crate) struct Scratches {
    all: Vec<WorkerScratch>,
    /// The sizes that they were reserved for.
    needs: (Needs, OrderNeeds),
}

impl Scratches {
    /// Makes room for the instances of a pool. Room is never given back.
    pub fn reserve(&mut self, pool: &Pool) {
        let needs = (self.needs.0.max(&pool.needs()), self.needs.1.max(pool));
        if needs != self.needs {
            self.needs = needs;
            self.all.iter_mut().for_each(|scratch| scratch.reserve(&needs));
        }
    }

    /// One scratch per range for `palettes` on the current rayon pool, with room for the pools that were
    /// [reserved](Self::reserve).
    #[inline]
    pub fn prepare(&mut self, palettes: usize) -> &mut [WorkerScratch] {
        let parts = match palettes / CHUNK {
            0 | 1 => 1,
            most => match threads::current_num_threads() {
                0 | 1 => 1,
                workers => most.min(workers * PARTS_PER_WORKER),
            },
        };
        self.take(parts)
    }

    #[inline]
    pub fn take(&mut self, parts: usize) -> &mut [WorkerScratch] {
        if self.all.len() < parts {
            self.grow(parts);
        }
        &mut self.all[..parts]
    }

    #[cold]
    fn grow(&mut self, parts: usize) {
        while self.all.len() < parts {
            let mut scratch = WorkerScratch::default();
            scratch.reserve(&self.needs);
            self.all.push(scratch);
        }
    }

    /// Forgets the watched joints that a frame which was cut short has left.
    pub fn clear_joints(&mut self) {
        self.all.iter_mut().for_each(|s| s.palettes.joints.clear());
    }

    /// Puts the watched joints that a frame has taken into the arrays of their pools.
    pub fn put_joints(&mut self, pools: &mut [Option<Pool>]) {
        self.all.iter_mut().for_each(|s| s.palettes.joints.put(pools, Pool::watched_mut));
    }
}
