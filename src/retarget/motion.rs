//! `Motion`: a clip in f64, joint by joint.

use super::body::rest;
use super::stance::compose;
use crate::build::curve::Curve;
use crate::build::raw_clip;
use crate::clip::Clip;
use crate::raw::{RawChannel, RawClip, RawTrack};
use crate::skeleton::{NO_JOINT, Skeleton, Trs};
use glam::{DAffine3, DQuat, DVec3};

/// A local transform in f64.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Local {
    pub translation: DVec3,
    pub rotation: DQuat,
    pub scale: DVec3,
}

impl From<Trs> for Local {
    fn from(trs: Trs) -> Self {
        Self {
            translation: trs.translation.as_dvec3(),
            rotation: unit(trs.rotation.as_dquat()),
            scale: trs.scale.as_dvec3(),
        }
    }
}

impl Local {
    pub fn to_affine(self) -> DAffine3 {
        DAffine3::from_scale_rotation_translation(self.scale, self.rotation, self.translation)
    }
}

/// The quaternion normalised; the identity if it has no direction.
pub(super) fn unit(q: DQuat) -> DQuat {
    let length = q.length();
    match length > 0.0 && length.is_finite() {
        true => q / length,
        false => DQuat::IDENTITY,
    }
}

/// The animated property of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Property {
    Translation,
    Rotation,
    Scale,
}

impl Property {
    pub const ALL: [Self; 3] = [Self::Translation, Self::Rotation, Self::Scale];

    pub fn channel(self) -> RawChannel {
        match self {
            Self::Translation => RawChannel::Translation,
            Self::Rotation => RawChannel::Rotation,
            Self::Scale => RawChannel::Scale,
        }
    }
}

/// A clip's motion: for every joint its constant value, and curves for properties that move.
pub(super) struct Motion<'a> {
    skeleton: &'a Skeleton,
    still: Vec<Local>,
    curves: Vec<[Option<Curve>; 3]>,
}

impl<'a> Motion<'a> {
    /// The rest pose, or another pose in joint order.
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
        let joint = track.node;
        let property = match track.channel {
            RawChannel::Translation => Property::Translation,
            RawChannel::Rotation => Property::Rotation,
            RawChannel::Scale => Property::Scale,
            RawChannel::Weights => return,
        };
        let curve = Curve::new(track, 0);
        if curve.times.len() > 1 {
            self.curves[joint][property as usize] = Some(curve);
            return;
        }
        self.curves[joint][property as usize] = None;
        let (local, v) = (&mut self.still[joint], curve.at(0.0).value);
        match property {
            Property::Translation => local.translation = DVec3::new(v[0], v[1], v[2]),
            Property::Rotation => local.rotation = unit(DQuat::from_array(v)),
            Property::Scale => local.scale = DVec3::new(v[0], v[1], v[2]),
        }
    }

    /// The curve of a property that moves.
    pub fn curve(&self, joint: usize, property: Property) -> Option<&Curve> {
        self.curves[joint][property as usize].as_ref()
    }

    /// The rotation curves of the given joints that move.
    pub fn rotations(&self, joints: &[usize]) -> Vec<&Curve> {
        let curves = joints.iter().map(|&j| self.curve(j, Property::Rotation));
        curves.flatten().collect()
    }

    pub fn rotation(&self, joint: usize, time: f32) -> DQuat {
        match self.curve(joint, Property::Rotation) {
            Some(curve) => unit(DQuat::from_array(value(curve, time))),
            None => self.still[joint].rotation,
        }
    }

    fn vector(&self, joint: usize, property: Property, time: f32, still: DVec3) -> DVec3 {
        self.curve(joint, property).map_or(still, |curve| {
            let [x, y, z, _] = value(curve, time);
            DVec3::new(x, y, z)
        })
    }

    pub fn local(&self, joint: usize, time: f32) -> Local {
        let still = self.still[joint];
        Local {
            translation: self.vector(joint, Property::Translation, time, still.translation),
            rotation: self.rotation(joint, time),
            scale: self.vector(joint, Property::Scale, time, still.scale),
        }
    }

    /// The joint above a joint.
    pub fn parent(&self, joint: usize) -> Option<usize> {
        let parent = self.skeleton.parents()[joint];
        (parent != NO_JOINT).then_some(usize::from(parent))
    }

    /// A joint and the joints above it, from the root down.
    pub fn path(&self, joint: usize) -> Vec<usize> {
        path(self.skeleton, joint)
    }

    /// A joint's transform in model space.
    pub fn model(&self, joint: usize, time: f32) -> DAffine3 {
        let parents = self.skeleton.parents();
        let mut model = self.local(joint, time).to_affine();
        let mut at = parents[joint];
        while at != NO_JOINT {
            model = self.local(usize::from(at), time).to_affine() * model;
            at = parents[usize::from(at)];
        }
        model
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

    /// The transforms of all joints in model space.
    pub fn models(&self, time: f32) -> Vec<DAffine3> {
        let locals = (0..self.still.len()).map(|j| self.local(j, time));
        compose(self.skeleton, &locals.collect::<Vec<_>>())
    }

    /// The given joints and all joints above them, ascending.
    pub fn with_above(&self, joints: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut wanted = vec![false; self.still.len()];
        for joint in joints {
            let mut at = Some(joint);
            while let Some(j) = at.filter(|&j| !std::mem::replace(&mut wanted[j], true)) {
                at = self.parent(j);
            }
        }
        (0..wanted.len()).filter(|&j| wanted[j]).collect()
    }

    /// Sets the transforms in model space of joints that [`Motion::with_above`] returned.
    pub fn models_of(&self, joints: &[usize], time: f32, models: &mut [DAffine3]) {
        for &joint in joints {
            let local = self.local(joint, time).to_affine();
            models[joint] = match self.parent(joint) {
                Some(parent) => models[parent] * local,
                None => local,
            };
        }
    }

    /// A joint's rotation in model space: the product of the rotations down to it.
    pub fn model_rotation(&self, joint: usize, time: f32) -> DQuat {
        let parents = self.skeleton.parents();
        let mut model = self.rotation(joint, time);
        let mut at = parents[joint];
        while at != NO_JOINT {
            model = self.rotation(usize::from(at), time) * model;
            at = parents[usize::from(at)];
        }
        unit(model)
    }
}

/// A joint and the joints above it, from the root down.
pub(super) fn path(skeleton: &Skeleton, joint: usize) -> Vec<usize> {
    let mut path = vec![joint];
    let mut at = skeleton.parents()[joint];
    while at != NO_JOINT {
        path.push(usize::from(at));
        at = skeleton.parents()[usize::from(at)];
    }
    path.reverse();
    path
}

/// A curve's value at a time. At a key it is exactly the key; `Curve::at` interpolates there.
pub(super) fn value(curve: &Curve, time: f32) -> [f64; 4] {
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
