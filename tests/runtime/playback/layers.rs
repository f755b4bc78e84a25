//! Layers: many of them, fades of theirs, what fills them.

use super::stage::{JOINTS, raw, rig};
use phalanx::build::{AdditiveReference, build_additive_raw};
use phalanx::math::Affine3x4;
use phalanx::playback::{Fill, LayerOptions, MAX_LAYERS, Mixer, PlayOptions};
use phalanx::skeleton::JointMask;
use std::sync::Arc;

fn at(time: f64, weight: f32) -> PlayOptions {
    PlayOptions { time, weight, speed: 0.0, ..PlayOptions::default() }
}

fn close(a: &[Affine3x4], b: &[Affine3x4]) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        for (x, y) in a.rows.iter().flatten().zip(b.rows.iter().flatten()) {
            assert!((x - y).abs() < 1e-5, "{a:?} {b:?}");
        }
    }
}

/// An action that fades alone on a layer that fills from below is the layer's fade, and no pop.
#[test]
fn a_layer_that_fills_from_below_comes_and_goes_without_a_pop() {
    let layers = |fill| {
        let mask = JointMask::subtree(rig().skeleton(), 5).unwrap();
        let upper = LayerOptions { mask: Some(mask), fill, ..LayerOptions::default() };
        let layers = vec![LayerOptions::default(), upper];
        let mut mixer = Mixer::with_layers(rig(), layers).unwrap();
        let [a, c] = ["a", "c"].map(|n| mixer.clip_named(n).unwrap());
        mixer.player().play(0, a, &at(0.3, 1.0)).unwrap();
        (mixer, c)
    };
    let (mut filled, c) = layers(Fill::Below);
    let (mut faded, _) = layers(Fill::Rest);
    let alone = filled.evaluate().to_vec();
    filled.player().fade_to(1, c, 0.5, &at(0.9, 1.0)).unwrap();
    faded.player().play(1, c, &at(0.9, 1.0)).unwrap();
    faded.player().set_layer_weight(1, 0.0).unwrap();
    faded.player().fade_layer(1, 1.0, 0.5).unwrap();
    close(filled.evaluate(), &alone);
    for step in 0..30 {
        if step == 12 {
            filled.player().stop_layer(1, 0.4).unwrap();
            faded.player().fade_layer(1, 0.0, 0.4).unwrap();
        }
        close(filled.evaluate(), faded.evaluate());
        close(&filled.model_matrices(), &faded.model_matrices());
        filled.advance(0.03).unwrap();
        faded.advance(0.03).unwrap();
    }
    assert_eq!(faded.playing().layer_weight(1).unwrap(), 0.0);
    close(filled.evaluate(), &alone);
    // The rule of the rest pose, which takes what an action alone leaves.
    let (mut rest, c) = layers(Fill::Rest);
    rest.player().fade_to(1, c, 0.5, &at(0.9, 1.0)).unwrap();
    rest.advance(0.01).unwrap();
    let far = |rows: &[Affine3x4]| {
        let d = rows[JOINTS - 1].rows[1][1] - alone[JOINTS - 1].rows[1][1];
        d.abs()
    };
    assert!(far(rest.evaluate()) > 1e-2);
}

/// Weights too small to be divided by leave what lies below, not NaN.
#[test]
fn denormal_weights_stay_numbers() {
    let layer = |fill| LayerOptions { fill, ..LayerOptions::default() };
    let layers = vec![layer(Fill::Rest), layer(Fill::Below)];
    let mut mixer = Mixer::with_layers(rig(), layers).unwrap();
    let [a, c] = ["a", "c"].map(|n| mixer.clip_named(n).unwrap());
    mixer.player().play(0, a, &at(0.3, 1.0)).unwrap();
    let alone = mixer.evaluate().to_vec();
    for weight in [1e-45, 1e-40, f32::MIN_POSITIVE] {
        mixer.player().play(1, c, &at(0.9, weight)).unwrap();
        for layer_weight in [1.0, weight] {
            mixer.player().set_layer_weight(1, layer_weight).unwrap();
            close(mixer.evaluate(), &alone);
            close(&mixer.model_matrices(), &alone);
        }
    }
}

#[test]
fn sixteen_layers_each_over_a_joint_of_its_own() {
    let rig = rig();
    let skeleton = rig.skeleton();
    let mut layers = vec![LayerOptions::default()];
    for joint in 1..MAX_LAYERS {
        let path = format!("joint{}", joint % JOINTS);
        let mask = JointMask::from_joints(skeleton, &[(&path, 1.0)]).unwrap();
        layers.push(LayerOptions { mask: Some(mask), ..LayerOptions::default() });
    }
    let mut mixer = Mixer::with_layers(rig, layers).unwrap();
    let c = mixer.clip_named("c").unwrap();
    for layer in 0..MAX_LAYERS {
        mixer.player().play(layer, c, &at(0.7, 1.0)).unwrap();
    }
    let mut plain = Mixer::new(super::stage::rig()).unwrap();
    plain.player().play(0, c, &at(0.7, 1.0)).unwrap();
    close(mixer.evaluate(), plain.evaluate());
    assert!(Mixer::with_layers(super::stage::rig(), vec![LayerOptions::default(); 17]).is_err());
}

/// Taking away what was added gives back the clip below.
#[test]
fn additive_clips_against_frames_and_rest_add_and_subtract() {
    let (raw, rig) = (raw(), rig());
    for reference in [AdditiveReference::Rest, AdditiveReference::Frame(1, 0.2)] {
        let additive = build_additive_raw(&rig, (&raw, 1), reference).unwrap();
        let layer = LayerOptions { additive: true, ..LayerOptions::default() };
        let layers = vec![LayerOptions::default(), layer.clone(), layer];
        let mut mixer = Mixer::with_layers(rig.clone(), layers).unwrap();
        let d = mixer.add_clip(Arc::new(additive)).unwrap();
        let [a, b] = ["a", "b"].map(|n| mixer.clip_named(n).unwrap());
        mixer.player().play(0, a, &at(0.3, 1.0)).unwrap();
        let plain = mixer.evaluate().to_vec();
        mixer.player().play(1, d, &at(0.5, 1.0)).unwrap();
        assert!(mixer.evaluate() != plain);
        mixer.player().play(2, d, &at(0.5, -1.0)).unwrap();
        close(mixer.evaluate(), &plain);
        // On its own reference an additive clip is the clip.
        mixer.player().stop_layer(2, 0.0).unwrap();
        match reference {
            AdditiveReference::Frame(..) => {
                mixer.player().play(0, b, &at(f64::from(0.2f32), 1.0)).unwrap();
            }
            _ => mixer.player().stop_layer(0, 0.0).unwrap(),
        }
        let added = mixer.evaluate().to_vec();
        mixer.player().stop_all(0.0).unwrap();
        mixer.player().play(0, b, &at(0.5, 1.0)).unwrap();
        close(mixer.evaluate(), &added);
    }
}
