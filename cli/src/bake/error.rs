//! `BakeFault`: why files cannot be baked, joined or compared.

use glob::PatternError;
use phalanx::bake::BakeError;
use phalanx::build::BuildError;
use phalanx::format::{FormatError, WriteError};
use phalanx::skeleton::JointRefError;
use std::io;
use thiserror::Error;

/// Why inputs become no .phx file; messages name the file.
#[derive(Debug, Error)]
pub enum BakeFault {
    /// A pattern is none.
    #[error("{pattern}: {source}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// Why.
        source: PatternError,
    },
    /// A name that no name in a .phx file could be made of.
    #[error("{file}: its name or its folder's is not UTF-8")]
    Name {
        /// The file, as far as it can be written.
        file: String,
    },
    /// No file of the kind that is wanted.
    #[error("{place}: holds no {wanted} file")]
    Nothing {
        /// The folder or the pattern.
        place: String,
        /// Extensions, as text.
        wanted: String,
    },
    /// A file or a folder cannot be read.
    #[error("{file}: {source}")]
    Read {
        /// The file or the folder.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// Two inputs would become one file.
    #[error(
        "{file} and {other} would both become {output}, so neither does; folders in a folder that is \
         given are kept"
    )]
    SameOutput {
        /// One.
        file: String,
        /// The other.
        other: String,
        /// The file.
        output: String,
    },
    /// A file has another skeleton than the library.
    #[error("{file}: its skeleton (hash {have:016x}) is not that of {first} (hash {needed:016x})")]
    Structure {
        /// The file.
        file: String,
        /// The file whose skeleton is taken.
        first: String,
        /// The hash of the file's.
        have: u64,
        /// The hash needed.
        needed: u64,
    },
    /// A clip of a library has the name of another.
    #[error("{file}: clip \"{clip}\" has the name of one of {other}{advice}")]
    SameClip {
        /// The file.
        file: String,
        /// The clip.
        clip: String,
        /// The file of the other.
        other: String,
        /// What helps, if it was not done.
        advice: &'static str,
    },
    /// Parts hold a clip of the same name.
    #[error("{file}: clip \"{clip}\" is in {other} as well")]
    JoinedTwice {
        /// The file.
        file: String,
        /// The clip.
        clip: String,
        /// The other part.
        other: String,
    },
    /// A raw clip makes none.
    #[error("{file}: {source}")]
    Build {
        /// The file.
        file: String,
        /// Why.
        source: BuildError,
    },
    /// A .phx file is damaged.
    #[error("{file}: {source}")]
    Format {
        /// The file.
        file: String,
        /// Where and why.
        source: Box<FormatError>,
    },
    /// A .phx file cannot be written.
    #[error("{file}: {source}")]
    Write {
        /// The file.
        file: String,
        /// Why.
        source: Box<WriteError>,
    },
    /// A source has changed since.
    #[error(
        "{file}: {source_file} has the hash {have:016x}, the file was made of one with {needed:016x}"
    )]
    OtherSource {
        /// The .phx file.
        file: String,
        /// The file that was given.
        source_file: String,
        /// Its hash.
        have: u64,
        /// The hash that the .phx file states.
        needed: u64,
    },
    /// A clip cannot be built within its error, or measured.
    #[error("{file}: {source}")]
    Error {
        /// The file.
        file: String,
        /// Why.
        source: BakeError,
    },
    /// A file of joints' settings is none.
    #[error("{file}: {source}")]
    Quality {
        /// The file.
        file: String,
        /// Why.
        source: serde_json::Error,
    },
    /// Settings name a joint that a file does not have.
    #[error("{file}: {source}")]
    Joint {
        /// The file.
        file: String,
        /// Why.
        source: JointRefError,
    },
    /// Settings name a joint twice, by its name and by its path.
    #[error("{file}: settings name one joint as {other:?} and as {name:?}")]
    JointTwice {
        /// The file.
        file: String,
        /// One name of the joint.
        name: String,
        /// The other.
        other: String,
    },
    /// A part of a library comes from another bake than the others.
    #[error(
        "{file}: was baked as \"{have}\", {other} as \"{needed}\": they are no parts of one library"
    )]
    OtherBake {
        /// The part.
        file: String,
        /// Its settings and the inputs that they name.
        have: String,
        /// A part before it.
        other: String,
        /// The same of that one.
        needed: String,
    },
    /// A part of a library is not among those to be joined.
    #[error("{file}: part {missing} of {of} is missing")]
    MissingPart {
        /// One that is there.
        file: String,
        /// The number of one that is not.
        missing: usize,
        /// How many there are in all.
        of: usize,
    },
    /// A source is not the one that the file was made of.
    #[error("{file}: was not made of {source_file}")]
    NoSource {
        /// The .phx file.
        file: String,
        /// The file that was given.
        source_file: String,
    },
}
