//! A frame of a pool: what every instance's plan depends on, room for it, and the palettes.

use super::Pool;
use crate::math::Affine3x4;
use crate::playback::actions::ACTIONS_PER_LAYER;
use crate::playback::ids::{NO_CLIP, RigId};
use crate::playback::plans::PlanKey;
use crate::runtime::chain::Scratch;
use crate::runtime::fused::{Fused, FusedScratch, LayerShare};
use crate::runtime::plan::Plan;
use crate::simd::{Kernel, Lanes, SimdLevel, dispatch};
use std::ops::Range;

impl Pool {
    /// What an instance plays, in the order of blending: what its plan depends on.
    pub fn plan_key(&self, index: usize, key: &mut PlanKey) {
        key.clear();
        let mut covered = false;
        for (layer, entry) in self.active_layers(index) {
            let options = &self.layers[layer];
            let actions = &self.state.actions;
            key.add_layer(layer);
            for a in self.in_order(entry) {
                key.add_clip(actions.clip[entry][a]);
                if actions.other[entry][a] != NO_CLIP {
                    key.add_clip(actions.other[entry][a]);
                }
            }
            if !options.additive {
                let (rest, _, weight) = self.shares(layer, entry);
                let replaces = weight >= 1.0 && options.mask.is_none();
                if rest > 0.0 || !(covered || replaces) {
                    key.add_rest();
                }
                covered |= replaces;
            } else if !covered {
                key.add_rest();
            }
        }
    }

    /// [`reserve`](Self::reserve) for the scratches of a crowd, which never shrink: those that had room
    /// in the last frame still have it, unless the pool needs more.
    #[inline]
    pub fn reserve_all(&mut self, scratches: &mut [PaletteScratch]) {
        let needs = (self.max_clips(), self.timelines);
        let chains = !self.state.overrides.is_empty();
        let (known, fit) = self.reserved;
        if known == needs && fit >= scratches.len() && !chains {
            return;
        }
        scratches.iter_mut().for_each(|s| self.reserve(s));
        self.reserved = (needs, scratches.len());
    }

    /// Makes room in a scratch for any instance.
    fn reserve(&self, scratch: &mut PaletteScratch) {
        let clips = self.max_clips();
        let cursors = clips * self.timelines;
        scratch
            .instance
            .fused
            .reserve(&self.rig, clips, self.layers.len(), cursors);
        let rows = self.rig.palette_len();
        if scratch.palette.len() < rows {
            scratch.palette.resize(rows, Affine3x4::IDENTITY);
        }
        if self.state.overrides.is_empty() {
            return;
        }
        let chains = &mut scratch.instance.chains;
        let fits = |c: &Scratch| c.timelines() >= self.timelines;
        match chains.iter().position(|(rig, _)| *rig == self.rig_number()) {
            Some(at) if fits(&chains[at].1) => {}
            Some(at) => chains[at].1 = Scratch::new(&self.rig, self.timelines),
            None => chains.push((self.rig_number(), Scratch::new(&self.rig, self.timelines))),
        }
    }

    /// Evaluates the palettes of a range of instances into `output`, by the plans found for their
    /// clips. `hints` are those of the range; with `stream` the rows go past the caches.
    pub fn evaluate(
        &self,
        instances: Range<usize>,
        (level, stream): (SimdLevel, bool),
        hints: &mut [u16],
        scratch: &mut InstanceScratch,
        output: &mut [Affine3x4],
    ) {
        dispatch(
            level,
            Palettes {
                pool: self,
                level,
                stream,
                instances,
                hints,
                scratch,
                output,
            },
        );
    }

