//! `phalanx bake`: bakes glTF files into .phx files.

mod discover;
mod error;
mod events;
mod faults;
mod inputs;
mod length;
mod library;
mod one;
mod progress;
pub mod proportion;
mod quality;
mod settings;
mod summary;

pub use discover::{Found, expand, files, nothing};
pub use error::BakeFault;
pub use faults::Faults;
pub use inputs::Input;
pub use length::Length;
pub use settings::Settings;

use super::clips::ClipArgs;
use super::error::CliError;
use super::files::Files;
use super::findings::FileReport;
use super::import_args::ImportArgs;
use super::numbers::whole;
use super::output;
use clap::error::ErrorKind;
use clap::{Args, ValueEnum};
use events::Events;
use phalanx::format::ClipForm;
use phalanx::import::UpAxis;
use progress::Progress;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use summary::Summary;

/// Bake glTF and BVH files into .phx files: compact within a measured error, read clip by clip
///
/// If the output is a folder, every input becomes one file in it. If it is a name that ends in .phx, all
/// inputs become one library: skeleton, skins and meshes of the first input and the clips of all. Outputs
/// that already exist and were baked from the same inputs with the same settings are skipped.
///
/// Subfolders of a given folder are kept: clips/a/walk.glb, found in clips/, becomes OUT/a/walk.phx, and
/// with --prefix its clips are named a/walk/CLIP. The same holds for patterns, below the folder in which
/// the pattern begins. Of a file given by name only the name is kept.
///
/// Every input that fails is reported on one line; the others are still baked, and the exit status is 1.
/// A library is written only if all of its inputs succeed.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct BakeArgs {
    /// .gltf, .glb, .vrm, .vrma and .bvh files, folders of them, or patterns such as "clips/**/*.glb"
    #[arg(required = true)]
    files: Vec<String>,
    /// Output: a folder, or a library's name that ends in .phx
    #[arg(long, value_name = "DIR|FILE")]
    out: PathBuf,
    /// Largest error, at points on a shell around every joint: metres of model space, or per cent of the model's
    /// size (the longest side of the box around its joints at rest), such as 0.005%
    #[arg(long, value_name = "M|P%", default_value = "0.0001", allow_negative_numbers = true)]
    max_error: Length,
    /// Radius of the shell around each joint: metres of model space, whatever scales lie above the joint, or per
    /// cent of the model's size
    #[arg(long, value_name = "M|P%", default_value = "0.03", allow_negative_numbers = true)]
    shell: Length,
    /// Error and shell of single joints: a JSON file {"Head": {"max_error": M, "shell": "P%"}, ...} with joints
    /// by name, path or index
    #[arg(long, value_name = "FILE")]
    quality: Option<PathBuf>,
    /// Keep every key as f32, as `pose` and `crowd` read glTF files
    #[arg(long, conflicts_with_all = ["max_error", "shell", "quality"])]
    exact: bool,
    /// Axis that points up in the output; y, as in glTF, is the default
    #[arg(long, value_name = "y|z", default_value = "y", value_parser = up_axis)]
    up: UpAxis,
    /// File (.phx, .gltf, .glb or .bvh) to copy the lane order from, instead of deriving it from the inputs; a
    /// library also takes its skins and meshes from this file
    #[arg(long, value_name = "FILE")]
    layout: Option<PathBuf>,
    /// How clips are stored: `rows` are sampled as they are stored; `coded` is smaller and is decoded
    /// when a clip is read
    #[arg(long, value_name = "rows|coded", default_value = "rows", value_parser = form)]
    form: ClipForm,
    /// Name clips FILE/CLIP or FOLDER/FILE/CLIP in a library, so that names from several files do not clash
    #[arg(long)]
    prefix: bool,
    /// Files baked in parallel; default: one per core
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        value_parser = whole::<u16>(1..=super::MAX_THREADS)
    )]
    jobs: Option<u16>,
    /// Bake the I-th of N shares of the inputs (from 0); a library part is named NAME.part-I-of-N.phx, and
    /// `phalanx merge` joins the parts
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// How progress is shown: `bar` on standard error, if that is a terminal; `json`, a line of JSON on standard
    /// output for every step, clip and fault, instead of the table
    #[arg(long, value_name = "bar|json", default_value = "bar", hide_possible_values = true)]
    progress: ProgressForm,
    #[command(flatten)]
    clips: ClipArgs,
    #[command(flatten)]
    import: ImportArgs,
}

