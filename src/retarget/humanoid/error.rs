//! `MapError`: why joints are no humanoid.

use crate::skeleton::HumanBone;
use crate::words::plural;
use thiserror::Error;

/// Why a humanoid map is refused.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum MapError {
    /// There is no human bone of that name.
    #[error(
        "there is no human bone \"{name}\"; VRM 1.0 names 55, from \"hips\" to \"rightLittleDistal\""
    )]
    Bone {
        /// The name.
        name: String,
    },
    /// A bone is listed twice.
    #[error("bone \"{bone}\" is given twice: joint {first} and joint {second}")]
    BoneTwice {
        /// The bone.
        bone: HumanBone,
        /// Its first joint.
        first: String,
        /// Its second joint.
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
    Joint {
        /// The bone.
        bone: HumanBone,
        /// The cause.
        source: crate::skeleton::JointRefError,
    },
    /// The map lacks the bone that everything else hangs on.
    #[error("the map has no hips; {} in it", others(*.bones))]
    NoHips {
        /// How many bones it has.
        bones: usize,
    },
    /// A bone's joint lies above the joint of a bone that is above it: the two orders form a cycle.
    #[error("bone \"{bone}\" is below \"{above}\", but its joint {joint} lies above {above_joint}")]
    Cycle {
        /// The bone.
        bone: HumanBone,
        /// A bone above it.
        above: HumanBone,
        /// The bone's joint.
        joint: String,
        /// The joint of the bone above.
        above_joint: String,
    },
    /// A bone's joint does not lie below that of the bone above it. Only feet and hands may hang elsewhere, as in rigs
    /// that are driven by inverse kinematics.
    #[error(
        "bone \"{bone}\" is below \"{above}\", but its joint {joint} does not lie below {above_joint}; \
         only feet and hands may hang elsewhere"
    )]
    Elsewhere {
        /// The bone.
        bone: HumanBone,
        /// The nearest bone above it that has a joint.
        above: HumanBone,
        /// The bone's joint, by index and name.
        joint: String,
        /// The joint of the bone above.
        above_joint: String,
    },
    /// The joints have neither the names nor the shape of a humanoid with legs and arms.
    #[error(
        "no humanoid is known by the names or the shape of these joints: the best of {tables} name tables, {best}, \
         finds {} and lacks {}, which VRM requires; give the map as a file",
        plural(*.found as u64, "bone"),
        list(lacking)
    )]
    Unknown {
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
    Json {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// The JSON of a map is too long.
    #[error("the map is {have} bytes long, the limit is {limit}")]
    TooLong {
        /// Its length.
        have: usize,
        /// The limit.
        limit: usize,
    },
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
