//! The arguments of `phalanx bench`.

use super::super::clips::ClipArgs;
use super::super::import_args::ImportArgs;
use super::super::numbers::{whole, within};
use clap::Args;
use clap::builder::PossibleValuesParser;
use phalanx_workload::live::{Sizes, groups};
use std::path::PathBuf;

/// Measure the workloads C1 to C3 and compare with an earlier run
///
/// C1: every character plays one clip. C2: two clips, blended half and half. C3: three clips at a third
/// each, plus an additive clip with a mask. Every character has its own times and palette rows. Each figure
/// is the median of many samples, taken in turn with those of a textbook pipeline.
///
/// With --live, crowds that change: many clips, crossfades that begin in every frame, swords, overrides, many
/// rigs, mixers, long clips, cubic splines. Each figure stands beside what it is compared with and its aim.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct BenchArgs {
    /// A .gltf, .glb, .vrm, .bvh or .phx file; default: the built-in character
    pub file: Option<PathBuf>,
    /// Number of characters; repeat for several rows [default: 1, 1000 and 10000]. With --live: of the largest
    /// crowds, at least 200, once; the others have 2/5 and 1/10 of it [default: 10000]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u64>(1..=u64::MAX))]
    pub count: Vec<u64>,
    /// Number of threads; repeat for several rows [default: 1 and one per core]
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        conflicts_with = "live",
        value_parser = whole::<u16>(1..=super::super::MAX_THREADS)
    )]
    pub threads: Vec<u16>,
    /// Clip, by exact name or index; give it up to three times; fewer are repeated [default: walk, jog and
    /// run if present, else the first three]
    #[arg(long, value_name = "NAME|INDEX")]
    pub clip: Vec<String>,
    /// Clip that C3 adds, relative to its first frame [default: atlas or wave if present, else the first clip
    /// not among the three, else the last]
    #[arg(long, value_name = "NAME|INDEX")]
    pub additive: Option<String>,
    /// Joint at the root of C3's additive mask, by name, path or index [default: a joint named like a spine or chest, else all
    /// joints]
    #[arg(long, value_name = "JOINT")]
    pub mask: Option<String>,
    /// Seconds per figure; the textbook pipeline takes the same time again
    #[arg(long, value_name = "S", default_value = "0.5", allow_negative_numbers = true, value_parser = within("seconds", MIN_SECONDS..=MAX_SECONDS))]
    pub seconds: f64,
    /// Measure crowds that change, on one thread and on two
    #[arg(long)]
    pub live: bool,
    /// With --live: measure this group alone; repeat for several
    #[arg(long, value_name = "GROUP", requires = "live", value_parser = PossibleValuesParser::new(groups(&Sizes::default()).into_iter().map(|g| g.name)))]
    pub group: Vec<String>,
    /// With --live: number of clips of the largest library; the others have 1/10, 1/100 and 3 [default: 3000]
    #[arg(long, value_name = "N", requires = "live", allow_negative_numbers = true, value_parser = whole::<u64>(3..=MAX_LIBRARY))]
    pub library: Option<u64>,
    /// With --live: number of frames of churn, each run five times [default: 1000]
    #[arg(long, value_name = "N", requires = "live", allow_negative_numbers = true, value_parser = whole::<u64>(1..=MAX_FRAMES))]
    pub frames: Option<u64>,
    /// With --live: draw the cost by number of clips and the frames of churn to this SVG file, beside those of the
    /// baseline if one is given
    #[arg(long, value_name = "FILE", requires = "live")]
    pub plot: Option<PathBuf>,
    /// Also write all figures to this JSON file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Also write all rows to this CSV file
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Compare with a file written by --json or --csv: print changes beyond the noise of both runs, and exit
    /// with status 1 if a row is also slower by more than the tolerance
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Measure nothing; compare this file, written by --json or --csv, with the baseline
    #[arg(
        long,
        value_name = "FILE",
        requires = "baseline",
        conflicts_with_all = ["file", "count", "threads", "clip", "additive", "mask", "seconds", "live", "json", "csv", "lenient", "trim"]
    )]
    pub compare: Option<PathBuf>,
    /// Percentage by which a row may be slower than the baseline
    #[arg(long, value_name = "PERCENT", default_value = "5", allow_negative_numbers = true, value_parser = within("percent", 0.0..=MAX_TOLERANCE))]
    pub tolerance: f64,
    #[command(flatten)]
    pub clips: ClipArgs,
    #[command(flatten)]
    pub import: ImportArgs,
}

const EXAMPLES: &str = "\
Examples:
  phalanx bench
  phalanx bench pab.glb --count 1 --count 10000 --threads 1 --json pab.json
  phalanx bench pab.glb --json new.json --baseline pab.json --tolerance 3
  phalanx bench --compare new.json --baseline pab.json
  phalanx bench fox.glb --clip Walk --clip Run --additive Survey
  phalanx bench pab.glb --live --json live.json --plot live.svg
  phalanx bench pab.glb --live --group churn --group variety --baseline live.json
  phalanx --simd avx2 bench --csv avx2.csv";

/// Clips of C3.
const MAX_CLIPS: usize = 3;

/// Fewest characters of the largest crowds of `--live`: two rigs of a hundred.
const MIN_LIVE: u64 = 200;

/// Most clips of a library. A rig holds 65,534.
const MAX_LIBRARY: u64 = 60_000;

/// Most frames of churn: their times are kept.
const MAX_FRAMES: u64 = 1_000_000;

/// Shortest accepted time per figure, in seconds; it gives a handful of samples.
const MIN_SECONDS: f64 = 1e-6;

/// Longest accepted time per figure, in seconds: one hour.
const MAX_SECONDS: f64 = 3_600.0;

/// Largest accepted tolerance, in percent: ten thousand times slower.
const MAX_TOLERANCE: f64 = 1e6;

impl BenchArgs {
    /// Rejects what the parser cannot: an option that is given too often, too few characters.
    pub fn check(&self, command: &mut clap::Command) -> Result<(), clap::Error> {
        use clap::error::ErrorKind;
        let clips = self.clip.len();
        if clips > MAX_CLIPS {
            let message =
                format!("{clips} clips are given by --clip; the workloads play up to {MAX_CLIPS}");
            return Err(command.error(ErrorKind::TooManyValues, message));
        }
        if self.live && self.count.len() > 1 {
            let message =
                "--count is given several times; with --live it is the size of the largest crowds";
            return Err(command.error(ErrorKind::TooManyValues, message));
        }
        if let Some(count) = self.count.first().filter(|&&n| self.live && n < MIN_LIVE) {
            let message = format!("--count {count} is too small for --live: at least {MIN_LIVE}");
            return Err(command.error(ErrorKind::ValueValidation, message));
        }
        Ok(())
    }
}
