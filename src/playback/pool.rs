//! `Pool`: one rig's instances as plain arrays, and how they advance; `frame` and `chain` evaluate them. A mixer has
//! one pool with one instance, a crowd one pool per rig.

use super::actions::{ACTIONS_PER_LAYER, Actions};
use super::advance::Step;
use super::arena::Arena;
use super::blend_space::Space;
use super::error::PlaybackError;
use super::event_sink::EventSink;
use super::events::Events;
use super::ids::{ClipId, InstanceId, MAX_INSTANCES, Owner, RETIRED};
use super::linear_fade::LinearFade;
use super::overrides::Overrides;
use super::places::{Counts, Places, RowOrder};
use super::plans::Plans;
use super::root_motion::Roots;
use crate::clip::{Clip, RootMotion};
use crate::math::Affine3x4;
use crate::rig::Rig;
use crate::skeleton::JointMask;
use glam::DAffine3;
use std::sync::Arc;

mod chain;
mod frame;

pub(crate) use frame::PaletteScratch;

/// The most layers of a rig.
pub const MAX_LAYERS: usize = 16;

/// One layer of all instances of a rig.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LayerOptions {
    /// True for a layer that adds differences (additive clips) instead of blending over the layers below. Default
    /// false.
    pub additive: bool,
    /// The joints that the layer animates, with weights in [0, 1]. Default `None`: all joints at weight 1.
    pub mask: Option<JointMask>,
    /// What takes the rest if the weights of the layer's actions sum to less than 1. Default [`Fill::Rest`].
    pub fill: Fill,
}

/// What takes the share of a blending layer that the weights of its actions leave below 1. Additive layers ignore it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fill {
    /// The rest pose: a single action fades in from it.
    #[default]
    Rest,
    /// The layers below: the layer's weight is reduced by the same share, so that a single action fades in from the
    /// layers below and fades out to them.
    Below,
}

/// The state of a rig's instances: everything that a snapshot holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PoolState {
    pub generation: Vec<u16>,
    pub alive: Vec<bool>,
    pub visible: Vec<bool>,
    pub speed: Vec<f32>,
    pub world: Vec<Affine3x4>,
    pub free: Vec<u32>,
    /// Dead instances whose generations are used up: their indices are not reused.
    pub retired: usize,
    /// Instance × layer, like the next two.
    pub layer_weight: Vec<f32>,
    pub layer_fade: Vec<LinearFade>,
    pub layer_speed: Vec<f32>,
    pub actions: Actions,
    pub overrides: Overrides,
    /// The number of actions evicted because a layer was full.
    pub evicted: u64,
    /// The world transforms in f64, if root motion moves the instances.
    pub places: Option<Vec<DAffine3>>,
}

/// A rig of a crowd with its clips, layers and instances.
#[derive(Debug)]
pub(crate) struct Pool {
    /// The owner of the clips, blend spaces and instances, as their handles state it.
    pub owner: Owner,
    pub rig: Arc<Rig>,
    pub clips: Arena<Arc<Clip>>,
    pub spaces: Arena<Space>,
    pub layers: Vec<LayerOptions>,
    pub state: PoolState,
    /// Key hints: instance × layer × action × member × `hint_stride`. Any values are valid.
    pub hints: Vec<u16>,
    pub hint_stride: usize,
    /// The largest number of timelines of a clip.
    pub timelines: usize,
    pub plans: Plans,
    pub roots: Roots,
    pub places: Places,
    /// How many scratches of the crowd are reserved, and for how many clips and timelines.
    reserved: ((usize, usize), usize),
}

impl Pool {
    pub fn new(owner: Owner, rig: Arc<Rig>, layers: Vec<LayerOptions>) -> Self {
        let clips = rig.clips().iter().cloned().collect();
        let mut pool = Self {
            owner,
            rig,
            clips,
            spaces: Arena::default(),
            layers,
            state: PoolState::default(),
            hints: Vec::new(),
            hint_stride: 0,
            timelines: 0,
            plans: Plans::default(),
            roots: Roots::default(),
            places: Places::default(),
            reserved: Default::default(),
        };
        pool.fit_clips();
        pool
    }

    /// The number of the rig in its crowd.
    pub fn rig_number(&self) -> u32 {
        self.owner.rig().number()
    }

