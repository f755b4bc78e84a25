//! A `RawScene` by way of the oracle's reader: what an import gives, without the importer. For tests of the
//! builders and the runtime that are to fail for their own faults only.

use crate::oracle::Scene;
use crate::oracle::curve::Interpolation as Curve;
use crate::oracle::scene::{self, Property};
use glam::{Mat4, Quat, Vec3};
use phalanx::mesh::{Influences, Mesh, MorphTarget, Primitive};
use phalanx::offline::raw::{
    Interpolation, RawChannel, RawClip, RawNode, RawScene, RawSkin, RawTrack,
};
use phalanx::skeleton::Trs;

/// The scene at f32: nodes, skins, clips, and of the meshes what deforms positions.
pub fn scene(scene: &Scene) -> RawScene {
    let nodes = scene.nodes.iter().enumerate().map(node);
    let meshes = scene.meshes.iter().map(|mesh| Mesh {
        primitives: mesh.primitives.iter().map(primitive).collect(),
        ..Mesh::default()
    });
    let skins = scene.skins.iter().map(|skin| RawSkin {
        name: skin.name.clone(),
        joints: skin.joints.clone(),
        inverse_bind: skin.inverse_bind.iter().map(|&m| narrow(m)).collect(),
    });
    let clips = scene.clips.iter().map(|clip| RawClip {
        name: clip.name.clone(),
        duration: clip.duration as f32,
        tracks: clip.channels.iter().map(track).collect(),
        ..RawClip::default()
    });
    let roots = (0..scene.nodes.len()).filter(|&n| scene.nodes[n].parent.is_none());
    RawScene {
        nodes: nodes.collect(),
        skins: skins.collect(),
        clips: clips.collect(),
        meshes: meshes.collect(),
        scenes: vec![roots.collect()],
        default_scene: Some(0),
        ..RawScene::default()
    }
}

fn narrow<const N: usize>(wide: [f64; N]) -> [f32; N] {
    wide.map(|x| x as f32)
}

fn all(wide: &[f64]) -> Vec<f32> {
    wide.iter().map(|&x| x as f32).collect()
}

fn node((source, node): (usize, &scene::Node)) -> RawNode {
    let matrix = node.matrix.map(narrow);
    let local = match matrix {
        Some(m) => {
            let parts = Mat4::from_cols_array(&m).to_scale_rotation_translation();
            Trs {
                scale: parts.0,
                rotation: parts.1,
                translation: parts.2,
            }
        }
        None => Trs {
            translation: Vec3::from_array(narrow(node.rest.t)),
            rotation: Quat::from_array(narrow(node.rest.r)),
            scale: Vec3::from_array(narrow(node.rest.s)),
        },
    };
    RawNode {
        source,
        name: node.name.clone(),
        parent: node.parent,
        local,
        matrix,
        mesh: node.mesh,
        skin: node.skin,
        weights: all(&node.rest.weights),
    }
}

fn primitive(primitive: &scene::Primitive) -> Primitive {
    let per_vertex = primitive.influences.first().map_or(0, Vec::len);
    let flat = || primitive.influences.iter().flatten();
    Primitive {
        positions: primitive.positions.iter().map(|&p| narrow(p)).collect(),
        influences: Influences {
            per_vertex,
            joints: flat().map(|&(joint, _)| joint as u16).collect(),
            weights: flat().map(|&(_, weight)| weight as f32).collect(),
        },
        targets: primitive
            .targets
            .iter()
            .map(|target| MorphTarget {
                positions: target.iter().map(|&p| narrow(p)).collect(),
                ..MorphTarget::default()
            })
            .collect(),
        ..Primitive::default()
    }
}

fn track(channel: &scene::Channel) -> RawTrack {
    RawTrack {
        node: channel.node,
        channel: match channel.path {
            Property::Translation => RawChannel::Translation,
            Property::Rotation => RawChannel::Rotation,
            Property::Scale => RawChannel::Scale,
            Property::Weights => RawChannel::Weights,
        },
        interpolation: match channel.curve.interpolation {
            Curve::Linear => Interpolation::Linear,
            Curve::Step => Interpolation::Step,
            Curve::CubicSpline => Interpolation::CubicSpline,
        },
        times: all(&channel.curve.times),
        values: all(&channel.curve.keys),
    }
}
