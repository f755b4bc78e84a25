//! `Keys`: the stored keys of a block. This file and the decoder into registers (`kernel::track`) are the places that
//! know how an encoding lays out its keys; a new encoding is added to both, and to the coder of files.
//!
//! ```text
//! f32 rows, other kinds   key 0: x y z w | key 1: x y z w | …                 a row of 16 lanes each
//! f32 rows, cubic         key 0: in x y z w, value x y z w, out x y z w | …
//! 16-bit keys, rows       least x y z w, step
//! 16-bit keys, integers   key 0: lanes of x, of y, of z, of w | key 1 …       as many lanes as are stored
//! ```

use super::block::{Block, BlockKind, Channel};
use super::clip_data::{Clip, ClipParts};
use super::encoding::Encoding;
use crate::math::{LANES, Row};

impl BlockKind {
    /// Rows per key of this kind.
    pub const fn rows_per_key(self, channel: Channel) -> usize {
        match self {
            Self::Cubic => 3 * channel.components(),
            _ => channel.components(),
        }
    }
}

/// What a key stores of a lane. All but splines store the value alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    In,
    Value,
    Out,
}

/// Numbers of rows and integers that a block stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub rows: usize,
    pub integers: usize,
}

impl Extent {
    /// The extent of a block with so many keys.
    pub const fn new(channel: Channel, b: &Block, keys: usize) -> Self {
        let width = channel.components();
        match b.encoding {
            Encoding::Float => Self {
                rows: keys * b.kind.rows_per_key(channel),
                integers: 0,
            },
            Encoding::Packed { lanes, .. } => Self {
                rows: width + 1,
                integers: keys * width * lanes as usize,
            },
        }
    }
}

/// A number as it is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Stored {
    Float(f32),
    /// `least + step × integer`.
    Integer {
        least: f32,
        step: f32,
        integer: u16,
    },
}

impl Stored {
    #[inline(always)]
    pub fn f32(self) -> f32 {
        match self {
            Self::Float(v) => v,
            Self::Integer {
                least,
                step,
                integer,
            } => least + step * f32::from(integer),
        }
    }

    #[inline(always)]
    pub fn f64(self) -> f64 {
        match self {
            Self::Float(v) => v.into(),
            Self::Integer {
                least,
                step,
                integer,
            } => f64::from(least) + f64::from(step) * f64::from(integer),
        }
    }
}

/// Least values and steps, from the rows of a packed block.
pub(super) fn ranges(rows: &[Row]) -> Option<(&[Row], &Row)> {
    let (step, least) = rows.split_last()?;
    Some((least, step))
}

/// A component of a key in all lanes.
pub(crate) type Lanes = [f32; LANES];

/// The keys of a block.
#[derive(Clone, Copy)]
pub(crate) struct Keys<'a> {
    channel: Channel,
    kind: BlockKind,
    count: usize,
    rows: &'a [Row],
    /// Integers and number of stored lanes of a packed block.
    packed: Option<(&'a [u16], usize)>,
}

impl Clip {
    /// The keys of one of its blocks.
    pub(crate) fn keys(&self, channel: Channel, b: &Block) -> Keys<'_> {
        Keys::new(channel, b, self.keys_of(b), &self.rows, &self.packed)
    }
}

impl ClipParts {
    /// Number of keys of one of its blocks.
    pub(crate) fn keys_of(&self, b: &Block) -> usize {
        match b.kind {
            BlockKind::Constant => 1,
            _ => self.timelines[b.timeline as usize].len(),
        }
    }

    /// The keys of one of its blocks, whose references must have been checked.
    pub(crate) fn keys(&self, channel: Channel, b: &Block) -> Keys<'_> {
        Keys::new(channel, b, self.keys_of(b), &self.rows, &self.packed)
    }
}

