//! Constants: the values of lanes that do not move; and the base constants of a rig.

use super::units::{UnitSet, Units};
use super::{CHANNELS, ROTATION};
use crate::clip::{Channel, Clip, ClipKind, rest_value};
use crate::math::{LANES, NOISE, NOISE_LENGTH, Row, settle};
use crate::rig::Rig;
use crate::skeleton::{Frames, NO_JOINT, Skeleton, noise_length};
use glam::{DAffine3, DQuat, DVec3};
use std::collections::HashMap;

/// How far a constant may lie from the base to count as the base, relative to its size.
const SAME: f32 = 1e-6;

/// How coarsely constants are compared to find the most common one, relative to the largest component.
const COMMON: f32 = 1e-5;

/// Sizes below this are compared as if they were this: f32 can still divide by its product with [`COMMON`].
const SMALLEST: f32 = 1e-30;

/// Two rotations whose dot products with the base are at least this lie within 83 degrees of each other on the sphere
/// of quaternions, so that their weighted sum needs no choice of hemisphere.
const NEAR: f32 = 0.75;

/// The value of every lane and channel, in the registers of a pose.
#[derive(Clone, Debug)]
pub(crate) struct Constants {
    units: Units,
    pose: Vec<Row>,
    /// Units of scale whose joints all have scale 1.
    pub unit_scale: u64,
}

/// The units and lanes in which some constants differ from the base.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Differences {
    pub units: UnitSet,
    /// Units whose rotations all lie near the base's (see [`NEAR`]).
    pub near: u64,
    /// One more than the last lane that differs.
    pub lanes: usize,
}

impl Constants {
    /// Constants with a value for every channel and lane.
    pub fn new(
        skeleton: &Skeleton,
        units: &Units,
        value: impl Fn(Channel, usize) -> [f32; 4],
    ) -> Self {
        let mut constants = Self {
            units: *units,
            pose: vec![Row::splat(0.0); units.lanes() * 10 / LANES],
            unit_scale: u64::MAX,
        };
        let frames = Frames::of_rest(skeleton);
        let frame = |lane: usize| {
            let joint = skeleton.joint_of().get(lane).copied().unwrap_or(NO_JOINT);
            frames.above(joint.into())
        };
        let pose: &mut [f32] = bytemuck::must_cast_slice_mut(&mut constants.pose);
        for (c, channel) in CHANNELS.into_iter().enumerate() {
            for lane in 0..units.lanes() {
                let at = units.offset(c, lane / units.width) + lane % units.width;
                let values = value(channel, lane).into_iter().take(channel.components());
                let noise = match channel {
                    Channel::Rotation => NOISE,
                    Channel::Translation => noise_length(frame(lane)),
                    Channel::Scale | Channel::Scalar => NOISE_LENGTH,
                };
                for (k, v) in values.enumerate() {
                    pose[at + k * units.width] = settle(v, noise);
                }
            }
        }
        for (lane, &joint) in skeleton.joint_of().iter().enumerate() {
            if joint != NO_JOINT && constants.value(Channel::Scale, lane)[..3] != [1.0; 3] {
                constants.unit_scale &= !(1 << units.of_lane(lane));
            }
        }
        constants
    }

    /// The values in the registers of a pose.
    #[inline(always)]
    pub fn pose(&self) -> &[f32] {
        bytemuck::must_cast_slice(&self.pose)
    }

    /// A channel's values of the first lanes, in whole groups.
    #[inline(always)]
    pub fn first(&self, channel: usize, lanes: usize) -> &[f32] {
        let first = self.units.offset(channel, 0);
        let end = self.units.offset(channel, lanes.div_ceil(self.units.width));
        self.pose().get(first..end).unwrap_or_default()
    }

    pub fn value(&self, channel: Channel, lane: usize) -> [f32; 4] {
        let width = self.units.width;
        let first = self.units.offset(channel as usize, lane / width) + lane % width;
        let mut value = [0.0; 4];
        for (k, v) in value.iter_mut().enumerate().take(channel.components()) {
            *v = self.pose()[first + k * width];
        }
        value
    }

