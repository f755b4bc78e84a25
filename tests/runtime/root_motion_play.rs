//! Root motion of mixers and crowds: over steps, loops, fades, layers and weights, against motions worked
//! out by hand in f64.

use glam::{Affine3A, DMat4, DQuat, DVec3, Quat, Vec3};
use phalanx::build::{BuildOptions, RootMotionOptions, build_additive_raw, build_rig};
use phalanx::crowd::{Crowd, InstanceId, LayerOptions, MAX_TIME, PlayOptions};
use phalanx::import::raw::{
    Interpolation, RawChannel, RawClip, RawNode, RawScene, RawSkin, RawTrack,
};
use phalanx::math::{Affine3x4, Rigid};
use phalanx::playback::{ClipId, Fill, LoopMode, Mixer, RigId};
use phalanx::rig::Rig;
use phalanx::scene::SceneGraph;
use phalanx::skeleton::{JointMask, MAX_WORLD};
use std::sync::Arc;

/// Metres per second along z of clip `walk`, and along x of `strafe`.
const WALK: f64 = 1.5;
const STRAFE: f64 = 0.5;
const SECONDS: f32 = 1.25;
/// Radians per loop of clip `turn`, about y, on the spot.
const TURN: f64 = 0.5;

/// One joint below the root, and clips: `walk` and `strafe` travel, `turn` turns, `idle` only bobs, and
/// `still` is as long as nothing.
fn raw() -> RawScene {
    let track = |channel, values: Vec<f32>| RawTrack {
        node: 0,
        channel,
        interpolation: Interpolation::Linear,
        times: vec![0.0, SECONDS],
        values,
    };
    let way = |to: [f32; 3]| track(RawChannel::Translation, [[0.0; 3], to].concat());
    let turned = Quat::from_rotation_y(TURN as f32).to_array();
    let turn = [Quat::IDENTITY.to_array(), turned].concat();
    let clip = |name: &str, duration, track: RawTrack| RawClip {
        name: Some(name.into()),
        duration,
        tracks: vec![track],
        ..RawClip::default()
    };
    let nodes = [None, Some(0)].map(|parent| RawNode { parent, ..RawNode::default() });
    let mut still = way([0.0; 3]);
    (still.times, still.values) = (vec![0.0], vec![0.0; 3]);
    RawScene {
        nodes: nodes.into(),
        skins: vec![RawSkin {
            joints: vec![0, 1],
            inverse_bind: vec![Affine3x4::IDENTITY.to_cols_array(); 2],
            ..RawSkin::default()
        }],
        clips: vec![
            clip("walk", SECONDS, way([0.0, 0.0, WALK as f32 * SECONDS])),
            clip("strafe", SECONDS, way([STRAFE as f32 * SECONDS, 0.0, 0.0])),
            clip("turn", SECONDS, track(RawChannel::Rotation, turn)),
            clip("idle", SECONDS, way([0.0, 0.1, 0.0])),
            clip("still", 0.0, still),
        ],
        ..RawScene::default()
    }
}

fn rig() -> Arc<Rig> {
    let options = BuildOptions {
        root_motion: Some(RootMotionOptions { rotation: true, ..RootMotionOptions::default() }),
        ..BuildOptions::default()
    };
    Arc::new(build_rig(raw(), &options).unwrap())
}

fn options() -> PlayOptions {
    PlayOptions::default()
}

struct Walker {
    mixer: Mixer,
    at: DMat4,
}

impl Walker {
    fn new(clips: &[(&str, PlayOptions)]) -> Self {
        let mut mixer = Mixer::new(rig()).unwrap();
        for (name, options) in clips {
            let clip = mixer.clip_named(name).unwrap();
            mixer.player().add(0, clip, options).unwrap();
        }
        Self { mixer, at: DMat4::IDENTITY }
    }

    fn step(&mut self, dt: f64) -> Rigid {
        self.mixer.advance(dt).unwrap();
        let motion = self.mixer.root_motion();
        self.at *= DMat4::from_rotation_translation(motion.rotation, motion.translation);
        motion
    }

