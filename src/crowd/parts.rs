//! `Parts`: a scheduled frame in parts, for a host's own threads.
//!
//! ```text
//! pools     | pool 0 |     pool 1     |    pool 2    | pool 3 |
//! parts     |      part 0      |      part 1      |   part 2   |       ranges of about as many rows
//! ```

use super::crowd_data::Crowd;
use super::evaluate::{Part, Scratches};
use super::memory::{Copied, Output, PaletteMemory};
use super::schedule::FrameId;
use super::tiers::BankShare;
use crate::playback::pool::{How, PaletteScratch, Pool, WatchPart};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a crowd lends to the parts of a frame, until the next call that changes the crowd.
#[derive(Debug, Default)]
pub(crate) struct Lending {
    /// The key hints of the pools.
    hints: Vec<Vec<u16>>,
    /// The frame, and the parts that have not been run.
    frame: Option<FrameId>,
    left: AtomicUsize,
}

impl Crowd {
    /// Takes back what was lent to the parts of the last frame. If all of them were run, the frame is complete.
    #[inline]
    pub(super) fn settle_parts(&mut self) {
        if self.lending.frame.is_some() {
            self.take_parts_back();
        }
    }

    #[cold]
    fn take_parts_back(&mut self) {
        if let Some(frame) = self.lending.frame.take() {
            let complete = *self.lending.left.get_mut() == 0;
            self.frame = complete.then_some(frame);
            if let (true, Some(tiering)) = (complete, &mut self.tiering) {
                tiering.finish();
            }
            for (pool, hints) in self.pools.iter_mut().zip(&mut self.lending.hints) {
                let hints = std::mem::take(hints);
                if let Some(pool) = pool {
                    // Any hints are valid, whatever has happened since.
                    if pool.hints.is_empty() && hints.len() == pool.hints_len() {
                        pool.hints = hints;
                    }
                    pool.fit_hints_len();
                }
            }
        }
    }

    /// Splits a frame of `rows` rows and `instances` instances into at most `parts` parts.
    pub(super) fn lend_parts<M: PaletteMemory>(
        &mut self,
        (frame, rows, instances): (FrameId, usize, usize),
        how: How,
        parts: usize,
        memory: M,
    ) -> Parts<'_, M> {
        self.settle_parts();
        let parts = parts.max(1).min(instances);
        let Self {
            pools,
            scratches,
            lending,
            ..
        } = self;
        self.frame = None;
        lending.frame = Some(frame);
        *lending.left.get_mut() = parts;
        lending.hints.resize_with(pools.len(), Vec::new);
        for (pool, hints) in pools.iter_mut().zip(&mut lending.hints) {
            *hints = pool
                .as_mut()
                .map_or_else(Vec::new, |p| std::mem::take(&mut p.hints));
        }
        let mut hints = lending.hints.iter_mut();
        Parts {
            banks: None,
            pools,
            first: 0,
            current: hints.next().map(Vec::as_mut_slice).unwrap_or_default(),
            later: hints.into_slice(),
            scratches: Scratches::take(scratches, parts).iter_mut(),
            memory: Some(memory),
            rows,
            how,
            left: &lending.left,
        }
    }
}

impl Crowd {
    /// Splits the work of a frame with tiers into at most `parts` parts.
    pub(super) fn lend_banks<M: PaletteMemory>(
        &mut self,
        frame: FrameId,
        (how, compact): (How, bool),
        parts: usize,
        memory: M,
    ) -> Parts<'_, M> {
        self.settle_parts();
        let Self {
            pools,
            scratches,
            lending,
            tiering,
            frame: last,
            ..
        } = self;
        *last = None;
        lending.frame = Some(frame);
        lending.hints.clear();
        let tiering = tiering.as_deref_mut();
        if let Some(tiering) = &tiering {
            tiering.evaluate_watched(pools, false);
        }
        let pools: &[Option<Pool>] = pools;
        let banks = tiering.map(|tiering| tiering.share(pools, how, compact));
        let parts = parts.max(1).min(banks.as_ref().map_or(0, |b| b.work.len()));
        *lending.left.get_mut() = parts;
        Parts {
            banks,
            pools: &[],
            first: 0,
            current: <&mut [u16]>::default(),
            later: <&mut [Vec<u16>]>::default(),
            scratches: Scratches::take(scratches, parts).iter_mut(),
            memory: Some(memory),
            rows: 0,
            how,
            left: &lending.left,
        }
    }
}

