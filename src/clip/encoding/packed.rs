//! Keys as 16-bit integers.

use super::super::block::{BlockKind, Channel};
use super::super::clip_data::ClipParts;
use super::super::lattice::MAX_MULTIPLE;
use super::{Checked, Encoding, Extent, Keys, Lanes};
use crate::math::{LANES, Row, within};

/// Limit on the steps in the range of a packed lane.
const MAX_STEPS: f64 = 65_000.0;

/// Zeros at the end of a clip's integers, because the last block is read in whole rows too.
pub(crate) const PACKED_END: usize = LANES;

#[derive(Clone, Copy)]
pub(crate) struct Packed<'a> {
    pub width: usize,
    /// Number of lanes stored of each component.
    pub lanes: usize,
    /// Rows of least values, then a row of steps.
    pub ranges: &'a [Row],
    pub integers: &'a [u16],
}

impl Packed<'_> {
    pub const fn extent(channel: Channel, lanes: u8, keys: usize) -> Extent {
        let width = channel.components();
        Extent { rows: width + 1, integers: keys * width * lanes as usize }
    }

    pub fn check(
        kind: BlockKind,
        (first, lanes): (u32, u8),
        (ranges, integers): (&[Row], usize),
        have: usize,
    ) -> Checked {
        let lanes = usize::from(lanes);
        if !matches!(kind, BlockKind::Linear | BlockKind::Slerp) {
            return Err(("packed keys of the kind", kind as usize, 0));
        }
        if lanes == 0 || lanes > LANES {
            return Err(("packed lane", lanes, LANES));
        }
        let steps = ranges.last().map_or([0.0; LANES], |row| row.0);
        if let Some(l) = (lanes..LANES).find(|&l| steps[l] != 0.0) {
            return Err(("step of lane", l, lanes));
        }
        // A read takes a whole row from any component of the last key.
        match (first as usize).saturating_add(integers + LANES - lanes) {
            end if end > have => Err(("packed key", end, have)),
            _ => Ok(()),
        }
    }

    /// Any integer may occur, so the whole range of each lane must be within the limit.
    pub fn beyond(ranges: &[Row], limit: f32) -> Option<(usize, f32)> {
        let (steps, least) = ranges.split_last()?;
        let farthest = |l: usize| {
            let least = least.iter().map(|r| r.0[l].abs()).fold(0.0, f32::max);
            (l, least + steps.0[l].abs() * f32::from(u16::MAX))
        };
        (0..LANES).map(farthest).find(|f| !within(f.1, limit))
    }

    pub fn len(&self) -> usize {
        self.integers.len() / (self.width * self.lanes)
    }

    /// The integer of a component, if its lane is stored, with the lane's least value and step.
    #[inline(always)]
    fn number(&self, key: usize, c: usize, lane: usize) -> (Option<u16>, f32, f32) {
        let at = (key * self.width + c) * self.lanes + lane;
        let integer = (lane < self.lanes).then(|| self.integers[at]);
        let [least, step] = [c, self.width].map(|row| self.ranges[row].0[lane]);
        (integer, least, step)
    }

    #[inline(always)]
    pub fn f32(&self, key: usize, component: usize, lane: usize) -> f32 {
        let (integer, least, step) = self.number(key, component, lane);
        integer.map_or(least, |integer| least + step * f32::from(integer))
    }

    #[inline(always)]
    pub fn f64(&self, key: usize, component: usize, lane: usize) -> f64 {
        let (integer, least, step) = self.number(key, component, lane);
        let of = |integer| f64::from(least) + f64::from(step) * f64::from(integer);
        integer.map_or(least.into(), of)
    }

    #[inline(always)]
    pub fn rotations(&self, key: usize) -> [Lanes; 4] {
        let mut q = [0, 1, 2, 3].map(|c: usize| self.ranges[c].0);
        let step = &self.ranges[4].0;
        let key = &self.integers[key * 4 * self.lanes..][..4 * self.lanes];
        for (q, key) in q.iter_mut().zip(key.chunks_exact(self.lanes)) {
            for ((v, step), &integer) in q.iter_mut().zip(step).zip(key) {
                *v += step * f32::from(integer);
            }
        }
        q
    }

    /// The lanes that change over the keys.
    pub fn moving(&self) -> u16 {
        /// Keys that are compared between checks for an early exit.
        const KEYS_AT_ONCE: usize = 4;
        let (lanes, width) = (self.lanes, self.width);
        let bits =
            |of: &dyn Fn(usize) -> bool| (0..lanes).fold(0, |all, l| all | u16::from(of(l)) << l);
        let stepping = bits(&|l| self.ranges[width].0[l] != 0.0);
        let mut moving = 0;
        let (first, later) = self.integers.split_at(width * lanes);
        let mut differs = [0u16; 4 * LANES];
        for keys in later.chunks(KEYS_AT_ONCE * width * lanes) {
            for key in keys.chunks_exact(width * lanes) {
                for (differs, (a, b)) in differs.iter_mut().zip(first.iter().zip(key)) {
                    *differs |= a ^ b;
                }
            }
            moving = bits(&|l| (0..width).any(|c| differs[c * lanes + l] != 0)) & stepping;
            if moving == stepping {
                break;
            }
        }
        moving
    }
}

