//! The scalars of an instance, blended by the jobs over poses without joints.

use super::blend::{accumulate, add_pose, cover_pose, finish_layer};
use super::channels;
use super::sample::sample_scalars;
use crate::clip::Cursor;
use crate::evaluate::decay::decay;
use crate::evaluate::{ActionInput, LayerInput, Offsets, SCALARS, Sources, locate_all};
use crate::math::Row;
use crate::simd::{Kernel, Lanes, SimdLevel, dispatch, dispatch_portable};
use crate::skeleton::Pose;
use fearless_simd::prelude::*;

/// Blends the scalars of the actions of one instance.
pub(crate) struct ScalarBlend<'a> {
    pub sources: Sources<'a>,
    pub layers: &'a [LayerInput],
    pub actions: &'a [ActionInput],
    /// The pool of the layers' offsets.
    pub offsets: &'a Offsets,
}

/// Buffers of a blend of scalars, and its result.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScalarScratch {
    /// The result, a pose without joints.
    pub pose: Pose,
    above: Pose,
    sampled: Pose,
    hints: Vec<u16>,
    cursors: Vec<Cursor>,
}

impl ScalarScratch {
    pub fn rows(&self) -> &[Row] {
        &self.pose.scalars
    }

    /// Turns quaternions to the hemisphere of another result.
    pub fn align(&mut self, to: &Self) {
        channels::align(&mut self.pose, &to.pose);
    }
}

impl ScalarBlend<'_> {
    /// Leaves the result in the scratch. Allocates for the first instance of a rig.
    pub fn run(self, level: SimdLevel, scratch: &mut ScalarScratch) {
        dispatch(level, Run { blend: self, scratch });
    }

    /// [`run`](Self::run) with the same bits on all machines.
    pub fn run_portable(self, scratch: &mut ScalarScratch) {
        dispatch_portable(Run { blend: self, scratch });
    }

    #[inline(always)]
    fn sample<S: Lanes>(
        &self,
        simd: S,
        action: &ActionInput,
        (hints, cursors): (&mut Vec<u16>, &mut Vec<Cursor>),
        output: &mut Pose,
    ) -> bool {
        let Some(program) = self.sources.clip(action.clip) else {
            return false;
        };
        let clip = &program.clip;
        hints.clear();
        hints.resize(clip.hint_count(), 0);
        cursors.clear();
        cursors.resize(clip.timelines().len(), Cursor::default());
        locate_all(clip, action.time, hints, cursors);
        sample_scalars(simd, self.sources.rig.skeleton(), clip, cursors, output);
        true
    }

    /// Adds what is left of a layer's offset.
    #[inline(always)]
    fn offset<S: Lanes>(&self, simd: S, layer: &LayerInput, pose: &mut Pose) {
        let Some(by) = &layer.offset else {
            return;
        };
        let n = S::f32s::LEN;
        let time = (S::f32s::splat(simd, by.seconds), S::f32s::splat(simd, by.inverse));
        for part in self.offsets.parts(by.id).filter(|part| part.channel == SCALARS) {
            let Some(row) = pose.scalars.get_mut(part.block) else {
                continue;
            };
            for (lane, v) in row.0.chunks_exact_mut(n).enumerate() {
                let get = |row: usize| {
                    S::f32s::from_slice(simd, &part.rows[row].0[lane * n..(lane + 1) * n])
                };
                let share = decay(simd, get(3), time);
                get(0).mul_add(share, S::f32s::from_slice(simd, v)).store_slice(v);
            }
        }
        channels::normalize(pose);
    }
}

struct Run<'a> {
    blend: ScalarBlend<'a>,
    scratch: &'a mut ScalarScratch,
}

impl Kernel for Run<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) {
        let Self { blend, scratch } = self;
        let rest = blend.sources.rig.skeleton().rest_pose();
        let ScalarScratch { pose, above, sampled, hints, cursors } = scratch;
        for pose in [&mut *pose, &mut *above, &mut *sampled] {
            pose.scalars.clone_from(&rest.scalars);
            pose.quaternions.clone_from(&rest.quaternions);
        }
        let mut covered = false;
        for layer in blend.layers {
            let masked = blend.sources.masks.get(layer.layer).is_some_and(|m| m.mask.is_some());
            let replaces = !covered && !layer.additive && layer.weight >= 1.0 && !masked;
            covered = true;
            let actions = &blend.actions[layer.actions.clone()];
            if layer.additive {
                for action in actions {
                    if blend.sample(simd, action, (hints, cursors), sampled) {
                        add_pose(simd, pose, sampled, action.weight, None);
                    }
                }
                continue;
            }
            let into = if replaces { &mut *pose } else { &mut *above };
            if let ([only], 0.0) = (actions, layer.rest) {
                blend.sample(simd, only, (hints, cursors), into);
            } else {
                for (i, action) in actions.iter().enumerate() {
                    if blend.sample(simd, action, (hints, cursors), sampled) {
                        accumulate(simd, into, sampled, action.weight, i == 0);
                    }
                }
                finish_layer(simd, into, rest, layer.rest);
            }
            blend.offset(simd, layer, into);
            if !replaces {
                cover_pose(simd, pose, above, layer.weight, None);
            }
        }
    }
}
