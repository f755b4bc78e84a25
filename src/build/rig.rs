//! Raw scene to `Rig`: joints, lane order and clips.

use super::clip_builder::{ClipBuilder, RESAMPLE_RATE, Resampled, Target};
use super::lanes::{Joints, LaneUses};
use super::lengths::Lengths;
use super::meshes::skins_and_meshes;
use super::root_motion::{RootMotionOptions, extract};
use crate::clip::{Channel, Clip, ClipKind, RootMotionParts};
use crate::error::BuildError;
use crate::mesh::Mesh;
use crate::raw::{RawClip, RawScene, ReportEntry, Severity};
use crate::rig::{Rig, RigNode, RigParts};
use crate::runtime::{ClipBoundsScratch, clip_cost};
use crate::skeleton::{HumanBone, NO_JOINT, Scalar, Skeleton, SpringBones};
use crate::words::shorten;
use glam::Vec3;
use std::ops::Range;
use std::sync::Arc;

/// Settings of [`build_rig`].
#[derive(Clone, Debug, PartialEq)]
pub struct BuildOptions {
    /// Limit on the rows of all clips together, bytes. Default: 4 GiB, or what can be addressed.
    pub max_clip_bytes: usize,
    /// Extraction of root motion from the clips; `None` leaves it in. Default: `None`.
    pub root_motion: Option<RootMotionOptions>,
    /// The joint of every lane, for clips that must share a lane order with others; `None` derives it
    /// from the clips. Default: `None`.
    pub lane_order: Option<Vec<u16>>,
    /// Keys per second of key times that are resampled: irregular ones beyond
    /// [`MAX_IRREGULAR_KEYS`](crate::clip::MAX_IRREGULAR_KEYS). Their mean rate is used if it is higher, and eight times
    /// that if it is still lower; a multiple of their rate if they are even except for the keys that fast rotations need.
    /// Numbers that are not above 0 count as 0. Default: [`RESAMPLE_RATE`].
    pub resample_rate: f64,
}

impl Default for BuildOptions {
    fn default() -> Self {
        Self {
            // Hours of dense animation; a bound against hostile unions of key times.
            max_clip_bytes: usize::try_from(4_u64 << 30).unwrap_or(usize::MAX),
            root_motion: None,
            lane_order: None,
            resample_rate: RESAMPLE_RATE,
        }
    }
}

/// Builds a rig from raw data with the `exact` profile: f32 rows, every key kept. May take seconds.
///
/// Timelines of more than [`MAX_IRREGULAR_KEYS`](crate::clip::MAX_IRREGULAR_KEYS) keys are kept if they are evenly
/// spaced, and resampled otherwise; [`build_rig_reporting`] reports it.
///
/// ```
/// use phalanx::build::{BuildOptions, build_rig};
/// use phalanx::import::raw::{Interpolation, RawChannel, RawClip, RawNode, RawScene, RawTrack};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // A hinge that opens by a quarter turn about Y in one second.
/// let quarter = std::f32::consts::FRAC_1_SQRT_2;
/// let turn = RawTrack {
///     node: 0,
///     channel: RawChannel::Rotation,
///     interpolation: Interpolation::Linear,
///     times: vec![0.0, 1.0],
///     values: vec![0.0, 0.0, 0.0, 1.0, 0.0, quarter, 0.0, quarter],
/// };
/// let raw = RawScene {
///     name: "door".into(),
///     nodes: vec![RawNode { name: Some("hinge".into()), ..RawNode::default() }],
///     clips: vec![RawClip {
///         name: Some("open".into()),
///         duration: 1.0,
///         tracks: vec![turn],
///         ..RawClip::default()
///     }],
///     ..RawScene::default()
/// };
/// let rig = build_rig(raw, &BuildOptions::default())?;
/// assert_eq!(rig.clips()[0].duration(), 1.0);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// If nodes form a cycle, an index is out of range, or a skeleton, skin, mesh or clip is invalid or above
/// a limit.
pub fn build_rig(raw: RawScene, options: &BuildOptions) -> Result<Rig, BuildError> {
    build_rig_reporting(raw, options).map(|(rig, _)| rig)
}

