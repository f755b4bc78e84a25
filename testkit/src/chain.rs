//! Rigs built in code, and their palettes by the oracle.

use crate::oracle::{Action, Layer};
use crate::reference;
use glam::Vec3;
use phalanx::build::build_rig;
use phalanx::import::raw::{
    Interpolation, RawChannel, RawClip, RawNode, RawScene, RawSkin, RawTrack,
};
use phalanx::math::Affine3x4;
use phalanx::mesh::{Influences, Mesh, Primitive};
use phalanx::rig::Rig;
use phalanx::skeleton::Trs;
use phalanx_workload::hash01;
use std::sync::Arc;

const JOINTS: usize = 20;

/// A chain of joints with three clips of different lengths (one with uneven keys) and one mesh.
pub fn raw() -> RawScene {
    let nodes = (0..JOINTS).map(|i| RawNode {
        name: Some(format!("joint{i}")),
        parent: i.checked_sub(1),
        local: Trs { translation: Vec3::new(0.0, 0.1, 0.0), ..Trs::IDENTITY },
        mesh: (i == 0).then_some(0),
        skin: (i == 0).then_some(0),
        ..RawNode::default()
    });
    let clip = |name: &str, duration: f32, uneven: bool, seed: u64| RawClip {
        name: Some(name.into()),
        duration,
        tracks: (0..JOINTS)
            .map(|node| {
                let keys = 6;
                let times = (0..keys).map(|k| {
                    let u = k as f32 / (keys - 1) as f32;
                    duration * if uneven { u * u } else { u }
                });
                let values = (0..keys).flat_map(|k| {
                    let a = hash01(seed * 1000 + node as u64 * 10 + (k % 5) as u64) as f32 - 0.5;
                    // In f64: a target's own sine of f32 may round otherwise.
                    let (sin, cos) = (0.5 * f64::from(a)).sin_cos();
                    [sin as f32, 0.0, 0.0, cos as f32]
                });
                RawTrack {
                    node,
                    channel: RawChannel::Rotation,
                    interpolation: Interpolation::Linear,
                    times: times.collect(),
                    values: values.collect(),
                }
            })
            .collect(),
        ..RawClip::default()
    };
    let primitive = Primitive {
        positions: (0..JOINTS).map(|j| [0.05, 0.1 * j as f32, 0.0]).collect(),
        influences: Influences {
            per_vertex: 4,
            joints: (0..JOINTS as u16).flat_map(|j| [j, 0, 0, 0]).collect(),
            weights: (0..JOINTS).flat_map(|_| [0.75, 0.25, 0.0, 0.0]).collect(),
        },
        ..Primitive::default()
    };
    RawScene {
        name: "chain".into(),
        nodes: nodes.collect(),
        skins: vec![RawSkin {
            name: None,
            joints: (0..JOINTS).collect(),
            inverse_bind: (0..JOINTS)
                .map(|j| {
                    let mut m = Affine3x4::IDENTITY;
                    m.rows[1][3] = -0.1 * (j + 1) as f32;
                    m.to_cols_array()
                })
                .collect(),
        }],
        clips: vec![clip("a", 1.0, false, 1), clip("b", 0.7, true, 2), clip("c", 2.0, false, 3)],
        meshes: vec![Mesh { primitives: vec![primitive], ..Mesh::default() }],
        ..RawScene::default()
    }
}

pub fn rig() -> Arc<Rig> {
    Arc::new(build_rig(raw(), &Default::default()).unwrap())
}

/// Metres that the fastest corner of a slot would go in a pass of the first clip at its largest speed.
const TRAVEL: f32 = 11.98;

/// An error of sharing within which the first clip has this many phases, a power of two: half of one, and a fifth for what
/// clocks are off.
pub fn sharing_error(phases: u16) -> f32 {
    0.6 * TRAVEL / f32::from(phases)
}

/// The chain with `clips` clips: clip n is a copy of clip n % 3.
pub fn rig_of_clips(clips: usize) -> Arc<Rig> {
    let mut raw = raw();
    for n in raw.clips.len()..clips {
        let mut clip = raw.clips[n % 3].clone();
        clip.name = Some(format!("clip {n}"));
        raw.clips.push(clip);
    }
    Arc::new(build_rig(raw, &Default::default()).expect("a sound scene"))
}

/// The palette of weighted clips at times, by the oracle, in f64.
pub fn palette(actions: &[(usize, f32, f32)]) -> Vec<Affine3x4> {
    let actions = actions.iter();
    let actions =
        actions.map(|&(clip, time, weight)| Action::new(clip, time.into(), weight.into()));
    let layers = [Layer::of(actions.collect())];
    let rows = reference::palette(&reference::scene(&raw()), &layers);
    let narrow = |m: [f64; 16]| Affine3x4::from_cols_array(&m.map(|v| v as f32));
    rows.into_iter().map(narrow).collect()
}

pub fn close(a: &[Affine3x4], b: &[Affine3x4]) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        for (x, y) in a.rows.iter().flatten().zip(b.rows.iter().flatten()) {
            assert!((x - y).abs() < 1e-5, "{a:?} {b:?}");
        }
    }
}
/// A chain of forty joints with two clips that animate all of them.
pub fn forty() -> RawScene {
    let clip = |duration: f32, power: i32| RawClip {
        duration,
        tracks: (0..40)
            .map(|node| RawTrack {
                node,
                channel: RawChannel::Translation,
                interpolation: Interpolation::Linear,
                times: (0..9).map(|k| duration * (k as f32 / 8.0).powi(power)).collect(),
                values: (0..27).map(|v| (v * (node + 1) % 7) as f32).collect(),
            })
            .collect(),
        ..RawClip::default()
    };
    RawScene {
        nodes: (0..40)
            .map(|i: usize| RawNode { parent: i.checked_sub(1), ..RawNode::default() })
            .collect(),
        skins: vec![RawSkin {
            name: None,
            joints: (0..40).collect(),
            inverse_bind: vec![Affine3x4::IDENTITY.to_cols_array(); 40],
        }],
        // The second clip has uneven keys, so that key hints are used.
        clips: vec![clip(1.0, 1), clip(0.8, 2)],
        ..RawScene::default()
    }
}
