//! What a pool answers to an evaluation: the layers and actions of an instance that have a weight, in the order of
//! blending.

use super::Pool;
use crate::evaluate::{
    ActiveClip, ActiveLayer, Instances, Modify, Prefetch, RigTables, Sources, Stage, Step, Visitor,
};
use crate::playback::action::Action;
use crate::playback::advance::foresee;
use crate::playback::clock::Clock;
use crate::playback::entries::Entry;
use crate::playback::ids::NO_CLIP;
use crate::playback::layer_state::{ACTIONS_PER_LAYER, LayerState};
use crate::playback::options::{Fill, LayerOptions};
use crate::simd::prefetch;

/// A layer whose actions' weights sum to `total`; `None` if it has no part in the pose.
#[inline(always)]
fn active(layer: usize, options: &LayerOptions, own: f32, total: f32) -> Option<ActiveLayer> {
    let kind = (options.additive, options.fill == Fill::Below);
    ActiveLayer::new(layer, kind, own, total)
}

impl Instances for Pool {
    #[inline(always)]
    fn tables(&self) -> &RigTables {
        &self.tables
    }

    fn layer_count(&self) -> usize {
        self.library.layers().len()
    }

    fn max_clips(&self) -> usize {
        self.layer_count() * ACTIONS_PER_LAYER * self.library.clips_per_action()
    }

    #[inline(always)]
    fn stage(&self, index: usize) -> Stage<'_> {
        self.stage_by(index, || (self, true))
    }

    #[inline(always)]
    fn visit(&self, index: usize, visitor: &mut impl Visitor) {
        self.visit_at(index, self.state.clock(), visitor);
    }

    fn visit_ahead(&self, index: usize, seconds: f64, visitor: &mut impl Visitor) {
        let mut clock = self.state.clock();
        let step = clock.advance(seconds);
        let entries = self.entries_of(index);
        let mut all = self.state.entries().range(entries.clone()).iter();
        let changes = all.any(|entry| step.reaches(entry.still_until()));
        if self.state.stands_still(index) || !changes {
            return self.visit_at(index, clock, visitor);
        }
        let how = (self.library.motions(), step, self.state.speed(index));
        for (number, (options, at)) in self.library.layers().iter().zip(entries).enumerate() {
            let mut layer = self.state.layer(index, at);
            foresee(&mut layer, (self.library.owner(), number), how);
            self.visit_layer(number, options, &layer, visitor);
        }
    }
}

impl Pool {
    /// The changes to the pose of an instance, with its modifiers run by `by`.
    #[inline(always)]
    pub fn stage_by<'a>(
        &'a self,
        index: usize,
        by: impl FnOnce() -> (&'a dyn Modify, bool),
    ) -> Stage<'a> {
        let overrides = self.state.overrides().of(index);
        let offsets = Some(self.state.offsets());
        match self.state.inputs().active(index) {
            0 => Stage { overrides, offsets, ..Stage::default() },
            _ => Stage { overrides, offsets, ..self.modifiers_of(index, by()) },
        }
    }

    /// The clip by which evaluation is ordered: the first one that the instance plays.
    #[inline(always)]
    pub fn first_clip(&self, index: usize) -> u16 {
        let entry = self.state.entries().range(self.entries_of(index)).first();
        let action = entry.and_then(|entry| entry.first());
        let first = action.and_then(|action| match action.clip() {
            None => self.library.motions().clips_of(action).next(),
            clip => clip,
        });
        first.unwrap_or(NO_CLIP)
    }

    /// Prefetches what all instances read.
    #[inline(always)]
    pub fn prefetch(&self) {
        prefetch(self.library.layers());
        self.tables.prefetch();
    }

    /// Prefetches a part of what an instance reads of the clips that it plays.
    #[inline(always)]
    pub fn prefetch_clips(&self, index: usize, step: Step, sources: Sources<'_>, other: bool) {
        // `alone` matters to `Step::Tables` only.
        let alone = matches!(step, Step::Tables) && self.sole(index).is_ok();
        self.visit(index, &mut Prefetch { sources, step, alone, other });
    }

    /// Visits the actions of an instance at a clock up to which no wait of its entries ends.
    #[inline(always)]
    fn visit_at(&self, index: usize, clock: Clock, visitor: &mut impl Visitor) {
        let first = self.entry(index, 0);
        let entries = self.state.entries().range(self.entries_of(index));
        let holds = self.state.stands_still(index);
        for (layer, (options, entry)) in self.library.layers().iter().zip(entries).enumerate() {
            let Some(action) = entry.first() else {
                continue;
            };
            let since = if holds { 0.0 } else { entry.since(clock) };
            let own = entry.weight().after(since);
            if own == 0.0 {
                continue;
            }
            if !entry.plays_one() || self.state.offset(first + layer).is_some() {
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

    /// Visits a layer in a given state.
    pub(super) fn visit_layer(
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
        if let Some(mut active) = active(number, options, own, weights.clone().sum()) {
            active.offset = layer.offset.map(|offset| offset.input(0.0));
            visitor.layer(active);
            for (weight, action) in weights.zip(layer.actions()) {
                if weight != 0.0 {
                    self.visit_action(action, 0.0, weight, visitor);
                }
            }
        }
    }

    /// Visits a layer with several actions or an offset.
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
        let options = &self.library.layers()[layer];
        if let Some(mut active) = active(layer, options, own, total) {
            active.offset = self.state.offset(at).map(|offset| offset.input(since));
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
        if let Some(clip) = action.clip() {
            let time = time as f32;
            return visitor.clip(ActiveClip { clip, time, weight });
        }
        let motions = self.library.motions();
        for &(clip, share) in motions.members(action).all() {
            let time = (time * motions.duration(clip)) as f32;
            visitor.clip(ActiveClip { clip, time, weight: weight * share });
        }
    }
}
