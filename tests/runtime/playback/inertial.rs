//! Inertial fades against the oracle in f64: interrupted ones, on layers with masks, of mirrored rigs, after evictions.

use phalanx::build::build_rig;
use phalanx::crowd::{BoneBuffer, Crowd, LayerOptions};
use phalanx::import::raw::{
    Interpolation, RawChannel, RawClip, RawNode, RawScene, RawSkin, RawTrack,
};
use phalanx::math::Affine3x4;
use phalanx::playback::{ClipId, CrossFade, FadeKind, Fill, Mixer, PlayOptions, Sync};
use phalanx::skeleton::{JointMask, Trs};
use phalanx_testkit::oracle::inertia::{Decay, Motion, Offset};
use phalanx_testkit::oracle::{Action, Pose, Scene};
use phalanx_testkit::reference;
use phalanx_workload::hash01;
use std::sync::Arc;

pub const JOINTS: usize = 21;
pub const CLIPS: usize = 6;
const SECONDS: f32 = 2.0;
const STEP: f64 = 1.0 / 60.0;
/// Sums of a few metres in f32, and the velocities of small offsets.
const NEAR: f64 = 3e-5;

/// A tree whose joints turn; some move or scale. With `mirrored`, some have a negative scale at rest and in all clips.
pub fn raw(mirrored: bool) -> RawScene {
    let mirrors = |joint: usize| if mirrored && joint % 4 == 1 { -1.0 } else { 1.0 };
    let nodes = (0..JOINTS).map(|i| RawNode {
        name: Some(format!("joint{i}")),
        parent: i.checked_sub(1).map(|_| (i - 1) / 2),
        local: Trs {
            translation: glam::Vec3::new(0.1, 0.2, 0.0),
            scale: glam::Vec3::new(mirrors(i), 1.0, 1.0),
            ..Trs::IDENTITY
        },
        ..RawNode::default()
    });
    let times: Vec<f32> = (0..=20).map(|k| k as f32 * SECONDS / 20.0).collect();
    let track = |clip: usize, node: usize, channel: RawChannel| {
        let wave = |k: usize, c: usize| {
            let seed = (clip * 64 + node) * 8 + c;
            let phase = 6.3 * hash01(seed as u64) as f32;
            // Loops without a seam.
            (k as f32 / 20.0 * std::f32::consts::TAU + phase).sin()
        };
        let value = |k: usize| match channel {
            RawChannel::Rotation => {
                let of = |c| 0.7 * wave(k, c);
                glam::Quat::from_euler(glam::EulerRot::XYZ, of(0), of(1), of(2)).to_array().to_vec()
            }
            RawChannel::Translation => (0..3).map(|c| 0.2 + 0.1 * wave(k, c)).collect(),
            _ => vec![mirrors(node) * (1.0 + 0.1 * wave(k, 4)), 1.0 + 0.1 * wave(k, 5), 1.0],
        };
        RawTrack {
            node,
            channel,
            interpolation: Interpolation::Linear,
            times: times.clone(),
            values: (0..=20).flat_map(value).collect(),
        }
    };
    let clip = |clip: usize| RawClip {
        name: Some(format!("clip{clip}")),
        duration: SECONDS,
        tracks: (0..JOINTS)
            .filter(|node| node % 5 != 4)
            .flat_map(|node| {
                let moves = (node % 3 == 0).then_some(RawChannel::Translation);
                let scales = (node % 4 == 1).then_some(RawChannel::Scale);
                let turns = Some(RawChannel::Rotation);
                [turns, moves, scales].into_iter().flatten().map(move |c| (node, c))
            })
            .map(|(node, channel)| track(clip, node, channel))
            .collect(),
        ..RawClip::default()
    };
    RawScene {
        name: "tree".into(),
        nodes: nodes.collect(),
        skins: vec![RawSkin {
            name: None,
            joints: (0..JOINTS).collect(),
            inverse_bind: vec![Affine3x4::IDENTITY.to_cols_array(); JOINTS],
        }],
        clips: (0..CLIPS).map(clip).collect(),
        ..RawScene::default()
    }
}

/// An action of the model: its clip, its time at the start of the clock, its speed, and its weight at a clock.
#[derive(Clone)]
struct Plays {
    clip: usize,
    start: f64,
    speed: f64,
    weight: Arc<dyn Fn(f64) -> f64>,
}

/// One layer in f64, as a function of the clock.
struct Model<'a> {
    scene: &'a Scene,
    plays: Vec<Plays>,
    offset: Option<(Offset, f64)>,
}

impl<'a> Model<'a> {
    fn new(scene: &'a Scene) -> Self {
        Self { scene, plays: Vec::new(), offset: None }
    }

