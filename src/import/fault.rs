//! `ImportFault`: what is wrong with a file, wherever in it.

use crate::error::BuildError;
use crate::words::{are, number, plural, says, shorten};
use std::borrow::Cow;
use std::fmt;

/// Limit on the markers that one file adds to all clips together: several clips may share a name, and each
/// gets all markers of that name.
pub const MAX_GIVEN_MARKERS: usize = 1 << 22;

/// Words behind a semicolon, or nothing.
struct After<'a>(&'a Option<&'static str>);

impl fmt::Display for After<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |words| write!(f, "; {words}"))
    }
}

/// What is wrong with a file. Where two numbers disagree, both are here. Texts of the file are cut after 40 characters.
#[derive(Debug)]
#[non_exhaustive]
pub enum ImportFault {
    /// The operating system cannot read the file.
    Io(std::io::Error),
    /// A fault of the contents that no host treats in a way of its own: the words say what is wrong.
    Invalid(Cow<'static, str>),
    /// `extensionsRequired` lists an extension that changes what is imported and is not read.
    Extension {
        /// Its name.
        name: String,
        /// What it does: `changes geometry`, `changes textures`, `changes animation`, or `is not known`.
        effect: &'static str,
        /// What writes a file without it, if something is known to.
        cure: Option<&'static str>,
    },
    /// An index is out of range.
    Index {
        /// The kind of what the index names.
        what: &'static str,
        /// The index in the file.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// A URI that leaves the file's folder, which [`ImportOptions::parent_folders`](super::ImportOptions) allows.
    ParentFolder(String),
    /// NaN or an infinity where a finite number is required.
    NotFinite {
        /// `key`, `matrix`, `translation`.
        what: &'static str,
        /// Index among its kind.
        index: usize,
        /// The value.
        value: f32,
    },
    /// Key times that go backwards.
    TimeOrder {
        /// Index of the key.
        index: usize,
        /// Its time.
        time: f32,
        /// The time before it.
        previous: f32,
    },
    /// A named limit is exceeded.
    Limit {
        /// Name of the limit.
        what: &'static str,
        /// What the file needs.
        needed: u64,
        /// The limit.
        limit: u64,
    },
    /// A number is beyond its limit.
    Beyond {
        /// What the number is.
        what: &'static str,
        /// Its value.
        value: f64,
        /// The limit.
        limit: f32,
    },
    /// A count is negative, has a fraction, or is beyond 64 bits.
    Whole {
        /// What is counted.
        what: &'static str,
        /// The number in the file.
        value: f64,
        /// The most allowed.
        limit: u64,
    },
    /// Two frames have one time, as times of f32 are farther apart than the frames.
    FramesMeet {
        /// The first such frame, from 0.
        frame: usize,
        /// Its time, seconds.
        seconds: f64,
        /// The distance of times of f32 there, seconds.
        step: f64,
        /// Seconds from frame to frame in the file.
        frame_time: f64,
        /// Frames declared.
        frames: usize,
    },
    /// There is more of something than allowed.
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// How much was found or declared.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// There are fewer or more lines of motion than declared.
    Frames {
        /// Frames declared.
        declared: u64,
        /// Lines with values.
        found: u64,
    },
    /// No node has that name or index.
    NoSuchName(String),
    /// The node of that index has no parent.
    Root(usize),
    /// A value is not a marker.
    Marker {
        /// Its index or its name.
        marker: String,
        /// The value found.
        found: String,
        /// What is expected.
        needed: &'static str,
    },
    /// The model has no clip of that name.
    UnknownClip(String),
    /// Clips that share names get too many markers together: how many all clips get.
    GivenMarkers(usize),
    /// A marker is outside its clip, or there are too many.
    MarkedClip(Box<BuildError>),
}

says! { ImportFault:
    Self::Io(inner) => ("cannot be read: {inner}"),
    Self::Invalid(fault) => ("{fault}"),
    Self::Extension { name, effect, cure } =>
        ("requires the extension {name:?}, which {effect} and is not supported{}", After(cure)),
    Self::Index { what, index, count } => ("{what} {index} is out of range, there {} {count}", are(*count as u64)),
    Self::ParentFolder(uri) => ("the URI {uri:?} is rejected: it leaves the folder of the file"),
    Self::NotFinite { what, index, value } => ("{what} {index} is {value}"),
    Self::TimeOrder { index, time, previous } => ("time {index} is {time}, after {previous}"),
    Self::Limit { what, needed, limit } => ("{what}: {needed} needed, the limit is {limit}"),
    Self::Beyond { what, value, limit } => ("{what} is {value:e}, the limit is {limit:e}"),
    Self::Whole { what, value, limit } => ("{what} is {}, expected a whole number from 0 to {limit}", short(*value)),
    Self::FramesMeet { frame, seconds, step, frame_time, frames } =>
        ("frame {frame}, at {seconds:.3} s, has the time of the frame before it: times of f32 are {} s apart \
        there, the frame time is {} s; of the {frames} frames the first {frame} can be read",
        number(*step), number(*frame_time)),
    Self::TooMany { what, found, limit } => ("{what}: {found}, the limit is {limit}"),
    Self::Frames { declared, found } =>
        ("{} {} declared, there {} {found}", plural(*declared, "frame"), are(*declared), are(*found)),
    Self::NoSuchName(name) => ("there is no node \"{}\"", shorten(name)),
    Self::Root(node) => ("node {node} is a root, there is nothing to split it from"),
    Self::Marker { marker, found, needed } => ("marker {marker}: expected a {needed}, found {found}"),
    Self::UnknownClip(clip) => ("there is no clip \"{}\"", shorten(clip)),
    Self::GivenMarkers(needed) => ("all clips together get {needed} markers, the limit is {MAX_GIVEN_MARKERS}"),
    Self::MarkedClip(error) => ("{error}"),
}

/// A fault of the contents, in words.
pub(super) fn invalid(words: impl Into<Cow<'static, str>>) -> ImportFault {
    ImportFault::Invalid(words.into())
}

/// Two counts that must agree.
#[cfg(feature = "gltf")]
pub(super) fn count(what: &str, expected: u64, found: u64) -> ImportFault {
    invalid(format!("{what}: expected {expected}, found {found}"))
}

/// A number in few digits, also if it is large.
fn short(value: f64) -> String {
    match value.abs() < 1e15 {
        true => value.to_string(),
        false => format!("{value:e}"),
    }
}
