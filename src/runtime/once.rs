//! Jobs that run once, with buffers of their own.

use super::{JobError, LocalToModelJob, SampleJob};
use crate::clip::{Clip, Cursor};
use crate::math::{Affine3x4, Row};
use crate::skeleton::{Pose, Skeleton};

/// The pose of a clip at a time in seconds, as by [`SampleJob`].
pub(crate) fn sample_once(clip: &Clip, skeleton: &Skeleton, time: f32) -> Result<Pose, JobError> {
    let mut output = skeleton.rest_pose().clone();
    let hints = &mut vec![0; clip.hint_count()];
    let cursors = &mut vec![Cursor::default(); clip.timelines().len()];
    SampleJob { skeleton, clip, time, hints, cursors, output: &mut output }.run()?;
    Ok(output)
}

/// The model matrices of a pose in joint order, as by [`LocalToModelJob`].
pub(crate) fn models_once(skeleton: &Skeleton, pose: &Pose) -> Result<Vec<Affine3x4>, JobError> {
    let mut output = vec![Affine3x4::IDENTITY; skeleton.len()];
    let locals = &mut vec![[Row::splat(0.0); 12]; skeleton.blocks()];
    LocalToModelJob { skeleton, pose, locals, output: &mut output }.run()?;
    Ok(output)
}
