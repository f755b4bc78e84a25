//! Results of a plaza, as JSON and as tables.

use super::super::super::text;
use super::super::figures::{PictureFigures, Setup, header, threads};
use super::super::tiers_file::{self, BudgetArg};
use serde::Serialize;

/// The document that `--json` writes.
#[derive(Debug, Serialize)]
pub struct Figures {
    #[serde(flatten)]
    pub setup: Setup,
    /// The picture for which frames are measured, in pixels, whatever the size of the one that is drawn.
    pub camera_width: u32,
    pub camera_height: u32,
    /// Whether the crowd has tiers. False with `--full`: every character is evaluated in every frame.
    pub tiers: bool,
    /// The budget as given on the command line.
    pub budget: Option<String>,
    /// All threads first, then one thread.
    pub runs: Vec<Run>,
    pub picture: Option<PictureFigures>,
}

/// The measured frames with one number of threads: medians in nanoseconds, and means per frame.
#[derive(Debug, Serialize)]
pub struct Run {
    pub threads: usize,
    /// Median time of a whole frame: advance, events, schedule and evaluate.
    pub median_ns: f64,
    pub p99_ns: f64,
    pub worst_ns: f64,
    /// Medians of the parts. Their sum may differ from the median of frames.
    pub advance_ns: f64,
    /// The host's pass over the events; collecting them is a part of `advance`.
    pub events_ns: f64,
    pub schedule_ns: f64,
    pub evaluate_ns: f64,
    /// The host's calls that begin crossfades. Not a part of the frame.
    pub crossfades_ns: f64,
    pub crossfades_per_frame: f64,
    pub events_per_frame: Events,
    /// Characters that the camera sees. `null` without tiers.
    pub in_view_per_frame: Option<f64>,
    /// Palettes evaluated, unshared and shared.
    pub evaluated_per_frame: f64,
    /// Evaluations that the budget allowed. `null` without a budget.
    pub budget_per_frame: Option<f64>,
    /// Evaluations although it was used up.
    pub beyond_budget_per_frame: Option<f64>,
    pub by_tier: Vec<TierRow>,
    /// Palettes that tiers share. `null` without tiers.
    pub shared: Option<SharedRow>,
}

/// Events by kind. Loops are not listened to.
#[derive(Debug, Serialize)]
pub struct Events {
    pub markers: f64,
    pub finishes: f64,
}

/// A tier: its settings, and means of the measured frames.
#[derive(Debug, Serialize)]
pub struct TierRow {
    pub tier: usize,
    pub height: f32,
    pub rate: u8,
    pub interpolate: bool,
    pub sharing: String,
    pub detail: String,
    pub characters_per_frame: f64,
    /// Characters of the tier that show a shared palette.
    pub shared_per_frame: f64,
    /// Characters of the tier that were evaluated into unshared palettes. An interpolated one may write two.
    pub evaluated_per_frame: f64,
    pub held_per_frame: f64,
    pub waiting_per_frame: f64,
    /// The most frames since an update, over all measured frames.
    pub oldest: u32,
    /// Time of evaluating the tier, summed over the workers.
    pub ns_per_frame: f64,
}

/// Shared palettes: means of the measured frames.
#[derive(Debug, Serialize)]
pub struct SharedRow {
    /// Characters that show one.
    pub characters_per_frame: f64,
    /// Palettes in the bone buffer.
    pub palettes_per_frame: f64,
    pub evaluated_per_frame: f64,
    /// Time of evaluating shared palettes, summed over the workers.
    pub ns_per_frame: f64,
}

/// Columns of the table of tiers that are left out if the terminal is narrow, most important first.
const OPTIONAL: [&str; 8] =
    ["rate", "sharing", "from pixels", "detail", "shared", "waiting", "oldest", "held"];

/// A mean number of things.
fn mean(n: f64) -> String {
    match n {
        0.0 => "0".into(),
        n if n < 99.95 => format!("{n:.1}"),
        n => text::count(n.round() as u64),
    }
}

impl Figures {
    /// The figures as tables: first all threads and one thread in two columns, then the tiers of all threads.
    pub fn table(&self, budget: Option<BudgetArg>) -> String {
        let mut out = self.frames();
        if let Some(run) = self.runs.first() {
            out += &run.tiers(self.setup.frames);
            if let Some(note) = run.note(budget) {
                out += &note;
            }
        }
        if let Some(p) = &self.picture {
            out += &p.table();
        }
        out
    }

