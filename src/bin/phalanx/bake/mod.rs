//! `phalanx bake`: glTF files become .phx files.

mod error;
mod inputs;
mod library;
mod one;
mod progress;
mod quality;
mod settings;
mod summary;

pub use error::BakeFault;
pub use inputs::{Input, expand, nothing};
pub use settings::Settings;

use super::error::CliError;
use super::numbers::whole;
use super::output;
use clap::Args;
use phalanx::format::ClipForm;
use phalanx::offline::UpAxis;
use progress::Progress;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use summary::Summary;

/// Bake glTF files into .phx files: small within a measured error, and mapped into memory
///
/// With a folder as output every input becomes a file of its own; with a name that ends in .phx all of
/// them become one library: the skeleton, skins and meshes of the first and the clips of all. Outputs
/// that are there and were made of the same inputs with the same settings are skipped.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct BakeArgs {
    /// .gltf and .glb files, folders of them, or patterns such as "clips/**/*.glb"
    #[arg(required = true)]
    files: Vec<String>,
    /// A folder, or a library's name that ends in .phx
    #[arg(long, value_name = "DIR|FILE")]
    out: PathBuf,
    /// The largest error in metres, of points on the shell around every joint
    #[arg(long, value_name = "M", default_value = "0.0001", allow_negative_numbers = true, value_parser = metres)]
    max_error: f32,
    /// The shell's distance from its joint in metres
    #[arg(long, value_name = "M", default_value = "0.03", allow_negative_numbers = true, value_parser = metres)]
    shell: f32,
    /// Errors and shells of single joints: a JSON file {"Head": {"max_error": M, "shell": M}, ...} of
    /// joints by name or path
    #[arg(long, value_name = "FILE")]
    quality: Option<PathBuf>,
    /// Keep every key as f32, as `pose` and `crowd` see glTF files
    #[arg(long, conflicts_with_all = ["max_error", "shell", "quality"])]
    exact: bool,
    /// The axis that points up in the output; glTF's is y
    #[arg(long, value_name = "y|z", default_value = "y", value_parser = up_axis)]
    up: UpAxis,
    /// Take the lane order from this file (.phx, .gltf or .glb) instead of the inputs; a library takes
    /// skins and meshes from it, too
    #[arg(long, value_name = "FILE")]
    layout: Option<PathBuf>,
    /// How clips are stored: rows, which are mapped and sampled where they lie, or coded, which is
    /// smaller and decoded when a clip is read
    #[arg(long, value_name = "rows|coded", default_value = "rows", value_parser = form)]
    form: ClipForm,
    /// Name clips FILE/CLIP in a library, so that clips of several files may have one name
    #[arg(long)]
    prefix: bool,
    /// Files that are worked on at once; as many as the machine has cores by default
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        value_parser = whole::<u16>(1..=super::MAX_THREADS)
    )]
    jobs: Option<u16>,
    /// Bake the I-th of N shares of the inputs (from 0); a library becomes NAME.part-I-of-N.phx, and
    /// `phalanx merge` joins the parts
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  phalanx bake pab.glb --out pab.phx
  phalanx bake clips/ --out baked/ --max-error 0.0005
  phalanx bake \"clips/**/*.glb\" --out library.phx --prefix
  phalanx bake clips/ --out library.phx --shard $SLURM_ARRAY_TASK_ID/8
  phalanx bake clips/ --out library.phx --shard $JOB_COMPLETION_INDEX/8   (Kubernetes)
  phalanx merge library.part-*.phx --out library.phx

Every file is written under another name first: a crash leaves no half file, and running the same
command again goes on where it ended.";

/// The I-th of N shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: usize,
    of: usize,
}

impl Shard {
    /// The share of things that stand in a row: shares are as even as can be, and in order.
    fn share<T>(self, all: &[T]) -> &[T] {
        let cut = |i: usize| (all.len() as u128 * i as u128 / self.of as u128) as usize;
        &all[cut(self.index)..cut(self.index + 1)]
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/');
        let numbers = parts.and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match numbers {
            Some((index, of)) if index < of && of <= 1 << 20 => Ok(Self { index, of }),
            _ => Err("expected I/N with I from 0 to N - 1".into()),
        }
    }
}

/// The largest error and shell: a thousand kilometres are no character's.
const MAX_METRES: f32 = 1e6;

fn metres(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(m) if m > 0.0 && m <= MAX_METRES => Ok(m),
        _ => Err(format!("expected metres above 0, {MAX_METRES} at most")),
    }
}

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

/// Bakes and reports.
pub fn run(args: &BakeArgs) -> Result<(), CliError> {
    let all = inputs::find(&args.files)?;
    let threads = args.jobs.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|source| CliError::Threads { threads, source })?;
    let settings = Settings::new(args)?;
    let summary = pool.install(|| match is_library(&args.out) {
        true => library::bake(args, &settings, &all),
        false => folder(args, &settings, &all),
    })?;
    if args.json {
        output::print_json(&summary, true)
    } else {
        output::print(&summary.text())
    }
}

/// Whether the output is one file.
fn is_library(out: &Path) -> bool {
    let extension = out
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("phx"));
    extension && !out.is_dir()
}

/// Every input a file of its own.
fn folder(args: &BakeArgs, settings: &Settings, all: &[Input]) -> Result<Summary, CliError> {
    inputs::no_name_twice(all)?;
    let share = args.shard.map_or(all, |s| s.share(all));
    let layout = args.layout.as_deref();
    let layout = layout.map(|f| one::Layout::load(f, args.up)).transpose()?;
    std::fs::create_dir_all(&args.out).map_err(|source| CliError::Write {
        path: args.out.display().to_string(),
        source,
    })?;
    let progress = Progress::new(share.len(), args.json);
    let bake = |input: &Input| one::bake(input, &args.out, settings, layout.as_ref(), &progress);
    use rayon::prelude::*;
    let files: Result<Vec<_>, CliError> = share.par_iter().map(bake).collect();
    progress.finish();
    Ok(Summary::new(files?, &progress))
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
