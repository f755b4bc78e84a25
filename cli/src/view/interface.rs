//! The panels around the picture: they show a `Viewer` and collect the user's actions.

use super::bones::Bones;
use super::viewer::{Action, LONGEST_FADE, MOST, Viewer};
use super::{dialogs, graph, keys, skeletons, time_line};
use egui::{
    Frame, Key, Panel, PointerButton, Rect, Response, ScrollArea, Sense, Slider, TextEdit, Ui,
};
use glam::Vec2;

/// Scroll distance per zoom step, in points.
const WHEEL: f32 = 50.0;

/// Width of the clip panel, in points.
const PANEL: f32 = 212.0;

/// Shows everything. Returns the area left for the picture, in points, and adds the user's actions to
/// `actions`. `bones` are in pixels of the picture.
pub fn show(ui: &mut Ui, viewer: &Viewer, bones: &Bones, actions: &mut Vec<Action>) -> Rect {
    let panel = Panel::left("clips").exact_size(PANEL).resizable(false);
    let typing = panel.show(ui, |ui| {
        settings(ui, viewer, actions);
        ui.separator();
        let typing = viewer.list.is_long() && filter(ui, viewer, actions);
        clips(ui, viewer, actions);
        typing
    });
    Panel::bottom("time").show(ui, |ui| time_line::show(ui, viewer, actions));
    let central = egui::CentralPanel::default().frame(Frame::NONE);
    let picture = central.show(ui, |ui| {
        let picture = ui.allocate_response(ui.available_size(), Sense::click_and_drag());
        let painter = ui.painter_at(picture.rect);
        skeletons::show(ui, &picture, viewer, bones);
        if viewer.graph {
            graph::show(&painter, picture.rect, viewer);
        }
        graph::notice(&painter, picture.rect, viewer);
        let dragged = ui.input(|i| !i.raw.hovered_files.is_empty());
        graph::under_way(&painter, picture.rect, viewer, dragged);
        camera(ui, &picture, actions);
        picture.rect
    });
    keys::read(ui, viewer, typing.inner, actions);
    dialogs::show(ui, viewer, actions);
    picture.inner
}

fn settings(ui: &mut Ui, viewer: &Viewer, actions: &mut Vec<Action>) {
    ui.add_space(4.0);
    ui.strong(&viewer.file);
    ui.horizontal(|ui| {
        let report = match viewer.report.len() {
            0 => "Report (I)".to_owned(),
            n => format!("Report: {n} (I)"),
        };
        let buttons = [
            ("Open (O)", Action::Browser),
            (report.as_str(), Action::Report),
            ("?", Action::Keys),
        ];
        for (text, action) in buttons {
            if ui.button(text).clicked() {
                actions.push(action);
            }
        }
    });
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
    let mut wireframe = viewer.wireframe;
    if ui.checkbox(&mut wireframe, "Wireframe (W)").changed() {
        actions.push(Action::Wireframe(wireframe));
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

/// The filter over a long list; returns whether it had the keyboard in this pass.
fn filter(ui: &mut Ui, viewer: &Viewer, actions: &mut Vec<Action>) -> bool {
    let mut text = viewer.list.filter.clone();
    let field = TextEdit::singleline(&mut text)
        .hint_text("filter clips (/)")
        .desired_width(f32::INFINITY);
    let field = ui.add(field);
    if field.changed() {
        actions.push(Action::Filter(text));
    }
    if viewer.focus_filter {
        field.request_focus();
        actions.push(Action::FocusFilter(false));
    }
    if field.lost_focus() {
        // Enter plays the first clip that is listed, Escape lists all.
        if ui.input(|i| i.key_pressed(Key::Enter)) {
            actions.extend(viewer.list.listed().next().map(|e| Action::Play(e.0)));
        } else if ui.input(|i| i.key_pressed(Key::Escape)) {
            actions.push(Action::Filter(String::new()));
        }
    }
    field.has_focus() || field.lost_focus()
}

/// The list of clips; a click fades to the clip.
fn clips(ui: &mut Ui, viewer: &Viewer, actions: &mut Vec<Action>) {
    let playing = viewer.crowd.playing();
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        let mut listed = viewer.list.listed().peekable();
        if listed.peek().is_none() {
            ui.weak("no clip of that name");
        }
        for (entry, name) in listed {
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

#[cfg(test)]
#[path = "interface_tests.rs"]
mod tests;
