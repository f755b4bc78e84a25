//! The mixer: the same bits as an instance of a crowd, and its own ways.

use super::stage::{raw, rig};
use glam::{Affine3A, Vec3};
use phalanx::build::{AdditiveReference, build_additive_from};
use phalanx::crowd::{BoneBuffer, Crowd};
use phalanx::import::mannequin;
use phalanx::math::Affine3x4;
use phalanx::playback::{
    ClipId, EventKind, Fill, LayerOptions, LoopMode, Mixer, PlayOptions, Player,
};
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
                3 if frame % 40 == 3 => player.start(0, b, &options),
                7 => player.cross_fade(0, a, b, 0.3, &options),
                11 => player.set_time(0, b, 0.3),
                15 => player.set_layer_weight(0, 0.75),
                17 => player.fade_layer(0, 1.0, 0.2),
                _ => Ok(()),
            };
            done.is_ok()
        };
        let clips = names.map(|n| mixer.find_clip(n).unwrap());
        let one = call(&mut mixer.player(), clips);
        let clips = names.map(|n| crowd.find_clip(id, n).unwrap());
        let other = call(&mut crowd.player(instances[1]).unwrap(), clips);
        assert_eq!(one, other, "frame {frame}");
        mixer.update(1.0 / 60.0).unwrap();
        crowd.advance(1.0 / 60.0).unwrap();
        let (mine, theirs) = (mixer.events(), crowd.events());
        assert_eq!(mine.kinds(), theirs.kinds());
        assert_eq!(mine.times(), theirs.times());
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
    let upper = JointMask::subtree_at(rig.skeleton(), "joint5").unwrap();
    let layers = vec![
        LayerOptions::default(),
        LayerOptions {
            mask: Some(upper.clone()),
            fill: Fill::Below,
            ..LayerOptions::default()
        },
        LayerOptions {
            additive: true,
            mask: Some(upper),
            ..LayerOptions::default()
        },
    ];
    let added = build_additive_from(&raw(), 1, &rig, AdditiveReference::Rest);
    let added = Arc::new(added.unwrap());
    let mut mixer = Mixer::with_layers(rig.clone(), layers.clone()).unwrap();
    let mut crowd = Crowd::new();
    let id = crowd.add_rig_with_layers(rig, layers).unwrap();
    let instances = [0; 3].map(|_| crowd.spawn(id).unwrap());
    let mine = mixer.add_clip(added.clone()).unwrap();
    let theirs = crowd.add_clip(id, added).unwrap();
    let points = [(1.4, "a"), (2.7, "b"), (4.5, "c")];
    let points_of = |find: &dyn Fn(&str) -> ClipId| points.map(|(at, name)| (at, find(name)));
    let my_points = points_of(&|n| mixer.find_clip(n).unwrap());
    let their_points = points_of(&|n| crowd.find_clip(id, n).unwrap());
    let my_space = mixer.add_blend_space(&my_points).unwrap();
    let their_space = crowd.add_blend_space(id, &their_points).unwrap();
    let my_wave = mixer.find_clip("c").unwrap();
    let their_wave = crowd.find_clip(id, "c").unwrap();
    let mut buffer = BoneBuffer::new();
    for frame in 0..90usize {
        let call = |player: &mut Player<'_>, space, wave: ClipId, added: ClipId| {
            let options = PlayOptions::default();
            match frame {
                0 => player.play(0, space, &options).unwrap(),
                10 => player.fade_to(1, wave, 0.3, &options).unwrap(),
                20 => player.start(2, added, &options).unwrap(),
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
        mixer.update(1.0 / 60.0).unwrap();
        crowd.advance(1.0 / 60.0).unwrap();
        crowd.evaluate(&mut buffer);
        let rows = &buffer.rows()[crowd.palette_range(instances[1]).unwrap()];
        assert!(mixer.evaluate() == rows, "frame {frame}");
    }
}

