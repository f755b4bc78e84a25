//! `Progress`: how far a frame has come, and how long its palettes take.

use super::MAX_TIERS;
use super::stats::TierFrame;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How far the palettes of the scheduled frame have been written.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// True if the memory has no palettes, so that the frame writes all.
    lost: bool,
    /// True if the frame was written. Written once more, to other memory, palettes are the same.
    written: bool,
    /// True from the start of the evaluation of a frame's cells until all are evaluated. The state of the cells then
    /// depends on which were evaluated, so the next frame of a crowd with tiers starts over.
    begun: AtomicBool,
    /// Nanoseconds of all workers, by tier, then for shared palettes.
    nanoseconds: [AtomicU64; MAX_TIERS + 1],
}

impl Progress {
    /// A frame was scheduled for memory that `holds` the palettes of the last one.
    #[inline]
    pub fn begin(&mut self, holds: bool) {
        self.lost |= !holds;
        self.written = false;
    }

    #[inline]
    pub fn lost(&self) -> bool {
        self.lost
    }

    /// Whether the frame was written before. Cells keep what they were evaluated from then.
    #[inline(always)]
    pub fn written(&self) -> bool {
        self.written
    }

    /// Cells of the frame are evaluated from here on.
    #[inline]
    pub fn begin_cells(&self) {
        self.begun.store(true, Ordering::Relaxed);
    }

    /// The clock of a worker.
    #[inline]
    pub fn times(&self) -> Times<'_> {
        Times { all: &self.nanoseconds, watch: Stopwatch::start(), tier: None }
    }

    #[inline]
    pub fn clear_times(&mut self) {
        self.nanoseconds.iter_mut().for_each(|n| *n.get_mut() = 0);
    }

    /// The frame was written: the memory has all palettes. With tiers, its times become `stats`.
    #[inline]
    pub fn finish(&mut self, stats: Option<&mut TierFrame>) {
        (self.lost, self.written, *self.begun.get_mut()) = (false, true, false);
        if let Some(stats) = stats {
            stats.set_times(self.nanoseconds.each_mut().map(|n| *n.get_mut()));
        }
    }

    /// Whether cells were evaluated and the frame was not finished. Then forgets it.
    #[inline]
    pub fn take_begun(&mut self) -> bool {
        std::mem::take(self.begun.get_mut())
    }
}

/// The time of banks of one tier, which ends where that of another tier's begins.
pub(super) struct Times<'a> {
    all: &'a [AtomicU64; MAX_TIERS + 1],
    watch: Stopwatch,
    tier: Option<usize>,
}

impl Times<'_> {
    /// Banks of a tier come next.
    #[inline]
    pub fn go_on(&mut self, tier: usize) {
        if self.tier != Some(tier) {
            self.lap();
            self.tier = Some(tier);
        }
    }

    #[inline]
    fn lap(&mut self) {
        if let Some(tier) = self.tier {
            self.all[tier].fetch_add(self.watch.lap(), Ordering::Relaxed);
        }
    }

    #[inline]
    pub fn end(mut self) {
        self.lap();
    }
}

/// Measures time where the platform has a clock.
struct Stopwatch(#[cfg(not(target_family = "wasm"))] std::time::Instant);

impl Stopwatch {
    #[inline(always)]
    fn start() -> Self {
        Self(
            #[cfg(not(target_family = "wasm"))]
            std::time::Instant::now(),
        )
    }

    /// Nanoseconds since the start or the last lap.
    #[inline(always)]
    fn lap(&mut self) -> u64 {
        #[cfg(not(target_family = "wasm"))]
        {
            let now = std::time::Instant::now();
            let lap = now.duration_since(std::mem::replace(&mut self.0, now));
            u64::try_from(lap.as_nanos()).unwrap_or(u64::MAX)
        }
        #[cfg(target_family = "wasm")]
        0
    }
}
