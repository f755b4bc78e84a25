//! The graph of frame times, in a corner of the picture.

use super::history::FRAMES;
use super::viewer::Viewer;
use egui::text::{LayoutJob, TextWrapping};
use egui::{Align2, Color32, FontId, Painter, Rect, pos2, vec2};

/// Colours of the stages, in the order of `FrameTime::stages`, and of the total time.
const STAGES: [Color32; 5] = [
    Color32::from_rgb(92, 164, 255),
    Color32::from_rgb(255, 176, 60),
    Color32::from_rgb(110, 214, 130),
    Color32::from_rgb(200, 130, 240),
    Color32::from_rgb(150, 160, 174),
];
const TOTAL: Color32 = Color32::from_rgb(225, 228, 232);
const BACK: Color32 = Color32::from_rgba_premultiplied(16, 19, 24, 205);

/// Layout in points: one bar per frame, and below it lines for the frame, its stages, counts and adapter.
const HEIGHT: f32 = 64.0;
const LINES: usize = STAGES.len() + 4;
const LINE: f32 = 15.0;
const MARGIN: f32 = 8.0;

/// Paints the graph into the upper right corner of the picture.
pub fn show(painter: &Painter, picture: Rect, viewer: &Viewer) {
    let size = vec2(FRAMES as f32, HEIGHT + LINE * LINES as f32) + vec2(2.0, 2.0) * MARGIN;
    let min = pos2(picture.right() - size.x - MARGIN, picture.top() + MARGIN);
    let back = Rect::from_min_size(min, size);
    painter.rect_filled(back, 4.0, BACK);
    let bars = Rect::from_min_size(min + vec2(MARGIN, MARGIN), vec2(FRAMES as f32, HEIGHT));
    let scale = viewer.history.scale();
    let up = |ms: f32| (ms / scale * HEIGHT).clamp(0.0, HEIGHT);
    let first = FRAMES - viewer.history.frames().len();
    for (i, frame) in viewer.history.frames().enumerate() {
        let x = bars.left() + (first + i) as f32;
        let mut sum = 0.0;
        for ((_, ms), color) in frame.stages().into_iter().zip(STAGES) {
            let (low, high) = (up(sum), up(sum + ms));
            let bar = Rect::from_min_max(
                pos2(x, bars.bottom() - high),
                pos2(x + 1.0, bars.bottom() - low),
            );
            painter.rect_filled(bar, 0.0, color);
            sum += ms;
        }
        let top = pos2(x, bars.bottom() - up(frame.total));
        painter.rect_filled(Rect::from_min_size(top, vec2(1.0, 1.5)), 0.0, TOTAL);
    }
    let text = |line: usize, color: Color32, left: String, right: String| {
        let y = bars.bottom() + 3.0 + LINE * line as f32;
        let font = FontId::proportional(12.0);
        let (a, b) = (pos2(bars.left(), y), pos2(bars.right(), y));
        painter.text(a, Align2::LEFT_TOP, left, font.clone(), color);
        painter.text(b, Align2::RIGHT_TOP, right, font, color);
    };
    let mean = viewer.history.mean();
    let rate = 1e3 / mean.total.max(1e-3);
    text(0, TOTAL, format!("frame ({rate:.0} per second)"), format!("{:.2} ms", mean.total));
    for (i, ((name, ms), color)) in mean.stages().into_iter().zip(STAGES).enumerate() {
        text(i + 1, color, name.into(), format!("{ms:.2} ms"));
    }
    let counts = viewer.counts;
    text(
        STAGES.len() + 1,
        TOTAL,
        format!("{} drawn, {} evaluated", counts.instances, viewer.evaluated),
        triangles(counts.triangles),
    );
    let font = FontId::proportional(12.0);
    for (line, what) in (STAGES.len() + 2..).zip([&viewer.drawn_by, &viewer.palettes]) {
        let mut job = LayoutJob::simple_singleline(what.clone(), font.clone(), TOTAL);
        job.wrap = TextWrapping::truncate_at_width(bars.width());
        let at = pos2(bars.left(), bars.bottom() + 3.0 + LINE * line as f32);
        painter.galley(at, painter.layout_job(job), TOTAL);
    }
}

/// A number of triangles: thousands, or the number itself below a thousand.
fn triangles(count: u64) -> String {
    match count {
        1 => "1 triangle".into(),
        0..1000 => format!("{count} triangles"),
        _ => format!("{} k triangles", count / 1000),
    }
}

/// Says that a file is being loaded, or would be if it were dropped.
pub fn under_way(painter: &Painter, picture: Rect, viewer: &Viewer, dragged: bool) {
    let text = match &viewer.loading {
        _ if dragged => {
            "Drop to open; motion without meshes, or any file with Shift, plays here".into()
        }
        Some(file) => format!("Loading {file} ..."),
        None => return,
    };
    let font = FontId::proportional(20.0);
    let text = painter.layout(text, font, TOTAL, picture.width() - 4.0 * MARGIN);
    let place = Align2::CENTER_CENTER.anchor_size(picture.center(), text.size());
    painter.rect_filled(place.expand(2.0 * MARGIN), 4.0, BACK);
    painter.galley(place.min, text, TOTAL);
}

/// Paints the current notice over the picture.
pub fn notice(painter: &Painter, picture: Rect, viewer: &Viewer) {
    if let Some(notice) = viewer.notice.text() {
        let font = FontId::proportional(14.0);
        // Left of the graph, in as many lines as it needs.
        let width = match viewer.graph {
            true => picture.width() - FRAMES as f32 - 6.0 * MARGIN,
            false => picture.width() - 4.0 * MARGIN,
        };
        let text = painter.layout(notice.into(), font, Color32::LIGHT_RED, width.max(120.0));
        let place = Rect::from_min_size(picture.min + vec2(2.0, 2.0) * MARGIN, text.size());
        painter.rect_filled(place.expand(MARGIN), 4.0, BACK);
        painter.galley(place.min, text, Color32::LIGHT_RED);
    }
}
