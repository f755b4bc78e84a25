//! The same model in other units: below an armature of another scale, where it is equal in model space, or as a whole.

use glam::Vec3;
use phalanx::import::raw::{RawChannel, RawNode, RawScene};
use phalanx::mesh::Mesh;
use phalanx::skeleton::Trs;
use std::collections::HashMap;

/// A scene with an armature of a scale above its roots, and all lengths below divided by it. Every vertex stays where it
/// was; of powers of two to the bit.
///
/// The armature is the last node. Lengths are translations at rest and of clips, and the vertices of meshes that hang
/// on nodes; inverse bind matrices lead to frames of the other unit.
pub fn below_armature(raw: &RawScene, scale: f64) -> RawScene {
    let mut scene = raw.clone();
    let shorter = |v: f32| (f64::from(v) / scale) as f32;
    let armature = scene.nodes.len();
    for node in &mut scene.nodes {
        node.parent = node.parent.or(Some(armature));
        let t = node.local.translation.to_array();
        node.local.translation = t.map(shorter).into();
        if let Some(matrix) = &mut node.matrix {
            matrix[12..15].iter_mut().for_each(|v| *v = shorter(*v));
        }
    }
    let tracks = scene.clips.iter_mut().flat_map(|c| &mut c.tracks);
    for track in tracks.filter(|t| t.channel == RawChannel::Translation) {
        track.values.iter_mut().for_each(|v| *v = shorter(*v));
    }
    for bind in scene.skins.iter_mut().flat_map(|s| &mut s.inverse_bind) {
        for column in bind.chunks_exact_mut(4) {
            column[..3].iter_mut().for_each(|v| *v = shorter(*v));
        }
    }
    // A mesh that skins draw as well keeps its vertices there.
    let mut smaller: HashMap<usize, usize> = HashMap::new();
    let meshes = &mut scene.meshes;
    for node in scene.nodes.iter_mut().filter(|n| n.skin.is_none()) {
        if let Some(mesh) = node.mesh {
            let own = *smaller.entry(mesh).or_insert_with(|| {
                let made = smaller_mesh(&meshes[mesh], shorter);
                meshes.push(made);
                meshes.len() - 1
            });
            node.mesh = Some(own);
        }
    }
    for roots in &mut scene.scenes {
        *roots = vec![armature];
    }
    scene.nodes.push(RawNode {
        source: armature,
        name: Some("armature of another scale".into()),
        local: Trs { scale: Vec3::splat(scale as f32), ..Trs::IDENTITY },
        ..RawNode::default()
    });
    scene
}

/// A scene with all lengths in another unit: every one multiplied by `factor`.
pub fn in_unit(raw: &RawScene, factor: f64) -> RawScene {
    let mut scene = raw.clone();
    let shorter = |v: f32| (f64::from(v) * factor) as f32;
    for node in &mut scene.nodes {
        let t = node.local.translation.to_array();
        node.local.translation = t.map(shorter).into();
        if let Some(matrix) = &mut node.matrix {
            matrix[12..15].iter_mut().for_each(|v| *v = shorter(*v));
        }
    }
    let tracks = scene.clips.iter_mut().flat_map(|c| &mut c.tracks);
    for track in tracks.filter(|t| t.channel == RawChannel::Translation) {
        track.values.iter_mut().for_each(|v| *v = shorter(*v));
    }
    for bind in scene.skins.iter_mut().flat_map(|s| &mut s.inverse_bind) {
        bind[12..15].iter_mut().for_each(|v| *v = shorter(*v));
    }
    for mesh in &mut scene.meshes {
        *mesh = smaller_mesh(mesh, shorter);
    }
    scene
}

fn smaller_mesh(mesh: &Mesh, shorter: impl Fn(f32) -> f32) -> Mesh {
    let mut mesh = mesh.clone();
    for p in &mut mesh.primitives {
        let all = p.positions.iter_mut();
        let targets = p.targets.iter_mut().flat_map(|t| &mut t.positions);
        for v in all.chain(targets).flatten() {
            *v = shorter(*v);
        }
    }
    mesh
}