    fn run(mut self, steps: impl IntoIterator<Item = f64>) -> DVec3 {
        steps.into_iter().for_each(|dt| {
            self.step(dt);
        });
        self.at.w_axis.truncate()
    }
}

fn near(a: DVec3, b: DVec3, tolerance: f64) {
    assert!((a - b).length() <= tolerance, "{a} is not {b}");
}

/// 2.3 s in steps of many sizes, and in one.
fn steps() -> [Vec<f64>; 3] {
    let uneven: Vec<f64> = (0..46).map(|i| if i % 2 == 0 { 0.09 } else { 0.01 }).collect();
    [vec![2.3], vec![0.023; 100], uneven]
}

#[test]
fn the_way_is_the_same_in_one_step_and_in_many() {
    let forwards = DVec3::Z * WALK;
    let modes = [
        (LoopMode::Repeat, 1.0, forwards * 2.3),
        (LoopMode::Repeat, -2.0, forwards * -4.6),
        (LoopMode::Repeat, 0.0, DVec3::ZERO),
        (LoopMode::Once, 1.0, forwards * f64::from(SECONDS)),
        (LoopMode::Once, -1.0, DVec3::ZERO),
        // Once there, and most of the way back: 2.3 - 1.25 of 1.25 s.
        (LoopMode::PingPong, 1.0, forwards * (2.0 * f64::from(SECONDS) - 2.3)),
    ];
    for (loop_mode, speed, expected) in modes {
        for steps in steps() {
            let walk = PlayOptions { loop_mode, speed, ..options() };
            near(Walker::new(&[("walk", walk)]).run(steps), expected, 1e-6);
        }
    }
    // Two loops and no more.
    let twice = PlayOptions { repetitions: Some(2), ..options() };
    for steps in [vec![60.0], vec![0.05; 200]] {
        let walked = Walker::new(&[("walk", twice)]).run(steps);
        near(walked, forwards * 2.0 * f64::from(SECONDS), 1e-6);
    }
    for name in ["idle", "still"] {
        assert_eq!(Walker::new(&[(name, options())]).run([0.4, 60.0]), DVec3::ZERO);
    }
}

#[test]
fn steps_beyond_reason_return_at_once_with_numbers() {
    for name in ["walk", "turn"] {
        let mut walker = Walker::new(&[(name, PlayOptions { speed: 1e6, ..options() })]);
        for dt in [1e9, -1e9, 1e9] {
            let motion = walker.step(dt);
            assert!(motion.translation.is_finite() && motion.rotation.is_finite());
            if name == "walk" {
                let expected = WALK * 1e6 * dt;
                assert!((motion.translation.z / expected - 1.0).abs() < 1e-6);
            }
        }
    }
}

#[test]
fn weights_blend_ways_as_they_blend_poses() {
    let weighted = |weight| PlayOptions { weight, ..options() };
    let forwards = DVec3::Z * WALK;
    let aside = DVec3::X * STRAFE;
    for (clips, expected) in [
        (vec![("walk", 0.25), ("strafe", 0.75)], forwards * 0.25 + aside * 0.75),
        // The rest pose goes nowhere.
        (vec![("walk", 0.25)], forwards * 0.25),
        // Divided by their sum.
        (vec![("walk", 1.0), ("strafe", 0.5)], (forwards + aside * 0.5) / 1.5),
        (vec![("walk", 0.5), ("idle", 0.5)], forwards * 0.5),
    ] {
        let clips: Vec<_> = clips.iter().map(|&(n, w)| (n, weighted(w))).collect();
        for steps in [vec![1.0], vec![0.01; 100]] {
            near(Walker::new(&clips).run(steps), expected, 1e-6);
        }
    }
    // A third of a turn: the sum of (0, sin, 0, cos) of half the angle and two identities, normalised.
    let mut walker = Walker::new(&[("turn", weighted(0.5))]);
    let turned = walker.step(f64::from(SECONDS)).rotation;
    let half = TURN / 2.0;
    let (y, w) = (0.5 * half.sin(), 0.5 * half.cos() + 0.5);
    let expected = DQuat::from_xyzw(0.0, y, 0.0, w).normalize();
    assert!(turned.dot(expected).abs() > 1.0 - 1e-9, "{turned} {expected}");
}