    fn frames(&self) -> String {
        let run = |name: &str, value: &dyn Fn(&Run) -> String| {
            let mut row = vec![name.to_owned()];
            row.extend(self.runs.iter().map(value));
            row
        };
        let same = |name: &str, value: String| run(name, &|_| value.clone());
        let camera = format!("in view of {} x {}", self.camera_width, self.camera_height);
        let or_dash = |n: Option<f64>| n.map_or_else(|| "-".into(), mean);
        let mut rows = vec![
            same("characters", text::count(self.setup.characters as u64)),
            same("clips", self.setup.clips.len().to_string()),
            same("instruction set", self.setup.simd.to_owned()),
            same("frames", text::count(self.setup.frames.into())),
            run("median frame", &|r| text::duration(r.median_ns)),
            run("  advance", &|r| text::duration(r.advance_ns)),
            run("  events, read", &|r| text::duration(r.events_ns)),
            run("  schedule", &|r| text::duration(r.schedule_ns)),
            run("  evaluate", &|r| text::duration(r.evaluate_ns)),
            run("p99 frame", &|r| text::duration(r.p99_ns)),
            run("worst frame", &|r| text::duration(r.worst_ns)),
            run("crossfades, called", &|r| text::duration(r.crossfades_ns)),
        ];
        if self.tiers {
            rows.push(run(&camera, &|r| or_dash(r.in_view_per_frame)));
        }
        rows.push(run("evaluated", &|r| mean(r.evaluated_per_frame)));
        if self.budget.is_some() {
            rows.push(run("  of a budget of", &|r| or_dash(r.budget_per_frame)));
            rows.push(run("  beyond it", &|r| or_dash(r.beyond_budget_per_frame)));
        }
        rows.push(run("crossfades begun", &|r| mean(r.crossfades_per_frame)));
        rows.push(run("events", &|r| {
            mean(r.events_per_frame.markers + r.events_per_frame.finishes)
        }));
        let name = match self.tiers {
            true => "plaza",
            false => "plaza at full rate",
        };
        let header = header(name, self.runs.iter().map(|r| r.threads));
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        text::table(&header, rows, 1)
            + "Times are medians, numbers are means per frame. A frame has the four parts below it; the calls that \
               begin crossfades are the host's and not a part of it.\n"
    }
}

impl Run {
    /// The work of each tier as a table; empty without tiers.
    fn tiers(&self, frames: u32) -> String {
        let Some(shared) = &self.shared else {
            return String::new();
        };
        let mut rows: Vec<_> = self.by_tier.iter().map(TierRow::cells).collect();
        let none = String::new;
        rows.push(vec![
            "shared palettes".into(),
            text::duration(shared.ns_per_frame),
            mean(shared.evaluated_per_frame),
            mean(shared.characters_per_frame),
            none(),
            none(),
            none(),
            none(),
            none(),
            none(),
            none(),
            none(),
        ]);
        let header = [
            "tier",
            "evaluation",
            "evaluated",
            "characters",
            "shared",
            "held",
            "waiting",
            "oldest",
            "from pixels",
            "rate",
            "sharing",
            "detail",
        ];
        let frames = text::plural(frames as usize, "frame");
        text::table_of(&header, rows, 1, &OPTIONAL)
            + &format!(
                "Tiers with {}: means of {frames}. The time of evaluation is the sum of all threads. Evaluated are \
                 characters, of which an interpolated one may write two palettes, and shared palettes. The bone buffer \
                 has {} shared palettes.\n",
                threads(self.threads),
                mean(shared.palettes_per_frame)
            )
    }

    /// Says that a budget of time cannot be kept.
    fn note(&self, budget: Option<BudgetArg>) -> Option<String> {
        let Some(BudgetArg::Microseconds(microseconds)) = budget else {
            return None;
        };
        let budget = microseconds * 1e3;
        (self.schedule_ns > budget).then(|| {
            format!(
                "The schedule alone takes {}, more than the budget of {}: fewer palettes do not help.\n",
                text::duration(self.schedule_ns),
                text::duration(budget)
            )
        })
    }
}

impl TierRow {
    fn cells(&self) -> Vec<String> {
        vec![
            self.tier.to_string(),
            text::duration(self.ns_per_frame),
            mean(self.evaluated_per_frame),
            mean(self.characters_per_frame),
            mean(self.shared_per_frame),
            mean(self.held_per_frame),
            mean(self.waiting_per_frame),
            self.oldest.to_string(),
            self.height.to_string(),
            tiers_file::rate(self.rate, self.interpolate),
            self.sharing.clone(),
            self.detail.clone(),
        ]
    }
}
