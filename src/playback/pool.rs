//! One rig's instances: state in plain arrays, how it advances, and the evaluation of one of them. A
//! mixer has one with one instance, a crowd several with many.

use super::actions::{ACTIONS_PER_LAYER, Actions};
use super::advance::Step;
use super::blend_space::BlendSpace1D;
use super::ears::Ears;
use super::error::PlaybackError;
use super::events::Events;
use super::ids::{ClipId, InstanceId, NO_CLIP, RigId};
use super::overrides::Overrides;
use super::places::{Counts, Places, RowOrder};
use super::plans::{PlanKey, Plans};
use super::ramp::Ramp;
use super::root_motion::Roots;
use crate::clip::{Clip, RootMotion};
use crate::math::{Affine3x4, Kernel, Lanes, SimdLevel, dispatch};
use crate::rig::Rig;
use crate::runtime::chain::{ActionInput, Chain, LayerInput, Scratch};
use crate::runtime::fused::{Fused, FusedScratch, LayerShare};
use crate::runtime::plan::Plan;
use crate::skeleton::{JointMask, Pose};
use glam::DAffine3;
use std::ops::Range;
use std::sync::Arc;

/// The most layers of a rig.
pub const MAX_LAYERS: usize = 16;

/// One layer of all instances of a rig.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LayerOptions {
    /// Whether it adds differences (additive clips) instead of blending over what lies below.
    pub additive: bool,
    /// The joints that it moves, with weights; none counts as all.
    pub mask: Option<JointMask>,
    /// What its actions leave, when their weights sum to less than 1.
    pub fill: Fill,
}

/// What takes the share of a blending layer that its actions leave. Additive layers have none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fill {
    /// The rest pose: an action alone fades in from it.
    #[default]
    Rest,
    /// What lies below: the layer counts less by as much, so that an action that fades in or out alone
    /// comes from the layers below and leaves to them.
    Below,
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
    /// Instance × layer, as the next two.
    pub layer_weight: Vec<f32>,
    pub layer_fade: Vec<Ramp>,
    pub layer_speed: Vec<f32>,
    pub actions: Actions,
    pub overrides: Overrides,
    /// Actions that gave way because a layer was full.
    pub displaced: u64,
    /// The worlds in f64, if root motion moves them.
    pub places: Option<Vec<DAffine3>>,
}

/// A rig of a crowd with its clips, layers and instances.
#[derive(Debug)]
pub(crate) struct Pool {
    pub id: RigId,
    pub rig: Arc<Rig>,
    pub clips: Vec<(u16, Option<Arc<Clip>>)>,
    pub spaces: Vec<(u16, Option<BlendSpace1D>)>,
    pub layers: Vec<LayerOptions>,
    pub state: PoolState,
    /// Key hints: instance × layer × action × member × `hint_stride`. Any values are valid.
    pub hints: Vec<u16>,
    pub hint_stride: usize,
    /// The most timelines of a clip.
    pub timelines: usize,
    pub plans: Plans,
    pub roots: Roots,
    pub places: Places,
    /// The most clips and timelines that the first so many scratches of the crowd have room for.
    reserved: ((usize, usize), usize),
}

