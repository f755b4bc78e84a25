//! `ImportError`: why a file cannot become a rig.

use super::fault::ImportFault;
#[cfg(feature = "gltf")]
use super::file::{CLIP_BYTES_BASE, CLIP_BYTES_PER_FILE_BYTE};
#[cfg(feature = "gltf")]
use crate::build::BuildError;
use std::fmt;
use thiserror::Error;

/// An error of making a rig from a file: the file, the place in it and the problem, on one line.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The file cannot be read, its markers cannot be used, or its scene cannot be split as requested.
    #[error("{file}: {}{fault}", Lead(place))]
    Fault {
        /// The path, or the name given to `read_slice`.
        file: String,
        /// `animation 2 "Walk", channel 5, accessor 17`, `line 3, column 14`, `clip "Walk"`; empty for the file as a whole.
        place: String,
        /// The fault at this place.
        fault: ImportFault,
    },
    /// The clips of a file take more memory than
    /// [`ImportOptions::memory_limit`](super::ImportOptions::memory_limit) or, without it, than a file of its size may:
    /// 24 bytes of rows for each byte of it, and 16 MiB.
    #[cfg(feature = "gltf")]
    #[error("{file}: {source}{}", ClipLimit(*.given, *.file_bytes))]
    ClipBytes {
        /// The file.
        file: String,
        /// Bytes of the file.
        file_bytes: usize,
        /// Whether the options set the limit.
        given: bool,
        /// The cause, with the bytes that are needed and that are allowed.
        source: Box<BuildError>,
    },
    /// A rig cannot be built from the file's data.
    #[cfg(feature = "gltf")]
    #[error("{file}: {source}")]
    Build {
        /// The file.
        file: String,
        /// The cause.
        source: Box<BuildError>,
    },
}

/// Origin of a limit of clips, unless it was given.
#[cfg(feature = "gltf")]
struct ClipLimit(bool, usize);

#[cfg(feature = "gltf")]
impl fmt::Display for ClipLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(false, bytes) = self else { return Ok(()) };
        write!(
            f,
            ": {CLIP_BYTES_PER_FILE_BYTE} for each of the {bytes} bytes of the file, and {CLIP_BYTES_BASE}"
        )
    }
}

/// A place followed by a colon, or nothing.
pub(super) struct Lead<T>(pub T);

impl<T: AsRef<str>> fmt::Display for Lead<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_ref() {
            "" => Ok(()),
            place => write!(f, "{place}: "),
        }
    }
}

/// A fault on its way to the caller: each level prepends its place.
#[derive(Debug)]
pub(super) struct Fault {
    pub place: String,
    pub kind: ImportFault,
}

/// Without a place.
impl From<ImportFault> for Fault {
    fn from(kind: ImportFault) -> Self {
        Self { place: String::new(), kind }
    }
}

impl Fault {
    /// The public error.
    pub fn in_file(self, file: &str) -> ImportError {
        ImportError::Fault { file: file.to_owned(), place: self.place, fault: self.kind }
    }
}

#[cfg(feature = "gltf")]
impl ImportError {
    /// The error of a failed build. `file_bytes` is the size of the file; `given` is true if the options set the limit
    /// of clips.
    pub(super) fn of_build(
        file: &str,
        (file_bytes, given): (usize, bool),
        source: BuildError,
    ) -> Self {
        let file = file.to_owned();
        let large = matches!(&source, BuildError::Animation { source, .. }
            if matches!(**source, BuildError::ClipBytes { .. }));
        let source = Box::new(source);
        match large {
            true => Self::ClipBytes { file, file_bytes, given, source },
            false => Self::Build { file, source },
        }
    }
}
