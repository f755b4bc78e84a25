//! One rig's instances: state in plain arrays, and the evaluation of a range of them.

use super::actions::{ACTIONS_PER_LAYER, Actions};
use super::error::CrowdError;
use super::ids::{ClipId, RigId};
use super::plans::{PlanKey, Plans};
use crate::clip::Clip;
use crate::math::{Affine3x4, SimdLevel, dispatch};
use crate::rig::Rig;
use crate::runtime::chain::{ActionInput, Chain, LayerInput, Scratch};
use crate::runtime::fused::{Fused, FusedAction, FusedLayer, FusedScratch};
use crate::skeleton::JointMask;
use std::sync::Arc;

/// The most layers of a rig.
pub const MAX_LAYERS: usize = 16;

/// One layer of all instances of a rig.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LayerOptions {
    /// Whether it adds differences (additive clips) instead of blending over what lies below.
    pub additive: bool,
    /// The joints that it moves, with weights; none counts as all.
    pub mask: Option<JointMask>,
}

/// The state of a rig's instances: all that a snapshot needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PoolState {
    pub generation: Vec<u32>,
    pub alive: Vec<bool>,
    pub visible: Vec<bool>,
    pub speed: Vec<f32>,
    pub world: Vec<Affine3x4>,
    pub free: Vec<u32>,
    /// Instance × layer.
    pub layer_weight: Vec<f32>,
    pub actions: Actions,
    /// Actions that gave way because a layer was full.
    pub displaced: u64,
}

/// A rig of a crowd with its clips, layers and instances.
#[derive(Debug)]
pub(crate) struct Pool {
    pub id: RigId,
    pub rig: Arc<Rig>,
    pub clips: Vec<(u16, Option<Arc<Clip>>)>,
    pub layers: Vec<LayerOptions>,
    pub state: PoolState,
    /// Key hints: instance × layer × action × `hint_stride`. Any values are valid.
    pub hints: Vec<u16>,
    pub hint_stride: usize,
    /// The most timelines of a clip.
    pub timelines: usize,
    pub plans: Plans,
    /// For every instance the number of those before it that have a palette; one more at the end.
    pub rank: Vec<u32>,
    /// The generation that every instance had when the frame was scheduled.
    pub frame: Vec<u32>,
    /// The first palette row of the pool in the frame.
    pub first_row: usize,
}

impl Pool {
    pub fn new(id: RigId, rig: Arc<Rig>, layers: Vec<LayerOptions>) -> Self {
        let clips: Vec<_> = rig.clips().iter().map(|c| (0, Some(c.clone()))).collect();
        let mut pool = Self {
            id,
            rig,
            clips,
            layers,
            state: PoolState::default(),
            hints: Vec::new(),
            hint_stride: 0,
            timelines: 0,
            plans: Plans::default(),
            rank: vec![0],
            frame: Vec::new(),
            first_row: 0,
        };
        pool.fit_clips();
        pool
    }

    /// Makes room for the hints and timelines of all clips.
    pub fn fit_clips(&mut self) {
        let loaded = self.clips.iter().filter_map(|c| c.1.as_ref());
        self.timelines = loaded
            .clone()
            .map(|c| c.timelines().len())
            .max()
            .unwrap_or(0);
        self.plans.clear();
        let stride = loaded.map(|c| c.hint_count()).max().unwrap_or(0);
        if stride != self.hint_stride {
            self.hint_stride = stride;
            self.hints.clear();
            self.hints
                .resize(self.hints_per_instance() * self.state.alive.len(), 0);
        }
    }

    pub fn hints_per_instance(&self) -> usize {
        self.layers.len() * ACTIONS_PER_LAYER * self.hint_stride
    }

    pub fn clip(&self, id: ClipId) -> Option<&Arc<Clip>> {
        match self.clips.get(usize::from(id.index)) {
            Some((generation, clip)) if *generation == id.generation && id.rig == self.id => {
                clip.as_ref()
            }
            _ => None,
        }
    }

    /// The entry of an instance's layer in the action arrays.
    pub fn entry(&self, index: usize, layer: usize) -> usize {
        index * self.layers.len() + layer
    }

