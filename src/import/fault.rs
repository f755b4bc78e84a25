//! `ImportFault`: what is wrong with a file, wherever in it.

use crate::error::BuildError;
use crate::words::{are, number, says};
use std::borrow::Cow;
use std::fmt;

/// Words behind a semicolon, or nothing.
struct After<'a>(&'a Option<&'static str>);

impl fmt::Display for After<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |words| write!(f, "; {words}"))
    }
}

/// A fault of a file. Texts of the file are cut after 40 characters.
#[derive(Debug)]
#[non_exhaustive]
pub enum ImportFault {
    /// The operating system cannot read the file.
    Io(std::io::Error),
    /// A fault that no host treats separately: the words say what is wrong.
    Invalid(Cow<'static, str>),
    /// `extensionsRequired` lists an extension that changes what is imported and is not read.
    Extension {
        /// Name of the extension.
        name: String,
        /// Effect of the extension: `changes geometry`, `changes textures`, `changes animation`, or `is not known`.
        effect: &'static str,
        /// Tool that writes a file without it, if something is known to.
        cure: Option<&'static str>,
    },
    /// A URI that leaves the file's folder, which [`ImportOptions::parent_folders`](super::ImportOptions) allows.
    ParentFolder(String),
    /// Key times that go backwards, or are NaN or infinite.
    Times(String),
    /// Two frames of a BVH file get the same time: neighbouring f32 times are farther apart than the frames.
    FramesMeet {
        /// The first such frame, from 0.
        frame: usize,
        /// Common time of the frames, seconds.
        seconds: f64,
        /// The distance of times of f32 there, seconds.
        step: f64,
        /// Seconds from frame to frame in the file.
        frame_time: f64,
        /// Frames declared.
        frames: usize,
    },
    /// A named limit is exceeded.
    Limit {
        /// Name of the limit.
        what: &'static str,
        /// Amount that the file needs or declares.
        needed: u64,
        /// The limit.
        limit: u64,
    },
    /// The import allocates or decodes more than [`ImportOptions::memory_limit`](super::ImportOptions) allows or, without
    /// it, than a file of its size may.
    Memory {
        /// The limited quantity: memory, or bytes decoded.
        what: &'static str,
        /// Bytes that the file needs.
        needed: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// A marker is outside its clip, or there are too many.
    MarkedClip(Box<BuildError>),
}

says! { ImportFault:
    Self::Io(inner) => ("cannot be read: {inner}"),
    Self::Invalid(fault) => ("{fault}"),
    Self::Extension { name, effect, cure } =>
        ("requires the extension {name:?}, which {effect} and is not supported{}", After(cure)),
    Self::ParentFolder(uri) => ("the URI {uri:?} is rejected: it leaves the folder of the file"),
    Self::Times(fault) => ("{fault}"),
    Self::FramesMeet { frame, seconds, step, frame_time, frames } =>
        ("frame {frame}, at {seconds:.3} s, has the time of the frame before it: times of f32 are {} s apart \
        there, the frame time is {} s; of the {frames} frames the first {frame} can be read",
        number(*step), number(*frame_time)),
    Self::Limit { what, needed, limit } => ("{what}: {needed}, the limit is {limit}"),
    Self::Memory { what, needed, limit } => ("{what}: {needed} needed, the limit is {limit}"),
    Self::MarkedClip(error) => ("{error}"),
}

/// A fault of the contents, in words.
pub(super) fn invalid(words: impl Into<Cow<'static, str>>) -> ImportFault {
    ImportFault::Invalid(words.into())
}

/// An index that is out of range.
pub(super) fn index(what: &str, index: usize, count: usize) -> ImportFault {
    let there = are(count as u64);
    invalid(format!("{what} {index} is out of range, there {there} {count}"))
}

/// Two counts that must agree.
#[cfg(feature = "gltf")]
pub(super) fn count(what: &str, expected: u64, found: u64) -> ImportFault {
    invalid(format!("{what}: expected {expected}, found {found}"))
}
