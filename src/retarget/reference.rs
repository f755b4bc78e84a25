//! `Reference`: the pose of a character that retargeting compares with that of another one.

use super::bind_pose::bind_pose;
use super::body::rest;
use super::error::RetargetError;
use super::humanoid::{HumanBone, HumanoidMap};
use super::motion::{Local, Motion};
use super::stance::{Stance, compose};
use crate::clip::{Clip, ClipKind};
use crate::math::angle;
use crate::rig::Rig;
use crate::skeleton::{Skeleton, Trs};
use glam::{DVec3, Quat, Vec3};

/// Times so far beyond a clip are its ends, seconds: the rounding of printed durations.
const ROUNDED: f32 = 5e-4;

/// Frames of a clip that are looked at for one that stands.
const FRAMES: usize = 64;
/// The most joints of frames that are looked at, unless there are more clips.
const MOST_JOINTS: usize = 1 << 22;

/// The pose in which two characters stand alike; rotations are transferred as differences to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Reference {
    /// The rest pose.
    #[default]
    Rest,
    /// Local transforms in joint order.
    Pose(Vec<Trs>),
}

impl Reference {
    /// A clip's pose at a time in seconds, from 0 to its duration. Up to half a millisecond beyond is its end, as
    /// durations are printed in milliseconds.
    ///
    /// # Errors
    /// If the clip is additive or of another skeleton, or the time is not finite or beyond the clip.
    pub fn of_clip(clip: &Clip, skeleton: &Skeleton, time: f32) -> Result<Self, RetargetError> {
        RetargetError::check(clip, skeleton)?;
        if !time.is_finite() {
            return Err(RetargetError::Time { time });
        }
        let duration = clip.duration();
        if !(-ROUNDED..=duration + ROUNDED).contains(&time) {
            let clip = clip.name().to_owned();
            return Err(RetargetError::Beyond {
                clip,
                time,
                duration,
            });
        }
        let time = time.clamp(0.0, duration);
        let (motion, _) = Motion::of_clip(clip, skeleton);
        let locals = (0..skeleton.len()).map(|joint| motion.local(joint, time));
        Ok(Self::of_locals(locals))
    }

    /// The pose in which the skins of a rig were bound, by their inverse bind matrices. Joints without one have their rest
    /// transform below the joint above.
    ///
    /// # Errors
    /// [`RetargetError::NoBind`] if no skin of its file has a joint of the skeleton.
    pub fn bind(rig: &Rig) -> Result<Self, RetargetError> {
        let locals = bind_pose(rig).ok_or(RetargetError::NoBind)?;
        Ok(Self::of_locals(locals.into_iter()))
    }

    /// The pose of a rig to compare with that of another one: its rest pose, if that stands.
    ///
    /// The bind pose takes its place if that alone shows a T or an A, or alone stands. If neither stands, it is the first
    /// frame of its clips that does. `side` is the rig's name in errors: `source` or `target`. A rest pose that stands along x or z lies if no clip stands along that axis and one
    /// does along another.
    ///
    /// # Errors
    /// [`RetargetError::Lies`] if no pose stands. [`Reference::Pose`] with the rest pose takes that as it is.
    pub fn find(
        rig: &Rig,
        map: &HumanoidMap,
        side: &'static str,
    ) -> Result<FoundReference, RetargetError> {
        let (skeleton, stance) = (rig.skeleton(), |models| Stance { map, models });
        let own = rest(skeleton);
        let models = compose(skeleton, &own);
        let bind = bind_pose(rig).map(|bind| (compose(skeleton, &bind), bind));
        let mut frames = Frames::new(rig, map);
        let up = stance(&models).axis();
        let lies = match up {
            Some(up) => up != DVec3::Y && frames.refute(up),
            None => !stance(&models).is_up(DVec3::Y),
        };
        let shows = |models, up: Option<DVec3>| up.is_some_and(|up| stance(models).is_t_or_a(up));
        let found = |reference, origin, bind_angle| FoundReference {
            reference,
            origin,
            bind_angle,
        };
        let of_bind = |bind: Vec<Local>| {
            let reference = Self::of_locals(bind.into_iter());
            found(reference, ReferenceOrigin::Bind, 0.0)
        };
        let bind_up = bind.as_ref().and_then(|bind| stance(&bind.0).axis());
        match bind {
            Some((there, bind)) if shows(&there, bind_up) && (lies || !shows(&models, up)) => {
                Ok(of_bind(bind))
            }
            bind if !lies => {
                let apart = bind.map_or(0.0, |(_, bind)| {
                    let pairs = map
                        .bones()
                        .map(|(_, j)| (own[j].rotation, bind[j].rotation));
                    let angles = pairs.map(|(a, b)| angle(&a.to_array(), &b.to_array()));
                    angles.fold(0.0, f64::max)
                });
                Ok(found(Self::Rest, ReferenceOrigin::Rest, apart))
            }
            Some((_, bind)) if bind_up.is_some() => Ok(of_bind(bind)),
            _ => {
                let stance = stance(&models);
                let (clip, time) = frames.first().ok_or(RetargetError::Lies {
                    side,
                    height: stance.height(DVec3::Y).unwrap_or(0.0),
                    leg: stance.leg().unwrap_or(0.0),
                })?;
                let clip = &rig.clips()[clip];
                let origin = ReferenceOrigin::Frame {
                    clip: clip.name().to_owned(),
                    time,
                };
                Ok(found(Self::of_clip(clip, skeleton, time)?, origin, 0.0))
            }
        }
    }

