//! `Pool`: one rig's instances as plain arrays, and how they advance; `frame` evaluates them. A mixer has one pool with
//! one instance, a crowd one pool per rig.

use super::action::Action;
use super::advance::Advance;
use super::arena::Arena;
use super::blend_space::Space;
use super::changes::{Changes, What};
use super::error::PlaybackError;
use super::events::EventKinds;
use super::ids::{ClipId, InstanceId, Owner};
use super::layer_state::{ACTIONS_PER_LAYER, LayerState};
use super::root_motion::{Moves, RootLane};
use super::scheduled::Scheduled;
use super::snapshot::identity::PoolIdentity;
use super::state::State;
use crate::clip::Clip;
use crate::math::Affine3x4;
use crate::rig::Rig;
use crate::simd::SimdLevel;
use crate::skeleton::JointMask;
use std::sync::{Arc, OnceLock};

mod ahead;
mod alone;
mod bounds;
mod details;
mod frame;
mod gather;
mod overrides;
mod programs;
mod query;
mod watch;

pub(crate) use ahead::{Prefetch, STATE, STEPS};
pub(crate) use alone::Steady;
use bounds::PoolBounds;
pub(crate) use details::{DetailRequest, PoolDetails};
pub(crate) use frame::{How, PaletteNeeds, PaletteScratch, Target};
use overrides::Batch;
use programs::PoolPrograms;
pub(crate) use watch::{Own, TakenJoints, Watched};
use watch::{WatchPart, WatchedRow};

/// The most layers of a rig.
pub const MAX_LAYERS: usize = 16;

/// Options of one layer, for all instances of a rig.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LayerOptions {
    /// True for a layer that adds differences (additive clips) instead of blending over the layers below. Default
    /// false.
    pub additive: bool,
    /// The joints that the layer animates, with weights in [0, 1]. Default `None`: all joints at weight 1.
    pub mask: Option<JointMask>,
    /// The pose that fills in if the weights of the layer's actions sum to less than 1. Default [`Fill::Rest`].
    pub fill: Fill,
}

/// The pose that takes the share of a blending layer that its actions' weights leave below 1. Additive layers ignore
/// it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fill {
    /// The rest pose: a single action fades in from it.
    #[default]
    Rest,
    /// The layers below: the layer's weight is reduced by the same share, so that a single action fades in from the
    /// layers below and fades out to them.
    Below,
}

/// A rig of a crowd, or of a mixer, with its clips, layers and instances.
#[derive(Debug)]
pub(crate) struct Pool {
    /// The owner that handles of the clips, blend spaces and instances name.
    pub owner: Owner,
    pub rig: Arc<Rig>,
    pub(super) clips: Arena<Arc<Clip>>,
    pub(super) spaces: Arena<Space>,
    pub(super) layers: Vec<LayerOptions>,
    pub state: State,
    /// The instances that a crowd's frames evaluate.
    pub scheduled: Scheduled,
    /// Number of key hints per action: the largest of all loaded clips.
    hint_stride: usize,
    /// Model matrices of watched joints.
    pub watch: Watched,
    batch: Batch,
    /// The largest number of timelines of a loaded clip.
    pub timelines: usize,
    pub(super) programs: PoolPrograms,
    /// Details that the tiers of a crowd evaluate instead of the rig; empty without tiers.
    pub details: PoolDetails,
    /// Hashes that snapshots refer to; made by the first snapshot after the loaded clips have changed.
    identity: OnceLock<Arc<PoolIdentity>>,
    /// Bounds of clips and joints, from which instances get their spheres; made by the first query after the loaded
    /// clips have changed.
    bounds: OnceLock<PoolBounds>,
    /// The bounds before the last change; clips that stayed keep their measured bounds.
    last_bounds: Option<PoolBounds>,
    /// Lane of the root joint; `None` if no clip has root motion.
    root: Option<RootLane>,
    /// True if each step computes root motion, whether it is applied or not.
    tracks_root: bool,
    /// The kinds of events that are collected.
    kinds: EventKinds,
    /// The root motion of the last step.
    moves: Moves,
    /// Changes since the last frame; recorded in crowds only.
    pub changes: Changes,
    /// Number of changes of the loaded clips, their speeds or the blend spaces; tells crowds that shared palettes and
    /// the room for key hints may be stale.
    pub clip_changes: u64,
    /// The speeds of clips that have played while they were needed, by index.
    speeds: Vec<Option<alone::Speed>>,
    /// True if a tier shares palettes by their error; nothing else needs the speeds.
    needs_speeds: bool,
}