    pub fn local(&self, lane: usize) -> DAffine3 {
        let get = |channel| self.value(channel, lane).map(f64::from);
        let [tx, ty, tz, _] = get(Channel::Translation);
        let [sx, sy, sz, _] = get(Channel::Scale);
        let q = DQuat::from_array(get(Channel::Rotation));
        let rotation = if q.length_squared() > 0.0 { q.normalize() } else { DQuat::IDENTITY };
        DAffine3::from_scale_rotation_translation(
            DVec3::new(sx, sy, sz),
            rotation,
            DVec3::new(tx, ty, tz),
        )
    }

    /// The differences of these constants from the base, among the lanes that `constant` selects.
    pub fn differences(
        &self,
        base: &Self,
        skeleton: &Skeleton,
        constant: impl Fn(Channel, usize) -> bool,
    ) -> Differences {
        let units = &self.units;
        let mut found = Differences { near: u64::MAX, ..Differences::default() };
        for (lane, &joint) in skeleton.joint_of().iter().enumerate() {
            if joint == NO_JOINT {
                continue;
            }
            for (c, channel) in CHANNELS.into_iter().enumerate() {
                if !constant(channel, lane) {
                    continue;
                }
                let (value, of_base) = (self.value(channel, lane), base.value(channel, lane));
                if !same(value, of_base) {
                    found.units.insert(c, units.of_lane(lane));
                    found.lanes = found.lanes.max(lane + 1);
                }
                if c == ROTATION && dot(value, of_base) < NEAR {
                    found.near &= !(1 << units.of_lane(lane));
                }
            }
        }
        found
    }
}

/// Whether a constant counts as equal to the base's.
pub(super) fn same(a: [f32; 4], b: [f32; 4]) -> bool {
    let size = b.iter().fold(0.0f32, |a, v| a.max(v.abs()));
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= SAME * size)
}

pub(super) fn dot(a: [f32; 4], b: [f32; 4]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A rotation's value on the hemisphere of `of`; other channels are unchanged.
pub(super) fn on_side(channel: Channel, value: [f32; 4], of: [f32; 4]) -> [f32; 4] {
    match channel == Channel::Rotation && dot(value, of) < 0.0 {
        true => value.map(|v| -v),
        false => value,
    }
}

/// The constant that a clip stores for a lane: `None` if it stores nothing, `Some(None)` if the lane moves.
pub(super) fn stored(clip: &Clip, channel: Channel, lane: usize) -> Option<Option<[f32; 4]>> {
    let (block, l) = (lane / LANES, lane % LANES);
    let b = clip.block_at(channel, block)?;
    Some((!b.moves(l)).then(|| clip.constant(channel, b, l)))
}

/// The base of a rig: per lane and channel the constant that most of its clips share. A clip's constants are compared
/// with it, so that clips which agree need no work there. It depends on the rig alone, not on what plays.
pub(super) fn base(rig: &Rig, units: &Units) -> Constants {
    let skeleton = rig.skeleton();
    let full = || {
        let clips = rig.clips().iter();
        clips.filter(|c| c.kind() == ClipKind::Full)
    };
    Constants::new(skeleton, units, |channel, lane| {
        let rest = rest_value(skeleton, channel, lane);
        let joint = skeleton.joint_of()[lane];
        if joint == NO_JOINT || rig.is_left_out(joint) {
            return rest;
        }
        let mut counts: HashMap<[i64; 4], (usize, usize, [f32; 4])> = HashMap::new();
        for (i, clip) in full().enumerate() {
            let value = match stored(clip, channel, lane) {
                Some(None) => continue,
                Some(Some(value)) => on_side(channel, value, rest),
                None => rest,
            };
            let size = value.iter().fold(0.0f32, |a, v| a.max(v.abs())).max(SMALLEST);
            let bucket = value.map(|v| f64::from(v / (size * COMMON)).round() as i64);
            counts.entry(bucket).or_insert((0, i, value)).0 += 1;
        }
        // Among equally common constants the first clip's counts.
        let most = counts.values().max_by_key(|c| (c.0, std::cmp::Reverse(c.1)));
        most.map_or(rest, |c| c.2)
    })
}
