//! Calls on an action that plays already: what it had been set to before goes, or stays.

use phalanx::playback::{ClipId, CrossFade, LoopMode, Mixer, PlayOptions};
use phalanx_testkit::ruler::{held, line, ruler, stands, with_clips};

/// A mixer that plays "x", which goes 1 m along x in 1 s.
fn playing(options: &PlayOptions) -> (Mixer, ClipId) {
    let mut mixer = Mixer::new(ruler()).unwrap();
    let x = mixer.clip_named("x").unwrap();
    mixer.player().play(0, x, options).unwrap();
    (mixer, x)
}

/// A mixer 0.25 s into a warp of 1 s from "x" to "z" of 2 s, whose speed runs from 2 to 1.
fn warping() -> (Mixer, ClipId, ClipId) {
    let (mut mixer, x) = playing(&PlayOptions::default());
    let z = mixer.clip_named("z").unwrap();
    let fade = CrossFade { warp: true, ..1.0.into() };
    let mut player = mixer.player();
    player.cross_fade(0, x, z, fade, &PlayOptions::default()).unwrap();
    mixer.advance(0.25).unwrap();
    assert_eq!(mixer.playing().action(0, z).unwrap().speed, 1.75);
    (mixer, x, z)
}

#[test]
fn a_fade_to_a_paused_action_resumes_it() {
    let (mut mixer, x) = playing(&PlayOptions::default());
    let options = PlayOptions::default();
    mixer.advance(0.25).unwrap();
    mixer.player().set_paused(0, x, true).unwrap();
    mixer.advance(0.25).unwrap();
    assert_eq!(mixer.playing().action(0, x).unwrap().time, 0.25);
    mixer.player().fade_to(0, x, 0.5, &options).unwrap();
    mixer.advance(0.25).unwrap();
    assert_eq!(mixer.playing().action(0, x).unwrap().time, 0.5);
    // So has a restart, from the start.
    mixer.player().set_paused(0, x, true).unwrap();
    mixer.player().restart(0, x, &options).unwrap();
    mixer.advance(0.125).unwrap();
    assert_eq!(mixer.playing().action(0, x).unwrap().time, 0.125);
}

#[test]
fn a_fade_to_a_finished_clip_starts_it_again() {
    let once = PlayOptions { loop_mode: LoopMode::Once, ..PlayOptions::default() };
    let (mut mixer, x) = playing(&once);
    mixer.advance(2.0).unwrap();
    stands(mixer.evaluate(), [1.0, 0.0, 0.0]);
    mixer.player().fade_to(0, x, 0.5, &once).unwrap();
    mixer.advance(0.25).unwrap();
    stands(mixer.evaluate(), [0.25, 0.0, 0.0]);
}

#[test]
fn a_speed_that_is_set_ends_a_warp() {
    let speed = |mixer: &mut Mixer, z| {
        mixer.advance(0.25).unwrap();
        mixer.playing().action(0, z).unwrap().speed
    };
    let (mut mixer, _, z) = warping();
    assert_eq!(speed(&mut mixer, z), 1.5);
    mixer.player().set_speed(0, z, 3.0).unwrap();
    assert_eq!(speed(&mut mixer, z), 3.0);
    let (mut mixer, _, z) = warping();
    let half = PlayOptions { speed: 0.5, ..PlayOptions::default() };
    mixer.player().fade_to(0, z, 1.0, &half).unwrap();
    assert_eq!(speed(&mut mixer, z), 0.5);
    // To the speed that it leads to the warp goes on.
    let (mut mixer, _, z) = warping();
    let options = PlayOptions::default();
    mixer.player().fade_to(0, z, 1.0, &options).unwrap();
    assert_eq!(speed(&mut mixer, z), 1.5);
    // What starts has none.
    mixer.player().restart(0, z, &options).unwrap();
    assert_eq!(speed(&mut mixer, z), 1.0);
}

