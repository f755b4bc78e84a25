//! Keyboard controls: one table for what keys do, the help, the overlay and the documentation.

use super::tiers::ColorBy;
use super::viewer::{Command, Dialog, Viewer};
use egui::{Key, Ui};

/// Time step of the arrow keys, in seconds, and speed step of comma and period.
const TIME_STEP: f64 = 1.0 / 30.0;
const SPEED_STEP: f32 = 0.25;

/// Keys that do one thing.
pub struct Binding {
    keys: &'static [Key],
    /// Names and effects of the keys, as shown.
    pub shown: &'static str,
    pub does: &'static str,
    command: fn(&Viewer) -> Option<Command>,
}

const fn bind(
    keys: &'static [Key],
    shown: &'static str,
    does: &'static str,
    command: fn(&Viewer) -> Option<Command>,
) -> Binding {
    Binding { keys, shown, does, command }
}

/// All keys of the window.
pub const KEYS: [Binding; 22] = [
    bind(&[Key::ArrowUp], "Up", "plays the previous clip of the list", |_| Some(Command::Step(-1))),
    bind(&[Key::ArrowDown], "Down", "plays the next clip of the list", |_| Some(Command::Step(1))),
    bind(&[Key::Slash], "/", "filters a long list of clips", |v| {
        v.list.is_long().then_some(Command::FocusFilter(true))
    }),
    bind(&[Key::ArrowLeft], "Left", "steps back in time", |v| time(v, -TIME_STEP)),
    bind(&[Key::ArrowRight], "Right", "steps forward in time", |v| time(v, TIME_STEP)),
    bind(&[Key::Space], "Space", "pauses and goes on", |v| Some(Command::Pause(!v.paused))),
    bind(&[Key::Comma], ",", "plays slower, then backwards", |v| {
        Some(Command::Speed(v.speed - SPEED_STEP))
    }),
    bind(&[Key::Period], ".", "plays faster", |v| Some(Command::Speed(v.speed + SPEED_STEP))),
    bind(&[Key::Plus, Key::Equals], "+ or =", "doubles the crowd", |v| {
        Some(Command::Count(v.crowd.count() * 2))
    }),
    bind(&[Key::Minus], "-", "halves the crowd", |v| Some(Command::Count(v.crowd.count() / 2))),
    bind(&[Key::S], "S", "shows skeletons; hover a joint for its name", |v| {
        Some(Command::Skeleton(!v.skeleton))
    }),
    bind(&[Key::H], "H", "shows handles that drag hands and feet", |v| {
        Some(Command::Handles(!v.handles))
    }),
    bind(&[Key::X], "X", "takes dragged limbs back to the clip", |_| Some(Command::LetGo)),
    bind(&[Key::F], "F", "lets hair and clothes swing, or not", |v| {
        Some(Command::Springs(v.crowd.swings() != Some(true)))
    }),
    bind(&[Key::W], "W", "shows a wireframe", |v| Some(Command::Wireframe(!v.wireframe))),
    bind(&[Key::G], "G", "shows frame times", |v| Some(Command::Graph(!v.graph))),
    bind(&[Key::E], "E", "evaluates all characters or the visible ones", |v| {
        Some(Command::SkipUnseen(!v.skip_unseen))
    }),
    bind(&[Key::T], "T", "colours characters by tier, by rate, by sharing; turns tiers off", |v| {
        Some(Command::Tiers(ColorBy::next(v.tiers.color_by)))
    }),
    bind(&[Key::R], "R", "resets the camera", |_| Some(Command::ResetCamera)),
    bind(&[Key::O], "O", "opens a file", |_| Some(Command::Browser)),
    bind(&[Key::I], "I", "shows the import report", |_| Some(Command::Report)),
    bind(&[Key::Questionmark, Key::F1], "? or F1", "shows the keys", |_| Some(Command::Keys)),
];

/// The key that closes what is open: it does more than one thing.
pub const ESCAPE: (&str, &str) = ("Escape", "closes a dialog, else the window");

/// Actions of the mouse: the gesture and its effect.
pub const MOUSE: [(&str, &str); 5] = [
    ("Drag", "rotates the camera"),
    ("Drag a handle", "moves a limb in the plane of the picture"),
    ("Right button or Shift and drag", "pans"),
    ("Wheel", "zooms"),
    ("Double click", "resets the camera"),
];

/// Names and effects of all keys, as shown.
pub fn shown() -> impl Iterator<Item = (&'static str, &'static str)> {
    let keys = KEYS.iter().map(|b| (b.shown, b.does));
    keys.chain([ESCAPE])
}

/// Description of the keys, for the help.
pub fn help() -> String {
    let lines = |rows: &mut dyn Iterator<Item = (&'static str, &'static str)>| {
        let rows = rows.map(|(keys, does)| format!("  {keys:<30}  {does}\n"));
        rows.collect::<String>()
    };
    let (keys, mouse) = (lines(&mut shown()), lines(&mut MOUSE.into_iter()));
    format!("Keys:\n{keys}\nMouse:\n{mouse}").trim_end().into()
}

