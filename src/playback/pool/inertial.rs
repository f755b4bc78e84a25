//! Offsets between what a layer showed before a call and what it plays after it.

use super::Pool;
use crate::evaluate::{Capture, OffsetId, POSES, scalar_parts};
use crate::playback::action::Action;
use crate::playback::inertia::{Inertia, STEP, fits};
use crate::playback::layer_state::LayerState;
use crate::playback::options::Fill;
use crate::runtime::ScalarScratch;

/// How far the sum of weights may change without a change of the layer's share.
const SAME_SHARE: f32 = 1e-5;

/// Buffers for the poses of a layer, for one call after another.
#[derive(Debug, Default)]
pub(super) struct LayerCapture {
    joints: Capture,
    scalars: [ScalarScratch; POSES],
    /// Of the check of an offset.
    products: Vec<f64>,
}

impl Pool {
    /// Counts an action that a call evicts from a layer, and makes its part in the pose an offset, if there is room.
    pub fn evict(
        &mut self,
        at: (usize, usize),
        before: &LayerState,
        after: &mut LayerState,
        seconds: f32,
    ) {
        self.state.count_evicted();
        let alone = *after;
        if self.library.layers()[at.1].fill == Fill::Below {
            after.take_over(before);
        }
        if !self.offset(at, before, after, seconds) {
            *after = alone;
        }
    }

    /// Whether a layer whose actions' weights will sum to `weight` covers the layers below as much as before. If its
    /// actions have no weight it shows nothing.
    pub fn keeps_share(&self, number: usize, before: &LayerState, weight: f32) -> bool {
        let share = |sum: f32| sum.min(1.0);
        let sum: f32 = before.actions().iter().map(|a| a.weight.value()).sum();
        let same = (share(sum) - share(weight)).abs() <= SAME_SHARE;
        same || self.library.layers()[number].fill == Fill::Rest
    }

    /// Makes the difference of what a layer shows from what it plays after a call an offset that decays over `seconds`.
    /// Returns false, and changes nothing, if there is no room, the layer shows nothing, or is additive.
    pub fn offset(
        &mut self,
        (index, number): (usize, usize),
        before: &LayerState,
        after: &mut LayerState,
        seconds: f32,
    ) -> bool {
        if self.library.layers()[number].additive {
            return false;
        }
        self.prepare(after);
        self.prepare_capture(before);
        self.prepare_capture(after);
        let mut capture = std::mem::take(&mut self.capture);
        let goes_on = after.offset.take();
        // The velocity of an offset that has just begun is that of the pose after it.
        let later = before.offset.is_some_and(|offset| offset.elapsed < STEP);
        let then = if later { STEP } else { -STEP };
        let states = [(before, 0.0), (before, then), (&*after, 0.0), (after, STEP)];
        let shows = states.iter().enumerate().all(|(pose, &(layer, seconds))| {
            let rate = |action: &Action| self.rate(index, layer, action);
            let moved = layer.moved(&self.library, seconds, rate);
            self.capture_pose(&mut capture, pose, number, &moved)
        });
        let found = if shows { self.find_offset(&mut capture, later) } else { None };
        self.capture = capture;
        if let Some(Some(id)) = found {
            self.tables.prepare_offset(self.state.offsets().lanes(id));
            let total = f64::from(seconds);
            after.offset = Some(Inertia { id, total, elapsed: 0.0 });
        }
        if shows && found.is_none() {
            self.refused += 1;
            after.offset = goes_on;
        }
        found.is_some()
    }

    fn capture_pose(
        &self,
        capture: &mut LayerCapture,
        pose: usize,
        number: usize,
        layer: &LayerState,
    ) -> bool {
        let options = &self.library.layers()[number];
        let LayerCapture { joints, scalars, .. } = capture;
        let offsets = self.state.offsets();
        joints.take(
            pose,
            self,
            offsets,
            |gather| {
                self.visit_layer(number, options, layer, gather);
            },
            |scratch| self.scalars_of(scratch).run_portable(&mut scalars[pose]),
        )
    }