    pub fn spawn(&mut self) -> Result<u32, CrowdError> {
        let state = &mut self.state;
        let index = match state.free.pop() {
            Some(index) => index,
            None => {
                let index = state.alive.len();
                // Ranks and handles are 32 bits.
                if index >= u32::MAX as usize {
                    return Err(CrowdError::Limit {
                        what: "instances of one rig",
                        count: index + 1,
                        limit: u32::MAX as usize,
                    });
                }
                state.generation.push(0);
                state.alive.push(false);
                state.visible.push(true);
                state.speed.push(1.0);
                state.world.push(Affine3x4::IDENTITY);
                for _ in 0..self.layers.len() {
                    state.layer_weight.push(1.0);
                    state.actions.push();
                }
                let hints = self.layers.len() * ACTIONS_PER_LAYER * self.hint_stride;
                self.hints.resize((index + 1) * hints, 0);
                self.rank.push(0);
                index as u32
            }
        };
        let i = index as usize;
        if let Some(dirty) = self.plans.dirty.get_mut(i) {
            *dirty = true;
        }
        state.alive[i] = true;
        state.visible[i] = true;
        state.speed[i] = 1.0;
        state.world[i] = Affine3x4::IDENTITY;
        for entry in i * self.layers.len()..(i + 1) * self.layers.len() {
            state.layer_weight[entry] = 1.0;
            state.actions.clear(entry);
        }
        Ok(index)
    }

    pub fn despawn(&mut self, index: usize) {
        let state = &mut self.state;
        state.alive[index] = false;
        state.generation[index] = state.generation[index].wrapping_add(1);
        state.free.push(index as u32);
        for entry in index * self.layers.len()..(index + 1) * self.layers.len() {
            state.actions.clear(entry);
        }
    }

    pub fn alive(&self) -> usize {
        self.state.alive.len() - self.state.free.len()
    }

    pub fn advance(&mut self, dt: f64) {
        let layers = self.layers.len();
        let state = &mut self.state;
        for (i, &speed) in state.speed.iter().enumerate() {
            if !state.alive[i] {
                continue;
            }
            for entry in i * layers..(i + 1) * layers {
                let changed = state.actions.advance(entry, dt, speed);
                if let Some(dirty) = self.plans.dirty.get_mut(i).filter(|_| changed) {
                    *dirty = true;
                }
            }
        }
    }

    /// Counts the palettes before every instance; returns the rows of the pool.
    pub fn schedule(&mut self, first_row: usize) -> usize {
        self.first_row = first_row;
        self.frame.clone_from(&self.state.generation);
        let mut count = 0;
        for (i, rank) in self.rank.iter_mut().enumerate() {
            *rank = count;
            let shown = self.state.alive.get(i) == Some(&true) && self.state.visible[i];
            count += u32::from(shown);
        }
        count as usize * self.rig.palette_len()
    }

    /// Whether an instance has a palette in the frame that was scheduled last.
    pub fn scheduled(&self, index: usize) -> bool {
        self.rank[index + 1] > self.rank[index]
    }

