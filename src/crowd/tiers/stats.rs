//! Counts of a frame of a crowd with tiers.

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