    /// Reserves the hints and timelines of all clips.
    pub fn fit_clips(&mut self) {
        let loaded = self.clips.iter().map(|(_, clip)| clip);
        self.timelines = loaded
            .clone()
            .map(|c| c.timelines().len())
            .max()
            .unwrap_or(0);
        self.plans.clear();
        let motion = loaded.clone().find_map(|c| c.root_motion());
        self.roots.joint = motion.map(RootMotion::joint);
        self.hint_stride = loaded.map(|c| c.hint_count()).max().unwrap_or(0);
        self.fit_hints();
    }

    pub fn fit_hints(&mut self) {
        let len = self.hints_per_instance() * self.state.alive.len();
        if len != self.hints.len() {
            self.hints.clear();
            self.hints.resize(len, 0);
        }
    }

    /// The most clips of one action: two with blend spaces.
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
        InstanceId::new(self.owner, index, self.state.generation[index])
    }

    /// The entry of an instance's layer in the action arrays.
    pub fn entry(&self, index: usize, layer: usize) -> usize {
        index * self.layers.len() + layer
    }

    pub fn spawn(&mut self) -> Result<u32, PlaybackError> {
        let state = &mut self.state;
        let index = match state.free.pop() {
            Some(index) => index,
            None => {
                let index = state.alive.len();
                if index >= MAX_INSTANCES {
                    return Err(PlaybackError::Limit {
                        what: "instances of one rig",
                        count: index + 1,
                        limit: MAX_INSTANCES,
                    });
                }
                state.generation.push(0);
                state.alive.push(false);
                state.visible.push(true);
                state.speed.push(1.0);
                state.world.push(Affine3x4::IDENTITY);
                for _ in 0..self.layers.len() {
                    state.layer_weight.push(1.0);
                    state.layer_fade.push(LinearFade::default());
                    state.layer_speed.push(1.0);
                    state.actions.push();
                }
                self.places.push();
                index as u32
            }
        };
        let i = index as usize;
        state.alive[i] = true;
        state.visible[i] = true;
        state.speed[i] = 1.0;
        self.places.spawn(i);
        self.set_world(i, Affine3x4::IDENTITY);
        let state = &mut self.state;
        for entry in i * self.layers.len()..(i + 1) * self.layers.len() {
            state.layer_weight[entry] = 1.0;
            state.layer_fade[entry] = LinearFade::default();
            state.layer_speed[entry] = 1.0;
            state.actions.clear(entry);
        }
        self.mark_dirty(i);
        let hints = self.hints_per_instance() * self.state.alive.len();
        self.hints.resize(hints, 0);
        Ok(index)
    }

    pub fn despawn(&mut self, index: usize) {
        let state = &mut self.state;
        state.alive[index] = false;
        self.places.unsettle();
        state.generation[index] += 1;
        if state.generation[index] == RETIRED {
            state.retired += 1;
        } else {
            state.free.push(index as u32);
        }
        state.overrides.clear_all(index);
        for entry in index * self.layers.len()..(index + 1) * self.layers.len() {
            state.actions.clear(entry);
        }
    }

    pub fn alive(&self) -> usize {
        self.state.alive.len() - self.state.free.len() - self.state.retired
    }

    /// Advances all instances by `dt` seconds and appends to `events`.
    pub fn advance(&mut self, dt: f64, events: &mut Events) {
        self.roots.clear();
        if let Some(joint) = self.roots.joint {
            self.advance_roots(joint, dt, events);
            return;
        }
        let layers = self.layers.len();
        for i in 0..self.state.speed.len() {
            if !self.state.alive[i] {
                continue;
            }
            let speed = f64::from(self.state.speed[i]);
            for layer in 0..layers {
                let entry = i * layers + layer;
                let factor = speed * f64::from(self.state.layer_speed[entry]);
                let step = Step { dt, factor };
                if !self.state.actions.glide(entry, step) {
                    self.advance_entry(i, layer, step, events);
                }
            }
        }
    }

    /// A step in which more of an entry changes than its times.
    pub(super) fn advance_entry(
        &mut self,
        index: usize,
        layer: usize,
        step: Step,
        events: &mut Events,
    ) {
        let entry = self.entry(index, layer);
        let state = &mut self.state;
        let mut sink = EventSink {
            clips: &self.clips,
            events,
            owner: self.owner,
            instance: InstanceId::new(self.owner, index, state.generation[index]),
            layer,
            layer_weight: state.layer_weight[entry],
        };
        let mut changed = state.actions.advance(entry, step, &mut sink);
        let fade = &mut state.layer_fade[entry];
        if fade.running() {
            state.layer_weight[entry] = fade.advance(step.dt.abs()) as f32;
            state.actions.busy[entry] |= fade.running();
            changed = true;
        }
        if changed {
            self.mark_dirty(index);
        }
    }

    /// Marks the plan of an instance stale: its set of clips may have changed.
    pub fn mark_dirty(&mut self, index: usize) {
        self.plans.mark_dirty(index);
    }

    /// Whether a frame with the request of the last one has the same plans and row ranges.
    pub fn steady(&self, holds: bool, order: RowOrder) -> bool {
        self.places.steady(holds, order) && !self.plans.stale()
    }

    /// Decides which instances are evaluated; see [`Places::count`].
    pub fn count_places(&mut self, holds: bool, order: RowOrder) -> Counts {
        let PoolState { alive, visible, .. } = &self.state;
        let shown = alive
            .iter()
            .zip(visible)
            .map(|(&alive, &seen)| alive && seen);
        self.places.count(shown, holds, order)
    }

    /// The layers of an instance with a weight, with their entries in the action arrays.
    fn active_layers(&self, index: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.layers.len()).filter_map(move |layer| {
            let entry = self.entry(index, layer);
            let weights = &self.state.actions.weight[entry];
            let options = &self.layers[layer];
            let playing = if options.fill == Fill::Below && !options.additive {
                // Weights are divided by their sum, which has to have a reciprocal.
                weights.iter().sum::<f32>() >= f32::MIN_POSITIVE
            } else {
                *weights != [0.0; ACTIONS_PER_LAYER]
            };
            (playing && self.state.layer_weight[entry] != 0.0).then_some((layer, entry))
        })
    }

    /// Of a blending layer: the share that the rest pose takes, what weights are multiplied with, and
    /// the layer's own weight.
    fn shares(&self, layer: usize, entry: usize) -> (f32, f32, f32) {
        let total: f32 = self.state.actions.weight[entry].iter().sum();
        let weight = self.state.layer_weight[entry];
        if total >= FULL {
            (0.0, 1.0 / total, weight)
        } else if self.layers[layer].fill == Fill::Below {
            // A denormal has no finite inverse; such a layer is ignored.
            (0.0, 1.0 / total.max(f32::MIN_POSITIVE), weight * total)
        } else {
            (1.0 - total, 1.0, weight)
        }
    }

    /// The slots of a layer with a weight, oldest first.
    pub fn in_order(&self, entry: usize) -> impl Iterator<Item = usize> + use<> {
        let actions = &self.state.actions;
        let newest = actions.starts[entry];
        let age = actions.started[entry].map(|s| newest.wrapping_sub(s));
        let weights = actions.weight[entry];
        let mut order = [0, 1, 2, 3];
        if weights[1..] != [0.0; 3] {
            order.sort_unstable_by_key(|&a: &usize| std::cmp::Reverse(age[a]));
        }
        order.into_iter().filter(move |&a| weights[a] != 0.0)
    }
}

