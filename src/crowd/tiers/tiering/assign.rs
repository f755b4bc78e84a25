//! Which cell an instance has: the requests of the ranking, and how they are met.

use super::Tiering;
use crate::crowd::tiers::bank::{Bank, BankKind, CELLS, NONE, SHARED, SHARED_CELL, places};
use crate::crowd::tiers::banks::{Banks, split};
use crate::crowd::tiers::cells::OUT;
use crate::crowd::tiers::shared::{PhaseKey, SharedPhases};
use crate::crowd::tiers::tier::Tiers;
use crate::crowd::tiers::turns::Uneven;
use crate::evaluate::Instances;
use crate::playback::changes::What;
use crate::playback::pool::Pool;

/// Shared cells are freed when no instance has looked for them for this many frames.
const KEPT: u32 = 240;
/// The same limit while there are more than [`ENOUGH`] shared cells. An instance looks for its phase at least once in
/// this many frames.
const KEPT_LEAST: u32 = 16;
/// The banks of which shared cells are looked at in a frame, as a share of all.
const SWEEPS: usize = 60;
/// Shared cells are more than enough from this number for every instance that shares, plus a constant, on.
const ENOUGH: (usize, usize) = (4, 64);

/// Another cell for an instance, requested by the ranking.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub index: u32,
    pub tier: u8,
    /// The phase that the instance shows; `None` if it does not share a palette.
    pub key: Option<PhaseKey>,
}

impl Request {
    /// The instance does not share a palette; it has none if the tier is [`OUT`].
    fn own(index: u32, tier: u8) -> Self {
        Self { index, tier, key: None }
    }
}

impl Tiering {
    /// Meets the request of an instance.
    pub(super) fn meet(&mut self, number: usize, pool: &Pool, request: Request) {
        let Request { index, tier, key } = request;
        let at = index as usize;
        let Self { pools, banks, plan, counts, align, budget, .. } = self;
        let (tiers, frame) = (&plan.tiers, plan.clock.frame());
        let ranked = &mut pools[number];
        let kind = |palettes: u8, tier: u8, detail: u8| {
            let rows = pool.tables().detail_rig(detail).palette_len();
            BankKind {
                pool: number as u16,
                tier,
                turn: 0,
                palettes,
                detail,
                rows: rows as u32,
                stride: rows.next_multiple_of(*align) as u32,
            }
        };
        let (before, old) = (ranked.cells.tier(at), ranked.cells.cell(at));
        ranked.cells.set_tier(at, tier, counts);
        if tier == OUT {
            release(banks, tiers, old);
            ranked.cells.set_cell(at, NONE);
            return;
        }
        if let Some(key) = key {
            release(banks, tiers, old);
            let cell = match ranked.shared.find(key, frame) {
                Some(cell) => cell,
                None => {
                    let cell = banks.take(kind(1, SHARED, key.detail), 1, key.bits(), frame);
                    banks.fit(cell, pool, false);
                    ranked.shared.set(key, cell, frame);
                    cell
                }
            };
            ranked.cells.set_cell(at, cell | SHARED_CELL);
            return;
        }
        let t = &tiers.tiers[usize::from(tier)];
        let detail = pool.detail_of(at, tier, t.springs);
        // Hooks are called and springs step once in a frame, for the present.
        let palettes = 1 + u8::from(t.interpolate && t.rate > 1 && !pool.is_stepped(at, t.springs));
        let own = old != NONE && old & SHARED_CELL == 0;
        // Another instance may have had the index.
        let new = pool.changes().of(at).has(What::NEW);
        let same = |kind: &BankKind| (kind.detail, kind.palettes) == (detail, palettes);
        if own && !new && before == tier && same(banks.of_cell(old).0.kind()) {
            // A call has changed it.
            let (bank, place) = split(old);
            banks.all_mut()[bank].mark_changed(place);
            return;
        }
        release(banks, tiers, old);
        let mut kind = kind(palettes, tier, detail);
        kind.turn = banks.turn_of(kind, t.rate);
        let cell = banks.take(kind, t.rate, index, frame);
        banks.fit(cell, pool, t.stores(budget.is_some()));
        ranked.cells.set_cell(at, cell);
    }