#[test]
fn a_fade_goes_as_far_in_one_step_as_in_many() {
    // From walking to idling within two seconds: half the way of that time.
    for count in [1, 2, 40] {
        let mut walker = Walker::new(&[("walk", options())]);
        walker.step(1.0);
        let before = walker.at.w_axis.truncate();
        let idle = walker.mixer.clip_named("idle").unwrap();
        walker.mixer.player().fade_to(0, idle, 2.0, &options()).unwrap();
        (0..count).for_each(|_| {
            walker.step(2.0 / f64::from(count));
        });
        let walked = walker.at.w_axis.truncate() - before;
        near(walked, DVec3::Z * WALK, 1e-6);
        assert_eq!(walker.step(1.0), Rigid::IDENTITY);
    }
}

#[test]
fn layers_and_masks_count_as_for_the_root_joint() {
    let rig = rig();
    let half = JointMask::from_weights(rig.skeleton(), &[0.5, 1.0]).unwrap();
    let none = JointMask::subtree(rig.skeleton(), 1).unwrap();
    for (mask, weight, share) in
        [(None, 1.0, 1.0), (None, 0.25, 0.25), (Some(half), 0.5, 0.25), (Some(none), 1.0, 0.0)]
    {
        let layers =
            vec![LayerOptions::default(), LayerOptions { mask, ..LayerOptions::default() }];
        for (above, way) in [("strafe", DVec3::X * STRAFE), ("idle", DVec3::ZERO)] {
            let mut mixer = Mixer::with_layers(rig.clone(), layers.clone()).unwrap();
            let (walk, above) =
                (mixer.clip_named("walk").unwrap(), mixer.clip_named(above).unwrap());
            let mut player = mixer.player();
            player.add(0, walk, &options()).unwrap();
            player.add(1, above, &options()).unwrap();
            player.set_layer_weight(1, weight).unwrap();
            mixer.advance(1.0).unwrap();
            let expected = DVec3::Z * WALK * (1.0 - share) + way * share;
            near(mixer.root_motion().translation, expected, 1e-6);
        }
    }
}

#[test]
fn additive_clips_go_nowhere() {
    let rig = rig();
    let delta = build_additive_raw(&rig, (&raw(), 0), rig.skeleton().rest_pose()).unwrap();
    assert!(delta.root_motion().is_none());
    let layers = [false, true].map(|additive| LayerOptions { additive, ..LayerOptions::default() });
    let mut mixer = Mixer::with_layers(rig, layers.into()).unwrap();
    let (walk, delta) =
        (mixer.clip_named("walk").unwrap(), mixer.add_clip(Arc::new(delta)).unwrap());
    mixer.player().add(1, delta, &options()).unwrap();
    mixer.advance(1.0).unwrap();
    assert_eq!(mixer.root_motion(), Rigid::IDENTITY);
    mixer.player().add(0, walk, &options()).unwrap();
    mixer.advance(1.0).unwrap();
    near(mixer.root_motion().translation, DVec3::Z * WALK, 1e-6);
}

/// Two clips of one phase: the way of a phase is blended, and so is the rate.
#[test]
fn blend_spaces_go_the_blended_way() {
    let mut raw = raw();
    let mut quick = raw.clips[1].clone();
    quick.name = Some("quick".into());
    quick.duration = 0.5;
    quick.tracks[0].times[1] = 0.5;
    raw.clips.push(quick);
    let build =
        BuildOptions { root_motion: Some(RootMotionOptions::default()), ..BuildOptions::default() };
    let rig = Arc::new(build_rig(raw, &build).unwrap());
    for mix in [0.0f32, 0.25, 1.0] {
        for steps in [vec![3.1], vec![0.031; 100]] {
            let mut mixer = Mixer::new(rig.clone()).unwrap();
            let clips = ["walk", "quick"].map(|n| mixer.clip_named(n).unwrap());
            let space = mixer.add_blend_space(&[(0.0, clips[0]), (1.0, clips[1])]);
            let play = PlayOptions { parameter: mix.into(), ..options() };
            mixer.player().add(0, space.unwrap(), &play).unwrap();
            let mut walker = Walker { mixer, at: DMat4::IDENTITY };
            steps.into_iter().for_each(|dt| {
                walker.step(dt);
            });
            let (seconds, mix) = (f64::from(SECONDS), f64::from(mix));
            let phases = 3.1 * ((1.0 - mix) / seconds + mix / 0.5);
            let stride = DVec3::Z * WALK * (1.0 - mix) + DVec3::X * STRAFE * mix;
            near(walker.at.w_axis.truncate(), stride * seconds * phases, 1e-5);
        }
    }
}