/// The parts of a scheduled frame that have not been handed out, from [`Schedule::parts`](super::Schedule::parts).
///
/// An iterator: each part owns its range of instances, its scratch and its part of the memory. The frame is complete
/// when every part has been [run](FramePart::run). If one is dropped before, no memory counts as holding the frame, and
/// the next frame evaluates every visible instance; tiers begin anew if another part was run. [Watched](Crowd::watch) joints keep the matrices that they had; with
/// [tiers](Crowd::set_tiers) they were evaluated before the first part.
#[derive(Debug)]
pub struct Parts<'a, M> {
    /// With tiers: the work that is left.
    banks: Option<BankShare<'a>>,
    /// Those that are left; of the first one, instances from `first` on.
    pools: &'a [Option<Pool>],
    first: usize,
    /// The hints of the first pool's instances that are left.
    current: &'a mut [u16],
    /// The hints of the other pools.
    later: &'a mut [Vec<u16>],
    scratches: std::slice::IterMut<'a, PaletteScratch>,
    memory: Option<M>,
    /// Rows that are left.
    rows: usize,
    how: How,
    left: &'a AtomicUsize,
}

/// A part of a scheduled frame, for any thread.
#[derive(Debug)]
#[must_use = "a frame is complete only when all its parts have been run"]
pub struct FramePart<'a, M> {
    /// With tiers: the part's work.
    banks: Option<BankShare<'a>>,
    /// Of the first pool the instances from `first` on, of the last those before `end`.
    pools: &'a [Option<Pool>],
    first: usize,
    end: usize,
    /// The hints of the first pool, of those between, and of the last.
    hints: (&'a mut [u16], &'a mut [Vec<u16>], &'a mut [u16]),
    scratch: &'a mut PaletteScratch,
    memory: M,
    how: How,
    left: &'a AtomicUsize,
}

/// The instances of a pool.
fn instances(pool: &Option<Pool>) -> usize {
    pool.as_ref().map_or(0, |p| p.state.len())
}

/// The rows that a frame writes of a range of a pool's instances.
fn rows(pool: &Option<Pool>, first: usize, end: usize) -> usize {
    let rows = |p: &Pool| p.places.written(first, end) * p.places.stride();
    pool.as_ref().filter(|_| first < end).map_or(0, rows)
}

/// The key hints of `count` of a pool's instances.
fn hints(pool: &Option<Pool>, count: usize) -> usize {
    pool.as_ref().map_or(0, |p| p.hints_per_instance() * count)
}

impl<'a, M: PaletteMemory> Iterator for Parts<'a, M> {
    type Item = FramePart<'a, M>;

