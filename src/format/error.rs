//! `FormatError`: why a file is rejected, with section and byte offset.

use super::codec::CodecError;
use super::container::Section;
use crate::error::BuildError;
use crate::skeleton::HumanBone;
use crate::words::{are, plural, shorten};
use std::io;
use thiserror::Error;

/// Why a .phx file cannot be read.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{section} at byte {offset}: {fault}")]
pub struct FormatError {
    /// The section at fault.
    pub section: Section,
    /// Byte offset in the file of the wrong value, or of the list or section that holds it.
    pub offset: u64,
    /// The fault.
    pub fault: Fault,
}

/// A fault in a section.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum Fault {
    /// The first bytes are not those of a .phx file.
    #[error("this is not a .phx file")]
    Magic,
    /// The version is not [`VERSION`](super::VERSION).
    #[error("the file has version {have}, this library reads version {known}")]
    Version {
        /// Version of the file.
        have: u32,
        /// The supported version.
        known: u32,
    },
    /// The data ends too early.
    #[error("{what}: {} {} needed, {have} {} available", plural(*.needed, "byte"), are(*.needed), are(*.have))]
    Short {
        /// The contents of the missing bytes.
        what: &'static str,
        /// Bytes needed.
        needed: u64,
        /// Bytes available.
        have: u64,
    },
    /// The operating system reports an error while reading the open file.
    #[error("the file cannot be read: {message}")]
    Read {
        /// Kind of the error.
        kind: io::ErrorKind,
        /// The system's message.
        message: String,
    },
    /// Data follows after the end.
    #[error("the end is at byte {expected}, but the data continues to byte {have}")]
    Extra {
        /// Expected end, bytes.
        expected: u64,
        /// Actual end, bytes.
        have: u64,
    },
    /// The checksum does not match: the bytes have changed since they were written.
    #[error("the checksum is {found:016x}, the file states {stated:016x}")]
    Checksum {
        /// Checksum stated in the file.
        stated: u64,
        /// Checksum of the bytes.
        found: u64,
    },
    /// The bounds of a clip are not finite, or contradict their flags.
    #[error("the bounds of clip {clip} are not finite, or contradict their flags")]
    Bounds {
        /// Index of the clip.
        clip: usize,
    },
    /// A stated hash does not match the data.
    #[error("the hash of the {what} is {found:016x}, the file states {stated:016x}")]
    Hash {
        /// The hashed data.
        what: &'static str,
        /// Hash stated in the file.
        stated: u64,
        /// Hash of the data.
        found: u64,
    },
    /// A value is outside its limits.
    #[error("{what} is {found}, the limit is {limit}")]
    Limit {
        /// Name of the value.
        what: &'static str,
        /// Value in the file.
        found: u64,
        /// The nearest allowed value.
        limit: u64,
    },
    /// A number is NaN or infinite.
    #[error("{what}: number {index} is not finite")]
    NotFinite {
        /// The list that holds the number.
        what: &'static str,
        /// Position of the number in the list.
        index: usize,
    },
    /// A length is negative, NaN or infinite.
    #[error("{what} is {found}; it must be finite and at least 0")]
    Length {
        /// Name of the length.
        what: &'static str,
        /// Its value.
        found: f32,
    },
    /// A name is not UTF-8.
    #[error("name {name} is not valid UTF-8 at its byte {byte}")]
    Text {
        /// Index of the name.
        name: usize,
        /// First invalid byte of the name.
        byte: usize,
    },
    /// A required section is missing, or a section is repeated.
    #[error("there are {have} such sections, expected 1")]
    Sections {
        /// Number of such sections.
        have: usize,
    },
    /// Reading needs more memory than the size of the file allows.
    #[error("{needed} bytes of memory are needed, the limit is {limit}")]
    Memory {
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// An image cannot be decoded.
    #[error("the image cannot be decoded: {0}")]
    Picture(String),
    /// The skeleton, a skin, a clip or the rig is invalid.
    #[error(transparent)]
    Build(Box<BuildError>),
    /// One joint has two bones of the humanoid.
    #[error("joint {joint} {name:?} is given to two bones, \"{first}\" and \"{second}\"", name = shorten(.name))]
    JointTwice {
        /// Index of the joint.
        joint: usize,
        /// Its name.
        name: String,
        /// The first bone.
        first: HumanBone,
        /// The second bone.
        second: HumanBone,
    },
    /// A coded clip cannot be decoded.
    #[error("coded clip: {0}")]
    Codec(#[from] CodecError),
    /// A clip was built for another skeleton.
    #[error("the clip's skeleton has the hash {have:016x}, expected {needed:016x}")]
    Structure {
        /// Structure hash in the clip.
        have: u64,
        /// Structure hash of the skeleton.
        needed: u64,
    },
}

impl From<BuildError> for Fault {
    fn from(error: BuildError) -> Self {
        Self::Build(Box::new(error))
    }
}

/// Why a file cannot be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    /// The operating system reports an error.
    #[error("{file}: {source}")]
    Io {
        /// Path of the file.
        file: String,
        /// The cause.
        source: io::Error,
    },
    /// The file is not a valid .phx file.
    #[error("{file}: {source}")]
    Format {
        /// Path of the file.
        file: String,
        /// The cause.
        source: Box<FormatError>,
    },
}
