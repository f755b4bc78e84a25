//! `Offsets`: differences between poses that decay, of the layers of many instances, in a pool of parts.
//!
//! ```text
//! parts   | channel, block, lanes, next | …   a part: one channel of 16 lanes, of which some differ; an offset's are linked
//! rows    | x | y | z | rate | …              4 rows per part: the offset per lane, and how fast it decays
//! ```
//!
//! Of rotations x, y, z are half of an angle about an axis, of scalars x alone is used. The rate is −v0/x0, see
//! `kernel/decay.rs`. Registers of any width take their lanes of each row. Blocks in which nothing differs have no part.

use super::tables::{SCALE, UnitSet, Units};
use crate::math::{LANES, Row};
use crate::simd::prefetch;

/// The largest size of the offsets of one rig's instances that decay at once, in bytes: 65,536 parts of 16 joints each.
/// An inertial fade between clips that turn the joints of a character with 47, and move its hips, takes 4 of them, so
/// some 16,000 such fades can run.
pub const MAX_INERTIAL_BYTES: usize = 1 << 24;

/// Rows of a part.
pub(crate) const OFFSET_ROWS: usize = 4;
/// Bytes of a part.
const PART_BYTES: usize = OFFSET_ROWS * size_of::<Row>();
/// Marks the end of a list of parts.
const END: u32 = u32::MAX;
/// The least number of parts by which the pool grows.
const LEAST: usize = 64;
/// The number of the scalars among channels, after those of joints.
pub(crate) const SCALARS: usize = SCALE + 1;

/// An offset as the evaluation of a layer reads it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OffsetInput {
    pub id: OffsetId,
    /// Seconds since it began, and 1 over the seconds of the whole fade.
    pub seconds: f32,
    pub inverse: f32,
}

/// An offset of a pool. A number that is used again has another `born`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OffsetId {
    /// Index of the first part.
    first: u32,
    born: u32,
}

/// A part of an offset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OffsetPart<'a> {
    /// The channel of joints, or [`SCALARS`].
    pub channel: usize,
    /// Index of the group of 16 lanes, or of 16 scalars.
    pub block: usize,
    /// The lanes that differ, as bits.
    pub lanes: u16,
    pub rows: &'a [Row; OFFSET_ROWS],
}

#[derive(Clone, Copy, Debug)]
struct Head {
    next: u32,
    /// Of the first part of an offset the number by which it is known; 0 if the part is not a first one.
    born: u32,
    block: u16,
    /// The lanes of the block that differ, as bits.
    lanes: u16,
    channel: u8,
}

/// The offsets of a pool's instances.
#[derive(Clone, Debug)]
pub(crate) struct Offsets {
    heads: Vec<Head>,
    rows: Vec<[Row; OFFSET_ROWS]>,
    /// The first free part.
    free: u32,
    used: usize,
    last_born: u32,
    /// The largest number of parts.
    pub limit: usize,
}

impl Default for Offsets {
    fn default() -> Self {
        let limit = MAX_INERTIAL_BYTES / PART_BYTES;
        Self { heads: Vec::new(), rows: Vec::new(), free: END, used: 0, last_born: 0, limit }
    }
}

impl PartialEq for Offsets {
    /// Whether as many parts are used. Their contents are compared by those who hold them.
    fn eq(&self, other: &Self) -> bool {
        self.used == other.used
    }
}

impl Offsets {
    /// Whether nothing decays.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Bytes of the parts in use.
    pub fn bytes(&self) -> usize {
        self.used * PART_BYTES
    }

