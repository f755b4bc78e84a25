//! `Shown`: a clip of the source's skeleton, in any order of its joints.

use crate::build::raw_clip;
use crate::clip::Clip;
use crate::raw::RawClip;
use crate::retarget::error::RetargetError;
use crate::skeleton::{Skeleton, SkeletonMismatch};

/// A clip of the source, whose joints may have another order.
pub struct Shown<'a> {
    clip: &'a Clip,
    /// For each joint of the source the joint of the clip, if their orders differ.
    joints: Option<Vec<u16>>,
}

impl<'a> Shown<'a> {
    pub fn new(clip: &'a Clip, source: &Skeleton) -> Result<Self, RetargetError> {
        let joints = match clip.skeleton().mismatch(source) {
            Some(SkeletonMismatch::JointOrder) => clip.skeleton().joints_in(source),
            _ => None,
        };
        if joints.is_none() {
            is_of(clip, source)?;
        }
        Ok(Self { clip, joints })
    }

    pub fn clip(&self) -> &'a Clip {
        self.clip
    }

    /// The joint of the clip for a joint of the source.
    pub fn joint_of_clip(&self, joint: usize) -> usize {
        let joints = self.joints.as_ref();
        joints.map_or(joint, |of| of.get(joint).map_or(joint, |j| usize::from(*j)))
    }

    /// The joint of the source for a joint of the clip.
    pub fn joint_of_source(&self, joint: u16) -> u16 {
        let joints = self.joints.iter().flatten();
        let found = joints.copied().position(|j| j == joint);
        found.map_or(joint, |found| found as u16)
    }

    /// The clip's tracks, with the joints of the source.
    pub fn tracks(&self) -> RawClip {
        let mut raw = raw_clip(self.clip, self.clip.skeleton());
        if let Some(joints) = &self.joints {
            let mut of_clip = vec![0; joints.len()];
            for (own, joint) in joints.iter().enumerate() {
                of_clip[usize::from(*joint)] = own;
            }
            // Scalars come after the joints.
            for track in &mut raw.tracks {
                track.node = of_clip.get(track.node).copied().unwrap_or(track.node);
            }
        }
        raw
    }
}

/// Fails if a clip is not of a skeleton, in any lane order.
pub fn is_of(clip: &Clip, skeleton: &Skeleton) -> Result<(), RetargetError> {
    match clip.skeleton().mismatch(skeleton) {
        None | Some(SkeletonMismatch::LaneOrder) => Ok(()),
        Some(mismatch) => Err(RetargetError::Skeleton {
            clip: clip.name().to_owned(),
            skeleton: "the skeleton that was bound",
            mismatch,
        }),
    }
}
