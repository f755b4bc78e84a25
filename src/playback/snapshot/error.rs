//! `SnapshotError`: why bytes are no snapshot.

use crate::words::{are, number, plural};
use thiserror::Error;

/// Why bytes cannot be read as a snapshot.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("snapshot at byte {offset}: {fault}")]
pub struct SnapshotError {
    /// Byte offset of the wrong value, or of the list that holds it.
    pub offset: u64,
    /// The fault.
    pub fault: SnapshotFault,
}

/// A fault in the bytes of a snapshot.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SnapshotFault {
    /// The first bytes are not those of a snapshot.
    #[error("this is not a snapshot")]
    Magic,
    /// The version is not [`SNAPSHOT_VERSION`](super::SNAPSHOT_VERSION).
    #[error("the snapshot has version {have}, supported is version {known}")]
    Version {
        /// Version of the snapshot.
        have: u16,
        /// The supported version.
        known: u16,
    },
    /// The snapshot is of a mixer where that of a crowd is needed, or the reverse.
    #[error("the snapshot is of kind {have}, needed is kind {needed} (1: a crowd, 2: a mixer)")]
    Kind {
        /// The kind of the snapshot.
        have: u8,
        /// The kind needed.
        needed: u8,
    },
    /// The bytes end too early.
    #[error("{what}: {} {} needed, {have} {} available", plural(*.needed, "byte"), are(*.needed), are(*.have))]
    Short {
        /// The contents of the missing bytes.
        what: &'static str,
        /// Bytes needed.
        needed: u64,
        /// Bytes available.
        have: u64,
    },
    /// Bytes follow after the end.
    #[error("the end is at byte {expected}, but the bytes continue to {have}")]
    Extra {
        /// Expected end, bytes.
        expected: u64,
        /// Actual end, bytes.
        have: u64,
    },
    /// The checksum does not match: the bytes have changed since they were written.
    #[error("the checksum is {found:016x}, the snapshot states {stated:016x}")]
    Checksum {
        /// Checksum stated in the snapshot.
        stated: u64,
        /// Checksum of the bytes.
        found: u64,
    },
    /// An integer is above its limit.
    #[error("{what} is {found}, the limit is {limit}")]
    Limit {
        /// Name of the value.
        what: &'static str,
        /// Value in the snapshot.
        found: u64,
        /// The largest allowed value.
        limit: u64,
    },
    /// A number is NaN, infinite or out of range.
    #[error(
        "{what} is {}; the allowed range is {} to {}",
        number(*.value), number(*.low), number(*.high)
    )]
    Value {
        /// Name of the number.
        what: &'static str,
        /// Its value.
        value: f64,
        /// Smallest allowed value.
        low: f64,
        /// Largest allowed value.
        high: f64,
    },
    /// Values contradict each other.
    #[error("{0}")]
    Contradiction(&'static str),
}