/// A warp runs to its end though no weight changes any more.
#[test]
fn a_warp_goes_on_without_its_fades() {
    let (mut mixer, x, z) = warping();
    mixer.player().stop(0, x, 0.0).unwrap();
    mixer.player().set_weight(0, z, 1.0).unwrap();
    for speed in [1.5, 1.25, 1.0, 1.0] {
        mixer.advance(0.25).unwrap();
        assert_eq!(mixer.playing().action(0, z).unwrap().speed, speed);
    }
}

/// On its way back through a ping-pong, the clip goes on from where it stands.
#[test]
fn another_loop_goes_on_from_the_clip_time_shown() {
    let (mut mixer, x) =
        playing(&PlayOptions { loop_mode: LoopMode::PingPong, ..PlayOptions::default() });
    mixer.advance(1.25).unwrap();
    stands(mixer.evaluate(), [0.75, 0.0, 0.0]);
    let mut player = mixer.player();
    player.set_loop(0, x, LoopMode::Repeat, None).unwrap();
    stands(mixer.evaluate(), [0.75, 0.0, 0.0]);
    mixer.advance(0.125).unwrap();
    stands(mixer.evaluate(), [0.875, 0.0, 0.0]);
}

/// A clip that takes the place of one that was unloaded is played by its own keys.
#[test]
fn another_clip_in_the_same_place() {
    let (mut mixer, x) = playing(&held(0.5, 1.0));
    stands(mixer.evaluate(), [0.5, 0.0, 0.0]);
    mixer.player().stop_all(0.0).unwrap();
    let clip = mixer.unload_clip(x).unwrap();
    let other = with_clips(vec![line("other", 1.0, [0.0, 0.0, 3.0])]).clips()[0].clone();
    for (clip, place) in [(other, [0.0, 0.0, 1.5]), (clip, [0.5, 0.0, 0.0])] {
        let id = mixer.add_clip(clip).unwrap();
        mixer.player().play(0, id, &held(0.5, 1.0)).unwrap();
        stands(mixer.evaluate(), place);
        mixer.player().stop_all(0.0).unwrap();
        mixer.unload_clip(id).unwrap();
    }
}

/// Where an action ends depends on the speeds of its layer and character too, and on the sign of the step.
#[test]
fn what_other_speeds_bring_to_an_end_has_finished() {
    let once = |time: f64, speed: f32| PlayOptions {
        loop_mode: LoopMode::Once,
        time,
        speed,
        ..PlayOptions::default()
    };
    // The start of the clip, backwards by the character's speed; its end, forwards by two negative speeds.
    for (options, character, end) in [(once(0.5, 1.0), -1.0, 0.0), (once(0.5, -1.0), -1.0, 1.0)] {
        let (mut mixer, x) = playing(&options);
        mixer.player().set_character_speed(character).unwrap();
        let state = |mixer: &Mixer| {
            let state = mixer.playing().action(0, x).unwrap();
            (state.time, state.finished)
        };
        mixer.advance(0.25).unwrap();
        assert!(!state(&mixer).1);
        mixer.advance(0.5).unwrap();
        assert_eq!(state(&mixer), (end, true));
        // Still there after another step, and no longer once it is led away.
        mixer.advance(0.5).unwrap();
        assert_eq!(state(&mixer), (end, true));
        mixer.player().set_character_speed(-character).unwrap();
        mixer.advance(0.25).unwrap();
        assert_eq!(state(&mixer), ((end - 0.25).abs(), false));
        mixer.player().set_character_speed(character).unwrap();
        mixer.advance(0.5).unwrap();
        mixer.player().play(0, x, &options).unwrap();
        assert_eq!(state(&mixer), (0.5, false), "it starts again");
    }
}

/// A weight that is where it is sent to stays as it is: no fade runs, so another call has its own seconds.
#[test]
fn fades_to_the_weight_that_stands_change_nothing() {
    let (mut mixer, x) = playing(&PlayOptions::default());
    mixer.advance(0.25).unwrap();
    let before = mixer.snapshot();
    let mut player = mixer.player();
    player.fade(0, x, 1.0, 0.5).unwrap();
    player.fade_layer(0, 1.0, 0.5).unwrap();
    player.set_weight(0, x, 1.0).unwrap();
    player.set_layer_weight(0, 1.0).unwrap();
    assert!(mixer.snapshot() == before);
}
