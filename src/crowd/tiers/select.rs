//! Which cells a frame evaluates: what it must, then what is due, within the budget.

use super::bank::{Bank, CELLS, SHARED, split};
use super::stats::TierStats;
use super::tier::Tiers;
use super::tiering::{Ranked, Tiering};
use super::view::WideView;
use crate::crowd::scratches::{COLD_BYTES, STREAM_BYTES};
use crate::crowd::{RowGroup, RowMove};
use crate::math::Affine3x4;
use crate::playback::pool::{How, Pool};
use crate::simd::SimdLevel;

/// A set of palettes of a bank. The earlier one of cell `c` has number `2 c`; the later one, or the only one, `2 c + 1`.
#[derive(Clone, Copy, Debug)]
pub(super) struct PaletteSet(u32);

impl PaletteSet {
    /// The later or only palettes of some cells, and the earlier ones of others.
    #[inline]
    fn new(later: u16, earlier: u16) -> Self {
        Self(spread(later) << 1 | spread(earlier))
    }

    #[inline(always)]
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Takes out the palette of the lowest number. The set is not empty.
    #[inline(always)]
    pub fn pop(&mut self) -> usize {
        let palette = self.0.trailing_zeros() as usize;
        self.0 &= self.0.wrapping_sub(1);
        palette
    }
}

/// The bits at even places.
#[inline]
fn spread(bits: u16) -> u32 {
    if bits == 0 {
        return 0;
    }
    let mut x = u32::from(bits);
    for (shift, mask) in [(8, 0x00ff_00ff), (4, 0x0f0f_0f0f), (2, 0x3333_3333), (1, 0x5555_5555)] {
        x = (x | x << shift) & mask;
    }
    x
}

/// The cells of a bank that a frame writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    pub(in crate::crowd) bank: u32,
    /// Those that are evaluated; of others the stored inputs.
    pub(super) evaluate: u16,
    /// All that are written.
    pub(super) write: u16,
    /// Their palettes that are written.
    pub(super) palettes: PaletteSet,
    /// Rows of palettes that come before this bank's.
    pub(super) before: usize,
    /// The first row in the memory that the frame is written to.
    pub(in crate::crowd) row: usize,
}

impl Work {
    /// The palettes that it writes.
    pub(super) fn palettes(&self) -> usize {
        self.palettes.len()
    }
}

/// What a selection writes in all, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selected {
    pub how: How,
    /// True if joints are watched.
    pub watched: bool,
    /// True if a pool sorts its palettes by clips.
    pub sorts: bool,
    /// True if inputs are stored though a tier is updated in every frame: the budget may let it wait.
    pub store: bool,
    /// Cells that are evaluated.
    pub cells: usize,
    /// Cells that keep their palettes.
    pub held: usize,
    /// Palettes that are written.
    pub palettes: usize,
    /// Rows of palettes that are written, without padding.
    pub palette_rows: usize,
    /// With padding.
    padded_rows: usize,
    /// Rows of all cells.
    pub rows: usize,
    /// Rows of the memory that is written.
    pub written: usize,
}

impl Default for Selected {
    fn default() -> Self {
        let level = SimdLevel::Portable;
        Self {
            how: How { level, stream: false, ahead: false, compact: false },
            watched: false,
            sorts: false,
            store: false,
            cells: 0,
            held: 0,
            palettes: 0,
            palette_rows: 0,
            padded_rows: 0,
            rows: 0,
            written: 0,
        }
    }
}

/// What a selection was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::crowd) struct Request {
    /// Every palette starts at a multiple of this many rows; at least 1.
    pub align: usize,
    /// Whether palettes are written one after another, not in place.
    pub compact: bool,
    pub level: SimdLevel,
}

/// Cells that are due, and those that wait.
#[inline(always)]
fn due(bank: &Bank, tiers: &Tiers, frame: u32) -> u16 {
    if bank.kind.tier == SHARED {
        return 0;
    }
    let rate = u32::from(tiers.tiers[usize::from(bank.kind.tier)].rate);
    let phase = frame & (rate - 1) == u32::from(bank.kind.phase);
    let due = if phase { bank.used } else { 0 };
    due | bank.waiting
}

/// The places of a set of cells.
pub(super) fn places(mut cells: u16) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = cells.trailing_zeros() as usize;
        cells &= cells.wrapping_sub(1);
        (place < CELLS).then_some(place)
    })
}

