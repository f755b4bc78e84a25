//! Repeated, interleaved timings of things to compare, and their summaries.

use std::time::{Duration, Instant};

/// The shortest time of one sample: reading the clock takes less than 0.01% of it.
const SAMPLE: Duration = Duration::from_millis(1);
/// Samples per budget of a round, at least, so that small budgets have several.
const SAMPLES_PER_BUDGET: u32 = 8;
/// The fewest samples of a round, whatever they take.
pub const MIN_SAMPLES: usize = 2;
/// Number of rounds. Each round measures everything again with new buffers, so that other load on the
/// machine and the addresses of buffers count as noise. Two runs of one program differed by up to 30% where
/// each figure was measured in one round only.
pub const ROUNDS: u32 = 4;
/// The most passes of one sample.
const MAX_PASSES: u32 = 1 << 24;
/// Standard deviation of a normal distribution, in units of its median absolute deviation.
pub const DEVIATIONS: f64 = 1.4826;

/// The summary of the samples of one thing, in nanoseconds per pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The median.
    pub median: f64,
    /// The minimum.
    pub min: f64,
    /// The larger of two: the median absolute deviation, scaled to the standard deviation of normal noise,
    /// and half the range of the rounds' medians.
    pub noise: f64,
    /// Number of samples.
    pub samples: usize,
}

impl Summary {
    /// The summary per part, for a pass of `parts` parts.
    pub fn over(self, parts: usize) -> Self {
        let parts = parts.max(1) as f64;
        Self {
            median: self.median / parts,
            min: self.min / parts,
            noise: self.noise / parts,
            ..self
        }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    match n {
        0 => 0.0,
        n if n % 2 == 1 => values[n / 2],
        _ => (values[n / 2 - 1] + values[n / 2]) / 2.0,
    }
}

/// The samples of one thing by rounds, in nanoseconds per pass.
#[derive(Clone, Debug, Default)]
pub struct Samples(pub Vec<Vec<f64>>);

impl Samples {
    /// The summary of all samples. There must be at least one.
    pub fn summary(&self) -> Summary {
        let all = self.0.concat();
        let centre = median(all.clone());
        let deviations = all.iter().map(|s| (s - centre).abs());
        let rounds = self.0.iter().map(|round| median(round.clone()));
        let (low, high) =
            rounds.fold((f64::INFINITY, 0.0f64), |(low, high), m| (low.min(m), high.max(m)));
        Summary {
            median: centre,
            min: all.iter().copied().fold(f64::INFINITY, f64::min),
            noise: (DEVIATIONS * median(deviations.collect())).max((high - low) / 2.0),
            samples: all.len(),
        }
    }
}

/// The samples of one thing in a round.
struct Series {
    passes: u32,
    spent: Duration,
    samples: Vec<f64>,
}

/// Runs one round: times `count` things for about `budget` each, and returns nanoseconds per pass.
///
/// `run(which, passes)` runs one of them `passes` times. Samples are interleaved, so that other load on the
/// machine affects all of them alike. When another thing ran before, an uncounted pass comes first, so that
/// each finds its data in the caches.
///
/// # Errors
/// Those of `run`.
pub fn compare<E>(
    count: usize,
    budget: Duration,
    mut run: impl FnMut(usize, u32) -> Result<(), E>,
) -> Result<Vec<Vec<f64>>, E> {
    compare_counted(count, budget, |which, passes| {
        let start = Instant::now();
        run(which, passes)?;
        Ok(start.elapsed())
    })
}

/// [`compare`] for passes that are counted in part: `run` returns the time of the counted part, over all passes. The
/// budget applies to whole passes.
///
/// # Errors
/// Those of `run`.
pub fn compare_counted<E>(
    count: usize,
    budget: Duration,
    mut run: impl FnMut(usize, u32) -> Result<Duration, E>,
) -> Result<Vec<Vec<f64>>, E> {
    let sample = SAMPLE.min(budget / SAMPLES_PER_BUDGET);
    // The time of the whole, and of the part that is counted.
    let mut timed = |which: usize, passes: u32| -> Result<(Duration, Duration), E> {
        let start = Instant::now();
        let counted = run(which, passes)?;
        Ok((start.elapsed(), counted))
    };
    let mut series = Vec::with_capacity(count);
    for which in 0..count {
        // Buffers grow and caches fill in the first passes.
        timed(which, 2)?;
        let mut passes = 1;
        while passes < MAX_PASSES && timed(which, passes)?.0 < sample {
            passes *= 2;
        }
        series.push(Series { passes, spent: Duration::ZERO, samples: Vec::new() });
    }
    let mut last = usize::MAX;
    loop {
        let open = |s: &Series| s.spent < budget || s.samples.len() < MIN_SAMPLES;
        let waiting = series.iter_mut().enumerate().filter(|(_, s)| open(s));
        let Some((which, s)) = waiting.min_by_key(|(_, s)| s.spent) else {
            break;
        };
        if which != last {
            timed(which, 1)?;
            last = which;
        }
        let (whole, counted) = timed(which, s.passes)?;
        s.spent += whole;
        s.samples.push(counted.as_nanos() as f64 / f64::from(s.passes));
    }
    Ok(series.into_iter().map(|s| s.samples).collect())
}
