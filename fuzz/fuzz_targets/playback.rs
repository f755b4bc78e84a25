//! Any sequence of calls on a crowd with several layers: must not panic, a call that fails changes nothing,
//! and the events and palettes of every frame are valid.
#![no_main]

use arbitrary::Arbitrary;
use glam::{Quat, Vec3};
use libfuzzer_sys::fuzz_target;
use phalanx::clip::Marker;
use phalanx::crowd::{
    self, BoneBuffer, Crowd, EndRotation, Feet, Ground, Hook, InstanceId, LayerOptions, ModifierId,
    PlayOptions, Pole, PoseSpace, PoseStage, RigId, Space, Target, TwoBoneIk,
};
use phalanx::import::mannequin;
use phalanx::math::Affine3x4;
use phalanx::playback::{
    AtEnd, BlendSpace, BlendSpaceId, CrossFade, FadeKind, Fill, LoopMode, MAX_EVENTS_PER_ACTION, Mixer, Playable,
    PlaybackError, Player, Sync,
};
use phalanx::rig::Rig;
use phalanx::skeleton::{
    ColliderShape, JointMask, SpringBones, SpringChain, SpringCollider, SpringJoint, Trs,
};
use std::sync::{Arc, OnceLock};

#[derive(Arbitrary, Debug, Clone, Copy)]
struct Options {
    speed: f32,
    mode: u8,
    repetitions: Option<u32>,
    stop: bool,
    time: f64,
    weight: f32,
    fade_in: f32,
    parameter: [f32; 2],
    /// Seconds of a fade before the end, if the action stops there.
    fades: Option<f32>,
}

/// A call on one instance; layer and motion are given beside it.
#[derive(Arbitrary, Debug, Clone, Copy)]
enum Play {
    Play(Options),
    Restart(Options),
    Add(Options),
    FadeTo(f32, Options),
    CrossFade(u8, f32, bool, u8, Options),
    Fade(f32, f32),
    Stop(f32),
    StopLayer(f32),
    StopAll(f32),
    Paused(bool),
    Speed(f32),
    Loop(u8, Option<u32>),
    Time(f64),
    Phase(f64),
    Parameter([f32; 2]),
    LayerWeight(f32, f32),
    LayerSpeed(f32),
    CharacterSpeed(f32),
}

#[derive(Arbitrary, Debug)]
enum Call {
    Spawn,
    Despawn(u8),
    Play(u8, u8, u8, Play),
    Visible(u8, bool),
    Advance(f64),
    Evaluate,
    Unload(u8),
    Space(u8, u8, f32),
    RemoveSpace(u8),
    Snapshot,
    Restore,
    Ask(u8, u16),
    /// A call on the mixer: layer, motion, arguments.
    Mixer(u8, u8, Play),
    Update(f64),
    AddIk(Ik),
    RemoveModifier(u8),
    /// Modifier, instance, target and weight.
    Target(u8, u8, Aim, f32),
    FadeModifier(u8, u8, f32, f32),
    /// Instance, joint, matrix, weight, space; or the first four numbers as a rotation in model space.
    Override(u8, u16, [f32; 12], f32, u8),
    ClearOverrides(u8),
    World(u8, [f32; 12]),
    Poses(u8, u16, bool),
    AddLook(Look),
    AddSprings(Springs),
    Teleport(u8, [f32; 12]),
    /// Pelvis and ankles, reach, tilt.
    AddFeet(Option<[u16; 3]>, f32, f32),
    /// Modifier, instance, heights and normals of two grounds, weight.
    Grounds(u8, u8, [f32; 8], f32),
    /// Joint of a hook, or all.
    AddHook(Option<u16>, f32),
    /// Joint and matrix that the hook sets, local or in model space.
    EvaluateWith(u16, [f32; 12], bool),
    /// Instance, what is repeated for all joints, space, weight; the weight stays without one.
    SetPose(u8, [f32; 10], u8, Option<f32>),
    FadePose(u8, f32, f32),
    ClearPose(u8),
    /// Four clips, at points of a plane or by their own travel, and the seconds in which a parameter is reached.
    Plane([u8; 4], Option<[[f32; 2]; 4]>, bool, f32),
    /// The first of the instances, layer, motion and value.
    Parameters(u8, u8, u8, [f32; 2]),
    /// Motion.
    Playing(u8),
}

