//! `SnapshotFault`: why bytes are not a snapshot.

use crate::playback::PlaybackError;
use crate::words::{are, number, plural, says};

/// The reason why bytes cannot be read as a snapshot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SnapshotError {
    /// Byte offset of the wrong value, or of the list that holds it.
    pub offset: u64,
    /// The fault.
    pub fault: SnapshotFault,
}

impl From<SnapshotError> for PlaybackError {
    fn from(SnapshotError { offset, fault }: SnapshotError) -> Self {
        Self::SnapshotBytes { offset, fault }
    }
}

/// A fault in the bytes of a snapshot.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SnapshotFault {
    /// The first bytes are not those of a snapshot.
    Magic,
    /// The version is not [`SNAPSHOT_VERSION`](super::SNAPSHOT_VERSION).
    Version {
        /// Version of the snapshot.
        have: u16,
        /// The supported version.
        known: u16,
    },
    /// The snapshot is of a mixer where a crowd's is needed, or the reverse.
    Kind {
        /// Kind of the snapshot.
        have: u8,
        /// Kind needed.
        needed: u8,
    },
    /// The bytes end too early.
    Short {
        /// Name of the missing value.
        what: &'static str,
        /// Number of bytes needed.
        needed: u64,
        /// Number of bytes available.
        have: u64,
    },
    /// Bytes follow the end of the snapshot.
    Extra {
        /// Offset of the expected end.
        expected: u64,
        /// Number of bytes.
        have: u64,
    },
    /// The checksum does not match: the bytes have changed since they were written.
    Checksum {
        /// Checksum stated in the snapshot.
        stated: u64,
        /// Checksum of the bytes.
        found: u64,
    },
    /// An integer is above its limit.
    Limit {
        /// Name of the value.
        what: &'static str,
        /// Value in the snapshot.
        found: u64,
        /// Largest value allowed.
        limit: u64,
    },
    /// A number is NaN, infinite or out of range.
    Value {
        /// Name of the number.
        what: &'static str,
        /// Value of the number.
        value: f64,
        /// Smallest allowed value.
        low: f64,
        /// Largest allowed value.
        high: f64,
    },
    /// Values contradict each other.
    Contradiction(&'static str),
}

says! { SnapshotFault:
    Self::Magic =>
        ("this is not a snapshot"),
    Self::Version { have, known } =>
        ("the snapshot has version {have}, supported is version {known}"),
    Self::Kind { have, needed } =>
        ("the snapshot is of kind {have}, needed is kind {needed} (1: a crowd, 2: a mixer)"),
    Self::Short { what, needed, have } =>
        ("{what}: {} {} needed, {have} {} available", plural(*needed, "byte"), are(*needed), are(*have)),
    Self::Extra { expected, have } =>
        ("the end is at byte {expected}, but the bytes continue to {have}"),
    Self::Checksum { stated, found } =>
        ("the checksum is {found:016x}, the snapshot states {stated:016x}"),
    Self::Limit { what, found, limit } =>
        ("{what} is {found}, the limit is {limit}"),
    Self::Value { what, value, low, high } =>
        ("{what} is {}; the allowed range is {} to {}", number(*value), number(*low), number(*high)),
    Self::Contradiction(inner) =>
        ("{inner}"),
}
