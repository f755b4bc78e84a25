//! One pose of a clip, by the library's job.

use phalanx::clip::{Clip, Cursor};
use phalanx::runtime::{JobError, SampleJob};
use phalanx::skeleton::{Pose, Skeleton};

/// Samples every channel of a clip at a time.
///
/// # Errors
/// If the clip does not fit the skeleton.
pub fn sample(clip: &Clip, skeleton: &Skeleton, time: f32) -> Result<Pose, JobError> {
    let mut output = skeleton.rest_pose().clone();
    let job = SampleJob {
        skeleton,
        clip,
        time,
        hints: &mut vec![0; clip.hint_count()],
        cursors: &mut vec![Cursor::default(); clip.timelines().len()],
        output: &mut output,
    };
    job.run()?;
    Ok(output)
}