/// What a three.js user does.
#[test]
fn actions_chain_play_and_remember() {
    let rig = Arc::new(mannequin().unwrap());
    let mut mixer = Mixer::new(rig).unwrap();
    let [walk, run] = ["Walk", "Run"].map(|n| mixer.find_clip(n).unwrap());
    let action = mixer.clip_action(walk).unwrap();
    assert_eq!(mixer.clip_action(walk).unwrap(), action);
    let other = mixer.clip_action(run).unwrap();
    assert_ne!(other, action);
    let rest = mixer.evaluate().to_vec();
    // Set before it plays, and while it plays.
    let chained = mixer.action(action).unwrap();
    let chained = chained.set_weight(0.5).unwrap().set_speed(2.0).unwrap();
    assert_eq!(chained.state(), None);
    let chained = chained.set_time(0.25).unwrap().play().unwrap();
    let state = chained.state().unwrap();
    assert_eq!((state.weight, state.speed, state.time), (0.5, 2.0, 0.25));
    chained.set_weight(1.0).unwrap().pause().unwrap();
    mixer.update(0.5).unwrap();
    let state = |mixer: &mut Mixer, id| mixer.action(id).unwrap().state();
    assert_eq!(state(&mut mixer, action).unwrap().time, 0.25);
    mixer.action(action).unwrap().play().unwrap();
    mixer.update(0.125).unwrap();
    assert!((state(&mut mixer, action).unwrap().time - 0.5).abs() < 1e-12);
    mixer.action(action).unwrap().reset().unwrap();
    assert_eq!(state(&mut mixer, action).unwrap().time, 0.0);
    // A fade to another: this one stops when it ends.
    mixer.action(action).unwrap().set_speed(1.0).unwrap();
    mixer.cross_fade(action, other, 0.5).unwrap();
    mixer.update(0.25).unwrap();
    assert_eq!(state(&mut mixer, other).unwrap().weight, 0.5);
    mixer.update(0.25).unwrap();
    assert_eq!(state(&mut mixer, action), None);
    let again = mixer.cross_fade_to(walk, 0.25).unwrap();
    assert_eq!(again, action);
    mixer.update(0.25).unwrap();
    assert_eq!(state(&mut mixer, action).unwrap().weight, 1.0);
    assert_eq!(state(&mut mixer, other), None);
    // Once, then what the event asks for.
    let once = mixer.action(other).unwrap();
    let once = once.set_loop(LoopMode::Once, None).unwrap();
    once.fade_in(0.1).unwrap();
    mixer.action(action).unwrap().fade_out(0.1).unwrap();
    let mut finished = 0;
    for _ in 0..120 {
        mixer.update(1.0 / 60.0).unwrap();
        let ended = mixer
            .events()
            .iter()
            .any(|e| e.kind == EventKind::Finished && e.clip == run);
        if ended {
            finished += 1;
            mixer.cross_fade_to(walk, 0.2).unwrap();
        }
    }
    assert_eq!(finished, 1);
    assert_eq!(state(&mut mixer, other), None);
    // A finished action starts again when it is played.
    mixer.action(other).unwrap().play().unwrap();
    mixer.update(30.0).unwrap();
    assert!(state(&mut mixer, other).unwrap().finished);
    mixer.action(other).unwrap().play().unwrap();
    assert!(!state(&mut mixer, other).unwrap().finished);
    mixer.stop_all();
    assert_eq!(state(&mut mixer, action), None);
    assert_eq!(mixer.evaluate(), rest);
}

/// A mixer's joints as nodes of a scene: what hangs on one goes where its model matrix says.
#[test]
fn joints_of_a_mixer_are_nodes_of_a_scene() {
    let rig = Arc::new(mannequin().unwrap());
    let mut mixer = Mixer::new(rig.clone()).unwrap();
    let attack = mixer.find_clip("Attack").unwrap();
    let attacking = mixer.clip_action(attack).unwrap();
    mixer.action(attacking).unwrap().play().unwrap();
    mixer.update(0.4).unwrap();
    let mut scene = SceneGraph::new();
    let mirror = scene.add_mirror(rig.skeleton()).unwrap();
    let sword = scene.add(None, Affine3x4::IDENTITY).unwrap();
    let grip = Affine3A::from_translation(Vec3::new(0.0, 0.1, 0.02));
    scene.attach(sword, mirror, "RightHand", grip).unwrap();
    scene.set_joint_locals(mirror, &mixer.locals()).unwrap();
    scene.update();
    let hand = rig.skeleton().find("RightHand").unwrap();
    let want = Affine3A::from(mixer.models()[hand]) * grip;
    let have = Affine3A::from(Affine3x4::from(*scene.world(sword).unwrap()));
    assert!(have.abs_diff_eq(want, 1e-5), "{have} {want}");
    assert!(want.translation.length() > 0.5);
}
