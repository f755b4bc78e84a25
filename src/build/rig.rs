//! Raw scene to `Rig`: joints, lane order and clips.

use super::check::BuildError;
use super::clip_builder::{ClipBuildError, ClipBuilder, Reference, Target};
use super::lanes::{Joints, LaneUses};
use super::meshes::skins_and_meshes;
use super::root_motion::{RootMotionOptions, extract};
use crate::clip::{Clip, RootMotionParts};
use crate::import::raw::RawScene;
use crate::mesh::Mesh;
use crate::rig::{MorphRange, Rig, RigNode, RigParts};
use crate::skeleton::{NO_JOINT, Pose, Scalar, Skeleton};
use glam::Vec3;
use std::sync::Arc;

/// Settings of [`build_rig`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BuildOptions {
    /// The most bytes that the rows of all clips may take together. Default: 4 GiB.
    pub max_clip_bytes: usize,
    /// How to extract root motion from the clips; `None` leaves it in. Default: `None`.
    pub root_motion: Option<RootMotionOptions>,
    /// The joint of every lane, for clips that must share a lane order with others; `None` derives it
    /// from the clips. Default: `None`.
    pub lane_order: Option<Vec<u16>>,
}

impl Default for BuildOptions {
    fn default() -> Self {
        Self {
            // Hours of dense animation; a bound against hostile unions of key times.
            max_clip_bytes: 4 << 30,
            root_motion: None,
            lane_order: None,
        }
    }
}

/// Builds a rig from raw data with the `exact` profile: f32 rows, every key kept. May take seconds.
///
/// # Errors
/// If nodes form a cycle, an index is out of range, or a skeleton, skin, mesh or clip is invalid or above
/// a limit.
pub fn build_rig(mut raw: RawScene, options: &BuildOptions) -> Result<Rig, BuildError> {
    let Joints {
        order,
        joint_of_node,
        joints,
        scalars,
        morphs,
        model_size,
        ..
    } = Joints::new(&raw)?;
    let motions = match &options.root_motion {
        Some(wanted) => extract(&mut raw, &order, model_size, wanted)?,
        None => vec![None; raw.clips.len()],
    };
    let lanes = match &options.lane_order {
        Some(lanes) => lanes.clone(),
        None => {
            let mut uses = LaneUses::new(joints.len());
            uses.add(&raw, &joint_of_node, model_size)?;
            uses.order()
        }
    };
    let channels = raw.channels.iter().map(|c| c.channel.clone()).collect();
    let skeleton = Skeleton::new(&joints, Some(&lanes), scalars)?.with_channels(channels)?;

    let clips = build_clips(
        &raw,
        &skeleton,
        &joint_of_node,
        &morphs,
        model_size,
        (options, motions),
    )?;
    // Moved, not copied: meshes are most of the data of many files.
    let shared: Vec<Arc<Mesh>> = std::mem::take(&mut raw.meshes)
        .into_iter()
        .map(Arc::new)
        .collect();
    let (skins, meshes, file_skins) =
        skins_and_meshes(&raw, &shared, &joint_of_node, skeleton.len())?;
    let roots = default_roots(&raw);
    let parts = RigParts {
        name: raw.name,
        skeleton: Arc::new(skeleton),
        skins,
        file_skins,
        clips,
        nodes: raw
            .nodes
            .into_iter()
            .zip(&joint_of_node)
            .map(|(n, &joint)| RigNode {
                source: n.source,
                name: n.name,
                parent: n.parent,
                local: n.local,
                matrix: n.matrix,
                joint: (joint != NO_JOINT).then_some(joint),
            })
            .collect(),
        roots,
        meshes,
        materials: raw.materials,
        images: raw.images,
        morphs,
    };
    Ok(Rig::new(parts)?)
}

/// The morph weights of all nodes as scalars, and the range of scalars of each node.
pub(super) fn scalars_of(raw: &RawScene) -> (Vec<Scalar>, Vec<MorphRange>) {
    let mut scalars = Vec::new();
    let mut morphs = Vec::new();
    for (node, n) in raw
        .nodes
        .iter()
        .enumerate()
        .filter(|(_, n)| !n.weights.is_empty())
    {
        let first = scalars.len();
        let name = n.name.as_deref().unwrap_or_default();
        scalars.extend(n.weights.iter().enumerate().map(|(i, &rest)| Scalar {
            name: format!("{name}.weights[{i}]"),
            rest,
        }));
        morphs.push(MorphRange {
            node,
            scalars: first..scalars.len(),
        });
    }
    (scalars, morphs)
}

