//! `RetargetError`: the errors of binding a clip to another skeleton, of retargeting, and of finding a humanoid.

use crate::clip::{Clip, ClipKind};
use crate::error::BuildError;
use crate::skeleton::{HumanBone, LookupError, Skeleton, SkeletonMismatch};
use crate::words::{number, plural, shorten};
use thiserror::Error;

/// An error of binding a clip to another skeleton, of retargeting, or of finding a humanoid. Nothing was made. Messages
/// cut names after 40 characters.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum RetargetError {
    /// Nothing of two skeletons can be bound: no name of a joint or a morph weight is common, or names are missing and the
    /// hierarchies differ.
    #[error("{reason}")]
    NothingInCommon {
        /// The whole message.
        reason: String,
    },
    /// Every name that both skeletons have belongs to several joints.
    #[error(
        "no joint can be bound: \"{}\" is the name of several joints{}, and their paths do not tell which",
        shorten(.name),
        match .names { 1 => String::new(), n => format!(", as {} more", plural((n - 1) as u64, "name")) }
    )]
    Ambiguous {
        /// One of the names, without prefixes.
        name: String,
        /// Number of such names.
        names: usize,
    },
    /// An option is out of range.
    #[error("the option `{option}` is {}, allowed are {allowed}", number(*.value))]
    Option {
        /// Name of the option.
        option: &'static str,
        /// Value of the option.
        value: f64,
        /// The allowed values in words.
        allowed: &'static str,
    },
    /// The hierarchies are so different that the ways between bound joints are too long.
    #[error("the joints between bound joints are more than {limit}")]
    BindSteps {
        /// The most allowed.
        limit: usize,
    },
    /// Motion that is folded into a joint needs too many samples.
    #[error(
        "clip \"{}\": folding joints into \"{}\" needs more than {limit} samples of joints",
        shorten(.clip), shorten(.joint)
    )]
    FoldingWork {
        /// The clip.
        clip: String,
        /// The joint of the target.
        joint: String,
        /// The most samples of all joints of the clip together.
        limit: usize,
    },
    /// No human bone has the name.
    #[error(
        "there is no human bone \"{name}\"; VRM 1.0 names 55, from \"hips\" to \"rightLittleDistal\""
    )]
    UnknownBone {
        /// The name.
        name: String,
    },
    /// A bone is listed twice.
    #[error("bone \"{bone}\" is given twice: joint {first} and joint {second}")]
    BoneTwice {
        /// The bone.
        bone: HumanBone,
        /// The bone's first joint.
        first: String,
        /// The bone's second joint.
        second: String,
    },
    /// One joint has two bones.
    #[error("joint {joint} is given to two bones, \"{first}\" and \"{second}\"")]
    JointTwice {
        /// The joint, by index and name.
        joint: String,
        /// The first bone.
        first: HumanBone,
        /// The second bone.
        second: HumanBone,
    },
    /// The joint of a bone does not exist.
    #[error("bone \"{bone}\": {source}")]
    BoneJoint {
        /// The bone.
        bone: HumanBone,
        /// The cause.
        source: LookupError,
    },
    /// The map lacks the bone that everything else hangs on.
    #[error("the map has no hips; {} in it", others(*.bones))]
    NoHips {
        /// How many bones it has.
        bones: usize,
    },
    /// A bone's joint does not lie below the joint of the bone above: it lies above that joint, or in another branch.
    /// Only feet and hands may hang in another branch, as in rigs that are driven by inverse kinematics.
    #[error(
        "bone \"{bone}\" is below \"{above}\", but its joint {joint} {}",
        match .cycle {
            true => format!("lies above {above_joint}"),
            false => format!("does not lie below {above_joint}; only feet and hands may hang elsewhere"),
        }
    )]
    BoneOrder {
        /// The bone.
        bone: HumanBone,
        /// A bone above it.
        above: HumanBone,
        /// The bone's joint, by index and name.
        joint: String,
        /// The joint of the bone above.
        above_joint: String,
        /// True if `joint` lies above `above_joint`: the orders of bones and joints form a cycle.
        cycle: bool,
    },
    /// The joints have neither the names nor the shape of a humanoid with legs and arms.
    #[error(
        "no humanoid is known by the names or the shape of these joints: the best of {tables} name tables, {best}, \
         finds {} and lacks {}, which VRM requires; give the map as a file",
        plural(*.found as u64, "bone"),
        list(lacking)
    )]
    NoHumanoid {
        /// Number of name tables.
        tables: usize,
        /// The best table.
        best: &'static str,
        /// Bones that it finds.
        found: usize,
        /// The bones that VRM 1.0 requires and that it lacks. Hips, spine, and upper and
        /// lower legs and arms must be found; the others may be missing.
        lacking: Vec<HumanBone>,
    },
    /// The JSON of a map cannot be read.
    #[error("line {line}, column {column}: {message}")]
    MapJson {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// The fault in words.
        message: String,
    },
    /// The JSON of a map is too long.
    #[error("the map is {have} bytes long, the limit is {limit}")]
    MapTooLong {
        /// Length of the JSON, bytes.
        have: usize,
        /// The limit.
        limit: usize,
    },
    /// A map names a joint that its skeleton does not have.
    #[error("the map of the {side} has joint {joint}, its skeleton has {}", plural(*.joints as u64, "joint"))]
    Foreign {
        /// `source` or `target`.
        side: &'static str,
        /// The joint.
        joint: usize,
        /// Joints of the skeleton.
        joints: usize,
    },
    /// The clip is additive: differences to a pose have no direction in space.
    #[error("clip \"{clip}\" is additive; only full clips can be retargeted", clip = shorten(.clip))]
    Additive {
        /// The clip.
        clip: String,
    },
    /// The clip is not of the skeleton that was prepared, or is in another lane order.
    #[error("clip \"{clip}\" is not of {skeleton}: {mismatch}", clip = shorten(.clip))]
    Skeleton {
        /// The clip.
        clip: String,
        /// The skeleton in words.
        skeleton: &'static str,
        /// The first difference, the clip's value before the skeleton's.
        mismatch: SkeletonMismatch,
    },
    /// The number of joints of a reference pose differs from the skeleton's, or the pose is not finite.
    #[error(
        "the reference pose of the {side} has {}, its skeleton has {}",
        plural(*.have as u64, "sound transform"),
        plural(*.needed as u64, "joint")
    )]
    Reference {
        /// `source` or `target`.
        side: &'static str,
        /// Sound transforms of the pose.
        have: usize,
        /// Joints of the skeleton.
        needed: usize,
    },
    /// The time of a reference pose is not finite, or not within its clip.
    #[error(
        "the time of the reference pose is {time}{}",
        match .time.is_finite() {
            true => format!(" s, clip \"{}\" goes from 0 to {duration:.3} s", shorten(.clip)),
            false => String::new(),
        }
    )]
    Time {
        /// The clip.
        clip: String,
        /// The time, seconds.
        time: f32,
        /// The clip's duration, seconds.
        duration: f32,
    },
    /// The rest pose of a character lies, or shows its joints in a row.
    #[error(
        "the rest pose of the {side} does not stand: its trunk leans by {lean:.0}°, its hips are {height:.3} above its feet, \
         and its legs are {leg:.3} long; choose a pose that stands as reference"
    )]
    Lies {
        /// `source` or `target`.
        side: &'static str,
        /// The angle of its trunk from up, degrees.
        lean: f64,
        /// The hips above the lowest foot.
        height: f64,
        /// The length of its longer leg.
        leg: f64,
    },
    /// A rig has no bind pose: none of its meshes has a skin with joints of its skeleton.
    #[error("there is no bind pose: no skin has joints of the skeleton")]
    NoBind,
    /// The hips of a result are far above or below the ground, while the source's hips are not: a reference pose does
    /// not stand.
    #[error(
        "clip \"{clip}\": at {time} s the hips are {target_height:.1} leg lengths above the ground, in the source \
         {source_height:.1}; choose a pose that stands as reference", clip = shorten(.clip)
    )]
    Far {
        /// The clip.
        clip: String,
        /// The time, seconds.
        time: f32,
        /// Height of the source's hips, in lengths of its legs.
        source_height: f64,
        /// Height of the target's hips, in lengths of its legs.
        target_height: f64,
    },
    /// The hips of a character have no height, or the heights differ beyond all measure.
    #[error(
        "the hips are {source_height:.3} above the ground in the source and {target_height:.3} in the target; \
         the ratio must be within {least:e} and {most:e}: choose poses that stand as reference"
    )]
    Height {
        /// Height of the source's hips.
        source_height: f64,
        /// Height of the target's hips.
        target_height: f64,
        /// The least ratio.
        least: f64,
        /// The largest ratio.
        most: f64,
    },
    /// A joint above bones, or the hips themselves, has a scale with which no rotation of joints poses them: zero, too
    /// small with those above it, or negative.
    #[error("joint {joint} \"{name}\" of the {side} has scale {scale:?}{fault}", name = shorten(.name))]
    JointScale {
        /// `source` or `target`.
        side: &'static str,
        /// The joint.
        joint: usize,
        /// Name of the joint.
        name: String,
        /// The joint's scale in the reference pose.
        scale: [f64; 3],
        /// The consequence in words, beginning with a punctuation mark.
        fault: &'static str,
    },
    /// Neither foot can be planted.
    #[error("no foot can be planted: the {side} has no {bone}")]
    Legs {
        /// `source` or `target`.
        side: &'static str,
        /// The bone that the left leg lacks.
        bone: HumanBone,
    },
    /// Keys and joints of a clip multiply beyond all measure.
    #[error("the clip needs {steps} steps or more of keys and joints, the limit is {limit}")]
    Work {
        /// Steps counted.
        steps: u64,
        /// The limit.
        limit: u64,
    },
    /// The resulting clip cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
}

fn list(bones: &[HumanBone]) -> String {
    let names: Vec<&str> = bones.iter().map(|b| b.name()).collect();
    names.join(", ")
}

/// `1 other bone is`, `2 other bones are`.
fn others(bones: usize) -> String {
    let verb = if bones == 1 { "is" } else { "are" };
    format!("{} {verb}", plural(bones as u64, "other bone"))
}

impl RetargetError {
    /// Fails if the clip is additive, or not of the skeleton in its lane order.
    pub(super) fn check(clip: &Clip, skeleton: &Skeleton) -> Result<(), Self> {
        let name = || clip.name().to_owned();
        if clip.kind() == ClipKind::Additive {
            return Err(Self::Additive { clip: name() });
        }
        match clip.skeleton().mismatch(skeleton) {
            Some(mismatch) => {
                let skeleton = "the source's skeleton";
                Err(Self::Skeleton { clip: name(), skeleton, mismatch })
            }
            None => Ok(()),
        }
    }
}