/// The same as [`build_rig`], with a report: key times that were resampled (numbers, rate and measured error), and human
/// bones that were left out.
///
/// # Errors
/// Those of [`build_rig`].
pub fn build_rig_reporting(
    mut raw: RawScene,
    options: &BuildOptions,
) -> Result<(Rig, Vec<ReportEntry>), BuildError> {
    let found = Joints::new(&raw)?;
    let lengths = found.lengths(&raw);
    let Joints { order, joint_of_node, morphs, skeleton } = found;
    let motions = match &options.root_motion {
        Some(wanted) => extract(&mut raw, &skeleton, &order, &lengths, wanted)?,
        None => vec![None; raw.clips.len()],
    };
    let lanes = match &options.lane_order {
        Some(lanes) => lanes.clone(),
        None => {
            let mut uses = LaneUses::new(skeleton.len());
            uses.add(&raw, &joint_of_node, &lengths)?;
            uses.order()
        }
    };
    let skeleton = skeleton.in_lane_order(&lanes)?;

    let mut report = Vec::new();
    let clips = build_clips(
        &raw,
        &skeleton,
        &joint_of_node,
        &morphs,
        &lengths,
        (options, motions),
        &mut report,
    )?;
    // Moved, not copied: meshes are most of the data of many files.
    let shared: Vec<Arc<Mesh>> =
        std::mem::take(&mut raw.meshes).into_iter().map(Arc::new).collect();
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
            .zip(morphs)
            .map(|((n, &joint), morphs)| RigNode {
                source: n.source,
                name: n.name,
                parent: n.parent,
                local: n.local,
                matrix: n.matrix,
                joint: (joint != NO_JOINT).then_some(joint),
                morphs,
            })
            .collect(),
        roots,
        meshes,
        materials: raw.materials,
        images: raw.images,
    };
    let mut rig = Rig::new(parts)?;
    rig.humanoid = humanoid(&raw.humanoid, &joint_of_node, &mut report);
    rig.springs = springs(&raw.springs, &joint_of_node, rig.skeleton(), &mut report);
    measure_bounds(&mut rig);
    Ok((rig, report))
}

/// The morph weights of all nodes as scalars, and the range of scalars of each node.
pub(super) fn scalars_of(raw: &RawScene) -> (Vec<Scalar>, Vec<Range<usize>>) {
    let mut scalars = Vec::new();
    let mut morphs = Vec::new();
    for n in &raw.nodes {
        let first = scalars.len();
        let name = n.name.as_deref().unwrap_or_default();
        scalars.extend(
            n.weights
                .iter()
                .enumerate()
                .map(|(i, &rest)| Scalar { name: format!("{name}.weights[{i}]"), rest }),
        );
        morphs.push(if n.weights.is_empty() { 0..0 } else { first..scalars.len() });
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
    morphs: &[Range<usize>],
    lengths: &Lengths,
    (options, motions): (&BuildOptions, Vec<Option<RootMotionParts>>),
    report: &mut Vec<ReportEntry>,
) -> Result<Vec<Arc<Clip>>, BuildError> {
    let targets = targets_of(skeleton, joint_of_node, morphs.iter());
    let mut left = options.max_clip_bytes;
    let mut clips = Vec::with_capacity(raw.clips.len());
    for ((clip, c), motion) in raw.clips.iter().enumerate().zip(motions) {
        let builder = ClipBuilder {
            skeleton,
            targets: &targets,
            lengths,
            max_bytes: left,
            channels: &raw.channels,
        };
        let rate = options.resample_rate;
        let (built, resampled) = builder
            .build_reporting(c, None, motion, rate)
            .map_err(|source| source.in_animation(clip))?;
        report_resampled((clip, c), &resampled, report);
        let needed = built.bytes().saturating_add(built.table_bytes());
        if needed > left {
            let name = built.name().to_owned();
            let source = BuildError::ClipBytes { clip: name, keys: 0, needed, limit: left };
            return Err(source.in_animation(clip));
        }
        left -= needed;
        clips.push(Arc::new(built));
    }
    Ok(clips)
}

fn report_resampled(
    (clip, raw): (usize, &RawClip),
    resampled: &[Resampled],
    report: &mut Vec<ReportEntry>,
) {
    for r in resampled {
        let name = shorten(raw.name.as_deref().unwrap_or_default());
        let error = match r.channel {
            Channel::Rotation => format!("{:.4} degrees", r.error.to_degrees()),
            Channel::Translation => format!("{:.3e} m", r.error),
            Channel::Scale | Channel::Scalar => format!("{:.3e}", r.error),
        };
        let message = format!(
            "{} irregular key times were resampled at {:.3} Hz to {}, with an error of up to {error}",
            r.keys[0], r.rate, r.keys[1]
        );
        let place = format!("animation {clip} \"{name}\", {}", r.channel);
        report.push(ReportEntry::new(Severity::Repaired, place, message));
    }
}

/// The targets of all nodes, by the scalars of each.
pub(super) fn targets_of<'m>(
    skeleton: &Skeleton,
    joint_of_node: &[u16],
    morphs: impl Iterator<Item = &'m Range<usize>>,
) -> Vec<Target> {
    let lane = |joint: u16| skeleton.lane_of().get(usize::from(joint)).map(|&l| usize::from(l));
    let targets = joint_of_node.iter().zip(morphs).map(|(&joint, morphs)| Target {
        lane: lane(joint),
        scalars: (!morphs.is_empty()).then_some((morphs.start, morphs.len())),
    });
    targets.collect()
}

