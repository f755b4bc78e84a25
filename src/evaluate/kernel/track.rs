//! `Track`: one channel of a group of lanes of a clip, and the only decoder of its keys.

use super::quat::{
    dot4, from_steps, guard, hermite, inverse_length, lerp, packed_lerp, packed_slerp, slerp,
    weight_of_square,
};
use crate::clip::timeline::{locate_hinted, locate_regular};
use crate::clip::{Block, BlockKind, Channel, Clip, Cursor, Encoding};
use crate::math::{LANES, Row};
use crate::simd::{Lanes, each, prefetch};
use fearless_simd::prelude::*;

/// Source and interpolation of a track's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrackKind {
    /// Constants of the clip, at the register of the pose.
    Fixed,
    /// Rows of the clip; rotations lie so close that lerp needs no correction.
    Linear,
    /// Rows of the clip; rotations follow the great circle.
    Slerp,
    /// Rows of the clip with tangents.
    Cubic,
    /// `Linear` over integers; `row` is the first row of their ranges.
    Packed,
    /// `Slerp` over integers.
    PackedSlerp,
}

/// One channel of a group: the lanes of a block that fit into one register.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Track {
    /// Index of the track's first row in the clip.
    row: u32,
    /// Index of the group's first integer in the clip's packed keys, for packed kinds.
    integer: u32,
    /// Distance between the integers of two components, for packed kinds.
    stride: u8,
    kind: TrackKind,
    /// The group's first lane within the block.
    lane: u8,
    /// The group's first lane and its unit in the skeleton.
    pub first: u32,
    pub unit: u32,
    /// Index of the track's cursor among the clip's cursors, one per timeline.
    cursor: u32,
    /// The first float of the group's channel in a pose.
    pub offset: u32,
    /// Lanes of the group that hold a key's value until the next (bit 0: its first lane).
    hold: u16,
}

/// The tables from which a clip's tracks are sampled, looked up once.
#[derive(Clone, Copy)]
pub(crate) struct Keys<'a> {
    pub rows: &'a [Row],
    pub packed: &'a [u16],
    /// The clip's constants, in the registers of a pose, for `Fixed` tracks.
    pub constants: &'a [f32],
    pub cursors: &'a [Cursor],
}

impl Track {
    /// The track of a clip in the group of `width` lanes from `first` on; [`TrackKind::Fixed`] if the clip moves none of
    /// them.
    pub fn new(clip: &Clip, channel: Channel, first: usize, width: usize) -> Self {
        let (block, lane) = (first / LANES, first % LANES);
        let lanes = (u32::from(u16::MAX) >> (LANES - width)) << lane;
        let moves = |b: &&Block| u32::from(b.moving) & lanes != 0 && b.kind != BlockKind::Constant;
        let own = clip.block_at(channel, block).filter(moves);
        Self::of_block(own.unwrap_or(&Block::constant(0, 0)), channel, lane, width)
    }

    /// The track of a stored block, in the group of `width` lanes from `lane` of the block on.
    #[inline(always)]
    pub fn of_block(b: &Block, channel: Channel, lane: usize, width: usize) -> Self {
        let mut track = Self {
            row: b.first_row,
            integer: 0,
            stride: 0,
            kind: match b.kind {
                BlockKind::Constant => TrackKind::Fixed,
                BlockKind::Cubic => TrackKind::Cubic,
                BlockKind::Slerp if channel == Channel::Rotation => TrackKind::Slerp,
                _ => TrackKind::Linear,
            },
            lane: lane as u8,
            first: 0,
            unit: 0,
            cursor: b.timeline,
            offset: 0,
            hold: (u32::from(b.hold) >> lane & ((1 << width) - 1)) as u16,
        };
        if let Encoding::Packed { first, lanes } = b.encoding {
            track.integer = first + lane as u32;
            track.stride = lanes;
            track.kind = match track.kind {
                TrackKind::Slerp => TrackKind::PackedSlerp,
                _ => TrackKind::Packed,
            };
        }
        track
    }