/// What the layer's weights leave is what lies below, not rest.
#[test]
fn layers_that_fill_from_below_leave_the_way_below() {
    let layers =
        [Fill::Rest, Fill::Below].map(|fill| LayerOptions { fill, ..LayerOptions::default() });
    let mut mixer = Mixer::with_layers(rig(), layers.into()).unwrap();
    let [walk, strafe] = ["walk", "strafe"].map(|n| mixer.clip_named(n).unwrap());
    mixer.player().add(0, walk, &options()).unwrap();
    let quarter = PlayOptions { weight: 0.25, ..options() };
    mixer.player().add(1, strafe, &quarter).unwrap();
    mixer.advance(1.0).unwrap();
    let expected = DVec3::Z * WALK * 0.75 + DVec3::X * STRAFE * 0.25;
    near(mixer.root_motion().translation, expected, 1e-6);
}

fn crowd(count: usize) -> (Crowd, RigId, Vec<InstanceId>) {
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig()).unwrap();
    let walkers = (0..count).map(|_| crowd.spawn(id).unwrap()).collect();
    (crowd, id, walkers)
}

fn clip(crowd: &Crowd, rig: RigId, name: &str) -> ClipId {
    crowd.clip_named(rig, name).unwrap()
}

#[test]
fn root_motion_has_arrays_in_crowds_and_one_value_in_mixers() {
    let (mut crowd, id, all) = crowd(4);
    let (walk, turn) = (clip(&crowd, id, "walk"), clip(&crowd, id, "turn"));
    let idle = clip(&crowd, id, "idle");
    for (instance, clip) in [(all[0], idle), (all[1], walk), (all[3], turn)] {
        crowd.play(instance, clip, &options()).unwrap();
    }
    let mut walker = Walker::new(&[("walk", options())]);
    let mut turner = Walker::new(&[("turn", options())]);
    for dt in [0.016, 1.3, 0.0, -0.4] {
        crowd.advance(dt).unwrap();
        let moved = crowd.root_motion(id).unwrap();
        assert_eq!(moved.instances, [all[1], all[3]]);
        assert_eq!(moved.translations[0], walker.step(dt).translation.as_vec3());
        assert_eq!(moved.rotations[1], turner.step(dt).rotation.as_quat());
        assert_eq!(moved.translations.len(), 2);
    }
    crowd.despawn(all[3]).unwrap();
    crowd.advance(0.1).unwrap();
    assert_eq!(crowd.root_motion(id).unwrap().instances, [all[1]]);
    // World transforms change only after `apply_root_motion`.
    assert_eq!(*crowd.world(all[1]).unwrap(), Affine3x4::IDENTITY);
    let bare = build_rig(RawScene::default(), &Default::default()).unwrap();
    let bare = crowd.add_rig(Arc::new(bare)).unwrap();
    assert!(crowd.root_motion(bare).unwrap().instances.is_empty());
    let before = crowd.snapshot();
    let refused = crowd.apply_root_motion(bare, true).unwrap_err();
    assert!(refused.to_string().contains("has root motion"), "{refused}");
    assert!(crowd.snapshot() == before);
    crowd.apply_root_motion(bare, false).unwrap();
    crowd.remove_rig(bare).unwrap();
    assert!(crowd.root_motion(bare).is_err());
    assert!(crowd.apply_root_motion(bare, true).is_err());
}

