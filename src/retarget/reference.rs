//! `Reference`: the pose of a character that retargeting compares with another character's.

use super::bind_pose::bind_pose;
use super::error::RetargetError;
use super::humanoid::HumanoidMap;
use super::motion::Motion;
use super::pose::{Local, models, rest};
use super::stance::Stance;
use crate::clip::{Clip, ClipKind};
use crate::math::angle;
use crate::rig::Rig;
use crate::skeleton::{Skeleton, Trs};
use glam::DVec3;
use std::cell::OnceCell;

/// Time beyond a clip up to which its end is taken, seconds: the rounding of printed durations.
const ROUNDED: f32 = 5e-4;

/// Limit on the frames of a clip that are examined for one that stands.
const FRAMES: usize = 64;
/// Largest [strain](Stance::strain) of a frame that counts as standing straight, radians.
const STRAIGHT: f64 = 40.0 * std::f64::consts::PI / 180.0;
/// Limit on the joints of frames that are examined, unless there are more clips.
const MOST_JOINTS: usize = 1 << 22;

/// The pose in which two characters stand alike; rotations are transferred as differences to it. Poses are local
/// transforms in joint order.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Reference {
    /// The rest pose, which must stand.
    #[default]
    Rest,
    /// The bind pose of a rig's skins.
    Bind(Vec<Trs>),
    /// A frame of a clip.
    Frame {
        /// Name of the clip.
        clip: String,
        /// Time of the frame, seconds.
        time: f32,
        /// The frame.
        pose: Vec<Trs>,
    },
    /// Another pose.
    Pose(Vec<Trs>),
}

impl Reference {
    /// The pose; `None` for the rest pose.
    pub(super) fn pose(&self) -> Option<&[Trs]> {
        match self {
            Self::Rest => None,
            Self::Bind(pose) | Self::Frame { pose, .. } | Self::Pose(pose) => Some(pose),
        }
    }

    /// A clip's pose at a time in seconds, from 0 to its duration. Up to half a millisecond beyond counts as the end, as
    /// durations are printed in milliseconds.
    ///
    /// # Errors
    /// If the clip is additive or of another skeleton, or the time is not finite or beyond the clip.
    pub fn of_clip(clip: &Clip, skeleton: &Skeleton, time: f32) -> Result<Self, RetargetError> {
        RetargetError::check(clip, skeleton)?;
        let duration = clip.duration();
        // Not a number is in no range.
        if !(-ROUNDED..=duration + ROUNDED).contains(&time) {
            let clip = clip.name().to_owned();
            return Err(RetargetError::Time { clip, time, duration });
        }
        let time = time.clamp(0.0, duration);
        let (motion, _) = Motion::of_clip(clip, skeleton);
        let pose = narrow(&motion.pose(time));
        Ok(Self::Frame { clip: clip.name().to_owned(), time, pose })
    }

    /// The pose in which the skins of a rig were bound, from their inverse bind matrices. Joints without one have their rest
    /// transform below the joint above.
    ///
    /// # Errors
    /// [`RetargetError::NoBind`] if no skin of its file has a joint of the skeleton.
    pub fn bind(rig: &Rig, map: &HumanoidMap) -> Result<Self, RetargetError> {
        let up = Frames::new(rig, map).up();
        let locals = bind_pose(rig, |pose| up.is_none() || axis(rig, map, pose) == up);
        Ok(Self::Bind(narrow(&locals.ok_or(RetargetError::NoBind)?)))
    }

