//! The mixer: the same bits as an instance of a crowd, and its own ways.

use super::stage::{raw, rig};
use glam::{Affine3A, Vec3};
use phalanx::build::{AdditiveReference, build_additive_raw};
use phalanx::crowd::{BoneBuffer, Crowd};
use phalanx::import::mannequin;
use phalanx::math::Affine3x4;
use phalanx::playback::{ClipId, Fill, LayerOptions, LoopMode, Mixer, PlayOptions, Player};
use phalanx::scene::SceneGraph;
use phalanx::skeleton::JointMask;
use std::sync::Arc;

/// The same calls on a mixer and on the middle one of three instances give the same palette bits.
#[test]
fn a_mixer_gives_the_bits_of_an_instance() {
    let rig = Arc::new(mannequin().unwrap());
    let mut mixer = Mixer::new(rig.clone()).unwrap();
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig).unwrap();
    let instances = [0; 3].map(|_| crowd.spawn(id).unwrap());
    let mut buffer = BoneBuffer::new();
    let names = ["Walk", "Run", "Wave", "Jog", "Cheer", "Attack"];
    for frame in 0..240usize {
        let call = |player: &mut Player<'_>, clips: [_; 6]| {
            let options = PlayOptions {
                speed: 1.0 - 0.01 * frame as f32,
                loop_mode: [LoopMode::Repeat, LoopMode::PingPong, LoopMode::Once][frame % 3],
                time: 0.1 * frame as f64,
                ..PlayOptions::default()
            };
            let [a, b] = [clips[frame / 20 % 6], clips[frame / 17 % 6]];
            let done = match frame % 20 {
                0 => player.fade_to(0, a, 0.4, &options),
                3 if frame % 40 == 3 => player.restart(0, b, &options),
                7 => player.cross_fade(0, a, b, 0.3, &options),
                11 => player.set_time(0, b, 0.3),
                15 => player.set_layer_weight(0, 0.75),
                17 => player.fade_layer(0, 1.0, 0.2),
                _ => Ok(()),
            };
            done.is_ok()
        };
        let clips = names.map(|n| mixer.clip_named(n).unwrap());
        let one = call(&mut mixer.player(), clips);
        let clips = names.map(|n| crowd.clip_named(id, n).unwrap());
        let other = call(&mut crowd.player(instances[1]).unwrap(), clips);
        assert_eq!(one, other, "frame {frame}");
        mixer.advance(1.0 / 60.0).unwrap();
        crowd.advance(1.0 / 60.0).unwrap();
        let mine = mixer.events().iter().map(|e| (e.kind, e.time));
        assert!(mine.eq(crowd.events().iter().map(|e| (e.kind, e.time))));
        crowd.evaluate(&mut buffer);
        let rows = &buffer.rows()[crowd.palette_range(instances[1]).unwrap()];
        assert!(mixer.evaluate() == rows, "frame {frame}");
    }
    assert_eq!(mixer.evicted(), crowd.evicted());
}

