//! The ranking: heights on screen → tiers, for all instances of a pool, over the workers.

use super::Tiering;
use super::assign::Request;
use super::clocks::{ChunkClocks, Origin, PhaseClock};
use super::ranked::Ranked;
use crate::crowd::tiers::bank::{NONE, SHARED_CELL};
use crate::crowd::tiers::cells::OUT;
use crate::crowd::tiers::heights::Heights;
use crate::crowd::tiers::shared::{PhaseKey, SharedPhases};
use crate::crowd::tiers::spheres::{Eight, LANES, Spheres};
use crate::crowd::tiers::tier::{MAX_TIERS, Tiers};
use crate::crowd::tiers::view::WideView;
use crate::evaluate::Instances;
use crate::playback::changes::{Changes, What};
use crate::playback::pool::Pool;
use crate::threads;
use wide::{CmpGt, f32x8};

/// Instances of a chunk, which one worker ranks: some 10 µs of work.
pub(super) const CHUNK: usize = 4096;

/// Number of instances ahead at which the entries are prefetched.
const AHEAD: usize = 12;

/// Ranking results of a chunk of instances.
#[derive(Debug, Default)]
pub(super) struct ChunkRequests {
    /// Instances whose playback decides whether they need another cell: index, tier before, tier now.
    looks: Vec<(u32, u8, u8)>,
    requests: Vec<Request>,
}

/// A chunk of a pool's instances, and what its ranking changes.
struct Chunk<'a> {
    tiers: &'a [u8],
    cells: &'a mut [u32],
    clocks: &'a mut [PhaseClock],
    origin: &'a mut Origin,
    found: &'a mut ChunkRequests,
}

/// Input of the ranking of a pool.
struct Ranking<'a> {
    pool: &'a Pool,
    changes: &'a Changes,
    spheres: &'a Spheres,
    importance: &'a [f32],
    shared: &'a SharedPhases,
    tiers: &'a Tiers,
    heights: Heights,
    views: &'a [WideView],
    frame: u32,
    /// For each tier, the seconds to the middle of the frames until an instance looks for its next phase.
    lead: [f64; MAX_TIERS],
    /// For each tier, the number of its detail.
    detail: [u8; MAX_TIERS],
    /// True without views and importances: all visible instances are in the finest tier.
    all: bool,
}

/// The greatest heights of eight spheres in views: in pictures, and in maps of shadows.
#[inline(always)]
fn heights(eight: &Eight, views: &[WideView]) -> [f32x8; 2] {
    let mut heights = [f32x8::ZERO; 2];
    for view in views {
        let known = &mut heights[usize::from(view.shadows)];
        *known = known.max(view.heights(eight.center, eight.radius, eight.size));
    }
    heights
}

