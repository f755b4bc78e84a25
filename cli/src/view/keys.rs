//! Keyboard controls.

use super::viewer::{Action, Viewer};
use egui::{Key, Ui};

/// Time step of the arrow keys, in seconds, and speed step of comma and period.
const TIME_STEP: f64 = 1.0 / 30.0;
const SPEED_STEP: f32 = 0.25;

/// Description of the keys, for the help.
pub const HELP: &str = "\
Keys: Up and Down select a clip, Left and Right step through its time, Space pauses, comma and
period change the speed, plus and minus double and halve the crowd, S shows skeletons, G shows
frame times, E evaluates all characters or only the visible ones, R resets the camera, Escape
closes the window.
Mouse: drag to rotate, drag with the right button or with Shift to pan, wheel to zoom.";

/// Adds the actions of this frame's key presses, unless a text field has the keyboard.
pub fn read(ui: &Ui, viewer: &Viewer, actions: &mut Vec<Action>) {
    if ui.ctx().egui_wants_keyboard_input() {
        return;
    }
    let pressed = ui.input(|i| {
        let key = |event: &egui::Event| match event {
            egui::Event::Key {
                key, pressed: true, ..
            } => Some(*key),
            _ => None,
        };
        i.events.iter().filter_map(key).collect::<Vec<_>>()
    });
    actions.extend(pressed.into_iter().filter_map(|key| action(key, viewer)));
}

fn action(key: Key, viewer: &Viewer) -> Option<Action> {
    let count = viewer.crowd.count();
    let time = |by: f64| {
        let duration = viewer.crowd.duration();
        let time = viewer.crowd.time() + by;
        (duration > 0.0).then(|| Action::Time(time.rem_euclid(duration)))
    };
    Some(match key {
        Key::ArrowUp => Action::Step(-1),
        Key::ArrowDown => Action::Step(1),
        Key::ArrowLeft => time(-TIME_STEP)?,
        Key::ArrowRight => time(TIME_STEP)?,
        Key::Space => Action::Pause(!viewer.paused),
        Key::Comma => Action::Speed(viewer.speed - SPEED_STEP),
        Key::Period => Action::Speed(viewer.speed + SPEED_STEP),
        Key::Plus | Key::Equals => Action::Count(count * 2),
        Key::Minus => Action::Count(count / 2),
        Key::S => Action::Skeleton(!viewer.skeleton),
        Key::G => Action::Graph(!viewer.graph),
        Key::E => Action::SkipUnseen(!viewer.skip_unseen),
        Key::R => Action::ResetCamera,
        Key::Escape => Action::Quit,
        _ => return None,
    })
}