    /// The layer's pose at a clock.
    fn pose(&self, clock: f64) -> Pose {
        let action = |p: &Plays| {
            let time = (p.start + clock * p.speed).rem_euclid(SECONDS.into());
            Action::new(p.clip, time, (p.weight)(clock))
        };
        let actions: Vec<Action> = self.plays.iter().map(action).collect();
        let mut pose = self.scene.blend_actions(&actions);
        if let Some((offset, began)) = &self.offset {
            offset.apply(&mut pose, (clock - began).max(0.0));
        }
        pose
    }

    /// Replaces what plays at a clock by `plays`, with an offset over `seconds`.
    fn change(&mut self, clock: f64, plays: Vec<Plays>, seconds: f64) {
        let next = Model { scene: self.scene, plays, offset: None };
        let young = self.offset.as_ref().is_some_and(|(_, began)| clock - began < STEP);
        let (shown, then) =
            (self.pose(clock), self.pose(if young { clock + STEP } else { clock - STEP }));
        let motion = if young { Motion::Later(&then) } else { Motion::Earlier(&then) };
        let goes_on = (&next.pose(clock), &next.pose(clock + STEP));
        let offset = Offset::new((&shown, motion), goes_on, STEP, seconds);
        self.plays = next.plays;
        self.offset = Some((offset, clock));
    }

    fn decays(&self) -> Vec<Decay> {
        self.offset.iter().flat_map(|(offset, _)| offset.decays()).collect()
    }
}

fn full() -> Arc<dyn Fn(f64) -> f64> {
    Arc::new(|_| 1.0)
}

fn whole(clip: usize, time: f64, speed: f64, clock: f64) -> Plays {
    Plays { clip, start: time - clock * speed, speed, weight: full() }
}

fn options(time: f64, speed: f64) -> PlayOptions {
    PlayOptions { time, speed: speed as f32, ..PlayOptions::default() }
}

pub fn inertial(seconds: f32) -> CrossFade<'static> {
    CrossFade { seconds, kind: FadeKind::Inertial, ..CrossFade::default() }
}

/// The largest difference of a model matrix.
#[track_caller]
fn compare(mixer: &Mixer, scene: &Scene, pose: &Pose, what: &str) -> f64 {
    let expected = scene.evaluate(pose).world;
    let found = reference::wide(&mixer.model_matrices());
    let mut worst = 0.0f64;
    for (joint, name) in mixer.rig().skeleton().names().iter().enumerate() {
        let Some(expected) = scene.node_named(name).and_then(|node| expected[node]) else {
            continue;
        };
        worst = worst.max(reference::apart(&found[joint], &expected));
    }
    assert!(worst < NEAR, "{what}: {worst:e}");
    worst
}

/// A mixer of the tree, its clips and the oracle's scene.
fn tree(mirrored: bool, layers: Vec<LayerOptions>) -> (Mixer, Vec<ClipId>, Scene) {
    let rig = Arc::new(build_rig(raw(mirrored), &Default::default()).unwrap());
    let scene = reference::scene(&raw(mirrored));
    let mixer = Mixer::with_layers(rig, layers).unwrap();
    let clips = (0..CLIPS).map(|c| mixer.clip_by_index(c).unwrap()).collect();
    (mixer, clips, scene)
}

#[test]
fn interrupted_fades_are_those_of_the_oracle() {
    let mut counts = [0; 3];
    for (mirrored, sign) in [(false, 1.0), (true, 1.0), (false, -1.0)] {
        let (mut mixer, clips, scene) = tree(mirrored, vec![LayerOptions::default()]);
        let mut model = Model::new(&scene);
        let mut clock = 0.0;
        mixer.player().play(0, clips[0], &options(0.3, 1.0)).unwrap();
        model.plays = vec![whole(0, 0.3, sign, 0.0)];
        let step = |mixer: &mut Mixer, model: &Model<'_>, clock: &mut f64, dt: f64| {
            mixer.advance(sign * dt).unwrap();
            *clock += dt;
            compare(mixer, &scene, &model.pose(*clock), &format!("{mirrored} {sign} {clock}"));
        };
        (0..20).for_each(|_| step(&mut mixer, &model, &mut clock, 0.037));
        // Speeds, seconds and the frames after which the next one interrupts; the fourth begins within 1/60 s of the third.
        let fades = [(1, 1.4, 1.5, 9), (2, -1.0, 0.3, 11), (3, 0.0, 0.8, 1), (4, 2.0, 0.6, 40)];
        for (n, (clip, speed, seconds, frames)) in fades.into_iter().enumerate() {
            let before = clips[clip - 1];
            let dt = if n == 2 { 0.008 } else { 0.021 };
            let time = 0.2 * clip as f64;
            mixer
                .player()
                .cross_fade(0, before, clips[clip], inertial(seconds), &options(time, speed))
                .unwrap();
            let plays = vec![whole(clip, time, sign * speed, clock)];
            model.change(clock, plays, seconds.into());
            for decay in model.decays() {
                counts[0] += usize::from(decay.v0 >= 0.0);
                counts[1] += usize::from(decay.v0 < 0.0 && decay.ends() == decay.seconds);
                counts[2] += usize::from(decay.v0 < 0.0 && decay.ends() < decay.seconds);
            }
            assert_eq!(mixer.playing().clips().count(), 1);
            compare(&mixer, &scene, &model.pose(clock), "at the call");
            (0..frames).for_each(|_| step(&mut mixer, &model, &mut clock, dt));
        }
        // Nothing is left.
        assert!(model.decays().iter().all(|decay| decay.after(0.84) == 0.0));
        let plain = Model { scene: &scene, plays: model.plays.clone(), offset: None };
        compare(&mixer, &scene, &plain.pose(clock), "the end");
    }
    // Velocities that lead away, that lead there, and that are too fast.
    assert!(counts.iter().all(|&count| count > 5), "{counts:?}");
}

