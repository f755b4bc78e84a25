//! `FormatError`: what is wrong with a file, in which section and where.

use super::codec::CodecError;
use super::container::Section;
use crate::build::RelaneError;
use crate::clip::ClipError;
use crate::rig::RigError;
use crate::skeleton::{SkeletonError, SkinError};
use std::io;
use thiserror::Error;

/// Why bytes are no .phx file that can be used.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{section} at byte {offset}: {fault}")]
pub struct FormatError {
    /// The section.
    pub section: Section,
    /// Where in the file, in bytes: the value that is wrong, or the list or section that holds it.
    pub offset: u64,
    /// What is wrong.
    pub fault: Fault,
}

/// What is wrong with a section.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum Fault {
    /// The first bytes are not those of a .phx file.
    #[error("this is no .phx file")]
    Magic,
    /// A newer major version.
    #[error("the file is of version {have}, versions up to {known} are read")]
    Version {
        /// The file's.
        have: u16,
        /// The newest that is read.
        known: u16,
    },
    /// Features that a reader must know.
    #[error("the file needs the features {have:#x}, known are {known:#x}")]
    Features {
        /// The file's bits.
        have: u64,
        /// The bits known here.
        known: u64,
    },
    /// What is in the file needs a feature that its header does not state.
    #[error("the form needs the features {needed:#x}, the header states {have:#x}")]
    Unstated {
        /// The bits of the header.
        have: u64,
        /// The bits needed.
        needed: u64,
    },
    /// Bytes end too early.
    #[error("{what}: {needed} bytes are needed, {have} are there")]
    Short {
        /// What they hold.
        what: &'static str,
        /// Bytes needed.
        needed: u64,
        /// Bytes there.
        have: u64,
    },
    /// Bytes go on after the end.
    #[error("the end is at byte {expected}, bytes go on to {have}")]
    Extra {
        /// Where the end should be.
        expected: u64,
        /// Where it is.
        have: u64,
    },
    /// Bytes have changed since they were written.
    #[error("the checksum is {found:016x}, stated is {stated:016x}")]
    Checksum {
        /// What the file says.
        stated: u64,
        /// That of its bytes.
        found: u64,
    },
    /// A hash differs from that of what was read.
    #[error("the hash of the {what} is {found:016x}, stated is {stated:016x}")]
    Hash {
        /// Of what.
        what: &'static str,
        /// What the file says.
        stated: u64,
        /// That of what was read.
        found: u64,
    },
    /// A value is not one of those allowed.
    #[error("{what} is {found}, the limit is {limit}")]
    Limit {
        /// Which value.
        what: &'static str,
        /// The value.
        found: u64,
        /// The largest, or the only one, allowed.
        limit: u64,
    },
    /// A number is NaN or infinite.
    #[error("{what}: number {index} is not finite")]
    NotFinite {
        /// Of what.
        what: &'static str,
        /// Which.
        index: usize,
    },
    /// A length that is negative, NaN or infinite.
    #[error("{what} is {found}, it must be 0 or more, and finite")]
    Length {
        /// Which length.
        what: &'static str,
        /// Its value.
        found: f32,
    },
    /// Text is not UTF-8.
    #[error("name {name} is not UTF-8 from its byte {byte} on")]
    Text {
        /// The name.
        name: usize,
        /// The first byte that is none.
        byte: usize,
    },
    /// A section of which there must be one.
    #[error("there are {have} such sections, needed is one")]
    Sections {
        /// How many there are.
        have: usize,
    },
    /// The file would take more memory than its size allows.
    #[error("{needed} bytes of memory are needed, the limit is {limit}")]
    Memory {
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// A picture cannot be decoded.
    #[error("the picture cannot be decoded: {0}")]
    Picture(String),
    /// The joints make no skeleton.
    #[error(transparent)]
    Skeleton(#[from] SkeletonError),
    /// A skin is not usable.
    #[error("skin {skin}: {source}")]
    Skin {
        /// The skin.
        skin: usize,
        /// Why.
        source: SkinError,
    },
    /// A clip is not usable.
    #[error(transparent)]
    Clip(#[from] ClipError),
    /// The bytes of a coded clip are none.
    #[error("in the coded clip, {0}")]
    Codec(#[from] CodecError),
    /// The parts make no rig.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// A clip cannot be laid out for another lane order.
    #[error(transparent)]
    Relane(#[from] RelaneError),
    /// A clip was built for another skeleton.
    #[error("the clip's skeleton has the hash {have:016x}, needed is {needed:016x}")]
    Structure {
        /// The clip's.
        have: u64,
        /// The skeleton's.
        needed: u64,
    },
}

/// Why a file cannot be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    /// The operating system refuses.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// It is no .phx file that can be used.
    #[error("{file}: {source}")]
    Format {
        /// The file.
        file: String,
        /// Why.
        source: Box<FormatError>,
    },
}