    /// The parts of an offset; none if it has ended.
    pub fn parts(&self, id: OffsetId) -> impl Iterator<Item = OffsetPart<'_>> + Clone {
        let known = self.heads.get(id.first as usize).is_some_and(|h| h.born == id.born);
        let mut at = if known { id.first } else { END };
        std::iter::from_fn(move || {
            let head = self.heads.get(at as usize)?;
            let rows = &self.rows[at as usize];
            at = head.next;
            let (channel, block) = (head.channel.into(), head.block.into());
            Some(OffsetPart { channel, block, lanes: head.lanes, rows })
        })
    }

    /// Whether two offsets have the same parts.
    pub fn same(&self, id: OffsetId, other: &Self, of: OffsetId) -> bool {
        let all = |part: OffsetPart<'_>| (part.channel, part.block, *part.rows);
        self.parts(id).map(all).eq(other.parts(of).map(all))
    }

    /// Begins an offset without parts. [`push`](Self::push) adds them.
    pub fn begin(&mut self) -> NewOffset {
        // Zero marks parts that begin nothing.
        self.last_born = self.last_born.wrapping_add(1).max(1);
        NewOffset { born: self.last_born, first: END, last: END }
    }

    /// Adds a part to a new offset. Returns false if the pool is full.
    pub fn push(
        &mut self,
        of: &mut NewOffset,
        (channel, block): (usize, usize),
        rows: &[Row; OFFSET_ROWS],
    ) -> bool {
        let Some(at) = self.take() else {
            return false;
        };
        let born = if of.first == END { of.born } else { 0 };
        let differs = |&lane: &usize| rows[..3].iter().any(|row| row.0[lane] != 0.0);
        let lanes = (0..LANES).filter(differs).fold(0, |lanes, lane| lanes | 1 << lane);
        // Joints and scalars are fewer than 2^20.
        self.heads[at as usize] =
            Head { next: END, born, block: block as u16, lanes, channel: channel as u8 };
        self.rows[at as usize] = *rows;
        match self.heads.get_mut(of.last as usize) {
            Some(last) => last.next = at,
            None => of.first = at,
        }
        of.last = at;
        true
    }

    fn take(&mut self) -> Option<u32> {
        if self.used >= self.limit {
            return None;
        }
        self.used += 1;
        if let Some(free) = self.heads.get(self.free as usize) {
            return Some(std::mem::replace(&mut self.free, free.next));
        }
        if self.heads.len() == self.heads.capacity() {
            // Doubling would leave up to half unused.
            let more = (self.heads.len() / 8).max(LEAST);
            self.heads.reserve_exact(more);
            self.rows.reserve_exact(more);
        }
        self.heads.push(Head { next: END, born: 0, block: 0, lanes: 0, channel: 0 });
        self.rows.push([Row::splat(0.0); OFFSET_ROWS]);
        Some((self.heads.len() - 1) as u32)
    }

    /// Frees the parts of an offset.
    pub fn free(&mut self, id: OffsetId) {
        let known = self.heads.get(id.first as usize).is_some_and(|h| h.born == id.born);
        let mut at = if known { id.first } else { END };
        while let Some(head) = self.heads.get_mut(at as usize) {
            let next = head.next;
            (head.next, head.born) = (self.free, 0);
            self.free = at;
            self.used -= 1;
            at = next;
        }
    }

    /// The units of joints that differ, and one more than the last lane of one. Reads the parts into the caches: whoever
    /// asks applies them soon.
    pub fn reach(&self, id: OffsetId, units: &Units) -> (UnitSet, usize) {
        let (mut set, mut end) = (UnitSet::default(), 0);
        // The width is a power of two.
        let (shift, of_group) = (units.width.trailing_zeros(), (1u32 << units.width) - 1);
        for part in self.parts(id).filter(|part| part.channel != SCALARS) {
            prefetch(part.rows);
            end = end.max(part.end());
            let mut lanes = u32::from(part.lanes);
            let mut group = part.block << (LANES.trailing_zeros() - shift);
            while lanes != 0 {
                if lanes & of_group != 0 {
                    set.insert(part.channel, group as u32 >> units.shift);
                }
                (lanes, group) = (lanes >> units.width, group + 1);
            }
        }
        (set, end)
    }

    /// One more than the last lane of joints that differ.
    pub fn lanes(&self, id: OffsetId) -> usize {
        let joints = self.parts(id).filter(|part| part.channel != SCALARS);
        joints.map(|part| part.end()).max().unwrap_or(0)
    }
}

impl OffsetPart<'_> {
    /// One more than the last lane that differs.
    #[inline(always)]
    fn end(&self) -> usize {
        self.block * LANES + (u16::BITS - self.lanes.leading_zeros()) as usize
    }
}

/// An offset that is being made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewOffset {
    born: u32,
    first: u32,
    last: u32,
}

impl NewOffset {
    /// The offset; `None` if it has no parts.
    pub fn finish(self) -> Option<OffsetId> {
        (self.first != END).then_some(OffsetId { first: self.first, born: self.born })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::tables::ROTATION;

    #[test]
    fn parts_are_used_again_and_an_ended_offset_has_none() {
        let mut offsets = Offsets { limit: 5, ..Offsets::default() };
        let make = |offsets: &mut Offsets, parts: usize, value: f32| {
            let mut new = offsets.begin();
            let rows = [Row::splat(value); OFFSET_ROWS];
            let whole = (0..parts).all(|block| offsets.push(&mut new, (1, block), &rows));
            (new.finish(), whole)
        };
        let (Some(a), true) = make(&mut offsets, 2, 1.0) else { panic!() };
        let (Some(b), true) = make(&mut offsets, 3, 2.0) else { panic!() };
        assert_eq!((offsets.bytes(), offsets.lanes(b)), (5 * 256, 48));
        assert_eq!(make(&mut offsets, 1, 3.0), (None, false));
        let twin = offsets.clone();
        offsets.free(a);
        offsets.free(a);
        assert_eq!((offsets.parts(a).count(), offsets.used), (0, 3));
        let (Some(c), true) = make(&mut offsets, 2, 4.0) else { panic!() };
        // The number is a's, the offset is not.
        assert!(offsets.parts(a).next().is_none() && offsets.parts(c).count() == 2);
        assert!(offsets.same(b, &twin, b) && !offsets.same(c, &twin, a));
        assert_eq!(offsets.heads.len(), 5);
        [b, c].into_iter().for_each(|id| offsets.free(id));
        assert!(offsets.is_empty());
        assert_eq!(make(&mut offsets, 0, 0.0), (None, true));
    }

    #[test]
    fn an_offset_reaches_the_groups_of_the_lanes_that_differ() {
        let mut offsets = Offsets::default();
        let mut new = offsets.begin();
        let mut rows = [Row::splat(0.0); OFFSET_ROWS];
        // A rate alone is no difference.
        rows[3] = Row::splat(1.0);
        (rows[1].0[5], rows[2].0[9]) = (1.0, -1.0);
        assert!(offsets.push(&mut new, (ROTATION, 2), &rows));
        rows[2].0[9] = 0.0;
        assert!(offsets.push(&mut new, (SCALARS, 9), &rows));
        let id = new.finish().unwrap();
        let set = |bits: u64| {
            let mut set = UnitSet::default();
            set.0[ROTATION] = bits;
            set
        };
        for (width, bits) in [(4, 0b110 << 8), (8, 0b11 << 4), (16, 0b1 << 2)] {
            assert_eq!(offsets.reach(id, &Units::new(64, width)), (set(bits), 42), "{width}");
        }
        // Units of two groups.
        assert_eq!(offsets.reach(id, &Units::new(512, 4)), (set(0b11 << 4), 42));
        assert_eq!(offsets.lanes(id), 42);
    }
}
