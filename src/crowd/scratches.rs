//! `Scratches`: the buffers of a frame's workers, and the sizes from which rows are streamed and keys prefetched.

use crate::playback::pool::{PaletteNeeds, PaletteScratch, Pool};

/// A range of fewer palettes is not split further: rayon's cost of a split stays below 1%.
const CHUNK: usize = 32;
/// Ranges per worker: more than one, so that workers that finish early can take over others.
const PARTS_PER_WORKER: usize = 8;

/// From this many bytes of palettes on, rows are stored past the caches. Nanoseconds per character of 67 rows, with the
/// copy that an upload makes, on an EPYC with 32 MB of third-level cache: 6 MB took 242 plain and 290 streamed, 13 MB
/// 335 and 306, 26 MB 511 and 340.
pub(super) const STREAM_BYTES: usize = 10 << 20;

/// From this many bytes of keys on, the keys of the next instances are prefetched. Fewer bytes stay in the second-level
/// cache, where prefetching would cost a tenth of a frame.
pub(super) const COLD_BYTES: usize = 2 << 20;

/// The scratches of a frame's workers, one per range of palettes.
#[derive(Debug, Default)]
pub(crate) struct Scratches {
    all: Vec<PaletteScratch>,
    /// The sizes that every scratch has room for: the largest of all pools.
    needs: PaletteNeeds,
}

impl Scratches {
    /// Makes room for the instances of a pool. Room is never given back.
    pub fn reserve(&mut self, pool: &Pool) {
        let needs = self.needs.max(&pool.needs(pool.state.len()));
        if needs != self.needs {
            self.all.iter_mut().for_each(|s| s.reserve(&needs));
            self.needs = needs;
        }
    }

    /// One scratch per range for `palettes` on the current rayon pool, with room for the pools that were
    /// [reserved](Self::reserve).
    pub fn prepare(&mut self, palettes: usize) -> &mut [PaletteScratch] {
        // A frame that was cut short may have left watched joints.
        self.all.iter_mut().for_each(|s| s.joints.clear());
        let workers = rayon::current_num_threads();
        let parts = match workers {
            0 | 1 => 1,
            _ => (workers * PARTS_PER_WORKER).min(palettes / CHUNK).max(1),
        };
        self.take(parts)
    }

    /// The first `parts` scratches; makes those that are missing.
    pub fn take(&mut self, parts: usize) -> &mut [PaletteScratch] {
        while self.all.len() < parts {
            let mut scratch = PaletteScratch::default();
            scratch.reserve(&self.needs);
            self.all.push(scratch);
        }
        &mut self.all[..parts]
    }

    /// Writes the watched joints that the workers have evaluated to their pools.
    pub fn put_joints(&mut self, pools: &mut [Option<Pool>]) {
        self.all.iter_mut().for_each(|s| s.joints.put(pools));
    }
}
