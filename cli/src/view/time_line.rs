//! The time line: time and its markers, speed.

use super::super::text::one_line;
use super::viewer::{Command, FASTEST, Viewer};
use super::viewer_crowd::Playing;
use egui::style::HandleShape;
use egui::{Color32, Rangef, Rect, Response, Slider, Tooltip, Ui, emath};
use phalanx::clip::Marker;

/// Colour of markers, and of markers at the pointer.
pub const MARKER: Color32 = Color32::from_rgb(255, 176, 60);
const AT_POINTER: Color32 = Color32::from_rgb(255, 236, 190);

/// Distance from the pointer at which a marker is named and chosen, in points.
const REACH: f32 = 4.0;

/// Largest number of markers named at once; further ones are only counted.
const NAMED: usize = 8;

/// Shows time and speed.
pub fn show(ui: &mut Ui, viewer: &Viewer, commands: &mut Vec<Command>) {
    ui.add_space(3.0);
    ui.horizontal(|ui| {
        let text = if viewer.paused { "Play" } else { "Pause" };
        if ui.add_sized([54.0, 20.0], egui::Button::new(text)).clicked() {
            commands.push(Command::Pause(!viewer.paused));
        }
        let duration = viewer.crowd.duration();
        let mut time = viewer.crowd.time();
        ui.spacing_mut().slider_width = (ui.available_width() - 330.0).max(80.0);
        let scrub = Slider::new(&mut time, 0.0..=duration.max(1e-3)).show_value(false);
        let still = viewer.crowd.playing() == Playing::Rest;
        let slider = ui.add_enabled(!still, scrub);
        let chosen = markers(ui, &slider, viewer.crowd.markers(), duration);
        // A click on a marker means its time; a drag passes over it.
        if let Some(marker) = chosen.filter(|_| slider.clicked()) {
            commands.push(Command::Time(marker));
        } else if slider.changed() {
            commands.push(Command::Time(time));
        }
        ui.monospace(format!("{time:6.3} / {duration:.3} s"));
        ui.spacing_mut().slider_width = 90.0;
        let mut speed = viewer.speed;
        let slider = Slider::new(&mut speed, -FASTEST..=FASTEST).step_by(0.05);
        if ui.add(slider.prefix("x ")).changed() {
            commands.push(Command::Speed(speed));
        }
    });
    ui.add_space(2.0);
}

/// Paints markers over a slider and names the markers at the pointer; returns the time of the nearest.
fn markers(ui: &Ui, slider: &Response, markers: &[Marker], duration: f64) -> Option<f64> {
    if markers.is_empty() || duration <= 0.0 {
        return None;
    }
    let [left, right] = rail(ui, slider.rect);
    let x = |m: &Marker| emath::remap(f64::from(m.time), 0.0..=duration, left..=right) as f32;
    let pointer = slider.hover_pos().map(|p| p.x);
    let near: Vec<&Marker> = match pointer {
        Some(at) => {
            let near = markers.iter().filter(|m| (x(m) - at).abs() <= REACH);
            near.collect()
        }
        None => Vec::new(),
    };
    let mut last = f32::NEG_INFINITY;
    for marker in markers {
        let (x, named) = (x(marker), near.iter().any(|n| n.time == marker.time));
        // Those within a pixel of each other look like one.
        if x - last < 1.0 && !named {
            continue;
        }
        last = x;
        let color = if named { AT_POINTER } else { MARKER };
        let line = Rangef::new(slider.rect.top() - 2.0, slider.rect.top() + 5.0);
        ui.painter().vline(x, line, (2.0, color));
    }
    let (at, nearest) = (pointer?, near.first()?);
    let nearest = near.iter().fold(*nearest, |nearest, marker| {
        let far = |marker| (x(marker) - at).abs();
        if far(marker) < far(nearest) { marker } else { nearest }
    });
    let text = names(&near);
    Tooltip::for_widget(slider).at_pointer().show(|ui| {
        ui.label(text);
    });
    Some(f64::from(nearest.time))
}

/// Names and times of markers, one a line.
fn names(markers: &[&Marker]) -> String {
    let line = |m: &&Marker| format!("{}  {:.3} s", one_line(&m.name), m.time);
    let mut lines: Vec<String> = markers.iter().take(NAMED).map(line).collect();
    if markers.len() > NAMED {
        lines.push(format!("and {} more", markers.len() - NAMED));
    }
    lines.join("\n")
}

/// Range of a slider's handle, in points: the middles of a handle at either end.
fn rail(ui: &Ui, rect: Rect) -> [f64; 2] {
    let half = match ui.visuals().handle_shape {
        HandleShape::Circle => 1.0,
        HandleShape::Rect { aspect_ratio } => aspect_ratio,
    } * rect.height()
        / 2.5;
    [rect.left() + half, rect.right() - half].map(f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::{Context, Event, PointerButton, Pos2, RawInput, pos2, vec2};

    const DURATION: f64 = 2.0;

    /// Passes of a time line with the pointer at `x`; the last one's time of a marker, its text, and the value
    /// that the slider has after a click.
    fn pass(times: &[f32], x: f32) -> (Option<f64>, String, f64) {
        let all: Vec<Marker> = times
            .iter()
            .enumerate()
            .map(|(i, &time)| Marker::new(format!("step {i}"), time))
            .collect();
        let context = Context::default();
        let screen = Rect::from_min_size(Pos2::ZERO, vec2(400.0, 200.0));
        let (mut chosen, mut text, mut value) = (None, String::new(), 0.0);
        let at = pos2(x, 100.0);
        let button = |pressed| Event::PointerButton {
            pos: at,
            button: PointerButton::Primary,
            pressed,
            modifiers: Default::default(),
        };
        for events in
            [vec![], vec![Event::PointerMoved(at)], vec![button(true)], vec![button(false)], vec![]]
        {
            let input = RawInput { screen_rect: Some(screen), events, ..RawInput::default() };
            let output = context.run_ui(input, |ui| {
                ui.spacing_mut().slider_width = 300.0;
                let slider = Slider::new(&mut value, 0.0..=DURATION).show_value(false);
                let place = Rect::from_min_size(pos2(50.0, 90.0), vec2(300.0, 20.0));
                let slider = ui.put(place, slider);
                chosen = markers(ui, &slider, &all, DURATION);
            });
            text = super::super::dialogs::texts(&output.shapes).join("\n");
            output.drop_without_applying_deltas();
        }
        (chosen, text, value)
    }

    #[test]
    fn markers_are_named_and_chosen_where_the_handle_is() {
        let (chosen, text, value) = pass(&[0.5, 1.5], 200.0);
        assert_eq!((chosen, text.as_str()), (None, ""));
        // Half the time is half the way.
        assert!((value - 1.0).abs() < 0.02, "{value}");
        let (chosen, text, _) = pass(&[0.5, 1.0, 1.0], 201.5);
        assert_eq!(chosen, Some(1.0));
        assert_eq!(text, "step 1  1.000 s\nstep 2  1.000 s");
        // A click on a marker selects its time.
        let (_, _, value) = pass(&[1.9], 332.0);
        let (chosen, _, _) = pass(&[value as f32], 332.0);
        assert_eq!(chosen, Some(f64::from(value as f32)));
        assert!((value - 1.9).abs() < 0.03, "{value}");
        assert_eq!(pass(&[], 200.0).0, None);
    }

    #[test]
    fn many_markers_at_one_place_are_counted() {
        let (_, text, _) = pass(&[1.0; 11], 200.0);
        assert_eq!(text.lines().count(), NAMED + 1);
        assert!(text.ends_with("and 3 more"), "{text}");
    }
}
