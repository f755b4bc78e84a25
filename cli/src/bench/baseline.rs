//! Baselines: rows of an earlier run, and the comparison of a new run with them.

use super::super::bounded;
use super::super::text::{self, line};
use super::live_figures::Frames;
use super::row::Row;
use serde::Deserialize;
use std::io;
use std::path::Path;
use thiserror::Error;

/// Largest baseline that is read, in bytes; this program's files have some ten kilobytes.
const MAX_BYTES: u64 = 16 << 20;

/// Reasons why a file cannot be used as a baseline.
#[derive(Debug, Error)]
pub enum BaselineError {
    /// The file cannot be read.
    #[error("{file}: cannot be read: {source}")]
    Read {
        /// The file.
        file: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file is too large for a baseline.
    #[error("{file}: larger than {MAX_BYTES} bytes, the limit for a baseline")]
    TooLarge {
        /// The file.
        file: String,
    },
    /// Neither JSON nor CSV written by this command.
    #[error("{file}: not written by `phalanx bench`: {reason}")]
    Format {
        /// The file.
        file: String,
        /// The parser's message.
        reason: String,
    },
    /// A value that no measurement yields.
    #[error("{file}: row {row}: {field} is {value}, which cannot be compared")]
    Value {
        /// The file.
        file: String,
        /// The row, from 1.
        row: usize,
        /// The field.
        field: &'static str,
        /// The value found in the field.
        value: f64,
    },
    /// Two rows measure the same thing.
    #[error("{file}: rows {first} and {second} are both {label}")]
    Twice {
        /// The file.
        file: String,
        /// One row, from 1.
        first: usize,
        /// The other row, from 1.
        second: usize,
        /// The configuration that both rows measure.
        label: String,
    },
    /// No row matches any of the newer rows.
    #[error("{file}: none of its {rows} rows matches a row of {newer}{why}")]
    NothingInCommon {
        /// The file.
        file: String,
        /// Number of rows in the baseline.
        rows: usize,
        /// Source of the newer rows.
        newer: String,
        /// The settings that differ, as the end of the message.
        why: String,
    },
}

/// Rows to compare with a baseline.
#[derive(Clone, Copy, Debug)]
pub struct Newer<'a> {
    /// The file they are from, or "this run".
    pub name: &'a str,
    /// At most one per configuration.
    pub rows: &'a [Row],
}

/// Rows of an earlier run.
#[derive(Debug)]
pub struct Baseline {
    file: String,
    rows: Vec<Row>,
    /// Frames of churn, if a JSON file has them.
    frames: Vec<Frames>,
}

/// The output of `--json`, or a bare list of rows.
#[derive(Deserialize)]
#[serde(untagged)]
enum Document {
    Figures {
        rows: Vec<Row>,
        #[serde(default)]
        frames: Vec<Frames>,
    },
    Rows(Vec<Row>),
}

impl Baseline {
    /// Reads and checks a JSON or CSV file.
    pub fn read(path: &Path) -> Result<Self, BaselineError> {
        let file = path.display().to_string();
        let unread = |source| BaselineError::Read { file: file.clone(), source };
        let Some(text) = bounded::read(path, MAX_BYTES).map_err(unread)? else {
            return Err(BaselineError::TooLarge { file });
        };
        let text = String::from_utf8(text).map_err(|_| {
            let why = "stream did not contain valid UTF-8";
            unread(io::Error::new(io::ErrorKind::InvalidData, why))
        })?;
        let (rows, frames) =
            parse(&text).map_err(|reason| BaselineError::Format { file: file.clone(), reason })?;
        for (i, row) in rows.iter().enumerate() {
            let times = [
                ("ns_per_character", row.ns_per_character, f64::MIN_POSITIVE),
                ("noise", row.noise, 0.0),
            ];
            for (field, value, least) in times {
                if !(value >= least && value.is_finite()) {
                    return Err(BaselineError::Value { file, row: i + 1, field, value });
                }
            }
            if let Some(first) = rows[..i].iter().position(|r| r.same_place(row)) {
                return Err(BaselineError::Twice {
                    file,
                    first: first + 1,
                    second: i + 1,
                    label: row.label(),
                });
            }
        }
        Ok(Self { file, rows, frames })
    }

