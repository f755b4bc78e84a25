//! Calls on an action that plays already: what it had been set to before goes, or stays.

use phalanx::playback::{ClipId, CrossFade, LoopMode, Mixer, PlayOptions};
use phalanx_testkit::ruler::{held, line, ruler, stands, with_clips};

/// A mixer that plays "x", which goes 1 m along x in 1 s.
fn playing(options: &PlayOptions) -> (Mixer, ClipId) {
    let mut mixer = Mixer::new(ruler()).unwrap();
    let x = mixer.find_clip("x").unwrap();
    mixer.player().play(0, x, options).unwrap();
    (mixer, x)
}

/// A mixer 0.25 s into a warp of 1 s from "x" to "z" of 2 s, whose speed runs from 2 to 1.
fn warping() -> (Mixer, ClipId, ClipId) {
    let (mut mixer, x) = playing(&PlayOptions::default());
    let z = mixer.find_clip("z").unwrap();
    let fade = CrossFade {
        warp: true,
        ..1.0.into()
    };
    let mut player = mixer.player();
    player
        .cross_fade(0, x, z, fade, &PlayOptions::default())
        .unwrap();
    mixer.update(0.25).unwrap();
    assert_eq!(mixer.player().action(0, z).unwrap().speed, 1.75);
    (mixer, x, z)
}

#[test]
fn a_fade_to_what_is_paused_has_it_go_on() {
    let (mut mixer, x) = playing(&PlayOptions::default());
    let options = PlayOptions::default();
    mixer.update(0.25).unwrap();
    mixer.player().set_paused(0, x, true).unwrap();
    mixer.update(0.25).unwrap();
    assert_eq!(mixer.player().action(0, x).unwrap().time, 0.25);
    mixer.player().fade_to(0, x, 0.5, &options).unwrap();
    mixer.update(0.25).unwrap();
    assert_eq!(mixer.player().action(0, x).unwrap().time, 0.5);
    // So has a reset, from the start.
    mixer.player().set_paused(0, x, true).unwrap();
    mixer.player().reset(0, x).unwrap();
    mixer.update(0.125).unwrap();
    assert_eq!(mixer.player().action(0, x).unwrap().time, 0.125);
}

#[test]
fn a_fade_to_what_has_finished_starts_it_again() {
    let once = PlayOptions {
        loop_mode: LoopMode::Once,
        ..PlayOptions::default()
    };
    let (mut mixer, x) = playing(&once);
    mixer.update(2.0).unwrap();
    stands(mixer.evaluate(), [1.0, 0.0, 0.0]);
    mixer.player().fade_to(0, x, 0.5, &once).unwrap();
    mixer.update(0.25).unwrap();
    stands(mixer.evaluate(), [0.25, 0.0, 0.0]);
}

#[test]
fn a_speed_that_is_set_ends_a_warp() {
    let speed = |mixer: &mut Mixer, z| {
        mixer.update(0.25).unwrap();
        mixer.player().action(0, z).unwrap().speed
    };
    let (mut mixer, _, z) = warping();
    assert_eq!(speed(&mut mixer, z), 1.5);
    mixer.player().set_speed(0, z, 3.0).unwrap();
    assert_eq!(speed(&mut mixer, z), 3.0);
    let (mut mixer, _, z) = warping();
    let options = PlayOptions::default();
    mixer.player().fade_to(0, z, 1.0, &options).unwrap();
    assert_eq!(speed(&mut mixer, z), 1.0);
    // A reset brings the speed that the warp leads to.
    let (mut mixer, _, z) = warping();
    mixer.player().reset(0, z).unwrap();
    assert_eq!(speed(&mut mixer, z), 1.0);
}

/// A warp runs to its end though no weight changes any more.
#[test]
fn a_warp_goes_on_without_its_fades() {
    let (mut mixer, x, z) = warping();
    mixer.player().stop(0, x, 0.0).unwrap();
    mixer.player().set_weight(0, z, 1.0).unwrap();
    for speed in [1.5, 1.25, 1.0, 1.0] {
        mixer.update(0.25).unwrap();
        assert_eq!(mixer.player().action(0, z).unwrap().speed, speed);
    }
}

/// On its way back through a ping-pong, the clip goes on from where it stands.
#[test]
fn another_loop_goes_on_from_the_clip_time_shown() {
    let (mut mixer, x) = playing(&PlayOptions {
        loop_mode: LoopMode::PingPong,
        ..PlayOptions::default()
    });
    mixer.update(1.25).unwrap();
    stands(mixer.evaluate(), [0.75, 0.0, 0.0]);
    let mut player = mixer.player();
    player.set_loop(0, x, LoopMode::Repeat, None).unwrap();
    stands(mixer.evaluate(), [0.75, 0.0, 0.0]);
    mixer.update(0.125).unwrap();
    stands(mixer.evaluate(), [0.875, 0.0, 0.0]);
}

/// A clip that takes the place of one that was unloaded is played by its own keys.
#[test]
fn another_clip_in_the_same_place() {
    let (mut mixer, x) = playing(&held(0.5, 1.0));
    stands(mixer.evaluate(), [0.5, 0.0, 0.0]);
    mixer.stop_all();
    let clip = mixer.unload_clip(x).unwrap();
    let other = with_clips(vec![line("other", 1.0, [0.0, 0.0, 3.0])]).clips()[0].clone();
    for (clip, place) in [(other, [0.0, 0.0, 1.5]), (clip, [0.5, 0.0, 0.0])] {
        let id = mixer.add_clip(clip).unwrap();
        mixer.player().play(0, id, &held(0.5, 1.0)).unwrap();
        stands(mixer.evaluate(), place);
        mixer.stop_all();
        mixer.unload_clip(id).unwrap();
    }
}
