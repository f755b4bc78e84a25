//! `SceneError`: why a call on a scene graph failed. The graph is unchanged.

use super::ids::NodeId;
use crate::skeleton::LookupError;
use crate::words::plural;
use thiserror::Error;

/// An error of a call on a scene graph; nothing was changed.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SceneError {
    /// The node was removed, or belongs to another scene.
    #[error("{node} {}", gone(*foreign))]
    UnknownNode {
        /// The node.
        node: NodeId,
        /// Whether it belongs to another scene.
        foreign: bool,
    },
    /// The node is not the root of a mirror.
    #[error("{node} is not the root of a mirror")]
    NotMirror {
        /// The node.
        node: NodeId,
    },
    /// The node would become its own descendant.
    #[error("{node} cannot become a child of {parent}, its descendant or the node itself")]
    Cycle {
        /// The node.
        node: NodeId,
        /// The requested parent.
        parent: NodeId,
    },
    /// The node is a joint: its parent and its transform are set by its skeleton.
    #[error("{node} is joint {joint} of a mirrored skeleton, which alone sets its transform")]
    Joint {
        /// The node.
        node: NodeId,
        /// The joint.
        joint: usize,
    },
    /// The node is the root of a mirror without a parent: its transform is that of its instance.
    #[error("{node} follows its instance's world transform while it has no parent")]
    Follows {
        /// The node.
        node: NodeId,
    },
    /// The skeleton has no such joint, or several that match.
    #[error(transparent)]
    JointRef(#[from] LookupError),
    /// A transform holds NaN or an infinity.
    #[error("the {what} is not finite")]
    Transform {
        /// Which transform.
        what: &'static str,
    },
    /// A transform holds a number above its limit.
    #[error("the {what} holds {value:e}, the limit is {limit:e}")]
    Beyond {
        /// Which transform.
        what: &'static str,
        /// The number.
        value: f32,
        /// The limit.
        limit: f32,
    },
    /// A node cannot keep its world transform below a parent whose transform has no inverse.
    #[error("the world transform of the parent, {node}, has no inverse")]
    Singular {
        /// The parent.
        node: NodeId,
    },
    /// The mirror has nodes for some joints only, and not for this one.
    #[error("the mirror at {mirror} has no node for joint {joint}")]
    NoNode {
        /// The mirror's root.
        mirror: NodeId,
        /// The joint.
        joint: usize,
    },
    /// A mirror needs one model matrix per joint.
    #[error("{} given for {}", plural(*.have as u64, "model matrix"), plural(*.joints as u64, "joint"))]
    Models {
        /// Matrices given.
        have: usize,
        /// Joints of the skeleton.
        joints: usize,
    },
    /// Too many nodes.
    #[error("{count} {what}, the limit is {limit}")]
    Limit {
        /// The thing that is limited, in the plural.
        what: &'static str,
        /// How many were requested.
        count: usize,
        /// The limit.
        limit: usize,
    },
}

/// The reason why a handle is unknown.
fn gone(foreign: bool) -> &'static str {
    if foreign { "belongs to another scene" } else { "was removed" }
}
