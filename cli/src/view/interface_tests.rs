//! The interface in a window without a device.

use super::super::super::crowd::tiers_file::BudgetArg;
use super::super::super::frame_renderer::PaletteArg;
use super::super::dialogs::texts;
use super::super::opened::Opened;
use super::super::tiers::{MICROSECONDS, PALETTES};
use super::super::viewer::Dialog;
use super::super::viewer_crowd::Playing;
use super::super::{input, keys};
use super::*;
use egui::{Context, Event, Modifiers, PointerButton, RawInput, pos2, vec2};
use phalanx::crowd::BoneBuffer;
use phalanx::import::{ReportEntry, Severity};
use phalanx_render::PictureSize;
use phalanx_testkit::trials;
use std::path::Path;

/// The middle of a text among painted shapes.
fn place(shape: &egui::Shape, text: &str) -> Option<egui::Pos2> {
    match shape {
        egui::Shape::Text(t) if t.galley.text() == text => Some(t.pos + t.galley.size() * 0.5),
        egui::Shape::Vec(shapes) => shapes.iter().find_map(|s| place(s, text)),
        _ => None,
    }
}

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
        let none = RawInput { events: Vec::new(), ..input };
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
        let events: Vec<Event> =
            [Some(event(true)), text, Some(event(false))].into_iter().flatten().collect();
        self.frame(&events)
    }

    /// A frame of the crowd into heap memory.
    fn evaluate(&mut self, bones: &mut BoneBuffer) {
        let size = PictureSize { width: 1000, height: 800 };
        self.viewer.advance(1.0 / 60.0).unwrap();
        let into = |crowd: &mut phalanx::crowd::Crowd| Ok(crowd.evaluate(bones));
        self.viewer.evaluate(size, into).unwrap();
    }

    /// Clicks the first text that is exactly this.
    fn click(&mut self, text: &str) {
        // Panels whose content has grown find their place.
        self.frame(&[]);
        let screen = Rect::from_min_size(pos2(0.0, 0.0), vec2(1280.0, 900.0));
        let input = RawInput { screen_rect: Some(screen), ..RawInput::default() };
        let output = self.context.run_ui(input, |ui| {
            show(ui, &self.viewer, &self.shown, &mut Vec::new());
        });
        let at = output.shapes.iter().find_map(|s| place(&s.shape, text));
        output.drop_without_applying_deltas();
        let at = at.unwrap_or_else(|| panic!("{text} is not shown"));
        let button = |pressed| Event::PointerButton {
            pos: at,
            button: PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        };
        self.frame(&[Event::PointerMoved(at)]);
        self.frame(&[button(true), button(false)]);
    }

    /// The square of the pad: the only shape of its size.
    fn square(&mut self) -> Rect {
        let screen = Rect::from_min_size(pos2(0.0, 0.0), vec2(1280.0, 900.0));
        let input = RawInput { screen_rect: Some(screen), ..RawInput::default() };
        let output = self.context.run_ui(input, |ui| {
            show(ui, &self.viewer, &self.shown, &mut Vec::new());
        });
        let found = output.shapes.iter().find_map(|s| match &s.shape {
            egui::Shape::Rect(r) if r.rect.size() == vec2(150.0, 150.0) => Some(r.rect),
            _ => None,
        });
        output.drop_without_applying_deltas();
        found.unwrap()
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
    let opened =
        Opened::load(Some(&assets.join("mannequin.glb")), 1, PaletteArg(None), Default::default());
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
        ..ScreenJoints::default()
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

/// A handle follows the pointer, and the limb the handle; the camera stays. All characters do it.
#[test]
fn handles_are_dragged_and_let_go() {
    let (mut desk, mut bones) = (Desk::new(), BoneBuffer::new());
    desk.viewer.apply(Command::Count(3)).unwrap();
    desk.viewer.apply(Command::Fade(0.0)).unwrap();
    let mut look = |desk: &mut Desk| {
        desk.evaluate(&mut bones);
        desk.shown = desk.viewer.screen_joints().unwrap();
        desk.shown.handles.clone()
    };
    assert!(look(&mut desk).is_empty());
    desk.press(Key::H, "h");
    let before = look(&mut desk);
    let names: Vec<&str> = before.iter().map(|h| desk.viewer.joints[h.joint].as_str()).collect();
    assert!(names[1].starts_with("RightHand") && names.len() == 4, "{names:?}");
    assert!(before.iter().all(|h| h.at == h.end));
    let button = |at, pressed| Event::PointerButton {
        pos: at,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    let drag = |desk: &mut Desk, by: egui::Vec2| {
        let from = pos2(PANEL, 0.0) + vec2(desk.shown.handles[1].at.x, desk.shown.handles[1].at.y);
        let to = from + by;
        desk.frame(&[Event::PointerMoved(from + vec2(70.0, 30.0))]);
        desk.frame(&[Event::PointerMoved(from), button(from, true)]);
        desk.frame(&[Event::PointerMoved(from + 0.5 * by)]);
        let away = Event::PointerMoved(to + vec2(50.0, 0.0));
        desk.frame(&[Event::PointerMoved(to), button(to, false), away]);
    };
    drag(&mut desk, vec2(0.0, 0.0));
    assert!(look(&mut desk).iter().all(|h| h.at == h.end), "a click drags");
    let before = desk.shown.handles.clone();
    drag(&mut desk, vec2(-12.0, -40.0));
    // The clip goes on, and the hand stays at its handle.
    for _ in 0..5 {
        let after = look(&mut desk);
        let by = after[1].at - before[1].at;
        assert!(by.distance(Vec2::new(-12.0, -40.0)) < 0.1, "{by}");
        assert!(after[1].end.distance(after[1].at) < 0.5, "{after:?}");
        assert!(after[0].at == after[0].end);
    }
    assert!(!desk.viewer.orbit.moved);
    // Out of reach; new characters do what the others do.
    drag(&mut desk, vec2(-300.0, 0.0));
    desk.viewer.apply(Command::Count(5)).unwrap();
    let far = look(&mut desk);
    let off: Vec<f32> = far.iter().map(|h| h.at.distance(h.end)).collect();
    assert!(off[1] > 100.0 && off.iter().filter(|&&off| off > 0.0).count() == 1, "{off:?}");
    let reaching = desk.viewer.crowd.reaching(1);
    assert!(reaching.len() == 5 && reaching.iter().all(|r| *r == reaching[0] && r.1 == 1.0));
    desk.press(Key::X, "x");
    desk.press(Key::Space, " ");
    assert!(look(&mut desk).iter().all(|h| h.at == h.end));
    assert!(desk.viewer.crowd.reaching(1).iter().all(|r| r.1 == 0.0));
    // Another model has handles of its own.
    let (opened, _) = Opened::load(None, 1, PaletteArg(None), Default::default()).unwrap();
    desk.viewer.show(opened).unwrap();
    assert_eq!(look(&mut desk).len(), 4);
    desk.click("Handles (H)");
    assert!(!desk.viewer.handles && look(&mut desk).is_empty());
}

#[test]
fn small_counts_are_plain_and_dropping_is_announced() {
    let mut desk = Desk::new();
    for (triangles, text) in [(0, "0 triangles"), (1, "1 triangle"), (812, "812 triangles")] {
        desk.viewer.counts.triangles = triangles;
        assert!(desk.frame(&[]).iter().any(|t| t == text), "{text}");
    }
    desk.viewer.counts.triangles = 1_000;
    assert!(desk.has("1 k triangles"));
    desk.viewer.loading = Some("fox.glb".into());
    assert!(desk.has("Loading fox.glb"));
    assert_eq!(desk.viewer.crowd.playing(), Playing::Clip(0));
}

/// The key goes through the colours and back to a crowd without tiers; the legend shows statistics of the last frame.
#[test]
fn tiers_color_characters_and_have_a_legend() {
    let mut desk = Desk::new();
    let mut bones = BoneBuffer::new();
    desk.viewer.apply(Command::Count(300)).unwrap();
    desk.evaluate(&mut bones);
    let tints = |desk: &Desk| {
        let drawn = desk.viewer.crowd.drawn().iter();
        let mut tints: Vec<[u32; 3]> =
            drawn.map(|d| [0, 1, 2].map(|c| d.tint[c].to_bits())).collect();
        tints.sort_unstable();
        tints.dedup();
        tints
    };
    let plain = tints(&desk);
    assert!(plain.len() > 20 && !desk.has("coloured by"));
    desk.press(Key::T, "t");
    assert_eq!(desk.viewer.tiers.color_by, Some(ColorBy::Tier));
    desk.evaluate(&mut bones);
    let by_tier = tints(&desk);
    let (tiers, frame) = desk.viewer.crowd.tiers().unwrap();
    let used = frame.tiers.iter().filter(|t| t.instances > 0).count();
    let count = tiers.tiers.len();
    let largest = frame.tiers.iter().map(|t| t.instances).max().unwrap();
    let out = frame.out;
    assert!(used > 1 && (1..=used).contains(&by_tier.len()), "{frame:?}");
    let shown = desk.frame(&[]);
    for text in [
        "coloured by",
        "characters",
        "evaluated",
        "held",
        &largest.to_string(),
        &format!("; {out} out of the picture"),
    ] {
        assert!(shown.iter().any(|t| t.contains(text)), "{text}: {shown:?}");
    }
    let rows = (0..count).filter(|n| shown.contains(&n.to_string()));
    assert_eq!(rows.count(), count);
    // By rate: the default tiers have two.
    desk.press(Key::T, "t");
    desk.evaluate(&mut bones);
    assert!(desk.has("every frame") && tints(&desk).len() <= 2);
    desk.press(Key::T, "t");
    desk.evaluate(&mut bones);
    assert!(desk.has("palette of its own"));
    // The fades of a change give every character an unshared palette, in one colour.
    desk.viewer.apply(Command::Step(1)).unwrap();
    desk.evaluate(&mut bones);
    assert_eq!(tints(&desk).len(), 1);
    // Skeletons show the exact poses.
    desk.viewer.apply(Command::Skeleton(true)).unwrap();
    let joints = desk.viewer.screen_joints().unwrap();
    assert!(joints.shown > 0 && !joints.joints.is_empty());
    desk.press(Key::T, "t");
    desk.evaluate(&mut bones);
    assert!(desk.viewer.crowd.tiers().is_none() && !desk.has("coloured by"));
    let again = tints(&desk);
    let same = again.iter().filter(|t| plain.contains(t)).count();
    assert!(same > 20, "{again:?}");
    // The mouse does the same.
    desk.click("Tiers (T)");
    desk.click("sharing");
    assert_eq!(desk.viewer.tiers.color_by, Some(ColorBy::Sharing));
    desk.click("Off");
    assert_eq!(desk.viewer.tiers.color_by, None);
}

#[test]
fn the_budget_is_set_in_the_legend_and_kept() {
    let mut desk = Desk::new();
    let mut bones = BoneBuffer::new();
    desk.viewer.apply(Command::Count(300)).unwrap();
    desk.press(Key::T, "t");
    desk.evaluate(&mut bones);
    desk.click("palettes");
    let budget = desk.viewer.tiers.budget();
    assert_eq!(budget, Some(BudgetArg::Palettes(PALETTES)));
    desk.evaluate(&mut bones);
    assert!(desk.has(&format!(" of {PALETTES} evaluated")));
    // Every character has an unshared palette while it fades; most wait.
    let few = Some(BudgetArg::Palettes(30));
    desk.viewer.apply(Command::Budget(few)).unwrap();
    desk.viewer.apply(Command::Step(1)).unwrap();
    let mut waiting = 0;
    for _ in 0..6 {
        desk.evaluate(&mut bones);
        let (_, frame) = desk.viewer.crowd.tiers().unwrap();
        waiting = waiting.max(frame.tiers.iter().map(|t| t.waiting).sum());
    }
    assert!(waiting > 20, "{waiting}");
    // Another model keeps it.
    let (opened, _) = Opened::load(None, 4, PaletteArg(None), Default::default()).unwrap();
    desk.viewer.show(opened).unwrap();
    desk.evaluate(&mut bones);
    assert!(desk.viewer.crowd.tiers().is_some() && desk.has(" of 30 evaluated"));
    desk.click("time");
    let budget = desk.viewer.tiers.budget();
    assert_eq!(budget, Some(BudgetArg::Microseconds(MICROSECONDS)));
    desk.evaluate(&mut bones);
    let shown = desk.frame(&[]);
    assert!(shown.iter().any(|t| t.starts_with("2.00")), "{shown:?}");
    assert!(desk.viewer.tiers.palettes().is_some());
    desk.click("none");
    desk.evaluate(&mut bones);
    assert_eq!(desk.viewer.tiers.palettes(), None);
    let shown = desk.frame(&[]);
    let state = shown.iter().find(|t| t.contains("beyond the budget"));
    assert!(state.is_some_and(|t| !t.contains(" of ")), "{shown:?}");
}

/// Parts left out in the last tier are not drawn, and a tier that needs more than the device's limit is held.
#[test]
fn tiers_of_a_file_are_taken() {
    let mut desk = Desk::new();
    let mut bones = BoneBuffer::new();
    desk.viewer.apply(Command::Count(300)).unwrap();
    desk.evaluate(&mut bones);
    let all = desk.viewer.crowd.drawn().len();
    let tiers = phalanx::crowd::Tiers {
        tiers: vec![phalanx::crowd::Tier {
            height: 60.0,
            rate: 2,
            interpolate: true,
            ..Default::default()
        }],
        ..Default::default()
    };
    desk.viewer.start_tiers(Some(tiers), None).unwrap();
    desk.evaluate(&mut bones);
    let drawn = desk.viewer.crowd.drawn().len();
    assert!(drawn > 0 && drawn < all, "{drawn} of {all}");
    assert!(desk.has("1/2, interpolated"));
    desk.evaluate(&mut bones);
    let pairs = |desk: &Desk| desk.viewer.crowd.drawn().iter().any(|d| d.lerp.is_some());
    assert!(pairs(&desk));
    desk.viewer.set_most_pair_rows(5).unwrap();
    desk.evaluate(&mut bones);
    desk.evaluate(&mut bones);
    assert!(!pairs(&desk) && desk.has("1/2, held"));
    assert!(desk.has("pairs of palettes of up to 5 rows"));
}

/// The square is there while the pad plays; a drag moves the value, up to its edges, and characters follow it.
#[test]
fn a_pad_blends_clips_by_a_drag() {
    let mut desk = Desk::new();
    let press = |desk: &mut Desk, at: [f32; 2]| {
        let pos = pos2(at[0], at[1]);
        let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
        let pressed = |pressed| Event::PointerButton { pos, button, pressed, modifiers };
        desk.frame(&[Event::PointerMoved(pos)]);
        desk.frame(&[pressed(true)]);
        desk.frame(&[pressed(false)]);
    };
    desk.click("(clips on a pad)");
    assert_eq!(desk.viewer.crowd.playing(), Playing::Pad);
    let pad = desk.viewer.crowd.pad().unwrap();
    assert_eq!((pad.points.len(), pad.points[0], pad.at), (9, ([0.0; 2], 0), [0.0; 2]));
    let mut bones = BoneBuffer::new();
    (0..60).for_each(|_| desk.evaluate(&mut bones));
    let first = desk.viewer.crowd.playing_clips();
    assert_eq!(first, [0]);
    // The second clip is at the top of the square, below the settings.
    let square = desk.square();
    press(&mut desk, [square.center().x, square.center().y - 0.4 * square.height()]);
    let at = desk.viewer.crowd.pad().unwrap().at;
    assert!(at[0].abs() < 1e-3 && (at[1] - 1.0).abs() < 1e-3, "{at:?}");
    desk.evaluate(&mut bones);
    assert!(desk.viewer.crowd.playing_clips().len() >= 2, "it follows");
    (0..60).for_each(|_| desk.evaluate(&mut bones));
    assert_eq!(desk.viewer.crowd.playing_clips(), [1]);
    desk.viewer.apply(Command::Count(30)).unwrap();
    desk.viewer.apply(Command::Time(0.25)).unwrap();
    desk.viewer.apply(Command::Play(Playing::Clip(2))).unwrap();
    desk.viewer.apply(Command::Pad([0.5, 0.5])).unwrap();
    desk.frame(&[]);
    desk.evaluate(&mut bones);
}
