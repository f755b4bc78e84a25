//! `RetargetReport` and `FeetReport`: figures and names of a retargeting.

use super::humanoid::{HumanBone, MapOrigin};
use super::options::Ground;

/// The transfer of each part of a clip, and the parts that were left.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RetargetReport {
    /// Name of the clip.
    pub clip: String,
    /// Sources of the maps of source and target.
    pub maps: [MapOrigin; 2],
    /// Bones that both characters have, with the joints of source and target.
    pub bones: Vec<(HumanBone, String, String)>,
    /// Joints of the target without a bone that follow the source's joint of the same name, below the same bone.
    pub by_name: Vec<String>,
    /// Bones that the target lacks but whose rotation its bones below take over.
    pub passed_on: Vec<HumanBone>,
    /// Bones that the source lacks; they keep the reference pose.
    pub kept: Vec<HumanBone>,
    /// Bones of the target that were turned in its reference pose into the directions of the source's, with the angles in
    /// radians.
    pub aligned: Vec<(HumanBone, f64)>,
    /// Bones of the target that were not turned, since they point more than 95° away from the source's, with the angles in
    /// radians: the reference poses differ, or a map is wrong. They move like the source's, from another pose.
    pub not_aligned: Vec<(HumanBone, f64)>,
    /// Bones of the target whose joints are not below the bone above them; they move along with it.
    pub carried: Vec<HumanBone>,
    /// Whether the soles of the source's reference pose count as turned along with its spread legs, because its feet are then
    /// level while they stand in the clip.
    pub tilted: bool,
    /// Whether toes point backwards in the reference poses of source and target: the joints of left and right are then
    /// swapped.
    pub swapped: [bool; 2],
    /// Whether the reference poses of source and target do not stand.
    pub lying: [bool; 2],
    /// Heights of the hips with straight legs, source and target, in the units of their files: above the origin if both
    /// reference poses stand on it, otherwise above the lowest foot or toe. Without alignment, legs are as in those poses.
    pub heights: [f64; 2],
    /// Factor on distances: the ratio of the heights.
    pub ratio: f64,
    /// Ground on which the source stands: `Reference` or `Origin`.
    pub ground: Ground,
    /// Number of keys of the target's tracks, summed over joints.
    pub keys: usize,
    /// A bound on the error of directions in model space between keys, radians: deviations at the quarters of every interval,
    /// summed along limbs. Deviations of the hips and of carried bones count as shares of their height and limb. 0 if
    /// each joint follows one curve of the source; otherwise keys are inserted until the bound is below 5e-5. A larger
    /// bound means that a limit stopped the insertion: half of the room that the source's keys leave in a timeline of
    /// 65,535, or a sixteenth of it if the tracks of 16 joints do not fit into one together; or 2^26 evaluations of
    /// joints.
    pub between_keys: f64,
    /// Joints of the source that rotate but move no bone.
    pub left: Vec<String>,
    /// Joints of the source, other than the hips and those above, whose translation was kept: the target has the same joint
    /// below the same bone, at the same offset in the reference pose.
    pub translations_kept: Vec<String>,
    /// Joints of the source, other than the hips and those above, whose translation moves but was dropped.
    pub translations_dropped: Vec<String>,
    /// Joints of the source whose scale moves or differs from the reference and was kept: it is uniform, or the axes of
    /// both joints are the same within 1°.
    pub scales_kept: Vec<String>,
    /// Joints of the source whose scale is not uniform and whose axes differ from the target joint's, with the largest angle
    /// between two nearest axes, radians. The target has the nearest scale along its own axes; the remaining shear is lost.
    pub scales_approximated: Vec<(String, f64)>,
    /// Joints of the source whose scale differs from the reference and was dropped.
    pub scales_dropped: Vec<String>,
    /// Number of morph weights and numbers of user channels that were kept, by equal names.
    pub scalars_kept: usize,
    /// Morph weights and numbers of user channels that the target lacks.
    pub scalars_dropped: Vec<String>,
    /// Whether the clip has root motion, which was scaled.
    pub root_motion: bool,
    /// The planting of feet, if it was requested.
    pub feet: Option<FeetReport>,
}

/// The contacts and corrections of the planting of feet. Speeds are along the ground, in the target's units per second,
/// over the samples in contact; slide is the speed relative to the ground. Root motion is included.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeetReport {
    /// Missing bones without which a foot is not planted, at most one per leg, with the side that lacks them, `source` or
    /// `target`. Without both legs [`Retargeting::new`](super::Retargeting::new) fails.
    pub missing: Vec<(&'static str, HumanBone)>,
    /// Number of contacts of both feet. One that spans the seam of a loop counts once.
    pub contacts: usize,
    /// Time in contact, seconds, summed over both feet.
    pub seconds: f64,
    /// The velocity of the source's ground in its model space, units per second. It is zero unless the clip walks in place:
    /// its hips stay, and contacts last longer with a ground that moves faster than [`RetargetOptions::plant_speed`](super::RetargetOptions::plant_speed).
    pub ground_velocity: [f64; 3],
    /// Mean slide before and after the correction.
    pub slide: [f64; 2],
    /// Mean speeds in the world before and after the correction; equal to `slide` if the ground stands.
    pub world: [f64; 2],
    /// Largest slides before and after the correction.
    pub worst: [f64; 2],
    /// Largest distance by which a foot was moved.
    pub correction: f64,
    /// Number of samples at which a leg was too short for its correction; the foot then slides.
    pub out_of_reach: usize,
}