/// The same with layers over each other: a mask, an additive clip of negative weight, a layer that fills
/// from below, a blend space.
#[test]
fn layers_and_blend_spaces_give_the_same_bits() {
    let rig = rig();
    let upper = JointMask::subtree(rig.skeleton(), "joint5").unwrap();
    let layers = vec![
        LayerOptions::default(),
        LayerOptions { mask: Some(upper.clone()), fill: Fill::Below, ..LayerOptions::default() },
        LayerOptions { additive: true, mask: Some(upper), ..LayerOptions::default() },
    ];
    let added = build_additive_raw(&rig, (&raw(), 1), AdditiveReference::Rest);
    let added = Arc::new(added.unwrap());
    let mut mixer = Mixer::with_layers(rig.clone(), layers.clone()).unwrap();
    let mut crowd = Crowd::new();
    let id = crowd.add_rig_with_layers(rig, layers).unwrap();
    let instances = [0; 3].map(|_| crowd.spawn(id).unwrap());
    let mine = mixer.add_clip(added.clone()).unwrap();
    let theirs = crowd.add_clip(id, added).unwrap();
    let points = [(1.4, "a"), (2.7, "b"), (4.5, "c")];
    let points_of = |find: &dyn Fn(&str) -> ClipId| points.map(|(at, name)| (at, find(name)));
    let my_points = points_of(&|n| mixer.clip_named(n).unwrap());
    let their_points = points_of(&|n| crowd.clip_named(id, n).unwrap());
    let my_space = mixer.add_blend_space(&my_points).unwrap();
    let their_space = crowd.add_blend_space(id, &their_points).unwrap();
    let my_wave = mixer.clip_named("c").unwrap();
    let their_wave = crowd.clip_named(id, "c").unwrap();
    let mut buffer = BoneBuffer::new();
    for frame in 0..90usize {
        let call = |player: &mut Player<'_>, space, wave: ClipId, added: ClipId| {
            let options = PlayOptions::default();
            match frame {
                0 => player.play(0, space, &options).unwrap(),
                10 => player.fade_to(1, wave, 0.3, &options).unwrap(),
                20 => player.add(2, added, &options).unwrap(),
                30 => player.set_weight(2, added, -0.6).unwrap(),
                40 => player.set_layer_speed(1, 1.7).unwrap(),
                50 => player.fade_layer(2, 0.25, 0.2).unwrap(),
                60 => player.stop_layer(1, 0.3).unwrap(),
                _ => player.set_parameter(0, space, 0.06 * frame as f32).unwrap(),
            }
        };
        call(&mut mixer.player(), my_space, my_wave, mine);
        let mut player = crowd.player(instances[1]).unwrap();
        call(&mut player, their_space, their_wave, theirs);
        mixer.advance(1.0 / 60.0).unwrap();
        crowd.advance(1.0 / 60.0).unwrap();
        crowd.evaluate(&mut buffer);
        let rows = &buffer.rows()[crowd.palette_range(instances[1]).unwrap()];
        assert!(mixer.evaluate() == rows, "frame {frame}");
    }
}

/// A mixer's joints as nodes of a scene: an attached object follows the joint's model matrix.
#[test]
fn joints_of_a_mixer_are_nodes_of_a_scene() {
    let rig = Arc::new(mannequin().unwrap());
    let mut mixer = Mixer::new(rig.clone()).unwrap();
    let attack = mixer.clip_named("Attack").unwrap();
    mixer.player().play(0, attack, &PlayOptions::default()).unwrap();
    mixer.advance(0.4).unwrap();
    let mut scene = SceneGraph::new();
    let mirror = scene.add_mirror(rig.skeleton()).unwrap();
    let sword = scene.add(None, Affine3x4::IDENTITY).unwrap();
    let grip = Affine3A::from_translation(Vec3::new(0.0, 0.1, 0.02));
    scene.attach(sword, mirror, "RightHand", grip).unwrap();
    scene.set_models(mirror, &mixer.model_matrices()).unwrap();
    scene.update();
    let hand = mixer.model_matrix("RightHand").unwrap();
    assert_eq!(hand, mixer.model_matrices()[rig.skeleton().joint("RightHand").unwrap()]);
    let want = Affine3A::from(hand) * grip;
    let have = Affine3A::from(Affine3x4::from(*scene.world(sword).unwrap()));
    assert!(have.abs_diff_eq(want, 1e-5), "{have} {want}");
    assert!(want.translation.length() > 0.5);
}

