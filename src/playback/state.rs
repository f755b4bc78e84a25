//! `State`: the part of a rig's instances that snapshots hold: which are alive, their transforms, actions and
//! overrides.

use super::action::Action;
use super::advance::{Advance, Stage};
use super::changes::What;
use super::clock::Clock;
use super::entries::{Entries, make_room};
use super::error::PlaybackError;
use super::events::EventKinds;
use super::ids::{InstanceId, MAX_INSTANCES, Owner, RETIRED};
use super::inputs::Inputs;
use super::layer_state::LayerState;
use super::linear_fade::LinearFade;
use super::motions::Motions;
use super::options::LayerOptions;
use super::overrides::Overrides;
use super::root_motion::{RootLane, widen};
use crate::evaluate::Offsets;
use crate::math::Affine3x4;
use glam::DAffine3;

mod inputs;
mod offsets;
mod stored;

pub(super) use stored::read;

/// The playback state of a rig's instances, as parallel arrays. The fields are private to this file and those of `state/`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct State {
    generation: Vec<u16>,
    alive: Vec<bool>,
    visible: Vec<bool>,
    /// Factors on the speeds of an instance's layers.
    speed: Vec<f32>,
    world: Vec<Affine3x4>,
    free: Vec<u32>,
    /// Number of indices whose generations are used up: they are never reused.
    retired: usize,
    clock: Clock,
    /// Entries of all layers, by instance × layer.
    entries: Entries,
    overrides: Overrides,
    inputs: Inputs,
    /// Number of actions evicted because their layer was full.
    evicted: u64,
    /// The offsets of layers that decay. Entries hold them by number.
    offsets: Offsets,
    /// World transforms in f64; `None` unless root motion moves the instances.
    world_wide: Option<Vec<DAffine3>>,
}

impl State {
    /// The number of indices: the largest number of instances that were alive at once.
    pub fn len(&self) -> usize {
        self.alive.len()
    }

    pub fn count_alive(&self) -> usize {
        self.alive.len() - self.free.len() - self.retired
    }

    /// Whether each instance is alive, by index.
    pub fn alive(&self) -> &[bool] {
        &self.alive
    }

    /// Whether each instance is visible, by index.
    pub fn visible(&self) -> &[bool] {
        &self.visible
    }

    pub fn worlds(&self) -> &[Affine3x4] {
        &self.world
    }

    pub fn speeds(&self) -> &[f32] {
        &self.speed
    }

    /// Whether a handle's instance is alive.
    pub fn knows(&self, id: InstanceId) -> bool {
        let index = id.index();
        self.alive.get(index) == Some(&true) && self.generation[index] == id.generation()
    }

    pub fn generation(&self, index: usize) -> u16 {
        self.generation[index]
    }

    /// Whether an instance is alive and visible.
    #[inline]
    pub fn is_shown(&self, index: usize) -> bool {
        self.alive[index] && self.visible[index]
    }

    pub fn set_visible(&mut self, index: usize, visible: bool) -> bool {
        std::mem::replace(&mut self.visible[index], visible) != visible
    }

    /// Adds an instance in the rest pose. Returns its index.
    pub fn spawn(&mut self, layers: usize) -> Result<usize, PlaybackError> {
        let index = match self.free.pop() {
            Some(index) => index as usize,
            None => {
                let index = self.alive.len();
                check_count(index + 1)?;
                self.append(layers);
                index
            }
        };
        self.alive[index] = true;
        self.visible[index] = true;
        self.speed[index] = 1.0;
        self.clear(index, layers);
        self.set_world(index, Affine3x4::IDENTITY);
        Ok(index)
    }

    /// Makes room for `count` more instances. Returns by how many elements the arrays will grow: free indices are used
    /// first.
    pub fn reserve(&mut self, count: usize, layers: usize) -> Result<usize, PlaybackError> {
        let more = count.saturating_sub(self.free.len());
        check_count(self.alive.len().saturating_add(more))?;
        make_room(&mut self.generation, more);
        make_room(&mut self.alive, more);
        make_room(&mut self.visible, more);
        make_room(&mut self.speed, more);
        make_room(&mut self.world, more);
        self.entries.reserve(more * layers);
        Ok(more)
    }

