//! Dialogs over the window: keys, the import report, a file to open.

use super::super::text::one_line;
use super::browser::{Browse, Browser};
use super::keys;
use super::viewer::{Command, Dialog, Viewer};
use egui::{Align, Color32, Grid, Id, Key, Modal, RichText, ScrollArea, TextEdit, Ui};
use phalanx::import::Severity;

/// Largest number of report entries shown.
const ENTRIES: usize = 500;

/// Shows the dialog that is open, if one is.
pub fn show(ui: &Ui, viewer: &Viewer, commands: &mut Vec<Command>) {
    let Some(dialog) = &viewer.dialog else {
        return;
    };
    let room = ui.ctx().content_rect().size();
    let (width, height) = (room.x - 60.0, room.y - 110.0);
    let modal = Modal::new(Id::unique("dialog")).show(ui.ctx(), |ui| {
        ui.set_max_width(width.clamp(120.0, 560.0));
        match dialog {
            Dialog::Keys => keys(ui, height),
            Dialog::Report => report(ui, viewer, height),
            Dialog::Open(browser) => open(ui, browser, height, commands),
        }
        ui.add_space(4.0);
        if ui.button("Close (Escape)").clicked() {
            commands.push(Command::CloseDialog);
        }
    });
    // Escape is read with the other keys.
    if modal.backdrop_response.clicked() {
        commands.push(Command::CloseDialog);
    }
}

fn keys(ui: &mut Ui, height: f32) {
    ui.heading("Keys");
    let scroll = ScrollArea::vertical().max_height(height.max(60.0));
    let scroll = scroll.auto_shrink([false, true]);
    scroll.show(ui, |ui| {
        Grid::new("keys").striped(true).show(ui, |ui| {
            for (keys, does) in keys::shown().chain(keys::MOUSE) {
                ui.strong(keys);
                ui.label(does);
                ui.end_row();
            }
        });
    });
}

fn report(ui: &mut Ui, viewer: &Viewer, height: f32) {
    ui.heading("Import report");
    ui.label(&viewer.file);
    if viewer.baked {
        ui.weak("A .phx file holds no report: it was given when the file was baked.");
    }
    if viewer.report.is_empty() {
        if !viewer.baked {
            ui.weak("Nothing was repaired or dropped.");
        }
        return;
    }
    if viewer.report.len() > ENTRIES {
        let all = viewer.report.len();
        ui.weak(format!("The first {ENTRIES} of {all} entries; phalanx info --json lists all."));
    }
    let scroll = ScrollArea::vertical().max_height(height.max(60.0));
    scroll.show(ui, |ui| {
        for entry in viewer.report.iter().take(ENTRIES) {
            let color = match entry.severity {
                Severity::Note => Color32::GRAY,
                Severity::Repaired => Color32::YELLOW,
                Severity::Dropped => Color32::LIGHT_RED,
            };
            ui.horizontal_wrapped(|ui| {
                ui.colored_label(color, entry.severity.to_string());
                ui.label(one_line(&format!("{}: {}", entry.place, entry.message)));
            });
        }
    });
}

fn open(ui: &mut Ui, browser: &Browser, height: f32, commands: &mut Vec<Command>) {
    let mut browse = |command| commands.push(Command::Browse(command));
    // Taken before the field, which would move its cursor by them.
    ui.input_mut(|i| {
        let none = egui::Modifiers::NONE;
        let down = i.count_and_consume_key(none, Key::ArrowDown) as isize;
        let up = i.count_and_consume_key(none, Key::ArrowUp) as isize;
        if down != up {
            browse(Browse::Select(down - up));
        }
        if i.consume_key(egui::Modifiers::ALT, Key::ArrowUp) {
            browse(Browse::Up);
        }
        if i.consume_key(none, Key::Enter) {
            browse(Browse::Enter);
        }
    });
    ui.heading("Open a model");
    ui.label(one_line(&browser.folder.display().to_string()));
    let mut text = browser.text.clone();
    let field = TextEdit::singleline(&mut text)
        .hint_text("part of a name, or a path")
        .desired_width(f32::INFINITY);
    let field = ui.add(field);
    field.request_focus();
    if field.changed() {
        browse(Browse::Text(text));
    }
    if let Some(error) = &browser.error {
        ui.colored_label(Color32::LIGHT_RED, error);
    }
    let entries = browser.matching();
    let rows = entries.len();
    let scroll = ScrollArea::vertical().auto_shrink(false);
    let scroll = scroll.max_height((height - 70.0).clamp(60.0, 400.0));
    scroll.show(ui, |ui| {
        if rows == 0 {
            ui.weak("no folder or model (.glb, .gltf, .vrm, .vrma, .bvh, .phx) of that name");
        }
        for (index, entry) in entries.into_iter().enumerate() {
            let name = match entry.is_folder {
                true => RichText::new(format!("{}/", entry.name)).strong(),
                false => RichText::new(&entry.name),
            };
            let selected = index == browser.selected;
            let label = egui::Button::selectable(selected, name).truncate();
            let label = ui.add(label);
            if label.clicked() {
                browse(Browse::Click(index));
            }
            if selected && !ui.is_rect_visible(label.rect) {
                label.scroll_to_me(Some(Align::Center));
            }
        }
    });
}

/// The texts among painted shapes.
#[cfg(test)]
pub fn texts(shapes: &[egui::epaint::ClippedShape]) -> Vec<String> {
    fn add(shape: &egui::Shape, out: &mut Vec<String>) {
        match shape {
            egui::Shape::Text(text) => out.push(text.galley.text().to_owned()),
            egui::Shape::Vec(shapes) => shapes.iter().for_each(|s| add(s, out)),
            _ => {}
        }
    }
    let mut out = Vec::new();
    shapes.iter().for_each(|s| add(&s.shape, &mut out));
    out
}
