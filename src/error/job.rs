//! `JobError`: why a job refuses its buffers, with the buffer's name and both sizes.

use super::SkeletonMismatch;
use crate::words::{are, shorten};
use thiserror::Error;

/// A job's buffers do not fit each other. Nothing was written.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum JobError {
    /// A buffer is too small, or not of the one size allowed.
    #[error("{job}: buffer `{buffer}` holds {have}, needed are {needed}")]
    Size {
        /// Name of the job.
        job: &'static str,
        /// Name of the buffer.
        buffer: &'static str,
        /// Size of the buffer, in its elements.
        have: usize,
        /// Size needed, in the same elements.
        needed: usize,
    },
    /// A clip was built for another skeleton or another lane order.
    #[error("{job}: clip \"{clip}\" was built for another skeleton: {mismatch}", clip = shorten(.clip))]
    Skeleton {
        /// Name of the job.
        job: &'static str,
        /// Name of the clip.
        clip: String,
        /// The first difference: in the clip's skeleton, and in the job's.
        mismatch: SkeletonMismatch,
    },
    /// A full clip or pose where an additive one is needed, or the reverse.
    #[error("{job}: clip \"{clip}\" is {have}, needed is {needed}", clip = shorten(.clip))]
    Kind {
        /// Name of the job.
        job: &'static str,
        /// Name of the clip.
        clip: String,
        /// Kind of the clip or pose: full or additive.
        have: &'static str,
        /// Kind needed.
        needed: &'static str,
    },
    /// A number is NaN, infinite or out of range.
    #[error("{job}: `{what}` is {value}, allowed are {low} to {high}")]
    Value {
        /// Name of the job.
        job: &'static str,
        /// Name of the number.
        what: &'static str,
        /// Value of the number.
        value: f32,
        /// Least value allowed.
        low: f32,
        /// Greatest value allowed.
        high: f32,
    },
    /// An index is not below the number of elements.
    #[error("{job}: `{what}` {index} at {place}, there {} {have}", are(*.have as u64))]
    Index {
        /// Name of the job.
        job: &'static str,
        /// The kind of element that the index names.
        what: &'static str,
        /// The index.
        index: usize,
        /// Position of the index in its array.
        place: usize,
        /// Number of elements.
        have: usize,
    },
}
