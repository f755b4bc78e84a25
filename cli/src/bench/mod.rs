//! `phalanx bench`: times workloads C1 to C3 against a textbook pipeline and compares with a baseline.

mod args;
mod baseline;
#[cfg(test)]
mod baseline_tests;
mod chains;
mod figures;
mod live;
mod live_figures;
mod machine;
mod plot;
mod row;
#[cfg(test)]
mod tests;

pub use args::BenchArgs;
pub use baseline::BaselineError;
pub use phalanx_workload::subject::SubjectError;

use super::clips::ClipArgs;
use super::error::CliError;
use super::files::Files;
use super::findings::print_dropped;
use super::import_args::{ImportArgs, advise};
use super::memory;
use super::model::Model;
use super::output::{self, Output};
use baseline::{Baseline, Comparison, Newer};
use chains::{ADVANCE_SERIES, FRAME_SERIES, TEXTBOOK_SERIES};
use figures::Figures;
use indicatif::{ProgressBar, ProgressStyle};
use machine::Machine;
use phalanx::build::raw_joints;
use phalanx::math::Affine3x4;
use phalanx::rig::Rig;
use phalanx::skeleton::LookupError;
use phalanx_workload::Workload;
use phalanx_workload::sampling::{ROUNDS, Samples};
use phalanx_workload::stages::{BookJobs, Jobs, Stage};
use phalanx_workload::subject::{Subject, SubjectOptions};
use phalanx_workload::textbook::Textbook;
use row::{Kind, Row, RowKey, Timed};
use std::path::Path;
use std::time::Duration;

/// Default numbers of characters.
const COUNTS: [u64; 3] = [1, 1_000, 10_000];

/// Bytes per character besides its palettes: twice the measured crowd state with three layers, and its
/// times in the textbook pipeline.
const STATE_BYTES: u64 = 2_048;

/// Measures, compares and prints.
pub fn run(args: &BenchArgs) -> Result<(), CliError> {
    check_files(args)?;
    let baseline = args.baseline.as_deref().map(Baseline::read).transpose()?;
    if let (Some(newer), Some(baseline)) = (&args.compare, &baseline) {
        let newer = Baseline::read(newer)?;
        let comparison = baseline.compare(newer.as_newer(), args.tolerance)?;
        output::print(&comparison.text())?;
        return verdict(&comparison);
    }
    let choice = SubjectOptions {
        clips: args.clip.clone(),
        additive: args.additive.clone(),
        mask: args.mask.clone(),
        import: args.import.options(),
    };
    let subject = load(args.file.as_deref(), &choice, &args.clips, args.import)?;
    args.clips.check_files(&args.file, args.import)?;
    if args.live {
        return live::run(args, &subject, baseline.as_ref());
    }
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
        progress: progress(cells.len() * ROUNDS as usize),
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
    compare(baseline.as_ref(), &figures.rows, args.tolerance)
}

/// Compares the rows of this run with the baseline, if there is one.
fn compare(baseline: Option<&Baseline>, rows: &[Row], tolerance: f64) -> Result<(), CliError> {
    let Some(baseline) = baseline else {
        return Ok(());
    };
    let name = "this run";
    let comparison = baseline.compare(Newer { name, rows }, tolerance)?;
    output::print(&format!("\n{}", comparison.text()))?;
    verdict(&comparison)
}

/// Fails if a row is slower than the tolerance allows.
fn verdict(comparison: &Comparison) -> Result<(), CliError> {
    match comparison.regressions() {
        None => Ok(()),
        Some(rows) => Err(CliError::Regression { rows }),
    }
}

/// Rejects outputs that would overwrite the model or each other. The baseline may be overwritten: it is
/// read first, and the new run then replaces it.
fn check_files(args: &BenchArgs) -> Result<(), CliError> {
    let mut files = Files::default();
    if let Some(file) = &args.file {
        files.reads_model("FILE", file);
    }
    let outputs = [("--json", &args.json), ("--csv", &args.csv), ("--plot", &args.plot)];
    for (option, file) in outputs {
        if let Some(file) = file {
            files.writes_other(option, file)?;
        }
    }
    Ok(())
}