impl Pool {
    pub fn new(id: RigId, rig: Arc<Rig>, layers: Vec<LayerOptions>) -> Self {
        let clips: Vec<_> = rig.clips().iter().map(|c| (0, Some(c.clone()))).collect();
        let mut pool = Self {
            id,
            rig,
            clips,
            spaces: Vec::new(),
            layers,
            state: PoolState::default(),
            hints: Vec::new(),
            hint_stride: 0,
            timelines: 0,
            plans: Plans::default(),
            roots: Roots::default(),
            places: Places::default(),
            reserved: Default::default(),
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
        self.plans.clear();
        let mut motions = loaded.clone().filter_map(|c| c.root_motion());
        self.roots.joint = motions.next().map(RootMotion::joint);
        self.hint_stride = loaded.map(|c| c.hint_count()).max().unwrap_or(0);
        self.fit_hints();
    }

    pub fn fit_hints(&mut self) {
        let len = self.hints_per_instance() * self.state.alive.len();
        if len != self.hints.len() {
            self.hints.clear();
            self.hints.resize(len, 0);
        }
    }

    /// The most clips of one action: two with blend spaces.
    fn members(&self) -> usize {
        1 + usize::from(!self.spaces.is_empty())
    }

    /// The most clips that an instance plays at once.
    pub fn max_clips(&self) -> usize {
        self.layers.len() * ACTIONS_PER_LAYER * self.members()
    }

    pub fn hints_per_instance(&self) -> usize {
        self.max_clips() * self.hint_stride
    }

    pub fn clip(&self, id: ClipId) -> Option<&Arc<Clip>> {
        match self.clips.get(usize::from(id.index)) {
            Some((generation, clip)) if *generation == id.generation && id.rig == self.id => {
                clip.as_ref()
            }
            _ => None,
        }
    }

    /// The entry of an instance's layer in the action arrays.
    pub fn entry(&self, index: usize, layer: usize) -> usize {
        index * self.layers.len() + layer
    }

    pub fn spawn(&mut self) -> Result<u32, PlaybackError> {
        let state = &mut self.state;
        let index = match state.free.pop() {
            Some(index) => index,
            None => {
                let index = state.alive.len();
                // Ranks and handles are 32 bits.
                if index >= u32::MAX as usize {
                    return Err(PlaybackError::Limit {
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
                    state.layer_fade.push(Ramp::default());
                    state.layer_speed.push(1.0);
                    state.actions.push();
                }
                self.places.push();
                index as u32
            }
        };
        let i = index as usize;
        state.alive[i] = true;
        state.visible[i] = true;
        state.speed[i] = 1.0;
        self.places.spawn(i);
        self.set_world(i, Affine3x4::IDENTITY);
        let state = &mut self.state;
        for entry in i * self.layers.len()..(i + 1) * self.layers.len() {
            state.layer_weight[entry] = 1.0;
            state.layer_fade[entry] = Ramp::default();
            state.layer_speed[entry] = 1.0;
            state.actions.clear(entry);
        }
        self.touch(i);
        let hints = self.hints_per_instance() * self.state.alive.len();
        self.hints.resize(hints, 0);
        Ok(index)
    }

    pub fn despawn(&mut self, index: usize) {
        let state = &mut self.state;
        state.alive[index] = false;
        self.places.unsettle();
        state.generation[index] = state.generation[index].wrapping_add(1);
        state.free.push(index as u32);
        state.overrides.clear_all(index);
        for entry in index * self.layers.len()..(index + 1) * self.layers.len() {
            state.actions.clear(entry);
        }
    }

    pub fn alive(&self) -> usize {
        self.state.alive.len() - self.state.free.len()
    }

    /// Moves all instances on by `dt` seconds; what happens is added to `events`.
    pub fn advance(&mut self, dt: f64, events: &mut Events) {
        self.roots.clear();
        if let Some(joint) = self.roots.joint {
            self.advance_roots(joint, dt, events);
            return;
        }
        let layers = self.layers.len();
        for i in 0..self.state.speed.len() {
            if !self.state.alive[i] {
                continue;
            }
            let speed = f64::from(self.state.speed[i]);
            for layer in 0..layers {
                let entry = i * layers + layer;
                let factor = speed * f64::from(self.state.layer_speed[entry]);
                let step = Step { dt, factor };
                if !self.state.actions.glide(entry, step) {
                    self.advance_entry(i, layer, step, events);
                }
            }
        }
    }

    /// A step in which something happens to an entry besides time.
    pub(super) fn advance_entry(
        &mut self,
        index: usize,
        layer: usize,
        step: Step,
        events: &mut Events,
    ) {
        let entry = self.entry(index, layer);
        let state = &mut self.state;
        let mut ears = Ears {
            clips: &self.clips,
            events,
            instance: InstanceId {
                rig: self.id,
                index: index as u32,
                generation: state.generation[index],
            },
            layer,
            layer_weight: state.layer_weight[entry],
        };
        let mut changed = state.actions.advance(entry, step, &mut ears);
        let fade = &mut state.layer_fade[entry];
        if fade.running() {
            state.layer_weight[entry] = fade.advance(step.dt.abs()) as f32;
            state.actions.busy[entry] |= fade.running();
            changed = true;
        }
        if changed {
            self.touch(index);
        }
    }

    /// Has the plan of an instance found anew: its set of clips may have changed.
    pub fn touch(&mut self, index: usize) {
        self.plans.touch(index);
    }

    /// Whether a frame that asks what the last one asked comes to the same plans and places.
    pub fn steady(&self, holds: bool, order: RowOrder) -> bool {
        self.places.steady(holds, order) && !self.plans.stale()
    }

    /// Decides who is evaluated; see [`Places::count`].
    pub fn count_places(&mut self, holds: bool, order: RowOrder) -> Counts {
        let PoolState { alive, visible, .. } = &self.state;
        let shown = alive
            .iter()
            .zip(visible)
            .map(|(&alive, &seen)| alive && seen);
        self.places.count(shown, holds, order)
    }

    /// The layers of an instance that count, with their entries in the action arrays.
    fn active_layers(&self, index: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.layers.len()).filter_map(move |layer| {
            let entry = self.entry(index, layer);
            let weights = &self.state.actions.weight[entry];
            let options = &self.layers[layer];
            let playing = if options.fill == Fill::Below && !options.additive {
                // Weights are divided by their sum, which has to have a reciprocal.
                weights.iter().sum::<f32>() >= f32::MIN_POSITIVE
            } else {
                *weights != [0.0; ACTIONS_PER_LAYER]
            };
            (playing && self.state.layer_weight[entry] != 0.0).then_some((layer, entry))
        })
    }

    /// Of a blending layer: the share that the rest pose takes, what weights are multiplied with, and
    /// the layer's own weight.
    fn shares(&self, layer: usize, entry: usize) -> (f32, f32, f32) {
        let total: f32 = self.state.actions.weight[entry].iter().sum();
        let weight = self.state.layer_weight[entry];
        if total >= FULL {
            (0.0, 1.0 / total, weight)
        } else if self.layers[layer].fill == Fill::Below {
            // A denormal has no finite inverse; such a layer counts for nothing.
            (0.0, 1.0 / total.max(f32::MIN_POSITIVE), weight * total)
        } else {
            (1.0 - total, 1.0, weight)
        }
    }

    /// The clips of an action, with their shares of it and their times.
    #[inline(always)]
    fn clips_of(&self, entry: usize, a: usize) -> impl Iterator<Item = (&Clip, f32, f32)> {
        let state = &self.state.actions;
        let (first, other) = (state.clip[entry][a], state.other[entry][a]);
        let time = state.clip_time(entry, a);
        let first = self.clip(first).map(Arc::as_ref);
        // Most actions are of clips: a blend space alone has a second one, and phases for times.
        let (first, second) = if other == NO_CLIP {
            (first.map(|clip| (clip, 1.0, time as f32)), None)
        } else {
            let mix = state.mix[entry][a];
            let at = |clip: &Clip| (time * f64::from(clip.duration())) as f32;
            let second = self.clip(other).map(Arc::as_ref).filter(|_| mix > 0.0);
            (
                first.map(|clip| (clip, 1.0 - mix, at(clip))),
                second.map(|clip| (clip, mix, at(clip))),
            )
        };
        first.into_iter().chain(second)
    }

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
            .fused
            .reserve(&self.rig, clips, self.layers.len(), cursors);
        let rows = self.rig.palette_len();
        if scratch.palette.len() < rows {
            scratch.palette.resize(rows, Affine3x4::IDENTITY);
        }
        if self.state.overrides.is_empty() {
            return;
        }
        let chains = &mut scratch.chains;
        let fits = |c: &Scratch| c.timelines() >= self.timelines;
        match chains.iter().position(|(rig, _)| *rig == self.id) {
            Some(at) if fits(&chains[at].1) => {}
            Some(at) => chains[at].1 = Scratch::new(&self.rig, self.timelines),
            None => chains.push((self.id, Scratch::new(&self.rig, self.timelines))),
        }
    }

    /// Evaluates the palettes of a range of instances into `output`, by the plans found for their
    /// clips. `hints` are those of the range; with `stream` the rows go past the caches.
    pub fn evaluate(
        &self,
        instances: Range<usize>,
        (level, stream): (SimdLevel, bool),
        hints: &mut [u16],
        scratch: &mut PaletteScratch,
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
                if other[a].is_none() {
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
    fn phase_time(&self, clip: ClipId, phase: f64) -> f32 {
        let duration = self.clip(clip).map_or(0.0, |clip| clip.duration());
        (phase * f64::from(duration)) as f32
    }

    /// The slots of a layer that count, oldest first.
    pub fn in_order(&self, entry: usize) -> impl Iterator<Item = usize> + use<> {
        let actions = &self.state.actions;
        let newest = actions.starts[entry];
        let age = actions.started[entry].map(|s| newest.wrapping_sub(s));
        let weights = actions.weight[entry];
        let mut order = [0, 1, 2, 3];
        if weights[1..] != [0.0; 3] {
            order.sort_unstable_by_key(|&a: &usize| std::cmp::Reverse(age[a]));
        }
        order.into_iter().filter(move |&a| weights[a] != 0.0)
    }

    /// Evaluates the instance joint by joint, for its model matrices. Overrides count, as they do in
    /// the palette.
    pub fn evaluate_models(&self, index: usize, output: &mut [Affine3x4]) -> Scratch {
        let mut scratch = Scratch::new(&self.rig, self.timelines);
        let mut hints = vec![0; self.hints_per_instance()];
        let run = |chain: Chain<'_>| chain.run(SimdLevel::current());
        self.run_chain(index, &mut hints, &mut scratch, output, run);
        scratch
    }

    /// Evaluates the instance's scalars alone.
    pub fn evaluate_scalars(&self, index: usize) -> Pose {
        let mut scratch = Scratch::of_scalars(&self.rig, self.timelines);
        let mut hints = vec![0; self.hints_per_instance()];
        let run = |chain: Chain<'_>| chain.run_scalars(SimdLevel::current());
        self.run_chain(index, &mut hints, &mut scratch, &mut [], run);
        scratch.pose
    }

    /// Has the chain of an instance run in the caller's scratch.
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
}

/// The buffers of a worker.
#[derive(Debug, Default)]
pub(crate) struct PaletteScratch {
    fused: FusedScratch,
    /// A palette that is copied elsewhere when it is finished.
    pub palette: Vec<Affine3x4>,
    /// Of the rigs whose instances have overrides.
    chains: Vec<(RigId, Scratch)>,
}

/// The palettes of a range of instances.
struct Palettes<'a> {
    pool: &'a Pool,
    level: SimdLevel,
    stream: bool,
    instances: Range<usize>,
    hints: &'a mut [u16],
    scratch: &'a mut PaletteScratch,
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
        let PaletteScratch { fused, chains, .. } = self.scratch;
        let mut chain = match pool.state.overrides.is_empty() {
            true => None,
            false => chains.iter_mut().find(|(rig, _)| *rig == pool.id),
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
        if self.stream {
            simd.settle_streams();
        }
    }
}

/// Weights of a layer that sum to this or more leave nothing to the rest pose: a crossfade's two
/// weights sum to 1 but for the rounding of their steps.
const FULL: f32 = 1.0 - 1e-5;

/// The largest time, time step and fade in seconds, either sign: thirty years, far beyond use, and
/// small enough that an f64 still resolves microseconds.
pub const MAX_TIME: f64 = 1.0e9;

pub(crate) fn check(
    what: &'static str,
    value: f64,
    low: f64,
    high: f64,
) -> Result<(), PlaybackError> {
    if value >= low && value <= high {
        Ok(())
    } else {
        Err(PlaybackError::Value {
            what,
            value,
            low,
            high,
        })
    }
}
