//! Codes the blocks of a channel, lane by lane.

use super::super::write::code_of;
use super::ReadError;
use super::clip_coder::ClipCoder;
use super::model::{Bit, Number};
use super::range::Coder;
use super::residuals::MAX_WIDTH;
use super::values::{Lane, LaneModels};
use crate::clip::{Block, BlockKind, Channel, Encoding};
use crate::math::LANES;
use std::ops::Range;

/// Kinds of blocks, in the order of their numbers in files.
pub(in crate::format) const KINDS: [BlockKind; 4] =
    [BlockKind::Constant, BlockKind::Linear, BlockKind::Slerp, BlockKind::Cubic];

/// Models of the blocks of a channel.
pub(super) struct BlockModels {
    present: Bit,
    kind: [Bit; 3],
    packed: Bit,
    holds: Bit,
    timeline: Number,
    /// True if a lane of integers moves.
    steps: Bit,
    lanes: LaneModels,
}

impl BlockModels {
    pub fn new() -> Self {
        Self {
            present: Bit::EVEN,
            kind: [Bit::EVEN; 3],
            packed: Bit::EVEN,
            holds: Bit::EVEN,
            timeline: Number::about(0),
            steps: Bit::EVEN,
            lanes: LaneModels::new(),
        }
    }

    /// Codes all blocks of a channel. Rows and integers are stored in the order of the blocks.
    pub fn channel<C: Coder>(
        &mut self,
        w: &mut ClipCoder<'_, C>,
        channel: Channel,
    ) -> Result<(), ReadError> {
        let mut place = 0;
        for index in 0..w.blocks(channel) {
            let stored = w.parts.channels[channel as usize].get(place).copied();
            let stored = stored.filter(|b| usize::from(b.block) == index);
            if !w.c.bit(&mut self.present, stored.is_some())? {
                continue;
            }
            let new = Block::constant(index, w.parts.rows.len());
            let mut block = stored.unwrap_or(new);
            self.block(w, channel, &mut block)?;
            if C::READS {
                w.c.charge(size_of::<Block>())?;
                w.parts.channels[channel as usize].push(block);
            }
            place += 1;
        }
        Ok(())
    }

    fn block<C: Coder>(
        &mut self,
        w: &mut ClipCoder<'_, C>,
        channel: Channel,
        b: &mut Block,
    ) -> Result<(), ReadError> {
        let wanted = code_of(&KINDS, b.kind);
        let mut kind = 0;
        while kind < self.kind.len() && w.c.bit(&mut self.kind[kind], kind < wanted)? {
            kind += 1;
        }
        b.kind = KINDS[kind];
        let mut keys = 1;
        if b.kind != BlockKind::Constant {
            let timeline = self.timeline.code(w.c, b.timeline.into())?;
            let all = &w.parts.timelines;
            let Some(times) = usize::try_from(timeline).ok().and_then(|t| all.get(t)) else {
                let limit = (all.len() as u64).saturating_sub(1);
                return Err(w.c.limit("the timeline of a block", timeline, limit));
            };
            (b.timeline, keys) = (timeline as u32, times.len());
        }
        if w.c.bit(&mut self.holds, b.hold != 0)? {
            b.hold = w.c.raw(b.hold.into(), 16)? as u16;
        }
        let lanes = u32::from(b.encoding.numbers().0);
        if w.c.bit(&mut self.packed, lanes != 0)? {
            let lanes = w.c.few(lanes.saturating_sub(1), 4)? as u8 + 1;
            let first = w.parts.packed.len() as u32;
            if C::READS {
                b.encoding = Encoding::Packed { first, lanes };
            }
        }
        let extent = b.encoding.extent(channel, b.kind, keys);
        w.grow(extent)?;
        match b.encoding {
            Encoding::Float => self.floats(w, channel, b, extent.rows),
            Encoding::Packed { first, lanes } => {
                let packed = first as usize..first as usize + extent.integers;
                self.integers(w, (channel, b), keys, (packed, lanes.into()))
            }
        }
    }

    /// Codes a block of f32 rows.
    fn floats<C: Coder>(
        &mut self,
        w: &mut ClipCoder<'_, C>,
        channel: Channel,
        b: &Block,
        count: usize,
    ) -> Result<(), ReadError> {
        let (first, width) = (b.first_row as usize, b.kind.rows_per_key(channel));
        w.room(count)?;
        for l in 0..LANES {
            self.lanes.unit = w.unit(channel, b, l);
            let defaults = w.defaults(channel, b, l);
            let rows = &mut w.parts.rows[first..][..count];
            let values = &mut w.values[..count];
            for (value, row) in values.iter_mut().zip(rows.iter()) {
                *value = row.0[l];
            }
            self.lanes.floats(w.c, &defaults[..width], values, &mut w.numbers)?;
            for (value, row) in values.iter().zip(rows) {
                row.0[l] = *value;
            }
        }
        Ok(())
    }

    /// Codes a block of integers, with their ranges, at a position among all integers.
    fn integers<C: Coder>(
        &mut self,
        w: &mut ClipCoder<'_, C>,
        (channel, b): (Channel, &Block),
        keys: usize,
        (place, lanes): (Range<usize>, usize),
    ) -> Result<(), ReadError> {
        let width = channel.components();
        w.room(keys * width)?;
        for l in 0..LANES {
            self.lanes.unit = w.unit(channel, b, l);
            let defaults = w.defaults(channel, b, l);
            let rows = &mut w.parts.rows[b.first_row as usize..][..width + 1];
            let packed = &mut w.parts.packed[place.clone()];
            let mut range = [0.0; MAX_WIDTH];
            for (value, row) in range.iter_mut().zip(rows.iter()) {
                *value = row.0[l];
            }
            let range = &mut range[..=width];
            w.integers.clear();
            if l < lanes {
                w.integers.extend(packed.iter().skip(l).step_by(lanes));
            }
            let still = range[width].to_bits() == 0 && w.integers.iter().all(|&k| k == 0);
            let defaults = &defaults[..width];
            if l < lanes && w.c.bit(&mut self.steps, !still)? {
                let lane = Lane { range, defaults };
                self.lanes.integers(w.c, lane, &mut w.integers, &mut w.numbers)?;
                for (to, k) in packed.iter_mut().skip(l).step_by(lanes).zip(&w.integers) {
                    *to = *k;
                }
            } else {
                let value = &mut range[..width];
                self.lanes.constant(w.c, defaults, value, &mut w.numbers)?;
            }
            for (value, row) in range.iter().zip(rows) {
                row.0[l] = *value;
            }
        }
        Ok(())
    }
}
