//! The scene graph: flat arrays of nodes with transforms, some of them the joints of skeleton instances.
//!
//! Start with [`SceneGraph::new`] and [`SceneGraph::add`]. A mirror makes joint j of a skeleton instance the node
//! `first + j`, or has nodes for chosen joints only. [`SceneGraph::attach`] attaches a prop to a joint, and
//! [`SceneGraph::update`] computes the world transforms once per frame.

mod error;
mod free_ranges;
mod graph;
mod ids;
mod mirror;
mod remove;
mod update;

pub use error::SceneError;
pub use graph::SceneGraph;
pub use ids::{MirrorId, NodeId};
pub use remove::OnRemove;
