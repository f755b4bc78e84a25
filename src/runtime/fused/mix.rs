//! Sampling and blending of one instance: action by action through all slots that it moves, so that
//! the registers of one slot need not wait for those of another.

use super::LayerShare;
use crate::clip::Cursor;
use crate::math::{LANES, Row};
use crate::runtime::plan::{GroupMask, Plan, PlanLayer, Slot, Still, Track, TrackKind};
use crate::runtime::quat::{
    self, add_turn, align, dot4, from_steps, hermite, inverse_length, lerp, packed_lerp,
    packed_slerp, slerp, weight_of_square,
};
use crate::runtime::sample::Keys;
use crate::simd::{Lanes, apart, each};
use fearless_simd::prelude::*;
use std::ops::Range;

/// Places of the channels in a plan.
const TRANSLATION: usize = 0;
const ROTATION: usize = 1;
const SCALE: usize = 2;

/// What becomes of a sampled value: it is the layer's only one,
const SET: u8 = 0;
/// it starts a weighted sum,
const FIRST: u8 = 1;
/// it joins one,
const JOIN: u8 = 2;
/// or it is a difference to the pose.
const ADD: u8 = 3;

pub(super) struct Mix<'a, S: Lanes> {
    pub simd: S,
    pub plan: &'a Plan,
    pub shares: &'a [LayerShare],
    pub weights: &'a [f32],
    pub cursors: &'a [Cursor],
}