    /// Puts the times and weights of an instance into the scratch, in the order of its plan.
    #[inline(always)]
    fn gather(&self, index: usize, plan: &Plan, scratch: &mut FusedScratch) {
        let actions = &self.state.actions;
        for (layer, into) in plan.layers.iter().zip(&mut scratch.shares) {
            let entry = self.entry(index, layer.layer);
            let (rest, share, weight) = self.shares(layer.layer, entry);
            *into = LayerShare {
                weight: weight.min(1.0),
                rest,
            };
            let times = &mut scratch.times[layer.actions.clone()];
            let weights = &mut scratch.weights[layer.actions.clone()];
            let mut places = times.iter_mut().zip(weights);
            let layer_weight = self.state.layer_weight[entry];
            let scaled = |w: f32| {
                if layer.additive {
                    (w * layer_weight).clamp(-1.0, 1.0)
                } else {
                    w * share
                }
            };
            // Found once: in the loop each would be checked for every action.
            let (time, mirrored) = (&actions.time[entry], &actions.mirrored[entry]);
            let (weight, other) = (&actions.weight[entry], &actions.other[entry]);
            for &a in &self.plans.order[entry] {
                let a = usize::from(a) % ACTIONS_PER_LAYER;
                let Some(place) = places.next() else { break };
                let (mut time, w) = (time[a], weight[a]);
                if mirrored[a] {
                    time = actions.clip_time(entry, a);
                }
                // Most actions are of clips: a blend space alone has a second one.
                if other[a] == NO_CLIP {
                    *place.0 = time as f32;
                    *place.1 = scaled(w);
                    continue;
                }
                let mix = actions.mix[entry][a];
                (*place.0, *place.1) = (
                    self.phase_time(actions.clip[entry][a], time),
                    scaled(w * (1.0 - mix)),
                );
                if let Some(place) = places.next() {
                    (*place.0, *place.1) = (self.phase_time(other[a], time), scaled(w * mix));
                }
            }
        }
    }

    /// The seconds at which a member of a blend space stands.
    fn phase_time(&self, clip: u16, phase: f64) -> f32 {
        let duration = self.clips.get(clip).map_or(0.0, |clip| clip.duration());
        (phase * f64::from(duration)) as f32
    }
}

/// The buffers of a worker.
#[derive(Debug, Default)]
pub(crate) struct PaletteScratch {
    /// For one instance after another.
    pub instance: InstanceScratch,
    /// A palette that is copied elsewhere when it is finished.
    pub palette: Vec<Affine3x4>,
}

/// What one instance is evaluated in.
#[derive(Debug, Default)]
pub(crate) struct InstanceScratch {
    fused: FusedScratch,
    /// By the numbers of the rigs whose instances have overrides.
    chains: Vec<(u32, Scratch)>,
}

impl InstanceScratch {
    /// Frees what is a rig's own: the rig is removed.
    pub fn forget(&mut self, rig: RigId) {
        self.chains.retain(|chain| chain.0 != rig.number());
    }
}

/// The palettes of a range of instances.
struct Palettes<'a> {
    pool: &'a Pool,
    level: SimdLevel,
    stream: bool,
    instances: Range<usize>,
    hints: &'a mut [u16],
    scratch: &'a mut InstanceScratch,
    output: &'a mut [Affine3x4],
}

impl Kernel for Palettes<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) {
        let pool = self.pool;
        let rows = pool.rig.palette_len();
        let stride = pool.hints_per_instance();
        let mut output = self.output;
        let InstanceScratch { fused, chains } = self.scratch;
        let mut chain = match pool.state.overrides.is_empty() {
            true => None,
            false => chains.iter_mut().find(|(rig, _)| *rig == pool.rig_number()),
        };
        for (i, index) in self.instances.enumerate() {
            if !pool.places.scheduled(index) {
                continue;
            }
            let Some((now, later)) = output.split_at_mut_checked(rows) else {
                break;
            };
            if pool.places.kept(index) {
                output = later;
                continue;
            }
            let hints = self.hints.get_mut(i * stride..).unwrap_or_default();
            if let Some((_, chain)) = chain
                .as_deref_mut()
                .filter(|_| !pool.state.overrides.of(index).is_empty())
            {
                let level = self.level;
                pool.run_chain(index, hints, chain, now, |chain| chain.run(level));
            } else {
                let plan = pool.plans.get(index);
                pool.gather(index, plan, fused);
                Fused {
                    plan,
                    hints,
                    hint_stride: pool.hint_stride,
                    scratch: fused,
                    output: now,
                    stream: self.stream,
                }
                .run(simd);
            }
            output = later;
        }
        // No code of a caller runs between streamed rows, so nothing unwinds past this.
        if self.stream {
            simd.settle_streams();
        }
    }
}
