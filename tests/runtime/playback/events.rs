//! Which events fire, when, and in what order.

use super::stage::{fired, marked, rig};
use phalanx::build::BuildError;
use phalanx::clip::Marker;
use phalanx::crowd::Crowd;
use phalanx::playback::{EventKind, LoopMode, Mixer, PlayOptions};
use std::sync::Arc;

use EventKind::{Finished, Looped};

const fn mark(i: usize) -> (EventKind, usize) {
    (EventKind::Marker, i)
}

const LOOP: (EventKind, usize) = (Looped, 0);

/// The events of each step of clip "a" (1 s), with markers at these times.
fn steps(times: &[f32], options: &PlayOptions, steps: &[f64]) -> Vec<Vec<(EventKind, usize)>> {
    let (mut mixer, clip) = marked("a", times);
    mixer.player().play(0, clip, options).unwrap();
    let step = |&dt: &f64| {
        mixer.advance(dt).unwrap();
        fired(mixer.events())
    };
    steps.iter().map(step).collect()
}

fn mode(loop_mode: LoopMode, speed: f32, time: f64) -> PlayOptions {
    PlayOptions { loop_mode, speed, time, ..PlayOptions::default() }
}

#[test]
fn intervals_are_half_open_and_closed_at_the_start() {
    let times = [0.0, 0.25, 0.5, 1.0];
    let quarter = [0.25; 6];
    let forwards = steps(&times, &mode(LoopMode::Repeat, 1.0, 0.0), &quarter);
    assert_eq!(
        forwards,
        [
            vec![mark(0), mark(1)],
            vec![mark(2)],
            vec![],
            vec![mark(3), LOOP, mark(0)],
            vec![mark(1)],
            vec![mark(2)],
        ]
    );
    let backwards = steps(&times, &mode(LoopMode::Repeat, -1.0, 0.5), &quarter);
    assert_eq!(
        backwards,
        [
            vec![mark(2), mark(1)],
            vec![mark(0), LOOP, mark(3)],
            vec![],
            vec![mark(2)],
            vec![mark(1)],
            vec![mark(0), LOOP, mark(3)],
        ]
    );
    // An empty interval fires nothing, not even what lies at the start: that comes with the first move.
    let still = steps(&times, &mode(LoopMode::Repeat, 1.0, 0.5), &[0.0, 0.125, 0.0]);
    assert_eq!(still, [vec![], vec![mark(2)], vec![]]);
    let turned = steps(&times, &mode(LoopMode::Repeat, 1.0, 0.125), &[0.125, -0.25, 0.25]);
    assert_eq!(turned, [vec![mark(1)], vec![mark(0), LOOP, mark(3)], vec![mark(1)]]);
}

#[test]
fn a_turn_fires_once() {
    let times = [0.0, 0.75, 1.0];
    let there = steps(&times, &mode(LoopMode::PingPong, 1.0, 0.0), &[0.5; 6]);
    assert_eq!(
        there,
        [
            vec![mark(0)],
            vec![mark(1), mark(2), LOOP],
            vec![mark(1)],
            vec![mark(0), LOOP],
            vec![],
            vec![mark(1), mark(2), LOOP],
        ]
    );
    let whole = steps(&times, &mode(LoopMode::PingPong, 1.0, 0.0), &[2.5]);
    assert_eq!(whole, [there[..5].concat()]);
    let back = steps(&times, &mode(LoopMode::PingPong, -1.0, 0.5), &[1.0, 1.0]);
    // A turn belongs to the pass that time enters by it, seen from above.
    assert_eq!(back, [vec![LOOP, mark(0)], vec![mark(1), LOOP, mark(2), mark(1)]]);
}

#[test]
fn ends_finish_once_in_either_direction() {
    let times = [0.0, 1.0];
    let end = (Finished, 0);
    let once = steps(&times, &mode(LoopMode::Once, 1.0, 0.0), &[0.5, 0.5, 0.5]);
    assert_eq!(once, [vec![mark(0)], vec![mark(1), end], vec![]]);
    let back = steps(&times, &mode(LoopMode::Once, -1.0, 1.0), &[0.5, 0.5, 0.5]);
    assert_eq!(back, [vec![mark(1)], vec![mark(0), end], vec![]]);
    // An action that starts at its end finishes in its first step.
    let over = steps(&times, &mode(LoopMode::Once, 1.0, 9.0), &[0.0, 0.5, 0.5]);
    assert_eq!(over, [vec![], vec![mark(1), end], vec![]]);
}