/// Two-bone inverse kinematics.
#[derive(Arbitrary, Debug, Clone, Copy)]
struct Ik {
    joints: [Option<u16>; 3],
    pole: Option<[f32; 3]>,
    pole_joint: Option<u16>,
    axis: Option<[f32; 3]>,
    numbers: [f32; 3],
    follow: bool,
}

/// A chain that looks at its target.
#[derive(Arbitrary, Debug, Clone, Copy)]
struct Look {
    joints: [Option<(u16, f32)>; 3],
    axes: [Option<[f32; 3]>; 3],
    limit: f32,
    soft: f32,
    speed: Option<f32>,
}

/// A chain that swings, and a body that it does not pass.
#[derive(Arbitrary, Debug, Clone, Copy)]
struct Springs {
    /// Without joints, those of an arm.
    joints: Option<[u16; 3]>,
    tail: Option<[f32; 3]>,
    gravity: [f32; 3],
    /// Radius, stiffness, drag.
    numbers: [f32; 3],
    /// Joint, ends, radius; inside, or a plane.
    collider: Option<(u16, [f32; 6], f32, Option<bool>)>,
    center: Option<u16>,
    teleport: Option<f32>,
}

#[derive(Arbitrary, Debug, Clone, Copy)]
struct Aim {
    space: Option<u16>,
    position: [f32; 3],
    rotation: Option<[f32; 4]>,
    normal: Option<[f32; 3]>,
}

fn ik(ik: Ik) -> TwoBoneIk {
    let [end, middle, upper] = ik.joints.map(|joint| joint.map(usize::from));
    let pole = match (ik.pole, ik.pole_joint) {
        (Some(direction), _) => Pole::Direction(direction.into()),
        (None, Some(joint)) => Pole::Joint(joint.into()),
        _ => Pole::Animated,
    };
    let [soft, stretch, twist] = ik.numbers;
    TwoBoneIk {
        middle,
        upper,
        pole,
        axis: ik.axis.map(Vec3::from),
        soft,
        stretch,
        twist,
        end_rotation: if ik.follow { EndRotation::Follow } else { EndRotation::Keep },
        ..TwoBoneIk::new(end.unwrap_or(9))
    }
}

fn look(look: Look) -> crowd::Aim {
    let joints = look.joints.into_iter().flatten();
    let joints: Vec<_> = joints.map(|(joint, share)| (usize::from(joint), share)).collect();
    let [forward, up, up_axis] = look.axes.map(|axis| axis.map(Vec3::from));
    let plain = if joints.is_empty() { crowd::Aim::new(6) } else { crowd::Aim::chain(joints) };
    let speed = look.speed.unwrap_or(f32::INFINITY);
    crowd::Aim { forward, up, up_axis, limit: look.limit, soft: look.soft, speed, ..plain }
}

fn springs(of: Springs) -> SpringBones {
    let [radius, stiffness, drag] = of.numbers;
    let joint = |joint: u16| SpringJoint {
        radius,
        stiffness,
        drag,
        gravity: of.gravity.into(),
        ..SpringJoint::new(joint.into())
    };
    let mut joints = of.joints.unwrap_or([7, 8, 9]).map(joint);
    joints[2].tail = of.tail.map(Vec3::from);
    let collider = |(joint, [a, b, c, d, e, f], radius, kind): (u16, [f32; 6], f32, Option<bool>)| {
        let ends = [Vec3::new(a, b, c), Vec3::new(d, e, f)];
        let shape = match kind {
            Some(inside) => ColliderShape::Capsule { ends, radius, inside },
            None => ColliderShape::Plane { point: ends[0], normal: ends[1] },
        };
        SpringCollider { joint: joint.into(), shape }
    };
    let colliders: Vec<_> = of.collider.into_iter().map(collider).collect();
    let chain = SpringChain {
        joints: joints.into(),
        colliders: (0..colliders.len()).collect(),
        center: of.center.map(usize::from),
    };
    let plain = SpringBones { chains: vec![chain], colliders, ..SpringBones::default() };
    SpringBones { teleport: of.teleport.unwrap_or(plain.teleport), ..plain }
}

