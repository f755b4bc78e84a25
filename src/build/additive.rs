//! Additive clips as differences to the rest pose, a frame of a clip, or a pose.

use super::check::BuildError;
use super::rig::build_additive;
use crate::clip::{Clip, ClipKind, Cursor};
use crate::import::raw::RawScene;
use crate::rig::Rig;
use crate::runtime::{JobError, SampleJob};
use crate::skeleton::Pose;

/// What an additive clip is the difference to.
#[derive(Clone, Copy, Debug)]
pub enum AdditiveReference<'a> {
    /// The skeleton's rest pose.
    Rest,
    /// A clip of the rig, by its index, and a time in seconds.
    Frame(usize, f32),
    /// A pose in the lane order of the rig's skeleton.
    Pose(&'a Pose),
}

/// Builds an additive clip from a raw one, as differences to a reference.
///
/// # Errors
/// If the rig has no such reference clip, or that clip is additive or ends before the time; and those of
/// [`build_additive`](super::build_additive).
pub fn build_additive_from(
    raw: &RawScene,
    clip: usize,
    rig: &Rig,
    reference: AdditiveReference<'_>,
) -> Result<Clip, BuildError> {
    let skeleton = rig.skeleton();
    match reference {
        AdditiveReference::Rest => build_additive(raw, clip, rig, skeleton.rest_pose()),
        AdditiveReference::Pose(pose) => build_additive(raw, clip, rig, pose),
        AdditiveReference::Frame(frame, time) => {
            let found = rig.clips().get(frame);
            let found = found.filter(|c| c.kind() == ClipKind::Full);
            let found = found.ok_or_else(|| BuildError::Index {
                place: "additive reference".to_owned(),
                what: "full clip",
                index: frame,
                have: rig.clips().len(),
            })?;
            if !(0.0..=found.duration()).contains(&time) {
                return Err(BuildError::Reference(JobError::Value {
                    job: "build_additive_from",
                    what: "time",
                    value: time,
                    low: 0.0,
                    high: found.duration(),
                }));
            }
            let mut pose = skeleton.new_pose();
            SampleJob {
                skeleton,
                clip: found,
                time,
                hints: &mut vec![0; found.hint_count()],
                cursors: &mut vec![Cursor::default(); found.timelines().len()],
                output: &mut pose,
            }
            .run()
            .map_err(BuildError::Reference)?;
            build_additive(raw, clip, rig, &pose)
        }
    }
}
