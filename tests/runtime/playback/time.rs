//! Loop modes, speeds of any sign, steps of any size.

use super::model::Model;
use super::stage::{fired, marked, rig};
use phalanx::playback::{
    AtEnd, EventKind, LoopMode, MAX_EVENTS_PER_ACTION, Mixer, PlayOptions, Playable,
};
use proptest::prelude::*;

const MODES: [LoopMode; 3] = [LoopMode::Once, LoopMode::Repeat, LoopMode::PingPong];

/// Nearer to an end than this, rounding may put an event into the step before or after.
const NEAR: f64 = 1e-5;

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// One step of the sum is the many small steps, and both are what the model says.
    #[test]
    fn one_step_is_many(
        mode in 0usize..3,
        repetitions in proptest::option::of(1u32..6),
        speed in prop_oneof![-3.0f32..3.0, Just(0.0f32), Just(-1.0f32), Just(1.0f32)],
        start in -3.0f64..6.0,
        markers in proptest::collection::vec(prop_oneof![0.0f32..0.7, Just(0.0f32), Just(0.7f32)], 0..5),
        steps in proptest::collection::vec(0.0f64..0.4, 1..40),
    ) {
        let mut markers = markers;
        markers.sort_by(f32::total_cmp);
        markers.dedup();
        let options = PlayOptions {
            loop_mode: MODES[mode],
            repetitions,
            speed,
            time: start,
            ..PlayOptions::default()
        };
        let run = |steps: &[f64]| {
            let (mut mixer, clip) = marked("b", &markers);
            mixer.player().play(0, clip, &options).unwrap();
            let (mut events, mut dropped) = (Vec::new(), 0);
            for &dt in steps {
                mixer.advance(dt).unwrap();
                events.extend(fired(mixer.events()));
                dropped += mixer.dropped_events();
            }
            (mixer.playing().action(0, clip).unwrap(), events, dropped as usize)
        };
        let total: f64 = steps.iter().sum();
        let (one, one_events, dropped) = run(&[total]);
        let (many, many_events, none) = run(&steps);
        let mut model = Model {
            duration: f64::from(0.7f32),
            mode: MODES[mode],
            repetitions,
            markers: markers.iter().map(|&m| f64::from(m)).collect(),
            time: start,
        };
        model.time = model.step_to(start);
        let at_start = model.margin() < NEAR;
        let expected = model.step(total * f64::from(speed));
        let d = model.duration;
        for have in [one, many] {
            let e = (have.time - model.shown()).abs();
            prop_assert!(e.min((d - e).abs()) < 1e-9, "{:?} {}", have, model.shown());
        }
        // At its start an action fires what lies there, and at its ends it may stand exactly.
        let ended = model.ended();
        if at_start || (model.margin() < NEAR && !ended) {
            return Ok(());
        }
        prop_assert_eq!(one.loops, model.loops());
        prop_assert_eq!(many.loops, model.loops());
        // One long step may pass more than it may fire.
        prop_assert_eq!(one_events.len() + dropped, expected.len());
        prop_assert_eq!(&one_events, &expected[..one_events.len()]);
        prop_assert_eq!(none, 0);
        prop_assert_eq!(&many_events, &expected);
    }
}

#[test]
fn ten_days_at_60_hz_keep_the_phase() {
    let mut mixer = Mixer::new(rig()).unwrap();
    let clip = mixer.clip_named("b").unwrap();
    let options = PlayOptions { speed: 0.9, ..PlayOptions::default() };
    mixer.player().play(0, clip, &options).unwrap();
    let frames = 10 * 86_400 * 60;
    for _ in 0..frames {
        mixer.advance(1.0 / 60.0).unwrap();
    }
    let duration = f64::from(0.7f32);
    let want = (f64::from(frames) / 60.0 * f64::from(0.9f32)).rem_euclid(duration);
    let have = mixer.playing().action(0, clip).unwrap().time;
    let error = (have - want).abs().min(duration - (have - want).abs());
    assert!(error < 1e-4, "{have} {want}");
}

#[test]
fn repetitions_end_on_the_last_pose_and_stop_if_asked() {
    let (mut mixer, clip) = marked("b", &[]);
    let d = f64::from(0.7f32);
    for (mode, n, end) in [
        (LoopMode::Repeat, 3, d),
        (LoopMode::PingPong, 2, 0.0),
        (LoopMode::PingPong, 3, d),
        (LoopMode::Once, 9, d),
    ] {
        let options =
            PlayOptions { loop_mode: mode, repetitions: Some(n), ..PlayOptions::default() };
        mixer.player().restart(0, clip, &options).unwrap();
        mixer.advance(0.1).unwrap();
        assert!(!mixer.playing().action(0, clip).unwrap().finished);
        mixer.advance(1e6).unwrap();
        let state = mixer.playing().action(0, clip).unwrap();
        assert_eq!((state.time, state.finished), (end, true), "{mode:?}");
        assert_eq!(mixer.events().last().unwrap().kind, EventKind::Finished);
        mixer.advance(1.0).unwrap();
        assert!(mixer.events().is_empty(), "finished once");
        // Back from the end, as anything that stands there.
        mixer.player().set_speed(0, clip, -1.0).unwrap();
        assert!(!mixer.playing().action(0, clip).unwrap().finished);
        mixer.advance(0.1).unwrap();
        let time = mixer.playing().action(0, clip).unwrap().time;
        assert!((time - (end - 0.1).abs()).abs() < 1e-9, "{mode:?} {time}");
    }
    let options =
        PlayOptions { loop_mode: LoopMode::Once, at_end: AtEnd::Stop, ..PlayOptions::default() };
    mixer.player().restart(0, clip, &options).unwrap();
    mixer.advance(0.6).unwrap();
    assert!(mixer.playing().action(0, clip).is_ok());
    mixer.advance(0.2).unwrap();
    assert!(mixer.playing().action(0, clip).is_err(), "back to rest");
    assert_eq!(fired(mixer.events()), [(EventKind::Finished, 0), (EventKind::Stopped, 0)]);
    let rest = mixer.evaluate().to_vec();
    mixer.player().stop_all(0.0).unwrap();
    assert_eq!(mixer.evaluate(), rest);
}