/// The diagonal of the box around all joints in the rest pose, in the file's unit.
pub(crate) fn model_size(skeleton: &Skeleton) -> f64 {
    let mut bounds = crate::rig::Aabb::EMPTY;
    for model in skeleton.rest_models() {
        bounds.add(Vec3::from(model.translation));
    }
    let size = f64::from((bounds.half_size() * 2.0).length());
    if size.is_finite() { size } else { 0.0 }
}

fn build_clips(
    raw: &RawScene,
    skeleton: &Skeleton,
    joint_of_node: &[u16],
    morphs: &[MorphRange],
    model_size: f64,
    (options, motions): (&BuildOptions, Vec<Option<RootMotionParts>>),
) -> Result<Vec<Arc<Clip>>, BuildError> {
    let targets = targets_of(skeleton, joint_of_node, morphs);
    let mut left = options.max_clip_bytes;
    let mut clips = Vec::with_capacity(raw.clips.len());
    for ((clip, c), motion) in raw.clips.iter().enumerate().zip(motions) {
        let builder = ClipBuilder {
            skeleton,
            targets: &targets,
            model_size,
            max_bytes: left,
            channels: &raw.channels,
        };
        let built = builder
            .build((clip, c), Reference::None, motion)
            .map_err(|source| BuildError::Clip { clip, source })?;
        let needed = built.bytes().saturating_add(built.table_bytes());
        if needed > left {
            let source = ClipBuildError::TooLarge {
                clip: built.name().to_owned(),
                needed,
                limit: left,
            };
            return Err(BuildError::Clip { clip, source });
        }
        left -= needed;
        clips.push(Arc::new(built));
    }
    Ok(clips)
}

fn targets_of(skeleton: &Skeleton, joint_of_node: &[u16], morphs: &[MorphRange]) -> Vec<Target> {
    let mut targets: Vec<Target> = joint_of_node
        .iter()
        .map(|&joint| Target {
            lane: skeleton
                .lane_of()
                .get(usize::from(joint))
                .map(|&l| usize::from(l)),
            scalars: None,
        })
        .collect();
    for m in morphs {
        targets[m.node].scalars = Some((m.scalars.start, m.scalars.len()));
    }
    targets
}

/// Builds an additive clip from a raw one, as differences to `reference`: a pose in the lane order of
/// the rig's skeleton (its rest pose, or a sampled frame).
///
/// # Errors
/// If the reference does not have the skeleton's shape, the raw scene is not that of the rig, or the clip
/// is invalid.
pub fn build_additive(
    raw: &RawScene,
    clip: usize,
    rig: &Rig,
    reference: &Pose,
) -> Result<Clip, BuildError> {
    let skeleton = rig.skeleton();
    let fail = |place: &str, what, index, have| BuildError::Index {
        place: place.to_owned(),
        what,
        index,
        have,
    };
    let c = (raw.clips.get(clip)).ok_or_else(|| fail("additive", "clip", clip, raw.clips.len()))?;
    if !reference.same_shape(skeleton.rest_pose()) {
        let (have, needed) = (reference.blocks(), skeleton.blocks());
        return Err(fail("additive reference", "block", have, needed));
    }
    if raw.nodes.len() != rig.nodes().len() {
        let (index, have) = (raw.nodes.len(), rig.nodes().len());
        return Err(fail("additive", "node", index, have));
    }
    let joint_of_node: Vec<u16> = rig
        .nodes()
        .iter()
        .map(|n| n.joint.unwrap_or(NO_JOINT))
        .collect();
    let builder = ClipBuilder {
        skeleton,
        targets: &targets_of(skeleton, &joint_of_node, rig.morphs()),
        model_size: model_size(skeleton),
        max_bytes: BuildOptions::default().max_clip_bytes,
        channels: &raw.channels,
    };
    builder
        .build((clip, c), Reference::Pose(reference), None)
        .map_err(|source| BuildError::Clip { clip, source })
}

/// The roots of the default scene; all roots if the file has no scene.
fn default_roots(raw: &RawScene) -> Vec<usize> {
    let scene = raw.default_scene.unwrap_or(0);
    match raw.scenes.get(scene) {
        Some(roots) => roots.clone(),
        None => (0..raw.nodes.len())
            .filter(|&n| raw.nodes[n].parent.is_none())
            .collect(),
    }
}
