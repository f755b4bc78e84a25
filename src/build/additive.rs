//! Additive clips: differences of a clip to the rest pose, to a frame of a clip, or to a pose.

use super::clip_builder::{ClipBuilder, Target};
use super::lengths::Lengths;
use super::rig::{BuildOptions, targets_of};
use super::unbuild::{raw_clip, take_quaternions};
use crate::clip::{Clip, ClipKind};
use crate::error::BuildError;
use crate::raw::RawScene;
use crate::rig::Rig;
use crate::runtime::{JobError, sample_once};
use crate::skeleton::{NO_JOINT, Pose};
use std::borrow::Cow;

/// The pose from which an additive clip differs.
#[derive(Clone, Copy, Debug, Default)]
pub enum AdditiveReference<'a> {
    /// The skeleton's rest pose.
    #[default]
    Rest,
    /// A clip of the rig, by its index in [`Rig::clips`], and a time in seconds, in [0, duration].
    Frame(usize, f32),
    /// A pose in the lane order of the rig's skeleton. A reference to a pose converts into it.
    Pose(&'a Pose),
}

impl<'a> From<&'a Pose> for AdditiveReference<'a> {
    fn from(pose: &'a Pose) -> Self {
        Self::Pose(pose)
    }
}

/// Builds an additive clip: the differences of a clip of a rig to a reference pose.
///
/// A clip imported into the rig gives the same result as its raw scene, except for rounding: translations, scales and
/// scalars differ by a few f32 steps, rotations by at most 4e-6 radians. The error of a baked clip stays in the result.
/// Root motion that was extracted from a clip is not in its differences.
///
/// # Errors
/// If the rig has no such clip or reference clip, either is additive, the reference's time is outside its clip, a pose does
/// not have the skeleton's shape, or the new clip is invalid or above a limit.
///
/// ```
/// # #[cfg(feature = "gltf")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use phalanx::build::{AdditiveReference, build_additive};
///
/// let rig = phalanx::import::mannequin()?;
/// let wave = rig.find_clip("Wave").ok_or("no clip Wave")?;
/// let added = build_additive(&rig, wave, AdditiveReference::Rest)?;
/// assert_eq!(added.duration(), rig.clips()[wave].duration());
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "gltf"))]
/// # fn main() {}
/// ```
pub fn build_additive<'a>(
    rig: &Rig,
    clip: usize,
    reference: impl Into<AdditiveReference<'a>>,
) -> Result<Clip, BuildError> {
    from_clip(rig, clip, &*pose_of(rig, reference.into())?)
}

/// Builds an additive clip like [`build_additive`], from a clip of the raw scene that the rig was built from.
///
/// # Errors
/// Those of [`build_additive`]; also if the scene has no such clip or not the rig's nodes.
pub fn build_additive_raw<'a>(
    rig: &Rig,
    (raw, clip): (&RawScene, usize),
    reference: impl Into<AdditiveReference<'a>>,
) -> Result<Clip, BuildError> {
    from_raw(rig, raw, clip, &*pose_of(rig, reference.into())?)
}

fn pose_of<'a>(
    rig: &'a Rig,
    reference: AdditiveReference<'a>,
) -> Result<Cow<'a, Pose>, BuildError> {
    let rest = rig.skeleton().rest_pose();
    let reference = match reference {
        AdditiveReference::Rest => Cow::Borrowed(rest),
        AdditiveReference::Pose(pose) => Cow::Borrowed(pose),
        AdditiveReference::Frame(clip, time) => Cow::Owned(sample(rig, clip, time)?),
    };
    if !reference.same_shape(rest) {
        let (have, needed) = (reference.blocks(), rest.blocks());
        return Err(index("additive reference", "block", have, needed));
    }
    Ok(reference)
}

fn from_clip(rig: &Rig, clip: usize, reference: &Pose) -> Result<Clip, BuildError> {
    let skeleton = rig.skeleton();
    let mut raw = raw_clip(full_clip(rig, clip, "additive")?, skeleton);
    // The difference of two quaternions is not the difference of their numbers.
    let channels = take_quaternions(&mut raw, skeleton, ClipKind::Full);
    let builder = ClipBuilder {
        skeleton,
        targets: &Target::of_joints(skeleton),
        lengths: &Lengths::of_clips(skeleton, rig.clips().iter().map(|c| &**c)),
        max_bytes: max_bytes(),
        channels: &channels,
    };
    builder.build(&raw, Some(reference), None).map_err(|source| source.in_animation(clip))
}

fn from_raw(rig: &Rig, raw: &RawScene, clip: usize, reference: &Pose) -> Result<Clip, BuildError> {
    let skeleton = rig.skeleton();
    let found = raw.clips.get(clip);
    let found = found.ok_or_else(|| index("additive", "clip", clip, raw.clips.len()))?;
    let nodes = rig.nodes();
    if raw.nodes.len() != nodes.len() {
        return Err(index("additive", "node", raw.nodes.len(), nodes.len()));
    }
    let joints = nodes.iter().map(|n| n.joint.unwrap_or(NO_JOINT));
    let joint_of_node: Vec<u16> = joints.collect();
    let builder = ClipBuilder {
        skeleton,
        targets: &targets_of(skeleton, &joint_of_node, nodes.iter().map(|n| &n.morphs)),
        lengths: &Lengths::of_scene(skeleton, &joint_of_node, &raw.clips),
        max_bytes: max_bytes(),
        channels: &raw.channels,
    };
    builder.build(found, Some(reference), None).map_err(|source| source.in_animation(clip))
}

/// The pose of a clip of a rig at a time.
fn sample(rig: &Rig, clip: usize, time: f32) -> Result<Pose, BuildError> {
    let clip = full_clip(rig, clip, "additive reference")?;
    if !(0.0..=clip.duration()).contains(&time) {
        return Err(BuildError::Reference(JobError::Value {
            job: "build_additive",
            what: "time",
            value: time,
            low: 0.0,
            high: clip.duration(),
        }));
    }
    sample_once(clip, rig.skeleton(), time).map_err(BuildError::Reference)
}

fn full_clip<'r>(rig: &'r Rig, clip: usize, place: &str) -> Result<&'r Clip, BuildError> {
    let clips = rig.clips();
    let found = clips.get(clip).filter(|c| c.kind() == ClipKind::Full);
    found.map(|clip| &**clip).ok_or_else(|| index(place, "full clip", clip, clips.len()))
}

fn max_bytes() -> usize {
    BuildOptions::default().max_clip_bytes
}

fn index(place: &str, what: &'static str, index: usize, have: usize) -> BuildError {
    BuildError::Index { place: place.to_owned(), what, index, have }
}
