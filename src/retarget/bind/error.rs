//! `BindError`: why clips cannot be bound.

use crate::build::ClipBuildError;
use crate::skeleton::SkeletonMismatch;
use crate::words::{plural, shorten};
use thiserror::Error;

/// A clip cannot be bound to another skeleton. Nothing was made. Messages cut names after 40 characters.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum BindError {
    /// No joint of one skeleton has the name of a joint of the other.
    #[error(
        "no joint of the clips' skeleton ({}, the first \"{}\") has the name of a joint of the target ({}, the first \
         \"{}\")",
        plural(*.source_joints as u64, "joint"), shorten(.first_source),
        plural(*.target_joints as u64, "joint"), shorten(.first_target)
    )]
    NothingInCommon {
        /// Joints of the clips' skeleton.
        source_joints: usize,
        /// Name of the first of them.
        first_source: String,
        /// Joints of the target.
        target_joints: usize,
        /// Name of the first of them.
        first_target: String,
    },
    /// Joints without names, whose hierarchies differ.
    #[error(
        "no joint can be bound: {of} has no names ({} in the clips' skeleton, {} in the target), and without names \
         joints are bound by index, which needs equal hierarchies{}",
        plural(*.source_joints as u64, "joint"), plural(*.target_joints as u64, "joint"),
        match .differs {
            Some(joint) => format!(": joint {joint} has another joint above it"),
            None => String::new(),
        }
    )]
    Nameless {
        /// Which skeleton has no names.
        of: &'static str,
        /// Joints of the clips' skeleton.
        source_joints: usize,
        /// Joints of the target.
        target_joints: usize,
        /// The first joint that is below another in the other skeleton, if their numbers are equal.
        differs: Option<usize>,
    },
    /// No joint can be bound, and of morph weights, which the clips have, none either.
    #[error(
        "nothing can be bound: no joint and no morph weight of the clips' skeleton ({}, the first \"{}\") has the name \
         of one of the target's ({}), and by index they are bound where each has one node with morph weights, of as many",
        plural(*.source_weights as u64, "weight"), shorten(.first_source), plural(*.target_weights as u64, "weight")
    )]
    Weights {
        /// Scalars of the clips' skeleton.
        source_weights: usize,
        /// Name of the first of them.
        first_source: String,
        /// Scalars of the target.
        target_weights: usize,
    },
    /// The names that both skeletons have are those of several joints each.
    #[error(
        "no joint can be bound: \"{}\" is the name of several joints{}, and their paths do not tell which",
        shorten(.name),
        match .names { 1 => String::new(), n => format!(", as {} more", plural((n - 1) as u64, "name")) }
    )]
    Ambiguous {
        /// One of the names, without prefixes.
        name: String,
        /// How many such names there are.
        names: usize,
    },
    /// A clip is not of the skeleton that the binding was made for.
    #[error("clip \"{}\" is not of the skeleton that was bound: {mismatch}", shorten(.clip))]
    Clip {
        /// The clip.
        clip: String,
        /// The first difference: in the clip's skeleton, and in the bound one.
        mismatch: SkeletonMismatch,
    },
    /// An option is out of range.
    #[error("the option `{option}` is {value}, allowed are {low:e} to {high:e}")]
    Option {
        /// Its name.
        option: &'static str,
        /// Its value.
        value: f32,
        /// The least value allowed.
        low: f32,
        /// The greatest value allowed.
        high: f32,
    },
    /// The hierarchies are so different that the ways between bound joints are too long.
    #[error("the joints between bound joints are more than {limit}")]
    Steps {
        /// The most allowed.
        limit: usize,
    },
    /// Motion that is folded into a joint needs too many samples.
    #[error(
        "clip \"{}\": folding joints into \"{}\" needs more than {limit} samples of joints",
        shorten(.clip), shorten(.joint)
    )]
    Work {
        /// The clip.
        clip: String,
        /// The joint of the target.
        joint: String,
        /// The most samples of all joints of the clip together.
        limit: usize,
    },
    /// The bound keys are no clip of the target.
    #[error(transparent)]
    Build(#[from] ClipBuildError),
}