fn target(aim: Aim) -> Target {
    Target {
        space: match aim.space {
            None => Space::Model,
            Some(0) => Space::World,
            Some(joint) => Space::Joint(usize::from(joint) - 1),
        },
        position: aim.position.into(),
        rotation: aim.rotation.map(Quat::from_array),
        normal: aim.normal.map(Vec3::from),
    }
}

fn matrix(m: [f32; 12]) -> Affine3x4 {
    let [a, b, c, d, e, f, g, h, i, j, k, l] = m;
    [[a, b, c, d], [e, f, g, h], [i, j, k, l]].into()
}

static RIG: OnceLock<Arc<Rig>> = OnceLock::new();

/// The built-in character, with markers added at both ends of its first clip.
fn rig() -> Arc<Rig> {
    let rig = RIG.get_or_init(|| {
        let mut rig = mannequin().expect("the built-in character loads");
        let end = rig.clips()[0].duration();
        let markers = [0.0, 0.0, 0.3 * end, end].map(|t| Marker::new("m", t));
        rig.set_markers(0, markers.to_vec()).expect("markers within the clip");
        Arc::new(rig)
    });
    rig.clone()
}

fn mode(n: u8) -> LoopMode {
    [LoopMode::Once, LoopMode::Repeat, LoopMode::PingPong][usize::from(n % 3)]
}

fn options(o: Options) -> PlayOptions {
    PlayOptions {
        speed: o.speed,
        loop_mode: mode(o.mode),
        repetitions: o.repetitions,
        at_end: match o.fades {
            Some(seconds) => AtEnd::FadeOut(seconds),
            None if o.stop => AtEnd::Stop,
            None => AtEnd::Hold,
        },
        time: o.time,
        weight: o.weight,
        fade_in: o.fade_in,
        parameter: o.parameter.into(),
    }
}

fn play(
    mut player: Player<'_>,
    layer: usize,
    motions: &[Playable],
    pick: u8,
    call: Play,
) -> Result<(), PlaybackError> {
    let motion = |n: u8| motions[usize::from(n) % motions.len()];
    let own = motion(pick);
    match call {
        Play::Play(o) => player.play(layer, own, &options(o)),
        Play::Restart(o) => player.restart(layer, own, &options(o)),
        Play::Add(o) => player.add(layer, own, &options(o)),
        Play::FadeTo(seconds, o) => player.fade_to(layer, own, seconds, &options(o)),
        Play::CrossFade(to, seconds, warp, sync, o) => {
            let kind = if sync < 128 { FadeKind::Blend } else { FadeKind::Inertial };
            let sync = [Sync::No, Sync::Phase, Sync::Markers(&[])][usize::from(sync % 3)];
            let fade = CrossFade { seconds, kind, warp, sync };
            player.cross_fade(layer, own, motion(to), fade, &options(o))
        }
        Play::Fade(weight, seconds) => player.fade(layer, own, weight, seconds),
        Play::Stop(seconds) => player.stop(layer, own, seconds),
        Play::StopLayer(seconds) => player.stop_layer(layer, seconds),
        Play::StopAll(seconds) => player.stop_all(seconds),
        Play::Paused(paused) => player.set_paused(layer, own, paused),
        Play::Speed(speed) => player.set_speed(layer, own, speed),
        Play::Loop(n, repetitions) => player.set_loop(layer, own, mode(n), repetitions),
        Play::Time(time) => player.set_time(layer, own, time),
        Play::Phase(phase) => player.set_phase(layer, own, phase),
        Play::Parameter(value) => match own {
            Playable::Space(space) => player.set_parameter(layer, space, value),
            Playable::Clip(_) => Ok(()),
        },
        Play::LayerWeight(weight, seconds) => player.fade_layer(layer, weight, seconds),
        Play::LayerSpeed(speed) => player.set_layer_speed(layer, speed),
        Play::CharacterSpeed(speed) => player.set_character_speed(speed),
    }
}