impl<S: Lanes> Mix<'_, S> {
    #[inline(always)]
    fn splat(&self, v: f32) -> S::f32s {
        S::f32s::splat(self.simd, v)
    }

    /// A group's lanes of `C` rows.
    #[inline(always)]
    fn load<const C: usize>(&self, rows: &[Row], first: usize, lane: u8) -> [S::f32s; C] {
        let rows = &rows[first..first + C];
        // The mask changes nothing; it shows the compiler that the slice lies within the row.
        let at = usize::from(lane) & (LANES - S::f32s::LEN);
        each!(self.splat(0.0); C; c => {
            S::f32s::from_slice(self.simd, &rows[c].0[at..at + S::f32s::LEN])
        })
    }

    #[inline(always)]
    pub fn fixed<const C: usize>(&self, first: u32, lane: u8) -> [S::f32s; C] {
        self.load(&self.plan.rows, first as usize, lane)
    }

    /// `C` registers of a pose.
    #[inline(always)]
    pub fn get<const C: usize>(&self, pose: &[f32], register: u32) -> [S::f32s; C] {
        let (n, at) = (S::f32s::LEN, register as usize);
        self.read(&pose[at * n..(at + C) * n])
    }

    #[inline(always)]
    fn put<const C: usize>(&self, pose: &mut [f32], register: u32, v: &[S::f32s; C]) {
        self.write(self.place::<C>(pose, register), v);
    }

    /// The floats of `C` registers, checked once for reading and writing.
    #[inline(always)]
    fn place<'p, const C: usize>(&self, pose: &'p mut [f32], register: u32) -> &'p mut [f32] {
        let (n, at) = (S::f32s::LEN, register as usize);
        &mut pose[at * n..(at + C) * n]
    }

    #[inline(always)]
    fn read<const C: usize>(&self, place: &[f32]) -> [S::f32s; C] {
        let n = S::f32s::LEN;
        each!(self.splat(0.0); C; c => S::f32s::from_slice(self.simd, &place[c * n..(c + 1) * n]))
    }

    #[inline(always)]
    fn write<const C: usize>(&self, place: &mut [f32], v: &[S::f32s; C]) {
        let n = S::f32s::LEN;
        let mut c = 0;
        while c < C {
            v[c].store_slice(&mut place[c * n..(c + 1) * n]);
            c += 1;
        }
    }

    /// Blends all layers into `pose`; `above` is scratch of the same size.
    #[inline(always)]
    pub fn blend(&self, pose: &mut [f32], above: &mut [f32]) {
        let mut covered = false;
        for (layer, share) in self.plan.layers.iter().zip(self.shares) {
            let replaces = !covered && !layer.additive && !layer.masked && share.weight >= 1.0;
            if !covered && !replaces {
                self.rest(pose);
            }
            covered = true;
            let into = match layer.additive || replaces {
                true => &mut *pose,
                false => &mut *above,
            };
            let Range { start, end } = layer.actions;
            for action in start..end {
                // A copy of the loop per mode: one for all was up to 5% slower.
                if layer.additive {
                    apart(
                        self.simd,
                        #[inline(always)]
                        || self.action::<ADD>(action, into),
                    );
                } else if action > start {
                    self.action::<JOIN>(action, into);
                } else if end == start + 1 && share.rest == 0.0 {
                    self.action::<SET>(action, into);
                } else {
                    self.action::<FIRST>(action, into);
                }
            }
            if layer.additive {
                continue;
            }
            match self.weights[start..end] {
                [a, b] => self.still(layer, [a, b], into),
                [a, b, c] => self.still(layer, [a, b, c], into),
                [a, b, c, d] => self.still(layer, [a, b, c, d], into),
                _ => {}
            }
            if share.rest > 0.0 {
                self.join_rest(share.rest, into);
            }
            if !replaces {
                self.cover(layer, share, pose, above);
            }
        }
        if !covered {
            self.rest(pose);
        }
    }

    #[inline(always)]
    fn rest(&self, pose: &mut [f32]) {
        for slot in &self.plan.slots[ROTATION] {
            self.put::<4>(pose, slot.register, &self.fixed(slot.rest, slot.lane));
        }
        for channel in [TRANSLATION, SCALE] {
            for slot in &self.plan.slots[channel] {
                self.put::<3>(pose, slot.register, &self.fixed(slot.rest, slot.lane));
            }
        }
    }

    /// The weighted sums of slots that no action of a layer moves.
    #[inline(always)]
    fn still<const N: usize>(&self, layer: &PlanLayer, weights: [f32; N], pose: &mut [f32]) {
        let w = each!(self.splat(0.0); N; i => self.splat(weights[i]));
        for still in &self.plan.still[layer.still[ROTATION].clone()] {
            self.put(pose, still.register, &self.weighted::<4, N>(still, &w));
        }
        for channel in [TRANSLATION, SCALE] {
            for still in &self.plan.still[layer.still[channel].clone()] {
                self.put(pose, still.register, &self.weighted::<3, N>(still, &w));
            }
        }
    }

    #[inline(always)]
    fn weighted<const C: usize, const N: usize>(
        &self,
        still: &Still,
        w: &[S::f32s; N],
    ) -> [S::f32s; C] {
        let rows = &self.plan.rows[still.row as usize..still.row as usize + C * N];
        let first: [_; C] = self.load(rows, 0, still.lane);
        let mut sum = each!(w[0]; C; c => first[c] * w[0]);
        let mut i = 1;
        while i < N {
            let next: [_; C] = self.load(rows, i * C, still.lane);
            sum = each!(w[0]; C; c => next[c].mul_add(w[i], sum[c]));
            i += 1;
        }
        sum
    }

    /// Adds the rest pose's share to a weighted sum.
    #[inline(always)]
    fn join_rest(&self, share: f32, pose: &mut [f32]) {
        let w = self.splat(share);
        for slot in &self.plan.slots[ROTATION] {
            let sum = self.get(pose, slot.register);
            let rest = self.fixed(slot.rest, slot.lane);
            self.put(pose, slot.register, &align(self.simd, &sum, &rest, w));
        }
        for channel in [TRANSLATION, SCALE] {
            for slot in &self.plan.slots[channel] {
                let sum: [_; 3] = self.get(pose, slot.register);
                let rest: [_; 3] = self.fixed(slot.rest, slot.lane);
                let sum = each!(w; 3; c => rest[c].mul_add(w, sum[c]));
                self.put(pose, slot.register, &sum);
            }
        }
    }

    /// Lays `above` over `pose` by the layer's weight and mask.
    #[inline(always)]
    fn cover(&self, layer: &PlanLayer, share: &LayerShare, pose: &mut [f32], above: &[f32]) {
        let one = self.splat(1.0);
        let weight = |mask: GroupMask, slot: &Slot| self.lane_weight(mask, share.weight, slot.lane);
        for (slot, &mask) in self.plan.slots[ROTATION].iter().zip(&layer.masks[ROTATION]) {
            if mask == GroupMask::Nothing {
                continue;
            }
            let w = weight(mask, slot);
            let below = quat::unit(self.simd, &self.get(pose, slot.register));
            let above = quat::unit(self.simd, &self.get(above, slot.register));
            let kept = each!(w; 4; c => below[c] * (one - w));
            self.put(pose, slot.register, &align(self.simd, &kept, &above, w));
        }
        for channel in [TRANSLATION, SCALE] {
            for (slot, &mask) in self.plan.slots[channel].iter().zip(&layer.masks[channel]) {
                if mask == GroupMask::Nothing {
                    continue;
                }
                let w = weight(mask, slot);
                let below: [_; 3] = self.get(pose, slot.register);
                let above: [_; 3] = self.get(above, slot.register);
                let v = each!(w; 3; c => above[c].mul_add(w, below[c] * (one - w)));
                self.put(pose, slot.register, &v);
            }
        }
    }

    /// Weight × mask.
    #[inline(always)]
    fn lane_weight(&self, mask: GroupMask, weight: f32, lane: u8) -> S::f32s {
        let w = self.splat(weight);
        match mask {
            GroupMask::Row(at) => {
                let [m] = self.fixed::<1>(at, lane);
                m * w
            }
            GroupMask::Whole => w,
            GroupMask::Nothing => self.splat(0.0),
        }
    }

    /// Takes one action through all slots that it moves.
    #[inline(always)]
    fn action<const MODE: u8>(&self, action: usize, pose: &mut [f32]) {
        let weight = self.weights[action];
        let action = &self.plan.actions[action];
        let clip = Keys::of(&action.clip);
        let (w, one) = (self.splat(weight), self.splat(1.0));
        for track in &self.plan.tracks[action.tracks[ROTATION].clone()] {
            // An additive weight takes part on its own, with the mask.
            let of_length = if MODE == ADD { one } else { w };
            let (q, of_length) = self.sample4(&clip, track, of_length);
            let place = self.place::<4>(pose, track.register);
            let value = match MODE {
                SET => q,
                FIRST => each!(w; 4; c => q[c] * of_length),
                JOIN => align(self.simd, &self.read(place), &q, of_length),
                _ => {
                    let d = each!(w; 4; c => q[c] * of_length);
                    let w = self.lane_weight(track.mask, weight, track.lane);
                    add_turn(self.simd, &self.read(place), &d, w)
                }
            };
            self.write(place, &value);
        }
        for channel in [TRANSLATION, SCALE] {
            for track in &self.plan.tracks[action.tracks[channel].clone()] {
                let v = self.sample3(&clip, track);
                let place = self.place::<3>(pose, track.register);
                let value = match MODE {
                    SET => v,
                    FIRST => each!(w; 3; c => v[c] * w),
                    JOIN => {
                        let sum: [_; 3] = self.read(place);
                        each!(w; 3; c => v[c].mul_add(w, sum[c]))
                    }
                    _ => {
                        let below: [_; 3] = self.read(place);
                        let w = self.lane_weight(track.mask, weight, track.lane);
                        if channel == TRANSLATION {
                            each!(w; 3; c => v[c].mul_add(w, below[c]))
                        } else {
                            each!(w; 3; c => below[c] * (v[c] - one).mul_add(w, one))
                        }
                    }
                };
                self.write(place, &value);
            }
        }
    }

    /// The way between the keys, per lane.
    #[inline(always)]
    fn alpha(&self, track: &Track, cursor: Cursor) -> S::f32s {
        let alpha = self.splat(cursor.alpha);
        if track.hold == 0 {
            return alpha;
        }
        let held = if cursor.alpha >= 1.0 { 1.0 } else { 0.0 };
        S::mask32s::from_bitmask(self.simd, u64::from(track.hold)).select(self.splat(held), alpha)
    }

    #[inline(always)]
    fn spline<const C: usize>(&self, clip: &[Row], track: &Track, cursor: Cursor) -> [S::f32s; C] {
        let t = self.alpha(track, cursor);
        let at = track.row as usize + cursor.key as usize * 3 * C;
        let keys = &clip[at + C..at + 5 * C];
        let part = each!([t; C]; 4; i => self.load(keys, i * C, track.lane));
        hermite(self.simd, part, t)
    }

    /// The integers of a key and of the next, as floats.
    #[inline(always)]
    fn packed_keys<const C: usize>(
        &self,
        clip: &Keys<'_>,
        track: &Track,
        cursor: Cursor,
    ) -> [[S::f32s; C]; 2] {
        let at = cursor.key as usize * C * usize::from(track.stride);
        let keys = &clip.packed[track.integer as usize + at..];
        self.simd.widen_keys(keys, track.stride)
    }

    /// The least values and the steps of a packed track.
    #[inline(always)]
    fn ranges<const C: usize>(&self, clip: &Keys<'_>, track: &Track) -> ([S::f32s; C], S::f32s) {
        let first = track.row as usize;
        let ranges = &clip.rows[first..first + C + 1];
        let [step] = self.load(ranges, C, track.lane);
        (self.load(ranges, 0, track.lane), step)
    }

    #[inline(always)]
    fn packed_lerp<const C: usize>(
        &self,
        clip: &Keys<'_>,
        track: &Track,
        cursor: Cursor,
    ) -> [S::f32s; C] {
        let [a, b] = self.packed_keys(clip, track, cursor);
        let k = packed_lerp(self.simd, &a, &b, self.alpha(track, cursor));
        let (least, step) = self.ranges(clip, track);
        from_steps(self.simd, &least, step, &k)
    }

    /// Samples a translation or a scale.
    #[inline(always)]
    fn sample3(&self, clip: &Keys<'_>, track: &Track) -> [S::f32s; 3] {
        if track.kind == TrackKind::Fixed {
            return self.fixed(track.row, track.lane);
        }
        let cursor = self.cursors[track.cursor as usize];
        if track.kind == TrackKind::Cubic {
            return self.spline(clip.rows, track, cursor);
        }
        if track.kind == TrackKind::Packed {
            return self.packed_lerp(clip, track, cursor);
        }
        let at = track.row as usize + cursor.key as usize * 3;
        let two = &clip.rows[at..at + 6];
        let (a, b) = (self.load(two, 0, track.lane), self.load(two, 3, track.lane));
        lerp(self.simd, &a, &b, self.alpha(track, cursor))
    }

    /// Samples a rotation, as the interpolation leaves it, and a weight that makes up for its length.
    #[inline(always)]
    fn sample4(&self, clip: &Keys<'_>, track: &Track, w: S::f32s) -> ([S::f32s; 4], S::f32s) {
        let one = self.splat(1.0);
        if track.kind == TrackKind::Fixed {
            return (self.fixed(track.row, track.lane), w);
        }
        let cursor = self.cursors[track.cursor as usize];
        if track.kind == TrackKind::Cubic {
            let q = quat::guard(self.simd, self.spline(clip.rows, track, cursor));
            return (q, one / dot4(&q, &q).sqrt() * w);
        }
        if track.kind == TrackKind::Packed {
            let q = self.packed_lerp(clip, track, cursor);
            return (q, weight_of_square(self.simd, dot4(&q, &q), w));
        }
        if track.kind == TrackKind::PackedSlerp {
            let [a, b] = self.packed_keys(clip, track, cursor);
            let (least, step) = self.ranges(clip, track);
            let k = packed_slerp(self.simd, &a, &b, step, self.alpha(track, cursor));
            let q = from_steps(self.simd, &least, step, &k);
            return (q, weight_of_square(self.simd, dot4(&q, &q), w));
        }
        let at = track.row as usize + cursor.key as usize * 4;
        let two = &clip.rows[at..at + 8];
        let (a, b) = (self.load(two, 0, track.lane), self.load(two, 4, track.lane));
        let t = self.alpha(track, cursor);
        let e = one - dot4(&a, &b);
        let t = match track.kind {
            TrackKind::Slerp => slerp(self.simd, e, t),
            _ => t,
        };
        let weight = inverse_length(self.simd, e, t) * w;
        (lerp(self.simd, &a, &b, t), weight)
    }
}