    /// The pose of a rig to compare with another rig's: its rest pose, if that stands.
    ///
    /// The bind pose replaces it if only the bind pose shows a T or an A, or only it stands. If neither stands, it is the
    /// first frame of the rig's clips that stands with straight legs and with hips and shoulders that face one way; or the
    /// frame that comes nearest to that. Of a body that rises it is the frame in which it has risen. `side` is the rig's
    /// name in errors: `source` or `target`.
    ///
    /// A rest pose along x or z counts as lying, unless its hips, or the hips of frames along that axis, are at the
    /// height of legs above the origin. A rest pose along y counts as lying if all frames stand along another axis.
    ///
    /// Returns the pose, and the largest angle between the rotations of a bone in the rest pose and in a bind pose that was
    /// not chosen, radians; 0 without one.
    ///
    /// # Errors
    /// [`RetargetError::Lies`] if no pose stands. [`Reference::Pose`] with the rest pose accepts it nevertheless.
    pub fn find(
        rig: &Rig,
        map: &HumanoidMap,
        side: &'static str,
    ) -> Result<(Self, f64), RetargetError> {
        let skeleton = rig.skeleton();
        map.check(skeleton)?;
        let own = rest(skeleton);
        let stance = Stance { map, models: &models(skeleton, &own) };
        let frames = Frames::new(rig, map);
        // A bind pose that lies too is of no use.
        let bound = |up: DVec3| {
            let along = |pose: &[Local]| axis(rig, map, pose) == Some(up);
            bind_pose(rig, along).filter(|bind| along(bind))
        };
        let up = frames.up().or_else(|| bound(DVec3::Y).map(|_| DVec3::Y));
        let shows = |stance: Stance<'_>| up.is_some_and(|up| stance.is_t_or_a(up));
        let lies = match stance.axis() {
            Some(axis) => up != Some(axis),
            None => !stance.is_up(up.unwrap_or(DVec3::Y)),
        };
        if let Some(bind) = up.and_then(bound) {
            let models = &models(skeleton, &bind)[..];
            if lies || shows(Stance { map, models }) && !shows(stance) {
                return Ok((Self::Bind(narrow(&bind)), 0.0));
            }
            let joints = map.bones().map(|(_, joint)| joint);
            let angles = joints.map(|j| {
                let [a, b] = [own[j].rotation, bind[j].rotation];
                angle(&a.to_array(), &b.to_array())
            });
            return Ok((Self::Rest, angles.fold(0.0, f64::max)));
        }
        if !lies {
            return Ok((Self::Rest, 0.0));
        }
        let frame = up.and_then(|up| frames.best(up));
        let frame = frame.ok_or_else(|| RetargetError::Lies {
            side,
            lean: stance.lean(DVec3::Y).to_degrees(),
            height: stance.height(DVec3::Y).unwrap_or(0.0),
            leg: stance.leg().unwrap_or(0.0),
        })?;
        Ok((Self::of_clip(&rig.clips()[frame.clip], skeleton, frame.time)?, 0.0))
    }
}

/// The bind pose of a rig without a humanoid map.
pub(super) fn bound(rig: &Rig) -> Option<Vec<Trs>> {
    bind_pose(rig, |_| true).map(|pose| narrow(&pose))
}

/// Local transforms in single precision.
pub(super) fn narrow(pose: &[Local]) -> Vec<Trs> {
    pose.iter().map(|local| local.to_trs()).collect()
}

/// The axis along which a rig stands in a pose.
fn axis(rig: &Rig, map: &HumanoidMap, pose: &[Local]) -> Option<DVec3> {
    Stance { map, models: &models(rig.skeleton(), pose) }.axis()
}

/// Frames of a rig's clips, evaluated on first use.
struct Frames<'a> {
    rig: &'a Rig,
    map: &'a HumanoidMap,
    seen: OnceCell<Vec<Frame>>,
}

/// A frame, and the axis along which it stands.
struct Frame {
    clip: usize,
    time: f32,
    axis: Option<DVec3>,
    /// Whether the hips are at the height of legs above the origin, along `axis`.
    high: bool,
    /// Whether the body stands with nearly straight legs.
    erect: bool,
    /// See [`Stance::strain`].
    strain: f64,
}

