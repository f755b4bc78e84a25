//! `Table`: CPU and device times by stage.

use std::fmt;
use std::time::{Duration, Instant};

/// Samples by stage, in the order in which the stages first ran.
#[derive(Default)]
pub struct Table {
    stages: Vec<Stage>,
}

#[derive(Default)]
struct Stage {
    name: &'static str,
    processor: Vec<f64>,
    device: Vec<f64>,
}

impl Table {
    /// Runs a stage and records its CPU time.
    pub fn time<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let done = work();
        let time = start.elapsed();
        self.stage(name).processor.push(milliseconds(time));
        done
    }

    /// Records the device time of a stage, if it was measured.
    pub fn device(&mut self, name: &'static str, time: Option<Duration>) {
        let stage = self.stage(name);
        stage.device.extend(time.map(milliseconds));
    }

    fn stage(&mut self, name: &'static str) -> &mut Stage {
        let at = self.stages.iter().position(|s| s.name == name);
        let at = at.unwrap_or_else(|| {
            self.stages.push(Stage { name, ..Stage::default() });
            self.stages.len() - 1
        });
        &mut self.stages[at]
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn median(samples: &[f64]) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cell = |value: Option<f64>| value.map_or("-".to_owned(), |ms| format!("{ms:.3}"));
        let mut row = |name: &str, processor: &str, device: &str| {
            writeln!(f, "  {name:<34}{processor:>12}{device:>12}")
        };
        row("", "processor", "device")?;
        for s in &self.stages {
            row(s.name, &cell(median(&s.processor)), &cell(median(&s.device)))?;
        }
        let total = |side: fn(&Stage) -> &[f64]| {
            let medians = self.stages.iter().filter_map(|s| median(side(s)));
            let medians: Vec<f64> = medians.collect();
            cell((!medians.is_empty()).then(|| medians.iter().sum()))
        };
        row("all", &total(|s| &s.processor), &total(|s| &s.device))
    }
}
