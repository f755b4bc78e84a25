//! `Tiering`: what a crowd keeps from frame to frame of what it shows.

use super::assign::Ask;
use super::bank::{Banks, NONE};
use super::clocks::PhaseClocks;
use super::select::{Selected, Work};
use super::shared::SharedPhases;
use super::spheres::Spheres;
use super::stats::TierFrame;
use super::tier::{MAX_TIERS, Tier, Tiers};
use super::view::{View, WideView};
use crate::playback::clock::LEAP;
use std::sync::atomic::{AtomicBool, AtomicU64};

/// Seconds without a ranking after which clocks are forgotten: the clock of a pool counts 9 hours.
const UNRANKED: f64 = 7200.0;

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
    /// Key hints of an instance when cells were last selected.
    pub hints: usize,
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

/// The tiers of a crowd and all that follows from them. Without tiers a crowd has one of rate 1, in which every visible
/// instance is.
#[derive(Debug)]
pub(crate) struct Tiering {
    /// Whether the host has set tiers.
    pub(super) on: bool,
    pub(super) tiers: Tiers,
    pub(super) views: Vec<View>,
    /// The most palettes that a frame evaluates, besides those that it must.
    pub(super) budget: Option<usize>,
    /// Counts the frames.
    pub(super) frame: u32,
    /// Seconds that have passed, whatever their sign.
    pub(super) time: f64,
    /// About how long a frame is, in seconds, negative if time runs backwards: predictions are made by it.
    pub(super) step: f64,
    /// The time of the last ranking.
    pub(super) ranked_at: f64,
    /// Whether the last step that was not 0 ran backwards.
    pub(super) backwards: bool,
    /// By the index of the pool.
    pub(super) pools: Vec<Ranked>,
    pub(super) banks: Banks,
    /// By chunk of instances of a pool what the ranking asks for.
    pub(super) asks: Vec<Ask>,
    /// What this frame evaluates, by bank.
    pub(super) work: Vec<Work>,
    /// True if that has been written: written again, to other memory, palettes are the same.
    pub(super) written: bool,
    /// True from when cells of this frame are evaluated until all are: what it has then depends on which were, and the next
    /// frame begins anew.
    pub(super) begun: AtomicBool,
    /// What the last frame selected, one after another or not, if it was all cells.
    pub(super) selected: Option<(bool, Selected)>,
    /// Those that are due, and may wait for the budget: importance times age, cell.
    pub(super) candidates: Vec<(f32, u32)>,
    /// The cell behind the last one that a budget had room for.
    pub(super) turn: u32,
    /// True if all palettes have to be written: the memory has none.
    pub(super) lost: bool,
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
    /// By tier, then of shared palettes.
    pub(super) nanoseconds: [AtomicU64; MAX_TIERS + 1],
    pub(super) stats: TierFrame,
}

impl Default for Tiering {
    fn default() -> Self {
        let tiers = Tiers { tiers: vec![Tier::default()], ..Tiers::default() };
        Self::new(false, tiers)
    }
}

impl Tiering {
    /// Tiers, in a crowd that shows nothing yet.
    pub(super) fn new(on: bool, tiers: Tiers) -> Self {
        Self {
            on,
            tiers,
            views: Vec::new(),
            budget: None,
            frame: 0,
            time: 0.0,
            step: 0.0,
            ranked_at: 0.0,
            backwards: false,
            pools: Vec::new(),
            banks: Banks::new(on),
            asks: Vec::new(),
            work: Vec::new(),
            written: false,
            begun: AtomicBool::new(false),
            selected: None,
            candidates: Vec::new(),
            turn: 0,
            lost: false,
            new: Vec::new(),
            coming: Vec::new(),
            sweep: 0,
            align: 0,
            wide: Vec::new(),
            visible: 0,
            instances: [0; MAX_TIERS],
            nanoseconds: Default::default(),
            stats: TierFrame::default(),
        }
    }

    /// Records a step of time.
    pub fn advance(&mut self, dt: f64) {
        let turns = dt != 0.0 && (dt < 0.0) != self.backwards;
        // Clocks hold while time runs one way, without a leap, and for some hours at most.
        if turns || dt.abs() > LEAP || self.time + dt.abs() - self.ranked_at > UNRANKED {
            for ranked in &mut self.pools {
                ranked.clocks.forget_all();
            }
        }
        if turns {
            self.backwards = dt < 0.0;
            self.step = -self.step;
            // What was predicted lies in the other direction.
            for bank in &mut self.banks.all {
                if bank.kind.palettes > 1 {
                    bank.stale |= bank.used;
                }
            }
        }
        self.time += dt.abs();
    }

    /// Learns from the time since the last ranking how long a frame is. A frame may have several steps; one without any
    /// says nothing. One long frame among short ones hardly counts.
    pub(super) fn measure_step(&mut self) {
        let length = (self.time - self.ranked_at).min(LEAP);
        let last = self.step.abs();
        // What the sum of time has lost by rounding is no change.
        let rounding = 4.0 * f64::EPSILON * self.time;
        if length <= 0.0 || (length - last).abs() <= rounding {
            return;
        }
        let step = if last == 0.0 || (length - last).abs() < length / 32.0 {
            length
        } else {
            let last = last.min(8.0 * length);
            last + (length.min(2.0 * last) - last) / 8.0
        };
        self.step = if self.backwards { -step } else { step };
    }

    /// To be called when the playback of the crowd is replaced by that of a moment so many seconds before; `None` for any
    /// other.
    pub fn rewind(&mut self, seconds: Option<f64>) {
        match seconds {
            Some(seconds) => self.time -= seconds,
            None => self.pools.iter_mut().for_each(|p| p.clocks.forget_all()),
        }
    }

    /// To be called when the playback of a pool has been replaced: it has so many instances now, and other clips at some
    /// indices.
    pub fn replace(&mut self, number: usize, instances: usize, clips: &[u16]) {
        for &clip in clips {
            self.unload(number, clip);
        }
        self.truncate(number, instances);
    }

    /// Whether the host has set tiers.
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// The cell of an instance.
    pub(super) fn cell(&self, pool: usize, index: usize) -> Option<u32> {
        let cell = *self.pools.get(pool)?.cell.get(index)?;
        (cell != NONE).then_some(cell)
    }
}
