//! `phalanx bench`: the workloads C1 to C3, timed beside a textbook pipeline and compared with a baseline.

mod baseline;
#[cfg(test)]
mod baseline_tests;
mod chains;
mod figures;
mod machine;
mod row;
#[cfg(test)]
mod tests;

pub use baseline::BaselineError;
pub use phalanx_workload::subject::SubjectError;

use super::error::CliError;
use super::files::Files;
use super::memory;
use super::model::Model;
use super::numbers::{whole, within};
use super::output::{self, Output};
use baseline::{Baseline, Comparison, Newer};
use chains::{ADVANCE_SERIES, FRAME_SERIES, TEXTBOOK_SERIES};
use clap::Args;
use figures::Figures;
use indicatif::{ProgressBar, ProgressStyle};
use machine::Machine;
use phalanx::build::raw_joints;
use phalanx::math::Affine3x4;
use phalanx::rig::Rig;
use phalanx_workload::Workload;
use phalanx_workload::sampling::{ROUNDS, Samples};
use phalanx_workload::stages::{BookJobs, Jobs, Stage};
use phalanx_workload::subject::{Choice, Subject};
use phalanx_workload::textbook::Textbook;
use row::{Kind, Row, RowKey, Timed};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// Measure the workloads C1 to C3 and compare with an earlier run
///
/// C1: every character plays one clip. C2: two, half and half. C3: three by thirds, and an additive one
/// with a mask. Every character has times and palette rows of its own. Each figure is the median of many
/// samples, taken in turn with those of a textbook pipeline.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct BenchArgs {
    /// A .gltf, .glb or .phx file; the built-in character if left out
    file: Option<PathBuf>,
    /// Characters; several make several rows each [default: 1, 1000 and 10000]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u64>(1..=u64::MAX))]
    count: Vec<u64>,
    /// Threads; several make several rows each [default: 1 and all the machine has]
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        value_parser = whole::<u16>(1..=super::MAX_THREADS)
    )]
    threads: Vec<u16>,
    /// The clips, one to three by exact name or else by index, fewer than three are repeated
    /// [default: walk, jog and run, else the first three]
    #[arg(long, value_name = "A,B,C")]
    clips: Option<ClipList>,
    /// The clip that C3 adds as a difference to its first frame [default: atlas or wave, else the first
    /// that is not among the three, else the last]
    #[arg(long, value_name = "CLIP")]
    additive: Option<String>,
    /// The joint from which on downwards C3 adds it [default: one that is named like a spine or chest,
    /// else all joints]
    #[arg(long, value_name = "JOINT")]
    mask: Option<String>,
    /// Seconds for each figure; as long again for the textbook pipeline beside it
    #[arg(long, value_name = "S", default_value = "0.5", allow_negative_numbers = true, value_parser = within("seconds", MIN_SECONDS..=MAX_SECONDS))]
    seconds: f64,
    /// Also write all figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Also write all rows as CSV
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Compare with a file that --json or --csv wrote: print what moved by more than the noise of both
    /// runs, and exit with 1 if a row is slower by more than the tolerance, too
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Measure nothing: compare this file, that --json or --csv wrote, with the baseline
    #[arg(
        long,
        value_name = "FILE",
        requires = "baseline",
        conflicts_with_all = ["file", "count", "threads", "clips", "additive", "mask", "seconds", "json", "csv"]
    )]
    compare: Option<PathBuf>,
    /// Percent by which a row may be slower than the baseline
    #[arg(long, value_name = "PERCENT", default_value = "5", allow_negative_numbers = true, value_parser = within("percent", 0.0..=MAX_TOLERANCE))]
    tolerance: f64,
}

const EXAMPLES: &str = "\
Examples:
  phalanx bench
  phalanx bench pab.glb --count 1 --count 10000 --threads 1 --json pab.json
  phalanx bench pab.glb --json new.json --baseline pab.json --tolerance 3
  phalanx bench --compare new.json --baseline pab.json
  phalanx bench fox.glb --clips Walk,Run --additive Survey --mask b_Spine01_02
  phalanx --simd avx2 bench --csv avx2.csv";

/// Characters and threads where none are asked for; the machine's cores come after the one.
const COUNTS: [u64; 3] = [1, 1_000, 10_000];

/// The least seconds of one figure: a handful of samples each.
const MIN_SECONDS: f64 = 1e-6;

/// The most: an hour.
const MAX_SECONDS: f64 = 3_600.0;

/// The largest tolerance: ten thousand times slower.
const MAX_TOLERANCE: f64 = 1e6;

/// Memory of a character beside its palettes: its state in the crowd, twice as much as was counted for
/// three layers, and its times in the textbook pipeline.
const STATE_BYTES: u64 = 2_048;