    /// Gives each changed instance of a pool, or each of `all`, a palette of its own in the first tier if it is
    /// visible; frees its cell otherwise.
    pub(super) fn show(&mut self, number: usize, pool: &Pool, all: bool) {
        if pool.changes().is_empty() && !all {
            return;
        }
        let mut coming = std::mem::take(&mut self.coming);
        coming.clear();
        let matters = |&(_, what): &(usize, What)| what.has(What::POSE | What::LAYOUT) && !all;
        let changed = pool.changes().all().filter(matters);
        let everyone = 0..if all { pool.state().len() } else { 0 };
        for index in changed.map(|(index, _)| index).chain(everyone) {
            if pool.state().is_shown(index) {
                coming.push(index as u32);
            } else if self.pools[number].cells.tier(index) != OUT {
                self.meet(number, pool, Request::own(index as u32, OUT));
            }
        }
        // Rows are in the order of instances.
        coming.sort_unstable();
        let cells = &self.pools[number].cells;
        let missing = coming.iter().filter(|&&i| cells.cell(i as usize) == NONE);
        self.banks.expect(missing.count());
        for &index in &coming {
            self.meet(number, pool, Request::own(index, 0));
        }
        self.coming = coming;
    }

    /// Moves cells from the turn of a frame that updates many to that of this frame, if it updates few since instances
    /// have left the picture. No cell waits longer for it, and no frame updates more than about the mean.
    pub(super) fn even_out(&mut self, all: &[Option<Pool>]) {
        // One move for every turn at most.
        for _ in 0..16 {
            let Some(uneven) = self.banks.turns().uneven(self.plan.clock.frame()) else {
                return;
            };
            let due = self.banks.turns().due(self.plan.clock.frame()) + self.banks.taken();
            let room = self.budget.map_or(usize::MAX, |b| b.saturating_sub(due));
            let wanted = (uneven.cells as usize).min(room);
            if self.shift(uneven, wanted, all) < wanted.max(1) {
                return;
            }
        }
    }

    /// Moves cells to the turn of this frame. Returns how many.
    fn shift(&mut self, uneven: Uneven, wanted: usize, all: &[Option<Pool>]) -> usize {
        let Self { pools, banks, plan, budget, .. } = self;
        let (tiers, frame) = (&plan.tiers, plan.clock.frame());
        let mut moved = 0;
        for number in 0..banks.len() {
            let bank = &banks.all()[number];
            let kind = *bank.kind();
            if kind.tier == SHARED || kind.turn != uneven.from || bank.used() == 0 {
                continue;
            }
            let tier = &tiers.tiers[usize::from(kind.tier)];
            let Some(Some(pool)) = all.get(usize::from(kind.pool)) else {
                continue;
            };
            if tier.rate != uneven.rate {
                continue;
            }
            let scheduled = pool.scheduled().some_held();
            let to = BankKind { turn: uneven.to, ..kind };
            for place in places(bank.written()) {
                if moved == wanted {
                    return moved;
                }
                let owner = banks.all()[number].owner(place);
                let index = owner as usize;
                if scheduled.and_then(|s| s.get(index)) == Some(&false) {
                    continue;
                }
                banks.free((number * CELLS + place) as u32, tier.rate);
                let cell = banks.take(to, tier.rate, owner, frame);
                banks.fit(cell, pool, tier.stores(budget.is_some()));
                pools[usize::from(kind.pool)].cells.set_cell(index, cell);
                moved += 1;
            }
        }
        moved
    }

    /// Frees shared cells that no instance has looked for lately, in some of the banks; in all as long as there are
    /// more than enough of them.
    pub(super) fn sweep(&mut self) {
        let Self { banks, pools, plan, sweep, counts, .. } = self;
        let frame = plan.clock.frame();
        let sharing = counts.sum().saturating_sub(banks.turns().own_cells());
        let enough = ENOUGH.0 * sharing + ENOUGH.1;
        let few = banks.len().div_ceil(SWEEPS);
        for looked in 0..banks.len() {
            let many = banks.turns().shared() > enough;
            if looked >= few && !many {
                break;
            }
            let kept = if many { KEPT_LEAST } else { KEPT };
            *sweep = (*sweep + 1) % banks.len();
            let bank = &banks.all()[*sweep];
            let BankKind { tier, pool, detail, .. } = *bank.kind();
            if tier != SHARED {
                continue;
            }
            for place in places(bank.used()) {
                let cell = (*sweep * CELLS + place) as u32;
                let shared = &mut pools[usize::from(pool)].shared;
                if frame.wrapping_sub(shared.looked(cell)) > kept {
                    let key = PhaseKey::of_bits(banks.all()[*sweep].owner(place), detail);
                    shared.set(key, NONE, frame);
                    banks.free(cell, 1);
                }
            }
        }
    }

