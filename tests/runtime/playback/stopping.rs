//! What a call stops, starts or weighs is in the next evaluation, though the one before knew another set
//! of clips.

use phalanx::playback::{ClipId, LayerOptions, Mixer, PlayOptions};
use phalanx::rig::Rig;
use phalanx_testkit::ruler::{between, held, line, rest, stands, with_clips};
use std::sync::Arc;

/// The ruler's clips, but that "x" stands still at 0.5 m along x: what is constant is folded into a plan.
fn ruler() -> Arc<Rig> {
    with_clips(vec![
        between("x", 1.0, [0.5, 0.0, 0.0], [0.5, 0.0, 0.0]),
        line("y", 1.0, [0.0, 2.0, 0.0]),
        line("z", 2.0, [0.0, 0.0, 3.0]),
    ])
}

/// A mixer of that many layers that has been evaluated with "x" at 0.5 s on each of them.
fn playing(layers: usize) -> (Mixer, ClipId) {
    let mut mixer = Mixer::with_layers(ruler(), vec![LayerOptions::default(); layers]).unwrap();
    let x = mixer.clip_named("x").unwrap();
    for layer in 0..layers {
        mixer.player().play(layer, x, &held(0.5, 1.0)).unwrap();
    }
    stands(mixer.evaluate(), [0.5, 0.0, 0.0]);
    (mixer, x)
}

/// Asserts that nothing plays and that the pose is the rest pose.
#[track_caller]
fn rests(mixer: &mut Mixer, x: ClipId, layers: usize) {
    assert_eq!(mixer.evaluate(), rest());
    assert_eq!(mixer.palette(), rest());
    assert_eq!(mixer.model_matrices(), rest());
    for layer in 0..layers {
        assert!(mixer.playing().action(layer, x).is_err());
    }
    assert!(mixer.unload_clip(x).is_ok());
}

#[test]
fn stop_all_leaves_the_rest_pose() {
    for layers in 1..=3 {
        let (mut mixer, x) = playing(layers);
        mixer.player().stop_all(0.0).unwrap();
        rests(&mut mixer, x, layers);
        let (mut mixer, x) = playing(layers);
        mixer.player().stop_all(0.0).unwrap();
        rests(&mut mixer, x, layers);
        let (mut mixer, x) = playing(layers);
        mixer.player().stop_all(0.25).unwrap();
        mixer.advance(0.125).unwrap();
        // The uppermost layer leaves half to the rest pose.
        stands(mixer.evaluate(), [0.25, 0.0, 0.0]);
        mixer.advance(0.125).unwrap();
        rests(&mut mixer, x, layers);
    }
}

#[test]
fn stopping_one_leaves_the_rest_pose() {
    let (mut mixer, x) = playing(1);
    mixer.player().stop(0, x, 0.0).unwrap();
    rests(&mut mixer, x, 1);
    let (mut mixer, x) = playing(1);
    mixer.player().stop_layer(0, 0.0).unwrap();
    rests(&mut mixer, x, 1);
    // What has no weight has nothing to fade out.
    let (mut mixer, x) = playing(1);
    mixer.player().set_weight(0, x, 0.0).unwrap();
    mixer.player().stop(0, x, 1.0).unwrap();
    rests(&mut mixer, x, 1);
}

/// Of several, those that are left share the layer.
#[test]
fn the_others_stay() {
    let (mut mixer, x) = playing(1);
    let y = mixer.clip_named("y").unwrap();
    mixer.player().add(0, y, &held(0.25, 1.0)).unwrap();
    stands(mixer.evaluate(), [0.25, 0.25, 0.0]);
    mixer.player().stop(0, x, 0.0).unwrap();
    stands(mixer.evaluate(), [0.0, 0.5, 0.0]);
    mixer.player().add(0, x, &held(0.5, 0.25)).unwrap();
    stands(mixer.evaluate(), [0.1, 0.4, 0.0]);
    mixer.player().set_weight(0, y, 0.0).unwrap();
    stands(mixer.evaluate(), [0.125, 0.0, 0.0]);
    mixer.player().set_weight(0, x, 1.0).unwrap();
    stands(mixer.evaluate(), [0.5, 0.0, 0.0]);
    mixer.player().fade_to(0, y, 0.0, &held(0.25, 1.0)).unwrap();
    stands(mixer.evaluate(), [0.0, 0.5, 0.0]);
    // The one that plays takes another weight by the fade to itself.
    mixer.player().fade_to(0, y, 0.5, &held(0.25, 0.5)).unwrap();
    mixer.advance(0.5).unwrap();
    stands(mixer.evaluate(), [0.0, 0.25, 0.0]);
    mixer.player().play(0, x, &held(0.25, 0.5)).unwrap();
    stands(mixer.evaluate(), [0.25, 0.0, 0.0]);
}

