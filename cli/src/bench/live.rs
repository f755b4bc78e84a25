//! `phalanx bench --live`: times the groups of a living crowd, compares and prints.

use super::super::error::CliError;
use super::super::memory;
use super::super::output::{self, Output};
use super::args::BenchArgs;
use super::baseline::Baseline;
use super::live_figures::LiveFigures;
use super::machine::Machine;
use super::{STATE_BYTES, compare, plot, pools, progress};
use phalanx_workload::live::{Group, MeasureOptions, Models, Sizes, groups, measure};
use phalanx_workload::subject::Subject;
use std::time::Duration;

/// Numbers of threads of all cases.
const THREADS: [u16; 2] = [1, 2];

/// Default number of frames of churn.
const FRAMES: u64 = 1_000;

/// Number of crowds of the largest size that exist at once, reached with many rigs.
const CROWDS: u64 = 6;

/// Copies of a clip's rows: as tracks, in a library, and in the rigs that share nothing.
const CLIP_COPIES: u64 = 3;

/// Measures, compares and prints.
pub fn run(
    args: &BenchArgs,
    subject: &Subject,
    baseline: Option<&Baseline>,
) -> Result<(), CliError> {
    let sizes = sizes(args, subject)?;
    let options = MeasureOptions {
        budget: Duration::from_secs_f64(args.seconds),
        frames: usize::try_from(args.frames.unwrap_or(FRAMES)).unwrap_or(usize::MAX),
    };
    let json = args.json.as_deref().map(Output::open).transpose()?;
    let csv = args.csv.as_deref().map(Output::open).transpose()?;
    let plot = args.plot.as_deref().map(Output::open).transpose()?;

    let asked =
        |group: &Group| args.group.is_empty() || args.group.iter().any(|name| name == group.name);
    let groups: Vec<Group> = groups(&sizes).into_iter().filter(asked).collect();
    let bar = progress(groups.iter().map(Group::steps).sum());
    let pools = pools(&THREADS)?;
    let mut models = Models::new(&subject.rig, &subject.clips);
    let mut figures = LiveFigures::new(subject, Machine::here(), args.seconds, options.frames);
    for group in &groups {
        let measured = measure(group, &mut models, &pools, &options, &mut |case| {
            bar.set_message(case.to_string());
            bar.inc(1);
        });
        let measured = measured.map_err(|source| CliError::Live {
            file: subject.name.clone(),
            source: Box::new(source),
        })?;
        figures.add(group, measured, subject);
    }
    bar.finish_and_clear();
    output::print(&figures.text())?;
    if let Some(file) = csv {
        file.write(&figures.csv()?)?;
    }
    if let Some(file) = plot {
        file.write(plot::svg(&figures, baseline)?.as_bytes())?;
    }
    json.map_or(Ok(()), |file| file.write_json(&figures))?;
    compare(baseline, &figures.rows, args.tolerance)
}

/// The sizes given by the options. Rejects sizes that would not fit into memory.
fn sizes(args: &BenchArgs, subject: &Subject) -> Result<Sizes, CliError> {
    let default = Sizes::default();
    let count = args.count.first().copied();
    let count = count.unwrap_or(default.count as u64);
    let clips = args.library.unwrap_or(default.clips as u64);
    let rows = subject.rig.palette_len() as u64;
    let used = subject.clips.clips.map(|clip| subject.rig.clips()[clip].bytes() as u64);
    let clip = used.into_iter().max().unwrap_or_default() * CLIP_COPIES;
    // A tenth of the characters have a rig each, with three clips.
    let each = CROWDS * (rows * 48 + STATE_BYTES) + clip * 3 / 10 + clip * clips / count;
    Ok(Sizes {
        count: memory::check(count, each)?,
        clips: usize::try_from(clips).unwrap_or(usize::MAX),
    })
}