    /// To be called when the watched joints of a pool have been laid out again: details leave out none of them, and
    /// instances that watch joints of their own have palettes of the full rig, which they do not share.
    pub(super) fn fit_watched(&mut self, number: usize, pool: &mut Pool) {
        let Self { pools, banks, plan, .. } = self;
        let ranked = &mut pools[number];
        if !ranked.meet_watched(pool) {
            return;
        }
        if !pool.watched().is_empty() {
            ranked.clocks.forget_watching(pool);
        }
        if pool.tables().details().rigs().len() == 0 {
            return;
        }
        if pool.watch_details() {
            let of_details =
                |b: &&mut Bank| usize::from(b.kind().pool) == number && b.kind().detail != 0;
            banks.all_mut().iter_mut().filter(of_details).for_each(Bank::mark_all);
        }
        for (index, (cell, tier)) in ranked.cells.all().enumerate() {
            let detail = pool.detail_of(index, tier, plan.swings(tier));
            if cell != NONE && banks.of_cell(cell).0.kind().detail != detail {
                pool.touch(index, What::POSE);
            }
        }
    }

    /// Takes all cells of a pool back. Its instances have none, and are out of the picture until they are ranked.
    pub(super) fn forget(&mut self, number: usize) {
        self.forget_cells(number);
        if let Some(ranked) = self.pools.get_mut(number) {
            ranked.cells.leave(&mut self.counts);
        }
    }

    /// Takes all cells of a pool back. Its instances stay in their tiers, and have other cells when they are ranked.
    pub(super) fn forget_cells(&mut self, number: usize) {
        let Self { pools, banks, plan, .. } = self;
        let Some(ranked) = pools.get_mut(number) else {
            return;
        };
        ranked.shows_all = false;
        for cell in ranked.cells.take_cells() {
            release(banks, &plan.tiers, cell);
        }
        for (_, cell) in ranked.shared.cells() {
            banks.free(cell, 1);
        }
        ranked.shared = SharedPhases::default();
    }

    /// Takes back what the instances of a pool have from an index on: there are none any more.
    pub(super) fn truncate(&mut self, number: usize, len: usize) {
        let Self { pools, banks, plan, counts, .. } = self;
        let Some(ranked) = pools.get_mut(number).filter(|r| r.cells.len() > len) else {
            return;
        };
        ranked.spheres.truncate(len);
        for cell in ranked.cells.truncate(len, counts) {
            release(banks, &plan.tiers, cell);
        }
    }

    /// To be called when a clip of a pool was unloaded: nothing plays it. Its shared palettes are free, and what was
    /// evaluated from it is evaluated from what plays now. Nothing is taken before the next frame, so instances show
    /// the palettes until then.
    pub(in crate::crowd) fn unload(&mut self, number: usize, clip: u16) {
        let Self { pools, banks, .. } = self;
        let Some(ranked) = pools.get_mut(number) else {
            return;
        };
        ranked.clocks.forget_clip(clip);
        for cell in ranked.shared.unload(clip) {
            banks.free(cell, 1);
        }
        banks.mark_clip(number, clip);
    }

    /// To be called when the clips of a pool have changed. Takes the cell from each instance that shows a shared
    /// palette of an unloaded clip; the ranking then finds another one.
    pub(super) fn miss_unloaded(&mut self, number: usize) {
        let Self { pools, banks, .. } = self;
        pools[number].cells.retain_shared(|cell| banks.shares(number, cell));
    }
}

/// Frees a cell that one instance uses alone. Shared ones stay until no instance uses them.
fn release(banks: &mut Banks, tiers: &Tiers, cell: u32) {
    if cell == NONE || cell & SHARED_CELL != 0 {
        return;
    }
    let tier = banks.of_cell(cell).0.kind().tier;
    banks.free(cell, tiers.tiers[usize::from(tier)].rate);
}
