//! `RetargetError`: why a clip cannot be retargeted.

use super::humanoid::MapError;
use crate::build::ClipBuildError;
use crate::clip::Clip;
use crate::skeleton::Skeleton;
use thiserror::Error;

/// Why a clip cannot be retargeted.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum RetargetError {
    /// A map is refused.
    #[error(transparent)]
    Map(#[from] MapError),
    /// A map names a joint that its skeleton does not have.
    #[error("the map of the {side} has joint {joint}, its skeleton has {joints} joints")]
    Foreign {
        /// `source` or `target`.
        side: &'static str,
        /// The joint.
        joint: usize,
        /// Joints of the skeleton.
        joints: usize,
    },
    /// The clip is additive: differences to a pose have no direction in space.
    #[error("clip \"{clip}\" is additive; only full clips can be retargeted")]
    Additive {
        /// The clip.
        clip: String,
    },
    /// The clip belongs to another skeleton than the source.
    #[error(
        "clip \"{clip}\" belongs to a skeleton with hash {have:016x}, the source has {needed:016x}"
    )]
    Skeleton {
        /// The clip.
        clip: String,
        /// Its skeleton's hash.
        have: u64,
        /// The hash expected.
        needed: u64,
    },
    /// A reference pose has not as many joints as the skeleton, or is not finite.
    #[error(
        "the reference pose of the {side} has {have} sound transforms, its skeleton has {needed} joints"
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
    /// The hips of a character have no height, or the heights differ beyond all measure.
    #[error(
        "the hips are {source_height:e} above the ground in the source and {target_height:e} in the target; \
         the ratio must be within {least:e} and {most:e}"
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
    /// A joint of the target cannot be placed: the scales above it are zero.
    #[error(
        "joint {joint} \"{name}\" of the target cannot be placed: the scales above it have the product {product:e}"
    )]
    Singular {
        /// The joint.
        joint: usize,
        /// Its name.
        name: String,
        /// The product of the scales.
        product: f64,
    },
    /// A threshold of the planting of feet is out of range.
    #[error("foot planting: {what} is {value}, it must be positive and finite")]
    Feet {
        /// The threshold.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// Keys and joints of a clip multiply beyond all measure.
    #[error("the clip needs at least {steps} steps of keys and joints, the limit is {limit}")]
    Work {
        /// Steps counted so far.
        steps: u64,
        /// The limit.
        limit: u64,
    },
    /// The resulting clip cannot be built.
    #[error(transparent)]
    Build(#[from] ClipBuildError),
}

impl RetargetError {
    /// The error of a clip that is not of the skeleton, or in another lane order.
    pub(super) fn skeleton(clip: &Clip, skeleton: &Skeleton) -> Self {
        let structure = (clip.structure_hash(), skeleton.structure_hash());
        let layout = (clip.layout_hash(), skeleton.layout_hash());
        let (have, needed) = if structure.0 == structure.1 {
            layout
        } else {
            structure
        };
        let clip = clip.name().to_owned();
        Self::Skeleton { clip, have, needed }
    }
}