/// The roots of the default scene; all roots if the file has no scene.
fn default_roots(raw: &RawScene) -> Vec<usize> {
    let scene = raw.default_scene.unwrap_or(0);
    match raw.scenes.get(scene) {
        Some(roots) => roots.clone(),
        None => (0..raw.nodes.len()).filter(|&n| raw.nodes[n].parent.is_none()).collect(),
    }
}

/// The bones with their joints, in the order of the bones, no bone and no joint twice. The first statement counts; others
/// are reported and left out.
fn humanoid(
    stated: &[(HumanBone, usize)],
    joint_of_node: &[u16],
    report: &mut Vec<ReportEntry>,
) -> Vec<(HumanBone, u16)> {
    let mut bones: Vec<(HumanBone, u16)> = Vec::new();
    for &(bone, node) in stated {
        let joint = joint_of_node.get(node).copied().unwrap_or(NO_JOINT);
        let message = if joint == NO_JOINT {
            format!("its node {node} is no joint")
        } else if bones.iter().any(|b| b.0 == bone) {
            "it is stated twice".into()
        } else if let Some((first, _)) = bones.iter().find(|b| b.1 == joint) {
            format!("its node {node} is that of the bone \"{first}\"")
        } else {
            bones.push((bone, joint));
            continue;
        };
        let place = format!("humanoid, bone \"{bone}\"");
        report.push(ReportEntry::new(Severity::Dropped, place, message));
    }
    bones.sort_unstable_by_key(|b| b.0);
    bones
}

/// The springs with their joints. Chains that do not fit the skeleton are reported and left out.
fn springs(
    stated: &SpringBones,
    joint_of_node: &[u16],
    skeleton: &Skeleton,
    report: &mut Vec<ReportEntry>,
) -> SpringBones {
    let mut lost = |message: String| {
        report.push(ReportEntry::new(Severity::Dropped, "springs", message));
    };
    let place = |node: usize| {
        let joint = joint_of_node.get(node).filter(|&&joint| joint != NO_JOINT);
        joint.map(|&joint| usize::from(joint))
    };
    stated.mapped(place, &mut lost).fitting(skeleton, lost)
}

/// Limit on the matrices that measuring all clips of a rig computes: about half a second.
const MATRICES: usize = 1 << 26;

/// Measures the bounds of the clips that have none. Clips that are too long for the limit are left out: a crowd
/// measures them if it needs them.
pub(super) fn measure_bounds(rig: &mut Rig) {
    let boxes = &rig.slot_bounds;
    if boxes.iter().all(|b| b.is_empty()) {
        return;
    }
    let mut left = MATRICES;
    let mut scratch = ClipBoundsScratch::new(rig);
    let mut all = Vec::with_capacity(rig.clips.len());
    for clip in &rig.clips {
        let room = left.checked_sub(clip_cost(rig, clip));
        let measured = room.filter(|_| clip.kind() == ClipKind::Full).map(|room| {
            left = room;
            scratch.measure(rig, Some(clip)).ok().flatten()
        });
        all.push(measured.flatten());
    }
    rig.clip_bounds = all;
}