    /// The layers of an instance that count, with their entries in the action arrays.
    fn active_layers(&self, index: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.layers.len()).filter_map(move |layer| {
            let entry = self.entry(index, layer);
            let actions = &self.state.actions;
            let playing = actions.weight[entry] != [0.0; ACTIONS_PER_LAYER];
            (playing && self.state.layer_weight[entry] != 0.0).then_some((layer, entry))
        })
    }

    /// The share that the rest pose takes of a blending layer.
    fn rest_share(&self, entry: usize) -> (f32, f32) {
        let total: f32 = self.state.actions.weight[entry].iter().sum();
        if total < FULL {
            (1.0 - total, 1.0)
        } else {
            (0.0, 1.0 / total)
        }
    }

    /// Which clips take part in an instance's pose, and whether the rest pose does.
    pub fn plan_key(&self, index: usize) -> PlanKey {
        let mut key = PlanKey::default();
        let mut covered = false;
        for (layer, entry) in self.active_layers(index) {
            let options = &self.layers[layer];
            let actions = &self.state.actions;
            for (&clip, &weight) in actions.clip[entry].iter().zip(&actions.weight[entry]) {
                if weight != 0.0 {
                    key.add(clip);
                }
            }
            if !options.additive {
                let replaces = self.state.layer_weight[entry] >= 1.0 && options.mask.is_none();
                if self.rest_share(entry).0 > 0.0 || !(covered || replaces) {
                    key.add_rest();
                }
                covered |= replaces;
            } else if !covered {
                key.add_rest();
            }
        }
        key
    }

    /// Evaluates the instance's palette into `output`, by the plan found for its clips.
    pub fn evaluate(
        &self,
        index: usize,
        level: SimdLevel,
        hints: &mut [u16],
        scratch: &mut FusedScratch,
        output: &mut [Affine3x4],
    ) {
        let (mut actions, mut layers) = (0, 0);
        for (_, entry) in self.active_layers(index) {
            layers += 1;
            let weights = self.state.actions.weight[entry].iter();
            actions += weights.filter(|w| **w != 0.0).count();
        }
        let buffers = (hints, scratch, output);
        // The lists lie on the stack, no larger than needed: filling them is not free.
        match (actions, layers) {
            (0..=4, 0..=2) => self.run::<4, 2>(index, level, buffers),
            (0..=8, 0..=4) => self.run::<8, 4>(index, level, buffers),
            _ => self.run::<{ MAX_LAYERS * ACTIONS_PER_LAYER }, MAX_LAYERS>(index, level, buffers),
        }
    }

    fn run<const ACTIONS: usize, const LAYERS: usize>(
        &self,
        index: usize,
        level: SimdLevel,
        (hints, scratch, output): (&mut [u16], &mut FusedScratch, &mut [Affine3x4]),
    ) {
        let mut layers = [FusedLayer::default(); LAYERS];
        let mut actions = [None; ACTIONS];
        let (mut layer_count, mut action_count) = (0, 0);
        for (layer, entry) in self.active_layers(index) {
            let first_action = action_count;
            let options = &self.layers[layer];
            let layer_weight = self.state.layer_weight[entry];
            let (rest, share) = self.rest_share(entry);
            for a in self.in_order(entry) {
                let state = &self.state.actions;
                let Some(clip) = self.clip(state.clip[entry][a]) else {
                    continue;
                };
                let weight = state.weight[entry][a];
                actions[action_count] = Some(FusedAction {
                    clip,
                    time: state.clip_time(entry, a) as f32,
                    weight: if options.additive {
                        (weight * layer_weight).clamp(-1.0, 1.0)
                    } else {
                        weight * share
                    },
                    first_hint: (layer * ACTIONS_PER_LAYER + a) * self.hint_stride,
                    first_cursor: action_count * self.timelines,
                });
                action_count += 1;
            }
            layers[layer_count] = FusedLayer {
                additive: options.additive,
                weight: layer_weight.min(1.0),
                mask: options.mask.as_ref(),
                first_action,
                end_action: action_count,
                rest,
            };
            layer_count += 1;
        }
        let fused = Fused {
            rest: self.rig.skeleton().rest_pose(),
            plan: self.plans.get(index),
            layers: &layers[..layer_count],
            actions: &actions[..action_count],
            hints,
            scratch,
            output,
        };
        dispatch(level, fused);
    }

    /// The slots of a layer that count, oldest first.
    fn in_order(&self, entry: usize) -> impl Iterator<Item = usize> + use<> {
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

    /// Evaluates the instance joint by joint, for its model matrices and scalars.
    pub fn evaluate_models(&self, index: usize, output: &mut [Affine3x4]) -> Scratch {
        let mut scratch = Scratch::new(&self.rig, self.timelines);
        let mut hints = vec![0; self.hints_per_instance()];
        let mut inputs = vec![[None; ACTIONS_PER_LAYER]; self.layers.len()];
        for (layer, entry) in self.active_layers(index) {
            for (input, a) in inputs[layer].iter_mut().zip(self.in_order(entry)) {
                let state = &self.state.actions;
                *input = self.clip(state.clip[entry][a]).map(|clip| ActionInput {
                    clip,
                    time: state.clip_time(entry, a) as f32,
                    weight: state.weight[entry][a],
                    first_hint: (layer * ACTIONS_PER_LAYER + a) * self.hint_stride,
                });
            }
        }
        let layers: Vec<LayerInput<'_>> = (0..self.layers.len())
            .map(|layer| LayerInput {
                additive: self.layers[layer].additive,
                weight: self.state.layer_weight[self.entry(index, layer)],
                mask: self.layers[layer].mask.as_ref(),
                actions: &inputs[layer],
            })
            .collect();
        let chain = Chain {
            rig: &self.rig,
            layers: &layers,
            hints: &mut hints,
            scratch: &mut scratch,
            output,
        };
        chain.run(SimdLevel::current());
        scratch
    }
}

/// Weights of a layer that sum to this or more leave nothing to the rest pose: a crossfade's two
/// weights sum to 1 but for the rounding of their steps.
const FULL: f32 = 1.0 - 1e-5;
