//! Sections and provenance of a .phx file.

use super::super::text::{self, line};
use phalanx::format::{ClipForm, Library, Section};
use serde::Serialize;
use std::collections::BTreeMap;

/// A .phx file: its sections, and the sources it was baked from.
#[derive(Debug, Serialize)]
pub struct LibraryInfo {
    pub bytes: usize,
    pub tool: String,
    pub sources: Vec<SourceInfo>,
    pub sections: Vec<SectionInfo>,
    pub clips: Vec<StoredClip>,
}

/// A source of the file.
#[derive(Debug, Serialize)]
pub struct SourceInfo {
    pub name: String,
    pub settings: String,
    pub bytes: u64,
    /// Hexadecimal, since JSON numbers do not hold 64 bits everywhere.
    pub hash: String,
}

#[derive(Debug, Serialize)]
pub struct SectionInfo {
    pub section: String,
    pub offset: u64,
    pub bytes: u64,
}

/// How a clip is stored in the file.
#[derive(Debug, Serialize)]
pub struct StoredClip {
    pub bytes: u64,
    pub form: Option<&'static str>,
    /// Index in the sources.
    pub source: Option<u32>,
    /// Metres; `None` if not measured.
    pub max_error: Option<f32>,
    pub shell: Option<f32>,
}

impl LibraryInfo {
    pub fn new(library: &Library) -> Self {
        let p = library.provenance();
        let clips = library.sections().filter(|s| s.section == Section::Clip);
        let clips = clips.enumerate().map(|(c, s)| {
            let origin = p.clips.get(c);
            StoredClip {
                bytes: s.bytes,
                form: s.form.map(ClipForm::name),
                source: origin.map(|o| o.source),
                max_error: origin.map(|o| o.max_error).filter(|e| !e.is_nan()),
                shell: origin.map(|o| o.shell),
            }
        });
        Self {
            bytes: library.byte_len(),
            tool: p.tool.clone(),
            sources: p
                .sources
                .iter()
                .map(|s| SourceInfo {
                    name: s.name.clone(),
                    settings: s.settings.clone(),
                    bytes: s.bytes,
                    hash: format!("{:016x}", s.hash),
                })
                .collect(),
            clips: clips.collect(),
            sections: library
                .sections()
                .map(|s| SectionInfo {
                    section: s.section.to_string(),
                    offset: s.offset,
                    bytes: s.bytes,
                })
                .collect(),
        }
    }

    pub fn text(&self) -> String {
        let mut out = String::new();
        let (bytes, tool) = (text::bytes(self.bytes as f64), text::one_line(&self.tool));
        line(&mut out, format_args!("\n.phx file, {bytes}, by {tool}"));
        let mut kinds: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
        for s in &self.sections {
            let kind = kinds.entry(&s.section).or_default();
            *kind = (kind.0 + 1, kind.1 + s.bytes);
        }
        let rows = kinds.into_iter().map(|(section, (count, bytes))| {
            vec![
                // The column's heading says that it is a section.
                text::one_line(section.strip_prefix("section ").unwrap_or(section)),
                count.to_string(),
                text::bytes(bytes as f64),
            ]
        });
        out += &text::table(&["section", "number", "bytes"], rows.collect(), 1);
        for s in &self.sources {
            let (name, settings) = (text::one_line(&s.name), text::one_line(&s.settings));
            line(&mut out, format_args!("baked from {name}: {settings}"));
        }
        let errors = self.clips.iter().filter_map(|c| c.max_error);
        if let Some(worst) = errors.reduce(f32::max) {
            let worst = worst * 1e3;
            line(&mut out, format_args!("largest error {worst:.4} mm"));
        }
        out
    }
}