    fn next(&mut self) -> Option<FramePart<'a, M>> {
        let parts = self.scratches.len();
        let scratch = self.scratches.next()?;
        if let Some(share) = self.banks.take() {
            return self.next_banks(share, scratch, parts);
        }
        let (count, end, rows) = if parts == 1 {
            let last = self.pools.last().map_or(0, instances);
            (self.pools.len(), last, self.rows)
        } else {
            self.reach(self.rows / parts)
        };
        let mut memory = self.memory.take()?;
        if parts > 1 {
            let (now, later) = memory.split_at(rows);
            (memory, self.memory) = (now, Some(later));
        }
        self.rows -= rows;
        let pools = self.pools.get(..count).unwrap_or_default();
        let first = self.first;
        let current = std::mem::take(&mut self.current);
        let hints = match pools {
            [] | [_] => {
                let only = pools.first().map_or(0, |p| hints(p, end - first));
                let (now, later) = split(current, only);
                self.current = later;
                (now, <&mut [Vec<u16>]>::default(), <&mut [u16]>::default())
            }
            [.., last] => {
                let later = std::mem::take(&mut self.later);
                let (between, later) = later.split_at_mut((count - 2).min(later.len()));
                let (of_last, later) = later.split_first_mut().unzip();
                let of_last = of_last.map(Vec::as_mut_slice).unwrap_or_default();
                let (now, rest) = split(of_last, hints(last, end));
                self.later = later.unwrap_or_default();
                self.current = rest;
                (current, between, now)
            }
        };
        // The last pool is the first one of the next part.
        self.pools = self.pools.get(count.max(1) - 1..).unwrap_or_default();
        self.first = end;
        Some(FramePart {
            banks: None,
            pools,
            first,
            end,
            hints,
            scratch,
            memory,
            how: self.how,
            left: self.left,
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.scratches.size_hint()
    }
}

impl<M: PaletteMemory> ExactSizeIterator for Parts<'_, M> {}

impl<'a, M: PaletteMemory> Parts<'a, M> {
    /// The next of `parts` parts of a frame with tiers.
    fn next_banks(
        &mut self,
        share: BankShare<'a>,
        scratch: &'a mut PaletteScratch,
        parts: usize,
    ) -> Option<FramePart<'a, M>> {
        let mut memory = self.memory.take()?;
        let mut share = share;
        if parts > 1 {
            let at = share.work.len() / parts;
            let ((now, later), rows) = share.split_at(at);
            let (of_now, of_later) = memory.split_at(rows);
            (share, memory) = (now, of_now);
            (self.banks, self.memory) = (Some(later), Some(of_later));
        }
        Some(FramePart {
            banks: Some(share),
            pools: &[],
            first: 0,
            end: 0,
            hints: Default::default(),
            scratch,
            memory,
            how: self.how,
            left: self.left,
        })
    }
}

impl<M> Parts<'_, M> {
    /// How far a part of about `share` rows reaches: the number of pools, where it ends in the last one, and its rows.
    fn reach(&self, share: usize) -> (usize, usize, usize) {
        let (mut taken, mut first) = (0, self.first);
        for (n, pool) in self.pools.iter().enumerate() {
            let all = instances(pool);
            let more = rows(pool, first, all);
            if taken + more >= share {
                let places = pool.as_ref().map(|p| &p.places);
                let end = places.map_or(all, |places| {
                    // Rounded up, so that the first part of a frame has an instance.
                    let missing = (share - taken).div_ceil(places.stride().max(1));
                    places.end_of(first, missing)
                });
                return (n + 1, end, taken + rows(pool, first, end));
            }
            taken += more;
            first = 0;
        }
        let last = self.pools.last().map_or(0, instances);
        (self.pools.len(), last, taken)
    }
}

/// Splits hints; too few of them go to the first part.
fn split(hints: &mut [u16], at: usize) -> (&mut [u16], &mut [u16]) {
    let at = at.min(hints.len());
    hints.split_at_mut(at)
}

impl<M: PaletteMemory> FramePart<'_, M> {
    /// Evaluates the part into its memory, on this thread.
    pub fn run(self) {
        if let Some(share) = self.banks {
            Copied(self.memory).fill_banks(share, self.scratch);
            self.left.fetch_sub(1, Ordering::AcqRel);
            return;
        }
        let (of_first, between, of_last) = self.hints;
        let last = self.pools.len().saturating_sub(1);
        let lists = std::iter::once(of_first)
            .chain(between.iter_mut().map(Vec::as_mut_slice))
            .chain(std::iter::once(of_last));
        let mut rest = Copied(self.memory);
        for (n, (pool, hints)) in self.pools.iter().zip(lists).enumerate() {
            let first = if n == 0 { self.first } else { 0 };
            let end = if n == last { self.end } else { instances(pool) };
            let (now, later) = rest.split(rows(pool, first, end));
            rest = later;
            if let Some(pool) = pool.as_ref().filter(|_| first < end) {
                let next = self.pools[n + 1..].iter().flatten().next();
                now.fill(Part {
                    pool,
                    next,
                    instances: first..end,
                    how: self.how,
                    hints,
                    watch: WatchPart::default(),
                    scratch: self.scratch,
                });
            }
        }
        // What has been written is visible to the one that takes the frame back.
        self.left.fetch_sub(1, Ordering::AcqRel);
    }
}