impl Pool {
    pub fn new(owner: Owner, rig: Arc<Rig>, layers: Vec<LayerOptions>) -> Self {
        let clips = rig.clips().iter().cloned().collect();
        let programs = PoolPrograms::new(&rig);
        let mut pool = Self {
            owner,
            rig,
            clips,
            spaces: Arena::default(),
            layers,
            state: State::default(),
            scheduled: Scheduled::default(),
            hint_stride: 0,
            watch: Watched::default(),
            batch: Batch::default(),
            timelines: 0,
            programs,
            details: PoolDetails::default(),
            identity: OnceLock::new(),
            bounds: OnceLock::new(),
            last_bounds: None,
            root: None,
            tracks_root: true,
            kinds: EventKinds::ALL,
            moves: Moves::default(),
            changes: Changes::default(),
            clip_changes: 0,
            speeds: Vec::new(),
            needs_speeds: false,
        };
        pool.fit_clips();
        pool
    }

    /// The number of layers.
    pub fn layer_count(&self) -> usize {
        self.layers.len()
    }

    /// The number of the rig in its crowd.
    pub fn rig_number(&self) -> u32 {
        self.owner.rig().number()
    }

    /// The hashes of skeleton, layers and clips, to which snapshots refer.
    pub fn identity(&self) -> &Arc<PoolIdentity> {
        self.identity.get_or_init(|| Arc::new(PoolIdentity::of(self)))
    }

    /// Updates all that follows from the set of loaded clips: identity, bounds, hints, timelines, root lane, programs.
    pub fn fit_clips(&mut self) {
        self.identity = OnceLock::new();
        self.clip_changes += 1;
        self.forget_bounds();
        let loaded = self.clips.iter().map(|(_, clip)| clip);
        self.timelines = loaded.clone().map(|c| c.timelines().len()).max().unwrap_or(0);
        self.root = RootLane::of(&self.rig, loaded.clone().map(|c| &**c));
        self.hint_stride = loaded.map(|c| c.hint_count()).max().unwrap_or(0);
        self.fit_programs(SimdLevel::current());
    }

    /// Starts to record changes: all kinds for `tiers`, otherwise only changes of rows. All instances count as changed.
    pub fn record_changes(&mut self, tiers: bool) {
        let kinds = if tiers { What::ALL } else { What::ROWS };
        self.changes.record(kinds, self.state.len());
        self.fit_entries();
    }

    /// Expects few simultaneous fades in a crowd with tiers, since such crowds are large.
    pub fn fit_entries(&mut self) {
        self.state.expect_few(self.changes.records(What::POSE));
    }

    /// The most clips of one action: two if there are blend spaces.
    fn members(&self) -> usize {
        1 + usize::from(!self.spaces.is_empty())
    }

    /// The most clips that an instance plays at once.
    pub fn max_clips(&self) -> usize {
        self.layers.len() * ACTIONS_PER_LAYER * self.members()
    }

    pub fn hints_per_instance(&self) -> usize {
        self.max_clips() * self.hint_stride
    }

    pub fn clip(&self, id: ClipId) -> Option<&Arc<Clip>> {
        let found = self.clips.find(id.index, id.generation);
        found.filter(|_| id.owner == self.owner)
    }

    /// The handle of the instance at an index.
    #[inline]
    pub fn instance_id(&self, index: usize) -> InstanceId {
        InstanceId::new(self.owner, index, self.state.generation(index))
    }

