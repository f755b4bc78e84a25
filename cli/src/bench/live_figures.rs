//! All figures of a living crowd, as JSON, CSV and tables.

use super::super::text::{self, line};
use super::figures::{Context, csv_of, optional, times};
use super::machine::Machine;
use super::row::{Kind, Row, RowKey, Timed};
use phalanx_workload::live::{Aim, Case, Figure, Group, Measured};
use phalanx_workload::subject::Subject;
use serde::{Deserialize, Serialize};

/// The document that `--json` writes.
#[derive(Debug, Serialize)]
pub struct LiveFigures {
    pub version: &'static str,
    pub machine: Machine,
    pub model: String,
    pub joints: usize,
    pub palette_rows: usize,
    pub seconds: f64,
    /// Number of frames of churn.
    pub churn_frames: usize,
    pub rows: Vec<Row>,
    pub aims: Vec<AimRow>,
    pub frames: Vec<Frames>,
}

/// A number derived from two figures, and its aim. Samples of both figures were taken in turn, so the number may differ
/// from the quotient of two rows of other groups.
#[derive(Clone, Debug, Serialize)]
pub struct AimRow {
    pub group: &'static str,
    pub measured: String,
    pub against: String,
    pub unit: Unit,
    pub value: f64,
    /// Upper bound of the value, or lower bound of a speed. `None` if the sizes differ from those that the aims hold
    /// for.
    pub aim: Option<f64>,
    pub kept: Option<bool>,
}

/// The meaning of an [`AimRow`]'s value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// A quotient of two times; less is better.
    Times,
    /// A quotient of two times; more is better.
    Speed,
    /// A part of 1.
    Share,
    /// Nanoseconds per character.
    Nanoseconds,
}

/// The frames of a case of churn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frames {
    pub workload: String,
    pub count: usize,
    pub clip_count: usize,
    pub threads: usize,
    /// Least time of each frame over all replays, in nanoseconds.
    pub ns: Vec<f64>,
}

impl Frames {
    /// True if both are frames of the same case.
    pub fn same_place(&self, other: &Self) -> bool {
        let place = |f: &Self| (f.count, f.clip_count, f.threads);
        place(self) == place(other) && self.workload == other.workload
    }
}

impl LiveFigures {
    /// Figures of a run, with no rows yet.
    pub fn new(subject: &Subject, machine: Machine, seconds: f64, churn_frames: usize) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION"),
            machine,
            model: subject.name.clone(),
            joints: subject.rig.skeleton().len(),
            palette_rows: subject.rig.palette_len(),
            seconds,
            churn_frames,
            rows: Vec::new(),
            aims: Vec::new(),
            frames: Vec::new(),
        }
    }

    /// Adds the figures of a group. A case that an earlier group has measured too gets no second row.
    pub fn add(&mut self, group: &Group, figures: Vec<Figure>, subject: &Subject) {
        for aim in &group.aims {
            if let Some(value) = aim.value(&figures) {
                self.aims.push(AimRow::new(group, aim, value));
            }
        }
        for figure in figures {
            let case = figure.case;
            let asks = figure.requests.max(0.0);
            let timed = Timed {
                advance: Some(figure.advance),
                requests: case.requests().then_some(asks),
                worst: figure.worst().map(|ns| ns / case.count as f64),
                ..Timed::new(figure.summary)
            };
            let row = Row::new(key(&case), &timed, subject, &self.machine);
            if !self.rows.iter().any(|r| r.same_place(&row)) {
                self.rows.push(row);
            }
            if !figure.frames.is_empty() {
                self.frames.push(Frames {
                    workload: case.name(),
                    count: case.count,
                    clip_count: case.clips,
                    threads: case.threads,
                    ns: figure.frames,
                });
            }
        }
    }

    /// The rows as CSV, each on one line.
    pub fn csv(&self) -> Result<Vec<u8>, csv::Error> {
        csv_of(&self.rows)
    }

    /// The figures as tables.
    pub fn text(&self) -> String {
        let context = Context {
            machine: &self.machine,
            model: &self.model,
            joints: self.joints,
            palette_rows: self.palette_rows,
        };
        let mut out = context.about(&self.rows);
        line(
            &mut out,
            format_args!(
                "\nA frame of a crowd that changes, per character: Crowd::advance and Crowd::evaluate, unless the \
                 name says otherwise. \"requests\": the host's own calls, which begin crossfades or set overrides; \
                 \"worst\": the slowest of {} frames, each the least of its replays.",
                self.churn_frames
            ),
        );
        out += &self.cases();
        if !self.aims.is_empty() {
            line(
                &mut out,
                format_args!("\nFigures against each other, their samples taken in turn:"),
            );
            out += &self.against();
        }
        out
    }

    fn cases(&self) -> String {
        let rows = self.rows.iter().map(|r| {
            let number = |n: Option<usize>| n.map_or_else(|| "-".into(), |n| text::count(n as u64));
            let mut row = vec![r.workload.clone(), text::count(r.count as u64)];
            row.extend([number(r.clip_count), number(r.rigs), r.threads.to_string()]);
            row.extend(times(r));
            let others = [r.requests_ns, r.advance_ns, r.worst_ns];
            row.extend(others.map(|ns| optional(ns, text::duration)));
            row
        });
        let header = [
            "workload",
            "characters",
            "clips",
            "rigs",
            "threads",
            "median",
            "least",
            "noise",
            "requests",
            "advance",
            "worst",
        ];
        let optional = ["rigs", "worst", "least", "noise", "requests", "advance"];
        text::table_of_words(&header, rows.collect(), 1, &optional)
    }

    fn against(&self) -> String {
        let rows = self.aims.iter().map(|a| {
            let kept = match a.kept {
                None => "-",
                Some(true) => "yes",
                Some(false) => "no",
            };
            vec![
                a.measured.clone(),
                a.against.clone(),
                a.unit.show(a.value),
                optional(a.aim, |aim| a.unit.show(aim)),
                kept.to_owned(),
            ]
        });
        let header = ["figure", "against", "measured", "aim", "kept"];
        text::table_of(&header, rows.collect(), 2, &["kept"])
    }
}

impl AimRow {
    fn new(group: &Group, aim: &Aim, value: f64) -> Self {
        let [measured, against] = aim.label(&group.cases);
        Self {
            group: group.name,
            measured,
            against,
            unit: match aim.measured {
                Measured::Ratio(..) | Measured::WorstFrame(_) => Unit::Times,
                Measured::More(..) => Unit::Nanoseconds,
                Measured::Speed(..) => Unit::Speed,
                Measured::SerialShare(..) => Unit::Share,
            },
            value,
            aim: aim.limit,
            kept: aim.kept(value),
        }
    }
}

impl Unit {
    fn show(self, value: f64) -> String {
        match self {
            Self::Times | Self::Speed => format!("{value:.2}x"),
            Self::Nanoseconds => format!("{value:+.0} ns"),
            Self::Share => format!("{:.1}%", 100.0 * value),
        }
    }
}

/// The key of a case's row.
fn key(case: &Case) -> RowKey {
    RowKey {
        threads: case.threads,
        clip_count: Some(case.clips),
        rigs: Some(case.rigs),
        ..RowKey::new(Kind::Live, case.name(), case.count)
    }
}