impl ClipParts {
    /// Appends the zeros at the end of the integers, if there are any.
    pub(crate) fn end_packed(&mut self) {
        if !self.packed.is_empty() {
            let end = self.packed.len() + PACKED_END;
            self.packed.resize(end, 0);
        }
    }
}

/// Keys of 16-bit integers that are being written.
pub(crate) struct PackedKeys {
    width: usize,
    lanes: usize,
    /// Rows of least values, then a row of steps.
    ranges: Vec<Row>,
    integers: Vec<u16>,
}

impl PackedKeys {
    /// Keys that all have the values of `still`, with room for the integers of the first `lanes` lanes.
    pub fn new(still: &[Row], count: usize, lanes: usize) -> Self {
        let mut ranges = still.to_vec();
        ranges.push(Row::splat(0.0));
        Self { width: still.len(), lanes, ranges, integers: vec![0; count * still.len() * lanes] }
    }

    /// Number of lanes that are stored: up to the last one that moves.
    pub fn lanes(moving: u16) -> usize {
        LANES - moving.leading_zeros() as usize
    }

    /// Whether 16 bits and the lattice can hold the range of a lane at this step.
    pub fn fits(low: f64, high: f64, step: f64) -> bool {
        (high - low) / step <= MAX_STEPS && low.abs().max(high.abs()) / step < MAX_MULTIPLE
    }

    /// Sets the range of a component of a lane; all its components share the step.
    pub fn set_range(&mut self, component: usize, lane: usize, least: f32, step: f32) {
        self.ranges[component].0[lane] = least;
        self.ranges[self.width].0[lane] = step;
    }

    pub fn set(&mut self, key: usize, component: usize, lane: usize, integer: u16) {
        self.integers[(key * self.width + component) * self.lanes + lane] = integer;
    }

    /// Copies a lane of packed keys that moves.
    pub fn copy(&mut self, l: usize, from: &Keys<'_>, lane: usize) {
        let Keys::Packed(from) = from else { return };
        for (key, c) in (0..from.len()).flat_map(|k| (0..from.width).map(move |c| (k, c))) {
            let (integer, least, step) = from.number(key, c, lane);
            self.set_range(c, l, least, step);
            self.set(key, c, l, integer.unwrap_or_default());
        }
    }

    /// Appends the keys to the parts of a clip.
    pub fn append(self, parts: &mut ClipParts) -> Encoding {
        parts.rows.extend_from_slice(&self.ranges);
        let all = &mut parts.packed;
        let first = all.len() as u32;
        all.extend_from_slice(&self.integers);
        Encoding::Packed { first, lanes: self.lanes as u8 }
    }
}