    /// A baseline of given rows.
    #[cfg(test)]
    pub fn of(file: &str, rows: Vec<Row>) -> Self {
        Self { file: file.to_owned(), rows, frames: Vec::new() }
    }

    /// The rows of the baseline.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The frames of churn of the baseline.
    pub fn frames(&self) -> &[Frames] {
        &self.frames
    }

    /// This baseline's rows as the newer side of a comparison with another baseline.
    pub fn as_newer(&self) -> Newer<'_> {
        Newer { name: &self.file, rows: &self.rows }
    }

    /// Lists rows that changed by more than the noise of both runs, and rows without a counterpart.
    pub fn compare(&self, newer: Newer, tolerance: f64) -> Result<Comparison, BaselineError> {
        let now = newer.rows;
        let then = |row: &Row| self.rows.iter().find(|r| r.same_place(row));
        let mut comparison = Comparison {
            file: self.file.clone(),
            tolerance,
            compared: 0,
            noisy: 0,
            moved: Vec::new(),
            only_here: Vec::new(),
            only_there: Vec::new(),
            notes: self.notes(now),
        };
        for row in now {
            let Some(then) = then(row) else {
                comparison.only_here.push(row.label());
                continue;
            };
            comparison.compared += 1;
            let moved = Moved::new(then, row, tolerance);
            if moved.change.abs() > moved.noise {
                comparison.moved.push(moved);
            } else if moved.noise > moved.then * tolerance / 100.0 {
                comparison.noisy += 1;
            }
        }
        let missing = self.rows.iter().filter(|r| !now.iter().any(|n| n.same_place(r)));
        comparison.only_there.extend(missing.map(Row::label));
        if comparison.compared == 0 {
            let notes = comparison.notes.iter();
            return Err(BaselineError::NothingInCommon {
                file: self.file.clone(),
                rows: self.rows.len(),
                newer: newer.name.to_owned(),
                why: notes.fold(String::new(), |why, note| why + "; " + note),
            });
        }
        Ok(comparison)
    }

    /// Lists differences in machine and subject between the two runs.
    fn notes(&self, now: &[Row]) -> Vec<String> {
        let (Some(there), Some(here)) = (self.rows.first(), now.first()) else {
            return Vec::new();
        };
        let machine = here.machine();
        let mut all = machine.differences(&there.machine());
        let (a, b) = (there.subject(), here.subject());
        let clips = |(_, _, clips, additive, mask): (&str, usize, &str, &str, Option<&str>)| {
            format!("{clips}; {additive} below {}", mask.unwrap_or("no joint"))
        };
        all.push(("model", a.0.to_owned(), b.0.to_owned()));
        all.push(("joints", a.1.to_string(), b.1.to_string()));
        all.push(("clips", clips(a), clips(b)));
        let shown = |(name, there, here): (_, String, String)| {
            (name, text::one_line(&there), text::one_line(&here))
        };
        let differing = all.into_iter().map(shown).filter(|(_, there, here)| there != here);
        differing
            .map(|(name, there, here)| {
                format!("{name} differs: baseline \"{there}\", here \"{here}\"")
            })
            .collect()
    }
}

fn parse(text: &str) -> Result<(Vec<Row>, Vec<Frames>), String> {
    if text.trim_start().starts_with(['{', '[']) {
        let document: Document = match serde_json::from_str(text) {
            Ok(document) => document,
            Err(error) => {
                // An untagged enum's error does not report which row is wrong; parse again for that message.
                let rows = serde_json::from_str::<serde_json::Value>(text)
                    .map_err(|e| e.to_string())
                    .map(|v| v.get("rows").cloned().unwrap_or(v))?;
                let reason = serde_json::from_value::<Vec<Row>>(rows);
                return Err(reason.err().unwrap_or(error).to_string());
            }
        };
        return Ok(match document {
            Document::Figures { rows, frames } => (rows, frames),
            Document::Rows(rows) => (rows, Vec::new()),
        });
    }
    let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize();
    let rows = rows.collect::<Result<Vec<Row>, _>>();
    let rows = rows.map_err(|e| e.to_string())?;
    if rows.is_empty() {
        return Err("it has no rows".into());
    }
    Ok((rows, Vec::new()))
}

