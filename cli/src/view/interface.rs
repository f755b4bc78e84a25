//! The panels around the picture: they show a `Viewer` and collect the user's actions.

use super::graph;
use super::keys;
use super::viewer::{Action, FASTEST, LONGEST_FADE, MOST, Viewer};
use super::viewer_crowd::Playing;
use egui::{Color32, Frame, Panel, PointerButton, Rect, Response, ScrollArea, Sense, Slider, Ui};
use glam::Vec2;

/// Colour of joints and the lines between them, unlike any model or ground.
pub const BONE: Color32 = Color32::from_rgb(255, 0, 220);

/// Scroll distance per zoom step, in points.
const WHEEL: f32 = 50.0;

/// Width of the clip panel, in points.
const PANEL: f32 = 212.0;

/// Shows everything. Returns the area left for the picture, in points, and adds the user's actions to
/// `actions`. `bones` are lines in pixels of the picture.
pub fn show(ui: &mut Ui, viewer: &Viewer, bones: &[[Vec2; 2]], actions: &mut Vec<Action>) -> Rect {
    let panel = Panel::left("clips").exact_size(PANEL).resizable(false);
    panel.show(ui, |ui| {
        settings(ui, viewer, actions);
        ui.separator();
        clips(ui, viewer, actions);
    });
    Panel::bottom("time").show(ui, |ui| time(ui, viewer, actions));
    let central = egui::CentralPanel::default().frame(Frame::NONE);
    let picture = central.show(ui, |ui| {
        let picture = ui.allocate_response(ui.available_size(), Sense::click_and_drag());
        let scale = 1.0 / ui.ctx().pixels_per_point();
        let painter = ui.painter_at(picture.rect);
        for line in bones {
            let ends = line.map(|p| picture.rect.min + egui::vec2(p.x, p.y) * scale);
            painter.line_segment(ends, (1.5, BONE));
            painter.circle_filled(ends[0], 2.0, BONE);
        }
        if viewer.graph {
            graph::show(&painter, picture.rect, viewer);
        }
        graph::notice(&painter, picture.rect, viewer);
        camera(ui, &picture, actions);
        picture.rect
    });
    keys::read(ui, viewer, actions);
    picture.inner
}

fn settings(ui: &mut Ui, viewer: &Viewer, actions: &mut Vec<Action>) {
    ui.add_space(4.0);
    ui.strong(&viewer.file);
    let mut count = viewer.crowd.count();
    ui.label("Characters");
    let slider = Slider::new(&mut count, 1..=MOST).logarithmic(true);
    if ui.add(slider).changed() {
        actions.push(Action::Count(count));
    }
    ui.label("Crossfade, seconds");
    let mut fade = viewer.fade;
    if ui.add(Slider::new(&mut fade, 0.0..=LONGEST_FADE)).changed() {
        actions.push(Action::Fade(fade));
    }
    let mut skeleton = viewer.skeleton;
    if ui.checkbox(&mut skeleton, "Skeletons (S)").changed() {
        actions.push(Action::Skeleton(skeleton));
    }
    let mut graph = viewer.graph;
    if ui.checkbox(&mut graph, "Frame times (G)").changed() {
        actions.push(Action::Graph(graph));
    }
    let mut skip = viewer.skip_unseen;
    let unseen = ui.checkbox(&mut skip, "Evaluate only what is visible (E)");
    if unseen.changed() {
        actions.push(Action::SkipUnseen(skip));
    }
    if ui.button("Reset the camera (R)").clicked() {
        actions.push(Action::ResetCamera);
    }
}

/// The list of clips; a click fades to the clip.
fn clips(ui: &mut Ui, viewer: &Viewer, actions: &mut Vec<Action>) {
    let playing = viewer.crowd.playing();
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        for (entry, name) in &viewer.list {
            let label = ui.selectable_label(*entry == playing, name);
            if label.clicked() {
                actions.push(Action::Play(*entry));
            }
            // Keys can select entries that are scrolled out of view.
            if *entry == playing && !ui.is_rect_visible(label.rect) {
                label.scroll_to_me(None);
            }
        }
    });
}

fn time(ui: &mut Ui, viewer: &Viewer, actions: &mut Vec<Action>) {
    ui.add_space(3.0);
    ui.horizontal(|ui| {
        let text = if viewer.paused { "Play" } else { "Pause" };
        if ui
            .add_sized([54.0, 20.0], egui::Button::new(text))
            .clicked()
        {
            actions.push(Action::Pause(!viewer.paused));
        }
        let duration = viewer.crowd.duration();
        let mut time = viewer.crowd.time();
        ui.spacing_mut().slider_width = (ui.available_width() - 330.0).max(80.0);
        let scrub = Slider::new(&mut time, 0.0..=duration.max(1e-3)).show_value(false);
        let still = viewer.crowd.playing() == Playing::Rest;
        if ui.add_enabled(!still, scrub).changed() {
            actions.push(Action::Time(time));
        }
        ui.monospace(format!("{time:6.3} / {duration:.3} s"));
        ui.spacing_mut().slider_width = 90.0;
        let mut speed = viewer.speed;
        let slider = Slider::new(&mut speed, -FASTEST..=FASTEST).step_by(0.05);
        if ui.add(slider.prefix("x ")).changed() {
            actions.push(Action::Speed(speed));
        }
    });
    ui.add_space(2.0);
}

fn camera(ui: &Ui, picture: &Response, actions: &mut Vec<Action>) {
    let pixels = ui.ctx().pixels_per_point();
    let drag = picture.drag_delta();
    if drag != egui::Vec2::ZERO {
        let drag = Vec2::new(drag.x, drag.y);
        let shift = ui.input(|i| i.modifiers.shift);
        actions.push(if picture.dragged_by(PointerButton::Primary) && !shift {
            Action::Turn(drag)
        } else {
            Action::Shift(drag * pixels)
        });
    }
    if picture.hovered() {
        let scroll = ui.input(|i| i.smooth_scroll_delta.y + 100.0 * i.zoom_delta().ln());
        if scroll != 0.0 {
            actions.push(Action::Zoom(scroll / WHEEL));
        }
    }
    if picture.double_clicked() {
        actions.push(Action::ResetCamera);
    }
}
