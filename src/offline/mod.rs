//! Work before playback: raw data, import, the builders. May allocate and take seconds; knows
//! nothing of crowds, the GPU or the renderers.

mod build;
mod clip_builder;
mod curve;
mod joint_order;
mod lod;
pub mod raw;
mod report;

pub use build::{BuildError, BuildOptions, MAX_SCALARS, build_additive, build_rig};
pub use clip_builder::{
    ClipBuildError, ROTATION_TOLERANCE, SCALAR_TOLERANCE, SCALE_TOLERANCE, TRANSLATION_TOLERANCE,
};
pub use lod::{LodError, add_lod};
pub use report::{ImportReport, ReportEntry, Severity};
