//! Progress bar of a bake, with clips and megabytes per second.

use super::super::error::CliError;
use super::events::Events;
use indicatif::{FormattedDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use phalanx::bake::ErrorReport;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Remaining time as text; empty until the first file is done, since no rate is known before.
fn left(done: u64, time: Duration) -> String {
    match done {
        0 => String::new(),
        _ => format!(", {} left", FormattedDuration(time)),
    }
}

/// A bar over the inputs; hidden if standard error is not a terminal, the output is JSON, or events are printed instead.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    started: Instant,
    clips: AtomicU64,
    raw_bytes: AtomicU64,
    events: Option<Arc<Events>>,
}

impl Progress {
    pub fn new(inputs: usize, quiet: bool, events: Option<Arc<Events>>) -> Self {
        let bar = ProgressBar::new(inputs as u64);
        if quiet || events.is_some() {
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
            events,
        }
    }

    /// Counts a finished clip of an input.
    pub fn clip(&self, file: &str, clip: &str, report: &ErrorReport) {
        if let Some(events) = &self.events {
            events.clip(file, clip, report);
        }
        let raw_bytes = report.raw_bytes as u64;
        self.clips.fetch_add(1, Ordering::Relaxed);
        self.raw_bytes.fetch_add(raw_bytes, Ordering::Relaxed);
        let (clips, bytes) = self.rates();
        self.bar.set_message(format!(", {clips:.0} clips/s, {bytes:.1} MB/s"));
    }

    /// Counts a finished file.
    pub fn file(&self) {
        if let Some(events) = &self.events {
            events.input();
        }
        self.bar.inc(1);
    }

    /// Prints the fault of an input before those of earlier inputs are known.
    pub fn failed(&self, file: &str, fault: &CliError) {
        if let Some(events) = &self.events {
            events.failed(file, &fault.to_string());
        }
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
