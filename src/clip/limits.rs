//! Limits on a clip's numbers: what keeps every sample, and every product of samples, within f32.

use super::block::{Block, BlockKind, Channel};
use super::clip_data::{Clip, ClipKind, ClipParts};
use super::encoding::Encoding;
use super::error::ClipError;
use crate::math::{LANES, Row, all_within, within};
use crate::skeleton::limits::{MAX_CHAIN_SCALE, MAX_LENGTH, check_chain, scale_factor};
use crate::skeleton::{LEAST_ROTATION_DOT, NO_JOINT, ROTATION_SQUARES, Skeleton};

/// How often the blocks of a clip may read its rows and integers, all together. Blocks may share them, and
/// each is looked at by itself; builders share none.
pub const MAX_SHARING: usize = 16;

/// Rows and integers that may be read whatever the clip's size.
const SHARING_BASE: usize = 1 << 16;

/// Refuses blocks that share more than [`MAX_SHARING`] allows, and rows with numbers beyond
/// [`MAX_LENGTH`]. The blocks reach only what is there.
pub(super) fn check_rows(parts: &ClipParts, skeleton: &Skeleton) -> Result<(), ClipError> {
    let (mut rows, mut packed) = (0usize, 0usize);
    for channel in Channel::ALL {
        for b in &parts.channels[channel as usize] {
            let keys = keys_of(parts, b);
            let read = b.encoding.rows(channel, keys, b.kind.rows_per_key(channel));
            rows = rows.saturating_add(read);
            if let Encoding::Packed { lanes, .. } = b.encoding {
                let read = keys * channel.components() * usize::from(lanes);
                packed = packed.saturating_add(read);
            }
        }
    }
    let pairs = [
        ("rows", rows, parts.rows.len()),
        ("integers", packed, parts.packed.len()),
    ];
    for (what, needed, have) in pairs {
        let limit = have
            .saturating_mul(MAX_SHARING)
            .saturating_add(SHARING_BASE);
        if needed > limit {
            let clip = parts.name.clone();
            return Err(ClipError::Sharing {
                clip,
                what,
                needed,
                limit,
            });
        }
    }
    if all_within(bytemuck::cast_slice(&parts.rows), MAX_LENGTH) {
        return Ok(());
    }
    let bad = |v: &f32| !within(*v, MAX_LENGTH);
    let row = parts.rows.iter().position(|r| r.0.iter().any(bad));
    let row = row.unwrap_or_default();
    let found = parts.rows.get(row);
    let lane = found.and_then(|r| r.0.iter().position(bad));
    let lane = lane.unwrap_or_default();
    let value = found.map_or(0.0, |r| r.0[lane]);
    if !value.is_finite() {
        let clip = parts.name.clone();
        return Err(ClipError::NotFinite { clip, row });
    }
    Err(ClipError::Beyond {
        clip: parts.name.clone(),
        place: place_of(parts, skeleton, row, lane),
        value,
        limit: MAX_LENGTH,
    })
}

fn keys_of(parts: &ClipParts, b: &Block) -> usize {
    match b.kind {
        BlockKind::Constant => 1,
        _ => parts.timelines[b.timeline as usize].len(),
    }
}

