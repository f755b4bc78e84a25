//! Counts of a frame of a crowd with tiers.

use super::MAX_TIERS;
use super::bank::{Bank, SHARED, places};
use super::cells::TierCounts;

/// A tier in a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TierStats {
    /// Instances in the tier.
    pub instances: usize,
    /// Number of these instances that show a shared palette.
    pub shared: usize,
    /// Number of these instances that were evaluated into unshared palettes. An interpolated one counts once, though it
    /// writes two palettes if it is new, changed by a call, or predicted otherwise than before.
    pub evaluated: usize,
    /// Instances that kept the palettes of an earlier frame.
    pub held: usize,
    /// Instances that were due and wait for the budget.
    pub waiting: usize,
    /// Largest number of frames since the last update of an instance with an unshared palette.
    pub oldest: u32,
    /// Nanoseconds that the workers took to evaluate its palettes, summed over the workers. Not the same from run to
    /// run.
    pub nanoseconds: u64,
}

/// The last frame of a crowd with tiers, from [`Crowd::tier_stats`](crate::crowd::Crowd::tier_stats).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TierFrame {
    /// One entry per tier.
    pub tiers: Vec<TierStats>,
    /// Visible instances that are out of the picture.
    pub out: usize,
    /// Shared palettes that the bone buffer holds.
    pub shared_palettes: usize,
    /// Number of these palettes that were evaluated in this frame.
    pub shared_evaluated: usize,
    /// Nanoseconds for them.
    pub shared_nanoseconds: u64,
    /// Evaluations beyond the budget, of instances and shared palettes: instances that were new in the picture, changed
    /// by a call, or had waited for [`Tiers::max_age`](super::Tiers::max_age) frames are evaluated although it is used
    /// up.
    pub beyond_budget: usize,
}

impl TierFrame {
    /// Clears what a selection counts.
    pub(super) fn restart(&mut self, tiers: usize) {
        self.tiers.clear();
        self.tiers.resize(tiers, TierStats::default());
        (self.shared_palettes, self.shared_evaluated, self.beyond_budget) = (0, 0, 0);
    }

    /// Counts the cells of a bank: some are evaluated, and others are held.
    #[inline(always)]
    pub(super) fn add(&mut self, bank: &Bank, (chosen, held): (u16, u16), frame: u32) {
        let (evaluated, kept) = (chosen.count_ones() as usize, held.count_ones() as usize);
        if bank.kind().tier == SHARED {
            self.shared_palettes += evaluated + kept;
            self.shared_evaluated += evaluated;
            return;
        }
        let t = &mut self.tiers[usize::from(bank.kind().tier)];
        t.evaluated += evaluated;
        t.held += kept;
        t.waiting += bank.waiting().count_ones() as usize;
        for place in places(held) {
            t.oldest = t.oldest.max(bank.age(place, frame));
        }
    }

    /// Counts instances, when all banks have been [added](Self::add).
    pub(super) fn count(&mut self, instances: &TierCounts, visible: usize) {
        for (t, &instances) in self.tiers.iter_mut().zip(instances.all()) {
            t.instances = instances;
            t.shared = instances.saturating_sub(t.evaluated + t.held);
        }
        self.out = visible.saturating_sub(instances.sum());
    }

    /// Sets the nanoseconds of all workers, by tier, then for shared palettes.
    pub(super) fn set_times(&mut self, nanoseconds: [u64; MAX_TIERS + 1]) {
        for (stats, nanoseconds) in self.tiers.iter_mut().zip(nanoseconds) {
            stats.nanoseconds = nanoseconds;
        }
        self.shared_nanoseconds = nanoseconds[MAX_TIERS];
    }
}
