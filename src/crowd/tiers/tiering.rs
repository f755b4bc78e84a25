//! `Tiering`: what a crowd keeps from frame to frame of what it shows.

use super::assign::Ask;
use super::bank::{Banks, NONE};
use super::clocks::PhaseClocks;
use super::evaluate::Progress;
use super::frame_clock::{FrameClock, Stepped};
use super::select::{Request, Selected, Work};
use super::shared::SharedPhases;
use super::spheres::Spheres;
use super::stats::TierFrame;
use super::tier::{MAX_TIERS, Tier, Tiers};
use super::view::{View, WideView};

/// Out of the picture.
pub(super) const OUT: u8 = u8::MAX;

/// Of a pool's instances, by index.
#[derive(Debug, Default)]
pub(super) struct Ranked {
    pub spheres: Spheres,
    /// The tier, or [`OUT`].
    pub tier: Vec<u8>,
    /// The cell, or [`NONE`].
    pub cell: Vec<u32>,
    /// The host's importances; empty if it gave none.
    pub importance: Vec<f32>,
    pub shared: SharedPhases,
    pub clocks: PhaseClocks,
    /// True if the last frame had every visible instance in a first tier that shares nothing, and this one has to look at
    /// those that have changed alone.
    pub everybody: bool,
    /// The number of the pool's rig: another one may have taken its place.
    pub rig: Option<u32>,
    /// The layout of watched joints by which the cells were chosen. An instance that watches joints of its own has a cell
    /// of the full rig.
    pub watched: Option<u64>,
    /// The pool's count of clip changes when cells were last selected.
    pub clip_changes: u64,
    /// That of the rig that the importances are for.
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

/// What the scheduled frame does. All workers read it.
#[derive(Debug)]
pub(crate) struct Plan {
    /// True if the host has set tiers.
    pub(super) on: bool,
    /// With `on` false, one of rate 1.
    pub(super) tiers: Tiers,
    pub(super) clock: FrameClock,
    pub(super) progress: Progress,
    pub(in crate::crowd) selected: Selected,
}

/// The tiers of a crowd and all that follows from them. Without tiers a crowd has one of rate 1, in which every visible
/// instance is.
#[derive(Debug)]
pub(crate) struct Tiering {
    pub(in crate::crowd) plan: Plan,
    pub(super) views: Vec<View>,
    /// The most palettes that a frame evaluates, besides those that it must.
    pub(super) budget: Option<usize>,
    /// By the index of the pool.
    pub(super) pools: Vec<Ranked>,
    pub(super) banks: Banks,
    /// By chunk of instances of a pool what the ranking asks for.
    pub(super) asks: Vec<Ask>,
    /// What this frame evaluates, by bank.
    pub(super) work: Vec<Work>,
    /// The request of the last selection, if that serves the next frame as it is; `None` if the next frame selects anew.
    pub(super) rest: Option<Request>,
    /// Those that are due, and may wait for the budget: importance times age, cell.
    pub(super) candidates: Vec<(f32, u32)>,
    /// The cell behind the last one that a budget had room for.
    pub(super) turn: u32,
    /// The cells that were taken for this frame, ascending: their instances had other rows before, or none.
    pub(super) new: Vec<u32>,
    /// Indices of instances that come into the picture.
    pub(super) coming: Vec<u32>,
    /// The bank of which shared cells are looked at next, whether they are still used.
    pub(super) sweep: usize,
    /// Every palette starts at a multiple of this many rows.
    pub(super) align: usize,
    /// The views of this frame.
    pub(super) wide: Vec<WideView>,
    /// Visible instances.
    pub(super) visible: usize,
    /// Instances by tier.
    pub(super) instances: [usize; MAX_TIERS],
    pub(super) stats: TierFrame,
}

impl Default for Tiering {
    fn default() -> Self {
        let tiers = Tiers { tiers: vec![Tier::default()], ..Tiers::default() };
        Self::new(false, tiers, FrameClock::default())
    }
}

impl Tiering {
    /// Tiers, in a crowd that shows nothing yet.
    pub(super) fn new(on: bool, tiers: Tiers, clock: FrameClock) -> Self {
        Self {
            plan: Plan {
                on,
                tiers,
                clock,
                progress: Progress::default(),
                selected: Selected::default(),
            },
            views: Vec::new(),
            budget: None,
            pools: Vec::new(),
            banks: Banks::new(on),
            asks: Vec::new(),
            work: Vec::new(),
            rest: None,
            candidates: Vec::new(),
            turn: 0,
            new: Vec::new(),
            coming: Vec::new(),
            sweep: 0,
            align: 0,
            wide: Vec::new(),
            visible: 0,
            instances: [0; MAX_TIERS],
            stats: TierFrame::default(),
        }
    }

    /// Records a step of time.
    #[inline]
    pub fn advance(&mut self, dt: f64) {
        let Some(Stepped { turned, broken }) = self.plan.clock.advance(dt) else {
            return;
        };
        if broken {
            self.forget_clocks();
        }
        if turned {
            // What was predicted lies in the other direction.
            for bank in &mut self.banks.all {
                if bank.kind.palettes > 1 {
                    bank.stale |= bank.used;
                }
            }
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

    /// Whether the host has set tiers.
    pub fn is_on(&self) -> bool {
        self.plan.on
    }

    /// The cell of an instance.
    pub(super) fn cell(&self, pool: usize, index: usize) -> Option<u32> {
        let cell = *self.pools.get(pool)?.cell.get(index)?;
        (cell != NONE).then_some(cell)
    }
}
