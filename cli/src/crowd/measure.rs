//! Times the frames of a crowd.

use super::super::error::CliError;
use super::cast::{Cast, FRAME};
use indicatif::{ProgressBar, ProgressStyle};
use phalanx::crowd::{BoneBuffer, Crowd};
use serde::Serialize;
use std::time::Instant;

/// Frames run before the measured ones, while buffers grow and caches fill.
pub const WARM_UP: u32 = 10;

/// Times for one number of threads, in nanoseconds, of `advance` and `evaluate` together.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    pub threads: usize,
    pub median_ns: f64,
    pub p99_ns: f64,
    pub least_ns: f64,
    pub greatest_ns: f64,
    /// The median divided by the number of characters.
    pub ns_per_character: f64,
    pub bytes_per_frame: usize,
    /// Bytes of a frame divided by the median.
    pub bytes_per_second: f64,
    /// Crossfades started, warm-up included.
    pub crossfades: u64,
    /// Hash of the last frame's bone buffer.
    #[serde(serialize_with = "hexadecimal")]
    pub palette_hash: u64,
}

fn hexadecimal<S: serde::Serializer>(n: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{n:016x}"))
}

/// A bar over all frames of all runs, warm-up included; hidden if standard error is not a terminal.
pub fn progress(frames: u32, runs: u64) -> ProgressBar {
    let bar = ProgressBar::new(u64::from(frames) * runs);
    let template = "{msg} {wide_bar} {pos}/{len} frames, {eta} left";
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

impl Run {
    /// Runs all frames in a pool of `threads`. The timed part does not allocate once the buffer has grown;
    /// crossfades are started outside it.
    pub fn measure(
        threads: usize,
        frames: u32,
        crowd: &mut Crowd,
        cast: &mut Cast,
        buffer: &mut BoneBuffer,
        progress: &ProgressBar,
    ) -> Result<Self, CliError> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|source| CliError::Threads { threads, source })?;
        progress.set_message(super::figures::threads(threads));
        let mut times = Vec::with_capacity(frames as usize);
        let bytes = pool.install(|| {
            let mut bytes = 0;
            for frame in 0..WARM_UP + frames {
                cast.direct(crowd)?;
                let start = Instant::now();
                crowd.advance(FRAME)?;
                bytes = crowd.evaluate(buffer).bytes;
                let time = start.elapsed();
                if frame >= WARM_UP {
                    times.push(time.as_nanos() as f64);
                }
                progress.inc(1);
            }
            Ok::<usize, CliError>(bytes)
        })?;
        times.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = (share * times.len() as f64).ceil() as usize;
            times.get(place.saturating_sub(1)).copied().unwrap_or(0.0)
        };
        let median = at(0.5);
        Ok(Self {
            threads,
            median_ns: median,
            p99_ns: at(0.99),
            least_ns: at(0.0),
            greatest_ns: at(1.0),
            ns_per_character: median / crowd.instance_count().max(1) as f64,
            bytes_per_frame: bytes,
            bytes_per_second: if median > 0.0 { bytes as f64 / median * 1e9 } else { 0.0 },
            crossfades: cast.fades,
            palette_hash: buffer.hash(),
        })
    }
}