/// `A,B,C`.
#[derive(Clone, Debug)]
struct ClipList(Vec<String>);

impl FromStr for ClipList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let clips: Vec<String> = text.split(',').map(str::to_owned).collect();
        if clips.len() > 3 || clips.iter().any(String::is_empty) {
            return Err("expected one to three clips with commas between them".into());
        }
        Ok(Self(clips))
    }
}

/// Measures, compares and reports.
pub fn run(args: &BenchArgs) -> Result<(), CliError> {
    check_files(args)?;
    let baseline = args.baseline.as_deref().map(Baseline::read).transpose()?;
    if let (Some(newer), Some(baseline)) = (&args.compare, &baseline) {
        let newer = Baseline::read(newer)?;
        let comparison = baseline.compare(newer.as_newer(), args.tolerance)?;
        output::print(&comparison.text())?;
        return verdict(&comparison);
    }
    let choice = Choice {
        clips: args.clips.as_ref().map_or_else(Vec::new, |c| c.0.clone()),
        additive: args.additive.clone(),
        mask: args.mask.clone(),
    };
    let subject = load(args.file.as_deref(), &choice)?;
    let counts = unique(&args.count, &COUNTS);
    let counts = counts.into_iter().map(|n| check_memory(n, &subject));
    let counts = counts.collect::<Result<Vec<usize>, _>>()?;
    let here = machine::cores().min(super::MAX_THREADS as usize) as u16;
    let threads = unique(&args.threads, &[1, here]);
    let json = args.json.as_deref().map(Output::open).transpose()?;
    let csv = args.csv.as_deref().map(Output::open).transpose()?;

    let (book, no_textbook) = match Textbook::new(&subject.raw) {
        Ok(book) if book.slots() > 0 => (Some(book), None),
        Ok(_) => (None, Some("the model has no skin and no mesh".to_owned())),
        Err(reason) => (None, Some(reason)),
    };
    let cells = cells(&counts, &threads);
    let mut bench = Bench {
        figures: Figures::new(&subject, Machine::here(), args.seconds, no_textbook),
        budget: Duration::from_secs_f64(args.seconds) / ROUNDS,
        progress: progress(cells.len()),
        cells,
        subject,
        book,
    };
    let pools = pools(&threads)?;
    for _ in 0..ROUNDS {
        bench.round(&pools)?;
    }
    let figures = bench.finish();
    output::print(&figures.text())?;
    if let Some(file) = csv {
        file.write(&figures.csv()?)?;
    }
    json.map_or(Ok(()), |file| file.write_json(&figures))?;
    let Some(baseline) = baseline else {
        return Ok(());
    };
    let newer = Newer {
        name: "this run",
        rows: &figures.rows,
    };
    let comparison = baseline.compare(newer, args.tolerance)?;
    output::print(&format!("\n{}", comparison.text()))?;
    verdict(&comparison)
}

/// An error if a row is slower than it may be.
fn verdict(comparison: &Comparison) -> Result<(), CliError> {
    match comparison.regressions() {
        None => Ok(()),
        Some(rows) => Err(CliError::Regression { rows }),
    }
}

/// Refuses outputs that would overwrite the model, or each other. A baseline may be written again: it is read
/// before, and a run that is compared with the last one takes its place.
fn check_files(args: &BenchArgs) -> Result<(), CliError> {
    let mut files = Files::default();
    if let Some(file) = &args.file {
        files.reads_model("FILE", file);
    }
    for (option, file) in [("--json", &args.json), ("--csv", &args.csv)] {
        if let Some(file) = file {
            files.writes(option.to_owned(), file)?;
        }
    }
    Ok(())
}

/// A .phx file is measured as it lies: its rig's rows, not rows built anew.
fn load(file: Option<&Path>, choice: &Choice) -> Result<Subject, CliError> {
    match file.filter(|path| Model::is_phx(path)) {
        None => Ok(Subject::load(file, choice)?),
        Some(path) => {
            let rig = Model::load(Some(path), false)?.rig;
            let name = path.file_name().unwrap_or_default();
            let name = name.to_string_lossy().into_owned();
            let rig = Rig::clone(&rig);
            Ok(Subject::of_rig(name, raw_joints(&rig), rig, choice)?)
        }
    }
}

/// What was asked for without repetitions, or the defaults.
fn unique<T: Copy + PartialEq>(asked: &[T], defaults: &[T]) -> Vec<T> {
    let mut all = Vec::new();
    for &n in if asked.is_empty() { defaults } else { asked } {
        if !all.contains(&n) {
            all.push(n);
        }
    }
    all
}

