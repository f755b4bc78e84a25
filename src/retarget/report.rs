//! `RetargetReport`: what a retargeting did, in figures.

use super::feet::FeetReport;
use super::humanoid::{HumanBone, MapOrigin};
use super::options::Ground;

/// What was transferred how, and what was left.
#[derive(Clone, Debug, PartialEq)]
pub struct RetargetReport {
    /// The clip.
    pub clip: String,
    /// Where the maps of source and target come from.
    pub maps: [MapOrigin; 2],
    /// Bones that both characters have, with the joints of source and target.
    pub bones: Vec<(HumanBone, String, String)>,
    /// Joints of the target without a bone that follow the source's joint of the same name, below the same bone.
    pub by_name: Vec<String>,
    /// Bones that the target lacks and that have bones of the target below: these take over their rotation.
    pub passed_on: Vec<HumanBone>,
    /// Bones that the source lacks: they keep the reference pose.
    pub kept: Vec<HumanBone>,
    /// Bones of the target that were turned in its reference pose, so that they point where the source's do;
    /// with the angles, radians.
    pub aligned: Vec<(HumanBone, f64)>,
    /// Bones of the target that were not turned, as they point more than 95° away from the source's: the reference
    /// poses differ, or a map is wrong. Their motion is that of the source, from another pose.
    pub not_aligned: Vec<(HumanBone, f64)>,
    /// Bones of the target that hang elsewhere than below the bone above them; they are carried along.
    pub carried: Vec<HumanBone>,
    /// Whether the soles of the source's reference pose were taken to be turned along with its spread legs: then its feet
    /// are level in the clip, while they stand.
    pub tilted: bool,
    /// Whether toes point backwards in the reference poses of source and target: the joints of the left side are those of
    /// the right.
    pub swapped: [bool; 2],
    /// Whether the reference poses of source and target do not stand.
    pub lying: [bool; 2],
    /// Heights of the hips with straight legs, source and target, in the units of their files: above the origin if both
    /// reference poses stand on it, else above the lowest foot or toe. Without alignment, legs are as in those poses.
    pub heights: [f64; 2],
    /// What distances were multiplied with: the ratio of the heights.
    pub ratio: f64,
    /// Where the source stands: `Reference` or `Origin`.
    pub ground: Ground,
    /// Keys of the target's tracks, summed over joints.
    pub keys: usize,
    /// A bound on how far directions in model space are off between keys, radians: deviations at the quarters of every
    /// interval, summed along limbs, and those of the hips and of carried bones as shares of their height and limb. 0
    /// where each joint follows one curve of the source; else keys are inserted until it is below 5e-5. It is larger
    /// only where no more keys were inserted: half of what a timeline of 65,535 keys has room for beside the source's, or
    /// a sixteenth if the tracks of 16 joints do not fit into one together, and at most 2^26 evaluations of joints.
    pub between_keys: f64,
    /// Joints of the source that rotate and move no bone.
    pub left: Vec<String>,
    /// Joints of the source, other than the hips and those above, whose translation was kept: the target has the
    /// same joint below the same bone, at the same offset in the reference pose.
    pub translations_kept: Vec<String>,
    /// Joints of the source, other than the hips and those above, whose translation moves: it was dropped.
    pub translations_dropped: Vec<String>,
    /// Joints of the source whose scale moves or differs from the reference and was kept: it is uniform, or the axes of
    /// both joints are the same within 1°.
    pub scales_kept: Vec<String>,
    /// Joints of the source whose scale is not uniform and whose axes are not those of the target's joint, with the
    /// largest angle between two nearest axes, radians. The target has the nearest scale along its own axes; the shear
    /// that is left is lost.
    pub scales_approximated: Vec<(String, f64)>,
    /// Joints of the source whose scale differs from the reference and was dropped.
    pub scales_dropped: Vec<String>,
    /// Number of morph weights and numbers of user channels that were kept, by equal names.
    pub scalars_kept: usize,
    /// Morph weights and numbers of user channels that the target lacks.
    pub scalars_dropped: Vec<String>,
    /// Whether the clip has root motion; it was scaled.
    pub root_motion: bool,
    /// The planting of feet, if it was asked for.
    pub feet: Option<FeetReport>,
}
