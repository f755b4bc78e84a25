//! Results of a run, as JSON and as a table.

use super::super::model::Model;
use super::super::text;
use super::cast::FRAME;
use super::measure::{Run, WARM_UP};
use phalanx::simd::SimdLevel;
use serde::Serialize;
use std::path::Path;

/// Frames are measured without a device, so that figures of different machines are comparable.
const EVALUATED_INTO: &str = "heap memory";

/// The setup of a measurement: the first fields of the documents that `--json` writes.
#[derive(Debug, Serialize)]
pub struct Setup {
    pub version: &'static str,
    pub model: String,
    pub characters: usize,
    pub joints: usize,
    /// Palette rows of the full rig.
    pub palette_rows: usize,
    /// Names of the clips played.
    pub clips: Vec<String>,
    pub simd: &'static str,
    pub frames: u32,
    pub warm_up_frames: u32,
    pub frame_seconds: f64,
}

/// The document that `--json` writes.
#[derive(Debug, Serialize)]
pub struct Figures {
    #[serde(flatten)]
    pub setup: Setup,
    /// Destination of the measured frames' palettes; the picture's frame is evaluated again.
    pub evaluated_into: &'static str,
    /// All threads first, then one thread.
    pub runs: Vec<Run>,
    pub picture: Option<PictureFigures>,
}

/// The picture and the renderer that drew it.
#[derive(Debug, Serialize)]
pub struct PictureFigures {
    pub file: String,
    pub width: u32,
    pub height: u32,
    pub drawn_by: String,
    pub characters: usize,
    pub triangles: u64,
    pub milliseconds: f64,
}

impl Setup {
    /// Describes characters of a model that play its clips with these indices, for `frames` frames after the warm-up.
    pub fn new(
        model: &Model,
        clips: &[usize],
        characters: usize,
        (warm_up_frames, frames): (u32, u32),
        frame_seconds: f64,
    ) -> Self {
        let rig = &model.rig;
        let clips = clips.iter().filter_map(|&c| rig.clips().get(c));
        Self {
            version: env!("CARGO_PKG_VERSION"),
            model: model.file.clone(),
            characters,
            joints: rig.skeleton().len(),
            palette_rows: rig.palette_len(),
            clips: clips.map(|c| c.name().to_owned()).collect(),
            simd: SimdLevel::current().name(),
            frames,
            warm_up_frames,
            frame_seconds,
        }
    }
}

impl Figures {
    /// Figures without a picture.
    pub fn new(
        model: &Model,
        clips: &[usize],
        characters: usize,
        frames: u32,
        runs: Vec<Run>,
    ) -> Self {
        Self {
            setup: Setup::new(model, clips, characters, (WARM_UP, frames), FRAME),
            evaluated_into: EVALUATED_INTO,
            runs,
            picture: None,
        }
    }

    /// The figures as a table with the columns all threads and one thread.
    pub fn table(&self) -> String {
        let row = |name: &str, value: &dyn Fn(&Run) -> String| {
            let mut row = vec![name.to_owned()];
            row.extend(self.runs.iter().map(value));
            row
        };
        let same = |name: &str, value: String| row(name, &|_| value.clone());
        let rows = vec![
            same("characters", text::count(self.setup.characters as u64)),
            same("joints", text::count(self.setup.joints as u64)),
            same("palette rows", text::count(self.setup.palette_rows as u64)),
            same("clips", self.setup.clips.len().to_string()),
            row("threads", &|r| r.threads.to_string()),
            same("instruction set", self.setup.simd.to_owned()),
            same("frames", text::count(self.setup.frames.into())),
            row("crossfades", &|r| text::count(r.crossfades)),
            same("evaluated into", self.evaluated_into.to_owned()),
            row("median frame", &|r| text::duration(r.median_ns)),
            row("p99 frame", &|r| text::duration(r.p99_ns)),
            row("per character", &|r| text::duration(r.ns_per_character)),
            row("written per frame", &|r| text::bytes(r.bytes_per_frame as f64)),
            row("written per second", &|r| text::bytes(r.bytes_per_second)),
            row("palette hash", &|r| format!("{:016x}", r.palette_hash)),
        ];
        // The path of the folder would leave no room for the figures.
        let name = Path::new(&self.setup.model).file_name();
        let name =
            name.map_or_else(|| self.setup.model.clone(), |n| n.to_string_lossy().into_owned());
        let header = header(&text::one_line(&name), self.runs.iter().map(|r| r.threads));
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        let mut out = text::table(&header, rows, 1);
        if let Some(p) = &self.picture {
            out += &p.table();
        }
        out
    }
}

/// A name, and a column for each number of threads.
pub fn header(name: &str, runs: impl Iterator<Item = usize>) -> Vec<String> {
    let columns = runs.map(threads);
    std::iter::once(name.to_owned()).chain(columns).collect()
}

/// A number of threads in words.
pub fn threads(threads: usize) -> String {
    text::plural(threads, "thread")
}

impl PictureFigures {
    /// The picture as a table.
    pub fn table(&self) -> String {
        let file = text::one_line(&self.file);
        let characters = text::count(self.characters as u64);
        let triangles = text::count(self.triangles);
        let rows = [
            ("picture", format!("{file}, {} x {}", self.width, self.height)),
            ("drawn by", text::one_line(&self.drawn_by)),
            ("in view", format!("{characters} characters, {triangles} triangles")),
        ];
        let rows = rows.map(|(name, value)| vec![name.to_owned(), value]);
        text::table(&[], rows.into(), 2)
    }
}