fn motions(crowd: &Crowd, id: RigId, spaces: &[BlendSpaceId]) -> Vec<Playable> {
    let clips = (0..11).filter_map(|c| crowd.clip_by_index(id, c));
    let clips = clips.map(Playable::Clip);
    clips.chain(spaces.iter().map(|&s| Playable::Space(s))).collect()
}

fuzz_target!(|calls: Vec<Call>| {
    let rig = rig();
    let mask = JointMask::subtree(rig.skeleton(), "Spine").ok();
    let upper = LayerOptions { mask, fill: Fill::Below, ..LayerOptions::default() };
    let layers = vec![LayerOptions::default(), upper, LayerOptions::default()];
    let mut mixer =
        Mixer::with_layers(rig.clone(), layers.clone()).expect("a mixer of a valid rig");
    let clips = (0..11).filter_map(|c| mixer.clip_by_index(c));
    let mixed: Vec<Playable> = clips.map(Playable::Clip).collect();
    let mut crowd = Crowd::new();
    let id = crowd.add_rig_with_layers(rig, layers).expect("an empty crowd accepts a rig");
    let mut instances: Vec<InstanceId> = Vec::new();
    let mut spaces: Vec<BlendSpaceId> = Vec::new();
    let mut modifiers: Vec<ModifierId> = Vec::new();
    let mut buffer = BoneBuffer::new();
    let mut saved = None;
    for call in calls.into_iter().take(200) {
        let pick = |n: u8| instances.get(usize::from(n) % instances.len().max(1)).copied();
        let clip = |crowd: &Crowd, n: u8| crowd.clip_by_index(id, usize::from(n) % 11);
        let modifier = |n: u8| modifiers.get(usize::from(n) % modifiers.len().max(1)).copied();
        let before = crowd.snapshot();
        let refused = match call {
            Call::Spawn if instances.len() < 64 => match crowd.spawn(id) {
                Ok(i) => {
                    instances.push(i);
                    false
                }
                Err(_) => true,
            },
            Call::Spawn => false,
            Call::Despawn(i) => pick(i).is_some_and(|i| crowd.despawn(i).is_err()),
            Call::Play(i, layer, motion, call) => {
                let motions = motions(&crowd, id, &spaces);
                match (pick(i), motions.is_empty()) {
                    (Some(i), false) => match crowd.player(i) {
                        Ok(player) => {
                            play(player, usize::from(layer % 4), &motions, motion, call).is_err()
                        }
                        Err(_) => true,
                    },
                    _ => false,
                }
            }
            Call::Visible(i, v) => pick(i).is_some_and(|i| crowd.set_visible(i, v).is_err()),
            Call::Advance(dt) => {
                let refused = crowd.advance(dt).is_err();
                let most = instances.len() * 3 * 4 * 3 * (MAX_EVENTS_PER_ACTION + 1);
                assert!(crowd.events().len() <= most);
                assert!(crowd.events().iter().all(|e| e.time >= 0.0 && e.weight.is_finite()));
                refused
            }
            Call::Evaluate => {
                crowd.evaluate(&mut buffer);
                let finite = buffer.rows().iter().all(|r| r.is_finite());
                assert!(finite, "the built-in character's palette is finite");
                false
            }
            Call::Unload(c) => match clip(&crowd, c) {
                Some(c) => crowd.unload_clip(c).is_err(),
                None => false,
            },
            Call::Space(a, b, value) => match (clip(&crowd, a), clip(&crowd, b)) {
                (Some(a), Some(b)) => match crowd.add_blend_space(id, &[(0.0, a), (value, b)]) {
                    Ok(space) => {
                        spaces.push(space);
                        false
                    }
                    Err(_) => true,
                },
                _ => false,
            },
            Call::Plane(clips, at, speeds, seconds) => {
                let clips: Vec<_> = clips.iter().filter_map(|&n| clip(&crowd, n)).collect();
                let space = match (at, speeds) {
                    (Some(at), _) => {
                        let points: Vec<_> = at.into_iter().zip(clips).collect();
                        BlendSpace::plane(&points)
                    }
                    (None, true) => BlendSpace::by_speed(&clips),
                    (None, false) => BlendSpace::by_velocity(&clips),
                };
                let feet = Feet::new(1, &[0, 0].map(|_| 1));
                let space = if speeds { space.measured_by(feet) } else { space };
                match crowd.add_blend_space(id, space.following(seconds)) {
                    Ok(space) => {
                        spaces.push(space);
                        false
                    }
                    Err(_) => true,
                }
            }
            Call::Parameters(i, layer, n, value) => {
                let some = &instances[usize::from(i) % (instances.len() + 1)..];
                let space = spaces.get(usize::from(n) % spaces.len().max(1)).copied();
                space.is_some_and(|space| {
                    crowd.set_parameters(some, usize::from(layer % 4), &[space], &[value]).is_err()
                })
            }
            Call::Playing(n) => {
                let motions = motions(&crowd, id, &spaces);
                let motion = motions.get(usize::from(n) % motions.len().max(1));
                let playing = motion.and_then(|&m| crowd.instances_playing(m).ok());
                assert!(playing.is_none_or(|playing| playing.count() <= instances.len()));
                false
            }
            Call::RemoveSpace(n) => {
                let n = usize::from(n) % spaces.len().max(1);
                let space = spaces.get(n).copied();
                space.is_some_and(|s| crowd.remove_blend_space(s).is_err())
            }
            Call::Snapshot => {
                saved = Some(crowd.snapshot());
                false
            }
            Call::Restore => saved.as_ref().is_some_and(|s| crowd.restore(s).is_err()),
            Call::Mixer(layer, motion, call) => {
                let _ = play(mixer.player(), usize::from(layer % 4), &mixed, motion, call);
                false
            }
            Call::Update(dt) => {
                let _ = mixer.advance(dt);
                assert!(mixer.events().len() <= 3 * 4 * 2 * MAX_EVENTS_PER_ACTION);
                let finite = mixer.evaluate().iter().all(|r| r.is_finite());
                assert!(finite, "the built-in character's palette is finite");
                false
            }
            Call::AddIk(with) => {
                let added = crowd.add_modifier(id, ik(with));
                added.map(|modifier| modifiers.push(modifier)).is_err()
            }
            Call::AddLook(with) => {
                let added = crowd.add_modifier(id, look(with));
                added.map(|modifier| modifiers.push(modifier)).is_err()
            }
            Call::AddSprings(with) => {
                let added = crowd.add_modifier(id, springs(with));
                added.map(|modifier| modifiers.push(modifier)).is_err()
            }
            Call::Teleport(i, m) => pick(i).is_some_and(|i| crowd.teleport(i, matrix(m)).is_err()),
            Call::AddFeet(joints, reach, tilt) => {
                let [pelvis, left, right] = joints.unwrap_or([1, 5, 9]).map(usize::from);
                let mut feet = Feet { reach, tilt, ..Feet::new(pelvis, &[left, right]) };
                feet.feet[0].markers = Some(["left".into(), "right".into()]);
                match crowd.add_modifier(id, feet) {
                    Ok(modifier) => {
                        modifiers.push(modifier);
                        false
                    }
                    Err(_) => true,
                }
            }
            Call::Grounds(n, i, numbers, weight) => match (modifier(n), pick(i)) {
                (Some(m), Some(i)) => {
                    let ground =
                        |n: &[f32]| Ground { height: n[0], normal: Vec3::new(n[1], n[2], n[3]) };
                    let grounds = [ground(&numbers[..4]), ground(&numbers[4..])];
                    let mut at = [Vec3::ZERO; 2];
                    if crowd.foot_positions(m, &[i], &mut at).is_ok() {
                        assert!(at.iter().all(|at| !at.is_nan()));
                    }
                    crowd.set_grounds(m, &[i], &grounds, &[weight]).is_err()
                }
                _ => false,
            },
            Call::RemoveModifier(n) => {
                let known = modifier(n);
                known.is_some_and(|m| crowd.remove_modifier(m).is_err())
            }
            Call::Target(n, i, aim, weight) => match (modifier(n), pick(i)) {
                (Some(m), Some(i)) => {
                    crowd.set_targets(m, &[i], &[target(aim)], &[weight]).is_err()
                }
                _ => false,
            },
            Call::FadeModifier(n, i, weight, seconds) => match (modifier(n), pick(i)) {
                (Some(m), Some(i)) => match crowd.player(i) {
                    Ok(mut player) => player.fade_modifier(m, weight, seconds).is_err(),
                    Err(_) => true,
                },
                _ => false,
            },
            Call::Override(i, joint, m, weight, space) => match pick(i).map(|i| crowd.player(i)) {
                Some(Ok(mut player)) => {
                    let joint = usize::from(joint);
                    let rotation = Quat::from_xyzw(m[0], m[1], m[2], m[3]);
                    let mut set = |space| {
                        player.set_override_weighted(joint, matrix(m), space, weight).is_err()
                    };
                    match space % 4 {
                        0 => set(PoseSpace::Local),
                        1 => player.set_model_rotation(joint, rotation, weight).is_err(),
                        2 => set(PoseSpace::Model),
                        _ => set(PoseSpace::World),
                    }
                }
                Some(Err(_)) => true,
                None => false,
            },
            Call::ClearOverrides(i) => {
                if let Some(Ok(mut player)) = pick(i).map(|i| crowd.player(i)) {
                    player.clear_overrides();
                }
                false
            }
            Call::World(i, m) => pick(i).is_some_and(|i| crowd.set_world(i, matrix(m)).is_err()),
            Call::Poses(i, joint, before) => pick(i).is_some_and(|i| {
                let stage = if before { PoseStage::Before } else { PoseStage::After };
                let joints = [usize::from(joint)];
                let (mut locals, mut models) = ([Trs::IDENTITY], [Affine3x4::IDENTITY]);
                let read = crowd.local_poses(id, &joints, &[i], stage, &mut locals).is_err();
                let read =
                    crowd.model_poses(id, &joints, &[i], stage, &mut models).is_err() || read;
                assert!(
                    models[0].is_finite() && locals[0].to_array().iter().all(|v| v.is_finite())
                );
                read
            }),
            Call::AddHook(joint, reach) => {
                let joints = joint.map(|joint| vec![usize::from(joint)]);
                match crowd.add_modifier(id, Hook { joints, reach }) {
                    Ok(modifier) => {
                        modifiers.push(modifier);
                        false
                    }
                    Err(_) => true,
                }
            }
            Call::EvaluateWith(joint, m, in_model) => {
                let joint = usize::from(joint);
                crowd.evaluate_with(&mut buffer, &|_, pose, seconds| {
                    assert!(seconds >= 0.0);
                    let before = pose.model(joint);
                    let set = match in_model {
                        true => pose.set_model(joint, matrix(m)),
                        false => pose.set_local(joint, matrix(m)),
                    };
                    assert!(set.is_ok() || pose.model(joint) == before);
                });
                let finite = buffer.rows().iter().all(|r| r.is_finite());
                assert!(finite, "the built-in character's palette is finite");
                false
            }
            Call::SetPose(i, v, space, weight) => pick(i).is_some_and(|i| {
                let spaces = [PoseSpace::Local, PoseSpace::Model, PoseSpace::World];
                let space = spaces[usize::from(space % 3)];
                let joint = Trs {
                    translation: Vec3::new(v[0], v[1], v[2]),
                    rotation: Quat::from_xyzw(v[3], v[4], v[5], v[6]),
                    scale: Vec3::new(v[7], v[8], v[9]),
                };
                let joints = crowd.rig(id).map_or(0, |rig| rig.skeleton().len());
                let poses = vec![joint; joints];
                crowd.set_poses(id, &[i], &poses, space, weight.as_slice()).is_err()
            }),
            Call::FadePose(i, weight, seconds) => {
                pick(i).is_some_and(|i| crowd.fade_poses(&[i], weight, seconds).is_err())
            }
            Call::ClearPose(i) => pick(i).is_some_and(|i| crowd.clear_poses(&[i]).is_err()),
            Call::Ask(i, joint) => {
                if let Some(i) = pick(i) {
                    let _ = crowd.bounds(i);
                    let _ = crowd.model_matrix(i, usize::from(joint));
                    let _ = crowd.palette_range(i);
                }
                false
            }
        };
        if refused {
            assert!(crowd.snapshot() == before, "a call that fails changes nothing");
        }
    }
});