/// A row whose time changed.
#[derive(Debug)]
pub struct Moved {
    label: String,
    then: f64,
    now: f64,
    /// Nanoseconds; positive means slower.
    change: f64,
    /// Sum of the noise of both runs, in nanoseconds.
    noise: f64,
    regression: bool,
}

impl Moved {
    fn new(then: &Row, now: &Row, tolerance: f64) -> Self {
        let change = now.ns_per_character - then.ns_per_character;
        let noise = now.noise + then.noise;
        Self {
            label: now.label(),
            then: then.ns_per_character,
            now: now.ns_per_character,
            change,
            noise,
            regression: change > noise && change > then.ns_per_character * tolerance / 100.0,
        }
    }

    fn percent(&self) -> f64 {
        100.0 * self.change / self.then
    }
}

/// Comparison of a run with a baseline.
#[derive(Debug)]
pub struct Comparison {
    file: String,
    tolerance: f64,
    compared: usize,
    /// Unmoved rows whose noise exceeds the tolerance.
    noisy: usize,
    moved: Vec<Moved>,
    only_here: Vec<String>,
    only_there: Vec<String>,
    notes: Vec<String>,
}

impl Comparison {
    /// Rows slower by more than the noise and the tolerance, on one line.
    pub fn regressions(&self) -> Option<String> {
        let regressions = self.moved.iter().filter(|m| m.regression);
        let list: Vec<String> = regressions
            .map(|m| {
                let (then, now) = (text::duration(m.then), text::duration(m.now));
                format!("{} ({then} to {now}, {:+.1}%)", m.label, m.percent())
            })
            .collect();
        (!list.is_empty()).then(|| {
            format!(
                "slower than {} by more than {}%: {}",
                self.file,
                self.tolerance,
                list.join(", ")
            )
        })
    }

    /// The comparison as readable text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let (file, tolerance) = (text::one_line(&self.file), self.tolerance);
        line(&mut out, format_args!("Against {file}, tolerance {tolerance}%:"));
        for note in &self.notes {
            line(&mut out, format_args!("  {note}"));
        }
        for (where_, rows) in
            [("only in the baseline", &self.only_there), ("not in the baseline", &self.only_here)]
        {
            if !rows.is_empty() {
                line(&mut out, format_args!("  {where_}: {}", rows.join(", ")));
            }
        }
        let still = self.compared - self.moved.len();
        let compared = self.compared;
        line(
            &mut out,
            format_args!(
                "  {still} of {compared} rows moved by no more than the noise of both runs"
            ),
        );
        if self.noisy > 0 {
            let noisy = self.noisy;
            line(
                &mut out,
                format_args!(
                    "  {noisy} of them are too noisy for {tolerance}%: measure again on an idle machine"
                ),
            );
        }
        if self.moved.is_empty() {
            return out;
        }
        let rows = self.moved.iter().map(|m| {
            let verdict = match m {
                m if m.regression => "regression",
                m if m.change > 0.0 => "slower, tolerated",
                _ => "faster",
            };
            vec![
                m.label.clone(),
                text::duration(m.then),
                text::duration(m.now),
                format!("{:+.1}%", m.percent()),
                format!("±{:.1}%", 100.0 * m.noise / m.then),
                verdict.to_owned(),
            ]
        });
        let header = ["moved", "baseline", "now", "change", "noise of both", "is"];
        let optional = ["change", "is", "noise of both"];
        out += &text::table_of(&header, rows.collect(), 1, &optional);
        out
    }
}
