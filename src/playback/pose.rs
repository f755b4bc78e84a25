//! `evaluate_pose`: a rig at given clip times, node by node. The command `pose` prints it; tests compare it.

use super::error::PlaybackError;
use crate::math::Affine3x4;
use crate::mesh::Primitive;
use crate::rig::{Rig, RigMesh};
use crate::runtime::{BlendJob, PaletteJob, SkinningJob, models_once, sample_once};
use crate::skeleton::{ChannelHandle, ChannelValue, Pose, Trs};

/// A clip that is sampled at a time and blended with a weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoseAction {
    /// Index of the clip in [`Rig::clips`].
    pub clip: usize,
    /// Time within the clip, seconds.
    pub time: f32,
    /// Weight in the blend, ≥ 0.
    pub weight: f32,
}

/// The result of [`evaluate_pose`]. Node arrays are parallel to [`Rig::nodes`].
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluatedPose {
    /// Local transform of each node.
    pub locals: Vec<Trs>,
    /// Matrix of each node relative to the file's root space.
    pub worlds: Vec<Affine3x4>,
    /// Skinning palette of each skin of the rig.
    pub palettes: Vec<Vec<Affine3x4>>,
    /// The blended pose, in lane order, with the scalars.
    pub pose: Pose,
}

/// The most steps that deforming all meshes of a rig may take.
///
/// Every vertex that a node draws counts one step, plus one for each of its influences and one for each
/// morph target. The limit is less than a second of work and 1.5 GiB of positions; a rig of a million vertices
/// with 8 influences and 52 targets takes 61 million steps.
pub const MAX_POSED_STEPS: u64 = 1 << 27;

/// The steps that deforming one primitive takes.
fn steps(p: &Primitive) -> u64 {
    let each = 1 + p.influences.per_vertex + p.targets.len();
    (p.positions.len() as u64).saturating_mul(each as u64)
}

/// Evaluates a rig with one layer of actions.
///
/// The weighted clips are blended by the rules of a layer; without actions the result is the rest pose. The function
/// runs the public jobs, one after another, and allocates.
///
/// # Errors
/// If a clip does not exist, or a weight is negative or not finite.
pub fn evaluate_pose(rig: &Rig, actions: &[PoseAction]) -> Result<EvaluatedPose, PlaybackError> {
    let skeleton = rig.skeleton();
    let mut sampled = Vec::with_capacity(actions.len());
    for action in actions {
        let clip = rig
            .clips()
            .get(action.clip)
            .ok_or(PlaybackError::ClipIndex { clip: action.clip, clips: rig.clips().len() })?;
        sampled.push((sample_once(clip, skeleton, action.time)?, action.weight));
    }
    let inputs: Vec<(&Pose, f32)> = sampled.iter().map(|(p, w)| (p, *w)).collect();
    let mut pose = skeleton.rest_pose().clone();
    match inputs[..] {
        // One action at full weight needs no blend; crowds skip it as well.
        [(only, 1.0)] => pose = only.clone(),
        _ => BlendJob { actions: &inputs, rest: skeleton.rest_pose(), output: &mut pose }.run()?,
    }
    rig.rest_left_out(&mut pose);
    let models = models_once(skeleton, &pose)?;
    let mut palettes = Vec::with_capacity(rig.skins().len());
    for skin in rig.skins() {
        let mut output = vec![Affine3x4::IDENTITY; skin.len()];
        PaletteJob { skin, models: &models, output: &mut output }.run()?;
        palettes.push(output);
    }
    let locals = rig.nodes().iter().map(|n| match n.joint {
        Some(joint) => pose.lane(usize::from(skeleton.lane_of()[usize::from(joint)])),
        None => n.local,
    });
    Ok(EvaluatedPose { locals: locals.collect(), worlds: worlds(rig, &models), palettes, pose })
}

