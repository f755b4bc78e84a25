//! Time as a function of the clock: when a character came and how often it is looked at make no difference.

use super::stage::rig;
use phalanx::crowd::Crowd;
use phalanx::playback::{ActionState, ClipId, LoopMode, MAX_TIME, Mixer, PlayOptions};

/// A mixer that plays three clips at a slow speed, backwards and paused, one of them on its way to another weight.
fn playing(seconds: f32) -> (Mixer, [ClipId; 3]) {
    let mut mixer = Mixer::new(rig()).unwrap();
    let clips = ["a", "b", "c"].map(|name| mixer.clip_named(name).unwrap());
    for (clip, speed) in clips.into_iter().zip([1e-4, -0.75, 1.0]) {
        let options =
            PlayOptions { speed, loop_mode: LoopMode::PingPong, ..PlayOptions::default() };
        mixer.player().add(0, clip, &options).unwrap();
    }
    mixer.player().set_paused(0, clips[2], true).unwrap();
    mixer.player().fade(0, clips[1], 0.25, seconds).unwrap();
    mixer.player().fade_layer(0, 0.5, seconds).unwrap();
    (mixer, clips)
}

fn states(mixer: &Mixer, clips: [ClipId; 3]) -> [ActionState; 3] {
    clips.map(|clip| mixer.playing().action(0, clip).unwrap())
}

/// Steps of all sizes, below and above the 68 minutes from which a step moves everything at once.
#[test]
fn days_in_one_step_and_in_many() {
    let days = 2.0 * 86_400.0;
    let seconds = 3.0 * 86_400.0;
    let run = |steps: usize| {
        let (mut mixer, clips) = playing(seconds);
        for _ in 0..steps {
            mixer.advance(days / steps as f64).unwrap();
        }
        let layer = mixer.playing().layer_weight(0).unwrap();
        (states(&mixer, clips), layer)
    };
    let (one, layer) = run(1);
    assert!((layer - (1.0 - 0.5 * 2.0 / 3.0)).abs() < 1e-6);
    for steps in [2, 41, 43, 480, 200_000] {
        let (many, other) = run(steps);
        assert!((layer - other).abs() < 1e-6);
        for (one, many) in one.iter().zip(&many) {
            assert!((one.time - many.time).abs() < 1e-7, "{one:?} {many:?}");
            assert_eq!(one.loops, many.loops);
            assert!((one.weight - many.weight).abs() < 1e-6);
        }
    }
}

#[test]
fn a_way_back_is_the_way() {
    let (mut mixer, clips) = playing(0.0);
    mixer.advance(0.125).unwrap();
    let start = states(&mixer, clips);
    for dt in [0.25, 3.5, 5000.0, MAX_TIME] {
        for step in [dt, -dt, -dt, dt] {
            mixer.advance(step).unwrap();
        }
        for (now, then) in states(&mixer, clips).iter().zip(&start) {
            assert!((now.time - then.time).abs() < 1e-6, "{dt}");
            assert_eq!(now.loops, then.loops);
        }
    }
}

/// The bits of a mixer are those of an instance, however long its crowd has been advanced before.
#[test]
fn a_clock_may_start_at_any_time() {
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig()).unwrap();
    let b = crowd.clip_named(id, "b").unwrap();
    let options = PlayOptions { speed: 0.9, ..PlayOptions::default() };
    let mut pairs = Vec::new();
    for n in 0..200 {
        let i = crowd.spawn(id).unwrap();
        let mut mixer = Mixer::new(rig()).unwrap();
        let clip = mixer.clip_named("b").unwrap();
        crowd.player(i).unwrap().fade_to(0, b, 0.7, &options).unwrap();
        mixer.player().fade_to(0, clip, 0.7, &options).unwrap();
        pairs.push((i, mixer, clip));
        let dt = if n % 50 == 49 { 4000.3 } else { 1.0 / 60.0 };
        crowd.advance(dt).unwrap();
        for (i, mixer, clip) in &mut pairs {
            mixer.advance(dt).unwrap();
            let have = crowd.playing(*i).unwrap().action(0, b).unwrap();
            assert_eq!(have, mixer.playing().action(0, *clip).unwrap());
        }
    }
}

/// Nothing moves in a step of less than a tick, and nothing is lost to it.
#[test]
fn steps_below_a_tick() {
    let (mut mixer, clips) = playing(1.0);
    mixer.advance(0.5).unwrap();
    let start = states(&mixer, clips);
    for dt in [1e-300, -1e-300, 1e-15, f64::MIN_POSITIVE] {
        mixer.advance(dt).unwrap();
    }
    assert_eq!(states(&mixer, clips), start);
    mixer.advance(0.5).unwrap();
    assert_eq!(states(&mixer, clips)[1].weight, 0.25);
}
