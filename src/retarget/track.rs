//! Tracks of the target: keys at the times of the source's keys, exact where one curve moves.

use super::body::Body;
use super::link::Link;
use super::motion::{CHANNELS, Motion};
use super::pose::{Chain, product, rest, unit};
use super::space::Space;
use super::work::Work;
use crate::build::curve::Curve;
use crate::clip::Channel;
use crate::raw::{Interpolation, RawChannel, RawTrack};
use glam::{DQuat, DVec3};

/// A track of the target's rotations, and its largest deviation from the source between its keys, radians. Keys are
/// inserted until the deviation is below `tolerance`, or `work` has no room.
pub(super) fn rotations(
    link: &Link,
    motion: &Motion<'_>,
    space: &Space,
    tolerance: f64,
    work: &mut Work,
) -> (RawTrack, f64) {
    let moving = link.moving(motion);
    let still = |joint: u16| motion.rotation(joint.into(), 0.0);
    let moves = |joint: u16| motion.curve(joint.into(), Channel::Rotation).is_some();
    let chain = Chain::new(&link.steps, moves, still);
    let at = |time: f32| {
        let own = chain.at(|joint| motion.rotation(joint.into(), time));
        unit(link.left * space.reflect(own) * link.right)
    };
    let (keys, left) = match moving.as_slice() {
        [] => (constant(at(0.0).to_array()), 0.0),
        // Multiplied by constants, a curve keeps its interpolation and its values between keys.
        &[joint] if link.applies(joint) => {
            let place = link.steps.iter().position(|s| usize::from(s.joint) == joint).unwrap_or(0);
            let [before, after] = [&link.steps[..place], &link.steps[place + 1..]]
                .map(|steps| space.reflect(product(steps, still)));
            let (left, right) = (link.left * before, after * link.right);
            let map = |v: &[f64]| {
                let [x, y, z, w] = [0, 1, 2, 3].map(|c| v.get(c).copied().unwrap_or(0.0));
                // A tangent is not a unit quaternion, but the product is linear.
                (left * space.reflect(DQuat::from_xyzw(x, y, z, w)) * right).to_array().to_vec()
            };
            let curve = motion.curve(joint, Channel::Rotation);
            let keys = curve.map(|curve| mapped(curve, map, map));
            (keys.unwrap_or_else(|| constant(at(0.0).to_array())), 0.0)
        }
        joints => {
            let curves = motion.rotations(joints);
            work.sample(&curves, curves.len(), tolerance, at)
        }
    };
    (keys.track(link.target, Channel::Rotation), left)
}

/// Times, interpolation and values of a track.
pub(super) struct Keys {
    pub times: Vec<f32>,
    pub interpolation: Interpolation,
    pub values: Vec<f32>,
}

impl Keys {
    pub fn track(self, joint: usize, channel: Channel) -> RawTrack {
        RawTrack {
            node: joint,
            channel: RawChannel::from_channel(channel),
            interpolation: self.interpolation,
            times: self.times,
            values: self.values,
        }
    }
}

pub(super) fn constant<const N: usize>(value: [f64; N]) -> Keys {
    Keys {
        times: vec![0.0],
        interpolation: Interpolation::Linear,
        values: value.iter().map(|&v| v as f32).collect(),
    }
}

/// A curve with values and tangents mapped.
pub(super) fn mapped(
    curve: &Curve,
    value: impl Fn(&[f64]) -> Vec<f64>,
    tangent: impl Fn(&[f64]) -> Vec<f64>,
) -> Keys {
    let width = curve.width;
    let mut values = Vec::with_capacity(curve.values.len() + 2 * curve.tangents_in.len());
    let mut put = |numbers: Vec<f64>| values.extend(numbers.into_iter().map(|v| v as f32));
    for k in 0..curve.times.len() {
        let part = |of: &[f64]| of.get(k * width..(k + 1) * width).map(&tangent);
        part(&curve.tangents_in).into_iter().for_each(&mut put);
        put(value(curve.key(k)));
        part(&curve.tangents_out).into_iter().for_each(&mut put);
    }
    Keys { times: curve.times.clone(), interpolation: curve.interpolation, values }
}

/// A curve of vectors with values and tangents mapped.
pub(super) fn mapped_vectors(
    curve: &Curve,
    value: impl Fn(DVec3) -> DVec3,
    tangent: impl Fn(DVec3) -> DVec3,
) -> Keys {
    let vector = DVec3::from_slice;
    mapped(
        curve,
        |v| value(vector(v)).to_array().to_vec(),
        |v| tangent(vector(v)).to_array().to_vec(),
    )
}

/// A translation or scale of the reference pose that differs from the rest pose by a smaller share is not written:
/// distinct f32 numbers differ by more.
const AT_REST: f64 = 1e-9;

/// A rotation this near to the rest pose is not written: the distance of the cosine of half the angle from 1, 3e-7 radians.
const SAME_TURN: f64 = 1e-14;

/// The target's tracks, at most one per joint and channel, and the motion that they give.
pub(super) struct Tracks<'a> {
    tracks: Vec<[Option<RawTrack>; 3]>,
    pub motion: Motion<'a>,
}

impl<'a> Tracks<'a> {
    /// No tracks: the rest pose.
    pub fn at_rest(target: &'a Body) -> Self {
        let skeleton = &target.skeleton;
        Self {
            tracks: vec![[None, None, None]; skeleton.len()],
            motion: Motion::still(skeleton, rest(skeleton)),
        }
    }

    /// The reference pose, as constants where it differs from the rest pose.
    pub fn new(target: &'a Body) -> Self {
        let mut out = Self::at_rest(target);
        out.motion = Motion::still(&target.skeleton, target.locals.clone());
        let differs = |a: DVec3, b: DVec3| {
            (a - b).abs().max_element() > AT_REST * a.abs().max(b.abs()).max_element()
        };
        for (joint, (own, rest)) in target.locals.iter().zip(rest(&target.skeleton)).enumerate() {
            for channel in CHANNELS {
                let (differs, keys) = match channel {
                    Channel::Translation => (
                        differs(own.translation, rest.translation),
                        constant(own.translation.to_array()),
                    ),
                    Channel::Rotation => (
                        1.0 - own.rotation.dot(rest.rotation).abs() > SAME_TURN,
                        constant(own.rotation.to_array()),
                    ),
                    _ => (differs(own.scale, rest.scale), constant(own.scale.to_array())),
                };
                if differs {
                    out.set(keys.track(joint, channel));
                }
            }
        }
        out
    }

    pub fn set(&mut self, track: RawTrack) {
        self.motion.set(&track);
        let place = &mut self.tracks[track.node][track.channel.to_channel() as usize];
        *place = Some(track);
    }

    pub fn list(self) -> Vec<RawTrack> {
        self.tracks.into_iter().flatten().flatten().collect()
    }
}