    /// The offset between captured poses; `None` if there is no room, and `Some(None)` if they do not differ.
    fn find_offset(&mut self, capture: &mut LayerCapture, later: bool) -> Option<Option<OffsetId>> {
        let mut offsets = std::mem::take(self.state.offsets_mut());
        let mut new = offsets.begin();
        let how = (later, (1.0 / STEP) as f32);
        let LayerCapture { joints, scalars, products } = capture;
        let whole = joints.find(self, how, &mut offsets, &mut new) && {
            let [shown, then, next, after] = scalars;
            shown.align(next);
            then.align(shown);
            after.align(next);
            let poses = [shown, then, next, after].map(|s| s.rows());
            scalar_parts(poses, how, &mut offsets, &mut new)
        };
        let id = new.finish();
        let skeleton = self.library.rig().skeleton();
        let whole = whole && id.is_none_or(|id| fits(&offsets, id, skeleton, products));
        if let (Some(id), false) = (id, whole) {
            offsets.free(id);
        }
        *self.state.offsets_mut() = offsets;
        whole.then_some(id)
    }

    /// The change of an action's time per second of the clock.
    fn rate(&self, index: usize, layer: &LayerState, action: &Action) -> f64 {
        let factor = f64::from(self.state.speed(index)) * f64::from(layer.speed);
        let pace = self.library.motions().pace(action);
        let rate = self.state.clock().sign() * factor * (f64::from(action.speed()) * pace);
        let moves = !action.paused() && !action.holds(rate < 0.0);
        if moves { rate } else { 0.0 }
    }

    /// Number of offsets for which there was no room.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Frees the offsets that have ended in a step.
    pub fn end_offsets(&mut self, ended: &[OffsetId]) {
        for &id in ended {
            self.state.offsets_mut().free(id);
        }
    }

    /// Makes the topologies that restored offsets need, so that no frame has to make one.
    pub(super) fn prepare_offsets(&mut self) {
        let layers = self.state.len() * self.library.layers().len();
        let ids = (0..layers).filter_map(|at| self.state.entries().offset(at));
        let lanes = ids.map(|offset| self.state.offsets().lanes(offset.id)).max();
        if let Some(lanes) = lanes {
            self.tables.prepare_offset(lanes);
        }
    }
}

#[cfg(all(test, feature = "gltf"))]
mod tests {
    use crate::crowd::{Crowd, PlayOptions};
    use crate::playback::{CrossFade, FadeKind};
    use std::sync::Arc;

    /// A full pool gives an ordinary fade, which is counted, and evictions without an offset.
    #[test]
    fn fades_are_ordinary_when_there_is_no_room() {
        let mut crowd = Crowd::new();
        let rig = crowd.add_rig(Arc::new(crate::import::mannequin().unwrap())).unwrap();
        let clips: Vec<_> = (0..6).filter_map(|c| crowd.clip_by_index(rig, c)).collect();
        let all = [(); 3].map(|()| crowd.spawn(rig).unwrap());
        let options = PlayOptions::default();
        for i in all {
            crowd.play(i, clips[0], &options).unwrap();
        }
        crowd.advance(0.1).unwrap();
        let fade = CrossFade { seconds: 0.5, kind: FadeKind::Inertial, ..CrossFade::default() };
        let begin = |crowd: &mut Crowd, n: usize| {
            let mut player = crowd.player(all[n]).unwrap();
            player.cross_fade(0, clips[0], clips[1], fade, &options).unwrap();
            player.playing().clips().count()
        };
        assert_eq!(begin(&mut crowd, 0), 1);
        let one = crowd.inertial_bytes();
        let pool = crowd.pools[0].as_mut().unwrap();
        pool.state.offsets_mut().limit = (2 * one - 1) / 256;
        assert_eq!((begin(&mut crowd, 1), crowd.inertial_refused()), (2, 1));
        assert_eq!(crowd.inertial_bytes(), one);
        let fades = crowd.playing(all[1]).unwrap().actions(0).unwrap();
        let weights: Vec<_> = fades.map(|(_, state)| (state.weight, state.target)).collect();
        assert_eq!(weights, [(1.0, 0.0), (0.0, 1.0)]);
        for clip in &clips[2..] {
            crowd.advance(0.05).unwrap();
            crowd.fade_to(all[1], *clip, 1.0, &options).unwrap();
        }
        assert!(crowd.evicted() > 0);
        assert_eq!(crowd.inertial_refused(), 1 + crowd.evicted());
        // An offset that there is no room to replace goes on.
        for clip in &clips[2..] {
            crowd.advance(0.05).unwrap();
            crowd.fade_to(all[0], *clip, 1.0, &options).unwrap();
        }
        assert_eq!((crowd.inertial_bytes(), crowd.inertial_refused()), (one, 1 + crowd.evicted()));
        // There is room again when the first has decayed.
        crowd.advance(0.5).unwrap();
        assert_eq!((begin(&mut crowd, 2), crowd.inertial_bytes()), (1, one));
    }
}
