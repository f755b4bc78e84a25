//! `--progress json`: what a bake does, as lines of JSON for whoever watches it.

use super::super::error::CliError;
use super::super::text;
use super::summary::Summary;
use super::{BakeArgs, Shard};
use phalanx::bake::ErrorReport;
use serde::Serialize;
use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// One line. Sizes in bytes, errors in metres, times in seconds since the start.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum Event<'a> {
    /// First, when the inputs have been found.
    Start {
        version: &'a str,
        out: String,
        shard: Option<String>,
        /// Number of inputs of this share, and of all shares.
        inputs: usize,
        inputs_of_all: usize,
    },
    /// A clip has been baked; it is in an output when that output's line has been printed.
    Clip {
        file: &'a str,
        clip: &'a str,
        /// Number of clips until now, with this one.
        done: usize,
        raw_bytes: usize,
        /// Size in memory.
        bytes: usize,
        max_error: Option<f32>,
        seconds: f64,
    },
    /// Nothing more is done with an input: its clips are baked, it was up to date, or it failed.
    Input { done: usize, seconds: f64 },
    /// An input failed, or, without a file, the whole bake.
    Failed { file: Option<&'a str>, reason: &'a str },
    /// An output stands.
    Output { file: &'a str, skipped: bool, clips: usize, bytes: u64 },
    /// Last.
    End { ok: bool, outputs: usize, skipped: usize, clips: usize, failed: usize, seconds: f64 },
}

#[derive(Debug, Default)]
struct State {
    clips: usize,
    inputs: usize,
    failed: BTreeSet<String>,
    /// The first error of standard output. No line is written after it.
    error: Option<io::Error>,
}

/// Writes events to standard output, from any thread.
#[derive(Debug)]
pub struct Events {
    started: Instant,
    state: Mutex<State>,
}

impl Events {
    /// Prints the first line. `inputs` counts those of all shares.
    pub fn start(args: &BakeArgs, inputs: usize) -> Arc<Self> {
        let events = Self { started: Instant::now(), state: Mutex::default() };
        let share = |shard: Shard| shard.range(inputs).len();
        let start = Event::Start {
            version: env!("CARGO_PKG_VERSION"),
            out: args.out.display().to_string(),
            shard: args.shard.map(|Shard { index, of }| format!("{index}/{of}")),
            inputs: args.shard.map_or(inputs, share),
            inputs_of_all: inputs,
        };
        events.with(|state| state.write(&start));
        Arc::new(events)
    }

    fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    pub fn clip(&self, file: &str, clip: &str, report: &ErrorReport) {
        self.with(|state| {
            state.clips += 1;
            state.write(&Event::Clip {
                file,
                clip,
                done: state.clips,
                raw_bytes: report.raw_bytes,
                bytes: report.bytes,
                max_error: (!report.max.is_nan()).then_some(report.max),
                seconds: self.seconds(),
            });
        });
    }

    pub fn input(&self) {
        self.with(|state| {
            state.inputs += 1;
            state.write(&Event::Input { done: state.inputs, seconds: self.seconds() });
        });
    }

    /// Prints the fault of an input, if none of it was printed before.
    pub fn failed(&self, file: &str, reason: &str) {
        self.with(|state| {
            if state.failed.insert(file.to_owned()) {
                state.write(&Event::Failed { file: Some(file), reason });
            }
        });
    }

    /// Prints the outputs and the last line. A bake that ended in an error has no summary.
    ///
    /// # Errors
    /// If standard output failed in any line.
    pub fn end(&self, made: Result<&Summary, &CliError>) -> Result<(), CliError> {
        let error = self.with(|state| {
            if let Err(error) = made {
                let reason = error.to_string();
                state.write(&Event::Failed { file: None, reason: &reason });
            }
            let files = made.map_or(&[][..], |summary| &summary.files);
            for f in files {
                let (clips, bytes) = (f.clips.len(), f.bytes);
                state.write(&Event::Output { file: &f.file, skipped: f.skipped, clips, bytes });
            }
            state.write(&Event::End {
                ok: made.is_ok() && state.failed.is_empty(),
                outputs: files.len(),
                skipped: files.iter().filter(|f| f.skipped).count(),
                clips: made.map_or(0, |summary| summary.clips),
                failed: state.failed.len(),
                seconds: self.seconds(),
            });
            state.error.take()
        });
        error.map_or(Ok(()), |error| Err(CliError::Stdout(error)))
    }
}

impl State {
    /// A line that cannot be written does not stop the bake, whose outputs are worth more.
    fn write(&mut self, event: &Event<'_>) {
        if self.error.is_some() {
            return;
        }
        let mut out = io::stdout().lock();
        self.error = text::write_json(&mut out, event, false).err();
    }
}
