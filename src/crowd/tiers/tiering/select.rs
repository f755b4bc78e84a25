//! Which cells a frame evaluates: what it must, then what is due, within the budget.

use super::ranked::Ranked;
use super::{Plan, Tiering};
use crate::crowd::RowSpan;
use crate::crowd::scratches::{COLD_BYTES, STREAM_BYTES};
use crate::crowd::tiers::bank::{Bank, CELLS, SHARED, places};
use crate::crowd::tiers::banks::split;
use crate::crowd::tiers::work::{PaletteSet, Request, Selected, Work};
use crate::evaluate::{How, Instances};
use crate::math::Affine3x4;
use crate::playback::pool::Pool;
use std::ops::Range;

/// The cells that the scheduled frame evaluates.
#[derive(Debug, Default)]
pub(super) struct Selection {
    /// Palettes that the frame evaluates, by bank.
    work: Vec<Work>,
    /// The request of the last selection, if the next frame can reuse that selection; `None` if it must select again.
    rest: Option<Request>,
    /// Cells that may wait for the budget: importance times age, number of the cell.
    candidates: Vec<(f32, u32)>,
    /// Number of the cell behind the last one that a budget had room for.
    budget_end: u32,
}

impl Selection {
    #[inline]
    pub fn work(&self) -> &[Work] {
        &self.work
    }

    /// Makes the next frame select again. Called when a pool is removed, since no pool's state shows that.
    pub fn expire(&mut self) {
        self.rest = None;
    }
}

impl Tiering {
    /// Whether this frame can reuse the last selection: it held all cells and was for the same request, every tier is
    /// updated in every frame, and no state of the pools that it depends on has changed.
    #[inline]
    pub(in crate::crowd) fn rests(&self, request: Request, pools: &[Option<Pool>]) -> bool {
        let rests = |(pool, ranked): (&Option<Pool>, &Ranked)| {
            pool.as_ref().is_none_or(|pool| ranked.rests(pool))
        };
        self.selection.rest == Some(request)
            && pools.len() == self.pools.len()
            && pools.iter().zip(&self.pools).all(rests)
    }

