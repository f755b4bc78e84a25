//! Evaluates one instance by `runtime::chain`, without a plan: for model matrices, scalars and overrides.

use super::{Fill, MAX_LAYERS, Pool};
use crate::clip::Clip;
use crate::math::Affine3x4;
use crate::playback::PlaybackError;
use crate::playback::actions::ACTIONS_PER_LAYER;
use crate::playback::ids::NO_CLIP;
use crate::runtime::chain::{ActionInput, Chain, LayerInput, Scratch};
use crate::simd::SimdLevel;
use crate::skeleton::{JointRef, Pose};
use std::sync::Arc;

impl Pool {
    /// Evaluates the instance joint by joint, for its model matrices. Overrides apply, as in the palette.
    pub fn evaluate_models(&self, index: usize, output: &mut [Affine3x4]) -> Scratch {
        let mut scratch = Scratch::new(&self.rig, self.timelines);
        let mut hints = vec![0; self.hints_per_instance()];
        let run = |chain: Chain<'_>| chain.run(SimdLevel::current());
        self.run_chain(index, &mut hints, &mut scratch, output, run);
        scratch
    }

    /// The model matrix of one joint, evaluated as [`evaluate_models`](Self::evaluate_models).
    pub fn model_matrix(
        &self,
        index: usize,
        joint: JointRef<'_>,
    ) -> Result<Affine3x4, PlaybackError> {
        let joint = self.rig.skeleton().joint(joint)?;
        Ok(self.evaluate_models(index, &mut []).models[joint])
    }

    /// Evaluates only the instance's scalars.
    pub fn evaluate_scalars(&self, index: usize) -> Pose {
        let mut scratch = Scratch::of_scalars(&self.rig, self.timelines);
        let mut hints = vec![0; self.hints_per_instance()];
        let run = |chain: Chain<'_>| chain.run_scalars(SimdLevel::current());
        self.run_chain(index, &mut hints, &mut scratch, &mut [], run);
        scratch.pose
    }

    /// Runs the chain of an instance in the caller's scratch.
    pub fn run_chain(
        &self,
        index: usize,
        hints: &mut [u16],
        scratch: &mut Scratch,
        output: &mut [Affine3x4],
        run: impl FnOnce(Chain<'_>),
    ) {
        let mut inputs = [[None; 2 * ACTIONS_PER_LAYER]; MAX_LAYERS];
        let mut weights = [0.0; MAX_LAYERS];
        for (layer, entry) in self.active_layers(index) {
            let below = self.layers[layer].fill == Fill::Below && !self.layers[layer].additive;
            let (_, share, weight) = self.shares(layer, entry);
            let share = if below { share } else { 1.0 };
            weights[layer] = if below {
                weight
            } else {
                self.state.layer_weight[entry]
            };
            let clips = self.in_order(entry).flat_map(|a| {
                let weight = self.state.actions.weight[entry][a] * share;
                let first_hint = (layer * ACTIONS_PER_LAYER + a) * self.members();
                let clips = self.clips_of(entry, a).enumerate();
                clips.map(move |(m, (clip, part, time))| ActionInput {
                    clip,
                    time,
                    weight: weight * part,
                    first_hint: (first_hint + m) * self.hint_stride,
                })
            });
            for (input, clip) in inputs[layer].iter_mut().zip(clips) {
                *input = Some(clip);
            }
        }
        let mut layers = [LayerInput::NONE; MAX_LAYERS];
        for (layer, options) in self.layers.iter().enumerate() {
            layers[layer] = LayerInput {
                additive: options.additive,
                weight: weights[layer],
                mask: options.mask.as_ref(),
                actions: &inputs[layer],
            };
        }
        run(Chain {
            rig: &self.rig,
            layers: &layers[..self.layers.len()],
            overrides: self.state.overrides.of(index),
            hints,
            scratch,
            output,
        });
    }

    /// The clips of an action, with their shares and their times.
    #[inline(always)]
    fn clips_of(&self, entry: usize, a: usize) -> impl Iterator<Item = (&Clip, f32, f32)> {
        let state = &self.state.actions;
        let (first, other) = (state.clip[entry][a], state.other[entry][a]);
        let time = state.clip_time(entry, a);
        let first = self.clips.get(first).map(Arc::as_ref);
        // Most actions play a clip: only a blend space has a second clip, and times in phases.
        let (first, second) = if other == NO_CLIP {
            (first.map(|clip| (clip, 1.0, time as f32)), None)
        } else {
            let mix = state.mix[entry][a];
            let at = |clip: &Clip| (time * f64::from(clip.duration())) as f32;
            let second = self.clips.get(other).map(Arc::as_ref).filter(|_| mix > 0.0);
            (
                first.map(|clip| (clip, 1.0 - mix, at(clip))),
                second.map(|clip| (clip, mix, at(clip))),
            )
        };
        first.into_iter().chain(second)
    }
}
