//! Gathers the present actions of an instance as inputs of the run that evaluates it.

use super::Pool;
use crate::evaluate::{ActionInput, LayerInput, Scratch};
use crate::playback::events::Events;
use crate::playback::gather::{ActiveClip, ActiveLayer, Visitor};
use crate::playback::ids::NO_CLIP;

impl Pool {
    /// Fills the scratch's layers and actions for an instance. The scratch has been reserved for all.
    #[inline(always)]
    pub fn gather(&self, index: usize, scratch: &mut Scratch) {
        self.visit(index, &mut Gather::new(self, scratch));
    }

    /// [`gather`](Self::gather) for the actions that the instance will play in `seconds` if no call changes it.
    /// `events` is left empty.
    #[inline(never)]
    pub fn gather_ahead(
        &self,
        index: usize,
        seconds: f64,
        events: &mut Events,
        scratch: &mut Scratch,
    ) {
        self.visit_ahead(index, seconds, events, &mut Gather::new(self, scratch));
    }

    /// The clip by which evaluation is ordered: the first one that the instance plays.
    #[inline(always)]
    pub fn first_clip(&self, index: usize) -> u16 {
        let entry = self.state.entries().range(self.entries_of(index)).first();
        let action = entry.and_then(|entry| entry.first());
        action.map_or(NO_CLIP, |action| action.members().0)
    }
}

struct Gather<'a> {
    pool: &'a Pool,
    scratch: &'a mut Scratch,
    /// Factor on the weights of the layer's actions.
    factor: f32,
}

impl<'a> Gather<'a> {
    /// Clears the scratch to gather into it.
    #[inline(always)]
    fn new(pool: &'a Pool, scratch: &'a mut Scratch) -> Self {
        scratch.layers.clear();
        scratch.actions.clear();
        Self { pool, scratch, factor: 1.0 }
    }
}

impl Visitor for Gather<'_> {
    #[inline(always)]
    fn layer(&mut self, layer: ActiveLayer) {
        let additive = self.pool.layers[layer.layer].additive;
        self.factor = if additive { layer.own } else { layer.share };
        let first = self.scratch.actions.len();
        self.scratch.layers.push(LayerInput {
            layer: layer.layer,
            additive,
            weight: layer.weight.min(1.0),
            rest: layer.rest,
            actions: first..first,
        });
    }

    #[inline(always)]
    fn clip(&mut self, clip: ActiveClip) {
        let Scratch { layers, actions, .. } = &mut *self.scratch;
        let Some(layer) = layers.last_mut() else {
            return;
        };
        let weight = clip.weight * self.factor;
        let weight = match layer.additive {
            true => weight.clamp(-1.0, 1.0),
            false => weight,
        };
        // A member of a blend space may have weight 0.
        if weight != 0.0 {
            let program = self.pool.programs.clips().get(usize::from(clip.clip));
            debug_assert!(
                matches!(program, Some(Some(_))),
                "clip {} plays without a program",
                clip.clip
            );
            actions.push(ActionInput {
                clip: clip.clip,
                hint: actions.len() as u16,
                time: clip.time,
                weight,
                cursor: 0,
            });
            layer.actions.end = actions.len();
        }
    }
}
