//! The plot of a living crowd: cost by number of clips, and frame times of churn.

use super::super::error::CliError;
use super::super::text;
use super::baseline::Baseline;
use super::live_figures::{Frames, LiveFigures};
use super::row::{Kind, Row};
use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, ValueFormatter};
use plotters::prelude::*;
use std::fmt::Display;
use std::ops::Range;

/// Width and height, in pixels.
const SIZE: (u32, u32) = (1_000, 900);
/// Colours of lines, distinct for most readers with a colour vision deficiency (Okabe and Ito, 2008).
const COLOURS: [RGBColor; 4] =
    [RGBColor(0, 114, 178), RGBColor(213, 94, 0), RGBColor(0, 158, 115), RGBColor(204, 121, 167)];
/// About how many labels an axis of frames has at most.
const TICKS: f64 = 12.0;
/// Opacity of the baseline's lines.
const PALE: f64 = 0.35;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A line of a plot.
#[derive(Debug)]
struct Line {
    name: String,
    colour: RGBColor,
    /// True for a line of the baseline.
    earlier: bool,
    points: Vec<(f64, f64)>,
}

/// Axes, and the lines between them.
struct Chart<'a> {
    title: &'a str,
    x: &'a str,
    y: &'a str,
    /// Whether x is logarithmic, with a label at each value.
    steps: bool,
    lines: Vec<Line>,
}

/// Draws the figures as SVG, with the baseline's figures if it has the same. A panel without figures is left out.
pub fn svg(figures: &LiveFigures, baseline: Option<&Baseline>) -> Result<String, CliError> {
    let mut out = String::new();
    let charts = [clips(&figures.rows, baseline), frames(&figures.frames, baseline)];
    let charts: Vec<Chart<'_>> = charts.into_iter().filter(|c| !c.lines.is_empty()).collect();
    {
        let root = SVGBackend::with_string(&mut out, SIZE).into_drawing_area();
        root.fill(&WHITE).map_err(failed)?;
        let title = format!(
            "{}, {}, {}",
            text::one_line(&figures.model),
            figures.machine.simd,
            text::one_line(&figures.machine.cpu)
        );
        let root = root.titled(&title, ("sans-serif", 18)).map_err(failed)?;
        for (chart, area) in charts.iter().zip(root.split_evenly((charts.len().max(1), 1))) {
            chart.draw(&area)?;
        }
        root.present().map_err(failed)?;
    }
    Ok(out)
}

fn failed(error: impl Display) -> CliError {
    CliError::Plot(error.to_string())
}

/// Cost by number of clips.
fn clips<'a>(rows: &[Row], baseline: Option<&Baseline>) -> Chart<'a> {
    let mut lines = Vec::new();
    let now = rows;
    let earlier = baseline.map_or(&[][..], Baseline::rows);
    for (rows, earlier) in [(now, false), (earlier, true)] {
        let names = ["one clip each", "two clips each", "churn"];
        for (name, colour) in names.into_iter().zip(COLOURS) {
            let own = rows.iter().filter(|r| {
                (r.kind, r.threads, r.workload.as_str()) == (Kind::Live, 1, name)
                    && now.iter().any(|n| n.same_place(r))
            });
            let points = own.filter_map(|r| Some((r.clip_count? as f64, r.ns_per_character)));
            let mut points: Vec<(f64, f64)> = points.collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            lines.push(Line::new(name.to_owned(), colour, earlier, points));
        }
    }
    Chart {
        title: "A frame by the number of clips that play, one thread",
        x: "clips",
        y: "ns per character",
        steps: true,
        lines: lines.into_iter().flatten().collect(),
    }
}

/// Frame times of churn.
fn frames<'a>(frames: &[Frames], baseline: Option<&Baseline>) -> Chart<'a> {
    let mut lines = Vec::new();
    let earlier = baseline.map_or(&[][..], Baseline::frames);
    let now = frames.iter().filter(|f| f.threads == 1);
    let coloured: Vec<(&Frames, RGBColor)> = now.zip(COLOURS).collect();
    // Those of the baseline lie below.
    for (frames, earlier) in [(earlier, true), (frames, false)] {
        for f in frames {
            let Some(&(_, colour)) = coloured.iter().find(|(now, _)| now.same_place(f)) else {
                continue;
            };
            let name = format!("{} clips", text::count(f.clip_count as u64));
            let points = f.ns.iter().enumerate().map(|(i, &ns)| (i as f64, ns * 1e-6));
            lines.push(Line::new(name, colour, earlier, points.collect()));
        }
    }
    Chart {
        title: "Frames of churn, each the least of its replays, one thread",
        x: "frame",
        y: "ms",
        steps: false,
        lines: lines.into_iter().flatten().collect(),
    }
}

