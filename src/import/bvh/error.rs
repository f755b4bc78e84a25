//! Faults of BVH files, and their places in the text.

use super::MAX_FILE_BYTES;
use crate::import::ImportError;
pub(super) use crate::import::ImportFault;
use crate::import::read_file::ReadFault;
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

/// A problem at a place.
#[derive(Debug)]
pub(super) struct Fault {
    pub place: Option<BvhPlace>,
    pub kind: ImportFault,
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
impl From<ImportFault> for Fault {
    fn from(kind: ImportFault) -> Self {
        Self { place: None, kind }
    }
}

impl From<ReadFault> for Fault {
    fn from(fault: ReadFault) -> Self {
        let kind = match fault {
            ReadFault::Io(error) => ImportFault::Io(error),
            ReadFault::Long(found) => {
                ImportFault::TooMany { what: "bytes of one file", found, limit: MAX_FILE_BYTES }
            }
        };
        kind.into()
    }
}
