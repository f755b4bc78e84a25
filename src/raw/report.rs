//! `ReportEntry`: a part of a file that an import repaired, dropped or did not use.

use std::fmt;

/// A part of a file that an import repaired, dropped or could not use. A report is a list of them, in the order found: broken
/// values, keys of JSON that occur twice, extensions, cameras and vertex attributes that are not read, meshes and images
/// without use, nodes outside the default scene, clips that begin late or below 0 s, travel, jump or are empty, samplers that
/// no channel uses, channels that animate no node, names that occur twice, and properties of materials that pictures ignore.
///
/// ```
/// use phalanx::import::{ReportEntry, Severity};
///
/// let report = [
///     ReportEntry::new(Severity::Note, "clips", "begin late"),
///     ReportEntry::new(Severity::Dropped, "node 3", "is not drawn"),
/// ];
/// assert_eq!(report.iter().map(|e| e.severity).max(), Some(Severity::Dropped));
/// assert_eq!(report[1].to_string(), "dropped: node 3: is not drawn");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ReportEntry {
    /// Severity of the entry.
    pub severity: Severity,
    /// Place in the file: `node 3 "Hips"`, `animation 0, channel 2`, `accessor 17`.
    pub place: String,
    /// Finding, and the action taken.
    pub message: String,
    /// All items that the message counts, if it names only the first: late clips, clips that travel, names that occur more
    /// than once, channels that animate no node. Otherwise empty.
    pub items: Vec<String>,
}

/// The severity of a report entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing was changed.
    Note,
    /// A value was repaired.
    Repaired,
    /// Something of the file is not in the result.
    Dropped,
}

impl ReportEntry {
    /// An entry without items.
    pub fn new(severity: Severity, place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { severity, place: place.into(), message: message.into(), items: Vec::new() }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Note => "note",
            Severity::Repaired => "repaired",
            Severity::Dropped => "dropped",
        })
    }
}

impl fmt::Display for ReportEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.severity, self.place, self.message)
    }
}
