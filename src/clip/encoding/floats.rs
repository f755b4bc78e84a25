//! Keys as rows of f32.

use super::super::block::{BlockKind, Channel};
use super::{Extent, Keys, Lanes, Part};
use crate::math::{LANES, Row, settle};

impl BlockKind {
    /// Rows per key of this kind.
    pub(crate) const fn rows_per_key(self, channel: Channel) -> usize {
        match self {
            Self::Cubic => 3 * channel.components(),
            _ => channel.components(),
        }
    }

    /// The row of a key in which its value begins. In-tangents take the rows before the value, out-tangents the rows
    /// after.
    pub(crate) const fn row_of_value(self, channel: Channel) -> usize {
        (self.rows_per_key(channel) - channel.components()) / 2
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Floats<'a> {
    pub channel: Channel,
    pub kind: BlockKind,
    pub rows: &'a [Row],
}

impl Floats<'_> {
    pub const fn extent(channel: Channel, kind: BlockKind, keys: usize) -> Extent {
        Extent { rows: keys * kind.rows_per_key(channel), integers: 0 }
    }

    pub fn len(&self) -> usize {
        self.rows.len() / self.kind.rows_per_key(self.channel)
    }

    #[inline(always)]
    pub fn f32(&self, key: usize, part: Part, component: usize, lane: usize) -> f32 {
        self.rows[row_of(self.channel, self.kind, key, part) + component].0[lane]
    }

    #[inline(always)]
    pub fn rotations(&self, key: usize) -> [Lanes; 4] {
        let first = row_of(self.channel, self.kind, key, Part::Value);
        let rows = &self.rows[first..first + 4];
        [rows[0].0, rows[1].0, rows[2].0, rows[3].0]
    }

    /// The lanes that change over the keys.
    pub fn moving(&self) -> u16 {
        let width = self.channel.components();
        let per_key = self.kind.rows_per_key(self.channel);
        let values = self.kind.row_of_value(self.channel);
        let mut moving = [0u32; LANES];
        for key in self.rows.chunks_exact(per_key) {
            for (part, (row, first)) in key.iter().zip(self.rows).enumerate() {
                // The tangents of a lane that does not move are zero.
                let still =
                    if (values..values + width).contains(&part) { first.0 } else { [0.0; LANES] };
                for (moving, (v, still)) in moving.iter_mut().zip(row.0.iter().zip(still)) {
                    *moving |= u32::from(*v != still);
                }
            }
        }
        let bits = moving.iter().enumerate();
        bits.fold(0, |all, (l, &moving)| all | (moving as u16) << l)
    }
}

/// Keys of f32 rows that are being written.
pub(crate) struct FloatKeys<'a> {
    channel: Channel,
    kind: BlockKind,
    rows: &'a mut [Row],
}

impl<'a> FloatKeys<'a> {
    /// Appends keys that all have the values of `still`, with tangents of 0.
    pub fn append(
        rows: &'a mut Vec<Row>,
        (channel, kind): (Channel, BlockKind),
        still: &[Row],
        count: usize,
    ) -> Self {
        let first = rows.len();
        let tangents = kind.row_of_value(channel);
        for _ in 0..count {
            rows.extend(std::iter::repeat_n(Row::splat(0.0), tangents));
            rows.extend_from_slice(still);
            rows.extend(std::iter::repeat_n(Row::splat(0.0), tangents));
        }
        Self { channel, kind, rows: &mut rows[first..] }
    }

    pub fn set(&mut self, key: usize, part: Part, lane: usize, value: &[f32; 4]) {
        let width = self.channel.components();
        let first = row_of(self.channel, self.kind, key, part);
        for (row, v) in self.rows[first..first + width].iter_mut().zip(value) {
            row.0[lane] = *v;
        }
    }

    /// Sets the tangents of a spline's key from its derivatives per second, before it and after it. `times` are the key
    /// times. Components up to `noise` become 0: the squares of such tangents are denormals.
    pub fn set_tangents(
        &mut self,
        (key, lane): (usize, usize),
        times: &[f32],
        derivatives: [[f64; 4]; 2],
        noise: f32,
    ) {
        let time = |k: Option<usize>| k.and_then(|k| times.get(k)).copied().map(f64::from);
        let ends = [key.checked_sub(1), Some(key), Some(key + 1)].map(time);
        for (i, part) in [Part::In, Part::Out].into_iter().enumerate() {
            let interval = ends[i].zip(ends[i + 1]).map_or(0.0, |(a, b)| b - a);
            let tangent = derivatives[i].map(|v| settle((v * interval) as f32, noise));
            self.set(key, part, lane, &tangent);
        }
    }

    /// Copies a lane of keys of the same kind, in any encoding: 16-bit keys are exact in f32.
    pub fn copy(&mut self, l: usize, from: &Keys<'_>, lane: usize) {
        let Keys::Floats(from) = from else {
            for (key, value) in from.values(lane).enumerate() {
                self.set(key, Part::Value, l, &value);
            }
            return;
        };
        for (to, from) in self.rows.iter_mut().zip(from.rows) {
            to.0[l] = from.0[lane];
        }
    }
}

/// The first row of a part of a key.
#[inline(always)]
fn row_of(channel: Channel, kind: BlockKind, key: usize, part: Part) -> usize {
    let value = kind.row_of_value(channel);
    let row = match part {
        Part::In => 0,
        Part::Value => value,
        Part::Out => 2 * value,
    };
    key * kind.rows_per_key(channel) + row
}
