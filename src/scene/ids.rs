//! Handles of nodes: scene, index, and generation of the index.

use std::fmt::{self, Display, Formatter};

/// A node of a scene graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId {
    pub(super) scene: u32,
    pub(super) index: u32,
    pub(super) generation: u32,
}

impl NodeId {
    /// The node's index in the node arrays.
    pub fn index(self) -> usize {
        self.index as usize
    }
}

/// `node 5`: its index in the node arrays.
impl Display for NodeId {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "node {}", self.index)
    }
}
