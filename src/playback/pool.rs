//! `Pool`: one rig's instances as plain arrays, and how they advance. A mixer has one pool with one instance, a crowd
//! one pool per rig.
//!
//! ```text
//! library    what can be played: rig, layers, clips, blend spaces
//! state      what is played: instances, entries, overrides, worlds, the clock; what snapshots hold
//! tables     what an evaluation reads; follows the library and what plays
//! watched, bounds, speeds, roots    what is derived from both
//! changes    what a frame has to look at
//! ```
//!
//! [`Pool::touch`] is the only notice that an instance has changed, and [`Pool::sole`] a pool's only answer to whether
//! one clip plays alone at full weight.

use super::action::Action;
use super::advance::Advance;
use super::changes::{Changes, What};
use super::clock::LEAP;
use super::error::PlaybackError;
use super::events::EventKinds;
use super::hook::HookClock;
use super::ids::{InstanceId, Owner, Playable};
use super::layer_state::LayerState;
use super::library::Library;
use super::options::LayerOptions;
use super::root_motion::Roots;
use super::scheduled::Scheduled;
use super::speeds::Speeds;
use super::state::State;
use crate::evaluate::{Contacts, RigTables, Watched};
use crate::math::Affine3x4;
use crate::rig::Rig;
use std::sync::Arc;

mod alone;
mod bounds;
mod clips;
mod feet;
mod inertial;
mod modify;
mod overrides;
mod poses;
mod query;
mod restore;
mod visit;

pub(crate) use alone::Steady;
use bounds::Bounds;
pub(crate) use feet::check_count;
use inertial::LayerCapture;
use overrides::Batch;

/// A rig of a crowd, or of a mixer, with its clips, layers and instances.
#[derive(Debug)]
pub(crate) struct Pool {
    library: Library,
    state: State,
    /// The instances that a crowd's frames evaluate.
    scheduled: Scheduled,
    tables: RigTables,
    /// Model matrices of watched joints.
    watched: Watched,
    /// By modifier when its feet are on the ground.
    contacts: Vec<Contacts>,
    batch: Batch,
    bounds: Bounds,
    speeds: Speeds,
    roots: Roots,
    hook_clock: HookClock,
    capture: LayerCapture,
    /// Number of offsets for which there was no room.
    refused: u64,
    /// The modifiers that are springs, as bits.
    springs: u64,
    /// The kinds of events that are collected.
    kinds: EventKinds,
    /// Changes since the last frame; recorded in crowds only.
    changes: Changes,
    /// Number of changes of the loaded clips, their speeds or the blend spaces; tells crowds that shared palettes and
    /// the room for key hints may be stale.
    clip_changes: u64,
}

impl Pool {
    pub fn new(owner: Owner, rig: Arc<Rig>, layers: Vec<LayerOptions>) -> Self {
        let masks = layers.iter().map(|layer| layer.mask.clone());
        let mut pool = Self {
            tables: RigTables::new(rig.clone(), masks),
            library: Library::new(owner, rig, layers),
            state: State::default(),
            scheduled: Scheduled::default(),
            watched: Watched::default(),
            contacts: Vec::new(),
            batch: Batch::default(),
            bounds: Bounds::default(),
            speeds: Speeds::default(),
            roots: Roots::default(),
            hook_clock: HookClock::default(),
            capture: LayerCapture::default(),
            refused: 0,
            springs: 0,
            kinds: EventKinds::ALL,
            changes: Changes::default(),
            clip_changes: 0,
        };
        pool.fit_clips();
        pool
    }

    #[inline(always)]
    pub fn rig(&self) -> &Arc<Rig> {
        self.library.rig()
    }

    #[inline(always)]
    pub fn library(&self) -> &Library {
        &self.library
    }

    #[inline(always)]
    pub fn state(&self) -> &State {
        &self.state
    }

    #[inline(always)]
    pub fn watched(&self) -> &Watched {
        &self.watched
    }

    #[inline(always)]
    pub fn watched_mut(&mut self) -> &mut Watched {
        &mut self.watched
    }

    pub fn scheduled(&self) -> &Scheduled {
        &self.scheduled
    }

