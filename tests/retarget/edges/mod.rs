//! Sources whose rest pose is turned, leans, lies or spreads the legs, or is not the pose of the bind matrices; clips that
//! lie; bodies that are mirrored. What the target does follows from the motion of an actor alone, computed here in f64.

mod actor;
mod ground;
mod references;
mod steps;