impl Tiering {
    /// Whether the last selection serves this frame as it is: it was of all cells and for the same request, every tier is
    /// updated in every frame, and nothing of the pools has changed that it depends on.
    #[inline]
    pub(in crate::crowd) fn rests(&self, request: Request, pools: &[Option<Pool>]) -> bool {
        let rests = |(pool, ranked): (&Option<Pool>, &Ranked)| {
            let rests = |p: &Pool| {
                p.changes.is_empty()
                    && p.clip_changes == ranked.clip_changes
                    && p.scheduled.some_held().is_none()
                    && !p.watch.is_stale()
            };
            pool.as_ref().is_none_or(rests)
        };
        self.rest == Some(request)
            && pools.len() == self.pools.len()
            && pools.iter().zip(&self.pools).all(rests)
    }

    /// Chooses the cells of this frame.
    pub(super) fn select(&mut self, pools: &[Option<Pool>], request: Request) {
        let Request { compact, level, .. } = request;
        let mut selected = Selected::default();
        self.work.clear();
        self.stats.tiers.clear();
        self.stats.tiers.resize(self.plan.tiers.tiers.len(), TierStats::default());
        (self.stats.shared_palettes, self.stats.shared_evaluated) = (0, 0);
        self.stats.beyond_budget = 0;
        let banks = self.banks.all.len();
        if let Some(budget) = self.budget {
            let views = std::mem::take(&mut self.wide);
            self.spend(budget, pools, &views);
            self.wide = views;
            for number in 0..banks {
                self.list(number, pools, compact, &mut selected);
            }
        } else {
            for number in 0..banks {
                let (must, due) = self.asked(&self.banks.all[number], pools);
                let bank = &mut self.banks.all[number];
                (bank.chosen, bank.waiting) = (must | due, 0);
                self.list(number, pools, compact, &mut selected);
            }
        }
        self.banks.fit_hints();
        selected.store = self.budget.is_some();
        selected.rows = self.banks.rows();
        selected.written = match compact {
            true => selected.padded_rows,
            false => selected.rows,
        };
        let mut key_bytes = 0;
        for (ranked, pool) in self.pools.iter_mut().zip(pools) {
            let Some(pool) = pool else {
                continue;
            };
            ranked.clip_changes = pool.clip_changes;
            key_bytes += pool.key_bytes();
            selected.watched |= !pool.watch.is_empty();
            selected.sorts |= pool.sorts();
        }
        selected.how = How {
            level,
            stream: selected.written * size_of::<Affine3x4>() >= STREAM_BYTES,
            ahead: key_bytes >= COLD_BYTES,
            compact,
        };
        self.plan.selected = selected;
        self.banks.taken = 0;
        self.rest = (!self.plan.on && selected.held == 0).then_some(request);
        if self.plan.on {
            self.count();
        }
    }

    /// The cells of a bank that a frame must evaluate, and others that are due: those of instances that are scheduled, and
    /// those that have no rows.
    #[inline(always)]
    fn asked(&self, bank: &Bank, pools: &[Option<Pool>]) -> (u16, u16) {
        let mut due = due(bank, &self.plan.tiers, self.plan.clock.frame());
        let mut must = bank.stale;
        if (due | must) != 0
            && bank.kind.tier != SHARED
            && let Some(Some(pool)) = pools.get(usize::from(bank.kind.pool))
            && let Some(scheduled) = pool.scheduled.some_held()
        {
            for place in places(bank.used) {
                if scheduled.get(bank.owner[place] as usize) == Some(&false) {
                    let held = 1 << place;
                    (due, must) = (due & !held, must & !held);
                }
            }
        }
        must |= bank.fresh;
        if self.plan.progress.lost() && bank.kind.tier != SHARED {
            // Of what they play now, as nothing else is known.
            must |= bank.used & (bank.stale | !bank.stored);
        }
        (must, due & !must)
    }

    /// Chooses what a frame must evaluate, then what is due by the product of height and age until the budget is spent.
    fn spend(&mut self, budget: usize, pools: &[Option<Pool>], views: &[WideView]) {
        let mut must = 0;
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        for number in 0..self.banks.all.len() {
            let bank = &self.banks.all[number];
            let (mut chosen, due) = self.asked(bank, pools);
            for place in places(due) {
                let age = bank.age(place, self.plan.clock.frame());
                if age >= self.plan.tiers.max_age {
                    chosen |= 1 << place;
                    continue;
                }
                let (pool, index) = (bank.kind.pool.into(), bank.owner[place] as usize);
                let score = self.importance(pool, index, views) * age as f32;
                candidates.push((score, (number * CELLS + place) as u32));
            }
            must += chosen.count_ones() as usize;
            let bank = &mut self.banks.all[number];
            // Until the budget has been spent.
            bank.waiting = due & !chosen;
            bank.chosen = chosen;
        }
        self.stats.beyond_budget = must.saturating_sub(budget);
        let room = budget.saturating_sub(must);
        if room > 0 && room < candidates.len() {
            // The highest scores first; of equal ones the first cell from where the last frame stopped, so that they take
            // turns.
            let turn = self.turn;
            let place = |cell: u32| cell.wrapping_sub(turn);
            let (_, last, _) = candidates.select_nth_unstable_by(room - 1, |a, b| {
                b.0.total_cmp(&a.0).then(place(a.1).cmp(&place(b.1)))
            });
            self.turn = last.1.wrapping_add(1);
        }
        for &(_, cell) in candidates.iter().take(room) {
            let (bank, place) = split(cell);
            let bank = &mut self.banks.all[bank];
            bank.chosen |= 1 << place;
            bank.waiting &= !(1 << place);
        }
        self.candidates = candidates;
    }