impl Ranking<'_> {
    /// The heights of eight instances in pictures and in maps of shadows.
    #[inline(always)]
    fn heights(&self, register: usize) -> [f32x8; 2] {
        let eight = self.spheres.eight(register);
        let mut heights = heights(&eight, self.views);
        if self.all {
            heights[0] = f32x8::splat(f32::INFINITY);
        }
        if !self.importance.is_empty() {
            let first = register * LANES;
            let given = f32x8::new(std::array::from_fn(|l| {
                self.importance.get(first + l).copied().unwrap_or(0.0)
            }));
            heights[0] = heights[0].max(given);
        }
        // Hidden ones have a negative radius.
        let shown = wide::CmpGe::cmp_ge(eight.radius, f32x8::ZERO);
        heights.map(|h| shown & h)
    }

    fn chunk(&self, number: usize, chunk: Chunk<'_>) {
        let first = number * CHUNK;
        let Chunk { tiers, cells, clocks, origin, found: ChunkRequests { looks, requests } } =
            chunk;
        let mut clocks = ChunkClocks::new(number, clocks, origin, self.pool.state().clock());
        let after = self.lead.map(|lead| clocks.elapsed() + lead);
        looks.clear();
        for (r, old) in tiers.chunks(LANES).enumerate() {
            let [main, shadow] = self.heights(first / LANES + r);
            let mut seen = (main | shadow).cmp_gt(f32x8::ZERO).move_mask() as u32;
            for (l, &old) in old.iter().enumerate() {
                seen |= u32::from(old != OUT) << l;
            }
            seen &= (1 << old.len()) - 1;
            let (main, shadow) = (main.to_array(), shadow.to_array());
            while seen != 0 {
                let l = seen.trailing_zeros() as usize;
                seen &= seen - 1;
                let (old, at) = (old[l], r * LANES + l);
                let index = (first + at) as u32;
                let tier = self.heights.tier(old, main[l], shadow[l]);
                let cell = &mut cells[at];
                if old == tier && *cell & SHARED_CELL != 0 && *cell != NONE {
                    // Most of all: they go on as they did.
                    let after = after[usize::from(tier) % MAX_TIERS];
                    let detail = self.detail[usize::from(tier) % MAX_TIERS];
                    if let Some((clip, share)) = clocks.all[at].after(after) {
                        if self.waits(index, tier) {
                            continue;
                        }
                        let key = self.shared.key_at(clip, share, (tier, detail));
                        if let Some(found) = key.and_then(|key| self.shared.find(key, self.frame)) {
                            *cell = found | SHARED_CELL;
                        } else if let Some(key) = key {
                            let key = Some(key);
                            requests.push(Request { index, tier, key });
                        } else {
                            looks.push((index, old, tier));
                        }
                        continue;
                    }
                }
                if self.looks(index, (old, tier), *cell) {
                    looks.push((index, old, tier));
                }
            }
        }
        for (n, &(index, old, tier)) in looks.iter().enumerate() {
            if let Some(&(next, ..)) = looks.get(n + AHEAD) {
                self.pool.prefetch_entries(next as usize);
            }
            let at = index as usize - first;
            requests.extend(self.request(index, (old, tier), &mut cells[at]));
            if tier != OUT
                && self.tiers.tiers[usize::from(tier)].shared_error.is_some()
                && let Some(steady) = self
                    .pool
                    .plays_steadily(index as usize, self.tiers.tiers[usize::from(tier)].springs)
            {
                clocks.set(at, steady);
            }
        }
        // In the order of the instances, however they were found.
        requests.sort_unstable_by_key(|request| request.index);
    }

    /// Whether an instance may have to get another cell.
    #[inline(always)]
    fn looks(&self, index: u32, (old, tier): (u8, u8), cell: u32) -> bool {
        if old != tier || cell == NONE || self.changes.of(index as usize).has(What::POSE) {
            return true;
        }
        if cell & SHARED_CELL == 0 {
            // A fade may have ended.
            return self.tiers.tiers[usize::from(tier)].shared_error.is_some();
        }
        !self.waits(index, tier)
    }

    /// Whether an instance that shares a palette shows the phase of an earlier frame.
    #[inline(always)]
    fn waits(&self, index: u32, tier: u8) -> bool {
        // Rates are powers of two.
        let rate = u32::from(self.tiers.tiers[usize::from(tier)].rate);
        index.wrapping_add(self.frame) & (rate - 1) != 0
    }

    /// The request of an instance; `None` if it keeps its cell, or shows another phase that is there.
    #[inline(always)]
    fn request(&self, index: u32, (old, tier): (u8, u8), cell: &mut u32) -> Option<Request> {
        let request = |key| Request { index, tier, key };
        if tier == OUT {
            return Some(request(None));
        }
        let key = self.phase(index as usize, tier);
        let changed = self.changes.of(index as usize).has(What::POSE);
        let same = old == tier && *cell != NONE && !changed;
        let Some(key) = key else {
            // It has a palette of its own.
            return (!same || *cell & SHARED_CELL != 0).then(|| request(None));
        };
        if same
            && *cell & SHARED_CELL != 0
            && let Some(found) = self.shared.find(key, self.frame)
        {
            *cell = found | SHARED_CELL;
            return None;
        }
        Some(request(Some(key)))
    }

    /// Phase that an instance shows if it shares a palette in a tier: in the middle of the frames until it looks again.
    #[inline(always)]
    fn phase(&self, index: usize, tier: u8) -> Option<PhaseKey> {
        let t = &self.tiers.tiers[usize::from(tier)];
        t.shared_error?;
        let lead = self.lead[usize::from(tier)];
        let (clip, time) = self.pool.plays_alone(index, lead, t.springs)?;
        let detail = self.detail[usize::from(tier)];
        self.shared.key(clip, time, (tier, detail))
    }
}

