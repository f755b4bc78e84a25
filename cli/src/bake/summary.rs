//! Results of a bake, as a table and as JSON.

use super::super::findings::FileReport;
use super::super::text::{self, line, plural};
use super::Faults;
use super::progress::Progress;
use phalanx::bake::ErrorReport;
use phalanx::format::Library;
use serde::Serialize;
use std::path::Path;

/// Everything that was baked or skipped.
#[derive(Debug, Default, Serialize)]
pub struct Summary {
    pub files: Vec<FileSummary>,
    /// Inputs that failed.
    pub faults: Faults,
    /// The import reports of the inputs that were read.
    pub imports: Vec<FileReport>,
    pub clips: usize,
    pub seconds: f64,
    pub clips_per_second: f64,
    pub raw_megabytes_per_second: f64,
}

/// One output.
#[derive(Debug, Serialize)]
pub struct FileSummary {
    pub file: String,
    /// True if the file existed and was up to date.
    pub skipped: bool,
    pub bytes: u64,
    pub clips: Vec<ClipSummary>,
    /// Notes on an error or a shell that is out of proportion to the model's size.
    pub notes: Vec<String>,
}

/// One clip of an output.
#[derive(Debug, Serialize)]
pub struct ClipSummary {
    pub name: String,
    pub duration: f32,
    /// Size of the clip's section in the file.
    pub bytes: u64,
    /// Metres; `None` if not measured.
    pub max_error: Option<f32>,
    /// Results of baking; `None` if the file was skipped.
    pub report: Option<Report>,
}

/// An [`ErrorReport`]; errors in metres.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Size at 40 bytes per joint and frame.
    pub raw_bytes: usize,
    pub mean_error: f32,
    pub p99_error: f32,
    pub worst_joint: u16,
    pub worst_time: f32,
    pub scalar_error: f32,
    /// Size in memory.
    pub runtime_bytes: usize,
    pub bytes_by_kind: Kinds,
    /// Raw bytes per byte in memory.
    pub ratio: f32,
}

#[derive(Debug, Serialize)]
pub struct Kinds {
    pub translation: usize,
    pub rotation: usize,
    pub scale: usize,
    pub scalar: usize,
    pub constant: usize,
    pub tables: usize,
}

impl Report {
    fn new(r: &ErrorReport) -> Self {
        let [translation, rotation, scale, scalar] = r.channel_bytes;
        let constant = r.constant_bytes;
        let stored = r.channel_bytes.iter().sum::<usize>() + constant;
        let tables = r.bytes.saturating_sub(stored);
        Self {
            raw_bytes: r.raw_bytes,
            mean_error: r.mean,
            p99_error: r.p99,
            worst_joint: r.worst_joint,
            worst_time: r.worst_time,
            scalar_error: r.scalar_max,
            runtime_bytes: r.bytes,
            bytes_by_kind: Kinds { translation, rotation, scale, scalar, constant, tables },
            ratio: r.ratio(),
        }
    }
}

fn measured(error: f32) -> Option<f32> {
    (!error.is_nan()).then_some(error)
}

impl FileSummary {
    /// Summary of a file written by this run.
    pub fn made(path: &Path, library: &Library, reports: &[ErrorReport]) -> Self {
        let mut summary = Self::skipped(path, library);
        summary.skipped = false;
        for (clip, report) in summary.clips.iter_mut().zip(reports) {
            clip.report = Some(Report::new(report));
        }
        summary
    }

    /// Summary of a file that was already up to date.
    pub fn skipped(path: &Path, library: &Library) -> Self {
        let origins = &library.provenance().clips;
        let infos = (0..library.clip_count()).filter_map(|c| Some((c, library.clip_info(c)?)));
        let clips = infos.map(|(c, info)| ClipSummary {
            name: info.name.to_owned(),
            duration: info.duration,
            bytes: info.bytes,
            max_error: origins.get(c).and_then(|o| measured(o.max_error)),
            report: None,
        });
        Self {
            file: path.display().to_string(),
            skipped: true,
            bytes: library.byte_len() as u64,
            clips: clips.collect(),
            notes: Vec::new(),
        }
    }
}

/// Largest number of clips per file in the table; JSON contains all.
const MOST_CLIPS: usize = 40;

impl Summary {
    pub fn new(files: Vec<FileSummary>, progress: &Progress) -> Self {
        let (clips_per_second, raw_megabytes_per_second) = progress.rates();
        Self {
            clips: files.iter().map(|f| f.clips.len()).sum(),
            files,
            seconds: progress.seconds(),
            clips_per_second,
            raw_megabytes_per_second,
            faults: Faults::default(),
            imports: Vec::new(),
        }
    }

    /// Summary of a bake that wrote nothing.
    pub fn refused(faults: Faults) -> Self {
        Self::default().with(faults)
    }

    pub fn with(self, faults: Faults) -> Self {
        Self { faults, ..self }
    }

    pub fn text(&self) -> String {
        let header =
            ["file, clips", "seconds", "raw", "in memory", "stored", "ratio", "max error", "mean"];
        let mut rows = Vec::new();
        for f in &self.files {
            let state = if f.skipped { " (up to date)" } else { "" };
            rows.push(vec![
                format!("{}{state}", f.file),
                String::new(),
                String::new(),
                String::new(),
                text::bytes(f.bytes as f64),
                String::new(),
                String::new(),
                String::new(),
            ]);
            rows.extend(f.clips.iter().take(MOST_CLIPS).map(ClipSummary::row));
            let more = f.clips.len().saturating_sub(MOST_CLIPS);
            if more > 0 {
                let mut row = vec![String::new(); header.len()];
                row[0] = format!("  and {more} more");
                rows.push(row);
            }
        }
        let optional = ["seconds", "stored", "max error", "ratio", "in memory", "raw", "mean"];
        let mut out = text::table_of(&header, rows, 1, &optional);
        let skipped = self.files.iter().filter(|f| f.skipped).count();
        line(
            &mut out,
            format_args!(
                "{} in {} ({skipped} up to date), {:.2} s, {:.0} clips/s, {:.1} MB/s of raw data",
                plural(self.clips, "clip"),
                plural(self.files.len(), "file"),
                self.seconds,
                self.clips_per_second,
                self.raw_megabytes_per_second
            ),
        );
        out
    }
}

impl ClipSummary {
    fn row(&self) -> Vec<String> {
        let of = |value: fn(&Report) -> String| match &self.report {
            Some(report) => value(report),
            None => "-".into(),
        };
        let millimetres = |e: f32| format!("{:.4} mm", e * 1e3);
        let ratio = self.report.as_ref();
        let ratio = ratio.map(|r| r.raw_bytes as f64 / self.bytes.max(1) as f64);
        vec![
            format!("  {}", self.name),
            format!("{:.3}", self.duration),
            of(|r| text::bytes(r.raw_bytes as f64)),
            of(|r| text::bytes(r.runtime_bytes as f64)),
            text::bytes(self.bytes as f64),
            ratio.map_or_else(|| "-".into(), |r| format!("{r:.1}")),
            self.max_error.map_or_else(|| "-".into(), millimetres),
            of(|r| format!("{:.4} mm", r.mean_error * 1e3)),
        ]
    }
}
