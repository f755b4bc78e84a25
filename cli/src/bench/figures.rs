//! All figures of a run, as JSON, CSV and tables.

use super::super::text::{self, line};
use super::machine::Machine;
use super::row::{Kind, Row};
use phalanx_workload::subject::Subject;
use serde::Serialize;

/// The document that `--json` writes.
#[derive(Debug, Serialize)]
pub struct Figures {
    pub version: &'static str,
    pub machine: Machine,
    pub model: String,
    pub joints: usize,
    pub palette_rows: usize,
    /// The reason why the textbook pipeline was not timed; `None` if it was.
    pub no_textbook: Option<String>,
    pub seconds: f64,
    pub rows: Vec<Row>,
}

impl Figures {
    /// Figures of a run, with no rows yet.
    pub fn new(
        subject: &Subject,
        machine: Machine,
        seconds: f64,
        no_textbook: Option<String>,
    ) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION"),
            machine,
            model: subject.name.clone(),
            joints: subject.rig.skeleton().len(),
            palette_rows: subject.rig.palette_len(),
            no_textbook,
            seconds,
            rows: Vec::new(),
        }
    }

    /// The rows as CSV, each on one line.
    pub fn csv(&self) -> Result<Vec<u8>, csv::Error> {
        csv_of(&self.rows)
    }

    /// The figures as tables.
    pub fn text(&self) -> String {
        let mut out = self.context().about(&self.rows);
        line(
            &mut out,
            format_args!("\nOne character, resident in the cache, job by job on one thread:"),
        );
        out += &self.stages();
        let chains = self.chains();
        let shown = |column: &&str| text::has_column(&chains, column);
        let times = ["median", "least", "noise"].into_iter().filter(shown);
        let times: Vec<String> = times.map(|c| format!("\"{c}\"")).collect();
        let mut about = format!(
            "\nA frame of a crowd, per character. {}: Crowd::advance and Crowd::evaluate together",
            times.join(", ")
        );
        for (column, what) in
            [("advance", "that call alone"), ("written", "palette bytes per median time")]
        {
            if shown(&column) {
                about += &format!("; \"{column}\": {what}");
            }
        }
        line(&mut out, format_args!("{about}."));
        out += &chains;
        let textbook = match &self.no_textbook {
            None => {
                "scalar code as in tutorials, on the same number of threads, times advanced too"
                    .into()
            }
            Some(reason) => format!("not measured: {}", text::one_line(reason)),
        };
        line(&mut out, format_args!("Textbook: {textbook}."));
        out
    }

    fn context(&self) -> Context<'_> {
        Context {
            machine: &self.machine,
            model: &self.model,
            joints: self.joints,
            palette_rows: self.palette_rows,
        }
    }

    fn stages(&self) -> String {
        let rows = self.rows.iter().filter(|r| r.kind == Kind::Stage);
        let rows = rows.map(|r| {
            let mut row = vec![r.workload.clone()];
            row.extend(times(r));
            row.extend(textbook(r));
            row
        });
        let header = ["job", "median", "least", "noise", "textbook", "ratio"];
        let optional = ["ratio", "noise", "textbook", "least"];
        text::table_of_words(&header, rows.collect(), 1, &optional)
    }

    fn chains(&self) -> String {
        let rows = self.rows.iter().filter(|r| r.kind == Kind::Chain);
        let rows = rows.map(|r| {
            let mut row = vec![r.workload.clone(), text::count(r.count as u64)];
            row.push(r.threads.to_string());
            row.extend(times(r));
            row.push(optional(r.advance_ns, text::duration));
            row.push(optional(r.gb_per_s, |gb| format!("{gb:.2} GB/s")));
            row.extend(textbook(r));
            row
        });
        let header = [
            "workload",
            "characters",
            "threads",
            "median",
            "least",
            "noise",
            "advance",
            "written",
            "textbook",
            "ratio",
        ];
        let optional = ["ratio", "noise", "advance", "written", "textbook", "least"];
        text::table_of_words(&header, rows.collect(), 1, &optional)
    }
}

/// Rows as CSV, each on one line.
pub fn csv_of(rows: &[Row]) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row.on_one_line())?;
    }
    writer.into_inner().map_err(|e| e.into_error().into())
}

/// The machine and the model of the measurements.
pub struct Context<'a> {
    pub machine: &'a Machine,
    pub model: &'a str,
    pub joints: usize,
    pub palette_rows: usize,
}

impl Context<'_> {
    /// The table above all figures.
    pub fn about(&self, measured: &[Row]) -> String {
        let m = self.machine;
        let row = |name: &str, value: String| vec![name.to_owned(), text::one_line(&value)];
        let bytes = self.palette_rows as f64 * 48.0;
        let mut rows = vec![
            row("model", self.model.to_owned()),
            row(
                "palette",
                format!(
                    "{} joints, {} rows, {} per character",
                    self.joints,
                    self.palette_rows,
                    text::bytes(bytes)
                ),
            ),
        ];
        if let Some(first) = measured.first() {
            let mask = first.mask.as_ref().map_or_else(
                || "on all joints".to_owned(),
                |joint| format!("on {joint} and below"),
            );
            let additive = &first.additive;
            rows.push(row("clips", first.clips.clone()));
            rows.push(row("additive in C3", format!("{additive}, {mask}")));
        }
        rows.push(row("processor", format!("{}, {} cores", m.cpu, m.cores)));
        rows.push(row("instruction set", m.simd.clone()));
        let flags = match m.rustflags.as_str() {
            "" => String::new(),
            flags => format!(", flags {flags}"),
        };
        let warning = if m.is_debug() { ": not representative, build with --release" } else { "" };
        rows.push(row("build", format!("{}{warning} ({}{flags})", m.profile, m.rustc)));
        text::table(&[], rows, 2)
    }
}

pub fn optional(value: Option<f64>, text: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| "-".into(), text)
}

pub fn times(r: &Row) -> [String; 3] {
    [
        text::duration(r.ns_per_character),
        text::duration(r.min),
        format!("±{:.1}%", 100.0 * r.noise / r.ns_per_character),
    ]
}

fn textbook(r: &Row) -> [String; 2] {
    [
        optional(r.textbook_ns, text::duration),
        optional(r.textbook_ns, |ns| format!("{:.1}x", ns / r.ns_per_character)),
    ]
}
