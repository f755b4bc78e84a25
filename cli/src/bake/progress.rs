//! Progress bar of a bake, with clips and megabytes per second.

use indicatif::{FormattedDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Remaining time as text; empty until the first file is done, since no rate is known before.
fn left(done: u64, time: Duration) -> String {
    match done {
        0 => String::new(),
        _ => format!(", {} left", FormattedDuration(time)),
    }
}

/// A bar over the inputs; hidden if standard error is not a terminal or the output is JSON.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    started: Instant,
    clips: AtomicU64,
    raw_bytes: AtomicU64,
}

impl Progress {
    pub fn new(inputs: usize, quiet: bool) -> Self {
        let bar = ProgressBar::new(inputs as u64);
        if quiet {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        let left = |state: &ProgressState, out: &mut dyn Write| {
            // Writing to a string cannot fail.
            let _ = write!(out, "{}", left(state.pos(), state.eta()));
        };
        let bar = match ProgressStyle::with_template("{wide_bar} {pos}/{len} files{msg}{left}") {
            Ok(style) => bar.with_style(style.with_key("left", left)),
            Err(_) => bar,
        };
        Self {
            bar,
            started: Instant::now(),
            clips: AtomicU64::new(0),
            raw_bytes: AtomicU64::new(0),
        }
    }

    /// Counts a finished clip.
    pub fn clip(&self, raw_bytes: u64) {
        self.clips.fetch_add(1, Ordering::Relaxed);
        self.raw_bytes.fetch_add(raw_bytes, Ordering::Relaxed);
        let (clips, bytes) = self.rates();
        self.bar.set_message(format!(", {clips:.0} clips/s, {bytes:.1} MB/s"));
    }

    /// Counts a finished file.
    pub fn file(&self) {
        self.bar.inc(1);
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    pub fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Clips and raw megabytes per second.
    pub fn rates(&self) -> (f64, f64) {
        let seconds = self.seconds().max(1e-9);
        let of = |n: &AtomicU64| n.load(Ordering::Relaxed) as f64 / seconds;
        (of(&self.clips), of(&self.raw_bytes) * 1e-6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_time_is_left_before_a_file_is_done() {
        assert_eq!(left(0, Duration::ZERO), "");
        assert_eq!(left(1, Duration::from_secs(61)), ", 00:01:01 left");
    }
}
