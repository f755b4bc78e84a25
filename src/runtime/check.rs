//! The checks of jobs: sizes of buffers, shapes of poses, ranges of numbers.

pub(super) use crate::error::JobError;

/// Checks that a buffer has exactly the size needed.
pub(crate) fn exact(
    job: &'static str,
    buffer: &'static str,
    have: usize,
    needed: usize,
) -> Result<(), JobError> {
    if have == needed { Ok(()) } else { Err(JobError::Size { job, buffer, have, needed }) }
}

/// Checks that a buffer has at least the size needed.
pub(crate) fn at_least(
    job: &'static str,
    buffer: &'static str,
    have: usize,
    needed: usize,
) -> Result<(), JobError> {
    if have >= needed { Ok(()) } else { Err(JobError::Size { job, buffer, have, needed }) }
}

/// Checks that a pose has this shape, reporting the first part that differs. `names` are [`parts`] of the pose.
pub(crate) fn same_shape(
    job: &'static str,
    names: [&'static str; 4],
    have: [usize; 4],
    needed: [usize; 4],
) -> Result<(), JobError> {
    for i in 0..4 {
        exact(job, names[i], have[i], needed[i])?;
    }
    Ok(())
}

/// The names of the parts of a pose.
macro_rules! parts {
    ($pose:literal) => {
        [
            concat!($pose, ".translation"),
            concat!($pose, ".rotation"),
            concat!($pose, ".scale"),
            concat!($pose, ".scalars"),
        ]
    };
}
pub(super) use parts;

/// Checks that a number is finite and within a range.
pub(crate) fn in_range(
    job: &'static str,
    what: &'static str,
    value: f32,
    low: f32,
    high: f32,
) -> Result<(), JobError> {
    if value >= low && value <= high {
        Ok(())
    } else {
        Err(JobError::Value { job, what, value, low, high })
    }
}
