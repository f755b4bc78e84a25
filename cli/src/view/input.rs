//! Splits a frame's input, so that none of it is lost when frames are slow.

use egui::{Event, RawInput};

/// Splits a frame's input after every press or release of a button and every press of a key; each part gets its own pass
/// of the interface.
///
/// In a single pass a button that is pressed and released drags nothing, so a slider would miss a quick
/// click, and the commands of two keys would both start from the state at the start of the frame. The text of a
/// key stays with its press: a key that asks for a text field is not typed into it.
pub fn parts(mut input: RawInput) -> Vec<RawInput> {
    let events = std::mem::take(&mut input.events);
    let mut parts = vec![input];
    let mut pressed = false;
    for event in events {
        let typed = matches!(event, Event::Text(_));
        if pressed
            && !typed
            && let Some(last) = parts.last()
        {
            let next = RawInput { events: Vec::new(), ..last.clone() };
            parts.push(next);
        }
        pressed = ends_a_part(&event) || (pressed && typed);
        if let Some(last) = parts.last_mut() {
            last.events.push(event);
        }
    }
    parts
}

fn ends_a_part(event: &Event) -> bool {
    match event {
        // What is dragged ends where the button was released, wherever the pointer goes then.
        Event::PointerButton { .. } => true,
        // Repeats of a held key count as one press.
        Event::Key { pressed, repeat, .. } => *pressed && !*repeat,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::{Context, Modifiers, PointerButton, Pos2, Rect, Slider, pos2, vec2};

    fn button(pos: Pos2, pressed: bool) -> Event {
        Event::PointerButton {
            pos,
            button: PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        }
    }

    /// Value of a slider from 0 to 1 after passes over some inputs.
    fn slide(inputs: impl IntoIterator<Item = RawInput>) -> f32 {
        let context = Context::default();
        let mut value = 0.0f32;
        let screen = Rect::from_min_size(Pos2::ZERO, vec2(200.0, 100.0));
        // egui uses the layout of the previous pass.
        let first = [RawInput::default(), RawInput::default()];
        for mut input in first.into_iter().chain(inputs) {
            input.screen_rect = Some(screen);
            let output = context.run_ui(input, |ui| {
                let slider = Slider::new(&mut value, 0.0..=1.0).show_value(false);
                ui.put(Rect::from_min_size(pos2(10.0, 10.0), vec2(100.0, 20.0)), slider);
            });
            output.drop_without_applying_deltas();
        }
        value
    }

    #[test]
    fn a_click_within_one_frame_moves_a_slider() {
        let click = |events: &[Event]| RawInput { events: events.to_vec(), ..RawInput::default() };
        let at = pos2(60.0, 20.0);
        let quick = click(&[Event::PointerMoved(at), button(at, true), button(at, false)]);
        assert_eq!(slide([quick.clone()]), 0.0, "a single pass no longer misses the click");
        let moved = slide(parts(quick));
        assert!((moved - 0.5).abs() < 0.05, "{moved}");
        // A drag within one frame reaches its end.
        let (from, to) = (pos2(20.0, 20.0), pos2(95.0, 20.0));
        let moves = [Event::PointerMoved(from), Event::PointerMoved(to)];
        let drag = [moves[0].clone(), button(from, true), moves[1].clone(), button(to, false)];
        let dragged = slide(parts(click(&drag)));
        assert!(dragged > 0.8, "{dragged}");
    }

    #[test]
    fn nothing_is_lost_and_order_is_kept() {
        let key = |key, repeat| Event::Key {
            key,
            physical_key: None,
            pressed: true,
            repeat,
            modifiers: Modifiers::NONE,
        };
        let events = vec![
            key(egui::Key::Plus, false),
            key(egui::Key::Plus, false),
            key(egui::Key::Plus, true),
            key(egui::Key::Plus, true),
            button(Pos2::ZERO, true),
            Event::PointerMoved(Pos2::ZERO),
            button(Pos2::ZERO, false),
        ];
        let input = RawInput { events: events.clone(), time: Some(7.0), ..RawInput::default() };
        let cut = parts(input);
        let lengths: Vec<_> = cut.iter().map(|part| part.events.len()).collect();
        assert_eq!(lengths, [1, 1, 3, 2]);
        assert!(cut.iter().all(|part| part.time == Some(7.0)));
        let joined: Vec<_> = cut.into_iter().flat_map(|part| part.events).collect();
        assert_eq!(joined, events);
        assert_eq!(parts(RawInput::default()).len(), 1);
        // A key and its text are one press.
        let input = RawInput {
            events: vec![
                key(egui::Key::S, false),
                Event::Text("s".into()),
                key(egui::Key::O, false),
                Event::Text("o".into()),
            ],
            ..RawInput::default()
        };
        let lengths: Vec<_> = parts(input).iter().map(|part| part.events.len()).collect();
        assert_eq!(lengths, [2, 2]);
    }
}