impl<'a> Keys<'a> {
    fn new(channel: Channel, b: &Block, count: usize, rows: &'a [Row], packed: &'a [u16]) -> Self {
        let extent = Extent::new(channel, b, count);
        Self {
            channel,
            kind: b.kind,
            count,
            rows: &rows[b.first_row as usize..][..extent.rows],
            packed: match b.encoding {
                Encoding::Float => None,
                Encoding::Packed { first, lanes } => {
                    let integers = &packed[first as usize..][..extent.integers];
                    Some((integers, usize::from(lanes)))
                }
            },
        }
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Its rows: of keys, or of the ranges of integers.
    #[cfg(feature = "phx")]
    pub fn rows(&self) -> &'a [Row] {
        self.rows
    }

    /// Its integers, and the lanes stored of each component.
    #[cfg(feature = "phx")]
    pub fn integers(&self) -> Option<(&'a [u16], usize)> {
        self.packed
    }

    /// One component of a part of a key. Only splines have tangents; of others it is the value.
    #[inline(always)]
    pub fn number(&self, key: usize, part: Part, component: usize, lane: usize) -> Stored {
        match self.packed {
            None => Stored::Float(
                self.rows[row_of(self.channel, self.kind, key, part) + component].0[lane],
            ),
            Some((integers, lanes)) => {
                let width = self.channel.components();
                let least = self.rows[component].0[lane];
                if lane >= lanes {
                    return Stored::Float(least);
                }
                Stored::Integer {
                    least,
                    step: self.rows[width].0[lane],
                    integer: integers[(key * width + component) * lanes + lane],
                }
            }
        }
    }

    /// A part of a key in f32. Components that the channel lacks are 0.
    #[inline(always)]
    pub fn get(&self, key: usize, part: Part, lane: usize) -> [f32; 4] {
        let mut out = [0.0; 4];
        for (c, v) in out.iter_mut().enumerate().take(self.channel.components()) {
            *v = self.number(key, part, c, lane).f32();
        }
        out
    }

    /// A part of a key in f64. Components that the channel lacks are 0.
    #[inline(always)]
    pub fn get_f64(&self, key: usize, part: Part, lane: usize) -> [f64; 4] {
        let mut out = [0.0; 4];
        for (c, v) in out.iter_mut().enumerate().take(self.channel.components()) {
            *v = self.number(key, part, c, lane).f64();
        }
        out
    }

    /// The values of a lane, key by key.
    pub fn values(self, lane: usize) -> impl ExactSizeIterator<Item = [f32; 4]> + 'a {
        (0..self.count).map(move |key| self.get(key, Part::Value, lane))
    }

    /// The values of a key of rotations in all lanes.
    #[inline(always)]
    pub fn rotations(&self, key: usize) -> [Lanes; 4] {
        let Some((integers, lanes)) = self.packed else {
            let first = row_of(self.channel, self.kind, key, Part::Value);
            let rows = &self.rows[first..first + 4];
            return [rows[0].0, rows[1].0, rows[2].0, rows[3].0];
        };
        let mut q = [0, 1, 2, 3].map(|c: usize| self.rows[c].0);
        let step = &self.rows[4].0;
        let key = &integers[key * 4 * lanes..][..4 * lanes];
        for (q, key) in q.iter_mut().zip(key.chunks_exact(lanes)) {
            for ((v, step), &integer) in q.iter_mut().zip(step).zip(key) {
                *v += step * f32::from(integer);
            }
        }
        q
    }

    /// The lanes that change over the keys.
    pub fn moving(&self) -> u16 {
        match self.packed {
            None => moving_floats(self.rows, self.kind, self.channel),
            Some((integers, lanes)) => {
                let width = self.channel.components();
                moving_integers(&self.rows[width], integers, lanes, width)
            }
        }
    }
}

/// Keys of f32 rows that are written.
pub(crate) struct FloatKeys<'a> {
    channel: Channel,
    kind: BlockKind,
    rows: &'a mut [Row],
}

impl<'a> FloatKeys<'a> {
    /// Appends keys that all have the values of `still`, and tangents of 0.
    pub fn append(
        rows: &'a mut Vec<Row>,
        (channel, kind): (Channel, BlockKind),
        still: &[Row],
        count: usize,
    ) -> Self {
        let first = rows.len();
        let tangents = (kind.rows_per_key(channel) - channel.components()) / 2;
        for _ in 0..count {
            rows.extend(std::iter::repeat_n(Row::splat(0.0), tangents));
            rows.extend_from_slice(still);
            rows.extend(std::iter::repeat_n(Row::splat(0.0), tangents));
        }
        Self {
            channel,
            kind,
            rows: &mut rows[first..],
        }
    }