    /// Chooses the cells of this frame.
    pub(super) fn select(&mut self, pools: &[Option<Pool>], request: Request) {
        let Request { compact, level, .. } = request;
        let mut selected = Selected::default();
        self.selection.work.clear();
        self.stats.restart(self.plan.tiers.tiers.len());
        let banks = self.banks.len();
        if let Some(budget) = self.budget {
            self.spend(budget, pools);
            for number in 0..banks {
                self.list(number, pools, compact, &mut selected);
            }
        } else {
            for number in 0..banks {
                let (must, due) = self.requested(&self.banks.all()[number], pools);
                self.banks.all_mut()[number].choose(must | due, 0);
                self.list(number, pools, compact, &mut selected);
            }
        }
        self.banks.settle();
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
            ranked.select(pool);
            key_bytes += pool.tables().key_bytes;
            selected.watched |= !pool.watched().is_empty();
            selected.sorts |= pool.tables().sorts();
        }
        self.plan.how = How {
            level,
            stream: selected.written * size_of::<Affine3x4>() >= STREAM_BYTES,
            ahead: key_bytes >= COLD_BYTES,
            compact,
        };
        self.plan.selected = selected;
        self.selection.rest = (!self.plan.on && selected.held == 0).then_some(request);
        if self.plan.on {
            self.stats.count(&self.counts, self.visible);
        }
    }

    /// The cells of a bank that the frame must evaluate, and others that it evaluates if the budget allows.
    #[inline(always)]
    fn requested(&self, bank: &Bank, pools: &[Option<Pool>]) -> (u16, u16) {
        let Plan { tiers, clock, progress, .. } = &self.plan;
        let rate = tiers.tiers.get(usize::from(bank.kind().tier)).map_or(1, |tier| tier.rate);
        let pool = pools.get(usize::from(bank.kind().pool)).and_then(Option::as_ref);
        let scheduled = pool.and_then(|pool| pool.scheduled().some_held());
        bank.requested((clock.frame(), rate), scheduled, progress.lost())
    }

    /// Chooses what a frame must evaluate, then what is due by the product of height and age until the budget is spent.
    fn spend(&mut self, budget: usize, pools: &[Option<Pool>]) {
        let mut must = 0;
        let mut candidates = std::mem::take(&mut self.selection.candidates);
        candidates.clear();
        for number in 0..self.banks.len() {
            let bank = &self.banks.all()[number];
            let (mut chosen, due) = self.requested(bank, pools);
            for place in places(due) {
                let age = bank.age(place, self.plan.clock.frame());
                if age >= self.plan.tiers.max_age {
                    chosen |= 1 << place;
                    continue;
                }
                let (pool, index) = (bank.kind().pool.into(), bank.owner(place) as usize);
                let score = self.importance(pool, index) * age as f32;
                candidates.push((score, (number * CELLS + place) as u32));
            }
            must += chosen.count_ones() as usize;
            // Until the budget has been spent.
            self.banks.all_mut()[number].choose(chosen, due & !chosen);
        }
        self.stats.beyond_budget = must.saturating_sub(budget);
        let room = budget.saturating_sub(must);
        if room > 0 && room < candidates.len() {
            // The highest scores first; of equal ones the first cell from where the last frame stopped, so that they
            // alternate.
            let end = self.selection.budget_end;
            let from_end = |cell: u32| cell.wrapping_sub(end);
            let (_, last, _) = candidates.select_nth_unstable_by(room - 1, |a, b| {
                b.0.total_cmp(&a.0).then(from_end(a.1).cmp(&from_end(b.1)))
            });
            self.selection.budget_end = last.1.wrapping_add(1);
        }
        for &(_, cell) in candidates.iter().take(room) {
            let (bank, place) = split(cell);
            self.banks.all_mut()[bank].choose_waiting(place);
        }
        self.selection.candidates = candidates;
    }

    /// Lists the work of a bank, and counts it.
    #[inline(always)]
    fn list(&mut self, number: usize, pools: &[Option<Pool>], compact: bool, all: &mut Selected) {
        let Self { plan, banks, stats, selection, .. } = self;
        let (frame, lost) = (plan.clock.frame(), plan.progress.lost());
        let bank = &mut banks.all_mut()[number];
        let kind = *bank.kind();
        if bank.used() == 0 {
            return;
        }
        let chosen = bank.chosen();
        let held = bank.used() & !chosen;
        all.held += held.count_ones() as usize;
        if kind.tier != SHARED {
            let rate = plan.tiers.tiers[usize::from(kind.tier)].rate;
            let most = plan.clock.step().abs() * (f64::from(rate) / 16.0).max(0.25);
            bank.mark_mispredicted(plan.clock.time(), most);
        }
        stats.add(bank, (chosen, held), frame);
        let write = if lost { bank.used() } else { chosen };
        let Some(Some(pool)) = pools.get(usize::from(kind.pool)).filter(|_| write != 0) else {
            return;
        };
        let listed = Work {
            bank: number as u32,
            evaluate: chosen,
            write,
            palettes: PaletteSet::new(write, bank.pairs(write, lost)),
            before: all.padded_rows,
            row: if compact { all.padded_rows } else { bank.first_row() },
        };
        let palettes = listed.palettes();
        all.cells += chosen.count_ones() as usize;
        all.palettes += palettes;
        all.palette_rows += palettes * kind.rows as usize;
        all.padded_rows += palettes * kind.stride as usize;
        banks.need_hints(number, pool);
        selection.work.push(listed);
    }

    /// Calls `copy` with the rows of the memory that the frame was written to, and where they belong: all at once if
    /// they were written in place, else run by run.
    pub(in crate::crowd) fn scatter(&self, mut copy: impl FnMut(Range<usize>, usize)) {
        if !self.plan.how.compact {
            return copy(0..self.plan.selected.written, 0);
        }
        // The rows that are copied next, and where they belong.
        let (mut run, mut first) = (0..0, 0);
        for work in &self.selection.work {
            let bank = &self.banks.all()[work.bank as usize];
            let rows = bank.kind().stride as usize;
            let mut left = work.palettes;
            while !left.is_empty() {
                let to = bank.first_row() + bank.position(left.pop()) * rows;
                if first + run.len() != to {
                    if !run.is_empty() {
                        copy(run.clone(), first);
                    }
                    (run.start, first) = (run.end, to);
                }
                run.end += rows;
            }
        }
        if !run.is_empty() {
            copy(run, first);
        }
    }

    /// The cells in the order of their rows.
    pub(in crate::crowd) fn spans(&self) -> impl Iterator<Item = RowSpan> + '_ {
        self.banks.all().iter().map(|bank| {
            let kind = bank.kind();
            RowSpan {
                first: bank.first_row(),
                stride: kind.cell_rows(),
                palette: kind.cell_rows() - (kind.stride - kind.rows) as usize,
                instances: bank.len(),
            }
        })
    }

    /// The palettes of the memory that the frame is written to, in the order of their rows there.
    pub(in crate::crowd) fn written_spans(&self) -> impl Iterator<Item = RowSpan> + '_ {
        let compact = self.plan.how.compact;
        let written = compact.then(|| self.compact_spans());
        let in_place = (!compact).then(|| self.spans());
        written.into_iter().flatten().chain(in_place.into_iter().flatten())
    }

    fn compact_spans(&self) -> impl Iterator<Item = RowSpan> + '_ {
        self.selection.work.iter().map(|work| {
            let kind = self.banks.all()[work.bank as usize].kind();
            RowSpan {
                first: work.row,
                stride: kind.stride as usize,
                palette: kind.rows as usize,
                instances: work.palettes(),
            }
        })
    }
}
