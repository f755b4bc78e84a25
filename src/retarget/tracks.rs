//! `Tracks`: the target's tracks, and the motion that they give.

use super::body::Body;
use super::motion::{Local, Motion, Property};
use super::track::{constant, track};
use crate::raw::{RawChannel, RawTrack};
use glam::DVec3;

/// A translation or scale of the reference pose that differs from the rest pose by a smaller share is not written:
/// distinct f32 numbers differ by more.
const AT_REST: f64 = 1e-9;

/// A rotation this near to the rest pose is not written: the distance of the cosine of half the angle from 1, 3e-7 radians.
const SAME_TURN: f64 = 1e-14;

/// The target's tracks, at most one per joint and property, and the motion that they give.
pub(super) struct Tracks<'a> {
    tracks: Vec<[Option<RawTrack>; 3]>,
    pub motion: Motion<'a>,
}

impl<'a> Tracks<'a> {
    /// No tracks: the rest pose.
    pub fn at_rest(target: &'a Body) -> Self {
        let skeleton = &target.skeleton;
        let rest = (0..skeleton.len()).map(|j| Local::from(skeleton.rest(j)));
        Self {
            tracks: vec![[None, None, None]; skeleton.len()],
            motion: Motion::still(skeleton, rest.collect()),
        }
    }

    /// The reference pose, as constants where it differs from the rest pose.
    pub fn new(target: &'a Body) -> Self {
        let skeleton = &target.skeleton;
        let mut out = Self {
            tracks: vec![[None, None, None]; skeleton.len()],
            motion: Motion::still(skeleton, target.locals.clone()),
        };
        for (joint, local) in target.locals.iter().enumerate() {
            let rest = Local::from(skeleton.rest(joint));
            let differs = |a: DVec3, b: DVec3| {
                (a - b).abs().max_element() > AT_REST * a.abs().max(b.abs()).max_element()
            };
            if differs(local.translation, rest.translation) {
                let keys = constant(local.translation.to_array());
                out.set(track(joint, Property::Translation, keys));
            }
            if 1.0 - local.rotation.dot(rest.rotation).abs() > SAME_TURN {
                let keys = constant(local.rotation.to_array());
                out.set(track(joint, Property::Rotation, keys));
            }
            if differs(local.scale, rest.scale) {
                out.set(track(joint, Property::Scale, constant(local.scale.to_array())));
            }
        }
        out
    }

    /// Sets a track of a joint, replacing an earlier one.
    pub fn set(&mut self, track: RawTrack) {
        let property = match track.channel {
            RawChannel::Rotation => Property::Rotation,
            RawChannel::Scale => Property::Scale,
            _ => Property::Translation,
        };
        self.motion.set(&track);
        let joint = track.node;
        self.tracks[joint][property as usize] = Some(track);
    }

    pub fn list(self) -> Vec<RawTrack> {
        self.tracks.into_iter().flatten().flatten().collect()
    }
}