#[test]
fn what_fades_out_fires_until_its_fade_ends() {
    let run = |steps: &[f64]| {
        let (mut mixer, clip) = marked("a", &[0.2, 0.4, 0.6]);
        let other = mixer.clip_named("c").unwrap();
        mixer.player().play(0, clip, &PlayOptions::default()).unwrap();
        let to = PlayOptions::default();
        mixer.player().fade_to(0, other, 0.5, &to).unwrap();
        let mut all = Vec::new();
        for &dt in steps {
            mixer.advance(dt).unwrap();
            all.extend(mixer.events().iter().map(|e| (e.kind, e.marker, e.clip)));
        }
        assert!(mixer.playing().action(0, clip).is_err());
        all
    };
    let small = run(&[0.05; 20]);
    let kinds = small.iter().map(|e| e.0);
    assert!(kinds.eq([EventKind::Marker, EventKind::Marker, EventKind::Stopped]), "{small:?}");
    assert_eq!(run(&[1.0]), small);
}

/// Events are of steps: what a call removes at once does not fire in the next one.
#[test]
fn calls_that_remove_at_once_fire_nothing() {
    let options = PlayOptions::default();
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig()).unwrap();
    let all: Vec<_> = (0..).map_while(|clip| crowd.clip_by_index(id, clip)).collect();
    let [a, b] = [all[0], all[1]];
    let [stopped, weightless, replaced, gone, fades] = [(); 5].map(|()| crowd.spawn(id).unwrap());
    for i in [stopped, weightless, replaced, gone, fades] {
        crowd.play(i, a, &options).unwrap();
    }
    crowd.player(weightless).unwrap().set_weight(0, a, 0.0).unwrap();
    crowd.advance(0.1).unwrap();
    crowd.player(stopped).unwrap().stop(0, a, 0.0).unwrap();
    crowd.player(weightless).unwrap().stop(0, a, 1.0).unwrap();
    crowd.play(replaced, b, &options).unwrap();
    crowd.despawn(gone).unwrap();
    crowd.player(fades).unwrap().stop(0, a, 0.05).unwrap();
    crowd.advance(0.1).unwrap();
    let fired = crowd.events().iter().filter(|e| e.kind == EventKind::Stopped);
    assert!(fired.map(|e| (e.instance, e.clip)).eq([(fades, a)]));
    for i in [stopped, weightless, fades] {
        assert_eq!(crowd.playing(i).unwrap().clips().count(), 0);
    }
}

#[test]
fn events_state_instance_layer_and_marker() {
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig()).unwrap();
    let a = crowd.clip_named(id, "a").unwrap();
    let clip = crowd.clip(a).unwrap().as_ref().clone();
    let clip = clip.with_markers(vec![Marker::new("step", 0.5)]).unwrap();
    let step = crowd.add_clip(id, Arc::new(clip)).unwrap();
    let instances = [0; 40].map(|_| crowd.spawn(id).unwrap());
    for (n, &i) in instances.iter().enumerate() {
        let options = PlayOptions { time: 0.01 * n as f64, weight: 0.5, ..PlayOptions::default() };
        let clip = if n % 2 == 0 { step } else { a };
        crowd.play(i, clip, &options).unwrap();
    }
    crowd.advance(0.355).unwrap();
    let events = crowd.events();
    // Those of 0.15 s and more, of every second one.
    let expected = (16..40).step_by(2).map(|n| instances[n]);
    assert!(events.iter().map(|e| e.instance).eq(expected));
    for event in events {
        assert_eq!((event.clip, event.layer, event.kind), (step, 0, EventKind::Marker));
        assert_eq!((event.time, event.weight), (0.5, 0.5));
        let clip = crowd.clip(event.clip).unwrap();
        assert_eq!(clip.markers()[usize::from(event.marker)].name, "step");
    }
    crowd.advance(0.0).unwrap();
    assert!(crowd.events().is_empty());
}

#[test]
fn markers_must_lie_in_their_clip() {
    let mixer = Mixer::new(rig()).unwrap();
    let clip = mixer.clip(mixer.clip_named("a").unwrap()).unwrap();
    for time in [-0.1, 1.01, f32::NAN, f32::INFINITY] {
        let bad = clip.as_ref().clone().with_markers(vec![Marker::new("m", time)]);
        assert!(matches!(bad, Err(BuildError::Marker { marker, .. }) if marker == "m"));
    }
    let many = vec![Marker::new("m", 0.5); 65_536];
    let bad = clip.as_ref().clone().with_markers(many);
    assert!(matches!(bad, Err(BuildError::Limit { needed: 65_536, .. })));
}
