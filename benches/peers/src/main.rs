//! Phalanx and ozz-animation-rs on the same workloads in one process, by turns: C1, C2, variety and churn of `pab.glb`,
//! to skinning palettes. Both are compared with the oracle first.
//!
//! ```sh
//! cargo +nightly run --release -- --csv peers.csv --svg peers.svg
//! ```
//!
//! `--seconds S` is the time of each figure (2), `--count N` the characters of the largest crowds (10,000), `--check`
//! compares and measures nothing. `PHALANX_ASSETS` is the folder of the model, `PHALANX_SIMD` pins Phalanx's level.

mod archive;
mod correct;
mod host;
mod joints;
mod ozz;
mod report;
mod work;

use phalanx::simd::SimdLevel;
use phalanx_testkit::trials;
use phalanx_workload::sampling::{ROUNDS, Samples, compare_counted};
use rayon::{ThreadPool, ThreadPoolBuilder};
use report::{Build, ENGINES, Figures};
use std::error::Error;
use std::time::Duration;
use work::{Kind, Pair, Source};

/// Characters of the comparison with the oracle.
const CHECKED: usize = 1_000;
/// Frames before the measured ones: longer than a crossfade.
const WARM_UP: u32 = 30;

struct Args {
    seconds: f64,
    count: usize,
    check: bool,
    csv: Option<String>,
    svg: Option<String>,
}

fn args() -> Result<Args, Box<dyn Error>> {
    let mut out = Args { seconds: 2.0, count: 10_000, check: false, csv: None, svg: None };
    let mut all = std::env::args().skip(1);
    while let Some(arg) = all.next() {
        if arg == "--check" {
            out.check = true;
            continue;
        }
        let value = all.next().ok_or_else(|| format!("{arg} has no value"))?;
        match &*arg {
            "--seconds" => out.seconds = value.parse()?,
            "--count" => out.count = value.parse()?,
            "--csv" => out.csv = Some(value),
            "--svg" => out.svg = Some(value),
            _ => return Err(format!("{arg} is unknown").into()),
        }
    }
    Ok(out)
}

/// Measures one workload in one round, with new crowds.
fn round(
    (kind, count): (Kind, usize),
    budget: Duration,
    pools: &[ThreadPool; 2],
    source: &mut Source,
) -> Result<Vec<Vec<f64>>, Box<dyn Error>> {
    let mut pair = Pair::new(kind, count, source)?;
    let Pair { ours, .. } = &mut pair;
    pools[0].install(|| ours.run(WARM_UP))?;
    pair.run_ozz(WARM_UP, true)?;
    compare_counted(ENGINES.len(), budget, |engine, frames| {
        let Pair { ours, .. } = &mut pair;
        match engine {
            0 => Ok(pools[0].install(|| ours.run(frames))?),
            3 => Ok(pools[1].install(|| ours.run(frames))?),
            engine => pair.run_ozz(frames, engine == 1),
        }
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = args()?;
    if let Some(level) = SimdLevel::from_env()? {
        level.set()?;
    }
    let file = trials::asset("pab.glb").ok_or("pab.glb is not among the test models")?;
    let mut source = Source::load(&file)?;
    let threads = std::thread::available_parallelism()?.get();
    let build = Build::new(threads);
    println!("{}\n", build.text());

    let mut errors = Vec::new();
    for kind in Kind::ALL {
        errors.push((kind, correct::check(kind, CHECKED.min(args.count), &mut source)?));
    }
    println!("{}", report::errors(&errors));
    if args.check {
        return Ok(());
    }

    let pool = |threads| ThreadPoolBuilder::new().num_threads(threads).build();
    let pools = [pool(1)?, pool(threads)?];
    let mut cases = Vec::new();
    for kind in Kind::ALL {
        let sizes = match kind {
            Kind::C1 | Kind::C2 => &[1, args.count / 10, args.count][..],
            _ => &[args.count / 10, args.count],
        };
        cases.extend(sizes.iter().map(|&count| (kind, count)));
    }
    let mut samples = vec![vec![Samples::default(); ENGINES.len()]; cases.len()];
    let budget = Duration::from_secs_f64(args.seconds) / ROUNDS;
    for _ in 0..ROUNDS {
        for (case, samples) in cases.iter().zip(&mut samples) {
            let taken = round(*case, budget, &pools, &mut source)?;
            samples.iter_mut().zip(taken).for_each(|(all, round)| all.0.push(round));
        }
    }
    let figures = cases.iter().zip(&samples).map(|(&(kind, count), samples)| Figures {
        kind,
        count,
        summaries: samples.iter().map(|s| s.summary().over(count)).collect(),
    });
    let figures: Vec<Figures> = figures.collect();
    println!("{}", report::times(&figures, threads));
    if let Some(path) = args.csv {
        std::fs::write(path, report::csv(&figures, &errors, &build))?;
    }
    if let Some(path) = args.svg {
        std::fs::write(path, report::svg(&figures, &build))?;
    }
    Ok(())
}
