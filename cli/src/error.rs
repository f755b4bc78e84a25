//! `CliError`: everything that ends the program with a line, or one per input, and exit status 1.

use super::bake::{BakeFault, Faults};
use super::bench::{BaselineError, SubjectError};
use super::files::Clash;
use phalanx::crowd::{CrowdError, RowMemoryError};
use phalanx::format::{OpenError, SaveError};
use phalanx::import::ImportError;
use phalanx::playback::PoseError;
use phalanx::runtime::JobError;
use phalanx::scene::SceneError;
use phalanx::simd::SimdLevelError;
use phalanx::skeleton::JointRefError;
use phalanx_render::RenderError;
use std::io;
use thiserror::Error;

/// Why a command failed; shown on one line, faults of several inputs on one each.
#[derive(Debug, Error)]
pub enum CliError {
    /// A file is no usable model; the message names the file.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// A .phx file cannot be opened; the message names the file.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Files cannot be baked, joined or compared; the message names the file.
    #[error(transparent)]
    Bake(Box<BakeFault>),
    /// What is wrong with the inputs of a command, each with its file.
    #[error("{}", .0.lines().join("; "))]
    Inputs(Faults),
    /// A file could not take its place.
    #[error(transparent)]
    Save(#[from] SaveError),
    /// Files that `verify` found wanting, each with the reason.
    #[error("{}", .0.join("; "))]
    Verify(Vec<String>),
    /// A model cannot be measured; the message names the file.
    #[error(transparent)]
    Subject(#[from] SubjectError),
    /// A baseline cannot be compared with; the message names the file.
    #[error(transparent)]
    Baseline(#[from] BaselineError),
    /// Figures are worse than those of a baseline.
    #[error("{rows}")]
    Regression {
        /// The rows, their times, and what they are compared with.
        rows: String,
    },
    /// Rows could not be written as CSV.
    #[error("the rows could not be written as CSV: {0}")]
    Csv(#[from] csv::Error),
    /// A SIMD level that this machine lacks, or an unknown name in the environment.
    #[error(transparent)]
    Simd(#[from] SimdLevelError),
    /// A crowd refused something.
    #[error(transparent)]
    Crowd(#[from] CrowdError),
    /// No rig came out of the file.
    #[error("{file}: holds no rig")]
    NoRig {
        /// The file.
        file: String,
    },
    /// A pose could not be evaluated.
    #[error("{file}: {source}")]
    Pose {
        /// The model's file.
        file: String,
        /// Why.
        source: PoseError,
    },
    /// A job refused its input.
    #[error("{file}: {source}")]
    Job {
        /// The model's file.
        file: String,
        /// Why.
        source: JobError,
    },
    /// A clip that the model does not have.
    #[error("{file}: there is no clip \"{wanted}\"; {available}")]
    UnknownClip {
        /// The model's file.
        file: String,
        /// What was asked for.
        wanted: String,
        /// What there is instead.
        available: String,
    },
    /// A joint that the model does not have.
    #[error("{file}: there is no joint \"{wanted}\"; {near}")]
    UnknownJoint {
        /// The model's file.
        file: String,
        /// What was asked for.
        wanted: String,
        /// What is most like it.
        near: String,
    },
    /// Several joints of that name.
    #[error("{file}: {source}")]
    Joint {
        /// The model's file.
        file: String,
        /// Why.
        source: JointRefError,
    },
    /// A scene graph refused something.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// More pixels than are held in memory.
    #[error("{frames} frames have {pixels} pixels, the limit is {limit}")]
    TooManyPixels {
        /// Frames asked for.
        frames: usize,
        /// Their pixels.
        pixels: u64,
        /// Pixels allowed.
        limit: u64,
    },
    /// A contact sheet with a side that is too long.
    #[error("a sheet of {columns} columns and {rows} rows has a side of more than {limit} pixels")]
    SheetTooLarge {
        /// Columns.
        columns: u32,
        /// Rows.
        rows: u32,
        /// Pixels allowed.
        limit: u32,
    },
    /// A GIF's sides are 16 bits.
    #[error("a GIF of {width} x {height} pixels: its sides are 65535 at most")]
    GifSize {
        /// Width asked for.
        width: u32,
        /// Height asked for.
        height: u32,
    },
    /// The GIF could not be encoded.
    #[error("the GIF could not be encoded: {0}")]
    Gif(#[from] gif::EncodingError),
    /// An output that would overwrite an input or another output.
    #[error(transparent)]
    Clash(#[from] Clash),
    /// A crowd that would take too much memory.
    #[error(
        "{count} characters of this model need {needed} bytes of memory, a crowd may take {limit}: \
         {most} characters at most"
    )]
    CrowdTooLarge {
        /// Characters asked for.
        count: u64,
        /// Bytes they need.
        needed: u128,
        /// Bytes allowed.
        limit: u64,
        /// Characters that fit.
        most: u64,
    },
    /// The operating system does not give so much memory.
    #[error("{count} characters need {needed} bytes, which this machine does not give")]
    OutOfMemory {
        /// Characters asked for.
        count: u64,
        /// Bytes they need.
        needed: u128,
    },
    /// The operating system does not give memory for palette rows.
    #[error(transparent)]
    RowMemory(#[from] RowMemoryError),
    /// A graphics driver may end the process where memory runs out, so it is not asked.
    #[error("there is no memory for a picture by a graphics device ({bytes} bytes)")]
    DeviceMemory {
        /// Bytes that it may take.
        bytes: u64,
    },
    /// The workers could not be started.
    #[error("{threads} threads: {source}")]
    Threads {
        /// Threads asked for.
        threads: usize,
        /// Why.
        source: rayon::ThreadPoolBuildError,
    },
    /// The same frames gave other bits with another number of workers.
    #[error("the palettes of {threads} threads and of one differ: {many:016x} and {one:016x}")]
    NotDeterministic {
        /// Threads of the first run.
        threads: usize,
        /// Its hash.
        many: u64,
        /// The hash of one thread.
        one: u64,
    },
    /// The program was built without its window.
    #[cfg(not(feature = "view"))]
    #[error(
        "this build has no window: \"cargo install --path cli --features view\" builds one that has, \
         \"cargo run --release --features phalanx-cli/view -- view\" runs it from the sources"
    )]
    NoWindow,
    /// There is no display, or it gives no window.
    #[cfg(feature = "view")]
    #[error("no window could be opened: {reason}")]
    Window {
        /// What the system said.
        reason: String,
    },
    /// A crowd could not be looked at.
    #[cfg(feature = "view")]
    #[error(transparent)]
    View(#[from] phalanx_render::ViewError),
    /// The picture could not be drawn.
    #[error("the picture could not be drawn: {0}")]
    Render(#[from] RenderError),
    /// The picture could not be encoded.
    #[error("the picture could not be encoded: {0}")]
    Encode(#[from] image::ImageError),
    /// A file could not be written.
    #[error("{path}: cannot be written: {source}")]
    Write {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// Standard output could not be written.
    #[error("standard output: {0}")]
    Stdout(#[source] io::Error),
}

impl From<BakeFault> for CliError {
    fn from(fault: BakeFault) -> Self {
        Self::Bake(Box::new(fault))
    }
}

impl CliError {
    /// What is told of it.
    pub fn lines(&self) -> Vec<String> {
        match self {
            Self::Inputs(faults) => faults.lines(),
            Self::Verify(faults) => faults.clone(),
            other => vec![other.to_string()],
        }
    }

    /// Whether the reader of standard output has gone.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Stdout(e) if e.kind() == io::ErrorKind::BrokenPipe)
    }
}