impl<'a> Frames<'a> {
    fn new(rig: &'a Rig, map: &'a HumanoidMap) -> Self {
        Self { rig, map, seen: OnceCell::new() }
    }

    fn seen(&self) -> &[Frame] {
        self.seen.get_or_init(|| self.look())
    }

    fn look(&self) -> Vec<Frame> {
        let (rig, map) = (self.rig, self.map);
        let skeleton = rig.skeleton();
        let joints = skeleton.len() * rig.clips().len().max(1);
        let each = (MOST_JOINTS / joints.max(1)).clamp(1, FRAMES);
        let mut seen = Vec::new();
        for (clip, own) in rig.clips().iter().enumerate() {
            if own.kind() == ClipKind::Additive {
                continue;
            }
            let (motion, _) = Motion::of_clip(own, skeleton);
            for time in motion.frames(own.duration(), each) {
                let models = &motion.models(time)[..];
                let stance = Stance { map, models };
                let axis = stance.axis();
                let up = axis.unwrap_or(DVec3::Y);
                seen.push(Frame {
                    clip,
                    time,
                    axis,
                    high: axis.is_some() && stance.is_high(up),
                    erect: axis.is_some() && stance.is_erect(up),
                    strain: stance.strain(up),
                });
            }
        }
        seen
    }

    /// The up axis: the axis of the rest pose, unless that pose lies; or the axis of frames that stand at the height of
    /// legs; or y, if frames stand along it.
    fn up(&self) -> Option<DVec3> {
        let skeleton = self.rig.skeleton();
        let own = Stance { map: self.map, models: &models(skeleton, &rest(skeleton)) };
        let high = || self.seen().iter().filter(|frame| frame.high);
        let other = |up: DVec3| high().filter_map(|frame| frame.axis).find(|axis| *axis != up);
        match own.axis() {
            Some(DVec3::Y) if own.is_high(DVec3::Y) => Some(DVec3::Y),
            // A clip that lies can be at any distance from the origin, but hardly at all times and along one axis.
            Some(DVec3::Y) => {
                let along = |f: &Frame, axis| f.high && f.erect && f.axis == Some(axis);
                let all = |axis: &DVec3| self.seen().iter().all(|frame| along(frame, *axis));
                other(DVec3::Y).filter(all).or(Some(DVec3::Y))
            }
            Some(up) if high().any(|frame| frame.axis == Some(up)) => Some(up),
            Some(up) => match other(up) {
                None if own.is_high(up) => Some(up),
                None => self.in_place(),
                other => other,
            },
            None if own.is_up(DVec3::Y) => Some(DVec3::Y),
            None => high().find_map(|frame| frame.axis).or_else(|| self.in_place()),
        }
    }

    /// The y axis, if frames stand along it with straight legs, wherever their hips are.
    fn in_place(&self) -> Option<DVec3> {
        let stands = |frame: &Frame| frame.erect && frame.axis == Some(DVec3::Y);
        self.seen().iter().any(stands).then_some(DVec3::Y)
    }

    /// The first frame that stands straight, or the one that comes nearest to it.
    fn best(&self, up: DVec3) -> Option<&Frame> {
        let seen = || self.seen().iter().filter(|frame| frame.axis == Some(up));
        let high = seen().any(|frame| frame.high);
        let fit = || seen().filter(move |frame| frame.high || !high);
        let mut from = fit().skip_while(|frame| !frame.erect || frame.strain > STRAIGHT);
        let mut straight = from.next();
        // A body that rises from the ground stands where its strain no longer decreases.
        while let (Some(best), Some(next)) = (straight, from.next()) {
            if next.clip != best.clip || !next.erect || next.strain >= best.strain {
                break;
            }
            straight = Some(next);
        }
        straight.or_else(|| {
            let key = |frame: &&Frame| (!frame.erect, frame.strain);
            fit().min_by(|a, b| key(a).0.cmp(&key(b).0).then(key(a).1.total_cmp(&key(b).1)))
        })
    }
}