impl BakeArgs {
    /// Rejects combinations of arguments that are valid one by one.
    pub fn check(&self, command: &mut clap::Command) -> Result<(), clap::Error> {
        if self.json && self.progress == ProgressForm::Json {
            let message = "--json and --progress json both print to standard output; give one";
            return Err(command.error(ErrorKind::ArgumentConflict, message));
        }
        if self.clips.files.is_empty() || is_library(&self.out) {
            return phx_or_folder(&self.out, command);
        }
        let message = format!(
            "--clips makes one library, so --out must be a file that ends in .phx, not {}",
            self.out.display()
        );
        Err(command.error(ErrorKind::ValueValidation, message))
    }
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ProgressForm {
    Bar,
    Json,
}

/// Whether a name ends as that of a file of another type: in a dot and letters other than `phx`.
pub fn is_other_type(out: &Path) -> bool {
    let ending = out.extension().and_then(|e| e.to_str());
    let ending = ending.filter(|e| e.starts_with(|c: char| c.is_ascii_alphabetic()));
    ending.is_some_and(|e| !e.eq_ignore_ascii_case("phx"))
}

/// Refuses an output that is neither a .phx file nor looks like a folder.
pub fn phx_or_folder(out: &Path, command: &mut clap::Command) -> Result<(), clap::Error> {
    let name = out.display().to_string();
    if !is_other_type(out) || out.is_dir() || name.ends_with(std::path::is_separator) {
        return Ok(());
    }
    let message = format!(
        "--out {name}: only .phx files are written; the output is a name that ends in .phx, or a folder ({name}/)"
    );
    Err(command.error(ErrorKind::ValueValidation, message))
}

const EXAMPLES: &str = "\
Examples:
  phalanx bake pab.glb --out pab.phx
  phalanx bake clips/ --out baked/ --max-error 0.0005
  phalanx bake fox.glb --out fox.phx --max-error 0.005% --shell 2%
  phalanx bake \"clips/**/*.glb\" --out library.phx --prefix
  phalanx bake hero.glb --clips \"anims/*.glb\" --out hero.phx
  phalanx bake clips/ --out library.phx --shard $SLURM_ARRAY_TASK_ID/8
  phalanx bake clips/ --out library.phx --shard $JOB_COMPLETION_INDEX/8   (Kubernetes)
  phalanx merge library.part-*.phx --out library.phx

Every file is written under a temporary name and then renamed: a crash leaves no partial file, and \
running the same command again continues where it stopped.";

/// The I-th of N shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: usize,
    of: usize,
}

impl Shard {
    /// The slice of this share; shares are contiguous, in order, and differ by at most one item.
    fn share<T>(self, all: &[T]) -> &[T] {
        &all[self.range(all.len())]
    }

    /// The indices of this share among `len` items.
    fn range(self, len: usize) -> Range<usize> {
        let cut = |i: usize| (len as u128 * i as u128 / self.of as u128) as usize;
        cut(self.index)..cut(self.index + 1)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/');
        let numbers = parts.and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match numbers {
            Some((index, of)) if index < of && of <= 1 << 20 => Ok(Self { index, of }),
            _ => Err("expected I/N with I from 0 to N - 1, N at most 1048576".into()),
        }
    }
}

/// Largest accepted error and shell, in metres; far beyond any character.
const MAX_METRES: f32 = 1e6;

fn up_axis(text: &str) -> Result<UpAxis, String> {
    match text {
        "y" | "Y" => Ok(UpAxis::Y),
        "z" | "Z" => Ok(UpAxis::Z),
        _ => Err("expected y or z".into()),
    }
}

fn form(text: &str) -> Result<ClipForm, String> {
    ClipForm::ALL
        .into_iter()
        .find(|f| f.name() == text)
        .ok_or_else(|| "expected rows or coded".into())
}

/// Bakes and prints the summary, or the events.
pub fn run(args: &BakeArgs) -> Result<(), CliError> {
    let mut faults = Faults::default();
    let mut all = inputs::find(&args.files, &mut faults);
    all.extend(inputs::find_clips(&args.clips.files, &mut faults));
    if args.progress == ProgressForm::Bar {
        let summary = bake(args, all, faults)?;
        if args.json {
            output::print_json(&summary, true)?;
        } else if !summary.files.is_empty() || summary.faults.is_empty() {
            output::print(&summary.text())?;
        }
        return { summary }.faults.none();
    }
    let events = Events::start(args, all.len());
    faults.watch(&events);
    let made = bake(args, all, faults);
    let printed = events.end(made.as_ref());
    made?.faults.none()?;
    printed
}

