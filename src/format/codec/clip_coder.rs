//! Codes the parts of a clip in order: one traversal that encodes or decodes them.

use super::blocks::BlockModels;
use super::model::Number;
use super::range::Coder;
use super::residuals::MAX_WIDTH;
use super::times::TimeModels;
use super::values::LaneModels;
use super::{ReadError, flaw, foreign};
use crate::clip::lattice::units;
use crate::clip::{Block, Channel, ClipKind, ClipParts, Extent, RootMotionParts};
use crate::math::{LANES, Row};
use crate::skeleton::{Pose, Skeleton};
use std::borrow::Cow;

/// Limit on the number of timelines, and on counts of tracks.
const MAX_COUNT: u64 = u32::MAX as u64;

/// The range coder, and the parts that it encodes or decodes.
pub(super) struct ClipCoder<'a, C> {
    pub c: &'a mut C,
    pub parts: ClipParts,
    skeleton: &'a Skeleton,
    /// Values of lanes without keys: the rest pose, or the identity for additive clips.
    rest: Cow<'a, Pose>,
    /// Divisors of the steps of translations, by lane.
    units: Vec<f64>,
    /// Scratch space for the values of one lane.
    pub values: Vec<f32>,
    pub numbers: Vec<i64>,
    pub integers: Vec<u16>,
}

impl<'a, C: Coder> ClipCoder<'a, C> {
    pub fn new(c: &'a mut C, parts: ClipParts, skeleton: &'a Skeleton) -> Self {
        Self {
            c,
            parts,
            skeleton,
            rest: Cow::Owned(Pose::default()),
            units: units(skeleton),
            values: Vec::new(),
            numbers: Vec::new(),
            integers: Vec::new(),
        }
    }

    /// Codes all parts.
    pub fn run(&mut self) -> Result<(), ReadError> {
        let skeleton = self.skeleton;
        let needed = folded(skeleton.structure_hash(), skeleton.layout_hash());
        let have = self.c.raw(needed.into(), 32)? as u32;
        if have != needed {
            return Err(flaw(self.c.position(), foreign(have, needed)));
        }
        let additive = self.c.few((self.parts.kind == ClipKind::Additive).into(), 1)? == 1;
        self.parts.kind = ClipKind::Full;
        self.rest = Cow::Borrowed(skeleton.rest_pose());
        if additive {
            self.parts.kind = ClipKind::Additive;
            let lanes = self.skeleton.blocks() * LANES;
            self.rest = Cow::Owned(Pose::identity(lanes, self.rest.scalar_blocks() * LANES));
        }
        let duration = self.c.raw(self.parts.duration.to_bits().into(), 32)?;
        self.parts.duration = f32::from_bits(duration as u32);
        let mut times = TimeModels::new();
        self.timelines(&mut times)?;
        for channel in Channel::ALL {
            BlockModels::new().channel(self, channel)?;
        }
        self.tracks()?;
        self.motion(&mut times)
    }

    fn timelines(&mut self, models: &mut TimeModels) -> Result<(), ReadError> {
        let count = Number::about(0).code(self.c, self.parts.timelines.len() as u64)?;
        if count > MAX_COUNT {
            return Err(self.c.limit("the number of timelines", count, MAX_COUNT));
        }
        for timeline in 0..count as usize {
            if C::READS {
                self.parts.timelines.push(Vec::new());
            }
            let times = &mut self.parts.timelines[timeline];
            models.code(self.c, self.parts.duration, times)?;
        }
        Ok(())
    }

    fn tracks(&mut self) -> Result<(), ReadError> {
        let mut model = Number::about(8);
        for count in self.parts.tracks.as_flattened_mut() {
            let read = model.code(self.c, *count as u64)?;
            if read > MAX_COUNT {
                return Err(self.c.limit("a count of tracks", read, MAX_COUNT));
            }
            *count = read as usize;
        }
        Ok(())
    }

    fn motion(&mut self, models: &mut TimeModels) -> Result<(), ReadError> {
        let motion = self.parts.root_motion.take();
        if self.c.few(motion.is_some().into(), 1)? == 0 {
            return Ok(());
        }
        let mut motion = motion.unwrap_or_default();
        motion.joint = self.c.raw(motion.joint.into(), 16)? as u16;
        models.code(self.c, self.parts.duration, &mut motion.times)?;
        let keys = motion.times.len();
        let turns = self.c.few((!motion.rotations.is_empty()).into(), 1)? == 1;
        let rotations = if turns { keys } else { 0 };
        self.c.charge(keys * size_of::<[f32; 3]>() + rotations * size_of::<[f32; 4]>())?;
        if C::READS {
            motion.translations.resize(keys, [0.0; 3]);
            motion.rotations.resize(rotations, [0.0; 4]);
        }
        self.room(4 * keys)?;
        let RootMotionParts { translations, rotations, .. } = &mut motion;
        let values = translations.as_flattened_mut();
        LaneModels::new().floats(self.c, &[0.0; 3], values, &mut self.numbers)?;
        if turns {
            let values = rotations.as_flattened_mut();
            LaneModels::new().floats(self.c, &[0.0, 0.0, 0.0, 1.0], values, &mut self.numbers)?;
        }
        self.parts.root_motion = Some(motion);
        Ok(())
    }

    /// Number of blocks that a channel of the skeleton has.
    pub fn blocks(&self, channel: Channel) -> usize {
        self.rest.shape()[channel as usize]
    }

    /// The default of a lane of a block; for cubic blocks with zero tangents on both sides.
    pub fn defaults(&self, channel: Channel, b: &Block, lane: usize) -> [f32; MAX_WIDTH] {
        let block = usize::from(b.block);
        let rows: &[Row] = match channel {
            Channel::Translation => &self.rest.translation[block],
            Channel::Rotation => &self.rest.rotation[block],
            Channel::Scale => &self.rest.scale[block],
            Channel::Scalar => &self.rest.scalars[block..=block],
        };
        let first = b.kind.row_of_value(channel);
        let mut out = [0.0; MAX_WIDTH];
        for (value, row) in out[first..].iter_mut().zip(rows) {
            *value = row.0[lane];
        }
        out
    }

    /// The divisor of the steps of a lane.
    pub fn unit(&self, channel: Channel, b: &Block, lane: usize) -> f64 {
        let lane = usize::from(b.block) * LANES + lane;
        match channel {
            Channel::Translation => self.units.get(lane).copied().unwrap_or(1.0),
            _ => 1.0,
        }
    }

    /// Appends zero rows and integers to the clip when decoding; charges their memory.
    pub fn grow(&mut self, more: Extent) -> Result<(), ReadError> {
        self.c.charge(more.bytes())?;
        if C::READS {
            let rows = self.parts.rows.len() + more.rows;
            let integers = self.parts.packed.len() + more.integers;
            self.parts.rows.resize(rows, Row::splat(0.0));
            self.parts.packed.resize(integers, 0);
        }
        Ok(())
    }

    /// Grows the scratch space to the values of a lane; charges its memory.
    pub fn room(&mut self, values: usize) -> Result<(), ReadError> {
        let more = values.saturating_sub(self.values.len());
        self.c.charge(more * (size_of::<f32>() + size_of::<i64>() + size_of::<u16>()))?;
        self.values.resize(values.max(self.values.len()), 0.0);
        self.numbers.reserve_exact(values);
        self.integers.reserve_exact(values);
        Ok(())
    }
}

/// Both hashes of a skeleton, folded to 32 bits.
pub(super) fn folded(structure: u64, layout: u64) -> u32 {
    let both = structure ^ layout.rotate_left(1);
    (both ^ both >> 32) as u32
}
