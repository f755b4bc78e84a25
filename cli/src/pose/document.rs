//! The pose as data: the document that `--json` prints, with the file's indices.

use super::super::error::CliError;
use super::super::model::Model;
use phalanx::playback::{EvaluatedPose, PlaybackError, PoseAction};
use phalanx::rig::Rig;
use serde::Serialize;

/// A pose. Clip, index, time and duration are null unless one clip is shown at weight 1.
#[derive(Debug, Serialize)]
pub struct Document {
    /// The clip's name.
    pub clip: Option<String>,
    /// The clip's index.
    pub index: Option<usize>,
    /// Clip time in seconds.
    pub time: Option<f32>,
    /// Duration of the clip in seconds.
    pub duration: Option<f32>,
    /// The actions of `--blend`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blend: Vec<BlendEntry>,
    /// Nodes of the default scene and joints of the skeleton, with the ancestors of both.
    pub nodes: Vec<NodeEntry>,
    /// The file's skins.
    pub skins: Vec<SkinEntry>,
    /// Nodes with morph weights.
    pub morph: Vec<MorphEntry>,
    /// Deformed primitives, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primitives: Option<Vec<PrimitiveEntry>>,
}

/// One action of a blend.
#[derive(Debug, Serialize)]
pub struct BlendEntry {
    pub clip: String,
    pub index: usize,
    pub time: f32,
    pub duration: f32,
    pub weight: f32,
}

#[derive(Debug, Serialize)]
pub struct NodeEntry {
    /// Index in the file.
    pub node: usize,
    pub name: Option<String>,
    /// Index in the file, or -1.
    pub parent: i64,
    pub local: [f32; 10],
    /// Column-major.
    pub world: [f32; 16],
}

#[derive(Debug, Serialize)]
pub struct SkinEntry {
    pub skin: usize,
    /// Node indices in the file, in slot order.
    pub joints: Vec<usize>,
    /// Column-major matrices in slot order.
    pub palette: Vec<[f32; 16]>,
}

#[derive(Debug, Serialize)]
pub struct MorphEntry {
    pub node: usize,
    pub weights: Vec<f32>,
}

#[derive(Debug, Serialize)]
pub struct PrimitiveEntry {
    pub node: usize,
    pub mesh: usize,
    pub primitive: usize,
    pub skin: Option<usize>,
    pub positions: Vec<[f32; 3]>,
}

impl BlendEntry {
    /// Describes an action of a rig.
    pub fn new(rig: &Rig, action: &PoseAction) -> Self {
        let clip = rig.clips().get(action.clip);
        Self {
            clip: clip.map_or_else(String::new, |c| c.name().to_owned()),
            index: action.clip,
            time: action.time,
            duration: clip.map_or(0.0, |c| c.duration()),
            weight: action.weight,
        }
    }
}

impl Document {
    /// Collects an evaluated pose; deforms the meshes if `vertices` is set.
    ///
    /// A single action at weight 1 is shown as the clip itself.
    pub fn new(
        model: &Model,
        mut actions: Vec<BlendEntry>,
        pose: &EvaluatedPose,
        vertices: bool,
    ) -> Result<Self, CliError> {
        let single = match actions[..] {
            [BlendEntry { weight: 1.0, .. }] => actions.pop(),
            _ => None,
        };
        let rig = &model.rig;
        // JSON cannot represent numbers that are not finite.
        let fail = |source| CliError::Pose { file: model.file.clone(), source: Box::new(source) };
        pose.check_finite(rig).map_err(fail)?;
        Ok(Self {
            index: single.as_ref().map(|a| a.index),
            time: single.as_ref().map(|a| a.time),
            duration: single.as_ref().map(|a| a.duration),
            clip: single.map(|a| a.clip),
            blend: actions,
            nodes: nodes(rig, pose),
            skins: skins(rig, pose),
            morph: morphs(rig, pose),
            primitives: vertices.then(|| primitives(model, pose)).transpose()?,
        })
    }
}

