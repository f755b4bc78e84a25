//! [`Row`]: one figure with its full context; the same fields in JSON and CSV.

use super::super::text;
use super::machine::Machine;
use phalanx_workload::sampling::Summary;
use phalanx_workload::subject::Subject;
use serde::{Deserialize, Serialize};

/// Kind of measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// `advance` and `evaluate` of a crowd.
    Chain,
    /// One job of one character.
    Stage,
    /// A crowd that changes.
    Live,
}

/// A figure. Times are nanoseconds per character: the median, `min`, and `noise`, which is a robust
/// standard deviation, or half the range of the rounds' medians if that is larger. Every row repeats its
/// context, so that rows of several files can be combined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub kind: Kind,
    /// C1, C2, C3, or the name of the stage or of the case of a living crowd.
    pub workload: String,
    pub count: usize,
    /// Number of different clips that play, for living crowds.
    #[serde(default)]
    pub clip_count: Option<usize>,
    /// Number of rigs, for living crowds.
    #[serde(default)]
    pub rigs: Option<usize>,
    pub threads: usize,
    pub simd: String,
    pub ns_per_character: f64,
    pub min: f64,
    pub noise: f64,
    pub samples: usize,
    /// Time of `advance` alone, for chains.
    pub advance_ns: Option<f64>,
    /// Time of the host's own calls (crossfades begun, overrides set), for living crowds.
    #[serde(default)]
    pub requests_ns: Option<f64>,
    /// The slowest frame of churn: the largest of the least times over all replays, per character.
    #[serde(default)]
    pub worst_ns: Option<f64>,
    /// Palette bytes written per character.
    pub bytes: Option<usize>,
    /// `bytes` divided by the median time.
    pub gb_per_s: Option<f64>,
    /// Median of the textbook pipeline for the same work, on the same number of threads.
    pub textbook_ns: Option<f64>,
    pub textbook_min: Option<f64>,
    pub textbook_noise: Option<f64>,
    pub model: String,
    pub joints: usize,
    pub clips: String,
    pub additive: String,
    pub mask: Option<String>,
    pub cpu: String,
    pub cores: usize,
    pub rustc: String,
    pub rustflags: String,
    pub profile: String,
}

/// The configuration that a row measures.
#[derive(Clone, Debug)]
pub struct RowKey {
    pub kind: Kind,
    pub workload: String,
    pub count: usize,
    pub threads: usize,
    pub clip_count: Option<usize>,
    pub rigs: Option<usize>,
}

/// Summaries of the samples of one cell.
#[derive(Clone, Copy, Debug)]
pub struct Timed {
    pub ours: Summary,
    pub advance: Option<f64>,
    pub requests: Option<f64>,
    pub worst: Option<f64>,
    pub textbook: Option<Summary>,
    pub bytes: Option<usize>,
}

impl Timed {
    /// A row with a summary alone.
    pub fn new(ours: Summary) -> Self {
        Self { ours, advance: None, requests: None, worst: None, textbook: None, bytes: None }
    }
}

impl Row {
    /// A row of this run.
    pub fn new(place: RowKey, timed: &Timed, subject: &Subject, machine: &Machine) -> Self {
        let machine = machine.clone();
        let ours = timed.ours;
        Self {
            kind: place.kind,
            workload: place.workload,
            count: place.count,
            clip_count: place.clip_count,
            rigs: place.rigs,
            threads: place.threads,
            simd: machine.simd,
            ns_per_character: ours.median,
            min: ours.min,
            noise: ours.noise,
            samples: ours.samples,
            advance_ns: timed.advance,
            requests_ns: timed.requests,
            worst_ns: timed.worst,
            bytes: timed.bytes,
            // Bytes per nanosecond are gigabytes per second.
            gb_per_s: timed.bytes.map(|b| b as f64 / ours.median),
            textbook_ns: timed.textbook.map(|s| s.median),
            textbook_min: timed.textbook.map(|s| s.min),
            textbook_noise: timed.textbook.map(|s| s.noise),
            model: subject.name.clone(),
            joints: subject.rig.skeleton().len(),
            clips: subject.clip_names().join(", "),
            additive: subject.additive_name().to_owned(),
            mask: subject.mask_name().map(str::to_owned),
            cpu: machine.cpu,
            cores: machine.cores,
            rustc: machine.rustc,
            rustflags: machine.rustflags,
            profile: machine.profile,
        }
    }

    /// True if both rows measure the same thing; names are compared with escapes too, as CSV has them.
    pub fn same_place(&self, other: &Self) -> bool {
        let place = |r: &Self| (r.kind, r.count, r.clip_count, r.rigs, r.threads);
        place(self) == place(other)
            && self.workload == other.workload
            && self.simd == other.simd
            && (self.subject() == other.subject()
                || self.on_one_line().subject() == other.on_one_line().subject())
    }

    /// The row with invisible characters in its texts escaped.
    pub fn on_one_line(&self) -> Self {
        let mut row = self.clone();
        let texts = [
            &mut row.workload,
            &mut row.simd,
            &mut row.model,
            &mut row.clips,
            &mut row.additive,
            &mut row.cpu,
            &mut row.rustc,
            &mut row.rustflags,
            &mut row.profile,
        ];
        for text in texts.into_iter().chain(&mut row.mask) {
            *text = text::one_line(text);
        }
        row
    }

    /// Model and clips.
    pub fn subject(&self) -> (&str, usize, &str, &str, Option<&str>) {
        let (model, mask) = (self.model.as_str(), self.mask.as_deref());
        (model, self.joints, &self.clips, &self.additive, mask)
    }

    /// The machine on which it was measured.
    pub fn machine(&self) -> Machine {
        Machine {
            cpu: self.cpu.clone(),
            cores: self.cores,
            simd: self.simd.clone(),
            rustc: self.rustc.clone(),
            rustflags: self.rustflags.clone(),
            profile: self.profile.clone(),
        }
    }

    /// The configuration of the row on one line.
    pub fn label(&self) -> String {
        let place = RowKey {
            kind: self.kind,
            workload: text::one_line(&self.workload),
            count: self.count,
            threads: self.threads,
            clip_count: self.clip_count,
            rigs: self.rigs,
        };
        place.label()
    }
}

impl RowKey {
    /// A key on one thread.
    pub fn new(kind: Kind, workload: String, count: usize) -> Self {
        Self { kind, workload, count, threads: 1, clip_count: None, rigs: None }
    }

    /// The key on one line.
    pub fn label(&self) -> String {
        let threads = if self.threads == 1 { "thread" } else { "threads" };
        let count = text::count(self.count as u64);
        match self.kind {
            Kind::Stage => self.workload.clone(),
            Kind::Chain | Kind::Live => {
                let mut label = format!("{} of {count}", self.workload);
                let rigs = self.rigs.filter(|&n| n > 1);
                for (n, thing) in [(self.clip_count, "clips"), (rigs, "rigs")] {
                    if let Some(n) = n {
                        label += &format!(", {} {thing},", text::count(n as u64));
                    }
                }
                format!("{label} on {} {threads}", self.threads)
            }
        }
    }
}
