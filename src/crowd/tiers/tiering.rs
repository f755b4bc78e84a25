//! `Tiering`: what a crowd keeps from frame to frame of what it shows. The fields are private to this file and the
//! files below it.

mod assign;
mod calls;
mod clocks;
mod evaluate;
mod rank;
mod ranked;
mod select;

use super::bank::{Bank, NONE};
use super::banks::Banks;
use super::cells::TierCounts;
use super::frame_clock::{FrameClock, Stepped};
use super::progress::Progress;
use super::stats::TierFrame;
use super::tier::{Tier, Tiers};
use super::view::{View, WideView};
use super::work::Selected;
use crate::evaluate::How;
use crate::playback::changes::What;
use crate::playback::pool::Pool;
use crate::simd::SimdLevel;
pub use calls::Shown;
pub(super) use clocks::CLOCK_ERROR;
pub(in crate::crowd) use evaluate::{BankShare, BankTask};
use rank::ChunkRequests;
use ranked::Ranked;
use select::Selection;

/// Work of the scheduled frame. All workers read it.
#[derive(Debug)]
pub(crate) struct Plan {
    /// True if the host has set tiers.
    on: bool,
    /// The host's tiers; one of rate 1 if it has set none.
    tiers: Tiers,
    clock: FrameClock,
    progress: Progress,
    selected: Selected,
    how: How,
}

impl Plan {
    /// Whether springs step in a tier.
    fn swings(&self, tier: u8) -> bool {
        self.tiers.tiers.get(usize::from(tier)).is_none_or(|tier| tier.springs)
    }
}

impl Default for Plan {
    fn default() -> Self {
        let level = SimdLevel::Portable;
        Self {
            on: false,
            tiers: Tiers { tiers: vec![Tier::default()], ..Tiers::default() },
            clock: FrameClock::default(),
            progress: Progress::default(),
            selected: Selected::default(),
            how: How { level, stream: false, ahead: false, compact: false },
        }
    }
}

/// The tiers of a crowd, and the cells of its palettes. Without tiers a crowd has one of rate 1, in which every visible
/// instance is.
#[derive(Debug, Default)]
pub(crate) struct Tiering {
    plan: Plan,
    views: Vec<View>,
    /// True from `set_views` to `clear_views`: without views nothing is in the picture then, not everything.
    viewed: bool,
    /// Largest number of palettes that a frame evaluates in addition to those that it must.
    budget: Option<usize>,
    /// The shown part of each pool, by the pool's index.
    pools: Vec<Ranked>,
    banks: Banks,
    /// Ranking results, one entry per chunk of instances. Empty between frames.
    chunk_requests: Vec<ChunkRequests>,
    selection: Selection,
    /// Indices of instances that come into the picture. Empty between frames.
    coming: Vec<u32>,
    /// Number of the bank whose shared cells are freed next if unused.
    sweep: usize,
    /// Every palette starts at a multiple of this many rows. Another number takes all cells back.
    align: usize,
    /// The views of this frame, in registers.
    wide: Vec<WideView>,
    /// Number of visible instances.
    visible: usize,
    counts: TierCounts,
    stats: TierFrame,
}

impl Tiering {
    /// With `tiers`, keeps views, importances, budget and time; without, starts empty. No instance has a cell.
    pub(super) fn restarted(self, tiers: Option<Tiers>) -> Self {
        let Some(tiers) = tiers else {
            return Self::default();
        };
        let pools = self.pools.into_iter().map(|ranked| Ranked::new(None, ranked.importances));
        let clock = self.plan.clock.restarted();
        Self {
            views: self.views,
            viewed: self.viewed,
            budget: self.budget,
            pools: pools.collect(),
            plan: Plan { on: true, tiers, clock, ..Plan::default() },
            banks: Banks::new(true),
            ..Self::default()
        }
    }

    /// Records a step of time.
    #[inline]
    pub fn advance(&mut self, dt: f64) {
        let Some(Stepped { reversed, broken }) = self.plan.clock.advance(dt) else {
            return;
        };
        if broken {
            self.forget_clocks();
        }
        if reversed {
            // What was predicted lies in the other direction.
            let pairs = |b: &&mut Bank| b.kind().palettes > 1;
            self.banks.all_mut().iter_mut().filter(pairs).for_each(Bank::mark_all);
        }
    }

    #[cold]
    fn forget_clocks(&mut self) {
        self.pools.iter_mut().for_each(|p| p.clocks.forget_all());
    }

    /// To be called when the playback of the crowd is replaced by that of a moment `seconds` before; `None` for a
    /// moment to which clocks cannot be rewound.
    pub fn rewind(&mut self, seconds: Option<f64>) {
        match seconds {
            Some(seconds) => self.plan.clock.rewind(seconds),
            None => self.forget_clocks(),
        }
    }

    /// To be called when the playback of a pool has been replaced: the pool now has `instances` instances, and other
    /// clips at the indices `clips`.
    pub fn replace(&mut self, number: usize, instances: usize, clips: &[u16]) {
        for &clip in clips {
            self.unload(number, clip);
        }
        self.truncate(number, instances);
    }

    /// To be called when the rig of a pool was removed: nothing of its instances is left.
    pub(in crate::crowd) fn remove(&mut self, number: usize) {
        self.selection.expire();
        self.forget(number);
        if let Some(ranked) = self.pools.get_mut(number) {
            *ranked = Ranked::default();
        }
    }

