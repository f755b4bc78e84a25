//! Default values of lanes for which a clip stores no keys.

use super::block::Channel;
use super::clip_data::ClipKind;
use crate::math::LANES;
use crate::skeleton::Skeleton;

/// The value of a joint's lane in the rest pose.
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

/// The identity of additive clips.
pub(crate) const fn neutral(channel: Channel) -> [f32; 4] {
    match channel {
        Channel::Rotation => [0.0, 0.0, 0.0, 1.0],
        Channel::Scale => [1.0, 1.0, 1.0, 0.0],
        _ => [0.0; 4],
    }
}

/// Default values of a kind of clip, including scalars.
pub(crate) struct Defaults<'a> {
    skeleton: &'a Skeleton,
    kind: ClipKind,
    /// One entry per scalar: true if it is the w of a quaternion channel.
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
        Self { skeleton, kind, quaternion_w }
    }

    /// The default of a lane; components that the channel lacks are unspecified.
    pub fn value(&self, channel: Channel, lane: usize) -> [f32; 4] {
        match (channel, self.kind) {
            (Channel::Scalar, ClipKind::Full) => {
                [self.skeleton.rest_pose().scalar(lane), 0.0, 0.0, 0.0]
            }
            // The identity quaternion has w = 1.
            (Channel::Scalar, ClipKind::Additive) => {
                let is_w = self.quaternion_w.get(lane) == Some(&true);
                [f32::from(u8::from(is_w)), 0.0, 0.0, 0.0]
            }
            (_, ClipKind::Full) => rest_value(self.skeleton, channel, lane),
            (_, ClipKind::Additive) => neutral(channel),
        }
    }
}
