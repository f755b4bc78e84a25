//! [`CliError`]: errors that end the program with exit status 1, one line each, or one line per input.

use super::bake::{BakeFault, Faults};
use super::bench::{BaselineError, SubjectError};
use super::clips::ClipsFault;
use super::files::Clash;
use phalanx::crowd::CrowdError;
use phalanx::format::{ReadError, WriteError};
use phalanx::import::ImportError;
use phalanx::playback::PlaybackError;
use phalanx::retarget::RetargetError;
use phalanx::runtime::JobError;
use phalanx::scene::SceneError;
use phalanx::simd::SimdLevelError;
use phalanx::skeleton::{LookupError, SkeletonMismatch};
use phalanx_render::RenderError;
use phalanx_workload::live::LiveError;
use std::io;
use thiserror::Error;

/// Errors of commands. An error is shown on one line, or on one line per input if several inputs fail.
#[derive(Debug, Error)]
pub enum CliError {
    /// A file cannot be imported; the message names the file.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// A file cannot be imported without an option.
    #[error("{error}; {advice}")]
    Advised {
        /// The cause; the message names the file.
        error: Box<ImportError>,
        /// The option, and what it does.
        advice: &'static str,
    },
    /// The clips of a file cannot play on the model; the message names the file.
    #[error(transparent)]
    Clips(Box<ClipsFault>),
    /// A .phx file cannot be opened; the message names the file.
    #[error(transparent)]
    Open(#[from] ReadError),
    /// Files cannot be baked, joined or compared; the message names the file.
    #[error(transparent)]
    Bake(Box<BakeFault>),
    /// Faults of a command's inputs, each with its file.
    #[error("{}", .0.lines().join("; "))]
    Inputs(Faults),
    /// A finished file could not be moved to its path.
    #[error(transparent)]
    Save(#[from] WriteError),
    /// Tiers that are refused; the message names the file, if they are of one.
    #[error("{0}")]
    Tiers(String),
    /// Files that failed `verify`, each with the reason.
    #[error("{}", .0.join("; "))]
    Verify(Vec<String>),
    /// A model cannot be measured; the message names the file.
    #[error(transparent)]
    Subject(Box<SubjectError>),
    /// A baseline cannot be used; the message names the file.
    #[error(transparent)]
    Baseline(#[from] BaselineError),
    /// Times are worse than the baseline's.
    #[error("{rows}")]
    Regression {
        /// The rows, their times, and the baseline.
        rows: String,
    },
    /// Rows could not be written as CSV.
    #[error("the rows could not be written as CSV: {0}")]
    Csv(#[from] csv::Error),
    /// A SIMD level that this machine does not support, or an unknown name in the environment variable.
    #[error(transparent)]
    Simd(#[from] SimdLevelError),
    /// A call of the crowd failed.
    #[error(transparent)]
    Crowd(#[from] CrowdError),
    /// The file begins like no model.
    #[error("{file}: this is not a model: {kind}")]
    NoModel {
        /// The file.
        file: String,
        /// The kind that the file seems to have, in words.
        kind: String,
    },
    /// The file begins like no .phx file.
    #[error("{file}: this is not a .phx file: {kind}")]
    NotPhx {
        /// The file.
        file: String,
        /// The kind that the file seems to have, in words.
        kind: String,
    },
    /// The file contains no rig.
    #[error("{file}: contains no rig")]
    NoRig {
        /// The file.
        file: String,
    },
    /// A pose could not be evaluated.
    #[error("{file}: {source}")]
    Pose {
        /// The model's file.
        file: String,
        /// The error of the evaluation.
        source: Box<PlaybackError>,
    },
    /// A job's input is invalid.
    #[error("{file}: {source}")]
    Job {
        /// The model's file.
        file: String,
        /// The job's error.
        source: JobError,
    },
    /// A clip cannot be retargeted, a model is not a humanoid, or a map is refused.
    #[error("{file}: {source}{advice}")]
    Retarget {
        /// The file of the clip, the model or the map.
        file: String,
        /// The cause.
        source: Box<RetargetError>,
        /// The option that helps, in parentheses, or nothing.
        advice: &'static str,
    },
    /// Retargeted clips of one output have different skeletons.
    #[error(
        "{file}: its skeleton differs from that of {first}: {mismatch}; a folder as --out gets one file of each"
    )]
    Skeletons {
        /// The file.
        file: String,
        /// The first file.
        first: String,
        /// The first difference, in the file and in the first one.
        mismatch: SkeletonMismatch,
    },
    /// A model has nothing to retarget.
    #[error("{file}: there are no clips to retarget")]
    NoClips {
        /// The model's file.
        file: String,
    },
    /// A text file cannot be read.
    #[error("{file}: cannot be read: {source}")]
    ReadText {
        /// The file.
        file: String,
        /// The system's error.
        source: io::Error,
    },
    /// The model has no such clip.
    #[error("{file}: there is no clip \"{wanted}\"; {available}")]
    UnknownClip {
        /// The model's file.
        file: String,
        /// The requested clip.
        wanted: String,
        /// Similar names and the clips of the model, as text.
        available: String,
    },
    /// The model has no such joint.
    #[error("{file}: there is no joint \"{wanted}\"; {near}")]
    UnknownJoint {
        /// The model's file.
        file: String,
        /// The requested joint.
        wanted: String,
        /// Joints with similar names, or their number, as text.
        near: String,
    },
    /// A joint's name is ambiguous.
    #[error("{file}: {source}")]
    Joint {
        /// The model's file.
        file: String,
        /// The look-up's error.
        source: LookupError,
    },
    /// A living crowd cannot be made or run.
    #[error("{file}: {source}")]
    Live {
        /// The model's file.
        file: String,
        /// The cause.
        source: Box<LiveError>,
    },
    /// The plot of figures could not be drawn.
    #[error("the plot could not be drawn: {0}")]
    Plot(String),
    /// More clips are blended than a layer plays.
    #[error("{count} clips are blended; the limit is {limit}")]
    TooManyBlended {
        /// Clips with a weight above zero.
        count: usize,
        /// Largest number of clips.
        limit: usize,
    },
    /// A call of the scene graph failed.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The frames exceed the limit of pixels held in memory.
    #[error("{frames} frames have {pixels} pixels in total; the limit is {limit}")]
    TooManyPixels {
        /// Frames requested.
        frames: usize,
        /// Number of pixels of all frames.
        pixels: u64,
        /// Largest number of pixels.
        limit: u64,
    },
    /// A side of a contact sheet is too long.
    #[error("a sheet of {columns} columns and {rows} rows would exceed {limit} pixels per side")]
    SheetTooLarge {
        /// Columns.
        columns: u32,
        /// Rows.
        rows: u32,
        /// Largest side, in pixels.
        limit: u32,
    },
    /// GIF stores each side in 16 bits.
    #[error("a GIF of {width} x {height} pixels is too large; the limit is 65535 per side")]
    GifSize {
        /// Requested width.
        width: u32,
        /// Requested height.
        height: u32,
    },
    /// The GIF could not be encoded.
    #[error("the GIF could not be encoded: {0}")]
    Gif(#[from] gif::EncodingError),
    /// An output would overwrite an input or another output.
    #[error(transparent)]
    Clash(#[from] Clash),
    /// A crowd exceeds the memory limit.
    #[error(
        "{count} characters of this model need {needed} bytes of memory; the limit is {limit}, enough for \
         {most} characters"
    )]
    CrowdTooLarge {
        /// Characters requested.
        count: u64,
        /// Bytes they need.
        needed: u128,
        /// Largest number of bytes.
        limit: u64,
        /// Largest number of characters within the limit.
        most: u64,
    },
    /// The operating system cannot provide that much memory.
    #[error("{count} characters need {needed} bytes of memory, more than this machine can provide")]
    OutOfMemory {
        /// Characters requested.
        count: u64,
        /// Bytes they need.
        needed: u128,
    },
    /// Too little memory to use a graphics device. A driver may end the process when memory runs out, so the
    /// device is not opened.
    #[error("not enough memory to draw with a graphics device ({bytes} bytes needed)")]
    DeviceMemory {
        /// Bytes that drawing may need.
        bytes: u64,
    },
    /// Worker threads could not be started.
    #[error("cannot start worker threads ({threads} requested): {source}")]
    Threads {
        /// Threads requested; 0 stands for one per core.
        threads: usize,
        /// The thread pool's error.
        source: rayon::ThreadPoolBuildError,
    },
    /// The same frames gave different bits with another number of threads.
    #[error(
        "palettes of {threads} threads and of one thread differ: hashes {many:016x} and {one:016x}"
    )]
    NotDeterministic {
        /// Threads of the first run.
        threads: usize,
        /// Hash of its palettes.
        many: u64,
        /// Hash of the palettes of one thread.
        one: u64,
    },
    /// The program was built without its window.
    #[cfg(not(feature = "view"))]
    #[error(
        "this build has no window: \"cargo install --path cli --features view\" builds one that has, \
         \"cargo run --release --features phalanx-cli/view -- view\" runs it from the sources"
    )]
    NoWindow,
    /// No display exists, or no window can be opened on it.
    #[cfg(feature = "view")]
    #[error("cannot open a window: {reason}")]
    Window {
        /// The system's message.
        reason: String,
    },
    /// The viewer failed.
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
        /// The system's error.
        source: io::Error,
    },
    /// Standard output could not be written.
    #[error("standard output: {0}")]
    Stdout(#[source] io::Error),
}

