//! Sampling and blending of one instance. Each action is taken through all groups that vary, so that the arithmetic
//! of one group need not wait for that of another.

use super::kernel::blend::{self, Blend};
use super::kernel::quat::{align, unit};
use super::offsets::Offsets;
use super::scratch::{ActionInput, LayerInput, LayerMask, Sources};
use super::tables::{ClipProgram, ROTATION, SCALE, TRANSLATION, UnitSet};
use crate::clip::Cursor;
use crate::simd::{Lanes, each, out_of_line};
use fearless_simd::prelude::*;

mod given;
mod offset;
mod registers;

/// The blending of one instance's layers.
pub(crate) struct Mix<'a, S: Lanes> {
    pub simd: S,
    pub sources: Sources<'a>,
    /// The units that vary; all others hold the base.
    pub varying: UnitSet,
    pub layers: &'a [LayerInput],
    pub actions: &'a [ActionInput],
    pub cursors: &'a [Cursor],
    /// The pool of the layers' offsets.
    pub offsets: Option<&'a Offsets>,
}

/// Runs code for every group of the units of a set.
macro_rules! each_group {
    ($mix:expr, $bits:expr, |$group:ident| $work:expr) => {{
        let mut bits: u64 = $bits;
        let units = &$mix.sources.program.units;
        while bits != 0 {
            let unit = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            let mut $group = unit << units.shift;
            loop {
                $work;
                $group += 1;
                // Most skeletons have one group to a unit.
                if $group >> units.shift != unit || $group == units.groups {
                    break;
                }
            }
        }
    }};
}

impl<'a, S: Lanes> Mix<'a, S> {
    /// Writes the pose of a clip that plays alone: only its tracks.
    #[inline(always)]
    pub fn alone(&self, clip: &ClipProgram, pose: &mut [f32]) {
        let keys = self.keys(clip, 0);
        let one = self.splat(1.0);
        for track in &clip.tracks[ROTATION] {
            let (q, _) = track.rotation(self.simd, &keys, one);
            self.put(pose, track.offset as usize, &q);
        }
        for channel in [TRANSLATION, SCALE] {
            for track in &clip.tracks[channel] {
                let v: [_; 3] = track.vector(self.simd, &keys);
                self.put(pose, track.offset as usize, &v);
            }
        }
    }

    /// Blends all layers into `pose`; `above` is scratch of the same size.
    #[inline(always)]
    pub fn blend(&self, pose: &mut [f32], above: &mut [f32]) {
        let mut covered = false;
        for layer in self.layers {
            let mut over = Over { mask: None, units: self.varying, still: UnitSet::default() };
            if let Some(LayerMask { mask: Some(mask), units, .. }) =
                self.sources.masks.get(layer.layer)
            {
                over.mask = Some(bytemuck::must_cast_slice(mask.rows()));
                over.units = over.units.and(units);
            }
            let replaces = !covered && self.sources.replaces(layer);
            if !covered && !replaces {
                self.rest(pose);
            }
            covered = true;
            let actions = &self.actions[layer.actions.clone()];
            if layer.additive {
                for action in actions {
                    self.outlined(Blend::Add, &over, action, pose);
                }
                continue;
            }
            let into = if replaces { &mut *pose } else { &mut *above };
            self.layer(layer, &mut over, actions, into);
            if let Some(offset) = &layer.offset {
                self.offset(offset, &over, into);
            }
            if !replaces {
                self.cover(layer.weight, &over, pose, above);
            }
        }
        if !covered {
            self.rest(pose);
        }
    }

    /// Writes the rest pose to all units that vary.
    #[inline(always)]
    fn rest(&self, pose: &mut [f32]) {
        let rest = self.sources.program.rest.pose();
        let units = &self.sources.program.units;
        each_group!(self, self.varying.0[ROTATION], |group| {
            let at = units.register(ROTATION, group) * S::f32s::LEN;
            self.put(pose, at, &self.get::<4>(rest, at));
        });
        for channel in [TRANSLATION, SCALE] {
            each_group!(self, self.varying.0[channel], |group| {
                let at = units.register(channel, group) * S::f32s::LEN;
                self.put(pose, at, &self.get::<3>(rest, at));
            });
        }
    }

