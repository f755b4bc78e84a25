//! `CodecError`: why bytes are no clip.

use crate::clip::ClipError;
use thiserror::Error;

/// Why bytes are no clip of a skeleton.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum CodecError {
    /// Bytes end too early.
    #[error("byte {offset}: {needed} bytes are needed, {have} are there")]
    Short {
        /// Where they end.
        offset: usize,
        /// Bytes needed at least.
        needed: usize,
        /// Bytes there.
        have: usize,
    },
    /// Bytes go on after the end.
    #[error("the clip ends at byte {offset}, bytes go on to {have}")]
    Extra {
        /// Where the clip ends.
        offset: usize,
        /// Bytes there.
        have: usize,
    },
    /// A number is out of range.
    #[error("byte {offset}: {what} is {found}, the limit is {limit}")]
    Limit {
        /// Up to where bytes were read.
        offset: usize,
        /// The number.
        what: &'static str,
        /// What it is.
        found: u64,
        /// What it may be.
        limit: u64,
    },
    /// The clip is larger than its bytes allow; see [`EXPANSION`](super::EXPANSION).
    #[error("byte {offset}: {needed} bytes of memory are needed, {limit} are allowed")]
    Memory {
        /// Up to where bytes were read.
        offset: usize,
        /// Bytes of memory needed at least.
        needed: usize,
        /// What is allowed for so many bytes.
        limit: usize,
    },
    /// The clip was made for another skeleton, or another order of its lanes.
    #[error("the clip is one of skeleton {have:08x}, not of {needed:08x}")]
    Skeleton {
        /// A hash of the skeleton that it was made for.
        have: u32,
        /// That of the one here.
        needed: u32,
    },
    /// The parts are no clip.
    #[error("up to byte {offset}: {error}")]
    Clip {
        /// Where the parts end.
        offset: usize,
        /// What is wrong with them.
        #[source]
        error: ClipError,
    },
}