impl From<SubjectError> for CliError {
    fn from(error: SubjectError) -> Self {
        Self::Subject(Box::new(error))
    }
}

impl From<ClipsFault> for CliError {
    fn from(fault: ClipsFault) -> Self {
        Self::Clips(Box::new(fault))
    }
}

impl From<BakeFault> for CliError {
    fn from(fault: BakeFault) -> Self {
        Self::Bake(Box::new(fault))
    }
}

impl CliError {
    /// The error of a retargeting, with the option that helps.
    pub fn retarget(file: String, source: RetargetError) -> Self {
        let advice = match &source {
            RetargetError::Lies { side: "target", .. } => " (--onto-reference CLIP:TIME)",
            RetargetError::Lies { .. } => " (--reference CLIP:TIME)",
            RetargetError::Far { .. } | RetargetError::Height { .. } => {
                " (--reference or --onto-reference CLIP:TIME)"
            }
            RetargetError::NoHumanoid { .. } => " (--print-map prints what is found, for editing)",
            RetargetError::NoBind => " (--reference rest takes the rest pose)",
            _ => "",
        };
        Self::Retarget { file, source: Box::new(source), advice }
    }

    /// The lines printed for this error.
    pub fn lines(&self) -> Vec<String> {
        match self {
            Self::Inputs(faults) => faults.lines(),
            Self::Verify(faults) => faults.clone(),
            other => vec![other.to_string()],
        }
    }

    /// True if the reader of standard output has closed it.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Stdout(e) if e.kind() == io::ErrorKind::BrokenPipe)
    }
}
