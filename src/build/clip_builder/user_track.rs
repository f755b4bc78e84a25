//! Tracks of user channels: a lane for each number.

use super::additive::{make_additive, turn_back};
use super::{ClipBuilder, Lane, classify};
use crate::build::curve::Curve;
use crate::clip::Channel;
use crate::error::BuildError;
use crate::evaluate::quat::NLERP_MAX_ANGLE;
use crate::raw::{Interpolation, RawChannel, RawTrack};
use crate::skeleton::Pose;
use crate::words::shorten;

impl ClipBuilder<'_> {
    pub(super) fn add_user_track(
        &self,
        clip: &str,
        (track, same): (&RawTrack, usize),
        reference: Option<&Pose>,
        lanes: &mut Vec<Lane>,
    ) -> Result<(), BuildError> {
        let Some(user) = self.channels.get(track.node) else {
            let words = format!("there is no user channel {}", track.node);
            return Err(BuildError::of_clip(clip, words));
        };
        let fail = |what: &str, have: usize, needed: usize| {
            let name = shorten(&user.name);
            let words = format!("user channel \"{name}\": {what}: {have}, needed: {needed}");
            Err(BuildError::of_clip(clip, words))
        };
        if same > 1 {
            return fail("tracks", same, 1);
        }
        let handle = self.skeleton.channel(&user.name);
        let Some((channel, first)) = handle.and_then(|h| self.skeleton.channel_at(h)) else {
            return fail("channels of that name", 0, 1);
        };
        let width = channel.rest.width();
        if width != user.rest.width() {
            return fail("numbers per value", user.rest.width(), width);
        }
        let per_key = match track.interpolation {
            Interpolation::CubicSpline => 3 * width,
            _ => width,
        };
        let (keys, values) = (track.times.len(), track.values.len());
        if keys == 0 || values != keys.saturating_mul(per_key) {
            return fail("values", values, keys.max(1).saturating_mul(per_key));
        }
        let bad = |&k: &usize| {
            let time = track.times[k];
            !(time >= 0.0 && time.is_finite()) || (k > 0 && track.times[k - 1] >= time)
        };
        if let Some(key) = (0..keys).find(bad) {
            return fail("keys with increasing times", key, keys);
        }
        if let Some(value) = track.values.iter().position(|v| !v.is_finite()) {
            return fail("finite values", value, values);
        }
        let raw = RawTrack {
            channel: match channel.rest.is_quaternion() {
                true => RawChannel::Rotation,
                false => RawChannel::Weights,
            },
            ..track.clone()
        };
        let whole = channel.rest.is_quaternion().then(|| {
            let mut curve = Curve::new(&raw, 0);
            if let Some(pose) = reference {
                let base = std::array::from_fn(|c| f64::from(pose.scalar(first + c)));
                turn_back(&mut curve, &base);
            }
            curve
        });
        for part in 0..width {
            let lane = first + part;
            let curve = match &whole {
                Some(whole) => whole.part(part, NLERP_MAX_ANGLE),
                None => {
                    let mut curve = Curve::new(&raw, part);
                    if let Some(pose) = reference {
                        make_additive(&mut curve, Channel::Scalar, lane, pose);
                    }
                    curve
                }
            };
            let variation = classify(&curve, Channel::Scalar, self.lengths.model);
            lanes.push(Lane { lane, frame: 1.0, size: self.lengths.model, curve, variation });
        }
        Ok(())
    }
}
