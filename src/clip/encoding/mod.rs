//! `Encoding`: the storage of a block's keys. Each encoding has a type that sizes, checks and reads its keys, and one
//! that writes them: `floats.rs`, `packed.rs`. Outside this folder only the decoder into registers
//! (`evaluate/kernel/track.rs`) and the coder of files (`format::codec`) know a layout; the baker chooses which blocks are
//! packed.
//!
//! ```text
//! f32 rows, other kinds   key 0: x y z w | key 1: x y z w | …                 a row of 16 lanes each
//! f32 rows, cubic         key 0: in x y z w, value x y z w, out x y z w | …
//! 16-bit keys, rows       least x y z w, step
//! 16-bit keys, integers   key 0: lanes of x, of y, of z, of w | key 1 …       as many lanes as are stored
//! ```

mod floats;
mod keys;
mod packed;

pub(crate) use floats::FloatKeys;
pub(crate) use keys::{Keys, Lanes, Part};
pub(crate) use packed::{PACKED_END, PackedKeys};

use super::block::{BlockKind, Channel};
use super::clip_data::ClipParts;
use crate::math::Row;
use floats::Floats;
use packed::Packed;

/// How the keys of a block are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Rows of f32.
    #[default]
    Float,
    /// 16-bit integers: a value is `least + step × integer`. The block's rows hold the ranges: one row of
    /// least values per component, then one row of steps. Only for [`Linear`](super::BlockKind::Linear)
    /// and [`Slerp`](super::BlockKind::Slerp) blocks.
    Packed {
        /// Index of the first integer of the first key.
        first: u32,
        /// Lanes stored per component, 1 to 16: up to the last one that moves. Later lanes have step 0.
        lanes: u8,
    },
}

/// Numbers of rows and integers that a block stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    pub rows: usize,
    pub integers: usize,
}

impl Extent {
    pub const fn bytes(self) -> usize {
        let rows = self.rows.saturating_mul(size_of::<Row>());
        rows.saturating_add(self.integers.saturating_mul(size_of::<u16>()))
    }
}

impl std::iter::Sum for Extent {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            rows: sum.rows.saturating_add(one.rows),
            integers: sum.integers.saturating_add(one.integers),
        })
    }
}

/// The first fault of a block's references: its name, the number needed, and the number present.
type Checked = Result<(), (&'static str, usize, usize)>;

impl Encoding {
    /// Rows and integers that `keys` keys take.
    pub(crate) const fn extent(self, channel: Channel, kind: BlockKind, keys: usize) -> Extent {
        match self {
            Self::Float => Floats::extent(channel, kind, keys),
            Self::Packed { lanes, .. } => Packed::extent(channel, lanes, keys),
        }
    }

    /// The encoding in files and hashes: lanes stored as integers (0 for rows of f32), and the first integer.
    pub(crate) const fn numbers(self) -> (u8, u32) {
        match self {
            Self::Float => (0, 0),
            Self::Packed { first, lanes } => (lanes, first),
        }
    }

    /// The encoding of [`numbers`](Self::numbers).
    #[cfg(feature = "phx")]
    pub(crate) const fn of_numbers((lanes, first): (u8, u32)) -> Self {
        match lanes {
            0 => Self::Float,
            _ => Self::Packed { first, lanes },
        }
    }

    /// Checks the block's own rows and its integers, of which `have` are stored: readers of keys rely on it.
    pub(super) fn check(self, kind: BlockKind, own: (&[Row], usize), have: usize) -> Checked {
        match self {
            Self::Float => Ok(()),
            Self::Packed { first, lanes } => Packed::check(kind, (first, lanes), own, have),
        }
    }

    /// The first lane whose keys may exceed a limit although its rows do not, and the largest magnitude.
    pub(super) fn beyond(self, rows: &[Row], limit: f32) -> Option<(usize, f32)> {
        match self {
            Self::Float => None,
            Self::Packed { .. } => Packed::beyond(rows, limit),
        }
    }

    /// The encoding that keeps all lanes of a block bit for bit: integers if all lanes are packed, otherwise f32, in which
    /// packed keys are exact. Lanes ascend.
    pub(super) fn of_lanes(mut lanes: impl Iterator<Item = (usize, Self)>) -> Self {
        let last = lanes.try_fold(0, |_, (l, one)| (one != Self::Float).then_some(l as u8));
        last.map_or(Self::Float, |last| Self::Packed { first: 0, lanes: last + 1 })
    }

    /// Appends keys that all have the values of `still`, except in `lanes`: each is copied from a lane of other keys of the
    /// same number.
    pub(super) fn append<'k>(
        self,
        parts: &mut ClipParts,
        (channel, kind): (Channel, BlockKind),
        still: &[Row],
        count: usize,
        lanes: impl Iterator<Item = (usize, (Keys<'k>, usize))>,
    ) -> Self {
        match self {
            Self::Float => {
                let rows = &mut parts.rows;
                let mut new = FloatKeys::append(rows, (channel, kind), still, count);
                lanes.for_each(|(l, (had, lane))| new.copy(l, &had, lane));
                self
            }
            Self::Packed { lanes: stored, .. } => {
                let mut new = PackedKeys::new(still, count, stored.into());
                lanes.for_each(|(l, (had, lane))| new.copy(l, &had, lane));
                new.append(parts)
            }
        }
    }
}
