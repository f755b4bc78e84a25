//! Faults of BVH files, and their places in the text.

pub(super) use crate::import::ImportFault;
pub(super) use crate::import::error::Fault;
pub(super) use crate::import::fault::invalid;
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

impl BvhPlace {
    /// A fault at this place.
    pub fn fault(self, kind: ImportFault) -> Fault {
        Fault { place: self.to_string(), kind }
    }
}
