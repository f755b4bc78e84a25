//! The shells around the joints, at which errors are measured: one point on each axis of a joint.
//!
//! ```text
//! axis k of a joint    column k of its model matrix in the raw clip; its length is the product of the scales above
//! point k              joint + offset k × axis k, with offset k = distance ÷ length of axis k
//! ```
//!
//! So a point is at every time `distance` metres of model space away, whatever the scales of its joint and the nodes
//! above. As in ACL, one point on each axis covers position, rotation and scale.

use super::{BakeOptions, is_additive};
use crate::clip::{Channel, Clip, split_lane};
use crate::skeleton::Skeleton;

/// Share of an axis' greatest length in a clip below which the shell shrinks with the axis. A joint that is scaled to 0
/// takes the vertices around it along, and points that stay 3 cm away would be infinitely many of its units away. 16 bits
/// of a scale from 0 to 1 allow no less than a hundredth for the default error and shell.
pub(super) const LEAST_LENGTH: f64 = 0.01;
/// Relative change of a length up to which it counts as rounding by exporters.
const STEADY: f64 = 1e-4;
/// Roundings of f32 that a point goes through between the keys and the model matrix, as a multiple of half a unit in the
/// last place at the model's size. Measured: 2.9 over all test models, for clips with exact keys.
const ROUNDINGS: f64 = 8.0;
/// [`ROUNDINGS`] per joint of a long chain: 0.31 was measured in chains of 60 and 100 joints, 0.23 in one of 800.
const PER_JOINT: f64 = 0.5;

/// The shell of a joint in a clip.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shell {
    /// Distance of the points in model space, metres.
    pub distance: f64,
    /// Weight that makes an error comparable with the clip's bound.
    pub weight: f64,
    /// For each axis, the offset of its point in units of the joint; an upper bound if not `steady`.
    pub offsets: [f64; 3],
    /// True if the lengths of the axes do not change.
    pub steady: bool,
    /// Upper bound of a unit of the joint's children, metres; above 0.
    pub unit: f64,
}

/// Bounds of the lengths of a joint's axes: in the clip, and in the rest pose.
struct Lengths {
    least: f64,
    most: f64,
    rest: f64,
}

/// The shells of all joints in a raw clip.
pub(super) fn shells(clip: &Clip, skeleton: &Skeleton, settings: &BakeOptions) -> Vec<Shell> {
    let mut lengths: Vec<Lengths> = Vec::with_capacity(skeleton.len());
    let mut shells: Vec<Shell> = Vec::with_capacity(skeleton.len());
    let settings = settings.shells(skeleton);
    for (joint, &parent) in skeleton.parents().iter().enumerate() {
        let parent = usize::from(parent);
        let root = Lengths { least: 1.0, most: 1.0, rest: 1.0 };
        let above = lengths.get(parent).unwrap_or(&root);
        let unit = shells.get(parent).map_or(1.0, |p| p.unit);
        let rest = skeleton.rest(joint).scale.to_array();
        let scales = scales(clip, skeleton, joint);
        let (distance, weight) = settings[joint];
        let mut shell = Shell { distance, weight, offsets: [0.0; 3], steady: true, unit: 0.0 };
        let mut own = Lengths { least: f64::INFINITY, most: 0.0, rest: 0.0 };
        let mut bounds = [[0.0; 2]; 3];
        for (axis, [least, most]) in scales.into_iter().enumerate() {
            let [least, most] = [above.least * least, above.most * most];
            let at_rest = above.rest * f64::from(rest[axis].abs());
            own.least = own.least.min(least);
            own.most = own.most.max(most);
            own.rest = own.rest.max(at_rest);
            shell.steady &= most - least <= STEADY * most;
            // If a clip hides a joint, its shell is that of the rest pose, or of the joint above.
            let used = [most, at_rest, unit].into_iter().find(|&v| v > 0.0);
            let used = used.unwrap_or(1.0);
            shell.unit = shell.unit.max(used);
            bounds[axis] = [least, used];
        }
        for (offset, [least, used]) in shell.offsets.iter_mut().zip(bounds) {
            let length = match shell.steady {
                true if least > 0.0 => least,
                true => used,
                false => LEAST_LENGTH * used,
            };
            *offset = (distance / length).min(f32::MAX.into());
        }
        lengths.push(own);
        shells.push(shell);
    }
    shells
}