/// The world matrix of each node. Joints have model matrices; other nodes follow their parents.
fn worlds(rig: &Rig, models: &[Affine3x4]) -> Vec<Affine3x4> {
    let nodes = rig.nodes();
    let mut worlds: Vec<Option<Affine3x4>> =
        nodes.iter().map(|n| n.joint.map(|j| models[usize::from(j)])).collect();
    let mut path = Vec::new();
    for start in 0..nodes.len() {
        let mut at = Some(start);
        while let Some(n) = at.filter(|&n| worlds[n].is_none()) {
            path.push(n);
            at = nodes[n].parent;
        }
        let mut above = at.and_then(|n| worlds[n]).unwrap_or_default();
        while let Some(n) = path.pop() {
            let local = match &nodes[n].matrix {
                Some(m) => Affine3x4::from_cols_array(m),
                None => nodes[n].local.to_affine(),
            };
            above = above * local;
            worlds[n] = Some(above);
        }
    }
    worlds.into_iter().map(Option::unwrap_or_default).collect()
}

impl EvaluatedPose {
    /// The morph weights of a node; empty if it has none.
    pub fn morph_weights(&self, rig: &Rig, node: usize) -> Vec<f32> {
        let scalars = rig.nodes().get(node).map_or(0..0, |n| n.morphs.clone());
        scalars.map(|i| self.pose.scalar(i)).collect()
    }

    /// Checks that every number of the pose is finite.
    ///
    /// The limits on rigs and clips ensure that, except for long chains of nodes and extreme morph weights.
    ///
    /// # Errors
    /// If a number is not finite: [`PlaybackError::NotFinite`] with the first one.
    pub fn check_finite(&self, rig: &Rig) -> Result<(), PlaybackError> {
        let source = |index: usize| rig.nodes().get(index).map_or(index, |n| n.source);
        let fail = |what, index| PlaybackError::NotFinite { what, node: source(index) };
        if let Some(n) = self.locals.iter().position(|l| !l.is_finite()) {
            return Err(fail("the local transform", n));
        }
        if let Some(n) = self.worlds.iter().position(|w| !w.is_finite()) {
            return Err(fail("the world matrix", n));
        }
        for (skin, palette) in rig.skins().iter().zip(&self.palettes) {
            if let Some(slot) = palette.iter().position(|m| !m.is_finite()) {
                let joint = skin.joints().get(slot).copied();
                let node = rig.nodes().iter().position(|n| n.joint == joint);
                return Err(fail("the palette row", node.unwrap_or_default()));
            }
        }
        for (node, n) in rig.nodes().iter().enumerate() {
            if !n.morphs.clone().all(|i| self.pose.scalar(i).is_finite()) {
                return Err(fail("a morph weight", node));
            }
        }
        Ok(())
    }

    /// The value of a user channel; `None` for a handle of another skeleton.
    pub fn channel(&self, rig: &Rig, channel: ChannelHandle) -> Option<ChannelValue> {
        let (user, first) = rig.skeleton().channel_at(channel)?;
        Some(user.rest.with(|i| self.pose.scalar(first + i)))
    }

    /// Deforms all meshes of the rig's finest level of detail, with all influences. Returns positions in the file's root
    /// space, by index in [`Rig::meshes`] and by primitive of the mesh; meshes of other levels have none.
    ///
    /// # Errors
    /// If an influence refers to a slot that its skin lacks, or the meshes need more than [`MAX_POSED_STEPS`] steps.
    pub fn vertices(&self, rig: &Rig) -> Result<Vec<Vec<Vec<[f32; 3]>>>, PlaybackError> {
        // A detail of a rig has the meshes of one level.
        let least = rig.meshes().iter().map(|m| m.lod).min();
        let finest = |m: &&RigMesh| Some(m.lod) == least;
        let needed = rig.meshes().iter().filter(finest).flat_map(|m| &m.mesh.primitives).map(steps);
        let needed = needed.fold(0u64, u64::saturating_add);
        if needed > MAX_POSED_STEPS {
            return Err(PlaybackError::TooManyVertices { needed });
        }
        let mut out = vec![Vec::new(); rig.meshes().len()];
        for (m, out) in rig.meshes().iter().zip(&mut out).filter(|(m, _)| finest(m)) {
            let weights = self.morph_weights(rig, m.node);
            for p in &m.mesh.primitives {
                let mut positions = vec![[0.0; 3]; p.positions.len()];
                SkinningJob {
                    primitive: p,
                    palette: match m.rigid_slot {
                        Some(_) => &[],
                        None => &self.palettes[m.skin],
                    },
                    rigid: self.worlds[m.node],
                    morph_weights: &weights,
                    positions: &mut positions,
                    normals: &mut [],
                    tangents: &mut [],
                }
                .run()?;
                out.push(positions);
            }
        }
        Ok(out)
    }
}
