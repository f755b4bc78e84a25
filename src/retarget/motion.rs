//! `Motion`: a clip in f64, joint by joint.

use super::pose::{Local, ancestors, models, parent, rest, three, unit};
use crate::build::curve::Curve;
use crate::build::raw_clip;
use crate::clip::{Channel, Clip};
use crate::raw::{RawClip, RawTrack};
use crate::skeleton::Skeleton;
use glam::{DAffine3, DQuat, DVec3};

/// The channels of joints.
pub(super) const CHANNELS: [Channel; 3] = [Channel::Translation, Channel::Rotation, Channel::Scale];

/// A clip's motion: for every joint its constant value, and curves for channels that move.
pub(super) struct Motion<'a> {
    pub skeleton: &'a Skeleton,
    still: Vec<Local>,
    curves: Vec<[Option<Curve>; 3]>,
}

impl<'a> Motion<'a> {
    /// A pose in joint order.
    pub fn still(skeleton: &'a Skeleton, pose: Vec<Local>) -> Self {
        let curves = vec![[None, None, None]; skeleton.len()];
        Self { skeleton, still: pose, curves }
    }

    /// The motion of a clip of the skeleton, and its tracks; nodes of scalars are numbered from the number of joints on.
    pub fn of_clip(clip: &Clip, skeleton: &'a Skeleton) -> (Self, RawClip) {
        let raw = raw_clip(clip, skeleton);
        let mut motion = Self::still(skeleton, rest(skeleton));
        raw.tracks.iter().for_each(|track| motion.set(track));
        (motion, raw)
    }

    /// Sets the value or curve of a joint from a track.
    pub fn set(&mut self, track: &RawTrack) {
        let (joint, channel) = (track.node, track.channel.to_channel());
        if channel == Channel::Scalar {
            return;
        }
        let curve = Curve::new(track, 0);
        let moves = curve.times.len() > 1;
        if !moves {
            let (local, value) = (&mut self.still[joint], curve.at(0.0).value);
            match channel {
                Channel::Translation => local.translation = three(value),
                Channel::Rotation => local.rotation = unit(DQuat::from_array(value)),
                _ => local.scale = three(value),
            }
        }
        self.curves[joint][channel as usize] = moves.then_some(curve);
    }

    /// The curve of a channel that moves.
    pub fn curve(&self, joint: usize, channel: Channel) -> Option<&Curve> {
        self.curves[joint][channel as usize].as_ref()
    }

    /// The curves of all channels of the joints that move.
    pub fn curves(&self, joints: &[usize]) -> Vec<&Curve> {
        joints.iter().flat_map(|&j| self.curves[j].iter().flatten()).collect()
    }

    /// The rotation curves of the given joints that move.
    pub fn rotations(&self, joints: &[usize]) -> Vec<&Curve> {
        joints.iter().filter_map(|&j| self.curve(j, Channel::Rotation)).collect()
    }

    pub fn rotation(&self, joint: usize, time: f32) -> DQuat {
        match self.curve(joint, Channel::Rotation) {
            Some(curve) => unit(DQuat::from_array(value(curve, time))),
            None => self.still[joint].rotation,
        }
    }

    pub fn local(&self, joint: usize, time: f32) -> Local {
        let still = self.still[joint];
        let vector = |channel: Channel, still: DVec3| {
            self.curve(joint, channel).map_or(still, |curve| three(value(curve, time)))
        };
        Local {
            translation: vector(Channel::Translation, still.translation),
            rotation: self.rotation(joint, time),
            scale: vector(Channel::Scale, still.scale),
        }
    }

    pub fn model(&self, joint: usize, time: f32) -> DAffine3 {
        let own = self.local(joint, time).to_affine();
        let above = ancestors(self.skeleton, joint);
        above.fold(own, |model, j| self.local(j, time).to_affine() * model)
    }

    pub fn place(&self, joint: usize, time: f32) -> DVec3 {
        self.model(joint, time).translation
    }

    /// A joint's rotation in model space: the product of the rotations down to it.
    pub fn model_rotation(&self, joint: usize, time: f32) -> DQuat {
        let above = ancestors(self.skeleton, joint);
        unit(above.fold(self.rotation(joint, time), |model, j| self.rotation(j, time) * model))
    }

    /// At most `count` times, evenly spaced; each is moved to the next key time if that is near.
    pub fn frames(&self, duration: f32, count: usize) -> Vec<f32> {
        let curves = self.curves.iter().flatten().flatten();
        let densest = curves.max_by_key(|curve| curve.times.len());
        let keys = densest.map_or(&[][..], |curve| &curve.times[..]);
        let step = duration / count as f32;
        let near = |time: f32| {
            let after = keys.partition_point(|&key| key < time);
            let key = keys.get(after).copied();
            key.filter(|key| key - time < step && *key <= duration).unwrap_or(time)
        };
        let mut times: Vec<f32> = (0..count).map(|k| near(step * k as f32)).collect();
        times.dedup();
        times
    }

    pub fn pose(&self, time: f32) -> Vec<Local> {
        (0..self.still.len()).map(|j| self.local(j, time)).collect()
    }

    pub fn models(&self, time: f32) -> Vec<DAffine3> {
        models(self.skeleton, &self.pose(time))
    }

    /// The given joints and all joints above them, ascending.
    pub fn with_above(&self, joints: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut wanted = vec![false; self.still.len()];
        for joint in joints {
            let mut at = Some(joint);
            while let Some(j) = at.filter(|&j| !std::mem::replace(&mut wanted[j], true)) {
                at = parent(self.skeleton, j);
            }
        }
        (0..wanted.len()).filter(|&j| wanted[j]).collect()
    }

    /// Sets the transforms in model space of joints that [`Motion::with_above`] returned.
    pub fn models_of(&self, joints: &[usize], time: f32, models: &mut [DAffine3]) {
        for &joint in joints {
            let local = self.local(joint, time).to_affine();
            let above = parent(self.skeleton, joint).map(|parent| models[parent]);
            models[joint] = above.map_or(local, |above| above * local);
        }
    }
}

/// A curve's value at a time. At a key it is exactly the key; `Curve::at` interpolates there.
fn value(curve: &Curve, time: f32) -> [f64; 4] {
    let after = curve.times.partition_point(|&t| t <= time);
    match after.checked_sub(1) {
        Some(k) if curve.times[k] == time => {
            let mut value = [0.0; 4];
            value[..curve.width].copy_from_slice(curve.key(k));
            value
        }
        _ => curve.at(time).value,
    }
}
