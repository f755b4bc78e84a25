//! What no clip of a plan moves: the constant value of every lane.

use super::PlanInput;
use crate::clip::{BlockKind, Channel, Clip, neutral, rest_value};
use crate::math::{Affine3x4, LANES};
use crate::skeleton::{JointMask, Skeleton};
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// How far constants of two clips may lie apart to count as one, relative to their size.
const SAME: f32 = 1e-6;

/// Per channel (translation, rotation, scale) and lane: the constant, or none if it moves.
pub(super) struct Values(pub [Vec<Option<[f32; 4]>>; 3]);

pub(super) const CHANNELS: [Channel; 3] = [Channel::Translation, Channel::Rotation, Channel::Scale];

impl Values {
    pub fn new(skeleton: &Skeleton, input: &PlanInput<'_>) -> Self {
        let lanes = skeleton.blocks() * LANES;
        Self(CHANNELS.map(|channel| {
            let lane = |l| lane_value(skeleton, input, channel, l);
            (0..lanes).map(lane).collect()
        }))
    }

    /// Whether any channel of the lane moves.
    pub fn moves(&self, lane: usize) -> bool {
        self.0.iter().any(|v| v[lane].is_none())
    }

    /// The local matrix of a lane whose channels are all constant.
    pub fn local(&self, lane: usize) -> DAffine3 {
        let get = |channel: usize| self.0[channel][lane].unwrap_or_default().map(f64::from);
        let ([tx, ty, tz, _], q, [sx, sy, sz, _]) = (get(0), get(1), get(2));
        let q = DQuat::from_array(q);
        let rotation = if q.length_squared() > 0.0 {
            q.normalize()
        } else {
            DQuat::IDENTITY
        };
        DAffine3::from_scale_rotation_translation(
            DVec3::new(sx, sy, sz),
            rotation,
            DVec3::new(tx, ty, tz),
        )
    }
}

/// The value of a lane that the clip stores and does not move; none where it moves.
pub(super) fn constant(clip: &Clip, channel: Channel, lane: usize) -> Option<Option<[f32; 4]>> {
    let (block, l) = (lane / LANES, lane % LANES);
    let b = clip.block_at(channel, block)?;
    let moves = b.kind != BlockKind::Constant && b.moving >> l & 1 == 1;
    Some((!moves).then(|| clip.constant(channel, b, l)))
}

/// The mask's weight of a lane.
pub(super) fn mask_weight(mask: Option<&JointMask>, lane: usize) -> f32 {
    mask.map_or(1.0, |m| m.rows()[lane / LANES].0[lane % LANES])
}

/// Whether an additive clip changes a lane.
pub(super) fn adds(clip: &Clip, mask: Option<&JointMask>, channel: Channel, lane: usize) -> bool {
    mask_weight(mask, lane) != 0.0
        && match constant(clip, channel, lane) {
            None => false,
            Some(value) => value != Some(neutral(channel)),
        }
}

/// The constant value of a lane over all clips, or that there is none.
fn lane_value(
    skeleton: &Skeleton,
    input: &PlanInput<'_>,
    channel: Channel,
    lane: usize,
) -> Option<[f32; 4]> {
    let rest = rest_value(skeleton, channel, lane);
    let mut full = input.layers.iter().filter(|l| !l.additive).peekable();
    let mut value = (input.rest || full.peek().is_none()).then_some(rest);
    for layer in input.layers.iter().filter(|l| l.additive) {
        if layer
            .clips
            .iter()
            .any(|c| adds(c, layer.mask, channel, lane))
        {
            return None;
        }
    }
    for layer in full {
        // A layer whose mask leaves the lane alone has no say.
        if mask_weight(layer.mask, lane) == 0.0 {
            continue;
        }
        for clip in &layer.clips {
            let next = match constant(clip, channel, lane) {
                Some(None) => return None,
                Some(Some(value)) => value,
                None => rest,
            };
            let size = next.iter().fold(0.0f32, |a, v| a.max(v.abs()));
            let same = |a: [f32; 4], sign: f32| {
                a.iter()
                    .zip(next)
                    .all(|(a, b)| (a * sign - b).abs() <= SAME * size)
            };
            match value {
                Some(a) if same(a, 1.0) => {}
                Some(a) if channel == Channel::Rotation && same(a, -1.0) => {}
                Some(_) => return None,
                None => value = Some(next),
            }
        }
    }
    Some(value.unwrap_or(rest))
}

pub(super) fn wide(m: &Affine3x4) -> DAffine3 {
    let c = m.to_cols_array().map(f64::from);
    DAffine3::from_mat3_translation(
        DMat3::from_cols_array(&[c[0], c[1], c[2], c[4], c[5], c[6], c[8], c[9], c[10]]),
        DVec3::new(c[12], c[13], c[14]),
    )
}
