//! The panels around the picture: they show a `Viewer` and collect the user's commands.

use super::screen_joints::ScreenJoints;
use super::tiers::ColorBy;
use super::viewer::{Command, LONGEST_FADE, MOST, Viewer};
use super::{dialogs, graph, handles, keys, pad, skeletons, tier_legend, time_line};
use egui::{
    Checkbox, Frame, Key, Panel, PointerButton, Rect, Response, ScrollArea, Sense, Slider,
    TextEdit, Ui,
};
use glam::Vec2;

/// Scroll distance per zoom step, in points.
const WHEEL: f32 = 50.0;

/// Width of the clip panel, in points.
const PANEL: f32 = 212.0;

/// Shows everything. Returns the area left for the picture, in points, and adds the user's commands to
/// `commands`. `shown` are in pixels of the picture.
pub fn show(
    ui: &mut Ui,
    viewer: &Viewer,
    shown: &ScreenJoints,
    commands: &mut Vec<Command>,
) -> Rect {
    let panel = Panel::left("clips").exact_size(PANEL).resizable(false);
    let typing = panel.show(ui, |ui| {
        settings(ui, viewer, commands);
        pad::show(ui, viewer, commands);
        ui.separator();
        let typing = viewer.list.is_long() && filter(ui, viewer, commands);
        clips(ui, viewer, commands);
        typing
    });
    Panel::bottom("time").show(ui, |ui| time_line::show(ui, viewer, commands));
    let central = egui::CentralPanel::default().frame(Frame::NONE);
    let picture = central.show(ui, |ui| {
        let picture = ui.allocate_response(ui.available_size(), Sense::click_and_drag());
        let painter = ui.painter_at(picture.rect);
        skeletons::show(ui, &picture, viewer, shown);
        handles::show(ui, &picture, viewer, &shown.handles, commands);
        if viewer.graph {
            graph::show(&painter, picture.rect, viewer);
        }
        tier_legend::show(ui, picture.rect, viewer, commands);
        graph::notice(&painter, picture.rect, viewer);
        let dragged = ui.input(|i| !i.raw.hovered_files.is_empty());
        graph::under_way(&painter, picture.rect, viewer, dragged);
        camera(ui, &picture, commands);
        picture.rect
    });
    keys::read(ui, viewer, typing.inner, commands);
    dialogs::show(ui, viewer, commands);
    picture.inner
}

fn settings(ui: &mut Ui, viewer: &Viewer, commands: &mut Vec<Command>) {
    ui.add_space(4.0);
    ui.strong(&viewer.file);
    ui.horizontal(|ui| {
        let report = match viewer.report.len() {
            0 => "Report (I)".to_owned(),
            n => format!("Report: {n} (I)"),
        };
        let buttons = [
            ("Open (O)", Command::Browser),
            (report.as_str(), Command::Report),
            ("?", Command::Keys),
        ];
        for (text, command) in buttons {
            if ui.button(text).clicked() {
                commands.push(command);
            }
        }
    });
    let mut count = viewer.crowd.count();
    ui.label("Characters");
    let slider = Slider::new(&mut count, 1..=MOST).logarithmic(true);
    if ui.add(slider).changed() {
        commands.push(Command::Count(count));
    }
    ui.label("Crossfade, seconds");
    let mut fade = viewer.fade;
    if ui.add(Slider::new(&mut fade, 0.0..=LONGEST_FADE)).changed() {
        commands.push(Command::Fade(fade));
    }
    ui.horizontal(|ui| {
        let mut skeleton = viewer.skeleton;
        if ui.checkbox(&mut skeleton, "Skeletons (S)").changed() {
            commands.push(Command::Skeleton(skeleton));
        }
        let mut handles = viewer.handles;
        if ui.checkbox(&mut handles, "Handles (H)").changed() {
            commands.push(Command::Handles(handles));
        }
        let springs = viewer.crowd.swings();
        if let Some(mut springs) = springs
            && ui.checkbox(&mut springs, "Springs (F)").changed()
        {
            commands.push(Command::Springs(springs));
        }
    });
    ui.horizontal(|ui| {
        let mut wireframe = viewer.wireframe;
        if ui.checkbox(&mut wireframe, "Wireframe (W)").changed() {
            commands.push(Command::Wireframe(wireframe));
        }
        let mut tiers = viewer.tiers.color_by.is_some();
        if ui.checkbox(&mut tiers, "Tiers (T)").changed() {
            commands.push(Command::Tiers(tiers.then_some(ColorBy::Tier)));
        }
    });
    let mut graph = viewer.graph;
    if ui.checkbox(&mut graph, "Frame times (G)").changed() {
        commands.push(Command::Graph(graph));
    }
    let mut skip = viewer.skip_unseen;
    // Tiers evaluate nothing that is out of the picture.
    let unseen = Checkbox::new(&mut skip, "Evaluate only what is visible (E)");
    let unseen = ui.add_enabled(viewer.tiers.color_by.is_none(), unseen);
    if unseen.changed() {
        commands.push(Command::SkipUnseen(skip));
    }
    if ui.button("Reset the camera (R)").clicked() {
        commands.push(Command::ResetCamera);
    }
}