/// For each node of the rig, whether it is listed.
fn shown(rig: &Rig) -> Vec<bool> {
    let nodes = rig.nodes();
    // Joints are the joints of skins, animated nodes, and the ancestors of both.
    let mut shown: Vec<bool> = nodes.iter().map(|n| n.joint.is_some()).collect();
    for &root in rig.roots() {
        shown[root] = true;
    }
    // First upwards from the joints, then downwards through the scene.
    for start in 0..nodes.len() {
        let mut at = nodes[start].parent.filter(|_| shown[start]);
        while let Some(parent) = at.filter(|&p| !shown[p]) {
            shown[parent] = true;
            at = nodes[parent].parent;
        }
    }
    // Everything below a root of the scene is listed; each path is followed once.
    let mut in_scene: Vec<Option<bool>> = vec![None; nodes.len()];
    for &root in rig.roots() {
        in_scene[root] = Some(true);
    }
    let mut path = Vec::new();
    for start in 0..nodes.len() {
        let mut at = Some(start);
        while let Some(n) = at.filter(|&n| in_scene[n].is_none()) {
            path.push(n);
            at = nodes[n].parent;
        }
        let inside = at.and_then(|n| in_scene[n]).unwrap_or(false);
        for n in path.drain(..) {
            in_scene[n] = Some(inside);
            shown[n] |= inside;
        }
    }
    shown
}

fn nodes(rig: &Rig, pose: &EvaluatedPose) -> Vec<NodeEntry> {
    let all = rig.nodes();
    let mut out: Vec<NodeEntry> = all
        .iter()
        .zip(shown(rig))
        .zip(pose.locals.iter().zip(&pose.worlds))
        .filter(|((_, shown), _)| *shown)
        .map(|((node, _), (local, world))| NodeEntry {
            node: node.source,
            name: node.name.clone(),
            parent: node.parent.map_or(-1, |p| all[p].source as i64),
            local: local.to_array(),
            world: world.to_cols_array(),
        })
        .collect();
    out.sort_by_key(|n| n.node);
    out
}

fn skins(rig: &Rig, pose: &EvaluatedPose) -> Vec<SkinEntry> {
    let mut node_of = vec![0; rig.skeleton().len()];
    for node in rig.nodes() {
        if let Some(slot) = node.joint.and_then(|j| node_of.get_mut(usize::from(j))) {
            *slot = node.source;
        }
    }
    let source = |&joint: &u16| node_of.get(usize::from(joint)).copied();
    let skins = rig.file_skins().iter().zip(&pose.palettes).enumerate();
    skins
        .map(|(skin, (s, palette))| SkinEntry {
            skin,
            joints: s.joints().iter().filter_map(source).collect(),
            palette: palette.iter().map(|m| m.to_cols_array()).collect(),
        })
        .collect()
}

fn morphs(rig: &Rig, pose: &EvaluatedPose) -> Vec<MorphEntry> {
    let morphs = rig.nodes().iter().filter(|n| !n.morphs.is_empty());
    morphs
        .map(|n| MorphEntry {
            node: n.source,
            weights: n.morphs.clone().map(|i| pose.pose.scalar(i)).collect(),
        })
        .collect()
}

fn primitives(model: &Model, pose: &EvaluatedPose) -> Result<Vec<PrimitiveEntry>, CliError> {
    let rig = &model.rig;
    let fail = |source| CliError::Pose { file: model.file.clone(), source: Box::new(source) };
    let posed = pose.vertices(rig).map_err(fail)?;
    let mut entries = Vec::new();
    for (mesh, posed) in rig.meshes().iter().zip(posed) {
        let node = rig.nodes()[mesh.node].source;
        for (primitive, positions) in posed.into_iter().enumerate() {
            if !positions.as_flattened().iter().all(|v| v.is_finite()) {
                let what = "a deformed vertex";
                return Err(fail(PlaybackError::NotFinite { what, node }));
            }
            let skinned = !mesh.mesh.primitives[primitive].influences.is_empty();
            let skin = (skinned && mesh.rigid_slot.is_none()).then_some(mesh.skin);
            let mesh = mesh.source;
            entries.push(PrimitiveEntry { node, mesh, primitive, skin, positions });
        }
    }
    Ok(entries)
}