    /// Makes room for `count` instances and no more.
    fn reserve_exact(&mut self, count: usize, layers: usize) {
        self.generation.reserve_exact(count);
        self.alive.reserve_exact(count);
        self.visible.reserve_exact(count);
        self.speed.reserve_exact(count);
        self.world.reserve_exact(count);
        self.entries.reserve(count * layers);
        if let Some(wide) = &mut self.world_wide {
            wide.reserve_exact(count);
        }
    }

    /// Appends an index without an instance.
    fn append(&mut self, layers: usize) {
        push(&mut self.generation, 0);
        push(&mut self.alive, false);
        push(&mut self.visible, true);
        push(&mut self.speed, 1.0);
        push(&mut self.world, Affine3x4::IDENTITY);
        (0..layers).for_each(|_| self.entries.push());
    }

    /// Marks a living instance as gone, or takes that back, while a call despawns many.
    pub fn set_alive(&mut self, index: usize, alive: bool) {
        self.alive[index] = alive;
    }

    pub fn despawn(&mut self, index: usize, layers: usize) {
        self.alive[index] = false;
        self.generation[index] += 1;
        if self.generation[index] == RETIRED {
            self.retired += 1;
        } else {
            self.free.push(index as u32);
        }
        self.overrides.clear_all(index);
        self.inputs.clear(index);
        self.clear(index, layers);
    }

    /// Stops all actions of an instance and resets its layers.
    fn clear(&mut self, index: usize, layers: usize) {
        let nothing = LayerState::new(LinearFade::still(1.0), 1.0);
        for at in index * layers..(index + 1) * layers {
            self.set_layer(at, &nothing);
        }
    }

    /// The present state of an entry of an instance.
    pub fn layer(&self, index: usize, at: usize) -> LayerState {
        let clock = (!self.stands_still(index)).then_some(self.clock);
        self.entries.at(at, clock)
    }

    #[inline(always)]
    pub fn stands_still(&self, index: usize) -> bool {
        stands_still(self.speed[index])
    }

    /// Anchors the entries of instances that stand still now, so that their stored form does not depend on how long
    /// they have stood.
    pub fn anchor_still(&mut self, layers: usize) {
        let now = self.clock.now();
        for index in (0..self.speed.len()).filter(|&i| stands_still(self.speed[i])) {
            for at in index * layers..(index + 1) * layers {
                self.entries.anchor(at, now);
            }
        }
    }

    /// Makes all entries due in the next step, because their moments are not known. Changes no bit of the state.
    pub fn call_all(&mut self) {
        self.entries.call_all(self.clock.now());
    }

    /// Sets whether few instances are expected to play further actions at once.
    pub fn expect_few(&mut self, few: bool) {
        self.entries.expect_few(few);
    }

    /// Stores an entry that a call has changed.
    pub fn set_layer(&mut self, at: usize, layer: &LayerState) {
        self.replace_offset(at, layer);
        self.entries.store(at, layer, self.clock);
    }

    #[inline(always)]
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Entries of all layers, by instance × layer.
    #[inline(always)]
    pub fn entries(&self) -> &Entries {
        &self.entries
    }

    #[inline(always)]
    pub fn overrides(&self) -> &Overrides {
        &self.overrides
    }

    pub fn overrides_mut(&mut self) -> &mut Overrides {
        &mut self.overrides
    }

    #[inline(always)]
    pub fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    pub fn inputs_mut(&mut self) -> &mut Inputs {
        &mut self.inputs
    }

    /// The actions of all instances, in their states at their anchors.
    pub fn all_actions(&self) -> impl Iterator<Item = &Action> {
        self.entries.all_actions()
    }

