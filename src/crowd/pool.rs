//! One rig's instances: state in plain arrays, and the evaluation of a range of them.

use super::actions::{ACTIONS_PER_LAYER, Actions, NO_CLIP};
use super::error::CrowdError;
use super::ids::{ClipId, RigId};
use crate::clip::Clip;
use crate::math::{Affine3x4, SimdLevel};
use crate::rig::Rig;
use crate::runtime::chain::{ActionInput, Chain, LayerInput, Scratch};
use crate::skeleton::JointMask;
use std::sync::Arc;

/// The most layers of a rig.
pub const MAX_LAYERS: usize = 16;

/// One layer of all instances of a rig.
#[derive(Clone, Debug, Default)]
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
            Some((generation, clip)) if *generation == id.generation => clip.as_ref(),
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
                state.actions.advance(entry, dt, speed);
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

    /// Evaluates the instance into `output` (or only its scratch, if that is empty).
    pub fn evaluate(
        &self,
        index: usize,
        level: SimdLevel,
        hints: &mut [u16],
        scratch: &mut Scratch,
        output: &mut [Affine3x4],
    ) {
        let layers = self.layers.len();
        let mut inputs = [[None; ACTIONS_PER_LAYER]; MAX_LAYERS];
        for (layer, input) in inputs.iter_mut().enumerate().take(layers) {
            self.gather(self.entry(index, layer), layer, input);
        }
        let mut list = [LayerInput {
            additive: false,
            weight: 0.0,
            mask: None,
            actions: &[],
        }; MAX_LAYERS];
        for (layer, (out, options)) in list.iter_mut().zip(&self.layers).enumerate() {
            *out = LayerInput {
                additive: options.additive,
                weight: self.state.layer_weight[self.entry(index, layer)],
                mask: options.mask.as_ref(),
                actions: &inputs[layer],
            };
        }
        let chain = Chain {
            rig: &self.rig,
            layers: &list[..layers],
            hints,
            scratch,
            output,
        };
        chain.run(level);
    }

    /// The actions of a layer that count, oldest first.
    fn gather<'a>(
        &'a self,
        entry: usize,
        layer: usize,
        out: &mut [Option<ActionInput<'a>>; ACTIONS_PER_LAYER],
    ) {
        let actions = &self.state.actions;
        let newest = actions.starts[entry];
        let age = |a: usize| newest.wrapping_sub(actions.started[entry][a]);
        let mut order = [0, 1, 2, 3];
        order.sort_unstable_by_key(|&a| std::cmp::Reverse(age(a)));
        for (out, a) in out.iter_mut().zip(order) {
            let (id, weight) = (actions.clip[entry][a], actions.weight[entry][a]);
            if id == NO_CLIP || weight == 0.0 {
                continue;
            }
            *out = self.clip(id).map(|clip| ActionInput {
                clip,
                time: actions.clip_time(entry, a) as f32,
                weight,
                first_hint: (layer * ACTIONS_PER_LAYER + a) * self.hint_stride,
            });
        }
    }
}
