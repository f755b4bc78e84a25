//! Builders: rigs and clips from raw scenes, additive clips, levels of detail, root motion.
//!
//! Start with [`build_rig`]. Everything here may allocate and take seconds.

mod additive;
mod anchors;
mod check;
pub(crate) mod clip_builder;
pub(crate) mod curve;
mod joint_order;
mod lanes;
pub(crate) mod lengths;
mod lod;
mod meshes;
pub(crate) mod rig;
pub(crate) mod root_motion;
mod unbuild;
mod with_clips;

pub use crate::error::BuildError;
pub use additive::{AdditiveReference, build_additive, build_additive_raw};
pub use clip_builder::RESAMPLE_RATE;
pub use lanes::{LaneScan, skeleton_of};
pub use lod::add_lod;
pub use rig::{BuildOptions, build_rig, build_rig_reporting};
pub use root_motion::RootMotionOptions;
pub use unbuild::raw_joints;
pub(crate) use unbuild::{raw_clip, take_quaternions};
pub use with_clips::with_clips;