/// Loads the model. A .phx file is measured as stored, with its own rows rather than rebuilt ones.
fn load(
    file: Option<&Path>,
    choice: &SubjectOptions,
    clips: &ClipArgs,
    import: ImportArgs,
) -> Result<Subject, CliError> {
    if !clips.files.is_empty() {
        return with_clips(file, choice, clips, import);
    }
    let loaded = match file.filter(|path| Model::is_phx(path)) {
        None => Subject::load(file, choice),
        Some(path) => {
            let rig = Model::load(Some(path), false, import)?.rig;
            let name = path.file_name().unwrap_or_default();
            let name = name.to_string_lossy().into_owned();
            let rig = Rig::clone(&rig);
            Subject::of_rig(name, raw_joints(&rig), rig, choice)
        }
    };
    if let (Ok(subject), Some(file)) = (&loaded, file) {
        print_dropped(&file.display().to_string(), &subject.report);
    }
    // Looked up again for similar names, with no second warning.
    let again = file.map_or(import, |file| import.of_other(file));
    loaded.map_err(|error| near_names(error, || Model::load(file, false, again)))
}

/// The error of a subject; of a clip or joint that does not exist, with similar names of the model.
fn near_names(error: SubjectError, model: impl FnOnce() -> Result<Model, CliError>) -> CliError {
    let found = match &error {
        SubjectError::UnknownClip { wanted, .. } => {
            model().and_then(|model| model.find_clip(wanted))
        }
        SubjectError::Joint { source: LookupError::NoJoint { name: wanted, .. }, .. } => {
            model().and_then(|model| model.find_joint(wanted))
        }
        SubjectError::NoClips { .. } => {
            // They may have been left out.
            if let Ok(model) = model() {
                print_dropped(&model.file, &model.report);
            }
            return error.into();
        }
        _ => {
            return match error {
                SubjectError::Read(error) => advise(*error),
                error => error.into(),
            };
        }
    };
    found.err().unwrap_or_else(|| error.into())
}

/// Loads the model with clips of other files. The textbook pipeline plays the bound clips, too.
fn with_clips(
    file: Option<&Path>,
    choice: &SubjectOptions,
    clips: &ClipArgs,
    import: ImportArgs,
) -> Result<Subject, CliError> {
    let model = Model::load_to_play(file, import)?.with_clips(clips, import)?;
    let rig = Rig::clone(&model.rig);
    let name = file.and_then(Path::file_name);
    let name = name.map_or_else(|| model.file.clone(), |n| n.to_string_lossy().into_owned());
    let made = Subject::of_rig(name, raw_joints(&rig), rig, choice);
    made.map_err(|error| near_names(error, || Ok(model)))
}

/// The given values without duplicates, or the defaults.
fn unique<T: Copy + PartialEq>(asked: &[T], defaults: &[T]) -> Vec<T> {
    let mut all = Vec::new();
    for &n in if asked.is_empty() { defaults } else { asked } {
        if !all.contains(&n) {
            all.push(n);
        }
    }
    all
}

/// Rejects crowds that, with the textbook pipeline, would not fit into memory; returns the count.
fn check_memory(count: u64, subject: &Subject) -> Result<usize, CliError> {
    let rows = subject.rig.palette_len() as u64;
    let scalars = subject.rig.skeleton().scalars().len() as u64;
    memory::check(count, rows * (48 + 64) + scalars * 4 + STATE_BYTES)
}

/// A bar over `steps` steps; hidden if standard error is not a terminal.
fn progress(steps: usize) -> ProgressBar {
    let bar = ProgressBar::new(steps as u64);
    match ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}, {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// One thing timed in every round.
#[derive(Clone, Copy, Debug)]
enum Work {
    Stage(Stage),
    Chain(Workload, usize),
}

/// A row being measured.
struct Cell {
    work: Work,
    /// Index of the thread pool.
    pool: usize,
    place: RowKey,
    series: Vec<Samples>,
}

/// Everything that is timed, in the order of the tables.
fn cells(counts: &[usize], threads: &[u16]) -> Vec<Cell> {
    let mut cells = Vec::new();
    let mut add = |work, kind, workload, count, pool, threads| {
        cells.push(Cell {
            work,
            pool,
            place: RowKey { threads, ..RowKey::new(kind, workload, count) },
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
    /// Time of one series in one round.
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

    /// Summarises the samples of all rounds.
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
                advance: series(ADVANCE_SERIES).filter(|_| chain).map(|s| s.median),
                textbook: series(if chain { TEXTBOOK_SERIES } else { 1 }),
                bytes: palette.then_some(bytes),
                ..Timed::new(ours)
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
    let failed = |source| CliError::Job { file: subject.name.clone(), source };
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
