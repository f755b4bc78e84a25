//! Times the cases of a group in turn.

use super::case::{Case, Kind};
use super::groups::Group;
use super::models::Models;
use super::scene::{FrameTimes, LiveError, Scene};
use crate::sampling::{ROUNDS, Samples, Summary, compare_counted};
use rayon::ThreadPool;
use std::time::Duration;

/// How often the frames of churn are replayed.
pub const REPLAYS: usize = 5;
/// Frames of churn before the counted ones: half a second, longer than a crossfade.
pub const WARM_UP: usize = 30;

/// How long to measure.
#[derive(Clone, Copy, Debug)]
pub struct MeasureOptions {
    /// Time of a case, over all rounds. Cases of churn take as long as their frames.
    pub budget: Duration,
    /// Counted frames of churn.
    pub frames: usize,
}

/// The figure of a case, in nanoseconds per character.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The measured configuration.
    pub case: Case,
    /// The counted part of a frame.
    pub summary: Summary,
    /// Median of the host's calls before `advance`.
    pub requests: f64,
    /// Median of `advance`.
    pub advance: f64,
    /// For churn: the least time of each frame over all replays, in nanoseconds per frame.
    pub frames: Vec<f64>,
}

impl Figure {
    /// The largest of the frames, in nanoseconds.
    pub fn worst(&self) -> Option<f64> {
        self.frames.iter().copied().reduce(f64::max)
    }

    /// The largest of the frames over their median.
    pub fn worst_over_median(&self) -> Option<f64> {
        Some(self.worst()? / median(&self.frames)?)
    }
}

impl Group {
    /// How often [`measure()`] calls `step`.
    pub fn steps(&self) -> usize {
        let times = if self.replayed() { REPLAYS } else { ROUNDS as usize };
        self.cases.len() * times
    }

    fn replayed(&self) -> bool {
        self.cases.iter().any(|case| case.kind == Kind::Churn)
    }
}

/// Samples of a case.
#[derive(Default)]
struct Taken {
    counted: Samples,
    requests: Vec<f64>,
    advance: Vec<f64>,
    frames: Vec<f64>,
}

impl Taken {
    /// A frame's counted time in nanoseconds, with the times of its parts kept.
    fn add(&mut self, case: &Case, times: &FrameTimes) -> f64 {
        self.requests.push(nanoseconds(times.requests));
        self.advance.push(nanoseconds(times.advance));
        nanoseconds(case.counted(times))
    }

    fn figure(self, case: Case) -> Figure {
        let over = |times: &[f64]| median(times).unwrap_or_default() / case.count.max(1) as f64;
        let mut summary = self.counted.summary();
        if case.kind == Kind::Churn {
            // Frames do different work, so their deviations are not noise. Replays do the same work.
            let medians = self.counted.0.iter().filter_map(|replay| median(replay));
            let (low, high) =
                medians.fold((f64::INFINITY, 0.0f64), |(low, high), m| (low.min(m), high.max(m)));
            summary.noise = (high - low).max(0.0) / 2.0;
        }
        Figure {
            summary: summary.over(case.count),
            requests: over(&self.requests),
            advance: over(&self.advance),
            frames: self.frames,
            case,
        }
    }
}

/// Measures all cases of a group: one figure for each, in order. `step` is called before each round of a case.
///
/// Cases are timed by [`ROUNDS`] rounds with new scenes, their samples taken in turn. Groups with churn are replayed
/// [`REPLAYS`] times instead: each case runs the same seeded frames from the start, one case after the other, and the
/// others are sampled between them.
///
/// # Errors
/// If a scene cannot be made or run, or no pool has the threads of a case.
pub fn measure(
    group: &Group,
    models: &mut Models,
    pools: &[ThreadPool],
    options: &MeasureOptions,
    step: &mut dyn FnMut(&Case),
) -> Result<Vec<Figure>, LiveError> {
    let mut taken: Vec<Taken> = group.cases.iter().map(|_| Taken::default()).collect();
    match group.replayed() {
        true => {
            for _ in 0..REPLAYS {
                for (case, taken) in group.cases.iter().zip(&mut taken) {
                    step(case);
                    replay(case, models, pool(pools, case)?, options, taken)?;
                }
            }
        }
        false => {
            for _ in 0..ROUNDS {
                round(group, models, pools, options, &mut taken, step)?;
            }
        }
    }
    let figures = group.cases.iter().zip(taken);
    Ok(figures.map(|(&case, taken)| taken.figure(case)).collect())
}

