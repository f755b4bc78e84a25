//! Playing one character: time, loop modes, a pose at given times. Knows `runtime` and below.

mod loop_mode;
mod pose;

pub use loop_mode::LoopMode;
pub(crate) use loop_mode::fold;
pub use pose::{EvaluatedPose, PoseAction, PoseError, PosedPrimitive, evaluate_pose};
