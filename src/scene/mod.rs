//! The scene graph: flat arrays of nodes with transforms, some of them the joints of skeleton instances.
//!
//! Start with [`SceneGraph::new`] and [`SceneGraph::add`]. A mirror is a skeleton instance as nodes: a root, by which
//! calls name the mirror, and below it a node for each joint or for chosen ones. [`SceneGraph::attach`] attaches a prop
//! to a joint, and [`SceneGraph::update`] computes the world transforms once per frame.

mod error;
mod free_ranges;
mod graph;
mod ids;
mod mirror;
mod remove;
mod update;

pub use error::SceneError;
pub use graph::SceneGraph;
pub use ids::NodeId;
pub use remove::OnRemove;