/// If the weights of a layer sum to this or more, the rest pose has no share: the two weights of a crossfade sum to 1
/// except for the rounding of their steps.
const FULL: f32 = 1.0 - 1e-5;

/// The largest time, time step and fade in seconds, either sign: thirty years, far beyond use, and
/// small enough that an f64 still resolves microseconds.
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
        Err(PlaybackError::Value {
            what,
            value,
            low,
            high,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::raw::{RawNode, RawScene};

    /// Handles have 20 bits for the index of an instance.
    #[test]
    fn a_full_rig_refuses_another_instance() {
        let scene = RawScene {
            nodes: vec![RawNode::default()],
            ..RawScene::default()
        };
        let rig = Arc::new(crate::build::build_rig(scene, &Default::default()).unwrap());
        let mut pool = Pool::new(Owner::of_rig(1, 0), rig, Vec::new());
        // The limit is checked before any other array is read.
        pool.state.alive.resize(MAX_INSTANCES, true);
        let before = pool.state.clone();
        assert_eq!(
            pool.spawn(),
            Err(PlaybackError::Limit {
                what: "instances of one rig",
                count: 1_048_577,
                limit: 1_048_576
            })
        );
        assert!(pool.state == before);
        assert_eq!(
            InstanceId::new(pool.owner, MAX_INSTANCES - 1, 0).index(),
            MAX_INSTANCES - 1
        );
    }
}