    /// The kinds of differences of an instance from another state with the same number of layers.
    pub fn difference(&self, other: &Self, index: usize, layers: usize) -> What {
        let alive = |state: &Self| state.alive.get(index) == Some(&true);
        let same = match (alive(self), alive(other)) {
            (false, false) => return What::NOTHING,
            (true, true) => self.generation[index] == other.generation[index],
            _ => false,
        };
        if !same || self.visible[index] != other.visible[index] {
            let new = if same { What::NOTHING } else { What::NEW };
            return What::POSE | What::BOUNDS | What::LAYOUT | new;
        }
        let speed = self.speed[index];
        let anchored = !stands_still(speed);
        let mut entries = index * layers..(index + 1) * layers;
        let pose = speed == other.speed[index]
            && entries.all(|at| {
                self.entries.plays_alike(&other.entries, at, anchored)
                    && self.same_offset(other, at)
            })
            && self.overrides.of(index) == other.overrides.of(index)
            && self.inputs.same(&other.inputs, index);
        let world = self.world[index] == other.world[index];
        let changed = |same, what| if same { What::NOTHING } else { what };
        changed(pose, What::POSE) | changed(world, What::BOUNDS)
    }

    /// The speed of an instance: a factor on the speeds of its layers.
    pub fn speed(&self, index: usize) -> f32 {
        self.speed[index]
    }

    /// Sets the [`speed`](Self::speed) of an instance. Returns whether it changed.
    pub fn set_speed(&mut self, index: usize, layers: usize, speed: f32) -> bool {
        let changes = self.speed[index] != speed;
        if changes {
            for at in index * layers..(index + 1) * layers {
                let layer = self.layer(index, at);
                self.set_layer(at, &layer);
            }
            self.speed[index] = speed;
        }
        changes
    }

    /// Number of actions evicted because their layer was full.
    pub fn evicted(&self) -> u64 {
        self.evicted
    }

    pub fn count_evicted(&mut self) {
        self.evicted += 1;
    }

    pub fn world(&self, index: usize) -> &Affine3x4 {
        &self.world[index]
    }

    /// The world transform of an instance, in f64 if it is kept so.
    pub fn world_wide(&self, index: usize) -> DAffine3 {
        let wide = self.world_wide.as_ref();
        let known = wide.and_then(|wide| wide.get(index)).copied();
        known.unwrap_or_else(|| widen(&self.world[index]))
    }

    pub fn set_world(&mut self, index: usize, world: Affine3x4) {
        self.world[index] = world;
        if let Some(wide) = &mut self.world_wide {
            wide.resize(self.world.len(), DAffine3::IDENTITY);
            wide[index] = widen(&world);
        }
    }

    pub fn applies_roots(&self) -> bool {
        self.world_wide.is_some()
    }

    /// Sets whether root motion moves world transforms. Returns whether that changed.
    pub fn apply_roots(&mut self, apply: bool) -> bool {
        let changes = self.world_wide.is_some() != apply;
        if changes {
            self.world_wide = apply.then(|| self.world.iter().map(widen).collect());
        }
        changes
    }

    /// Moves the clock by `dt` seconds. The result advances the instances.
    pub fn advance<'a>(
        &'a mut self,
        dt: f64,
        motions: &'a Motions,
        layers: &'a [LayerOptions],
        (owner, kinds, root): (Owner, EventKinds, Option<RootLane>),
        records: bool,
    ) -> Advance<'a> {
        let step = self.clock.advance(dt);
        let stage = Stage { motions, layers, owner, step, kinds, root, records };
        Advance {
            stage,
            first: 0,
            alive: &self.alive,
            generation: &self.generation,
            speed: &self.speed,
            entries: self.entries.all(),
            world: &mut self.world,
            world_wide: self.world_wide.as_deref_mut(),
        }
    }
}

/// Whether a character of this speed stands still, with its fades and warps: its entries keep their states at their
/// anchors at any clock. At any other speed fades take their seconds.
#[inline(always)]
pub(super) fn stands_still(speed: f32) -> bool {
    speed == 0.0
}

/// Checks a number of instances.
fn check_count(count: usize) -> Result<(), PlaybackError> {
    let error = PlaybackError::Limit { what: "instances of one rig", count, limit: MAX_INSTANCES };
    if count > MAX_INSTANCES { Err(error) } else { Ok(()) }
}

fn push<T>(v: &mut Vec<T>, value: T) {
    make_room(v, 1);
    v.push(value);
}

#[cfg(test)]
mod tests;