/// What a lane of a row is, for people: the channel, the joint and the key.
fn place_of(parts: &ClipParts, skeleton: &Skeleton, row: usize, lane: usize) -> String {
    for channel in Channel::ALL {
        for b in &parts.channels[channel as usize] {
            let per_key = b.kind.rows_per_key(channel);
            let count = b.encoding.rows(channel, keys_of(parts, b), per_key);
            let first = b.first_row as usize;
            if (first..first + count).contains(&row) {
                let lane = usize::from(b.block) * LANES + lane;
                let owner = owner_of(skeleton, channel, lane);
                return match b.encoding {
                    Encoding::Float => format!("{owner}, key {}", (row - first) / per_key),
                    Encoding::Packed { .. } => format!("{owner}, range"),
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
            return format!("scalar {lane} \"{}\"", name.unwrap_or_default());
        }
    };
    match skeleton.joint_of().get(lane) {
        Some(&joint) if joint != NO_JOINT => {
            let name = &skeleton.names()[usize::from(joint)];
            format!("{what} of joint {joint} \"{name}\"")
        }
        _ => format!("{what} of lane {lane}, which is no joint"),
    }
}

/// Refuses rotations whose keys are not of about unit length, or lie so far from the key before that
/// what is between them has no direction. The rows are within their limit, and it is known which lanes move.
pub(super) fn check_rotations(parts: &ClipParts, skeleton: &Skeleton) -> Result<(), ClipError> {
    for b in &parts.channels[Channel::Rotation as usize] {
        let lanes = skeleton
            .joint_of()
            .iter()
            .skip(usize::from(b.block) * LANES);
        let joints = lanes.take(LANES).enumerate();
        let live = joints.fold(0u16, |bits, (l, &joint)| {
            bits | u16::from(joint != NO_JOINT) << l
        });
        // Between the keys of a spline anything may lie; samples of it are guarded. What stands still there
        // is taken as it is.
        let live = match b.kind {
            BlockKind::Cubic => live & !b.moving,
            _ => live,
        };
        let keys = Keys::new(parts, b);
        if keys.sound(live, b.hold) {
            continue;
        }
        let (key, lane, value, limit) = keys.first_fault(live, b.hold);
        let owner = owner_of(
            skeleton,
            Channel::Rotation,
            usize::from(b.block) * LANES + lane,
        );
        let what = match limit == LEAST_ROTATION_DOT {
            true => "product with the key before",
            false => "square of the length",
        };
        return Err(ClipError::Beyond {
            clip: parts.name.clone(),
            place: format!("{owner}, key {key}, {what}"),
            value,
            limit,
        });
    }
    Ok(())
}

/// The keys of a block of rotations.
struct Keys<'a> {
    count: usize,
    kind: BlockKind,
    rows: &'a [Row],
    /// Integers and lanes of a packed block.
    packed: Option<(&'a [u16], usize)>,
}

/// Components x, y, z, w of sixteen lanes.
type Rotations = [[f32; LANES]; 4];

impl<'a> Keys<'a> {
    fn new(parts: &'a ClipParts, b: &Block) -> Self {
        let count = keys_of(parts, b);
        let packed = match b.encoding {
            Encoding::Float => None,
            Encoding::Packed { first, lanes } => {
                let size = count * 4 * usize::from(lanes);
                let integers = &parts.packed.as_slice()[first as usize..][..size];
                Some((integers, usize::from(lanes)))
            }
        };
        Self {
            count,
            kind: b.kind,
            rows: &parts.rows.as_slice()[b.first_row as usize..],
            packed,
        }
    }

    #[inline(always)]
    fn key(&self, k: usize) -> Rotations {
        if let Some((integers, lanes)) = self.packed {
            let mut q: Rotations = [0, 1, 2, 3].map(|c: usize| self.rows[c].0);
            let step = &self.rows[4].0;
            let key = &integers[k * 4 * lanes..][..4 * lanes];
            for (q, key) in q.iter_mut().zip(key.chunks_exact(lanes)) {
                for ((v, step), &integer) in q.iter_mut().zip(step).zip(key) {
                    *v += step * f32::from(integer);
                }
            }
            return q;
        }
        // In a cubic key the value stands between its tangents.
        let first = match self.kind {
            BlockKind::Cubic => k * 12 + 4,
            _ => k * 4,
        };
        let rows = &self.rows[first..first + 4];
        [rows[0].0, rows[1].0, rows[2].0, rows[3].0]
    }

    /// Whether straight lines lead from key to key.
    fn linear(&self) -> bool {
        matches!(self.kind, BlockKind::Linear | BlockKind::Slerp)
    }

    /// Whether the lanes of `live` are sound, those of `hold` by their lengths alone.
    fn sound(&self, live: u16, hold: u16) -> bool {
        let [low, high] = ROTATION_SQUARES;
        let (mut lengths, mut turns) = ([0u32; LANES], [0u32; LANES]);
        let mut last = self.key(0);
        for k in 0..self.count {
            let q = self.key(k);
            for l in 0..LANES {
                let square = dot(&q, &q, l);
                // NaN compares as false.
                lengths[l] |= 1 ^ (u32::from(square >= low) & u32::from(square <= high));
                turns[l] |= 1 ^ u32::from(dot(&q, &last, l) >= LEAST_ROTATION_DOT);
            }
            last = q;
        }
        let bits = |of: &[u32; LANES]| (0..LANES).fold(0u16, |all, l| all | (of[l] as u16) << l);
        let turning = if self.linear() { live & !hold } else { 0 };
        bits(&lengths) & live == 0 && bits(&turns) & turning == 0
    }

    /// Key, lane, value and limit of what is not sound.
    fn first_fault(&self, live: u16, hold: u16) -> (usize, usize, f32, f32) {
        let [low, high] = ROTATION_SQUARES;
        let mut last = self.key(0);
        for k in 0..self.count {
            let q = self.key(k);
            for l in (0..LANES).filter(|l| live >> l & 1 == 1) {
                let square = dot(&q, &q, l);
                if !(low..=high).contains(&square) {
                    return (k, l, square, if square < low { low } else { high });
                }
                let turn = dot(&q, &last, l);
                if self.linear() && hold >> l & 1 == 0 && turn < LEAST_ROTATION_DOT {
                    return (k, l, turn, LEAST_ROTATION_DOT);
                }
            }
            last = q;
        }
        (0, 0, 0.0, low)
    }
}

#[inline(always)]
fn dot(a: &Rotations, b: &Rotations, l: usize) -> f32 {
    a[0][l] * b[0][l] + a[1][l] * b[1][l] + a[2][l] * b[2][l] + a[3][l] * b[3][l]
}

/// What the scales of a clip multiply a lane by at most, at least 1; empty if it is 1 in every lane. For
/// an additive clip, whose weight may be from −1 to 1.
pub(super) fn scale_factors(clip: &Clip, skeleton: &Skeleton) -> Vec<f32> {
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

/// Refuses a clip whose scales, with those of the rest pose, multiply to too much down a chain.
pub(super) fn check_scales(clip: &Clip, skeleton: &Skeleton) -> Result<(), ClipError> {
    if clip.scale_factors().is_empty() {
        return Ok(());
    }
    let factor = |joint: usize| scale_factor(skeleton, clip.scale_factors(), joint);
    let checked = check_chain(skeleton.parents(), MAX_CHAIN_SCALE, factor);
    checked
        .map(|_| ())
        .map_err(|(joint, product)| ClipError::Scale {
            clip: clip.name().to_owned(),
            joint,
            name: skeleton.names()[joint].clone(),
            product,
        })
}

impl Clip {
    /// What its scales multiply each lane by at most; empty if that is 1.
    pub(crate) fn scale_factors(&self) -> &[f32] {
        &self.scales
    }
}
