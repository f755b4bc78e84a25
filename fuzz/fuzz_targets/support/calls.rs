//! Calls on crowds and mixers as bytes give them.

use arbitrary::Arbitrary;
use glam::{Quat, Vec3};
use phalanx::crowd::{
    self, Crowd, EndRotation, PlayOptions, Pole, RigId, Space, Target, TwoBoneIk,
};
use phalanx::math::Affine3x4;
use phalanx::playback::{
    AtEnd, BlendSpaceId, CrossFade, FadeKind, LoopMode, Playable, PlaybackError, Player, Sync,
};
use phalanx::skeleton::{ColliderShape, SpringBones, SpringChain, SpringCollider, SpringJoint};

#[derive(Arbitrary, Debug, Clone, Copy)]
pub struct Options {
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
pub enum Play {
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
pub enum Call {
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
pub struct Ik {
    joints: [Option<u16>; 3],
    pole: Option<[f32; 3]>,
    pole_joint: Option<u16>,
    axis: Option<[f32; 3]>,
    numbers: [f32; 3],
    follow: bool,
}

/// A chain that looks at its target.
#[derive(Arbitrary, Debug, Clone, Copy)]
pub struct Look {
    joints: [Option<(u16, f32)>; 3],
    axes: [Option<[f32; 3]>; 3],
    limit: f32,
    soft: f32,
    speed: Option<f32>,
}

/// A chain that swings, and a body that it does not pass.
#[derive(Arbitrary, Debug, Clone, Copy)]
pub struct Springs {
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
pub struct Aim {
    space: Option<u16>,
    position: [f32; 3],
    rotation: Option<[f32; 4]>,
    normal: Option<[f32; 3]>,
}

pub fn ik(ik: Ik) -> TwoBoneIk {
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

pub fn look(look: Look) -> crowd::Aim {
    let joints = look.joints.into_iter().flatten();
    let joints: Vec<_> = joints.map(|(joint, share)| (usize::from(joint), share)).collect();
    let [forward, up, up_axis] = look.axes.map(|axis| axis.map(Vec3::from));
    let plain = if joints.is_empty() { crowd::Aim::new(6) } else { crowd::Aim::chain(joints) };
    let speed = look.speed.unwrap_or(f32::INFINITY);
    crowd::Aim { forward, up, up_axis, limit: look.limit, soft: look.soft, speed, ..plain }
}

pub fn springs(of: Springs) -> SpringBones {
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
    let collider =
        |(joint, [a, b, c, d, e, f], radius, kind): (u16, [f32; 6], f32, Option<bool>)| {
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

pub fn target(aim: Aim) -> Target {
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

pub fn matrix(m: [f32; 12]) -> Affine3x4 {
    let [a, b, c, d, e, f, g, h, i, j, k, l] = m;
    [[a, b, c, d], [e, f, g, h], [i, j, k, l]].into()
}

pub fn mode(n: u8) -> LoopMode {
    [LoopMode::Once, LoopMode::Repeat, LoopMode::PingPong][usize::from(n % 3)]
}

pub fn options(o: Options) -> PlayOptions {
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

pub fn play(
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

pub fn motions(crowd: &Crowd, id: RigId, spaces: &[BlendSpaceId]) -> Vec<Playable> {
    let clips = (0..11).filter_map(|c| crowd.clip_by_index(id, c));
    let clips = clips.map(Playable::Clip);
    clips.chain(spaces.iter().map(|&s| Playable::Space(s))).collect()
}
