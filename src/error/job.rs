//! What a job refuses, with the buffer and both sizes.

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
        /// The job.
        job: &'static str,
        /// The buffer.
        buffer: &'static str,
        /// Its size, in its own elements.
        have: usize,
        /// The size needed.
        needed: usize,
    },
    /// A clip was built for another skeleton or another lane order.
    #[error("{job}: clip \"{clip}\" was built for another skeleton: {mismatch}", clip = shorten(.clip))]
    Skeleton {
        /// The job.
        job: &'static str,
        /// The clip.
        clip: String,
        /// The first difference: in the clip's skeleton, and in the job's.
        mismatch: SkeletonMismatch,
    },
    /// A full clip or pose where an additive one is needed, or the reverse.
    #[error("{job}: clip \"{clip}\" is {have}, needed is {needed}", clip = shorten(.clip))]
    Kind {
        /// The job.
        job: &'static str,
        /// The clip.
        clip: String,
        /// What it is.
        have: &'static str,
        /// What is needed.
        needed: &'static str,
    },
    /// A number is NaN, infinite or out of range.
    #[error("{job}: `{what}` is {value}, allowed are {low} to {high}")]
    Value {
        /// The job.
        job: &'static str,
        /// The number's name.
        what: &'static str,
        /// Its value.
        value: f32,
        /// Least value allowed.
        low: f32,
        /// Greatest value allowed.
        high: f32,
    },
    /// An index points past the end of what it indexes.
    #[error("{job}: `{what}` {index} at {place}, there {} {have}", are(*.have as u64))]
    Index {
        /// The job.
        job: &'static str,
        /// What the index names.
        what: &'static str,
        /// The index.
        index: usize,
        /// Where it stands.
        place: usize,
        /// How many there are.
        have: usize,
    },
}
