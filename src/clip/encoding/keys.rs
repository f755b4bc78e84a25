//! `Keys`: the keys of a block, whatever their encoding.

use super::super::block::{Block, Channel};
use super::super::clip_data::Clip;
use super::Encoding;
use super::floats::Floats;
use super::packed::Packed;
use crate::math::{LANES, Row};

/// A part of a lane in a key. Only splines store tangents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    In,
    Value,
    Out,
}

/// A component of a key in all lanes.
pub(crate) type Lanes = [f32; LANES];

#[derive(Clone, Copy)]
pub(crate) enum Keys<'a> {
    Floats(Floats<'a>),
    Packed(Packed<'a>),
}

impl Clip {
    pub(crate) fn keys(&self, channel: Channel, b: &Block) -> Keys<'_> {
        Keys::new(channel, b, self.keys_of(b), &self.rows, &self.packed)
    }
}

impl<'a> Keys<'a> {
    fn new(channel: Channel, b: &Block, count: usize, rows: &'a [Row], packed: &'a [u16]) -> Self {
        let extent = b.encoding.extent(channel, b.kind, count);
        let rows = &rows[b.first_row as usize..][..extent.rows];
        match b.encoding {
            Encoding::Float => Self::Floats(Floats { channel, kind: b.kind, rows }),
            Encoding::Packed { first, lanes } => Self::Packed(Packed {
                width: channel.components(),
                lanes: lanes.into(),
                ranges: rows,
                integers: &packed[first as usize..][..extent.integers],
            }),
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Self::Floats(keys) => keys.len(),
            Self::Packed(keys) => keys.len(),
        }
    }

    /// A part of a key in f32. Kinds without tangents return the value for every part. Components that the channel lacks
    /// are 0.
    #[inline(always)]
    pub fn get(&self, key: usize, part: Part, lane: usize) -> [f32; 4] {
        match self {
            Self::Floats(keys) => {
                components(keys.channel.components(), |c| keys.f32(key, part, c, lane))
            }
            Self::Packed(keys) => components(keys.width, |c| keys.f32(key, c, lane)),
        }
    }

    /// The same as [`get`](Self::get), in f64.
    #[inline(always)]
    pub fn get_f64(&self, key: usize, part: Part, lane: usize) -> [f64; 4] {
        match self {
            Self::Floats(_) => self.get(key, part, lane).map(f64::from),
            Self::Packed(keys) => components(keys.width, |c| keys.f64(key, c, lane)),
        }
    }

    /// The values of a lane, key by key.
    pub fn values(self, lane: usize) -> impl ExactSizeIterator<Item = [f32; 4]> + 'a {
        (0..self.len()).map(move |key| self.get(key, Part::Value, lane))
    }

    /// The values of a key of rotations in all lanes.
    #[inline(always)]
    pub fn rotations(&self, key: usize) -> [Lanes; 4] {
        match self {
            Self::Floats(keys) => keys.rotations(key),
            Self::Packed(keys) => keys.rotations(key),
        }
    }

    /// The lanes that change over the keys.
    pub fn moving(&self) -> u16 {
        match self {
            Self::Floats(keys) => keys.moving(),
            Self::Packed(keys) => keys.moving(),
        }
    }
}

/// The components of a value; 0 where the channel has none.
#[inline(always)]
fn components<T: Default + Copy>(width: usize, of: impl Fn(usize) -> T) -> [T; 4] {
    std::array::from_fn(|c| if c < width { of(c) } else { T::default() })
}
