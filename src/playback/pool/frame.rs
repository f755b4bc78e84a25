//! A frame of a pool: the keys of plans, scratch memory, and the palettes.

use super::Pool;
use crate::math::Affine3x4;
use crate::playback::actions::ACTIONS_PER_LAYER;
use crate::playback::ids::{NO_CLIP, RigId};
use crate::playback::plans::PlanKey;
use crate::runtime::chain::Scratch;
use crate::runtime::fused::{Fused, FusedScratch, LayerShare};
use crate::runtime::plan::Plan;
use crate::simd::{Fence, Kernel, Lanes, SimdLevel, Streaming, dispatch};
use std::ops::Range;

impl Pool {
    /// The layers and clips of an instance in the order of blending: the key of its plan.
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

    /// [`reserve`](Self::reserve) for the scratches of a crowd. They never shrink, so nothing is done unless the pool's
    /// needs or the number of scratches have grown, or an instance has overrides.
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

    /// Reserves memory in a scratch for any instance.
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

    /// Evaluates the palettes of a range of instances into `output`, by their plans. `hints` are those of the range;
    /// with `stream` the rows are stored past the caches.
    pub fn evaluate(
        &self,
        instances: Range<usize>,
        (level, stream): (SimdLevel, bool),
        hints: &mut [u16],
        scratch: &mut InstanceScratch,
        output: &mut [Affine3x4],
    ) {
        // Outside the kernel, so that it is dropped when the kernel unwinds and does not change the kernel's loops.
        let fence = stream.then(|| Fence::new(level));
        dispatch(
            level,
            Palettes {
                pool: self,
                level,
                streaming: fence.as_ref().map(Fence::streaming),
                instances,
                hints,
                scratch,
                output,
            },
        );
    }

    /// Copies the times and weights of an instance to the scratch, in the order of its plan.
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
            // Looked up once: in the loop each index would be checked for every action.
            let (time, mirrored) = (&actions.time[entry], &actions.mirrored[entry]);
            let (weight, other) = (&actions.weight[entry], &actions.other[entry]);
            for &a in &self.plans.order[entry] {
                let a = usize::from(a) % ACTIONS_PER_LAYER;
                let Some(place) = places.next() else { break };
                let (mut time, w) = (time[a], weight[a]);
                if mirrored[a] {
                    time = actions.clip_time(entry, a);
                }
                // Most actions play a clip: only a blend space has a second clip.
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

    /// The time of a member of a blend space, in seconds.
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

/// The scratch of one instance.
#[derive(Debug, Default)]
pub(crate) struct InstanceScratch {
    fused: FusedScratch,
    /// By the numbers of the rigs whose instances have overrides.
    chains: Vec<(u32, Scratch)>,
}

impl InstanceScratch {
    /// Frees the scratch of a rig that is removed.
    pub fn forget(&mut self, rig: RigId) {
        self.chains.retain(|chain| chain.0 != rig.number());
    }
}

/// The palettes of a range of instances.
struct Palettes<'a> {
    pool: &'a Pool,
    level: SimdLevel,
    streaming: Option<Streaming<'a>>,
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
                    streaming: self.streaming,
                }
                .run(simd);
            }
            output = later;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::raw::{
        Interpolation, RawChannel, RawClip, RawNode, RawScene, RawSkin, RawTrack,
    };
    use crate::playback::ids::Owner;
    use crate::playback::places::RowOrder;
    use crate::playback::{PlayOptions, Player};
    use crate::simd::SETTLED;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;

    /// A rig of one joint with a clip, and two instances, of which the second plays it.
    fn pool(width: usize) -> Pool {
        let track = RawTrack {
            node: 0,
            channel: RawChannel::Translation,
            interpolation: Interpolation::Linear,
            times: vec![0.0, 1.0],
            values: vec![3.0, 0.0, 0.0, 4.0, 0.0, 0.0],
        };
        let scene = RawScene {
            nodes: vec![RawNode::default()],
            skins: vec![RawSkin {
                name: None,
                joints: vec![0],
                inverse_bind: vec![Affine3x4::IDENTITY.to_cols_array()],
            }],
            clips: vec![RawClip {
                duration: 1.0,
                tracks: vec![track],
                ..RawClip::default()
            }],
            ..RawScene::default()
        };
        let rig = Arc::new(crate::build::build_rig(scene, &Default::default()).unwrap());
        let layers = vec![Default::default()];
        let mut pool = Pool::new(Owner::of_rig(1, 0), rig, layers);
        pool.spawn().unwrap();
        let index = pool.spawn().unwrap() as usize;
        let clip = pool.clip_id(0);
        let mut player = Player {
            pool: &mut pool,
            index,
        };
        player.play(0, clip, &PlayOptions::default()).unwrap();
        pool.find_plans(width);
        pool.count_places(false, RowOrder::Index);
        pool
    }

    /// A panic between two instances whose rows are streamed: only the fence completes the stores of the first.
    #[test]
    fn streamed_rows_are_settled_when_a_frame_is_cut_short() {
        for level in SimdLevel::supported() {
            let mut pool = pool(level.width());
            let mut hints = std::mem::take(&mut pool.hints);
            let mut scratch = PaletteScratch::default();
            pool.reserve_all(std::slice::from_mut(&mut scratch));
            let mut frame = |scratch: &mut PaletteScratch, stream| {
                let nothing = Affine3x4 {
                    rows: [[f32::NAN; 4]; 3],
                };
                let mut rows = [nothing; 2];
                let settled = SETTLED.get();
                let how = (level, stream);
                let (hints, instance) = (&mut hints[..], &mut scratch.instance);
                let run = || pool.evaluate(0..2, how, hints, instance, &mut rows);
                let whole = catch_unwind(AssertUnwindSafe(run)).is_ok();
                let first = rows.map(|row| row.rows[0][3]);
                (whole, first.map(f32::to_bits), SETTLED.get() - settled)
            };
            let bits = |x: [f32; 2]| x.map(f32::to_bits);
            let both = bits([0.0, 3.0]);
            assert_eq!(frame(&mut scratch, false), (true, both, 0), "{level}");
            assert_eq!(frame(&mut scratch, true), (true, both, 1), "{level}");
            // The scratch has no entry for the time of the second instance's action: an index out of range.
            scratch.instance.fused.times.clear();
            let one = bits([0.0, f32::NAN]);
            assert_eq!(frame(&mut scratch, true), (false, one, 1), "{level}");
        }
    }
}
