//! `RetargetError`: why a clip cannot be retargeted.

use super::humanoid::{HumanBone, MapError};
use crate::build::ClipBuildError;
use crate::clip::{Clip, ClipKind};
use crate::skeleton::{Skeleton, SkeletonMismatch};
use crate::words::{plural, shorten};
use thiserror::Error;

/// Why a clip cannot be retargeted.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum RetargetError {
    /// A map is refused.
    #[error(transparent)]
    Map(#[from] MapError),
    /// A map names a joint that its skeleton does not have.
    #[error("the map of the {side} has joint {joint}, its skeleton has {}", plural(*.joints as u64, "joint"))]
    Foreign {
        /// `source` or `target`.
        side: &'static str,
        /// The joint.
        joint: usize,
        /// Joints of the skeleton.
        joints: usize,
    },
    /// The clip is additive: differences to a pose have no direction in space.
    #[error("clip \"{clip}\" is additive; only full clips can be retargeted", clip = shorten(.clip))]
    Additive {
        /// The clip.
        clip: String,
    },
    /// The clip belongs to another skeleton than the source, or is in another lane order.
    #[error("clip \"{clip}\" is not of the source's skeleton: {mismatch}", clip = shorten(.clip))]
    Skeleton {
        /// The clip.
        clip: String,
        /// What differs: the clip's value first.
        mismatch: SkeletonMismatch,
    },
    /// A reference pose has not as many joints as the skeleton, or is not finite.
    #[error(
        "the reference pose of the {side} has {}, its skeleton has {}",
        plural(*.have as u64, "sound transform"),
        plural(*.needed as u64, "joint")
    )]
    Reference {
        /// `source` or `target`.
        side: &'static str,
        /// Sound transforms of the pose.
        have: usize,
        /// Joints of the skeleton.
        needed: usize,
    },
    /// The time of a reference pose is not finite.
    #[error("the time of the reference pose is {time}")]
    Time {
        /// The time.
        time: f32,
    },
    /// The time of a reference pose is not within its clip.
    #[error(
        "the time of the reference pose is {time} s, clip \"{clip}\" goes from 0 to {duration:.3} s", clip = shorten(.clip)
    )]
    Beyond {
        /// The clip.
        clip: String,
        /// The time, seconds.
        time: f32,
        /// The clip's duration, seconds.
        duration: f32,
    },
    /// The rest pose of a character lies, or shows its joints in a row.
    #[error(
        "the rest pose of the {side} does not stand: its trunk leans by {lean:.0}°, its hips are {height:.3} above its feet, \
         and its legs are {leg:.3} long; choose a pose that stands as reference"
    )]
    Lies {
        /// `source` or `target`.
        side: &'static str,
        /// The angle of its trunk from up, degrees.
        lean: f64,
        /// The hips above the lowest foot.
        height: f64,
        /// The length of its longer leg.
        leg: f64,
    },
    /// A rig has no mesh with a skin that moves joints of its skeleton: there is no bind pose.
    #[error("there is no bind pose: no skin has joints of the skeleton")]
    NoBind,
    /// The hips of a result are far above or below the ground, while those of the source are not: a reference pose does
    /// not stand.
    #[error(
        "clip \"{clip}\": at {time} s the hips are {target_height:.1} leg lengths above the ground, in the source \
         {source_height:.1}; choose a pose that stands as reference", clip = shorten(.clip)
    )]
    Far {
        /// The clip.
        clip: String,
        /// The time, seconds.
        time: f32,
        /// Height of the source's hips, in lengths of its legs.
        source_height: f64,
        /// Height of the target's hips, in lengths of its legs.
        target_height: f64,
    },
    /// The hips of a character have no height, or the heights differ beyond all measure.
    #[error(
        "the hips are {source_height:.3} above the ground in the source and {target_height:.3} in the target; \
         the ratio must be within {least:e} and {most:e}: choose poses that stand as reference"
    )]
    Height {
        /// Height of the source's hips.
        source_height: f64,
        /// Height of the target's hips.
        target_height: f64,
        /// The least ratio.
        least: f64,
        /// The largest ratio.
        most: f64,
    },
    /// What is below a joint has no place: its scale is zero or, with those above it, too small.
    #[error(
        "joint {joint} \"{name}\" of the {side} has scale {scale:?}; the hips and what is below them have no place", name = shorten(.name)
    )]
    Singular {
        /// `source` or `target`.
        side: &'static str,
        /// The joint, above the hips or the hips themselves.
        joint: usize,
        /// Its name.
        name: String,
        /// Its scale in the reference pose.
        scale: [f64; 3],
    },
    /// A joint above bones has a negative scale: it mirrors or turns what is below, which no rotation of joints does.
    #[error(
        "joint {joint} \"{name}\" of the {side} has scale {scale:?}, which mirrors or turns the bones below; export it with that scale \
         applied", name = shorten(.name)
    )]
    Mirrored {
        /// `source` or `target`.
        side: &'static str,
        /// The joint.
        joint: usize,
        /// Its name.
        name: String,
        /// Its scale in the reference pose.
        scale: [f64; 3],
    },
    /// A threshold of the planting of feet is out of range.
    #[error("foot planting: {what} is {value}, it must be positive and finite")]
    Feet {
        /// The threshold.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// Neither foot can be planted.
    #[error("no foot can be planted: the {side} has no {bone}")]
    Legs {
        /// `source` or `target`.
        side: &'static str,
        /// The bone that the left leg lacks.
        bone: HumanBone,
    },
    /// Keys and joints of a clip multiply beyond all measure.
    #[error("the clip needs {steps} steps or more of keys and joints, the limit is {limit}")]
    Work {
        /// Steps counted.
        steps: u64,
        /// The limit.
        limit: u64,
    },
    /// The resulting clip cannot be built.
    #[error(transparent)]
    Build(#[from] ClipBuildError),
}

impl RetargetError {
    /// Fails if the clip is additive, or not of the skeleton in its lane order.
    pub(super) fn check(clip: &Clip, skeleton: &Skeleton) -> Result<(), Self> {
        let name = || clip.name().to_owned();
        if clip.kind() == ClipKind::Additive {
            return Err(Self::Additive { clip: name() });
        }
        match clip.skeleton().mismatch(skeleton) {
            Some(mismatch) => Err(Self::Skeleton {
                clip: name(),
                mismatch,
            }),
            None => Ok(()),
        }
    }
}