/// The filter over a long list; returns whether it had the keyboard in this pass.
fn filter(ui: &mut Ui, viewer: &Viewer, commands: &mut Vec<Command>) -> bool {
    let mut text = viewer.list.filter.clone();
    let field =
        TextEdit::singleline(&mut text).hint_text("filter clips (/)").desired_width(f32::INFINITY);
    let field = ui.add(field);
    if field.changed() {
        commands.push(Command::Filter(text));
    }
    if viewer.focus_filter {
        field.request_focus();
        commands.push(Command::FocusFilter(false));
    }
    if field.lost_focus() {
        // Enter plays the first clip that is listed, Escape lists all.
        if ui.input(|i| i.key_pressed(Key::Enter)) {
            commands.extend(viewer.list.listed().next().map(|e| Command::Play(e.0)));
        } else if ui.input(|i| i.key_pressed(Key::Escape)) {
            commands.push(Command::Filter(String::new()));
        }
    }
    field.has_focus() || field.lost_focus()
}

/// The list of clips; a click fades to the clip.
fn clips(ui: &mut Ui, viewer: &Viewer, commands: &mut Vec<Command>) {
    let playing = viewer.crowd.playing();
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        let mut listed = viewer.list.listed().peekable();
        if listed.peek().is_none() {
            ui.weak("no clip of that name");
        }
        for (entry, name) in listed {
            let label = ui.selectable_label(*entry == playing, name);
            if label.clicked() {
                commands.push(Command::Play(*entry));
            }
            // Keys can select entries that are scrolled out of view.
            if *entry == playing && !ui.is_rect_visible(label.rect) {
                label.scroll_to_me(None);
            }
        }
    });
}

fn camera(ui: &Ui, picture: &Response, commands: &mut Vec<Command>) {
    let pixels = ui.ctx().pixels_per_point();
    let drag = picture.drag_delta();
    if drag != egui::Vec2::ZERO {
        let drag = Vec2::new(drag.x, drag.y);
        let shift = ui.input(|i| i.modifiers.shift);
        commands.push(if picture.dragged_by(PointerButton::Primary) && !shift {
            Command::Turn(drag)
        } else {
            Command::Shift(drag * pixels)
        });
    }
    if picture.hovered() {
        let scroll = ui.input(|i| i.smooth_scroll_delta.y + 100.0 * i.zoom_delta().ln());
        if scroll != 0.0 {
            commands.push(Command::Zoom(scroll / WHEEL));
        }
    }
    if picture.double_clicked() {
        commands.push(Command::ResetCamera);
    }
}

#[cfg(test)]
#[path = "interface_tests.rs"]
mod tests;