    /// The weighted sum of a blending layer's actions and of the rest pose.
    #[inline(always)]
    fn layer(
        &self,
        layer: &LayerInput,
        over: &mut Over<'_>,
        actions: &[ActionInput],
        into: &mut [f32],
    ) {
        let Some((first, others)) = actions.split_first() else {
            return;
        };
        if others.is_empty() && layer.rest == 0.0 {
            self.outlined(Blend::Set, over, first, into);
            return;
        }
        if (2..=MAX_STILL).contains(&actions.len()) {
            // Units that no action moves need no sampling, and no choice between q and -q if all are near the base.
            let mut still = over.units;
            for clip in actions.iter().filter_map(|a| self.sources.clip(a.clip)) {
                for channel in [TRANSLATION, ROTATION, SCALE] {
                    still.0[channel] &= !clip.moving.0[channel];
                }
                still.0[ROTATION] &= clip.differences.near;
            }
            over.still = still;
        }
        self.outlined(Blend::First, over, first, into);
        for action in others {
            self.outlined(Blend::Join, over, action, into);
        }
        if over.still != UnitSet::default() {
            match actions {
                [a, b] => self.still([a, b], &over.still, into),
                [a, b, c] => self.still([a, b, c], &over.still, into),
                [a, b, c, d] => self.still([a, b, c, d], &over.still, into),
                _ => {}
            }
        }
        if layer.rest > 0.0 {
            self.join_rest(layer.rest, &over.units, into);
        }
    }

    /// The weighted sums of units that no action moves.
    #[inline(always)]
    fn still<const N: usize>(&self, actions: [&ActionInput; N], still: &UnitSet, pose: &mut [f32]) {
        let mut of = [self.sources.program.base.pose(); N];
        for (of, action) in of.iter_mut().zip(actions) {
            if let Some(clip) = self.sources.clip(action.clip) {
                *of = clip.constants.pose();
            }
        }
        let w = each!(self.splat(0.0); N; i => self.splat(actions[i].weight));
        let units = &self.sources.program.units;
        each_group!(self, still.0[ROTATION], |group| {
            let at = units.register(ROTATION, group) * S::f32s::LEN;
            self.put(pose, at, &self.weighted::<4, N>(&of, at, &w));
        });
        for channel in [TRANSLATION, SCALE] {
            each_group!(self, still.0[channel], |group| {
                let at = units.register(channel, group) * S::f32s::LEN;
                self.put(pose, at, &self.weighted::<3, N>(&of, at, &w));
            });
        }
    }

    #[inline(always)]
    fn weighted<const C: usize, const N: usize>(
        &self,
        of: &[&[f32]; N],
        at: usize,
        w: &[S::f32s; N],
    ) -> [S::f32s; C] {
        let first: [_; C] = self.get(of[0], at);
        let mut sum = blend::scaled(self.simd, &first, w[0]);
        let mut i = 1;
        while i < N {
            let next: [_; C] = self.get(of[i], at);
            sum = blend::join(self.simd, &sum, &next, w[i]);
            i += 1;
        }
        sum
    }

    /// Adds the rest pose's share to a weighted sum.
    #[inline(always)]
    fn join_rest(&self, share: f32, varying: &UnitSet, pose: &mut [f32]) {
        let w = self.splat(share);
        let rest = self.sources.program.rest.pose();
        let units = &self.sources.program.units;
        each_group!(self, varying.0[ROTATION], |group| {
            let at = units.register(ROTATION, group) * S::f32s::LEN;
            let q: [_; 4] = self.get(rest, at);
            let sum = align(self.simd, &self.get(pose, at), &q, w);
            self.put(pose, at, &sum);
        });
        for channel in [TRANSLATION, SCALE] {
            each_group!(self, varying.0[channel], |group| {
                let at = units.register(channel, group) * S::f32s::LEN;
                let v: [_; 3] = self.get(rest, at);
                let sum = blend::join(self.simd, &self.get(pose, at), &v, w);
                self.put(pose, at, &sum);
            });
        }
    }

    /// Blends `above` over `pose` by the layer's weight and mask.
    #[inline(always)]
    fn cover(&self, weight: f32, over: &Over<'_>, pose: &mut [f32], above: &[f32]) {
        let units = &self.sources.program.units;
        each_group!(self, over.units.0[ROTATION], |group| {
            let at = units.register(ROTATION, group) * S::f32s::LEN;
            let w = self.lane_weight(over.mask, weight, group * S::f32s::LEN);
            let below = unit(self.simd, &self.get(pose, at));
            let above = unit(self.simd, &self.get(above, at));
            let q = blend::cover_rotation(self.simd, &below, &above, w);
            self.put(pose, at, &q);
        });
        for channel in [TRANSLATION, SCALE] {
            each_group!(self, over.units.0[channel], |group| {
                let at = units.register(channel, group) * S::f32s::LEN;
                let w = self.lane_weight(over.mask, weight, group * S::f32s::LEN);
                let below: [_; 3] = self.get(pose, at);
                let v = blend::cover(self.simd, &below, &self.get(above, at), w);
                self.put(pose, at, &v);
            });
        }
    }

    /// [`action`](Self::action) out of line: each kind of blend has a copy of its loops, with all registers.
    #[inline(always)]
    fn outlined(&self, blend: Blend, over: &Over<'_>, action: &ActionInput, pose: &mut [f32]) {
        macro_rules! each_kind {
            ($($kind:ident)+) => {
                match blend {
                    $(Blend::$kind => out_of_line(
                        self.simd,
                        #[inline(always)]
                        || self.action(Blend::$kind, over, action, pose),
                    ),)+
                }
            };
        }
        each_kind!(Set First Join Add)
    }