    /// The track with its offset in a pose.
    pub fn at(self, offset: usize, first: usize, unit: u32) -> Self {
        Self { offset: offset as u32, first: first as u32, unit, ..self }
    }

    /// Prefetches a key and the next. `components` is the number of components of the channel.
    #[inline(always)]
    pub fn prefetch(&self, clip: &Clip, components: usize, key: usize) {
        let row = self.row as usize;
        match self.kind {
            TrackKind::Fixed => {}
            TrackKind::Packed | TrackKind::PackedSlerp => {
                let of_key = components * usize::from(self.stride);
                let first = self.integer as usize + key * of_key;
                prefetch(clip.packed().get(first..first + 2 * of_key).unwrap_or_default());
                prefetch(clip.rows().get(row..=row + components).unwrap_or_default());
            }
            _ => {
                let of_key = match self.kind {
                    TrackKind::Cubic => 3 * components,
                    _ => components,
                };
                let first = row + key * of_key;
                prefetch(clip.rows().get(first..first + 2 * of_key).unwrap_or_default());
            }
        }
    }

    /// The index of the track's timeline in the clip.
    #[inline(always)]
    pub fn timeline(&self) -> usize {
        self.cursor as usize
    }

    /// The interpolation parameter per lane; for lanes that hold it is 0 until the last key is reached.
    #[inline(always)]
    fn alpha<S: Lanes>(&self, simd: S, cursor: Cursor) -> S::f32s {
        let alpha = S::f32s::splat(simd, cursor.alpha);
        if self.hold == 0 {
            return alpha;
        }
        let held = if cursor.alpha >= 1.0 { 1.0 } else { 0.0 };
        let lanes = S::mask32s::from_bitmask(simd, u64::from(self.hold));
        lanes.select(S::f32s::splat(simd, held), alpha)
    }

    #[inline(always)]
    fn spline<S: Lanes, const C: usize>(
        &self,
        simd: S,
        keys: &Keys<'_>,
        cursor: Cursor,
    ) -> [S::f32s; C] {
        let t = self.alpha(simd, cursor);
        let at = self.row as usize + cursor.key as usize * 3 * C;
        let rows = &keys.rows[at + C..at + 5 * C];
        let part = each!([t; C]; 4; i => load(simd, rows, i * C, self.lane));
        hermite(simd, part, t)
    }

    /// The integers of a key and of the next, as floats. Lanes that are not stored read any integer; their step is 0.
    #[inline(always)]
    fn packed_keys<S: Lanes, const C: usize>(
        &self,
        simd: S,
        keys: &Keys<'_>,
        cursor: Cursor,
    ) -> [[S::f32s; C]; 2] {
        let at = cursor.key as usize * C * usize::from(self.stride);
        simd.widen_keys(&keys.packed[self.integer as usize + at..], self.stride)
    }

    /// The least values and the steps of a packed track.
    #[inline(always)]
    fn ranges<S: Lanes, const C: usize>(
        &self,
        simd: S,
        keys: &Keys<'_>,
    ) -> ([S::f32s; C], S::f32s) {
        let first = self.row as usize;
        let ranges = &keys.rows[first..first + C + 1];
        let [step] = load(simd, ranges, C, self.lane);
        (load(simd, ranges, 0, self.lane), step)
    }

    #[inline(always)]
    fn packed_lerp<S: Lanes, const C: usize>(
        &self,
        simd: S,
        keys: &Keys<'_>,
        cursor: Cursor,
    ) -> [S::f32s; C] {
        let [a, b] = self.packed_keys(simd, keys, cursor);
        let k = packed_lerp(simd, &a, &b, self.alpha(simd, cursor));
        let (least, step) = self.ranges(simd, keys);
        from_steps(simd, &least, step, &k)
    }