/// Refuses crowds that would not fit into memory beside the textbook's; the count as an index.
fn check_memory(count: u64, subject: &Subject) -> Result<usize, CliError> {
    let rows = subject.rig.palette_len() as u64;
    let scalars = subject.rig.skeleton().scalars().len() as u64;
    memory::check(count, rows * (48 + 64) + scalars * 4 + STATE_BYTES)
}

/// A bar over all figures; hidden where standard error is no terminal.
fn progress(figures: usize) -> ProgressBar {
    let bar = ProgressBar::new(figures as u64 * u64::from(ROUNDS));
    match ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}, {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// What is timed in every round.
#[derive(Clone, Copy, Debug)]
enum Work {
    Stage(Stage),
    Chain(Workload, usize),
}

/// A row in the making.
struct Cell {
    work: Work,
    /// The place of its threads among those asked for.
    pool: usize,
    place: RowKey,
    series: Vec<Samples>,
}

/// All that is timed, in the tables' order.
fn cells(counts: &[usize], threads: &[u16]) -> Vec<Cell> {
    let mut cells = Vec::new();
    let mut add = |work, kind, workload, count, pool, threads| {
        cells.push(Cell {
            work,
            pool,
            place: RowKey {
                kind,
                workload,
                count,
                threads,
            },
            series: Vec::new(),
        });
    };
    for stage in Stage::ALL {
        let name = stage.name().to_owned();
        add(Work::Stage(stage), Kind::Stage, name, 1, 0, 1);
    }
    for workload in Workload::ALL {
        for &count in counts {
            for (pool, &threads) in threads.iter().enumerate() {
                let (work, name) = (Work::Chain(workload, count), format!("{workload:?}"));
                add(work, Kind::Chain, name, count, pool, threads.into());
            }
        }
    }
    cells
}

fn pools(threads: &[u16]) -> Result<Vec<rayon::ThreadPool>, CliError> {
    let threads = threads.iter().copied().map(usize::from);
    threads
        .map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.map_err(|source| CliError::Threads { threads, source })
        })
        .collect()
}

struct Bench {
    subject: Subject,
    book: Option<Textbook>,
    /// Of a series in one round.
    budget: Duration,
    progress: ProgressBar,
    cells: Vec<Cell>,
    figures: Figures,
}

impl Bench {
    /// Times every cell once more.
    fn round(&mut self, pools: &[rayon::ThreadPool]) -> Result<(), CliError> {
        let (subject, book) = (&self.subject, self.book.as_ref());
        for cell in &mut self.cells {
            self.progress.set_message(cell.place.label());
            let samples = match cell.work {
                Work::Stage(stage) => stage_round(subject, book, stage, self.budget)?,
                Work::Chain(workload, count) => {
                    let pool = &pools[cell.pool];
                    chains::round(subject, book, workload, count, pool, self.budget)?
                }
            };
            cell.series.resize_with(samples.len(), Samples::default);
            for (series, samples) in cell.series.iter_mut().zip(samples) {
                series.0.push(samples);
            }
            self.progress.inc(1);
        }
        Ok(())
    }

    /// The figures of all rounds.
    fn finish(mut self) -> Figures {
        self.progress.finish_and_clear();
        let bytes = self.figures.palette_rows * size_of::<Affine3x4>();
        for cell in self.cells {
            let series = |which: usize| {
                let summary = cell.series.get(which).map(Samples::summary);
                summary.map(|s| s.over(cell.place.count))
            };
            let Some(ours) = series(FRAME_SERIES) else {
                continue;
            };
            let (chain, palette) = match cell.work {
                Work::Stage(stage) => (false, stage == Stage::Palette),
                Work::Chain(..) => (true, true),
            };
            let timed = Timed {
                ours,
                advance: if chain { series(ADVANCE_SERIES) } else { None },
                textbook: series(if chain { TEXTBOOK_SERIES } else { 1 }),
                bytes: palette.then_some(bytes),
            };
            let row = Row::new(cell.place, &timed, &self.subject, &self.figures.machine);
            self.figures.rows.push(row);
        }
        self.figures
    }
}

/// One round of a job: its samples, then the textbook's.
fn stage_round(
    subject: &Subject,
    book: Option<&Textbook>,
    stage: Stage,
    budget: Duration,
) -> Result<Vec<Vec<f64>>, CliError> {
    let failed = |source| CliError::Job {
        file: subject.name.clone(),
        source,
    };
    let mut jobs = Jobs::new(subject).map_err(failed)?;
    let mut books = book.map(|book| BookJobs::new(book, subject));
    let series = 1 + usize::from(books.is_some());
    let run = |which: usize, passes: u32| match &mut books {
        Some(books) if which == 1 => {
            books.passes(stage, passes);
            Ok(())
        }
        _ => jobs.passes(stage, passes),
    };
    phalanx_workload::sampling::compare(series, budget, run).map_err(failed)
}
