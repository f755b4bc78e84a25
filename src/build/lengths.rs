//! `Lengths`: lengths of model space in the frames of nodes.

use super::curve::BULGE;
use super::rig::model_size;
use crate::clip::Clip;
use crate::raw::{Interpolation, RawChannel, RawClip, RawTrack};
use crate::rig::Extremes;
use crate::skeleton::{Frames, Skeleton};

/// The size of a model, and for each node the scale of its translation's frame: the largest over the rest pose and all
/// clips that are built together, as clips are blended. A tolerance in metres of model space is divided by it before it
/// is compared with a translation.
#[derive(Clone, Debug)]
pub(crate) struct Lengths {
    /// The diagonal of the box around all joints in the rest pose, in the file's unit.
    pub model: f64,
    frames: Vec<f64>,
    /// Per node, the size relative to which noise of its translation is measured, in the file's unit.
    sizes: Vec<f64>,
}

impl Lengths {
    /// Lengths over raw clips; `joint_of` holds the joint of every node.
    pub fn of_scene(skeleton: &Skeleton, joint_of: &[u16], clips: &[RawClip]) -> Self {
        let mut scales = rest_scales(skeleton);
        for track in clips.iter().flat_map(|c| &c.tracks) {
            let joint = joint_of.get(track.node).copied().map(usize::from);
            if let Some(most) = joint.and_then(|j| scales.get_mut(j))
                && track.channel == RawChannel::Scale
            {
                *most = most.max(largest(track));
            }
        }
        Self::new(skeleton, joint_of, &scales)
    }

    /// Lengths over one raw clip, whose nodes are joints. The scales of an additive clip are factors.
    pub fn of_joints(skeleton: &Skeleton, clip: &RawClip, additive: bool) -> Self {
        let mut scales = rest_scales(skeleton);
        let scaled = clip.tracks.iter().filter(|t| t.channel == RawChannel::Scale);
        for track in scaled {
            if let Some(most) = scales.get_mut(track.node) {
                let base = if additive { *most } else { 1.0 };
                *most = most.max(base * largest(track));
            }
        }
        Self::new(skeleton, &joints(skeleton), &scales)
    }

    /// Lengths over built clips, whose nodes are joints.
    pub fn of_clips<'c>(skeleton: &Skeleton, clips: impl Iterator<Item = &'c Clip>) -> Self {
        let mut extremes = Extremes::of_rest(skeleton);
        clips.for_each(|clip| extremes.add(skeleton, clip));
        let scales: Vec<f64> = (0..skeleton.len()).map(|j| extremes.scale(j, 0)).collect();
        Self::new(skeleton, &joints(skeleton), &scales)
    }

    fn new(skeleton: &Skeleton, joint_of: &[u16], scales: &[f64]) -> Self {
        let frames = Frames::new(skeleton.parents().to_vec(), |joint| scales[joint]);
        let frame = |&joint: &u16| frames.above(joint.into());
        let model = model_size(skeleton);
        let sizes = sizes(skeleton, model);
        let size = |&joint: &u16| sizes.get(usize::from(joint)).copied().unwrap_or(model);
        Self {
            model,
            frames: joint_of.iter().map(frame).collect(),
            sizes: joint_of.iter().map(size).collect(),
        }
    }

    /// The largest length in model space of a length of 1 in the frame of a node's translation.
    pub fn frame(&self, node: usize) -> f64 {
        self.frames.get(node).copied().unwrap_or(1.0)
    }

    /// The size relative to which noise of a node's translation is measured, in the frame of the translation.
    pub fn local(&self, node: usize) -> f64 {
        self.sizes.get(node).copied().unwrap_or(self.model) / self.frame(node)
    }
}

#[cfg(test)]
impl Lengths {
    /// Lengths of a model of a size, none of whose nodes is scaled.
    pub fn unscaled(model: f64) -> Self {
        Self { model, frames: Vec::new(), sizes: Vec::new() }
    }
}

/// For each joint the model's size, or less if joints far from all others make the model large: exporters round the
/// positions of the joint and of the joints above it.
fn sizes(skeleton: &Skeleton, model: f64) -> Vec<f64> {
    let models = skeleton.rest_models();
    let away: Vec<f64> = models.iter().map(|m| m.translation.length().into()).collect();
    let mut sorted = away.clone();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.get(sorted.len() / 2).copied().unwrap_or(0.0);
    let mut farthest: Vec<f64> = Vec::with_capacity(away.len());
    for (&own, &parent) in away.iter().zip(skeleton.parents()) {
        let above = farthest.get(usize::from(parent)).copied();
        farthest.push(above.unwrap_or(middle).max(own));
    }
    farthest.into_iter().map(|far| model.min(WIDE * far)).collect()
}

/// Limit on a joint's size, as a multiple of its distance from the origin: beyond it, other joints make the model large.
const WIDE: f64 = 3.0;

fn joints(skeleton: &Skeleton) -> Vec<u16> {
    (0..skeleton.len()).map(|j| j as u16).collect()
}

fn rest_scales(skeleton: &Skeleton) -> Vec<f64> {
    let scale = |j: usize| f64::from(skeleton.rest(j).scale.abs().max_element());
    (0..skeleton.len()).map(scale).collect()
}

/// The largest magnitude that a scale track reaches, at its keys or by tangents between two of them.
fn largest(track: &RawTrack) -> f64 {
    let most = |v: &[f32]| v.iter().fold(0.0f64, |m, v| m.max(f64::from(v.abs())));
    if track.interpolation != Interpolation::CubicSpline {
        return most(&track.values);
    }
    // A key holds in-tangent, value and out-tangent.
    let keys: Vec<&[f32]> = track.values.chunks_exact(9).collect();
    let mut all = keys.iter().map(|key| most(&key[3..6])).fold(0.0, f64::max);
    for (times, pair) in track.times.windows(2).zip(keys.windows(2)) {
        let between = most(&pair[0][3..6]).max(most(&pair[1][3..6]));
        let tangents = most(&pair[0][6..]) + most(&pair[1][..3]);
        let seconds = f64::from(times[1]) - f64::from(times[0]);
        all = all.max(between + BULGE * seconds * tangents);
    }
    all
}
