//! Limits on the numbers of a clip. They keep every sample, and every product of samples, within f32.

use super::block::{Block, BlockKind, Channel};
use super::clip_data::{Clip, ClipKind};
use super::encoding::{Extent, Keys, Lanes};
use crate::error::BuildError;
use crate::math::{LANES, all_within, within};
use crate::skeleton::limits::{MAX_CHAIN_SCALE, MAX_LENGTH, check_chain, scale_factor};
use crate::skeleton::{LEAST_ROTATION_DOT, NO_JOINT, ROTATION_SQUARES, Skeleton};
use crate::words::shorten;

/// The number of times that the blocks of a clip together may read its rows and integers.
///
/// Blocks may share rows, and each block is checked separately, so the limit bounds the work of loading.
/// Builders share none.
pub const MAX_SHARING: usize = 16;

/// Rows and integers that may be read in addition, whatever the size of the clip.
const SHARING_BASE: usize = 1 << 16;

/// Rejects blocks that share more than [`MAX_SHARING`] allows, and rows with numbers beyond [`MAX_LENGTH`].
/// References of the blocks must have been checked.
pub(super) fn check_rows(clip: &Clip) -> Result<(), BuildError> {
    let extent = |c: Channel, b: &Block| b.encoding.extent(c, b.kind, clip.keys_of(b));
    let blocks = Channel::ALL.into_iter().zip(&clip.channels);
    let read: Extent = blocks.flat_map(|(c, all)| all.iter().map(move |b| extent(c, b))).sum();
    let pairs =
        [("rows", read.rows, clip.rows.len()), ("integers", read.integers, clip.packed.len())];
    for (what, needed, have) in pairs {
        let limit = have.saturating_mul(MAX_SHARING).saturating_add(SHARING_BASE);
        if needed > limit {
            let words = format!("blocks that share {what} read {needed} {what}");
            return Err(BuildError::clip_limit(&clip.name, words, needed, limit));
        }
    }
    if all_within(bytemuck::cast_slice(&clip.rows), MAX_LENGTH) {
        return Ok(());
    }
    let bad = |v: &f32| !within(*v, MAX_LENGTH);
    let row = clip.rows.iter().position(|r| r.0.iter().any(bad));
    let row = row.unwrap_or_default();
    let found = clip.rows.get(row);
    let lane = found.and_then(|r| r.0.iter().position(bad));
    let lane = lane.unwrap_or_default();
    let value = found.map_or(0.0, |r| r.0[lane]);
    let place = place_of(clip, row, lane);
    Err(beyond(&clip.name, place, value, MAX_LENGTH))
}

/// Refuses a timeline with more keys than a limit.
pub(super) fn check_keys(
    clip: &str,
    timeline: usize,
    keys: usize,
    limit: usize,
) -> Result<(), BuildError> {
    if keys <= limit {
        return Ok(());
    }
    let what = format!("timeline {timeline} has {keys} keys");
    Err(BuildError::clip_limit(clip, what, keys, limit))
}

/// A number of a clip beyond its limit.
pub(super) fn beyond(clip: &str, place: String, value: f32, limit: f32) -> BuildError {
    BuildError::Beyond { place: format!("clip \"{}\": {place}", shorten(clip)), value, limit }
}

/// Describes a lane of a row for messages: channel, joint and key.
fn place_of(clip: &Clip, row: usize, lane: usize) -> String {
    for channel in Channel::ALL {
        for b in clip.blocks(channel) {
            let (first, per_key) = (b.first_row as usize, b.kind.rows_per_key(channel));
            let own = b.encoding.extent(channel, b.kind, clip.keys_of(b));
            if (first..first + own.rows).contains(&row) {
                let lane = usize::from(b.block) * LANES + lane;
                let owner = owner_of(clip.skeleton(), channel, lane);
                return match own.integers {
                    0 => format!("{owner}, key {}", (row - first) / per_key),
                    _ => format!("{owner}, range"),
                };
            }
        }
    }
    format!("row {row}, lane {lane}")
}

/// `rotation of joint 3 "Arm"`.
fn owner_of(skeleton: &Skeleton, channel: Channel, lane: usize) -> String {
    let what = match channel {
        Channel::Translation => "translation",
        Channel::Rotation => "rotation",
        Channel::Scale => "scale",
        Channel::Scalar => {
            let name = skeleton.scalars().get(lane).map(|s| s.name.as_str());
            return format!("scalar {lane} \"{}\"", shorten(name.unwrap_or_default()));
        }
    };
    match skeleton.joint_of().get(lane) {
        Some(&joint) if joint != NO_JOINT => {
            let name = &skeleton.names()[usize::from(joint)];
            format!("{what} of joint {joint} \"{}\"", shorten(name))
        }
        _ => format!("{what} of lane {lane}, which holds no joint"),
    }
}

