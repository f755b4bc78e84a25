//! Visits the layers and actions of an instance that have a weight, in the order of blending: the input of a frame.

use super::action::Action;
use super::advance::Foresight;
use super::clock::Clock;
use super::entries::Entry;
use super::events::Events;
use super::layer_state::{ACTIONS_PER_LAYER, LayerState};
use super::pool::{Fill, LayerOptions, Pool};
use crate::evaluate::blend::shares;

/// A layer with a weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ActiveLayer {
    pub layer: usize,
    /// The layer's weight as it was set.
    pub own: f32,
    /// Weight over the layers below. With [`Fill::Below`] it is less than `own` if the weights of the actions leave a
    /// share.
    pub weight: f32,
    /// Share of the rest pose in the layer, 0 to 1.
    pub rest: f32,
    /// Factor on the weights of the actions, after which they and the rest pose sum to 1.
    pub share: f32,
}

/// A clip that plays on a layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ActiveClip {
    /// Index of the clip in its pool.
    pub clip: u16,
    /// Clip time in seconds.
    pub time: f32,
    /// Weight of the action × share of the clip in a blend space.
    pub weight: f32,
}

/// Receives the layers of an instance that have a weight, lowest first. Each layer comes before its clips, oldest
/// first.
pub(crate) trait Visitor {
    fn layer(&mut self, layer: ActiveLayer);
    fn clip(&mut self, clip: ActiveClip);
}

/// A layer whose actions' weights sum to `total`; `None` if it has no part in the pose.
#[inline(always)]
fn active(layer: usize, options: &LayerOptions, own: f32, total: f32) -> Option<ActiveLayer> {
    let below = options.fill == Fill::Below && !options.additive;
    // Weights are divided by their sum, whose reciprocal has to be finite.
    if below && total < f32::MIN_POSITIVE {
        return None;
    }
    let of = shares(total);
    let (rest, share, weight) = if below && of.rest > 0.0 {
        (0.0, 1.0 / total, own * total)
    } else {
        (of.rest, of.factor, own)
    };
    Some(ActiveLayer { layer, own, weight, rest, share })
}

impl Pool {
    /// Visits the actions of an instance now.
    #[inline(always)]
    pub fn visit(&self, index: usize, visitor: &mut impl Visitor) {
        self.visit_at(index, self.state.clock(), visitor);
    }

    /// Visits the actions of an instance at a clock up to which no wait of its entries ends.
    #[inline(always)]
    pub fn visit_at(&self, index: usize, clock: Clock, visitor: &mut impl Visitor) {
        let first = index * self.layers.len();
        let entries = self.state.entries().range(self.entries_of(index));
        let holds = self.state.stands_still(index);
        for (layer, (options, entry)) in self.layers.iter().zip(entries).enumerate() {
            let Some(action) = entry.first() else {
                continue;
            };
            let since = if holds { 0.0 } else { entry.since(clock) };
            let own = entry.weight().after(since);
            if own == 0.0 {
                continue;
            }
            if !entry.plays_one() {
                self.visit_many(first + layer, (layer, own), (entry, since), visitor);
                continue;
            }
            let weight = action.weight.after(since);
            if weight == 0.0 {
                continue;
            }
            if let Some(active) = active(layer, options, own, weight) {
                visitor.layer(active);
                self.visit_action(action, since, weight, visitor);
            }
        }
    }

    /// Visits the actions that an instance will play in `seconds` if no call changes it.
    pub fn visit_ahead(
        &self,
        index: usize,
        seconds: f64,
        events: &mut Events,
        visitor: &mut impl Visitor,
    ) {
        let mut clock = self.state.clock();
        let step = clock.advance(seconds);
        let entries = self.entries_of(index);
        let changes = |at: usize| step.reaches(self.state.entries().still_until(at));
        if self.state.stands_still(index) || !entries.clone().any(changes) {
            return self.visit_at(index, clock, visitor);
        }
        let foresight = Foresight { clips: &self.clips, step, speed: self.state.speed(index) };
        for (number, (options, at)) in self.layers.iter().zip(entries).enumerate() {
            let mut layer = self.state.layer(index, at);
            foresight.advance(&mut layer, (self.owner, number), events);
            self.visit_layer(number, options, &layer, visitor);
        }
    }

    /// Visits a layer in a given state.
    fn visit_layer(
        &self,
        number: usize,
        options: &LayerOptions,
        layer: &LayerState,
        visitor: &mut impl Visitor,
    ) {
        let own = layer.weight.value();
        let weights = layer.actions().iter().map(|action| action.weight.value());
        let any = weights.clone().any(|weight| weight != 0.0);
        if own == 0.0 || !any {
            return;
        }
        if let Some(active) = active(number, options, own, weights.clone().sum()) {
            visitor.layer(active);
            for (weight, action) in weights.zip(layer.actions()) {
                if weight != 0.0 {
                    self.visit_action(action, 0.0, weight, visitor);
                }
            }
        }
    }

    /// Visits a layer with several actions.
    fn visit_many(
        &self,
        at: usize,
        (layer, own): (usize, f32),
        (entry, since): (&Entry, f64),
        visitor: &mut impl Visitor,
    ) {
        debug_assert!(entry.first().is_some());
        let actions = || self.state.entries().actions(at);
        let mut weights = [0.0; ACTIONS_PER_LAYER];
        let (mut total, mut any) = (0.0, false);
        for (weight, action) in weights.iter_mut().zip(actions()) {
            *weight = action.weight.after(since);
            total += *weight;
            any |= *weight != 0.0;
        }
        if !any {
            return;
        }
        let options = &self.layers[layer];
        if let Some(active) = active(layer, options, own, total) {
            visitor.layer(active);
            for (weight, action) in weights.into_iter().zip(actions()) {
                if weight != 0.0 {
                    self.visit_action(action, since, weight, visitor);
                }
            }
        }
    }

    #[inline(always)]
    fn visit_action(&self, action: &Action, since: f64, weight: f32, visitor: &mut impl Visitor) {
        let time = action.clip_time_after(since);
        let (clip, other) = action.members();
        if !action.in_phases() {
            let time = time as f32;
            return visitor.clip(ActiveClip { clip, time, weight });
        }
        let mut member = |clip: u16, weight: f32| {
            let duration = self.clips.get(clip).map_or(0.0, |clip| clip.duration());
            let time = (time * f64::from(duration)) as f32;
            visitor.clip(ActiveClip { clip, time, weight });
        };
        let mix = other.map_or(0.0, |other| other.1);
        member(clip, weight * (1.0 - mix));
        if let Some((other, mix)) = other {
            member(other, weight * mix);
        }
    }
}
