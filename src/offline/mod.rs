//! Work before playback: raw data, import, the builders. May allocate and take seconds; knows
//! nothing of crowds, the GPU or the renderers.

mod build;
#[cfg(feature = "gltf")]
mod builtin;
mod clip_builder;
mod curve;
#[cfg(feature = "gltf")]
pub mod gltf;
#[cfg(feature = "gltf")]
mod import;
mod joint_order;
mod lod;
pub mod raw;
mod report;
mod split;
mod up_axis;

pub use build::{BuildError, BuildOptions, MAX_SCALARS, build_additive, build_rig};
#[cfg(feature = "gltf")]
pub use builtin::{MANNEQUIN, mannequin};
pub use clip_builder::{
    ClipBuildError, ROTATION_TOLERANCE, SCALAR_TOLERANCE, SCALE_TOLERANCE, TRANSLATION_TOLERANCE,
};
#[cfg(feature = "gltf")]
pub use gltf::{GltfError, ImportOptions};
#[cfg(feature = "gltf")]
pub use import::{ImportError, Imported, RigLink, import_path, import_slice};
pub use lod::{LodError, add_lod};
pub use report::{ImportReport, ReportEntry, Severity};
pub use split::{SplitError, SplitScene};
pub use up_axis::UpAxis;
