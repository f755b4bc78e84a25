//! Repeated timings of things that are compared, taken in turn, and what they come to.

use std::time::{Duration, Instant};

/// The least time of one sample: the clock's reading is below 0.01% of it.
const SAMPLE: Duration = Duration::from_millis(1);
/// The share of a round's budget that one sample may take, so that small budgets have several.
const SAMPLES_PER_BUDGET: u32 = 8;
/// The least number of samples of a round, whatever they take.
pub const MIN_SAMPLES: usize = 2;
/// Times that everything is measured anew, with new buffers, all else in between: a busy neighbour that
/// comes and goes, and where buffers happen to lie, count as noise then. Two runs of one program differed
/// by up to 30% where each figure was measured at one moment alone.
pub const ROUNDS: u32 = 4;
/// The most passes of one sample.
const MAX_PASSES: u32 = 1 << 24;
/// Standard deviations of a normal distribution in its median absolute deviation.
pub const DEVIATIONS: f64 = 1.4826;

/// What the samples of one thing came to, in nanoseconds of one pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The median.
    pub median: f64,
    /// The least.
    pub min: f64,
    /// The greater of two: the median absolute deviation, scaled to be a standard deviation where the noise
    /// is normal; and half the range of the rounds' medians.
    pub noise: f64,
    /// Number of samples.
    pub samples: usize,
}

impl Summary {
    /// Of a part of a pass.
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

/// The samples of one thing, in nanoseconds of one pass, by rounds.
#[derive(Clone, Debug, Default)]
pub struct Samples(pub Vec<Vec<f64>>);

impl Samples {
    /// What they come to; there is at least one.
    pub fn summary(&self) -> Summary {
        let all = self.0.concat();
        let centre = median(all.clone());
        let deviations = all.iter().map(|s| (s - centre).abs());
        let rounds = self.0.iter().map(|round| median(round.clone()));
        let (low, high) = rounds.fold((f64::INFINITY, 0.0f64), |(low, high), m| {
            (low.min(m), high.max(m))
        });
        Summary {
            median: centre,
            min: all.iter().copied().fold(f64::INFINITY, f64::min),
            noise: (DEVIATIONS * median(deviations.collect())).max((high - low) / 2.0),
            samples: all.len(),
        }
    }
}

/// One of the things compared.
struct Series {
    passes: u32,
    spent: Duration,
    samples: Vec<f64>,
}

/// One round: times `count` things, of which `run(which, passes)` runs one so many times, each for about
/// `budget`, in turn: whatever else the machine does falls on all of them alike. When another one ran in
/// between, a pass that is not counted comes first, so that each finds its own data in the caches.
pub fn compare<E>(
    count: usize,
    budget: Duration,
    mut run: impl FnMut(usize, u32) -> Result<(), E>,
) -> Result<Vec<Vec<f64>>, E> {
    let sample = SAMPLE.min(budget / SAMPLES_PER_BUDGET);
    let mut timed = |which: usize, passes: u32| -> Result<Duration, E> {
        let start = Instant::now();
        run(which, passes)?;
        Ok(start.elapsed())
    };
    let mut series = Vec::with_capacity(count);
    for which in 0..count {
        // Buffers grow and caches fill in the first passes.
        timed(which, 2)?;
        let mut passes = 1;
        while passes < MAX_PASSES && timed(which, passes)? < sample {
            passes *= 2;
        }
        series.push(Series {
            passes,
            spent: Duration::ZERO,
            samples: Vec::new(),
        });
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
        let time = timed(which, s.passes)?;
        s.spent += time;
        s.samples.push(time.as_nanos() as f64 / f64::from(s.passes));
    }
    Ok(series.into_iter().map(|s| s.samples).collect())
}