/// Steps that reach the start of the first pass exactly, over whole passes, finish as those that go on past it.
#[test]
fn passes_backwards_end_exactly_at_the_start() {
    for (mode, dt) in [LoopMode::Repeat, LoopMode::PingPong]
        .into_iter()
        .flat_map(|m| [(m, 1.0), (m, 1.5), (m, 3.0), (m, 4.0)])
    {
        let (mut mixer, clip) = marked("a", &[]);
        let options = PlayOptions {
            speed: -1.0,
            loop_mode: mode,
            repetitions: Some(3),
            time: 3.0,
            at_end: AtEnd::Stop,
            ..PlayOptions::default()
        };
        mixer.player().play(0, clip, &options).unwrap();
        let mut all = Vec::new();
        for _ in 0..4 {
            mixer.advance(dt).unwrap();
            all.extend(fired(mixer.events()));
        }
        all.retain(|e| e.0 != EventKind::Looped);
        assert_eq!(all, [(EventKind::Finished, 0), (EventKind::Stopped, 0)], "{mode:?} {dt}");
        assert!(mixer.playing().action(0, clip).is_err());
    }
}

#[test]
fn a_clip_without_length_is_its_only_pose() {
    for mode in MODES {
        for speed in [-1.0, 0.0, 1.0] {
            let (mut mixer, clip) = marked("pose", &[0.0]);
            let options =
                PlayOptions { loop_mode: mode, speed, time: 5.0, ..PlayOptions::default() };
            mixer.player().play(0, clip, &options).unwrap();
            let mut all = Vec::new();
            for dt in [0.0, 0.25, 1e9] {
                mixer.advance(dt).unwrap();
                all.extend(fired(mixer.events()));
            }
            let state = mixer.playing().action(0, clip).unwrap();
            assert_eq!((state.time, state.loops), (0.0, 0.0));
            let mut expected = Vec::new();
            if speed != 0.0 {
                expected.push((EventKind::Marker, 0));
                if mode == LoopMode::Once {
                    expected.push((EventKind::Finished, 0));
                }
            }
            assert_eq!(all, expected, "{mode:?} {speed}");
        }
    }
}

#[test]
fn huge_steps_stay_bounded_and_are_counted() {
    let (mut mixer, clip) = marked("b", &[0.1, 0.5]);
    for mode in [LoopMode::Repeat, LoopMode::PingPong] {
        for speed in [1.0, -1.0, 1e6] {
            let options =
                PlayOptions { loop_mode: mode, speed, time: 0.3, ..PlayOptions::default() };
            mixer.player().restart(0, clip, &options).unwrap();
            mixer.advance(7000.0).unwrap();
            let events = mixer.events();
            assert_eq!(events.len(), MAX_EVENTS_PER_ACTION);
            // Per pass two markers and a loop.
            let all = 3.0 * 7000.0 * f64::from(speed.abs()) / f64::from(0.7f32);
            let counted = events.len() as f64 + mixer.dropped_events() as f64;
            assert!((counted - all).abs() <= 3.0 + all * 1e-6, "{counted} {all}");
            mixer.advance(1e9).unwrap();
            assert_eq!(mixer.events().len(), MAX_EVENTS_PER_ACTION);
        }
    }
}

#[test]
fn speeds_of_action_layer_and_character_multiply() {
    let (mut mixer, clip) = marked("c", &[]);
    let motion = Playable::Clip(clip);
    let mut player = mixer.player();
    player.play(0, motion, &PlayOptions::default()).unwrap();
    player.set_speed(0, motion, 0.5).unwrap();
    player.set_layer_speed(0, -2.0).unwrap();
    player.set_character_speed(0.25).unwrap();
    mixer.advance(1.0).unwrap();
    let time = mixer.playing().action(0, motion).unwrap().time;
    assert!((time - 1.75).abs() < 1e-12, "{time}");
    mixer.player().set_paused(0, motion, true).unwrap();
    mixer.advance(1.0).unwrap();
    let state = mixer.playing().action(0, motion).unwrap();
    assert!(state.paused && state.time == time);
    mixer.player().set_paused(0, motion, false).unwrap();
    mixer.advance(-1.0).unwrap();
    let time = mixer.playing().action(0, motion).unwrap().time;
    assert!(time.min(2.0 - time) < 1e-12, "{time}");
}
