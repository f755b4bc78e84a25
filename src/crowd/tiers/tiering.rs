//! `Tiering`: what a crowd keeps from frame to frame of what it shows.

use super::assign::ChunkRequests;
use super::bank::{Bank, NONE};
use super::banks::Banks;
use super::clocks::PhaseClocks;
use super::evaluate::Progress;
use super::frame_clock::{FrameClock, Stepped};
use super::select::{Request, Selected, Work};
use super::shared::SharedPhases;
use super::spheres::Spheres;
use super::stats::TierFrame;
use super::tier::{MAX_TIERS, Tier, Tiers};
use super::view::{View, WideView};
use crate::evaluate::How;
use crate::simd::SimdLevel;

/// Out of the picture.
pub(super) const OUT: u8 = u8::MAX;

/// The part of a pool that the crowd shows.
#[derive(Debug, Default)]
pub(super) struct Ranked {
    pub spheres: Spheres,
    /// Tier of each instance, or [`OUT`].
    pub tier: Vec<u8>,
    /// Cell of each instance, with [`SHARED_CELL`](super::bank::SHARED_CELL) if it is shared, or [`NONE`].
    pub cell: Vec<u32>,
    /// Importance of each instance, set by the host; empty if it gave none.
    pub importance: Vec<f32>,
    pub shared: SharedPhases,
    pub clocks: PhaseClocks,
    /// True if the last frame had every visible instance in a first tier that shares nothing. The next one then visits
    /// only instances that have changed.
    pub everybody: bool,
    /// Number of the pool's rig. Another one means that the pool of another rig has this index.
    pub rig: Option<u32>,
    /// Layout of watched joints by which cells were chosen: an instance that watches joints of its own has a cell of the
    /// full rig. Another layout ends the reuse of a selection.
    pub watched: Option<u64>,
    /// [`Pool::clip_changes`](crate::playback::pool::Pool) at the last selection. Another number ends its reuse.
    pub clip_changes: u64,
    /// Number of the rig that the importances belong to.
    pub given_for: Option<u32>,
}

impl Ranked {
    pub fn resize(&mut self, instances: usize) {
        self.tier.resize(instances, OUT);
        self.cell.resize(instances, NONE);
        self.clocks.resize(instances);
        if !self.importance.is_empty() {
            self.importance.resize(instances, 0.0);
        }
    }
}

/// Work of the scheduled frame. All workers read it.
#[derive(Debug)]
pub(crate) struct Plan {
    /// True if the host has set tiers.
    pub(super) on: bool,
    /// The host's tiers; one of rate 1 if it has set none.
    pub(super) tiers: Tiers,
    pub(super) clock: FrameClock,
    pub(super) progress: Progress,
    pub(in crate::crowd) selected: Selected,
    pub(in crate::crowd) how: How,
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
    pub(in crate::crowd) plan: Plan,
    pub(super) views: Vec<View>,
    /// Largest number of palettes that a frame evaluates in addition to those that it must.
    pub(super) budget: Option<usize>,
    /// The shown part of each pool, by the pool's index.
    pub(super) pools: Vec<Ranked>,
    pub(super) banks: Banks,
    /// Ranking results, one entry per chunk of instances. Empty between frames.
    pub(super) chunk_requests: Vec<ChunkRequests>,
    /// Palettes that the frame evaluates, by bank.
    pub(super) work: Vec<Work>,
    /// The request of the last selection, if that serves the next frame as it is; `None` if the next frame selects anew.
    pub(super) rest: Option<Request>,
    /// Cells that may wait for the budget: importance times age, number of the cell.
    pub(super) candidates: Vec<(f32, u32)>,
    /// Number of the cell behind the last one that a budget had room for.
    pub(super) budget_end: u32,
    /// Cells that were taken for this frame, ascending: their instances had other rows before, or none.
    pub(super) new: Vec<u32>,
    /// Indices of instances that come into the picture. Empty between frames.
    pub(super) coming: Vec<u32>,
    /// Number of the bank whose shared cells are freed next if unused.
    pub(super) sweep: usize,
    /// Every palette starts at a multiple of this many rows. Another number takes all cells back.
    pub(super) align: usize,
    /// The views of this frame, in registers.
    pub(super) wide: Vec<WideView>,
    /// Number of visible instances.
    pub(super) visible: usize,
    /// Number of instances in each tier.
    pub(super) instances: [usize; MAX_TIERS],
    pub(super) stats: TierFrame,
}

impl Tiering {
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

    /// To be called when the playback of the crowd is replaced by that of a moment so many seconds before; `None` for any
    /// other.
    pub fn rewind(&mut self, seconds: Option<f64>) {
        match seconds {
            Some(seconds) => self.plan.clock.rewind(seconds),
            None => self.forget_clocks(),
        }
    }

    /// To be called when the playback of a pool has been replaced: it has so many instances now, and other clips at some
    /// indices.
    pub fn replace(&mut self, number: usize, instances: usize, clips: &[u16]) {
        for &clip in clips {
            self.unload(number, clip);
        }
        self.truncate(number, instances);
        self.rest = None;
    }

    pub fn is_on(&self) -> bool {
        self.plan.on
    }

    pub(super) fn cell(&self, pool: usize, index: usize) -> Option<u32> {
        let cell = *self.pools.get(pool)?.cell.get(index)?;
        (cell != NONE).then_some(cell)
    }
}
