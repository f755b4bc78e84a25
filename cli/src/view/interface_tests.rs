//! The interface in a window without a device.

use super::super::super::frame_renderer::PaletteArg;
use super::super::dialogs::texts;
use super::super::opened::Opened;
use super::super::viewer::Dialog;
use super::super::viewer_crowd::Playing;
use super::super::{input, keys};
use super::*;
use egui::{Context, Event, Modifiers, PointerButton, RawInput, pos2, vec2};
use phalanx::import::{ReportEntry, Severity};
use phalanx_testkit::trials;
use std::path::Path;

/// A window without a device.
struct Desk {
    context: Context,
    viewer: Viewer,
    shown: ScreenJoints,
}

impl Desk {
    fn new() -> Self {
        let (opened, _) = Opened::load(None, 1, PaletteArg(None), Default::default()).unwrap();
        Self {
            context: Context::default(),
            viewer: Viewer::new(opened, 0.3),
            shown: ScreenJoints::default(),
        }
    }

    /// Passes over some events and one more; the texts of the last.
    fn frame(&mut self, events: &[Event]) -> Vec<String> {
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(pos2(0.0, 0.0), vec2(1280.0, 900.0))),
            events: events.to_vec(),
            ..RawInput::default()
        };
        let mut inputs = input::parts(input.clone());
        let none = RawInput {
            events: Vec::new(),
            ..input
        };
        // The size of a dialog is found within some passes.
        inputs.extend(vec![none; 12]);
        let mut shown = Vec::new();
        for input in inputs {
            let mut commands = Vec::new();
            let output = self.context.run_ui(input, |ui| {
                commands.clear();
                show(ui, &self.viewer, &self.shown, &mut commands);
            });
            shown = texts(&output.shapes);
            output.drop_without_applying_deltas();
            for command in commands {
                self.viewer.apply(command).unwrap();
            }
        }
        shown
    }

    /// Types a key as keyboards do: a press, the text if it has one, a release.
    fn press(&mut self, key: Key, text: &str) -> Vec<String> {
        let event = |pressed| Event::Key {
            key,
            physical_key: None,
            pressed,
            repeat: false,
            modifiers: Modifiers::NONE,
        };
        let text = (!text.is_empty()).then(|| Event::Text(text.into()));
        let events: Vec<Event> = [Some(event(true)), text, Some(event(false))]
            .into_iter()
            .flatten()
            .collect();
        self.frame(&events)
    }

    fn has(&mut self, text: &str) -> bool {
        self.frame(&[]).iter().any(|t| t.contains(text))
    }
}

#[test]
fn a_long_list_is_filtered_by_typing() {
    let mut desk = Desk::new();
    assert!(!desk.has("filter clips"), "a short list has a filter");
    let Some(robot) = trials::model("robot.glb") else {
        return;
    };
    let (opened, _) = Opened::load(Some(&robot), 1, PaletteArg(None), Default::default()).unwrap();
    desk.viewer.show(opened).unwrap();
    assert!(desk.has("filter clips") && desk.has("Robot_Jump"));
    // The slash asks for the field and is not typed into it.
    desk.press(Key::Slash, "/");
    assert_eq!(desk.viewer.list.filter, "");
    for (key, text) in [(Key::J, "j"), (Key::U, "u"), (Key::M, "m")] {
        desk.press(key, text);
    }
    assert_eq!(desk.viewer.list.filter, "jum");
    assert!(desk.has("Robot_Jump") && !desk.has("Robot_Idle"));
    desk.press(Key::Enter, "");
    assert_eq!(desk.viewer.playing(), "Robot_Jump");
    // Escape in the field leaves it, not the window; letters are keys again.
    desk.press(Key::Slash, "/");
    desk.press(Key::Escape, "");
    assert!(!desk.viewer.quit && desk.has("Robot_Idle"));
    desk.press(Key::W, "w");
    assert!(desk.viewer.wireframe && desk.viewer.list.filter.is_empty());
}

#[test]
fn the_overlay_lists_every_key() {
    let mut desk = Desk::new();
    assert!(!desk.has("resets the camera"));
    let shown = desk.press(Key::Questionmark, "?");
    for (keys, does) in keys::shown().chain(keys::MOUSE) {
        assert!(shown.iter().any(|t| t == keys), "{keys}");
        assert!(shown.iter().any(|t| t == does), "{does}");
    }
    desk.press(Key::Escape, "");
    assert!(!desk.has("resets the camera") && !desk.viewer.quit);
}