/// For each axis, the least and the greatest magnitude of a joint's scale in a clip, on top of the rest pose if it is
/// additive.
fn scales(clip: &Clip, skeleton: &Skeleton, joint: usize) -> [[f64; 2]; 3] {
    let rest = skeleton.rest(joint).scale.to_array().map(f64::from);
    let base = if is_additive(clip) { rest } else { [1.0; 3] };
    match range(clip, skeleton, Channel::Scale, joint) {
        Some(ranges) => {
            std::array::from_fn(|axis| magnitudes(ranges[axis]).map(|v| v * base[axis].abs()))
        }
        None => rest.map(|v| [v.abs(); 2]),
    }
}

/// The least and the greatest value of each component of a joint's channel, if the clip stores it.
fn range(
    clip: &Clip,
    skeleton: &Skeleton,
    channel: Channel,
    joint: usize,
) -> Option<[[f64; 2]; 4]> {
    let (block, lane) = split_lane(usize::from(skeleton.lane_of()[joint]));
    let b = clip.block_at(channel, block)?;
    let ranges = match b.moves(lane) {
        true => clip.reach(channel, b, lane),
        false => clip.constant(channel, b, lane).map(|v| [v; 2]),
    };
    Some(ranges.map(|range| range.map(f64::from)))
}

/// The least and the greatest magnitude of the numbers in a range.
pub(super) fn magnitudes([low, high]: [f64; 2]) -> [f64; 2] {
    let least = if low <= 0.0 && high >= 0.0 { 0.0 } else { low.abs().min(high.abs()) };
    [least, low.abs().max(high.abs())]
}

/// Bound of the f32 rounding errors of points between the keys and the model matrices, metres. A joint's share follows
/// from the length of the chain from the origin to its shell and from the number of joints in it.
pub(super) fn rounding(clip: &Clip, skeleton: &Skeleton, shells: &[Shell]) -> f64 {
    let deepest = depth(skeleton.parents());
    let roundings = ROUNDINGS.max(PER_JOINT * deepest as f64);
    roundings * 0.5 * f64::from(f32::EPSILON) * extent(clip, skeleton, shells)
}

/// The number of joints in the longest chain.
fn depth(parents: &[u16]) -> usize {
    let mut depths: Vec<usize> = Vec::with_capacity(parents.len());
    for &parent in parents {
        let above = depths.get(usize::from(parent)).copied().unwrap_or(0);
        depths.push(above + 1);
    }
    depths.into_iter().max().unwrap_or(0)
}

/// An upper bound of the length of the chain of joints from the origin to a shell, metres.
fn extent(clip: &Clip, skeleton: &Skeleton, shells: &[Shell]) -> f64 {
    let mut ends: Vec<f64> = Vec::with_capacity(shells.len());
    let mut extent = 0.0f64;
    for (joint, &parent) in skeleton.parents().iter().enumerate() {
        let parent = usize::from(parent);
        let rest = skeleton.rest(joint).translation.to_array().map(f64::from);
        let mut far = rest.map(f64::abs);
        if let Some(ranges) = range(clip, skeleton, Channel::Translation, joint) {
            for (far, range) in far.iter_mut().zip(ranges) {
                let [_, most] = magnitudes(range);
                *far = if is_additive(clip) { *far + most } else { most };
            }
        }
        let length = far.iter().map(|v| v * v).sum::<f64>().sqrt();
        let unit = shells.get(parent).map_or(1.0, |p| p.unit);
        let end = ends.get(parent).unwrap_or(&0.0) + unit * length;
        extent = extent.max(end + shells[joint].distance);
        ends.push(end);
    }
    extent
}