#[test]
fn worlds_that_are_moved_do_not_drift() {
    let (mut crowd, id, all) = crowd(2);
    crowd.apply_root_motion(id, true).unwrap();
    let late = crowd.spawn(id).unwrap();
    let (walk, turn) = (clip(&crowd, id, "walk"), clip(&crowd, id, "turn"));
    let start = Affine3A::from_scale_rotation_translation(
        Vec3::splat(2.0),
        Quat::from_rotation_y(0.7),
        Vec3::new(10.0, 1.0, -20.0),
    );
    for &instance in all.iter().chain([&late]) {
        crowd.set_world(instance, start).unwrap();
        crowd.play(instance, walk, &options()).unwrap();
    }
    // Walks a circle: half its weight each, so half the way and nearly half the turn.
    crowd.player(all[1]).unwrap().set_weight(0, walk, 0.5).unwrap();
    let turning = PlayOptions { weight: 0.5, ..options() };
    crowd.player(all[1]).unwrap().add(0, turn, &turning).unwrap();
    let snapshot = crowd.snapshot();
    let mut circle = DMat4::from_scale_rotation_translation(
        DVec3::splat(2.0),
        DQuat::from_rotation_y(f64::from(0.7f32)),
        DVec3::new(10.0, 1.0, -20.0),
    );
    let frames = (1000.0 * SECONDS * 60.0) as usize;
    let run = |crowd: &mut Crowd| {
        for _ in 0..frames {
            crowd.advance(1.0 / 60.0).unwrap();
        }
        let place = |i: InstanceId| *crowd.world(i).unwrap();
        [place(all[0]), place(all[1]), place(late)]
    };
    let places = run(&mut crowd);
    let way = WALK * frames as f64 / 60.0;
    let expected = circle.transform_point3(DVec3::Z * way);
    for place in [places[0], places[2]] {
        let apart = place.translation().as_dvec3() - expected;
        // f32 holds the place itself to 2e-7.
        assert!(apart.length() < 1e-6 * way * 2.0, "{apart} after {way}");
    }
    // The oracle's circle, in f64: each frame half the way, and the turn of the blended quaternion.
    let angle = TURN / f64::from(SECONDS) / 60.0 / 2.0;
    let blended = 2.0 * (0.5 * angle.sin()).atan2(0.5 * angle.cos() + 0.5);
    let frame = DMat4::from_rotation_translation(
        DQuat::from_rotation_y(blended),
        DVec3::Z * WALK * 0.5 / 60.0,
    );
    for _ in 0..frames {
        circle *= frame;
    }
    let apart = places[1].translation().as_dvec3() - circle.w_axis.truncate();
    assert!(apart.length() < 1e-3, "{apart}");
    let column = places[1].transform_vector3(Vec3::X).length();
    assert!((column - 2.0).abs() < 1e-5, "{column}");
    // A snapshot holds the places, too.
    crowd.restore(&snapshot).unwrap();
    assert!(crowd.root_motion(id).unwrap().instances.is_empty());
    assert_eq!(run(&mut crowd), places);
    crowd.apply_root_motion(id, false).unwrap();
    crowd.advance(1.0).unwrap();
    assert_eq!(*crowd.world(all[0]).unwrap(), places[0]);
}

/// A host may say in every frame that root motion moves the instances: places stay what they are in f64.
#[test]
fn root_motion_that_is_applied_again_does_not_drift() {
    let run = |again: bool| {
        let (mut crowd, id, all) = crowd(2);
        let walk = clip(&crowd, id, "walk");
        crowd.apply_root_motion(id, true).unwrap();
        for &i in &all {
            let far = Affine3A::from_translation(Vec3::new(1000.0, 0.0, -3000.0));
            crowd.set_world(i, far).unwrap();
            crowd.play(i, walk, &options()).unwrap();
        }
        for _ in 0..600 {
            if again {
                crowd.apply_root_motion(id, true).unwrap();
            }
            crowd.advance(1.0 / 60.0).unwrap();
        }
        let place = |&i: &InstanceId| *crowd.world(i).unwrap();
        all.iter().map(place).collect::<Vec<_>>()
    };
    assert_eq!(run(true), run(false));
}

