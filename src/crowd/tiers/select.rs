//! Which cells a frame evaluates: what it must, then what is due, within the budget.

use super::bank::{Bank, CELLS, SHARED, split};
use super::tier::Tiers;
use super::tiering::Tiering;
use super::view::WideView;
use crate::crowd::RowGroup;
use crate::playback::RowMove;
use crate::playback::pool::Pool;

/// The cells of a bank that a frame writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    pub(in crate::crowd) bank: u32,
    /// Those that are evaluated; of others the stored inputs.
    pub(super) evaluate: u16,
    /// All that are written.
    pub(super) write: u16,
    /// Those of them of which both palettes are written.
    pub(super) both: u16,
    /// Palettes that come before this bank's.
    pub(super) before: u32,
    /// The first row in the memory that the frame is written to.
    pub(in crate::crowd) row: usize,
}

impl Work {
    /// The palettes that it writes.
    pub(super) fn palettes(&self) -> usize {
        (self.write.count_ones() + self.both.count_ones()) as usize
    }

    /// Those that it writes before the earlier (0) or the later (1) palette of a cell.
    #[inline(always)]
    pub(super) fn before_cell(&self, place: usize, later: usize) -> usize {
        let below = (1u16 << place) - 1;
        let before = (self.write & below).count_ones() + (self.both & below).count_ones();
        before as usize + (later & usize::from(self.both >> place))
    }
}

/// What a selection writes in all.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::crowd) struct Selected {
    /// Cells that are evaluated.
    pub cells: usize,
    /// Cells that keep their palettes.
    pub held: usize,
    /// Palettes that are written.
    pub palettes: usize,
    /// Rows of palettes that are written, without padding.
    pub rows: usize,
    /// Rows of all cells.
    pub all: usize,
    /// Rows of the memory that is written.
    pub written: usize,
}

/// Cells that are due, and those that wait, without those that have to be evaluated.
fn due(bank: &Bank, tiers: &Tiers, frame: u32) -> u16 {
    if bank.kind.tier == SHARED {
        return 0;
    }
    let rate = u32::from(tiers.tiers[usize::from(bank.kind.tier)].rate);
    let phase = frame % rate == u32::from(bank.kind.phase);
    let due = if phase { bank.used } else { 0 };
    (due | bank.waiting) & !(bank.fresh | bank.stale)
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
    /// Chooses the cells of this frame. With `compact` they are written one after another, otherwise in place.
    pub(super) fn select(
        &mut self,
        pools: &[Option<Pool>],
        views: &[WideView],
        compact: bool,
    ) -> Selected {
        let frame = self.frame;
        let max_age = self.tiers.max_age;
        let mut must = 0;
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        for number in 0..self.banks.all.len() {
            let bank = &mut self.banks.all[number];
            bank.chosen = 0;
            if bank.used == 0 {
                continue;
            }
            let bank = &self.banks.all[number];
            let mut may = due(bank, &self.tiers, frame);
            if may != 0
                && let Some(Some(pool)) = pools.get(usize::from(bank.kind.pool))
                && let Some(scheduled) = pool.places.some_held()
            {
                for place in places(may) {
                    if scheduled.get(bank.owner[place] as usize) == Some(&false) {
                        may &= !(1 << place);
                    }
                }
            }
            let mut chosen = bank.fresh | bank.stale;
            if self.budget.is_none() {
                chosen |= may;
            } else {
                for place in places(may) {
                    let age = frame.wrapping_sub(bank.updated[place]);
                    if age >= max_age {
                        chosen |= 1 << place;
                        continue;
                    }
                    let (pool, index) = (bank.kind.pool.into(), bank.owner[place] as usize);
                    let score = self.importance(pool, index, views) * age as f32;
                    candidates.push((score, (number * CELLS + place) as u32));
                }
            }
            must += chosen.count_ones() as usize;
            let bank = &mut self.banks.all[number];
            // Until the budget has been spent.
            bank.waiting = may & !chosen;
            bank.chosen = chosen;
        }
        self.stats.beyond_budget = 0;
        if let Some(budget) = self.budget {
            self.stats.beyond_budget = must.saturating_sub(budget);
            let room = budget.saturating_sub(must);
            if room > 0 && room < candidates.len() {
                // The highest scores first; of equal ones the first cell from where the last frame stopped, so that
                // they take turns.
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
        }
        self.candidates = candidates;
        self.collect(pools, compact)
    }

    /// Lists the work by bank, and counts it.
    fn collect(&mut self, pools: &[Option<Pool>], compact: bool) -> Selected {
        let mut all = Selected::default();
        self.work.clear();
        // A later pose that lies further ahead than this was predicted from longer steps: it is no earlier pose now.
        let ahead = self.time + 0.5 * self.step.abs();
        for number in 0..self.banks.all.len() {
            let bank = &mut self.banks.all[number];
            if bank.kind.palettes > 1 {
                for place in places(bank.chosen & !bank.fresh) {
                    if bank.times[place][1] > ahead {
                        bank.stale |= 1 << place;
                    }
                }
            }
            let write = if self.lost { bank.used } else { bank.chosen };
            all.held += (bank.used & !bank.chosen).count_ones() as usize;
            if write == 0 {
                continue;
            }
            let Some(Some(pool)) = pools.get(usize::from(bank.kind.pool)) else {
                continue;
            };
            let both = match bank.kind.palettes {
                1 => 0,
                _ if self.lost => write,
                _ => write & (bank.fresh | bank.stale),
            };
            let work = Work {
                bank: number as u32,
                evaluate: bank.chosen,
                write,
                both,
                before: all.palettes as u32,
                row: if compact { all.written } else { bank.first },
            };
            let palettes = work.palettes();
            all.cells += bank.chosen.count_ones() as usize;
            all.palettes += palettes;
            all.rows += palettes * pool.detail_rig(bank.kind.detail).palette_len();
            all.written += palettes * bank.kind.stride as usize;
            let hints = CELLS * pool.hints_per_instance();
            self.banks.need_hints(number, hints);
            self.work.push(work);
        }
        self.banks.fit_hints();
        all.all = self.banks.rows();
        if !compact {
            all.written = all.all;
        }
        all
    }

    /// Where the palettes of a compact frame belong, adjacent ones joined.
    pub(in crate::crowd) fn scatter(&self, mut each: impl FnMut(RowMove)) {
        let mut run: Option<RowMove> = None;
        let mut from = 0;
        for work in &self.work {
            let bank = &self.banks.all[work.bank as usize];
            let rows = bank.kind.stride as usize;
            for place in places(work.write) {
                let two = work.both >> place & 1 == 1;
                for later in usize::from(!two)..2 {
                    let to = bank.rows_of(place)[later];
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
            palette: bank.kind.cell_rows(),
            instances: CELLS,
        })
    }

    /// The palettes of a compact frame, in the order of their rows there.
    pub(in crate::crowd) fn written_groups(&self) -> impl Iterator<Item = RowGroup> + '_ {
        self.work.iter().map(|work| {
            let stride = self.banks.all[work.bank as usize].kind.stride as usize;
            RowGroup {
                first: work.row,
                stride,
                palette: stride,
                instances: work.palettes(),
            }
        })
    }
}
