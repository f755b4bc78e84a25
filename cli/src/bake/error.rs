//! [`BakeFault`]: why files cannot be baked, joined or compared.

use super::super::text::{brief, short};
use super::Length;
use glob::PatternError;
use phalanx::bake::BakeError;
use phalanx::build::BuildError;
use phalanx::format::{ReadError, WriteError};
use phalanx::retarget::{BindOptions, Binding};
use phalanx::skeleton::{LookupError, Skeleton, SkeletonMismatch};
use std::io;
use thiserror::Error;

/// Reasons why an input cannot be baked. Every message names the file.
#[derive(Debug, Error)]
pub enum BakeFault {
    /// A glob pattern is invalid.
    #[error("{pattern}: {source}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// The pattern's error.
        source: PatternError,
    },
    /// A path that is not UTF-8, so no name in a .phx file can be derived from it.
    #[error("{file}: the name of the file or of its folder is not UTF-8")]
    Name {
        /// The file, with invalid parts replaced.
        file: String,
    },
    /// An input that is an output of a bake.
    #[error("{file}: this is already a baked .phx file; bake the glTF file it was made from")]
    Baked {
        /// The file.
        file: String,
    },
    /// No file of the expected kind was found.
    #[error("{place}: no {wanted} file found")]
    Nothing {
        /// The folder or the pattern.
        place: String,
        /// The expected extensions, as text.
        wanted: String,
    },
    /// A file or folder cannot be read.
    #[error("{file}: {source}")]
    Read {
        /// The file or folder.
        file: String,
        /// The system's error.
        source: io::Error,
    },
    /// Two inputs would be written to one output.
    #[error(
        "{file} and {other} would both be written to {output}, so neither is baked; to keep their \
         subfolders in the output, give the folder that holds both"
    )]
    SameOutput {
        /// One input.
        file: String,
        /// The other input.
        other: String,
        /// The output.
        output: String,
    },
    /// The skeleton of a file differs from the library's.
    #[error("{file}: its skeleton differs from that of {first}: {}{advice}", difference(.mismatch))]
    Structure {
        /// The file.
        file: String,
        /// The file whose skeleton the library uses.
        first: String,
        /// The first difference, in the file and in the library.
        mismatch: SkeletonMismatch,
        /// A hint that is appended to the message, or empty.
        advice: &'static str,
    },
    /// Clips of two inputs of a library have the same name.
    #[error("{file}: clip \"{clip}\" has the same name as a clip of {other}{advice}")]
    SameClip {
        /// The file.
        file: String,
        /// The clip.
        clip: String,
        /// The file of the other clip.
        other: String,
        /// A hint that is appended to the message, or empty.
        advice: &'static str,
    },
    /// Two parts contain a clip of the same name.
    #[error("{file}: clip \"{clip}\" is also in {other}")]
    JoinedTwice {
        /// The file.
        file: String,
        /// The clip.
        clip: String,
        /// The other part.
        other: String,
    },
    /// A raw clip cannot be built.
    #[error("{file}: {source}")]
    Build {
        /// The file.
        file: String,
        /// The builder's error.
        source: Box<BuildError>,
    },
    /// A .phx file is damaged.
    #[error("{file}: {source}")]
    Format {
        /// The file.
        file: String,
        /// Position and cause.
        source: Box<ReadError>,
    },
    /// A .phx file cannot be written.
    #[error("{file}: {source}")]
    Write {
        /// The file.
        file: String,
        /// The writer's error.
        source: Box<WriteError>,
    },
    /// A source has changed since the file was baked.
    #[error(
        "{file}: {source_file} has hash {have:016x}, but this file was baked from a source with hash \
         {needed:016x}{advice}"
    )]
    OtherSource {
        /// The .phx file.
        file: String,
        /// The file that was given.
        source_file: String,
        /// Hash of the given file.
        have: u64,
        /// Hash stated in the .phx file.
        needed: u64,
        /// An option to try.
        advice: &'static str,
    },
    /// A clip cannot be baked within its error limit, or its error cannot be measured.
    #[error("{file}: {source}")]
    Error {
        /// The file.
        file: String,
        /// The baker's error.
        source: Box<BakeError>,
    },
    /// The operating system cannot provide the memory for baking a clip.
    #[error("{file}: baking clip \"{clip}\" needs {needed} bytes of memory, more than there are")]
    Memory {
        /// The file.
        file: String,
        /// The clip.
        clip: String,
        /// Bytes that it needs.
        needed: u64,
    },
    /// A length in per cent of the size of a model that has none.
    #[error(
        "{file}: its joints lie at one place, so {length} of its size is no length; give metres"
    )]
    NoSize {
        /// The file.
        file: String,
        /// The length.
        length: Length,
    },
    /// A file of per-joint settings is invalid.
    #[error("{file}: {}", brief(source))]
    Quality {
        /// The file.
        file: String,
        /// The parser's error.
        source: serde_json::Error,
    },
    /// Settings name a joint that the file's skeleton does not have.
    #[error("{file}: {source}{near}")]
    Joint {
        /// The file.
        file: String,
        /// The look-up's error.
        source: Box<LookupError>,
        /// Joints with similar names, after a semicolon, or empty.
        near: String,
    },
    /// Settings name one joint twice, by name and by path.
    #[error(
        "{file}: the settings name one joint twice, as \"{}\" and as \"{}\"",
        short(other),
        short(name)
    )]
    JointTwice {
        /// The file.
        file: String,
        /// One name of the joint.
        name: String,
        /// The other name.
        other: String,
    },
    /// A part of a library comes from a different bake than the other parts.
    #[error(
        "{file}: baked as \"{have}\", but {other} as \"{needed}\": they are not parts of one library"
    )]
    OtherBake {
        /// The part.
        file: String,
        /// The settings of the part, with a hash of the inputs or of the layout's file.
        have: String,
        /// An earlier part.
        other: String,
        /// The settings of that part.
        needed: String,
    },
    /// A part of a library is not among the files to be joined.
    #[error("{file}: part {missing} of {of} is missing")]
    MissingPart {
        /// A part that is present.
        file: String,
        /// The index of a missing part, from 0.
        missing: usize,
        /// Number of parts.
        of: usize,
    },
    /// The file was not baked from the given source.
    #[error("{file}: was not baked from {source_file}")]
    NoSource {
        /// The .phx file.
        file: String,
        /// The file that was given.
        source_file: String,
    },
}

/// Describes the difference of skeletons, without advice that names calls of the library.
fn difference(mismatch: &SkeletonMismatch) -> String {
    match mismatch {
        SkeletonMismatch::JointOrder => "the joints are the same, in another order".to_owned(),
        mismatch => mismatch.to_string(),
    }
}

impl BakeFault {
    /// Fails if the skeleton of a file differs from the skeleton of the first file in more than its lane order.
    /// `advice` says how the clips can be bound; it is shown if joints have the same names.
    pub fn same_skeleton(
        (file, skeleton): (&str, &Skeleton),
        (first, needed): (&str, &Skeleton),
        advice: &'static str,
    ) -> Result<(), Self> {
        let mismatch = match skeleton.mismatch(needed) {
            None | Some(SkeletonMismatch::LaneOrder) => return Ok(()),
            Some(mismatch) => mismatch,
        };
        let bindable = Binding::new(skeleton, needed, &BindOptions::default()).is_ok();
        Err(Self::Structure {
            file: file.to_owned(),
            first: first.to_owned(),
            mismatch,
            advice: if bindable { advice } else { "" },
        })
    }
}
