//! Rigs and meshes of every kind: chains of any length, tubes around them with any number of
//! influences, morph targets and tangents.

use glam::{Quat, Vec3};
use phalanx::build::build_rig;
use phalanx::import::raw::{
    Interpolation, RawChannel, RawClip, RawNode, RawScene, RawSkin, RawTrack,
};
use phalanx::import::{ImportOptions, import_path};
use phalanx::math::Affine3x4;
use phalanx::mesh::{Influences, MorphTarget, Primitive};
use phalanx::rig::Rig;
use phalanx::skeleton::Trs;
use phalanx_testkit::trials;
use std::sync::Arc;

pub fn file(name: &str) -> Arc<Rig> {
    let path = trials::needed(name).unwrap_or_else(|_| panic!("{name} is listed by its trial"));
    let mut imported = import_path(&path, &ImportOptions::default()).expect("a sound file");
    Arc::new(imported.rigs.swap_remove(0))
}

/// The chain's length in metres, whatever the number of joints.
pub const HEIGHT: f32 = 1.8;

/// A chain of joints that bends, twists and changes its scale unevenly.
pub fn chain(joints: usize) -> Arc<Rig> {
    sided_chain(joints, 1.0)
}

/// The same, turned inside out by the scale of its root.
pub fn mirrored_chain(joints: usize) -> Arc<Rig> {
    sided_chain(joints, -1.0)
}

fn sided_chain(joints: usize, side: f32) -> Arc<Rig> {
    let step = HEIGHT / joints as f32;
    let nodes = (0..joints).map(|j| RawNode {
        source: j,
        name: Some(format!("joint{j}")),
        parent: j.checked_sub(1),
        local: Trs { translation: Vec3::Y * if j == 0 { 0.0 } else { step }, ..Trs::IDENTITY },
        ..RawNode::default()
    });
    let track = |node: usize, channel, values: Vec<f32>| RawTrack {
        node,
        channel,
        interpolation: Interpolation::Linear,
        times: vec![0.0, 0.4, 1.0],
        values,
    };
    let bend = 2.0 / joints as f32;
    let turn = |k: f32| Quat::from_euler(glam::EulerRot::XYZ, bend * k, bend * 1.5 * k, -bend * k);
    let mut tracks: Vec<_> = (0..joints)
        .map(|j| {
            let values = [0.3, 1.0, -0.8].map(|k| turn(k).to_array());
            track(j, RawChannel::Rotation, values.as_flattened().to_vec())
        })
        .collect();
    let scales = [[1.0, 1.0, 1.0], [1.3, 0.8, 1.1], [0.7, 1.2, 0.9]];
    let uneven = scales.map(|[x, y, z]| [x * side, y, z]);
    let uneven = uneven.as_flattened().to_vec();
    tracks.push(track(0, RawChannel::Scale, uneven));
    let raw = RawScene {
        name: format!("chain of {joints}"),
        nodes: nodes.collect(),
        skins: vec![RawSkin {
            name: None,
            joints: (0..joints).collect(),
            inverse_bind: (0..joints)
                .map(|j| {
                    let at = Vec3::NEG_Y * (step * j as f32);
                    Affine3x4::from_scale_rotation_translation(Vec3::ONE, Quat::IDENTITY, at)
                        .to_cols_array()
                })
                .collect(),
        }],
        clips: vec![RawClip {
            name: Some("bend".into()),
            duration: 1.0,
            tracks,
            ..RawClip::default()
        }],
        ..RawScene::default()
    };
    Arc::new(build_rig(raw, &Default::default()).expect("a sound scene"))
}

/// How the weights of a tube are to be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weights {
    Bytes,
    Shorts,
    Floats,
}

/// A tube around a chain, every vertex between `per_vertex` joints.
pub fn tube(joints: usize, per_vertex: usize, weights: Weights, targets: usize) -> Primitive {
    const SIDES: usize = 12;
    let rings = joints.min(200) * 2;
    let mut p = Primitive::default();
    p.influences.per_vertex = per_vertex;
    for ring in 0..=rings {
        let along = ring as f32 / rings as f32;
        for side in 0..SIDES {
            let angle = side as f32 / SIDES as f32 * std::f32::consts::TAU;
            let out = Vec3::new(angle.cos(), 0.0, angle.sin());
            let radius = 0.15 + 0.05 * (along * 9.0).sin();
            p.positions.push((out * radius + Vec3::Y * along * HEIGHT).to_array());
            p.normals.push(out.to_array());
            let along_side = Vec3::new(-angle.sin(), 0.0, angle.cos());
            p.tangents.push(along_side.extend(if side % 2 == 0 { 1.0 } else { -1.0 }).to_array());
            let first = (along * joints as f32) as usize;
            add_influences(&mut p.influences, first, joints, weights);
        }
    }
    let vertex = |ring: usize, side: usize| (ring * SIDES + side % SIDES) as u32;
    for ring in 0..rings {
        for side in 0..SIDES {
            let (a, b) = (vertex(ring, side), vertex(ring, side + 1));
            let (c, d) = (vertex(ring + 1, side), vertex(ring + 1, side + 1));
            p.indices.extend([a, c, b, b, c, d]);
        }
    }
    let wave = |t: usize, v: usize, k: f32| {
        let at = v as f32 * 0.37 + t as f32;
        Vec3::new(at.sin(), (at * 1.7).cos(), (at * 0.6).sin()).to_array().map(|x| x * k)
    };
    let count = p.positions.len();
    p.targets = (0..targets)
        .map(|t| MorphTarget {
            positions: (0..count).map(|v| wave(t, v, 0.02)).collect(),
            normals: (0..count).map(|v| wave(t + 50, v, 0.1)).collect(),
            // A target that leaves tangents alone, now and then.
            tangents: match t % 3 {
                0 => Vec::new(),
                _ => (0..count).map(|v| wave(t + 90, v, 0.1)).collect(),
            },
        })
        .collect();
    p
}

/// Weights 8 : 7 : 6 … of joints from `first` on, that sum to 1 as they are stored.
fn add_influences(to: &mut Influences, first: usize, joints: usize, weights: Weights) {
    let n = to.per_vertex;
    let whole = match weights {
        Weights::Bytes => 255,
        Weights::Shorts => 65_535,
        Weights::Floats => 1 << 20,
    };
    let total: usize = (1..=n).sum();
    let mut left = whole;
    for k in 0..n {
        let part = if k + 1 == n { left } else { whole * (n - k) / total };
        left -= part;
        to.joints.push(((first + k) % joints) as u16);
        to.weights.push(part as f32 / whole as f32);
    }
}