    /// Lists the work of a bank, and counts it.
    #[inline(always)]
    fn list(&mut self, number: usize, pools: &[Option<Pool>], compact: bool, all: &mut Selected) {
        let bank = &mut self.banks.all[number];
        if bank.used == 0 {
            return;
        }
        if bank.kind.palettes > 1 {
            // A later pose that lies further from now than this was predicted from longer or shorter frames: it is no
            // earlier pose now.
            let rate = self.plan.tiers.tiers[usize::from(bank.kind.tier)].rate;
            let most = self.plan.clock.step().abs() * (f64::from(rate) / 16.0).max(0.25);
            for place in places(bank.chosen & !bank.fresh) {
                if (bank.times[place][1] - self.plan.clock.time()).abs() > most {
                    bank.stale |= 1 << place;
                }
            }
        }
        let chosen = bank.chosen.count_ones() as usize;
        let held = bank.used & !bank.chosen;
        let kept = held.count_ones() as usize;
        all.held += kept;
        if bank.kind.tier == SHARED {
            self.stats.shared_palettes += chosen + kept;
            self.stats.shared_evaluated += chosen;
        } else {
            let t = &mut self.stats.tiers[usize::from(bank.kind.tier)];
            t.evaluated += chosen;
            t.held += kept;
            t.waiting += bank.waiting.count_ones() as usize;
            for place in places(held) {
                t.oldest = t.oldest.max(bank.age(place, self.plan.clock.frame()));
            }
        }
        let write = if self.plan.progress.lost() { bank.used } else { bank.chosen };
        if write == 0 {
            return;
        }
        let Some(Some(pool)) = pools.get(usize::from(bank.kind.pool)) else {
            return;
        };
        let both = match bank.kind.palettes {
            1 => 0,
            _ if self.plan.progress.lost() => write,
            _ => write & (bank.fresh | bank.stale),
        };
        let work = Work {
            bank: number as u32,
            evaluate: bank.chosen,
            write,
            palettes: PaletteSet::new(write, both),
            before: all.padded_rows,
            row: if compact { all.padded_rows } else { bank.first },
        };
        let palettes = work.palettes();
        all.cells += chosen;
        all.palettes += palettes;
        all.palette_rows += palettes * bank.kind.rows as usize;
        let apart = palettes * bank.kind.stride as usize;
        all.padded_rows += apart;
        let hints = usize::from(bank.cells) * pool.hints_per_instance();
        self.banks.need_hints(number, hints);
        self.work.push(work);
    }

    /// Where the palettes of a compact frame belong, adjacent ones joined.
    pub(in crate::crowd) fn scatter(&self, mut each: impl FnMut(RowMove)) {
        let mut run: Option<RowMove> = None;
        let mut from = 0;
        for work in &self.work {
            let bank = &self.banks.all[work.bank as usize];
            let rows = bank.kind.stride as usize;
            let mut left = work.palettes;
            while !left.is_empty() {
                let to = bank.first + bank.slot(left.pop()) * rows;
                match &mut run {
                    Some(run) if run.to + run.rows == to => run.rows += rows,
                    _ => {
                        if let Some(done) = run.replace(RowMove { from, to, rows }) {
                            each(done);
                        }
                    }
                }
                from += rows;
            }
        }
        if let Some(done) = run {
            each(done);
        }
    }

    /// The cells in the order of their rows.
    pub(in crate::crowd) fn groups(&self) -> impl Iterator<Item = RowGroup> + '_ {
        self.banks.all.iter().map(|bank| RowGroup {
            first: bank.first,
            stride: bank.kind.cell_rows(),
            palette: bank.kind.cell_rows() - (bank.kind.stride - bank.kind.rows) as usize,
            instances: bank.cells.into(),
        })
    }

    /// The palettes of a compact frame, in the order of their rows there.
    pub(in crate::crowd) fn written_groups(&self) -> impl Iterator<Item = RowGroup> + '_ {
        self.work.iter().map(|work| {
            let kind = self.banks.all[work.bank as usize].kind;
            RowGroup {
                first: work.row,
                stride: kind.stride as usize,
                palette: kind.rows as usize,
                instances: work.palettes(),
            }
        })
    }
}