    #[inline]
    pub fn changes(&self) -> &Changes {
        &self.changes
    }

    /// Drops the changes: a frame has looked at them.
    pub fn clear_changes(&mut self) {
        self.changes.clear();
    }

    pub fn clip_changes(&self) -> u64 {
        self.clip_changes
    }

    pub fn hook_clock(&self) -> &HookClock {
        &self.hook_clock
    }

    pub fn roots(&self) -> &Roots {
        &self.roots
    }

    pub fn roots_mut(&mut self) -> &mut Roots {
        &mut self.roots
    }

    pub fn rig_number(&self) -> u32 {
        self.library.owner().rig().number()
    }

    pub fn set_owner(&mut self, owner: Owner) {
        self.library.set_owner(owner);
    }

    /// Starts to record changes: all kinds for `tiers`, otherwise only changes of rows. All instances count as changed.
    pub fn record_changes(&mut self, tiers: bool) {
        let kinds = if tiers { What::ALL } else { What::ROWS };
        self.changes.record(kinds, self.state.len());
        self.fit_entries();
    }

    /// Expects few simultaneous fades in a crowd with tiers, since such crowds are large.
    fn fit_entries(&mut self) {
        self.state.expect_few(self.changes.records(What::POSE));
    }

    #[inline]
    pub fn instance_id(&self, index: usize) -> InstanceId {
        InstanceId::new(self.library.owner(), index, self.state.generation(index))
    }

    /// The instances that are alive, by index.
    pub fn instances(&self) -> impl Iterator<Item = InstanceId> {
        let alive = self.state.alive().iter().enumerate().filter(|a| *a.1);
        alive.map(|(index, _)| self.instance_id(index))
    }

    /// The range of entries of an instance, one per layer.
    #[inline]
    fn entries_of(&self, index: usize) -> std::ops::Range<usize> {
        self.entry(index, 0)..self.entry(index + 1, 0)
    }

    #[inline]
    fn entry(&self, index: usize, layer: usize) -> usize {
        index * self.library.layers().len() + layer
    }

    /// The actions of an instance at their anchors, layer by layer, within a layer oldest first.
    pub fn actions_of(&self, index: usize) -> impl Iterator<Item = &Action> {
        self.entries_of(index).flat_map(|at| self.state.entries().actions(at))
    }

    pub fn spawn(&mut self) -> Result<usize, PlaybackError> {
        let index = self.state.spawn(self.library.layers().len())?;
        self.scheduled.spawn(index);
        self.watched.spawn(index);
        self.touch(index, What::ALL);
        Ok(index)
    }

    /// Makes room for `count` more instances.
    pub fn reserve(&mut self, count: usize) -> Result<(), PlaybackError> {
        let more = self.state.reserve(count, self.library.layers().len())?;
        self.scheduled.reserve(more);
        Ok(())
    }

    pub fn despawn(&mut self, index: usize) {
        self.state.despawn(index, self.library.layers().len());
        self.touch(index, What::POSE | What::BOUNDS | What::LAYOUT);
    }

    /// Marks a living instance as gone, or takes that back, while a call despawns many.
    pub fn set_alive(&mut self, index: usize, alive: bool) {
        self.state.set_alive(index, alive);
    }

    pub fn set_visible(&mut self, index: usize, visible: bool) {
        if self.state.set_visible(index, visible) {
            self.touch(index, What::BOUNDS | What::LAYOUT);
        }
    }

    /// Sets whether the next frames evaluate an instance.
    pub fn set_scheduled(&mut self, index: usize, scheduled: bool) {
        self.scheduled.set(index, scheduled);
    }

    #[inline]
    pub fn set_world(&mut self, index: usize, world: Affine3x4) {
        self.state.set_world(index, world);
        if self.state.inputs().active(index) != 0 {
            // Targets in the world are elsewhere in model space. Tiers go on by their rates.
            self.watched.touch(index);
        }
        self.touch(index, What::BOUNDS);
    }