impl Tiering {
    /// Ranks the instances of a pool, then meets their requests, in the order of the instances. With `all`, every
    /// visible instance is in the picture.
    pub(super) fn rank(&mut self, number: usize, pool: &Pool, all: bool) {
        let chunks = pool.state().len().div_ceil(CHUNK);
        let mut chunk_requests = std::mem::take(&mut self.chunk_requests);
        if chunk_requests.len() < chunks {
            chunk_requests.resize_with(chunks, ChunkRequests::default);
        }
        let found = &mut chunk_requests[..chunks];
        let Ranked { spheres, cells, importances, shared, clocks, .. } = &mut self.pools[number];
        let (tier, cell) = cells.lend();
        let mut lead = [0.0; MAX_TIERS];
        for (lead, tier) in lead.iter_mut().zip(&self.plan.tiers.tiers) {
            *lead = 0.5 * f64::from(tier.rate - 1) * self.plan.clock.step().abs();
        }
        let ranking = Ranking {
            pool,
            changes: pool.changes(),
            spheres,
            importance: importances.all(),
            shared,
            tiers: &self.plan.tiers,
            heights: Heights::new(&self.plan.tiers),
            views: &self.wide,
            frame: self.plan.clock.frame(),
            lead,
            detail: std::array::from_fn(|tier| pool.tables().details().of_tier(tier as u8)),
            all,
        };
        type Parts<'a> = (
            ((&'a [u8], &'a mut [u32]), &'a mut [PhaseClock]),
            (&'a mut Origin, &'a mut ChunkRequests),
        );
        let run = |(number, parts): (usize, Parts<'_>)| {
            let (((tiers, cells), clocks), (origin, found)) = parts;
            let chunk = Chunk { tiers, cells, clocks, origin, found };
            ranking.chunk(number, chunk);
        };
        let spread = chunks > 1 && threads::current_num_threads() > 1;
        #[cfg(feature = "threads")]
        if spread {
            use rayon::prelude::*;
            let all = tier.par_chunks(CHUNK).zip(cell.par_chunks_mut(CHUNK));
            let all = all.zip(clocks.all.par_chunks_mut(CHUNK));
            let all = all.zip(clocks.origins.par_iter_mut().zip(&mut *found));
            all.enumerate().for_each(run);
        }
        if !spread {
            let all = tier.chunks(CHUNK).zip(cell.chunks_mut(CHUNK));
            let all = all.zip(clocks.all.chunks_mut(CHUNK));
            let all = all.zip(clocks.origins.iter_mut().zip(&mut *found));
            all.enumerate().for_each(run);
        }
        for chunk in found {
            for request in chunk.requests.drain(..) {
                self.meet(number, pool, request);
            }
        }
        self.chunk_requests = chunk_requests;
    }

    /// The height of an instance, for the order in which the budget is spent: in pictures, or in maps of shadows if the
    /// pictures give it no tier.
    pub(super) fn importance(&self, number: usize, index: usize) -> f32 {
        let ranked = &self.pools[number];
        let eight = ranked.spheres.eight(index / LANES);
        let [main, shadow] = heights(&eight, &self.wide).map(|h| h.to_array()[index % LANES]);
        let given = ranked.importances.all().get(index).copied().unwrap_or(0.0);
        let seen = main.max(given);
        let last = self.plan.tiers.tiers.last().map_or(0.0, |t| t.height);
        let least = last * (1.0 - self.plan.tiers.hysteresis);
        let height = match seen > 0.0 && seen >= least {
            true => seen,
            false => seen.max(shadow),
        };
        // Importance orders those that wait; an eye inside of a sphere makes it as large as can be.
        height.clamp(f32::MIN_POSITIVE, f32::MAX)
    }
}