/// An attached instance follows its parent node, and walks on from there when it is detached.
#[test]
fn a_detached_instance_walks_on_from_where_it_is() {
    let (mut crowd, id, all) = crowd(1);
    crowd.apply_root_motion(id, true).unwrap();
    let walk = clip(&crowd, id, "walk");
    crowd.play(all[0], walk, &options()).unwrap();
    let mut scene = SceneGraph::new();
    let mirror = crowd.mirror(all[0], &mut scene, None).unwrap();
    let there = Affine3A::from_translation(Vec3::new(100.0, 0.0, 0.0));
    let ship = scene.add(None, there).unwrap();
    scene.set_parent(mirror, ship).unwrap();
    for _ in 0..3 {
        crowd.advance(0.1).unwrap();
        crowd.update_scene(&mut scene);
    }
    let on_board = crowd.world(all[0]).unwrap().translation();
    scene.set_parent_in_place(mirror, None).unwrap();
    crowd.update_scene(&mut scene);
    crowd.advance(0.1).unwrap();
    let way = crowd.world(all[0]).unwrap().translation() - on_board;
    near(way.as_dvec3(), DVec3::Z * WALK * 0.1, 1e-5);
}

/// A layer counts with the mean of its weights before and after each step.
#[test]
fn a_layer_that_fades_goes_as_far_in_one_step_as_in_many() {
    for count in [1, 2, 40] {
        let layers = vec![LayerOptions::default(); 2];
        let mut mixer = Mixer::with_layers(rig(), layers).unwrap();
        let clips = ["walk", "strafe"].map(|name| mixer.clip_named(name).unwrap());
        let mut player = mixer.player();
        for (layer, clip) in clips.into_iter().enumerate() {
            player.add(layer, clip, &options()).unwrap();
        }
        player.set_layer_weight(1, 0.0).unwrap();
        player.fade_layer(1, 1.0, 2.0).unwrap();
        let mut went = DVec3::ZERO;
        for _ in 0..count {
            mixer.advance(2.0 / f64::from(count)).unwrap();
            went += mixer.root_motion().translation;
        }
        // Half of two seconds each.
        near(went, DVec3::new(STRAFE, 0.0, WALK), 1e-6);
    }
}

#[test]
fn root_motion_does_not_leave_the_world() {
    let (mut crowd, id, all) = crowd(1);
    crowd.apply_root_motion(id, true).unwrap();
    let walk = clip(&crowd, id, "walk");
    crowd.play(all[0], walk, &options()).unwrap();
    let edge = Affine3x4::from(Affine3A::from_translation(Vec3::Z * MAX_WORLD));
    crowd.set_world(all[0], edge).unwrap();
    crowd.advance(MAX_TIME).unwrap();
    assert_eq!(crowd.root_motion(id).unwrap().instances, all);
    assert_eq!(*crowd.world(all[0]).unwrap(), edge);
    crowd.player(all[0]).unwrap().set_character_speed(-1.0).unwrap();
    crowd.advance(MAX_TIME).unwrap();
    let z = f64::from(crowd.world(all[0]).unwrap().translation().z);
    let wanted = f64::from(MAX_WORLD) - WALK * MAX_TIME;
    assert!((z - wanted).abs() < 1e8, "{z:e} is not {wanted:e}");
}

/// Weights above 1 leave nothing to the layers below, and count as shares of their sum.
#[test]
fn a_layer_that_fills_from_below_takes_no_more_than_all() {
    let layers =
        [Fill::Rest, Fill::Below].map(|fill| LayerOptions { fill, ..LayerOptions::default() });
    let mut mixer = Mixer::with_layers(rig(), layers.into()).unwrap();
    let [walk, strafe] = ["walk", "strafe"].map(|name| mixer.clip_named(name).unwrap());
    let mut player = mixer.player();
    player.add(0, walk, &options()).unwrap();
    player.add(1, walk, &options()).unwrap();
    player.add(1, strafe, &options()).unwrap();
    mixer.advance(1.0).unwrap();
    let wanted = 0.5 * DVec3::new(STRAFE, 0.0, WALK);
    near(mixer.root_motion().translation, wanted, 1e-6);
}