fn time(viewer: &Viewer, by: f64) -> Option<Command> {
    let duration = viewer.crowd.duration();
    let time = viewer.crowd.time() + by;
    (duration > 0.0).then(|| Command::Time(time.rem_euclid(duration)))
}

/// Adds the commands of this frame's key presses, unless a text field has the keyboard: `typing`.
pub fn read(ui: &Ui, viewer: &Viewer, typing: bool, commands: &mut Vec<Command>) {
    // egui takes the keyboard from a field at Escape, before it is read here.
    if typing || (ui.ctx().egui_wants_keyboard_input() && viewer.dialog.is_none()) {
        return;
    }
    let pressed = ui.input(|i| {
        let key = |event: &egui::Event| match event {
            egui::Event::Key { key, pressed: true, .. } => Some(*key),
            _ => None,
        };
        i.events.iter().filter_map(key).collect::<Vec<_>>()
    });
    commands.extend(pressed.into_iter().filter_map(|key| command(key, viewer)));
}

fn command(key: Key, viewer: &Viewer) -> Option<Command> {
    let bound = || KEYS.iter().find(|b| b.keys.contains(&key));
    let does = || (bound()?.command)(viewer);
    match (&viewer.dialog, key) {
        (Some(_), Key::Escape) => Some(Command::CloseDialog),
        (None, Key::Escape) => Some(Command::Quit),
        // What is behind a dialog stays as it is.
        (Some(Dialog::Keys), _) => does().filter(|a| *a == Command::Keys),
        (Some(Dialog::Report), _) => does().filter(|a| *a == Command::Report),
        (Some(Dialog::Open(_)), _) => None,
        (None, _) => does(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::frame_renderer::PaletteArg;
    use super::super::opened::Opened;
    use super::*;
    use std::path::Path;

    fn viewer() -> Viewer {
        Viewer::new(Opened::load(None, 2, PaletteArg(None), Default::default()).unwrap().0, 0.3)
    }

    #[test]
    fn every_key_that_does_something_is_shown_once() {
        let viewer = viewer();
        for &key in Key::ALL {
            let rows = KEYS.iter().filter(|b| b.keys.contains(&key)).count();
            assert!(rows <= 1, "{key:?} is in {rows} rows");
            let known = rows == 1 || key == Key::Escape;
            assert!(known || command(key, &viewer).is_none(), "{key:?}");
        }
        for binding in &KEYS {
            assert!(!binding.keys.is_empty());
            for key in binding.keys {
                let names = [key.name(), key.symbol_or_name()];
                let mut words = binding.shown.split(" or ");
                let named = words.any(|w| names.contains(&w) || written(*key) == w);
                assert!(named, "{key:?} is not in {:?}", binding.shown);
            }
        }
    }

    /// Keys that egui names in words.
    fn written(key: Key) -> &'static str {
        match key {
            Key::ArrowUp => "Up",
            Key::ArrowDown => "Down",
            Key::ArrowLeft => "Left",
            Key::ArrowRight => "Right",
            Key::Plus => "+",
            Key::Equals => "=",
            Key::Minus => "-",
            Key::Comma => ",",
            Key::Period => ".",
            Key::Slash => "/",
            Key::Questionmark => "?",
            _ => "",
        }
    }

    #[test]
    fn the_documentation_has_the_same_keys() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/window.md");
        let page = std::fs::read_to_string(page).unwrap();
        let rows = page.lines().filter(|l| l.starts_with("| `"));
        let expected = shown().map(|(keys, does)| {
            let keys = keys.replace(" or ", "` or `");
            format!("| `{keys}` | {does} |")
        });
        assert!(rows.eq(expected), "the table of docs/window.md");
        let help = help();
        assert!(shown().chain(MOUSE).all(|(_, does)| help.contains(does)));
    }

    #[test]
    fn escape_closes_dialogs_before_the_window() {
        let mut viewer = viewer();
        for (key, opens) in [(Key::F1, Command::Keys), (Key::I, Command::Report)] {
            assert_eq!(command(key, &viewer), Some(opens.clone()));
            viewer.apply(opens.clone()).unwrap();
            assert_eq!(command(Key::Escape, &viewer), Some(Command::CloseDialog));
            // The key that opens a dialog closes it; others do nothing.
            assert_eq!(command(Key::Space, &viewer), None);
            viewer.apply(opens).unwrap();
            assert_eq!(viewer.dialog, None);
        }
        viewer.apply(Command::Browser).unwrap();
        assert_eq!(command(Key::G, &viewer), None);
        assert_eq!(command(Key::Escape, &viewer), Some(Command::CloseDialog));
        viewer.apply(Command::CloseDialog).unwrap();
        assert_eq!(command(Key::Escape, &viewer), Some(Command::Quit));
    }
}
