//! `ReadError`: why a file is rejected, with section and byte offset.

use super::container::Section;
use crate::error::BuildError;
use crate::words::{are, plural, says};
use std::fmt;
use std::io;
use std::path::Path;

/// An error of reading a .phx file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ReadError {
    /// Path of the file; `None` for bytes in memory and for files that were open before.
    pub file: Option<String>,
    /// The section at fault; the header if the file cannot be opened.
    pub section: Section,
    /// Byte offset in the file of the wrong value, or of the list or section that holds it.
    pub offset: u64,
    /// The fault.
    pub fault: Fault,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}: ")?;
        }
        // A file that cannot be opened has no sections.
        if !matches!(self.fault, Fault::Open { .. }) {
            write!(f, "{} at byte {}: ", self.section, self.offset)?;
        }
        write!(f, "{}", self.fault)
    }
}

impl std::error::Error for ReadError {}

impl ReadError {
    /// The error with the file that it is of.
    pub fn in_file(self, file: impl Into<String>) -> Self {
        Self { file: Some(file.into()), ..self }
    }

    /// A file that the operating system does not open.
    pub(super) fn open(path: &Path) -> impl Fn(io::Error) -> Self + '_ {
        |error| {
            let (kind, message) = (error.kind(), error.to_string());
            let error = Section::Header.fault(0, Fault::Open { kind, message });
            error.in_file(path.display().to_string())
        }
    }
}

/// A fault in a section.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Fault {
    /// The file does not begin as a .phx file does.
    Magic,
    /// The version is not 1.
    Version {
        /// Version of the file.
        have: u32,
        /// The supported version.
        known: u32,
    },
    /// The data ends too early.
    Short {
        /// The contents of the missing bytes.
        what: &'static str,
        /// Bytes needed.
        needed: u64,
        /// Bytes available.
        have: u64,
    },
    /// The operating system reports an error while opening the file.
    Open {
        /// Kind of the error.
        kind: io::ErrorKind,
        /// The system's message.
        message: String,
    },
    /// The operating system reports an error while reading the open file.
    Read {
        /// Kind of the error.
        kind: io::ErrorKind,
        /// The system's message.
        message: String,
    },
    /// Data follows after the end.
    Extra {
        /// Expected end, bytes.
        expected: u64,
        /// Actual end, bytes.
        have: u64,
    },
    /// The checksum does not match: the bytes have changed since they were written.
    Checksum {
        /// Checksum stated in the file.
        stated: u64,
        /// Checksum of the bytes.
        found: u64,
    },
    /// A value is outside its limits.
    Limit {
        /// Name of the value.
        what: &'static str,
        /// Value in the file.
        found: u64,
        /// The nearest allowed value.
        limit: u64,
    },
    /// A number is NaN or infinite.
    NotFinite {
        /// The list that holds the number.
        what: &'static str,
        /// Position of the number in the list.
        index: usize,
    },
    /// A required section is missing, or a section is repeated.
    Sections(usize),
    /// Reading needs more memory than the size of the file allows.
    Memory {
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// An image cannot be decoded.
    Picture(String),
    /// A value that no host treats separately: the words say what is wrong.
    Invalid(String),
    /// The skeleton, a skin, a clip or the rig is invalid.
    Build(Box<BuildError>),
    /// A clip was built for another skeleton.
    Structure {
        /// Hash in the clip: of the structure or, in 32 bits, of structure and lane order.
        have: u64,
        /// The same hash of the skeleton.
        needed: u64,
    },
}

says! { Fault:
    Self::Open { message, .. } => ("{message}"),
    Self::Magic => ("this is not a .phx file"),
    Self::Version { have, known } => ("the file has version {have}, this library reads version {known}"),
    Self::Short { what, needed, have } =>
        ("{what}: {} {} needed, {have} {} available", plural(*needed, "byte"), are(*needed), are(*have)),
    Self::Read { message, .. } => ("the file cannot be read: {message}"),
    Self::Extra { expected, have } => ("the end is at byte {expected}, but the data continues to byte {have}"),
    Self::Checksum { stated, found } => ("the checksum is {found:016x}, the file states {stated:016x}"),
    Self::Limit { what, found, limit } => ("{what} is {found}, the limit is {limit}"),
    Self::NotFinite { what, index } => ("{what}: number {index} is not finite"),
    Self::Sections(have) => ("there are {have} such sections, expected 1"),
    Self::Memory { needed, limit } => ("{needed} bytes of memory are needed, the limit is {limit}"),
    Self::Invalid(words) => ("{words}"),
    Self::Picture(inner) => ("the image cannot be decoded: {inner}"),
    Self::Build(inner) => ("{inner}"),
    Self::Structure { have, needed } => ("the clip's skeleton has the hash {have:08x}, expected {needed:08x}"),
}

impl Fault {
    /// A value outside its limits; `limit` is the nearest allowed value.
    pub(super) fn limit(what: &'static str, found: impl Into<u64>, limit: impl Into<u64>) -> Self {
        Self::Limit { what, found: found.into(), limit: limit.into() }
    }

    /// A stated hash does not match the data.
    pub(super) fn hash(what: &str, stated: u64, found: u64) -> Self {
        Self::Invalid(format!(
            "the hash of the {what} is {found:016x}, the file states {stated:016x}"
        ))
    }
}

impl From<BuildError> for Fault {
    fn from(error: BuildError) -> Self {
        Self::Build(Box::new(error))
    }
}