    /// The range of entries of an instance, one per layer.
    #[inline]
    pub fn entries_of(&self, index: usize) -> std::ops::Range<usize> {
        index * self.layers.len()..(index + 1) * self.layers.len()
    }

    /// Index of the entry of an instance's layer.
    pub fn entry(&self, index: usize, layer: usize) -> usize {
        index * self.layers.len() + layer
    }

    pub fn spawn(&mut self) -> Result<usize, PlaybackError> {
        let index = self.state.spawn(self.layers.len())?;
        self.scheduled.spawn(index);
        self.watch.spawn(index);
        self.touch(index, What::ALL);
        Ok(index)
    }

    /// Makes room for `count` more instances.
    ///
    /// # Errors
    /// If there would be more than [`MAX_INSTANCES`](super::MAX_INSTANCES).
    pub fn reserve(&mut self, count: usize) -> Result<(), PlaybackError> {
        let more = self.state.reserve(count, self.layers.len())?;
        self.scheduled.reserve(more);
        Ok(())
    }

    /// Shows or hides an instance.
    pub fn set_visible(&mut self, index: usize, visible: bool) {
        if self.state.set_visible(index, visible) {
            self.touch(index, What::PLACE | What::LAYOUT);
        }
    }

    pub fn despawn(&mut self, index: usize) {
        self.state.despawn(index, self.layers.len());
        self.touch(index, What::POSE | What::PLACE | What::LAYOUT);
    }