impl Line {
    /// A line of finite points; `None` if there are none.
    fn new(name: String, colour: RGBColor, earlier: bool, points: Vec<(f64, f64)>) -> Option<Self> {
        let finite = |p: &(f64, f64)| p.1.is_finite() && p.1 >= 0.0;
        let points: Vec<(f64, f64)> = points.into_iter().filter(finite).collect();
        (!points.is_empty()).then_some(Self {
            name: if earlier { name + ", baseline" } else { name },
            colour,
            earlier,
            points,
        })
    }
}

impl Chart<'_> {
    fn draw(&self, area: &Area<'_>) -> Result<(), CliError> {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        // Room for the legend above the lines.
        let room = 1.1 + 0.06 * self.lines.len() as f64;
        let top = points().map(|p| p.1).fold(0.0, f64::max) * room;
        let along = Along::new(points().map(|p| p.0), self.steps);
        let mut chart = ChartBuilder::on(area)
            .caption(self.title, ("sans-serif", 16))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(64)
            .build_cartesian_2d(along, 0.0..top.max(1e-9))
            .map_err(failed)?;
        chart
            .configure_mesh()
            .light_line_style(WHITE)
            .bold_line_style(BLACK.mix(0.12))
            .x_desc(self.x)
            .y_desc(self.y)
            .y_label_formatter(&|&y| match top < 10.0 {
                true => format!("{y:.2}"),
                false => text::count(y.round().max(0.0) as u64),
            })
            .label_style(("sans-serif", 13))
            .draw()
            .map_err(failed)?;
        for line in &self.lines {
            let opacity = if line.earlier { PALE } else { 1.0 };
            let style = line.colour.mix(opacity).stroke_width(if self.steps { 2 } else { 1 });
            let points = line.points.iter().copied();
            chart
                .draw_series(LineSeries::new(points.clone(), style))
                .map_err(failed)?
                .label(line.name.clone())
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
            if self.steps {
                let dots = points.map(|p| Circle::new(p, 3, style.filled()));
                chart.draw_series(dots).map_err(failed)?;
            }
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK.mix(0.2))
            .label_font(("sans-serif", 13))
            .draw()
            .map_err(failed)
    }
}

/// A horizontal axis, linear or logarithmic, with the labels that it chooses.
struct Along {
    range: Range<f64>,
    labels: Vec<f64>,
    steps: bool,
}

impl Along {
    /// An axis over all values. One of steps is logarithmic and has a label at each value, another one at multiples
    /// of a round number.
    fn new(values: impl Iterator<Item = f64>, steps: bool) -> Self {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let first = values.first().copied().unwrap_or_default();
        let last = values.last().copied().unwrap_or_default();
        if steps {
            // A margin, so that no point lies on the edge.
            return Self { range: first / 1.3..last * 1.3, labels: values, steps };
        }
        let last = last.max(first + 1.0);
        let least = (last - first) / TICKS;
        let unit = 10f64.powf(least.log10().floor());
        let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|f| f * unit >= least);
        let step = (factor.unwrap_or(10.0) * unit).max(1.0);
        let count = ((last - first) / step) as usize;
        Self {
            range: first..last,
            labels: (0..=count).map(|i| first + i as f64 * step).collect(),
            steps,
        }
    }
}

impl Ranged for Along {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (low, high): (i32, i32)) -> i32 {
        let place = |x: f64| if self.steps { x.max(1e-9).ln() } else { x };
        let (first, last) = (place(self.range.start), place(self.range.end));
        let share = (place(*value) - first) / (last - first);
        low + (share * f64::from(high - low)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.labels.clone()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Along {
    fn format(value: &f64) -> String {
        text::count(value.round().max(0.0) as u64)
    }
}
