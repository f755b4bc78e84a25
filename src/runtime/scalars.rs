//! The scalars of an instance, blended by the jobs over poses without joints.

use super::blend::{accumulate, add_pose, cover_pose, finish_layer};
use super::sample::sample_scalars;
use crate::clip::Cursor;
use crate::evaluate::{ActionInput, LayerInput, Sources, locate_all};
use crate::simd::{Kernel, Lanes, SimdLevel, dispatch};
use crate::skeleton::Pose;

/// Blends the scalars of the actions of one instance.
pub(crate) struct ScalarBlend<'a> {
    pub sources: Sources<'a>,
    pub layers: &'a [LayerInput],
    pub actions: &'a [ActionInput],
}

impl ScalarBlend<'_> {
    /// A pose without joints. Allocates.
    pub fn run(self, level: SimdLevel) -> Pose {
        dispatch(level, self)
    }

    #[inline(always)]
    fn sample<S: Lanes>(&self, simd: S, action: &ActionInput, output: &mut Pose) -> bool {
        let Some(program) = self.sources.clip(action.clip) else {
            return false;
        };
        let clip = &program.clip;
        let mut hints = vec![0; clip.hint_count()];
        let mut cursors = vec![Cursor::default(); clip.timelines().len()];
        locate_all(clip, action.time, &mut hints, &mut cursors);
        sample_scalars(simd, self.sources.rig.skeleton(), clip, &cursors, output);
        true
    }
}

impl Kernel for ScalarBlend<'_> {
    type Output = Pose;

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) -> Pose {
        let rest = self.sources.rig.skeleton().rest_pose().scalars_only();
        let (mut pose, mut above, mut sampled) = (rest.clone(), rest.clone(), rest.clone());
        let mut covered = false;
        for layer in self.layers {
            let masked = self.sources.masks.get(layer.layer).is_some_and(|m| m.mask.is_some());
            let replaces = !covered && !layer.additive && layer.weight >= 1.0 && !masked;
            covered = true;
            let actions = &self.actions[layer.actions.clone()];
            if layer.additive {
                for action in actions {
                    if self.sample(simd, action, &mut sampled) {
                        add_pose(simd, &mut pose, &sampled, action.weight, None);
                    }
                }
                continue;
            }
            let into = if replaces { &mut pose } else { &mut above };
            if let ([only], 0.0) = (actions, layer.rest) {
                self.sample(simd, only, into);
            } else {
                for (i, action) in actions.iter().enumerate() {
                    if self.sample(simd, action, &mut sampled) {
                        accumulate(simd, into, &sampled, action.weight, i == 0);
                    }
                }
                finish_layer(simd, into, &rest, layer.rest);
            }
            if !replaces {
                cover_pose(simd, &mut pose, &above, layer.weight, None);
            }
        }
        pose
    }
}