#[test]
fn the_weight_of_a_layer_is_in_the_next_pose() {
    let (mut mixer, x) = playing(2);
    let y = mixer.clip_named("y").unwrap();
    mixer.player().play(1, y, &held(0.5, 1.0)).unwrap();
    stands(mixer.evaluate(), [0.0, 1.0, 0.0]);
    mixer.player().set_layer_weight(1, 0.5).unwrap();
    stands(mixer.evaluate(), [0.25, 0.5, 0.0]);
    mixer.player().set_layer_weight(1, 0.0).unwrap();
    stands(mixer.evaluate(), [0.5, 0.0, 0.0]);
    mixer.player().set_layer_weight(1, 0.25).unwrap();
    stands(mixer.evaluate(), [0.375, 0.25, 0.0]);
    mixer.player().stop(0, x, 0.0).unwrap();
    stands(mixer.evaluate(), [0.0, 0.25, 0.0]);
    mixer.player().set_layer_weight(1, 1.0).unwrap();
    stands(mixer.evaluate(), [0.0, 1.0, 0.0]);
    // What ends in a step is out of the pose after it.
    mixer.player().fade_layer(1, 0.0, 0.25).unwrap();
    stands(mixer.evaluate(), [0.0, 1.0, 0.0]);
    mixer.advance(0.25).unwrap();
    stands(mixer.evaluate(), [0.0; 3]);
}

/// A layer without weight is left out of a pose, and one in full leaves out what lies below.
#[test]
fn a_layer_that_counted_for_nothing_or_all_is_weighed_again() {
    let (mut mixer, x) = playing(2);
    let y = mixer.clip_named("y").unwrap();
    mixer.player().stop_all(0.0).unwrap();
    mixer.player().set_layer_weight(1, 0.0).unwrap();
    mixer.player().play(1, y, &held(0.5, 1.0)).unwrap();
    mixer.player().play(0, x, &held(0.5, 1.0)).unwrap();
    stands(mixer.evaluate(), [0.5, 0.0, 0.0]);
    mixer.player().fade_layer(1, 0.5, 0.0).unwrap();
    stands(mixer.evaluate(), [0.25, 0.5, 0.0]);
    // Alone, and in full: the rest pose has no part in it.
    let (mut mixer, _) = playing(1);
    stands(mixer.evaluate(), [0.5, 0.0, 0.0]);
    mixer.player().set_layer_weight(0, 0.5).unwrap();
    stands(mixer.evaluate(), [0.25, 0.0, 0.0]);
}

/// A clip that ends by itself, and a blend space whose neighbours change.
#[test]
fn what_a_step_or_a_parameter_changes_is_in_the_next_pose() {
    let (mut mixer, x) = playing(1);
    let [y, z] = ["y", "z"].map(|name| mixer.clip_named(name).unwrap());
    let once = PlayOptions {
        time: 0.5,
        loop_mode: phalanx::playback::LoopMode::Once,
        at_end: phalanx::playback::AtEnd::Stop,
        ..PlayOptions::default()
    };
    mixer.player().play(0, x, &once).unwrap();
    stands(mixer.evaluate(), [0.5, 0.0, 0.0]);
    mixer.advance(0.5).unwrap();
    stands(mixer.evaluate(), [0.0; 3]);
    let space = mixer.add_blend_space(&[(0.0, x), (1.0, y), (2.0, z)]);
    let space = space.unwrap();
    mixer.player().play(0, space, &held(0.5, 1.0)).unwrap();
    stands(mixer.evaluate(), [0.5, 0.0, 0.0]);
    let mut at = |value, place| {
        mixer.player().set_parameter(0, space, value).unwrap();
        stands(mixer.evaluate(), place);
        stands(&mixer.model_matrices(), place);
    };
    at(0.5, [0.25, 0.5, 0.0]);
    at(0.75, [0.125, 0.75, 0.0]);
    at(1.5, [0.0, 0.5, 0.75]);
    at(2.5, [0.0, 0.0, 1.5]);
    at(-1.0, [0.5, 0.0, 0.0]);
}