#[test]
fn the_report_is_shown_and_its_limit_stated() {
    let mut desk = Desk::new();
    desk.press(Key::I, "i");
    assert!(desk.has("Nothing was repaired or dropped"));
    let message = "a zero\u{202e} quaternion";
    let entry = ReportEntry::new(Severity::Repaired, "node 3", message);
    desk.viewer.report = vec![entry; 502];
    let shown = desk.frame(&[]);
    let row = |text: &str| shown.iter().any(|t| t == text);
    assert!(row("repaired") && row("Report: 502 (I)"));
    assert!(row("node 3: a zero\\u{202e} quaternion"), "{shown:?}");
    assert!(desk.has("The first 500 of 502 entries"));
    desk.viewer.report.truncate(500);
    assert!(!desk.has("The first 500"));
    desk.viewer.baked = true;
    assert!(desk.has("A .phx file holds no report"));
}

#[test]
fn files_are_chosen_by_keys_and_by_the_mouse() {
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets");
    let mut desk = Desk::new();
    let opened = Opened::load(
        Some(&assets.join("mannequin.glb")),
        1,
        PaletteArg(None),
        Default::default(),
    );
    desk.viewer.show(opened.unwrap().0).unwrap();
    desk.press(Key::O, "o");
    for (key, text) in [(Key::L, "l"), (Key::O, "o"), (Key::D, "d")] {
        desk.press(key, text);
    }
    assert!(desk.has("mannequin_lod2.glb") && !desk.has("mannequin.glb  "));
    // Letters are typed; they are not keys of the window. Arrows choose.
    desk.press(Key::ArrowDown, "");
    desk.press(Key::Enter, "");
    let chosen = desk.viewer.open.take().unwrap();
    assert!(chosen.ends_with("mannequin_lod2.glb"), "{chosen:?}");
    assert_eq!(desk.viewer.dialog, None);
    // A name that does not exist is reported; Escape closes.
    desk.press(Key::O, "o");
    desk.frame(&[Event::Text("nothing".into())]);
    desk.press(Key::Enter, "");
    assert!(desk.has("does not exist"));
    assert!(matches!(desk.viewer.dialog, Some(Dialog::Open(_))));
    desk.press(Key::Escape, "");
    assert!(desk.viewer.dialog.is_none() && desk.viewer.open.is_none() && !desk.viewer.quit);
    // The button.
    let at = pos2(30.0, 40.0);
    let button = |pressed| Event::PointerButton {
        pos: at,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    desk.frame(&[Event::PointerMoved(at)]);
    desk.frame(&[button(true), button(false)]);
    assert!(matches!(desk.viewer.dialog, Some(Dialog::Open(_))));
}

#[test]
fn joints_are_named_at_the_pointer_and_limits_are_shown() {
    let mut desk = Desk::new();
    let joint = desk.viewer.joints.len() - 1;
    let name = desk.viewer.joints[joint].clone();
    desk.shown = ScreenJoints {
        joints: vec![super::super::screen_joints::ScreenJoint {
            joint,
            at: Some(Vec2::new(300.0, 200.0)),
            line: None,
        }],
        shown: 48,
        visible: 50,
    };
    desk.frame(&[Event::PointerMoved(pos2(PANEL + 330.0, 205.0))]);
    assert!(!desk.has(&name));
    assert!(desk.has("nearest 48 of 50 characters"));
    for x in [PANEL + 298.0, PANEL + 304.0] {
        desk.frame(&[Event::PointerMoved(pos2(x, 205.0))]);
        assert!(desk.has(&name), "{name}");
    }
    desk.shown.visible = 48;
    assert!(!desk.has("nearest 48"));
}

#[test]
fn small_counts_are_plain_and_dropping_is_announced() {
    let mut desk = Desk::new();
    for (triangles, text) in [
        (0, "0 triangles"),
        (1, "1 triangle"),
        (812, "812 triangles"),
    ] {
        desk.viewer.counts.triangles = triangles;
        assert!(desk.frame(&[]).iter().any(|t| t == text), "{text}");
    }
    desk.viewer.counts.triangles = 1_000;
    assert!(desk.has("1 k triangles"));
    desk.viewer.loading = Some("fox.glb".into());
    assert!(desk.has("Loading fox.glb"));
    assert_eq!(desk.viewer.crowd.playing(), Playing::Clip(0));
}