/// Rejects rotations whose keys are far from unit length, or so far from the previous key that the
/// interpolation between them may have no direction. Rows must have been checked, and `moving` must be set.
pub(super) fn check_rotations(clip: &Clip) -> Result<(), BuildError> {
    let skeleton = clip.skeleton();
    for b in clip.blocks(Channel::Rotation) {
        let lanes = skeleton.joint_of().iter().skip(usize::from(b.block) * LANES);
        let joints = lanes.take(LANES).enumerate();
        let live = joints.fold(0u16, |bits, (l, &joint)| bits | u16::from(joint != NO_JOINT) << l);
        // A spline may pass through any value, so its samples are guarded. Lanes that do not move are used
        // unguarded, so they are checked.
        let live = match b.kind {
            BlockKind::Cubic => live & !b.moving,
            _ => live,
        };
        let keys = Rotations {
            keys: clip.keys(Channel::Rotation, b),
            linear: matches!(b.kind, BlockKind::Linear | BlockKind::Slerp),
        };
        if keys.sound(live, b.hold) {
            continue;
        }
        let (key, lane, value, limit) = keys.first_fault(live, b.hold);
        let owner = owner_of(skeleton, Channel::Rotation, usize::from(b.block) * LANES + lane);
        let what = match limit == LEAST_ROTATION_DOT {
            true => "dot product with the key before",
            false => "square of the length",
        };
        let place = format!("{owner}, key {key}, {what}");
        return Err(beyond(&clip.name, place, value, limit));
    }
    Ok(())
}

/// The keys of a block of rotations.
struct Rotations<'a> {
    keys: Keys<'a>,
    /// True if values between keys are interpolated linearly.
    linear: bool,
}

impl Rotations<'_> {
    /// True if the lanes of `live` are sound. Lanes of `hold` are checked for length only.
    fn sound(&self, live: u16, hold: u16) -> bool {
        let [low, high] = ROTATION_SQUARES;
        let (mut lengths, mut turns) = ([0u32; LANES], [0u32; LANES]);
        let mut last = self.keys.rotations(0);
        for k in 0..self.keys.len() {
            let q = self.keys.rotations(k);
            for l in 0..LANES {
                let square = dot(&q, &q, l);
                // Comparisons with NaN are false.
                lengths[l] |= 1 ^ (u32::from(square >= low) & u32::from(square <= high));
                turns[l] |= 1 ^ u32::from(dot(&q, &last, l) >= LEAST_ROTATION_DOT);
            }
            last = q;
        }
        let bits = |of: &[u32; LANES]| (0..LANES).fold(0u16, |all, l| all | (of[l] as u16) << l);
        let turning = if self.linear { live & !hold } else { 0 };
        bits(&lengths) & live == 0 && bits(&turns) & turning == 0
    }

    /// Key, lane, value and limit of the first fault.
    fn first_fault(&self, live: u16, hold: u16) -> (usize, usize, f32, f32) {
        let [low, high] = ROTATION_SQUARES;
        let mut last = self.keys.rotations(0);
        for k in 0..self.keys.len() {
            let q = self.keys.rotations(k);
            for l in (0..LANES).filter(|l| live >> l & 1 == 1) {
                let square = dot(&q, &q, l);
                if !(low..=high).contains(&square) {
                    return (k, l, square, if square < low { low } else { high });
                }
                let turn = dot(&q, &last, l);
                if self.linear && hold >> l & 1 == 0 && turn < LEAST_ROTATION_DOT {
                    return (k, l, turn, LEAST_ROTATION_DOT);
                }
            }
            last = q;
        }
        (0, 0, 0.0, low)
    }
}

#[inline(always)]
fn dot(a: &[Lanes; 4], b: &[Lanes; 4], l: usize) -> f32 {
    a[0][l] * b[0][l] + a[1][l] * b[1][l] + a[2][l] * b[2][l] + a[3][l] * b[3][l]
}

/// The largest factor of the clip's scales in each lane, at least 1; empty if it is 1 in every lane. Additive
/// clips are measured over weights from −1 to 1.
pub(super) fn scale_factors(clip: &Clip) -> Vec<f32> {
    let skeleton = clip.skeleton();
    let mut factors = Vec::new();
    for b in clip.blocks(Channel::Scale) {
        for l in 0..LANES {
            let lane = usize::from(b.block) * LANES + l;
            if skeleton.joint_of().get(lane).is_none_or(|&j| j == NO_JOINT) {
                continue;
            }
            let [x, y, z, _] = clip.reach(Channel::Scale, b, l);
            let ends = [x, y, z].into_iter().flatten();
            let factor = ends.fold(1.0f32, |most, v| match clip.kind() {
                ClipKind::Full => most.max(v.abs()),
                ClipKind::Additive => most.max(v.abs()).max((2.0 - v).abs()),
            });
            if factor > 1.0 {
                if factors.is_empty() {
                    factors.resize(skeleton.blocks() * LANES, 1.0);
                }
                factors[lane] = factor;
            }
        }
    }
    factors
}

/// Rejects a clip whose scales, together with the scales of the rest pose, exceed [`MAX_CHAIN_SCALE`] down a chain of
/// joints.
pub(super) fn check_scales(clip: &Clip) -> Result<(), BuildError> {
    let skeleton = clip.skeleton();
    if clip.scale_factors().is_empty() {
        return Ok(());
    }
    let factor = |joint: usize| scale_factor(skeleton, clip.scale_factors(), joint);
    let checked = check_chain(skeleton.parents(), MAX_CHAIN_SCALE, factor);
    checked.map(|_| ()).map_err(|(joint, product)| {
        let name = shorten(&skeleton.names()[joint]);
        let place = format!("the product of the largest scales down to joint {joint} \"{name}\"");
        beyond(clip.name(), place, product as f32, MAX_CHAIN_SCALE as f32)
    })
}

impl Clip {
    /// The largest factor of the clip's scales in each lane, at least 1; empty if it is 1 in every lane.
    pub(crate) fn scale_factors(&self) -> &[f32] {
        &self.scales
    }
}