/// Bakes; faults of inputs are in the summary.
fn bake(args: &BakeArgs, all: Vec<Input>, faults: Faults) -> Result<Summary, CliError> {
    let threads = args.jobs.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|source| CliError::Threads { threads, source })?;
    let mut files = Files::default();
    for input in &all {
        let option = if input.bound { "--clips" } else { "FILES" };
        files.reads_model(option, &input.path);
    }
    if let Some(file) = &args.quality {
        files.reads("--quality", file);
    }
    if let Some(file) = &args.layout {
        files.reads_model("--layout", file);
    }
    if is_library(&args.out) {
        files.writes("--out".to_owned(), &library::place(args))?;
    }
    let read = all.iter().map(|input| &*input.path);
    args.import.check_files(read.chain(args.layout.as_deref()));
    let settings = Settings::new(args)?;
    let made = pool.install(|| match is_library(&args.out) {
        true => library::bake(args, &settings, &all, faults),
        false => folder(args, &settings, all, files, faults),
    });
    let summary = match made {
        Err(CliError::Inputs(faults)) => Summary::refused(faults),
        other => other?,
    };
    summary.imports.iter().for_each(FileReport::print);
    let notes = summary.files.iter().flat_map(|f| &f.notes);
    notes.for_each(|note| output::tell(note));
    Ok(summary)
}

/// True if the output is one library file.
fn is_library(out: &Path) -> bool {
    let extension = out.extension().is_some_and(|e| e.eq_ignore_ascii_case("phx"));
    extension && !out.is_dir()
}

/// Bakes every input into its own file.
fn folder(
    args: &BakeArgs,
    settings: &Settings,
    all: Vec<Input>,
    mut files: Files,
    mut faults: Faults,
) -> Result<Summary, CliError> {
    let all = inputs::no_place_twice(all, &mut faults);
    let share = args.shard.map_or(&all[..], |s| s.share(&all));
    let mut share = share.to_vec();
    share.retain(|input| {
        let output = format!("--out for {}", input.name());
        let free = files.writes(output, &one::place(input, &args.out));
        let free = free.map_err(CliError::from);
        faults.sift(input, free).is_some()
    });
    let layout = args.layout.as_deref();
    let mut imports = Vec::new();
    let layout =
        layout.map(|f| one::Layout::load(f, args.up, args.import, &mut Vec::new())).transpose()?;
    if !share.is_empty() {
        one::make_folder(&args.out)?;
    }
    let progress = Progress::new(share.len(), args.json, faults.events());
    let bake = |input: &Input| {
        let made = one::bake(input, &args.out, settings, layout.as_ref(), &progress);
        if let Err(fault) = &made {
            progress.failed(&input.name(), fault);
        }
        progress.file();
        made
    };
    use rayon::prelude::*;
    let made: Vec<_> = share.par_iter().map(bake).collect();
    progress.finish();
    let made = share.iter().zip(made);
    let files = made.filter_map(|(input, file)| {
        let (file, import) = faults.sift(input, file)?;
        imports.extend(import);
        Some(file)
    });
    let summary = Summary::new(files.collect(), &progress).with(faults);
    Ok(Summary { imports, ..summary })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_whole_and_in_order() {
        let all: Vec<usize> = (0..23).collect();
        for of in [1, 2, 7, 23, 40] {
            let shares = (0..of).map(|index| Shard { index, of }.share(&all));
            let joined: Vec<usize> = shares.clone().flatten().copied().collect();
            assert_eq!(joined, all);
            let (least, most) = shares.fold((99, 0), |(a, b), s| (a.min(s.len()), b.max(s.len())));
            assert!(most - least <= 1, "{of}: {least} to {most}");
        }
        for bad in ["", "1", "2/2", "-1/2", "0/0", "a/b", "1/2/3", "0/99999999"] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_name_that_ends_in_phx_is_a_library() {
        assert!(is_library(Path::new("a/b.PHX")));
        assert!(!is_library(Path::new("a/b")));
        assert!(!is_library(Path::new("phx")));
    }
}
