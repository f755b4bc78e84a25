//! `RootMotion`: the motion of a clip's root joint, extracted from its pose.

use super::clip_data::{Clip, ClipKind};
use super::limits::beyond;
use super::timeline::{MAX_KEYS, locate_hinted, locate_regular, regular_rate};
use crate::error::BuildError;
use crate::math::{Fnv1a, Rigid, within};
use crate::skeleton::{MAX_LENGTH, MAX_SECONDS};
use glam::{DQuat, DVec3, Quat};

/// The keys of a [`RootMotion`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RootMotionParts {
    /// The joint that the motion was extracted from.
    pub joint: u16,
    /// Key times in seconds, strictly increasing.
    pub times: Vec<f32>,
    /// One translation per key, in model space, metres.
    pub translations: Vec<[f32; 3]>,
    /// One rotation per key, quaternion xyzw; empty if the root never rotates.
    pub rotations: Vec<[f32; 4]>,
}

/// The motion of a clip's root joint through model space.
///
/// The poses of the clip stay in place: the joint's model matrix in the source is this motion × its model
/// matrix in the clip. Playback applies relative motion, [`RootMotion::delta`].
#[derive(Clone, Debug, PartialEq)]
pub struct RootMotion {
    parts: RootMotionParts,
    rate: f32,
    start: Rigid,
    /// Motion from the first pose to the last, in the space of the first.
    whole: Rigid,
}

impl RootMotion {
    /// Checks the parts against the limits and the skeleton.
    pub(super) fn new(parts: RootMotionParts, clip: &Clip) -> Result<Self, BuildError> {
        let fail = |what: &str, index: usize| {
            BuildError::of_clip(&clip.name, format!("root motion: {what} ({index})"))
        };
        if clip.kind == ClipKind::Additive {
            return Err(fail("an additive clip cannot have root motion", 0));
        }
        if usize::from(parts.joint) >= clip.skeleton.len() {
            return Err(fail("there is no such joint", usize::from(parts.joint)));
        }
        let keys = parts.times.len();
        if keys == 0 || keys > MAX_KEYS {
            return Err(fail("the number of keys is out of range", keys));
        }
        if parts.translations.len() != keys {
            return Err(fail("needs one translation per key", parts.translations.len()));
        }
        if !(parts.rotations.is_empty() || parts.rotations.len() == keys) {
            return Err(fail("needs one rotation per key", parts.rotations.len()));
        }
        let times = &parts.times;
        let unordered =
            |&k: &usize| !within(times[k], MAX_SECONDS) || (k > 0 && times[k - 1] >= times[k]);
        if let Some(key) = (0..keys).find(unordered) {
            return Err(fail("times must increase and be within the limit", key));
        }
        let moves = parts.translations.as_flattened();
        if let Some(at) = moves.iter().position(|v| !v.is_finite()) {
            return Err(fail("a translation is not finite", at / 3));
        }
        if let Some(at) = moves.iter().position(|v| v.abs() > MAX_LENGTH) {
            let place = format!("root motion, translation {}", at / 3);
            return Err(beyond(&clip.name, place, moves[at], MAX_LENGTH));
        }
        let turns = parts.rotations.iter();
        if let Some(key) = turns
            .map(|q| Quat::from_array(*q))
            .position(|q| !(q.length_squared() > 0.0 && q.length_squared().is_finite()))
        {
            return Err(fail("a rotation has no direction", key));
        }
        let mut motion = Self {
            rate: if keys > 1 { regular_rate(times) } else { 0.0 },
            parts,
            start: Rigid::IDENTITY,
            whole: Rigid::IDENTITY,
        };
        motion.start = motion.at(0.0);
        let end = motion.at(f64::from(clip.duration));
        motion.whole = motion.start.inverse() * end;
        Ok(motion)
    }

    /// The keys of the motion.
    pub fn parts(&self) -> &RootMotionParts {
        &self.parts
    }

    /// The motion from the clip's first pose to its last, in the space of the first; metres.
    pub fn whole(&self) -> Rigid {
        self.whole
    }

    /// The root's transform at a clip time in seconds, in model space, metres. Times outside the keys are
    /// clamped.
    pub fn at(&self, time: f64) -> Rigid {
        let p = &self.parts;
        if p.times.len() == 1 {
            return self.key(0);
        }
        let cursor = if self.rate > 0.0 {
            locate_regular(&p.times, self.rate, time as f32)
        } else {
            locate_hinted(&p.times, &mut 0, time as f32)
        };
        let k = cursor.key as usize;
        let (a, b) = (f64::from(p.times[k]), f64::from(p.times[k + 1]));
        // f64, since f32 times are too coarse for the motion of one frame. NaN counts as 0.
        let way = ((time - a) / (b - a)).clamp(0.0, 1.0);
        let way = if way.is_nan() { 0.0 } else { way };
        let (from, to) = (self.key(k), self.key(k + 1));
        Rigid {
            rotation: if p.rotations.is_empty() {
                DQuat::IDENTITY
            } else {
                from.rotation.slerp(to.rotation, way).normalize()
            },
            translation: from.translation.lerp(to.translation, way),
        }
    }

    fn key(&self, k: usize) -> Rigid {
        let p = &self.parts;
        Rigid {
            rotation: p
                .rotations
                .get(k)
                .map_or(DQuat::IDENTITY, |q| DQuat::from_array(q.map(f64::from)).normalize()),
            translation: DVec3::from_array(p.translations[k].map(f64::from)),
        }
    }

    /// The motion from clip time `from` to clip time `to`, seconds, in the space of the root at `from`.
    ///
    /// `wraps` is the number of times playback wraps from the clip's end to its start in between; negative
    /// for reverse playback. It is 0 for clips that play once or back and forth.
    pub fn delta(&self, from: f64, to: f64, wraps: i64) -> Rigid {
        let (a, b) = (self.at(from).inverse(), self.at(to));
        if wraps == 0 {
            return a * b;
        }
        let loops = self.whole.repeat(wraps);
        a * self.start * loops * self.start.inverse() * b
    }

    pub(crate) fn bytes(&self) -> usize {
        let p = &self.parts;
        size_of_val(&*p.times) + size_of_val(&*p.translations) + size_of_val(&*p.rotations)
    }

    pub(crate) fn hash(&self, h: &mut Fnv1a) {
        let p = &self.parts;
        h.write_u64(u64::from(p.joint) | (p.times.len() as u64) << 16);
        h.write(bytemuck::cast_slice(&p.times));
        h.write(bytemuck::cast_slice(&p.translations));
        h.write(bytemuck::cast_slice(&p.rotations));
    }
}
