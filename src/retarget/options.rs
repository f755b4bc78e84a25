//! `RetargetOptions`: what a retargeting keeps, and how poses are compared.

use super::error::RetargetError;
use super::feet::FootPlanting;
use super::motion::Motion;
use crate::clip::Clip;
use crate::skeleton::{Skeleton, Trs};
use glam::{Quat, Vec3};

/// Times so far beyond a clip are its ends, seconds: the rounding of printed durations.
const ROUNDED: f32 = 5e-4;

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
        let local = |joint: usize| {
            let local = motion.local(joint, time);
            let narrow = |v: glam::DVec3| Vec3::from_array(v.to_array().map(|v| v as f32));
            Trs {
                translation: narrow(local.translation),
                rotation: Quat::from_array(local.rotation.to_array().map(|v| v as f32)),
                scale: narrow(local.scale),
            }
        };
        Ok(Self::Pose((0..skeleton.len()).map(local).collect()))
    }
}

/// Which bones of the target's reference pose are turned into the directions of the source's.
///
/// An A-pose and a T-pose differ in the directions of the arms. A bone is turned by the smallest rotation, so its
/// twist stays. Hands and toes follow the bone above; feet keep their rest rotation, as soles are flat in both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Alignment {
    /// None: both reference poses are alike already.
    None,
    /// Upper and lower arms and legs.
    #[default]
    Limbs,
    /// Arms, legs and fingers.
    LimbsAndFingers,
}

/// What becomes of animated scales.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScaleMode {
    /// Dropped, and named in the report.
    Drop,
    /// Bones take the factor of the source's scale to its reference, axis by axis. It is exact if the factor is uniform
    /// or the axes of both joints are the same within 1°, in any order and sign; else the target gets the nearest scale
    /// that its axes allow. The report names both, and other joints, whose scale is dropped.
    #[default]
    Keep,
}

/// Where the source stands: the height that counts as zero when its hips are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ground {
    /// As the reference pose, unless that does not stand on the origin and the clip's lowest foot is nearer to the origin
    /// than to the pose's lowest foot, as in files of motion capture: then as `Origin`.
    #[default]
    Auto,
    /// The lowest foot of the reference pose.
    Reference,
    /// Height 0 of model space.
    Origin,
}

/// Options of a [`Retargeting`](super::Retargeting).
#[derive(Clone, Debug, PartialEq)]
pub struct RetargetOptions {
    /// The source's reference pose. Default: its rest pose.
    pub source_reference: Reference,
    /// The target's reference pose. Default: its rest pose.
    pub target_reference: Reference,
    /// Which bones are aligned. Default: limbs.
    pub alignment: Alignment,
    /// What becomes of animated scales. Default: kept.
    pub scale: ScaleMode,
    /// Where the source stands. Default: found.
    pub ground: Ground,
    /// Whether left and right are swapped. Default: no.
    pub mirror: bool,
    /// Planting of feet. Default: `None`.
    pub feet: Option<FootPlanting>,
    /// The most bytes of rows of a resulting clip. Default: 1 GiB.
    pub max_clip_bytes: usize,
}

impl Default for RetargetOptions {
    fn default() -> Self {
        Self {
            source_reference: Reference::Rest,
            target_reference: Reference::Rest,
            alignment: Alignment::default(),
            scale: ScaleMode::default(),
            ground: Ground::default(),
            mirror: false,
            feet: None,
            // An hour of 60 joints at 60 Hz takes 220 MB.
            max_clip_bytes: 1 << 30,
        }
    }
}