/// Overrides of a mixer are those of a crowd's instance: the same palette, and snapshots hold them.
#[test]
fn a_mixer_has_overrides_as_an_instance_has() {
    use phalanx::crowd::{BoneBuffer, Crowd};
    use phalanx::math::Affine3x4;
    let rig = Arc::new(mannequin().unwrap());
    let mut mixer = Mixer::new(rig.clone()).unwrap();
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig.clone()).unwrap();
    let instance = crowd.spawn(id).unwrap();
    let options = PlayOptions::default();
    let walk = mixer.clip_named("Walk").unwrap();
    mixer.player().play(0, walk, &options).unwrap();
    let walk = crowd.clip_named(id, "Walk").unwrap();
    crowd.play(instance, walk, &options).unwrap();
    let head = rig.skeleton().joint("Head").unwrap();
    let turned = Affine3x4::from(glam::Affine3A::from_rotation_y(0.7));
    let mut bones = BoneBuffer::new();
    let mut same = |mixer: &mut Mixer, crowd: &mut Crowd| {
        mixer.advance(0.1).unwrap();
        crowd.advance(0.1).unwrap();
        crowd.evaluate(&mut bones);
        assert_eq!(mixer.evaluate(), bones.rows());
        mixer.palette().to_vec()
    };
    let plain = same(&mut mixer, &mut crowd);
    mixer.player().set_override("Head", turned).unwrap();
    crowd.player(instance).unwrap().set_override("Head", turned).unwrap();
    assert_ne!(same(&mut mixer, &mut crowd), plain);
    // What is written for a player works for both.
    let bend = |mut player: phalanx::playback::Player<'_>| {
        player.clear_overrides();
        player.set_override("Neck", turned).unwrap();
        player.set_override("Head", turned).unwrap();
        player.clear_override("Neck").unwrap();
        assert!(player.clear_override("Nekc").is_err());
        let kept: Vec<_> = player.playing().overrides().map(|o| o.0).collect();
        assert_eq!(kept, [head]);
    };
    bend(mixer.player());
    bend(crowd.player(instance).unwrap());
    assert_ne!(same(&mut mixer, &mut crowd), plain);
    assert_eq!(mixer.playing().overrides().collect::<Vec<_>>(), [(head, &turned)]);
    let snapshot = mixer.snapshot();
    let bytes = phalanx::playback::MixerSnapshot::from_bytes(&snapshot.to_bytes()).unwrap();
    mixer.player().clear_override(head).unwrap();
    crowd.player(instance).unwrap().clear_override(head).unwrap();
    assert_eq!(mixer.playing().overrides().count(), 0);
    same(&mut mixer, &mut crowd);
    mixer.restore(&bytes).unwrap();
    assert_eq!(mixer.playing().overrides().collect::<Vec<_>>(), [(head, &turned)]);
    assert_eq!(mixer.snapshot(), snapshot);
    mixer.player().clear_overrides();
    assert_eq!(mixer.playing().overrides().count(), 0);
    let broken = Affine3x4 { rows: [[f32::NAN; 4]; 3] };
    let refused = mixer.player().set_override("Head", broken).unwrap_err();
    assert_eq!(
        refused.to_string(),
        format!(
            "the override of joint {head} (\"Head\") of a mixer (\"{}\"): the matrix has NaN, beyond the limit of 3.4028235e38",
            rig.name()
        )
    );
    assert!(mixer.player().set_override("Tail", turned).is_err());
    assert_eq!(mixer.playing().overrides().count(), 0);
}

/// What an action was given can be read back.
#[test]
fn the_state_of_an_action_has_its_options() {
    use phalanx::playback::{AtEnd, LoopMode};
    let mut mixer = Mixer::new(Arc::new(mannequin().unwrap())).unwrap();
    let [idle, walk, run] = ["Idle", "Walk", "Run"].map(|name| mixer.clip_named(name).unwrap());
    let space = mixer.add_blend_space(&[(0.0, idle), (1.5, walk), (4.5, run)]).unwrap();
    for (loop_mode, repetitions, at_end) in [
        (LoopMode::Repeat, None, AtEnd::Hold),
        (LoopMode::Repeat, Some(3), AtEnd::Stop),
        (LoopMode::Once, None, AtEnd::Stop),
        (LoopMode::PingPong, Some(1), AtEnd::FadeOut(0.25)),
    ] {
        for (parameter, reads) in [(-1.0, 0.0), (0.75, 0.75), (1.5, 1.5), (3.75, 3.75), (9.0, 4.5)]
        {
            let parameter = parameter.into();
            let options =
                PlayOptions { loop_mode, repetitions, at_end, parameter, ..PlayOptions::default() };
            mixer.player().restart(0, space, &options).unwrap();
            let state = mixer.playing().action(0, space).unwrap();
            let have = (state.loop_mode, state.repetitions, state.at_end);
            assert_eq!(have, (loop_mode, repetitions, at_end));
            assert_eq!(state.parameter, Some(reads.into()));
        }
    }
    mixer.player().play(0, walk, &PlayOptions::default()).unwrap();
    assert_eq!(mixer.playing().action(0, walk).unwrap().parameter, None);
}
