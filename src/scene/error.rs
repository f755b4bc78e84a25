//! `SceneError`: what a scene graph refuses. The graph stays as it was.

use super::ids::{MirrorId, NodeId};
use crate::skeleton::JointRefError;
use thiserror::Error;

/// A call that a scene graph refused; nothing was changed.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SceneError {
    /// The node was removed, or belongs to another scene.
    #[error("there is no node {node:?} in this scene")]
    UnknownNode {
        /// The node.
        node: NodeId,
    },
    /// The mirror was removed, or belongs to another scene.
    #[error("there is no mirror {mirror:?} in this scene")]
    UnknownMirror {
        /// The mirror.
        mirror: MirrorId,
    },
    /// The node would hang below itself.
    #[error("node {node:?} cannot hang below {parent:?}, which is itself or hangs below it")]
    Cycle {
        /// The node.
        node: NodeId,
        /// The parent asked for.
        parent: NodeId,
    },
    /// The node is a joint: its place and transform are its skeleton's.
    #[error("node {node:?} is joint {joint} of a mirrored skeleton, which alone places it")]
    Joint {
        /// The node.
        node: NodeId,
        /// The joint.
        joint: usize,
    },
    /// The node is the root of a mirror without a parent: it stands where its instance stands.
    #[error("node {node:?} follows its instance's world transform")]
    Follows {
        /// The node.
        node: NodeId,
    },
    /// The skeleton has no such joint, or several of that name.
    #[error(transparent)]
    JointRef(#[from] JointRefError),
    /// A transform holds NaN or an infinity.
    #[error("the {what} is not finite")]
    Transform {
        /// Which transform.
        what: &'static str,
    },
    /// A transform holds a number beyond its limit.
    #[error("the {what} holds {value:e}, the limit is {limit:e}")]
    Beyond {
        /// Which transform.
        what: &'static str,
        /// The number.
        value: f32,
        /// The limit.
        limit: f32,
    },
    /// A node cannot keep its place below a parent whose transform has no inverse.
    #[error("the world transform of {node:?} has no inverse")]
    Singular {
        /// The parent.
        node: NodeId,
    },
    /// A mirror takes one local matrix per joint.
    #[error("{have} local matrices for {joints} joints")]
    Locals {
        /// Matrices given.
        have: usize,
        /// Joints of the skeleton.
        joints: usize,
    },
    /// Too many nodes or mirrors.
    #[error("{count} {what}, the limit is {limit}")]
    Limit {
        /// Of what.
        what: &'static str,
        /// How many were asked for.
        count: usize,
        /// The limit.
        limit: usize,
    },
}
