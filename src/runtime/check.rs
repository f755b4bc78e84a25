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

/// Checks that two poses have the same shape, reporting the first part that differs.
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