    /// Samples a translation, a scale or scalars.
    #[inline(always)]
    pub fn vector<S: Lanes, const C: usize>(&self, simd: S, keys: &Keys<'_>) -> [S::f32s; C] {
        if self.kind == TrackKind::Fixed {
            return get(simd, keys.constants, self.offset as usize);
        }
        let cursor = keys.cursors[self.cursor as usize];
        if self.kind == TrackKind::Cubic {
            return self.spline(simd, keys, cursor);
        }
        if self.kind == TrackKind::Packed {
            return self.packed_lerp(simd, keys, cursor);
        }
        let at = self.row as usize + cursor.key as usize * C;
        let two = &keys.rows[at..at + 2 * C];
        let (a, b) = (load(simd, two, 0, self.lane), load(simd, two, C, self.lane));
        lerp(simd, &a, &b, self.alpha(simd, cursor))
    }

    /// Samples a rotation without normalising it; returns it and `w` over its length.
    #[inline(always)]
    pub fn rotation<S: Lanes>(
        &self,
        simd: S,
        keys: &Keys<'_>,
        w: S::f32s,
    ) -> ([S::f32s; 4], S::f32s) {
        let one = S::f32s::splat(simd, 1.0);
        if self.kind == TrackKind::Fixed {
            return (get(simd, keys.constants, self.offset as usize), w);
        }
        let cursor = keys.cursors[self.cursor as usize];
        if self.kind == TrackKind::Cubic {
            let q = guard(simd, self.spline(simd, keys, cursor));
            return (q, one / dot4(&q, &q).sqrt() * w);
        }
        if self.kind == TrackKind::Packed {
            let q = self.packed_lerp(simd, keys, cursor);
            return (q, weight_of_square(simd, dot4(&q, &q), w));
        }
        if self.kind == TrackKind::PackedSlerp {
            let [a, b] = self.packed_keys(simd, keys, cursor);
            let (least, step) = self.ranges(simd, keys);
            let k = packed_slerp(simd, &a, &b, step, self.alpha(simd, cursor));
            let q = from_steps(simd, &least, step, &k);
            return (q, weight_of_square(simd, dot4(&q, &q), w));
        }
        let at = self.row as usize + cursor.key as usize * 4;
        let two = &keys.rows[at..at + 8];
        let (a, b) = (load(simd, two, 0, self.lane), load(simd, two, 4, self.lane));
        let t = self.alpha(simd, cursor);
        let e = one - dot4(&a, &b);
        let t = match self.kind {
            TrackKind::Slerp => slerp(simd, e, t),
            _ => t,
        };
        let weight = inverse_length(simd, e, t) * w;
        (lerp(simd, &a, &b, t), weight)
    }
}

/// Finds the interval of `time` on every timeline of the clip.
#[inline(always)]
pub(crate) fn locate_all(clip: &Clip, time: f32, hints: &mut [u16], cursors: &mut [Cursor]) {
    for (timeline, cursor) in clip.timelines.iter().zip(cursors) {
        let times = clip.times(timeline);
        *cursor = match timeline.hint {
            None => locate_regular(times, timeline.rate, time),
            Some(slot) => locate_hinted(times, &mut hints[usize::from(slot)], time),
        };
    }
}

/// `C` registers of a pose.
#[inline(always)]
pub(crate) fn get<S: Lanes, const C: usize>(simd: S, pose: &[f32], at: usize) -> [S::f32s; C] {
    let n = S::f32s::LEN;
    let floats = &pose[at..][..C * n];
    each!(S::f32s::splat(simd, 0.0); C; c => S::f32s::from_slice(simd, &floats[c * n..(c + 1) * n]))
}

/// A group's lanes of `C` rows.
#[inline(always)]
pub(crate) fn load<S: Lanes, const C: usize>(
    simd: S,
    rows: &[Row],
    first: usize,
    lane: u8,
) -> [S::f32s; C] {
    let rows = &rows[first..first + C];
    // The mask changes nothing; it shows the compiler that the slice lies within the row.
    let at = usize::from(lane) & (LANES - S::f32s::LEN);
    each!(S::f32s::splat(simd, 0.0); C; c => {
        S::f32s::from_slice(simd, &rows[c].0[at..at + S::f32s::LEN])
    })
}
