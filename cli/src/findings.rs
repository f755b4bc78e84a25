//! Findings: what an import report says of a file, as lines on standard error and as JSON.

use super::output;
use phalanx::import::{ReportEntry, Severity};
use serde::Serialize;

/// The most entries of a file's import report that are printed.
const PRINTED: usize = 8;

/// An entry of an import report.
#[derive(Clone, Debug, Serialize)]
pub struct ReportLine {
    pub severity: String,
    pub place: String,
    pub message: String,
    /// All that the message counts, where it names only the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<String>,
}

impl From<&ReportEntry> for ReportLine {
    fn from(entry: &ReportEntry) -> Self {
        Self {
            severity: entry.severity.to_string(),
            place: entry.place.clone(),
            message: entry.message.clone(),
            items: entry.items.clone(),
        }
    }
}

/// The import report of a file that was read, whole.
#[derive(Clone, Debug, Serialize)]
pub struct FileReport {
    pub file: String,
    pub entries: Vec<ReportLine>,
    /// The lines that are printed.
    #[serde(skip)]
    lines: Vec<String>,
}

impl FileReport {
    /// The report of a file, which prints what was dropped or repaired.
    pub fn new(file: &str, report: &[ReportEntry]) -> Self {
        let entries = report.iter();
        Self {
            file: file.to_owned(),
            entries: entries.clone().map(ReportLine::from).collect(),
            lines: lines(entries.filter(|e| e.severity >= Severity::Repaired)),
        }
    }

    /// The report of a file whose lines are printed elsewhere.
    pub fn quiet(file: &str, report: &[ReportEntry]) -> Self {
        Self { lines: Vec::new(), ..Self::new(file, report) }
    }

    /// Prints what was dropped or repaired to standard error.
    pub fn print(&self) {
        print(&self.file, &self.lines);
    }
}

/// The first of some entries, a line each, and the number of the others.
pub fn lines<'e>(entries: impl Iterator<Item = &'e ReportEntry>) -> Vec<String> {
    let mut lines: Vec<String> = entries.map(|e| with_options(&e.to_string())).collect();
    let more = lines.len().saturating_sub(PRINTED);
    if more > 0 {
        lines.truncate(PRINTED);
        let entries = if more == 1 { "entry" } else { "entries" };
        lines.push(format!(
            "{more} more {entries} of the import report (`phalanx info` shows them)"
        ));
    }
    lines
}

/// Advice of the import, each with the option of the command line that follows it.
const ADVICE: [[&str; 2]; 3] = [
    ["; trimming cuts", "; trimming (--trim) cuts"],
    [
        "; trimming or reading leniently moves",
        "; trimming (--trim) or reading leniently (--lenient) moves",
    ],
    ["; parent folders can be allowed", "; parent folders can be allowed (--allow-parent-folders)"],
];

/// A line of an import report with the options that do what it advises.
pub fn with_options(line: &str) -> String {
    let all = ADVICE.iter();
    all.fold(line.to_owned(), |line, [advice, with]| line.replace(advice, with))
}

/// Prints what the import dropped of a model that is drawn, played or measured. Textures that are missing are named
/// where they are drawn.
pub fn print_dropped(file: &str, report: &[ReportEntry]) {
    let texture =
        |e: &ReportEntry| e.place.starts_with("image ") || e.message.starts_with("texture ");
    let dropped = report.iter();
    let dropped = dropped.filter(|e| e.severity == Severity::Dropped && !texture(e));
    print(file, &lines(dropped));
}

fn print(file: &str, lines: &[String]) {
    for line in lines {
        output::tell(&format!("{file}: {line}"));
    }
}