/// One round of all cases, with new scenes.
fn round(
    group: &Group,
    models: &mut Models,
    pools: &[ThreadPool],
    options: &MeasureOptions,
    taken: &mut [Taken],
    step: &mut dyn FnMut(&Case),
) -> Result<(), LiveError> {
    let mut scenes = Vec::with_capacity(group.cases.len());
    for case in &group.cases {
        step(case);
        scenes.push((case, pool(pools, case)?, case.scene(models)?));
    }
    let budget = options.budget / ROUNDS;
    let run = |which: usize, passes: u32| {
        let (case, pool, scene) = &mut scenes[which];
        let taken = &mut taken[which];
        let mut counted = Duration::ZERO;
        pool.install(|| {
            for _ in 0..passes {
                let times = scene.timed_frame()?;
                taken.add(case, &times);
                counted += case.counted(&times);
            }
            Ok::<Duration, LiveError>(counted)
        })
    };
    let samples = compare_counted(group.cases.len(), budget, run)?;
    for (taken, samples) in taken.iter_mut().zip(samples) {
        taken.counted.0.push(samples);
    }
    Ok(())
}

/// One replay of a case of churn; other cases are sampled for a share of their time.
fn replay(
    case: &Case,
    models: &mut Models,
    pool: &ThreadPool,
    options: &MeasureOptions,
    taken: &mut Taken,
) -> Result<(), LiveError> {
    let mut scene = case.scene(models)?;
    let samples = pool.install(|| {
        if case.kind != Kind::Churn {
            let budget = options.budget / REPLAYS as u32;
            return sampled(case, scene.as_mut(), budget, taken);
        }
        for _ in 0..WARM_UP {
            scene.frame()?;
        }
        let mut samples = Vec::with_capacity(options.frames);
        for frame in 0..options.frames {
            let times = scene.timed_frame()?;
            let time = taken.add(case, &times);
            samples.push(time);
            match taken.frames.get_mut(frame) {
                Some(least) => *least = least.min(time),
                None => taken.frames.push(time),
            }
        }
        Ok(samples)
    })?;
    taken.counted.0.push(samples);
    Ok(())
}

/// Samples of a single case.
fn sampled(
    case: &Case,
    scene: &mut dyn Scene,
    budget: Duration,
    taken: &mut Taken,
) -> Result<Vec<f64>, LiveError> {
    let mut samples = compare_counted(1, budget, |_, passes| {
        let mut counted = Duration::ZERO;
        for _ in 0..passes {
            let times = scene.timed_frame()?;
            taken.add(case, &times);
            counted += case.counted(&times);
        }
        Ok::<Duration, LiveError>(counted)
    })?;
    Ok(samples.pop().unwrap_or_default())
}

fn pool<'a>(pools: &'a [ThreadPool], case: &Case) -> Result<&'a ThreadPool, LiveError> {
    let threads = case.threads;
    let found = pools.iter().find(|p| p.current_num_threads() == threads);
    found.ok_or(LiveError::Threads { threads })
}

fn nanoseconds(time: Duration) -> f64 {
    time.as_nanos() as f64
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    match n {
        0 => None,
        n if n % 2 == 1 => Some(sorted[n / 2]),
        _ => Some((sorted[n / 2 - 1] + sorted[n / 2]) / 2.0),
    }
}
