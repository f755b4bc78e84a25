//! The scene graph: flat arrays of nodes, and mirrors, by which joint j of a skeleton instance is node
//! first + j. Knows `skeleton` and `math`; who plays clips (a crowd, a mixer) hands local matrices in.

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
pub use remove::Hanging;