    /// Begins a step of `dt` seconds. The result advances the instances, in ranges or all at once; then
    /// [`settle`](Self::settle) has to be called.
    pub fn advance(&mut self, dt: f64) -> Advance<'_> {
        self.watch.advance();
        let how = (self.owner, self.kinds, self.root.filter(|_| self.has_roots()));
        let records = self.changes.records(What::PLACE);
        self.state.advance(dt, &self.clips, &self.layers, how, records)
    }

    /// Records the instances whose bounds a step has changed: a fade or an action has ended without a call.
    pub fn record_steps(&mut self, changed: &[u32]) {
        for &index in changed {
            self.touch(index as usize, What::PLACE);
        }
    }

    /// Takes the buffer of root motions, emptied, for the next step.
    pub fn take_moves(&mut self) -> Moves {
        self.moves.clear();
        std::mem::take(&mut self.moves)
    }

    /// Whether a step computes root motion.
    pub fn has_roots(&self) -> bool {
        self.root.is_some() && (self.tracks_root || self.state.applies_roots())
    }

    /// Whether a loaded clip has root motion.
    pub fn has_root_clips(&self) -> bool {
        self.root.is_some()
    }

    /// Sets whether each step computes root motion, whether it is applied or not.
    pub fn track_root(&mut self, track: bool) {
        self.tracks_root = track;
    }

    /// Sets the kinds of events that are collected.
    pub fn set_event_filter(&mut self, kinds: EventKinds) {
        if self.kinds != kinds {
            self.kinds = kinds;
            self.state.call_all();
        }
    }

    /// The kinds of events that are collected.
    pub fn kinds(&self) -> EventKinds {
        self.kinds
    }

    /// Drops the root motion of the last step.
    pub fn clear_moves(&mut self) {
        self.moves.clear();
    }

    /// The root motion of the last step.
    pub fn moves(&self) -> &Moves {
        &self.moves
    }

    /// Ends a step: stores its root motion.
    pub fn settle(&mut self, moves: Moves) {
        self.moves = moves;
    }

    /// The present state of an instance's layer.
    pub fn layer(&self, index: usize, layer: usize) -> LayerState {
        self.state.layer(index, self.entry(index, layer))
    }

    /// Stores the state of an instance's layer, if it has changed.
    pub fn set_layer(&mut self, index: usize, number: usize, layer: &LayerState) {
        let before = self.layer(index, number);
        self.replace_layer(index, number, &before, layer);
    }

    /// Stores the state of an instance's layer, if it differs from `before`, its present state.
    pub fn replace_layer(
        &mut self,
        index: usize,
        number: usize,
        before: &LayerState,
        layer: &LayerState,
    ) {
        if before != layer {
            if self.has_undone() {
                let sources = layer.actions().iter().map(Action::source);
                sources.for_each(|source| self.adopt(source));
            }
            let mut made = false;
            for action in layer.actions() {
                made |= self.programs.require(&self.rig, &self.clips, action);
            }
            if made {
                self.details.follow(&self.programs, &self.clips);
            }
            if self.needs_speeds {
                for action in layer.actions() {
                    let (clip, other) = action.members();
                    self.measure(clip);
                    if let Some((other, _)) = other {
                        self.measure(other);
                    }
                }
            }
            self.state.set_layer(self.entry(index, number), layer);
            self.touch(index, What::POSE);
        }
    }

    /// Marks an instance as changed by something other than time. Every such change comes through here: its watched
    /// joints are no longer current, and the next frame looks at the instance.
    #[inline]
    pub fn touch(&mut self, index: usize, what: What) {
        if what.has(What::POSE) {
            self.watch.touch(index);
        }
        self.changes.mark(index, what);
    }

    /// Marks the instances whose state differs in `other`, which will replace it; all instances unless `other` is
    /// `close`.
    pub fn mark_differences(&mut self, other: &State, close: bool) {
        if self.changes.records(What::LAYOUT) {
            self.changes.truncate(other.len());
            for index in 0..other.len() {
                let difference = self.state.difference(other, index, self.layers.len());
                let all = match close {
                    true => What::NOTHING,
                    false => What::POSE | What::PLACE,
                };
                self.touch(index, difference | all);
            }
        }
    }

    /// Sets the world transform of an instance.
    #[inline]
    pub fn set_world(&mut self, index: usize, world: Affine3x4) {
        self.state.set_world(index, world);
        self.touch(index, What::PLACE);
    }

    /// The bytes of keys of all loaded clips.
    pub fn key_bytes(&self) -> usize {
        self.programs.key_bytes()
    }

    /// Fits the programs to a SIMD level and to the loaded clips.
    pub fn fit_programs(&mut self, level: SimdLevel) {
        let Self { programs, rig, clips, layers, details, .. } = self;
        programs.fit(level.width(), rig, clips, layers);
        programs.level = Some(level);
        details.fit(level, programs, clips, layers);
    }

    /// Makes the programs of all clips that play and have none.
    pub fn require_all(&mut self) {
        let Self { programs, rig, clips, state, .. } = self;
        for action in state.all_actions() {
            programs.require(rig, clips, action);
        }
        self.details.follow(&self.programs, &self.clips);
    }

    /// Calls [`fit_programs`](Self::fit_programs) if the level has another register width than the programs.
    #[inline]
    pub fn fit_level(&mut self, level: SimdLevel) {
        if self.programs.width() != level.width() {
            self.fit_programs(level);
        }
    }

    /// The level to evaluate at: the current one, or another of the programs' register width.
    fn level(&self) -> SimdLevel {
        let now = SimdLevel::current();
        if self.programs.level == Some(now) {
            return now;
        }
        let fits = |level: &SimdLevel| level.width() == self.programs.width();
        match fits(&now) {
            true => now,
            false => SimdLevel::supported().find(fits).unwrap_or(now),
        }
    }
}

/// The largest magnitude of a time, a time step and a fade, seconds: thirty years, far beyond use, and small enough
/// that an f64 still resolves microseconds.
pub const MAX_TIME: f64 = 1.0e9;

pub(crate) fn check(
    what: &'static str,
    value: f64,
    low: f64,
    high: f64,
) -> Result<(), PlaybackError> {
    if value >= low && value <= high {
        Ok(())
    } else {
        Err(PlaybackError::Value { what, value, low, high })
    }
}