/// A layer above with a mask and half a weight: the offset is of its pose, before it is laid over the one below.
#[test]
fn layers_have_offsets_of_their_own() {
    let rig = Arc::new(build_rig(raw(false), &Default::default()).unwrap());
    let weights: Vec<f32> = (0..JOINTS).map(|j| [0.0, 1.0, 0.4][j % 3]).collect();
    let mask = JointMask::from_weights(rig.skeleton(), &weights).unwrap();
    let upper = LayerOptions { mask: Some(mask), fill: Fill::Below, ..LayerOptions::default() };
    let (mut mixer, clips, scene) = tree(false, vec![LayerOptions::default(), upper]);
    let mut models = [Model::new(&scene), Model::new(&scene)];
    let mut player = mixer.player();
    player.play(0, clips[0], &options(0.1, 1.0)).unwrap();
    player.play(1, clips[1], &options(0.5, 1.0)).unwrap();
    player.set_layer_weight(1, 0.5).unwrap();
    models[0].plays = vec![whole(0, 0.1, 1.0, 0.0)];
    models[1].plays = vec![whole(1, 0.5, 1.0, 0.0)];
    let mut clock = 0.0;
    for frame in 0..60 {
        for (layer, to, at) in [(1, 2, 8), (0, 3, 14), (1, 4, 23)] {
            if frame == at {
                let from = mixer.playing().clips().nth(layer).unwrap();
                let fade = inertial(0.4);
                mixer
                    .player()
                    .cross_fade(layer, from, clips[to], fade, &options(0.0, 1.0))
                    .unwrap();
                models[layer].change(clock, vec![whole(to, 0.0, 1.0, clock)], 0.4f32.into());
            }
        }
        let mut pose = models[0].pose(clock);
        let above = models[1].pose(clock);
        for (n, below) in pose.iter_mut().enumerate() {
            let weight = 0.5 * f64::from([0.0, 1.0, 0.4][n % 3] as f32);
            let one = |of: &phalanx_testkit::oracle::scene::NodePose| vec![of.clone()];
            let mixed =
                phalanx_testkit::oracle::pose::blended(&one(below), &one(&above[n]), weight);
            *below = mixed[0].clone();
        }
        compare(&mixer, &scene, &pose, &format!("frame {frame}"));
        mixer.advance(0.023).unwrap();
        clock += 0.023;
    }
}

/// The weight of an action that fades in over `seconds` from a clock, and out from another one.
fn faded(into: f64, out: f64, seconds: f64) -> Arc<dyn Fn(f64) -> f64> {
    let share = move |clock: f64, from: f64| ((clock - from) / seconds).clamp(0.0, 1.0);
    let at = move |clock: f64| if clock < into { 0.0 } else { share(clock, into) };
    Arc::new(move |clock| if clock < out { at(clock) } else { at(out) * (1.0 - share(clock, out)) })
}