    fn of_locals(locals: impl Iterator<Item = Local>) -> Self {
        let narrow = |v: DVec3| Vec3::from_array(v.to_array().map(|v| v as f32));
        let pose = locals.map(|local| Trs {
            translation: narrow(local.translation),
            rotation: Quat::from_array(local.rotation.to_array().map(|v| v as f32)),
            scale: narrow(local.scale),
        });
        Self::Pose(pose.collect())
    }
}

/// What [`Reference::find`] finds.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundReference {
    /// The pose.
    pub reference: Reference,
    /// Where it comes from.
    pub origin: ReferenceOrigin,
    /// The largest angle between the rotations of a bone in the rest pose and in a bind pose that was not chosen, radians.
    /// 0 without one.
    pub bind_angle: f64,
}

/// Where a reference pose comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum ReferenceOrigin {
    /// The rest pose.
    Rest,
    /// The bind pose of the skins.
    Bind,
    /// A frame of a clip.
    Frame {
        /// The clip's name.
        clip: String,
        /// The time, seconds.
        time: f32,
    },
}

/// Frames of a rig's clips, looked at when they are asked for.
struct Frames<'a> {
    rig: &'a Rig,
    map: &'a HumanoidMap,
    seen: Option<Vec<Frame>>,
}

/// A frame that stands along an axis.
struct Frame {
    clip: usize,
    time: f32,
    axis: DVec3,
    /// Whether the hips are as high above the origin along that axis as legs are long, nearly.
    high: bool,
    /// Whether it neither crouches nor sits.
    erect: bool,
}

impl<'a> Frames<'a> {
    fn new(rig: &'a Rig, map: &'a HumanoidMap) -> Self {
        Self {
            rig,
            map,
            seen: None,
        }
    }

    fn seen(&mut self) -> &[Frame] {
        let (rig, map) = (self.rig, self.map);
        self.seen.get_or_insert_with(|| {
            let skeleton = rig.skeleton();
            let joints = skeleton.len() * rig.clips().len().max(1);
            let each = (MOST_JOINTS / joints.max(1)).clamp(1, FRAMES);
            let mut seen = Vec::new();
            for (clip, own) in rig.clips().iter().enumerate() {
                if own.kind() == ClipKind::Additive {
                    continue;
                }
                let (motion, _) = Motion::of_clip(own, skeleton);
                let count = if own.duration() > 0.0 { each } else { 1 };
                for k in 0..count {
                    let time = own.duration() * (k as f32 / each as f32);
                    let models = motion.models(time);
                    let models = &models[..];
                    let stance = Stance { map, models };
                    let Some(axis) = stance.axis() else { continue };
                    let hips = map.joint(HumanBone::Hips).unwrap_or(0);
                    let height = models[hips].translation.dot(axis);
                    let leg = stance.leg().unwrap_or(0.0);
                    let high = (0.5 * leg..=1.5 * leg).contains(&height);
                    seen.push(Frame {
                        clip,
                        time,
                        axis,
                        high,
                        erect: stance.is_erect(axis),
                    });
                }
            }
            seen
        })
    }

    /// Whether frames stand along another axis, at the height of legs, and none along this one.
    fn refute(&mut self, up: DVec3) -> bool {
        let high = |frame: &&Frame| frame.high;
        let mut seen = self.seen().iter().filter(high).peekable();
        seen.peek().is_some() && seen.all(|frame| frame.axis != up)
    }

    /// The first frame that stands: at the height of legs, else along y; with straight legs, if there is one. What is along
    /// another axis and low, lies.
    fn first(&mut self) -> Option<(usize, f32)> {
        let seen = self.seen();
        let rank = |frame: &Frame| (frame.high, frame.axis == DVec3::Y, frame.erect);
        let stands = |rank: &(bool, bool, bool)| rank.0 || rank.1;
        let best = seen.iter().map(rank).max().filter(stands)?;
        let first = seen.iter().find(|frame| rank(frame) == best);
        first.map(|frame| (frame.clip, frame.time))
    }
}