    /// Sets a part of a key.
    pub fn set(&mut self, key: usize, part: Part, lane: usize, value: &[f32; 4]) {
        let width = self.channel.components();
        let first = row_of(self.channel, self.kind, key, part);
        for (row, v) in self.rows[first..first + width].iter_mut().zip(value) {
            row.0[lane] = *v;
        }
    }
}

/// Keys of 16-bit integers that are written.
pub(crate) struct PackedKeys {
    width: usize,
    lanes: usize,
    /// Least values and steps.
    ranges: Vec<Row>,
    integers: Vec<u16>,
}

impl PackedKeys {
    /// Keys that all have the values of `still`, with room for integers of the first `lanes` lanes.
    pub fn new(still: &[Row], count: usize, lanes: usize) -> Self {
        let mut ranges = still.to_vec();
        ranges.push(Row::splat(0.0));
        Self {
            width: still.len(),
            lanes,
            ranges,
            integers: vec![0; count * still.len() * lanes],
        }
    }

    /// Sets the range of a component of a lane; the step is that of all its components.
    pub fn set_range(&mut self, component: usize, lane: usize, least: f32, step: f32) {
        self.ranges[component].0[lane] = least;
        self.ranges[self.width].0[lane] = step;
    }

    pub fn set(&mut self, key: usize, component: usize, lane: usize, integer: u16) {
        self.integers[(key * self.width + component) * self.lanes + lane] = integer;
    }

    /// Appends the keys to the parts of a clip.
    pub fn append(self, parts: &mut ClipParts) -> Encoding {
        parts.rows.to_mut().extend_from_slice(&self.ranges);
        let all = parts.packed.to_mut();
        let first = all.len() as u32;
        all.extend_from_slice(&self.integers);
        Encoding::Packed {
            first,
            lanes: self.lanes as u8,
        }
    }
}

/// The first row of a part of a key, among f32 rows.
#[inline(always)]
fn row_of(channel: Channel, kind: BlockKind, key: usize, part: Part) -> usize {
    let part = match (kind, part) {
        (BlockKind::Cubic, Part::Value) => 1,
        (BlockKind::Cubic, Part::Out) => 2,
        _ => 0,
    };
    key * kind.rows_per_key(channel) + part * channel.components()
}

/// The lanes of f32 rows that change over the keys.
fn moving_floats(rows: &[Row], kind: BlockKind, channel: Channel) -> u16 {
    let width = channel.components();
    let per_key = kind.rows_per_key(channel);
    let values = match kind {
        BlockKind::Cubic => width..2 * width,
        _ => 0..width,
    };
    let mut moving = [0u32; LANES];
    for key in rows.chunks_exact(per_key) {
        for (part, (row, first)) in key.iter().zip(rows).enumerate() {
            // The tangents of a lane that does not move are zero.
            let still = if values.contains(&part) {
                first.0
            } else {
                [0.0; LANES]
            };
            for (moving, (v, still)) in moving.iter_mut().zip(row.0.iter().zip(still)) {
                *moving |= u32::from(*v != still);
            }
        }
    }
    let bits = moving.iter().enumerate();
    bits.fold(0, |all, (l, &moving)| all | (moving as u16) << l)
}

/// Keys that are compared between checks for an early exit.
const KEYS_AT_ONCE: usize = 4;

/// The lanes of integers that change over the keys.
fn moving_integers(steps: &Row, packed: &[u16], lanes: usize, width: usize) -> u16 {
    let bits =
        |of: &dyn Fn(usize) -> bool| (0..lanes).fold(0, |all, l| all | u16::from(of(l)) << l);
    let stepping = bits(&|l| steps.0[l] != 0.0);
    let mut moving = 0;
    let (first, later) = packed.split_at(width * lanes);
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