/// Fades of 0.5 s every 0.1 s: the fifth action evicts the first. Without an offset the pose would jump.
#[test]
fn an_evicted_action_leaves_an_offset() {
    let (mut mixer, clips, scene) = tree(false, vec![LayerOptions::default()]);
    let mut model = Model::new(&scene);
    mixer.player().play(0, clips[0], &options(0.0, 1.0)).unwrap();
    let (every, seconds) = (0.125, 0.5);
    let at = |n: usize| every * (n as f64 + 1.0);
    // The first has its full weight at once; the others fade in when they come and out when the next one comes.
    let weight = |n: usize| match n {
        0 => faded(-1.0, at(0), seconds),
        5 => faded(at(4), f64::INFINITY, seconds),
        n => faded(at(n - 1), at(n), seconds),
    };
    let plays = |n: usize| {
        let came = if n == 0 { 0.0 } else { at(n - 1) };
        Plays { clip: n, start: -came, speed: 1.0, weight: weight(n) }
    };
    model.plays = vec![plays(0)];
    let (mut clock, mut jump) = (0.0, 0.0f64);
    for (n, &clip) in clips.iter().enumerate().skip(1) {
        for _ in 0..5 {
            mixer.advance(every / 5.0).unwrap();
            clock += every / 5.0;
            compare(&mixer, &scene, &model.pose(clock), &format!("before {n}, {clock}"));
        }
        clock = at(n - 1);
        let before = model.pose(clock);
        mixer.player().fade_to(0, clip, seconds as f32, &options(0.0, 1.0)).unwrap();
        let mut all = model.plays.clone();
        if all.len() == 4 {
            let weights: Vec<f64> = all.iter().map(|p| (p.weight)(clock)).collect();
            let least = weights.iter().copied().fold(f64::INFINITY, f64::min);
            all.remove(weights.iter().position(|&w| w == least).unwrap());
            all.push(plays(n));
            model.change(clock, all, seconds);
            let plain = Model { scene: &scene, plays: model.plays.clone(), offset: None };
            let (a, b) = (scene.evaluate(&before).world, scene.evaluate(&plain.pose(clock)).world);
            for (a, b) in a.iter().flatten().zip(b.iter().flatten()) {
                jump = jump.max(reference::apart(a, b));
            }
        } else {
            all.push(plays(n));
            model.plays = all;
        }
        compare(&mixer, &scene, &model.pose(clock), &format!("after {n}"));
    }
    assert_eq!(mixer.evicted(), 2);
    assert!(jump > 0.01, "{jump}");
    for _ in 0..30 {
        mixer.advance(0.02).unwrap();
        clock += 0.02;
        model.plays.retain(|p| (p.weight)(clock) > 0.0);
        compare(&mixer, &scene, &model.pose(clock), &format!("{clock}"));
    }
}

/// In step, and at the speed of the first: warps and synchronisation are those of other crossfades.
#[test]
fn fades_in_step_keep_momentum() {
    let (mut mixer, clips, _) = tree(false, vec![LayerOptions::default()]);
    mixer.player().play(0, clips[0], &options(0.5, 2.0)).unwrap();
    mixer.advance(0.25).unwrap();
    let fade = CrossFade { warp: true, sync: Sync::Phase, ..inertial(0.4) };
    mixer.player().cross_fade(0, clips[0], clips[1], fade, &options(0.0, 1.0)).unwrap();
    let state = mixer.playing().action(0, clips[1]).unwrap();
    assert_eq!((state.time, state.weight, state.speed), (1.0, 1.0, 2.0));
    mixer.advance(0.5).unwrap();
    assert_eq!(mixer.playing().action(0, clips[1]).unwrap().speed, 1.0);
}

/// A crowd shows the bits of a mixer.
#[test]
fn a_crowd_shows_the_same_bits() {
    let (mut mixer, clips, _) = tree(false, vec![LayerOptions::default()]);
    let mut crowd = Crowd::new();
    let rig = crowd.add_rig(mixer.rig().clone()).unwrap();
    let i = crowd.spawn(rig).unwrap();
    let theirs: Vec<ClipId> = (0..CLIPS).map(|c| crowd.clip_by_index(rig, c).unwrap()).collect();
    let mut bones = BoneBuffer::new();
    mixer.player().play(0, clips[0], &options(0.5, 1.0)).unwrap();
    crowd.play(i, theirs[0], &options(0.5, 1.0)).unwrap();
    for frame in 0..40 {
        if frame % 7 == 3 {
            let (from, to) = (frame / 7 % CLIPS, (frame / 7 + 1) % CLIPS);
            let (o, fade) = (options(0.2, 1.0), inertial(0.3));
            mixer.player().cross_fade(0, clips[from], clips[to], fade, &o).unwrap();
            let mut player = crowd.player(i).unwrap();
            player.cross_fade(0, theirs[from], theirs[to], fade, &o).unwrap();
        }
        mixer.advance(1.0 / 60.0).unwrap();
        crowd.advance(1.0 / 60.0).unwrap();
        crowd.evaluate(&mut bones);
        let range = crowd.palette_range(i).unwrap();
        assert_eq!(mixer.evaluate(), &bones.rows()[range], "frame {frame}");
    }
}
