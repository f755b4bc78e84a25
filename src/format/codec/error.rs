//! `CodecError`: why a clip cannot be encoded or decoded.

use crate::error::BuildError;
use crate::words::{are, plural};
use thiserror::Error;

/// Why a clip cannot be encoded or decoded.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum CodecError {
    /// The data ends too early.
    #[error("byte {offset}: {} {} needed, {have} {} available", plural(*.needed as u64, "byte"), are(*.needed as u64), are(*.have as u64))]
    Short {
        /// Offset of the missing byte.
        offset: usize,
        /// Least number of bytes needed.
        needed: usize,
        /// Bytes available.
        have: usize,
    },
    /// Data follows after the end.
    #[error("the clip ends at byte {offset}, but the data continues to byte {have}")]
    Extra {
        /// End of the clip, bytes.
        offset: usize,
        /// Bytes available.
        have: usize,
    },
    /// A number is out of range.
    #[error("byte {offset}: {what} is {found}, the limit is {limit}")]
    Limit {
        /// Number of bytes read.
        offset: usize,
        /// Name of the number.
        what: &'static str,
        /// Value of the number.
        found: u64,
        /// The nearest allowed value.
        limit: u64,
    },
    /// The clip is larger than its bytes allow; see [`EXPANSION`](super::EXPANSION).
    #[error("byte {offset}: {needed} bytes of memory are needed, {limit} are allowed")]
    Memory {
        /// Number of bytes read.
        offset: usize,
        /// Least memory needed, bytes.
        needed: usize,
        /// Memory allowed for the size of the data, bytes.
        limit: usize,
    },
    /// The clip was made for another skeleton or lane order.
    #[error("the clip was made for skeleton {have:08x}, not for {needed:08x}")]
    Skeleton {
        /// Hash of the clip's skeleton and lane order, folded to 32 bits.
        have: u32,
        /// The same hash of the skeleton in use.
        needed: u32,
    },
    /// The decoded parts are not a valid clip.
    #[error("up to byte {offset}: {error}")]
    Clip {
        /// End of the parts, bytes.
        offset: usize,
        /// The cause.
        #[source]
        error: Box<BuildError>,
    },
}
