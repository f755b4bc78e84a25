//! The ruler with root motion: what its clips travel moves the instance.

use phalanx::build::{BuildOptions, RootMotionOptions};
use phalanx::rig::Rig;
use phalanx_testkit::ruler;
use std::sync::Arc;

/// Clips "x" (1 m in 1 s) and "z" (3 m in 2 s), taken out of the pose.
pub fn rig() -> Arc<Rig> {
    let options =
        BuildOptions { root_motion: Some(RootMotionOptions::default()), ..BuildOptions::default() };
    let clips =
        vec![ruler::line("x", 1.0, [1.0, 0.0, 0.0]), ruler::line("z", 2.0, [0.0, 0.0, 3.0])];
    ruler::built(clips, &options)
}
