//! A chain of joints, each moved by its own kind of track, over several timelines.

use glam::{Quat, Vec3};
use phalanx::build::{BuildOptions, build_additive_raw, build_rig};
use phalanx::clip::Clip;
use phalanx::import::raw::{Interpolation, RawChannel, RawClip, RawNode, RawScene, RawTrack};
use phalanx::rig::Rig;
use phalanx::skeleton::Trs;

const JOINTS: usize = 9;

fn turn(axis: Vec3, angle: f32) -> [f32; 4] {
    Quat::from_axis_angle(axis.normalize(), angle).to_array()
}

/// Values of a track, key-major.
fn values(times: &[f32], of: impl Fn(f32) -> Vec<f32>) -> Vec<f32> {
    times.iter().flat_map(|&t| of(t)).collect()
}

fn clip(name: &str) -> RawClip {
    use Interpolation::{CubicSpline, Linear, Step};
    use RawChannel::{Rotation, Scale, Translation};
    let even: Vec<f32> = (0..31).map(|k| k as f32 / 30.0).collect();
    let sparse = [0.0, 0.05, 0.3, 0.31, 0.8, 1.0];
    let axis = Vec3::new(0.3, 1.0, -0.4);
    let swing = |t: f32| turn(axis, 0.7 * (6.3 * t).sin()).to_vec();
    let spline: Vec<f32> = sparse
        .iter()
        .flat_map(|t| [0.2, 0.0, 0.1, 0.1 * t * t, 0.3, 0.0, 0.25, 0.0, 0.1])
        .collect();
    let track = |node, channel, interpolation, times: &[f32], values| RawTrack {
        node,
        channel,
        interpolation,
        times: times.to_vec(),
        values,
    };
    let noise = |t: f32| turn(axis, 0.4 + 5e-5 * (900.0 * t).sin()).to_vec();
    RawClip {
        name: Some(name.into()),
        duration: 1.0,
        tracks: vec![
            track(
                0,
                Translation,
                Linear,
                &even,
                values(&even, |t| vec![1.5 * t, 0.1 * (9.0 * t).cos(), 0.0]),
            ),
            track(1, Rotation, Linear, &even, values(&even, swing)),
            track(
                2,
                Rotation,
                Linear,
                &sparse,
                values(&sparse, |t| turn(Vec3::X, 2.0 * t).to_vec()),
            ),
            track(3, Rotation, Step, &sparse, values(&sparse, |t| turn(Vec3::Z, t).to_vec())),
            track(4, Translation, CubicSpline, &sparse, spline),
            track(
                5,
                Scale,
                Linear,
                &even,
                values(&even, |t| vec![1.0 + 0.4 * (5.0 * t).sin(), 1.0, 0.8 - 0.2 * t]),
            ),
            track(6, Rotation, Linear, &even, values(&even, noise)),
            track(7, Rotation, Linear, &[0.0], turn(axis, 1.1).to_vec()),
            track(8, Scale, Step, &sparse, values(&sparse, |t| vec![1.0 + t, 1.0, 1.0])),
        ],
        ..RawClip::default()
    }
}

/// A joint 0.3 m from the one before.
fn node(i: usize) -> RawNode {
    RawNode {
        source: i,
        name: Some(format!("joint {i}")),
        parent: i.checked_sub(1),
        local: Trs {
            translation: Vec3::new(0.0, if i == 0 { 0.0 } else { 0.3 }, 0.0),
            rotation: Quat::from_rotation_z(0.2 * i as f32),
            scale: Vec3::ONE,
        },
        ..RawNode::default()
    }
}

/// A joint that moves, and one on other key times that moves by less than a baked clip keeps.
pub fn barely() -> Rig {
    let mut scene = scene();
    let track = |node, channel, step: f32, of: fn(f32) -> Vec<f32>| {
        let times: Vec<f32> = (0..8).map(|k| k as f32 * step).collect();
        RawTrack {
            node,
            channel,
            interpolation: Interpolation::Linear,
            values: values(&times, of),
            times,
        }
    };
    scene.clips = vec![RawClip {
        name: Some("barely".into()),
        duration: 1.0,
        tracks: vec![
            // The first timeline is the one that goes.
            track(3, RawChannel::Translation, 0.1, |t| vec![0.0, 0.3 + 2e-5 * t, 0.0]),
            track(1, RawChannel::Rotation, 0.125, |t| turn(Vec3::X, t).to_vec()),
        ],
        ..RawClip::default()
    }];
    build_rig(scene, &BuildOptions::default()).expect("the scene is sound")
}

fn scene() -> RawScene {
    RawScene {
        name: "made".into(),
        clips: vec![clip("all kinds")],
        scenes: vec![vec![0]],
        default_scene: Some(0),
        nodes: (0..JOINTS).map(node).collect(),
        ..RawScene::default()
    }
}

pub fn rig() -> Rig {
    build_rig(scene(), &BuildOptions::default()).expect("the scene is sound")
}

/// The clip as what it adds to the rest pose.
pub fn additive(rig: &Rig) -> Clip {
    let rest = rig.skeleton().rest_pose();
    build_additive_raw(rig, (&scene(), 0), rest).expect("the scene has the clip")
}

/// A turn that is held over very many keys.
pub fn held(keys: usize) -> Rig {
    held_by(1, keys)
}

/// The same, of a joint at the end of a chain.
pub fn held_by(joint: usize, keys: usize) -> Rig {
    let mut scene = scene();
    scene.nodes = (0..=joint).map(node).collect();
    let times: Vec<f32> = (0..keys).map(|k| k as f32 / 60.0).collect();
    let turns = |t: f32| turn(Vec3::Y, if t > 500.0 { 0.5 } else { 0.25 }).to_vec();
    scene.clips = vec![RawClip {
        name: Some("held".into()),
        duration: times[keys - 1],
        tracks: vec![RawTrack {
            node: joint,
            channel: RawChannel::Rotation,
            interpolation: Interpolation::Step,
            values: values(&times, turns),
            times,
        }],
        ..RawClip::default()
    }];
    build_rig(scene, &BuildOptions::default()).expect("the scene is sound")
}
