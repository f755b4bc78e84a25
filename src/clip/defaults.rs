//! What lanes are that a clip stores no keys for.

use super::block::Channel;
use super::clip_data::ClipKind;
use crate::math::LANES;
use crate::skeleton::Skeleton;

/// The rest pose's value of a joint's lane.
pub(crate) fn rest_value(skeleton: &Skeleton, channel: Channel, lane: usize) -> [f32; 4] {
    let trs = skeleton.rest_pose().lane(lane);
    let mut rest = [0.0; 4];
    match channel {
        Channel::Translation => rest[..3].copy_from_slice(&trs.translation.to_array()),
        Channel::Rotation => rest = trs.rotation.to_array(),
        _ => rest[..3].copy_from_slice(&trs.scale.to_array()),
    }
    rest
}

/// What an additive clip leaves alone.
pub(crate) const fn neutral(channel: Channel) -> [f32; 4] {
    match channel {
        Channel::Rotation => [0.0, 0.0, 0.0, 1.0],
        Channel::Scale => [1.0, 1.0, 1.0, 0.0],
        _ => [0.0; 4],
    }
}

/// The defaults of a kind of clip, scalars with them.
pub(crate) struct Defaults<'a> {
    skeleton: &'a Skeleton,
    kind: ClipKind,
    /// The scalars that are the w of a quaternion.
    quaternion_w: Vec<bool>,
}

impl<'a> Defaults<'a> {
    pub fn new(skeleton: &'a Skeleton, kind: ClipKind) -> Self {
        let rest = skeleton.rest_pose();
        let mut quaternion_w = vec![false; rest.scalar_blocks() * LANES];
        for &first in &rest.quaternions {
            if let Some(w) = quaternion_w.get_mut(first as usize + 3) {
                *w = true;
            }
        }
        Self {
            skeleton,
            kind,
            quaternion_w,
        }
    }

    /// A lane's value; as many of the numbers count as the channel has components.
    pub fn value(&self, channel: Channel, lane: usize) -> [f32; 4] {
        match (channel, self.kind) {
            (Channel::Scalar, ClipKind::Full) => {
                [self.skeleton.rest_pose().scalar(lane), 0.0, 0.0, 0.0]
            }
            // No turn has a w of 1.
            (Channel::Scalar, ClipKind::Additive) => {
                let is_w = self.quaternion_w.get(lane) == Some(&true);
                [f32::from(u8::from(is_w)), 0.0, 0.0, 0.0]
            }
            (_, ClipKind::Full) => rest_value(self.skeleton, channel, lane),
            (_, ClipKind::Additive) => neutral(channel),
        }
    }
}