    /// Sets whether root motion moves world transforms.
    pub fn apply_roots(&mut self, apply: bool) {
        if self.state.apply_roots(apply) {
            // Bounds may still be those of the step before.
            (0..self.state.len()).for_each(|index| self.touch(index, What::BOUNDS));
        }
    }

    /// Sets the speed of an instance: a factor on the speeds of its layers.
    pub fn set_speed(&mut self, index: usize, speed: f32) {
        if self.state.set_speed(index, self.library.layers().len(), speed) {
            self.touch(index, What::POSE);
        }
    }

    /// Begins a step of `dt` seconds. The result advances the instances, in ranges or all at once; then
    /// the [root motion](Roots) has to be stored.
    pub fn advance(&mut self, dt: f64) -> Advance<'_> {
        self.watched.advance();
        if dt.abs() > LEAP {
            self.state.inputs_mut().rest_springs(None);
        }
        self.advance_modifiers(dt);
        let root = self.roots.lane.filter(|_| self.has_roots());
        let how = (self.library.owner(), self.kinds, root);
        let records = self.changes.records(What::BOUNDS);
        self.state.advance(dt, self.library.motions(), self.library.layers(), how, records)
    }

    /// Records the instances whose bounds a step has changed: a fade or an action has ended without a call.
    pub fn record_steps(&mut self, changed: &[u32]) {
        for &index in changed {
            self.touch(index as usize, What::BOUNDS);
        }
    }

    /// Whether a step computes root motion.
    pub fn has_roots(&self) -> bool {
        self.roots.lane.is_some() && (self.roots.tracks || self.state.applies_roots())
    }

    pub fn set_event_filter(&mut self, kinds: EventKinds) {
        if self.kinds != kinds {
            self.kinds = kinds;
            self.state.call_all();
        }
    }

    pub fn kinds(&self) -> EventKinds {
        self.kinds
    }

    /// The present state of an instance's layer.
    pub fn layer(&self, index: usize, layer: usize) -> LayerState {
        self.state.layer(index, self.entry(index, layer))
    }

    /// Stores the state of an instance's layer, if it differs from `before`, its present state.
    pub fn store(&mut self, index: usize, number: usize, before: &LayerState, layer: &LayerState) {
        if before == layer {
            return;
        }
        self.prepare(layer);
        self.state.set_layer(self.entry(index, number), layer);
        self.touch(index, What::POSE);
    }

    /// The state of a layer, and the index of the action that plays a motion on it.
    pub fn find_action(
        &self,
        index: usize,
        layer: usize,
        motion: Playable,
    ) -> Result<(LayerState, usize), PlaybackError> {
        self.library.check_layer(layer)?;
        let source = self.library.source(motion)?;
        let state = self.layer(index, layer);
        let none = || self.library.not_playing(motion, layer);
        let found = state.find(source).ok_or_else(none)?;
        Ok((state, found))
    }

    /// Checks that a motion plays on a layer, without loading it.
    pub fn check_plays(
        &self,
        index: usize,
        layer: usize,
        motion: Playable,
    ) -> Result<(), PlaybackError> {
        self.library.check_layer(layer)?;
        let source = self.library.source(motion)?;
        let mut actions = self.state.entries().actions(self.entry(index, layer));
        let plays = actions.any(|a| a.source() == source);
        plays.then_some(()).ok_or_else(|| self.library.not_playing(motion, layer))
    }

    /// Changes the action that plays a motion on a layer.
    pub fn change(
        &mut self,
        index: usize,
        layer: usize,
        motion: Playable,
        change: impl FnOnce(&Library, &mut LayerState, usize) -> Result<(), PlaybackError>,
    ) -> Result<(), PlaybackError> {
        let (before, a) = self.find_action(index, layer, motion)?;
        let mut state = before;
        change(&self.library, &mut state, a)?;
        self.store(index, layer, &before, &state);
        Ok(())
    }

    /// Marks an instance as changed by something other than time. Every such change comes through here: its watched
    /// joints are no longer current, and the next frame looks at the instance.
    #[inline]
    pub fn touch(&mut self, index: usize, what: What) {
        if what.has(What::POSE) {
            self.watched.touch(index);
        }
        self.changes.mark(index, what);
    }
}