    /// Blends one action into the units that vary, except those that are `still`.
    #[inline(always)]
    fn action(&self, blend: Blend, over: &Over<'_>, action: &ActionInput, pose: &mut [f32]) {
        let Some(clip) = self.sources.clip(action.clip) else {
            return;
        };
        let weight = action.weight;
        let keys = self.keys(clip, action.cursor as usize);
        let (w, one) = (self.splat(weight), self.splat(1.0));
        // An additive rotation is sampled at unit length; its weight is applied later, with the mask.
        let of_length = if blend == Blend::Add { one } else { w };
        let units = &self.sources.program.units;
        let width = S::f32s::LEN;
        // Constants that must be read: for an additive clip only those that differ from the neutral value.
        let constants = |channel: usize| {
            let of_clip = match blend {
                Blend::Add => clip.differences.units.0[channel],
                _ => u64::MAX,
            };
            over.units.0[channel] & of_clip & !clip.moving.0[channel] & !over.still.0[channel]
        };
        for track in &clip.tracks[ROTATION] {
            if over.mask.is_some() && !over.units.contains(ROTATION, track.unit) {
                continue;
            }
            let value = track.rotation(self.simd, &keys, of_length);
            let floats = self.floats::<4>(pose, track.offset as usize);
            self.rotation(blend, over.mask, weight, track.first as usize, value, floats);
        }
        each_group!(self, constants(ROTATION), |group| {
            let at = units.register(ROTATION, group) * S::f32s::LEN;
            let value = (self.get(keys.constants, at), of_length);
            let floats = self.floats::<4>(pose, at);
            self.rotation(blend, over.mask, weight, group * width, value, floats);
        });
        for channel in [TRANSLATION, SCALE] {
            for track in &clip.tracks[channel] {
                if over.mask.is_some() && !over.units.contains(channel, track.unit) {
                    continue;
                }
                let v = track.vector(self.simd, &keys);
                let lane = track.first as usize;
                let floats = self.floats::<3>(pose, track.offset as usize);
                self.vector((blend, channel), over.mask, weight, lane, v, floats);
            }
            each_group!(self, constants(channel), |group| {
                let at = units.register(channel, group) * S::f32s::LEN;
                let v: [_; 3] = self.get(keys.constants, at);
                let floats = self.floats::<3>(pose, at);
                self.vector((blend, channel), over.mask, weight, group * width, v, floats);
            });
        }
    }

    /// Blends a sampled rotation into the pose. `of_length` is its weight divided by its length.
    #[inline(always)]
    fn rotation(
        &self,
        blend: Blend,
        mask: Option<&[f32]>,
        weight: f32,
        lane: usize,
        (q, of_length): ([S::f32s; 4], S::f32s),
        floats: &mut [f32],
    ) {
        let simd = self.simd;
        let value = match blend {
            Blend::Set => q,
            Blend::First => blend::scaled(simd, &q, of_length),
            Blend::Join => align(simd, &self.read(floats), &q, of_length),
            Blend::Add => {
                let d = blend::scaled(simd, &q, of_length);
                let w = self.lane_weight(mask, weight, lane);
                blend::add_rotation(simd, &self.read(floats), &d, w)
            }
        };
        self.write(floats, &value);
    }

    /// Blends a sampled translation or scale into the pose.
    #[inline(always)]
    fn vector(
        &self,
        (blend, channel): (Blend, usize),
        mask: Option<&[f32]>,
        weight: f32,
        lane: usize,
        v: [S::f32s; 3],
        floats: &mut [f32],
    ) {
        let simd = self.simd;
        let value = match blend {
            Blend::Set => v,
            Blend::First => blend::scaled(simd, &v, self.splat(weight)),
            Blend::Join => blend::join(simd, &self.read(floats), &v, self.splat(weight)),
            Blend::Add => {
                let w = self.lane_weight(mask, weight, lane);
                match channel {
                    TRANSLATION => blend::join(simd, &self.read(floats), &v, w),
                    _ => blend::add_scale(simd, &self.read(floats), &v, w),
                }
            }
        };
        self.write(floats, &value);
    }
}

/// The lanes that a layer's actions apply to.
struct Over<'a> {
    /// Weights of the lanes; `None` for 1 everywhere.
    mask: Option<&'a [f32]>,
    /// The units that vary and in which the mask is not zero.
    units: UnitSet,
    /// The units that no action moves, if their constants are summed separately.
    still: UnitSet,
}

/// The largest number of actions of a layer for which constants are summed separately: each number has its own loop.
const MAX_STILL: usize = 4;
