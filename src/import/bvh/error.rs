//! `BvhErrorKind`: what is wrong with a BVH file, and where.

use super::MAX_FILE_BYTES;
use crate::import::ImportError;
use crate::import::read_file::ReadFault;
use crate::words::{are, number, plural, says};
use std::fmt;

/// A place in the text of a BVH file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BvhPlace {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1, in bytes.
    pub column: usize,
}

impl fmt::Display for BvhPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// What is wrong with a BVH file. Where two numbers disagree, both are here. Texts of the file are quoted, and
/// cut after 40 characters.
#[derive(Debug)]
#[non_exhaustive]
pub enum BvhErrorKind {
    /// The operating system cannot read the file.
    Io(std::io::Error),
    /// The file has no text.
    Empty,
    /// The first word is not HIERARCHY.
    NotBvh(String),
    /// Another word or sign belongs here.
    Expected {
        /// What belongs here.
        what: &'static str,
        /// What stands here, quoted.
        found: String,
    },
    /// A joint states something twice.
    Twice(&'static str),
    /// A word is no number.
    Number {
        /// What the number is.
        what: &'static str,
        /// The word, quoted.
        found: String,
    },
    /// A number is NaN or infinite.
    NotFinite {
        /// What the number is.
        what: &'static str,
        /// The number.
        value: f64,
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
    Count {
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
    /// A channel has a name that BVH does not define.
    Channel(String),
    /// There is more of something than allowed.
    Limit {
        /// What there is too much of.
        what: &'static str,
        /// How much was found or declared.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// The operating system cannot provide the memory that the motion takes.
    Memory(u64),
    /// A line of the motion does not have one value per channel.
    Values {
        /// The frame, from 0.
        frame: usize,
        /// Values on its line.
        found: usize,
        /// Channels of all joints.
        expected: usize,
    },
    /// There are fewer or more lines of motion than declared.
    Frames {
        /// Frames declared.
        declared: u64,
        /// Lines with values.
        found: u64,
    },
    /// The frame time is out of range.
    FrameTime(f64),
    /// The unit in the options is not a finite number above 0.
    Unit(f64),
}

says! { BvhErrorKind:
    Self::Io(inner) => ("cannot be read: {inner}"),
    Self::Empty => ("the file is empty"),
    Self::NotBvh(found) => ("a BVH file begins with HIERARCHY, this one with {found}"),
    Self::Expected { what, found } => ("expected {what}, found {found}"),
    Self::Twice(what) => ("the joint has a second {what}"),
    Self::Number { what, found } => ("{what} is {found}, expected a number"),
    Self::NotFinite { what, value } => ("{what} is {value}, expected a finite number"),
    Self::Beyond { what, value, limit } => ("{what} is {value:e}, the limit is {limit:e}"),
    Self::Count { what, value, limit } => ("{what} is {}, expected a whole number from 0 to {limit}", short(*value)),
    Self::FramesMeet { frame, seconds, step, frame_time, frames } =>
        ("frame {frame}, at {seconds:.3} s, has the time of the frame before it: times of f32 are {} s apart \
        there, the frame time is {} s; of the {frames} frames the first {frame} can be read",
        number(*step), number(*frame_time)),
    Self::Channel(found) => ("unknown channel {found}, expected Xposition to Zposition or Xrotation to Zrotation"),
    Self::Limit { what, found, limit } => ("{what}: {found}, the limit is {limit}"),
    Self::Memory(needed) => ("the motion needs {needed} bytes of memory, more than there are"),
    Self::Values { frame, found, expected } =>
        ("frame {frame} has {}, the joints have {}",
        plural(*found as u64, "value"), plural(*expected as u64, "channel")),
    Self::Frames { declared, found } =>
        ("{} {} declared, there {} {found}", plural(*declared, "frame"), are(*declared), are(*found)),
    Self::FrameTime(seconds) =>
        ("the frame time is {} s, allowed are {} to {} s",
        number(*seconds), super::FRAME_TIMES[0], super::FRAME_TIMES[1]),
    Self::Unit(unit) => ("the unit is {} m, expected a finite number above 0", number(*unit)),
}

/// A number in few digits, also if it is large.
fn short(value: f64) -> String {
    match value.abs() < 1e15 {
        true => value.to_string(),
        false => format!("{value:e}"),
    }
}

/// A problem at a place.
#[derive(Debug)]
pub(super) struct Fault {
    pub place: Option<BvhPlace>,
    pub kind: BvhErrorKind,
}

impl Fault {
    pub fn in_file(self, file: &str) -> ImportError {
        ImportError::Bvh {
            file: file.to_owned(),
            place: self.place.map_or_else(String::new, |p| p.to_string()),
            kind: self.kind,
        }
    }
}

/// Without a place.
impl From<BvhErrorKind> for Fault {
    fn from(kind: BvhErrorKind) -> Self {
        Self { place: None, kind }
    }
}

impl From<ReadFault> for Fault {
    fn from(fault: ReadFault) -> Self {
        let kind = match fault {
            ReadFault::Io(error) => BvhErrorKind::Io(error),
            ReadFault::Long(found) => BvhErrorKind::Limit {
                what: "bytes of one file",
                found,
                limit: MAX_FILE_BYTES,
            },
        };
        kind.into()
    }
}