    pub fn is_on(&self) -> bool {
        self.plan.on
    }

    /// Totals of the scheduled frame.
    #[inline]
    pub(in crate::crowd) fn selected(&self) -> &Selected {
        &self.plan.selected
    }

    /// How the scheduled frame is evaluated, for a test that chooses it.
    #[cfg(test)]
    pub(in crate::crowd) fn how_mut(&mut self) -> &mut How {
        &mut self.plan.how
    }

    pub(super) fn cell(&self, pool: usize, index: usize) -> Option<u32> {
        let cell = self.pools.get(pool)?.cells.cell(index);
        (cell != NONE).then_some(cell)
    }
}

/// Which instances are in the picture, pool by pool.
impl Tiering {
    /// Begins a frame for memory that `holds` the palettes of the last one.
    #[inline]
    pub(in crate::crowd) fn begin_frame(&mut self, holds: bool) {
        self.plan.clock.begin_frame();
        self.plan.progress.begin(holds);
        self.banks.begin_frame();
        match self.plan.on {
            true => self.plan.clock.measure_frame(),
            false => self.plan.clock.reach_frame(),
        }
    }

    /// Finds out which instances are in the picture, and gives them cells whose palettes begin at multiples of `align`
    /// rows.
    pub(super) fn assign(&mut self, pools: &mut [Option<Pool>], align: usize) {
        if self.align != align {
            self.forget_all(align);
        }
        self.fit_pools(pools.len());
        match self.plan.on {
            true => self.assign_by_tiers(pools),
            false => self.assign_all(pools),
        }
    }

    pub(super) fn fit_pools(&mut self, pools: usize) {
        if self.pools.len() < pools {
            self.pools.resize_with(pools, Ranked::default);
        }
    }

    /// Takes all cells back: the distance of palettes is another one.
    #[cold]
    fn forget_all(&mut self, align: usize) {
        (0..self.pools.len()).for_each(|number| self.forget_cells(number));
        self.banks = Banks::new(self.plan.on);
        self.align = align;
    }

    /// Forgets importances of rigs that are gone.
    fn forget_importances(&mut self, pools: &[Option<Pool>]) {
        for (number, ranked) in self.pools.iter_mut().enumerate() {
            let pool = pools.get(number).and_then(Option::as_ref);
            ranked.importances.keep_of(pool.map(Pool::rig_number));
        }
    }

    /// Forgets the state of another rig, whose pool had the index before.
    fn meet_rig(&mut self, number: usize, pool: &Pool) {
        let rig = pool.rig_number();
        if !self.pools[number].is_of(rig) {
            self.forget(number);
            let importances = std::mem::take(&mut self.pools[number].importances);
            self.pools[number] = Ranked::new(Some(rig), importances);
        }
    }

    /// Gives every visible instance a cell of the first tier, and frees the cells of the others.
    fn assign_all(&mut self, pools: &mut [Option<Pool>]) {
        for (number, pool) in pools.iter_mut().enumerate() {
            let Some(pool) = pool else {
                continue;
            };
            let ranked = &self.pools[number];
            let met = ranked.is_of(pool.rig_number()) && ranked.shows_all;
            if met && pool.changes().is_empty() {
                continue;
            }
            self.meet_rig(number, pool);
            let ranked = &mut self.pools[number];
            ranked.cells.resize(pool.state().len());
            let before = std::mem::replace(&mut ranked.shows_all, true);
            self.show(number, pool, !before);
            pool.clear_changes();
        }
        self.banks.trim();
    }

    /// As [`assign_all`](Self::assign_all), by tiers.
    #[inline(never)]
    fn assign_by_tiers(&mut self, pools: &mut [Option<Pool>]) {
        let mut views = std::mem::take(&mut self.wide);
        views.clear();
        views.extend(self.views.iter().map(WideView::new));
        self.wide = views;
        self.forget_importances(pools);
        self.visible = 0;
        for (number, pool) in pools.iter_mut().enumerate() {
            if let Some(pool) = pool {
                self.meet_rig(number, pool);
                self.assign_pool(number, pool);
                pool.clear_changes();
                self.visible += self.pools[number].spheres.shown();
            }
        }
        self.sweep();
        self.even_out(pools);
        self.banks.fit_budget(self.budget.is_some(), pools);
    }

    fn assign_pool(&mut self, number: usize, pool: &mut Pool) {
        let Self { pools, plan, .. } = self;
        let ranked = &mut pools[number];
        ranked.resize(pool.state().len());
        ranked.spheres.renew(pool, pool.changes());
        if ranked.shared.fit(pool, &plan.tiers) {
            self.miss_unloaded(number);
        }
        self.fit_watched(number, pool);
        let given = |ranked: &Ranked| !ranked.importances.all().is_empty();
        let all = !self.viewed && !self.pools.iter().any(given);
        let still = all && self.plan.tiers.tiers[0].shared_error.is_none();
        let ranked = &mut self.pools[number];
        let before = std::mem::replace(&mut ranked.shows_all, still);
        if still {
            ranked.clocks.forget_all();
            self.show(number, pool, !before);
            return;
        }
        for (index, what) in pool.changes().all() {
            if what.has(What::POSE) {
                ranked.clocks.forget(index);
            }
        }
        self.rank(number, pool, all);
    }
}
