//! Work before playback: raw data, import, the builders. May allocate and take seconds; knows
//! nothing of crowds, the GPU or the renderers.

mod additive;
mod anchors;
mod bake;
mod build;
#[cfg(feature = "gltf")]
mod builtin;
mod check;
mod clip_builder;
mod curve;
#[cfg(feature = "gltf")]
pub mod gltf;
#[cfg(feature = "gltf")]
mod import;
mod joint_order;
mod lanes;
mod lod;
#[cfg(feature = "gltf")]
mod markers;
mod meshes;
pub mod raw;
mod relane;
mod report;
mod root_motion;
mod split;
mod unbuild;
mod up_axis;

pub use additive::{AdditiveReference, build_additive_from};
pub use bake::{
    BakeError, BakeSettings, ErrorReport, JointQuality, MAX_BAKED_KEYS, MAX_ERROR, SHELL,
    TrackBytes, bake, bake_all, measure_error, measure_error_across,
};
pub use build::{BuildOptions, build_additive, build_rig};
#[cfg(feature = "gltf")]
pub use builtin::{MANNEQUIN, mannequin, mannequin_with};
pub use check::{BuildError, MAX_SCALARS};
pub use clip_builder::{
    ClipBuildError, ROTATION_TOLERANCE, SCALAR_TOLERANCE, SCALE_TOLERANCE, TRANSLATION_TOLERANCE,
};
#[cfg(feature = "gltf")]
pub use gltf::{GltfError, ImportOptions};
#[cfg(feature = "gltf")]
pub use import::{ImportError, Imported, RigLink, import_path, import_slice};
pub use lanes::LaneScan;
pub use lod::{LodError, add_lod};
#[cfg(feature = "gltf")]
pub use markers::{
    ClipMarkers, MARKER_SLACK, MAX_GIVEN_MARKERS, MAX_MARKER_FILE, MAX_MARKER_NAME, MarkerError,
    MarkerFault, add_markers, marker_file, parse_markers, read_markers,
};
pub use relane::{RelaneError, relane};
pub use report::{ImportReport, ReportEntry, Severity};
pub use root_motion::{MAX_ROOT_STEPS, RootJoint, RootMotionError, RootMotionOptions};
pub use split::{SplitError, SplitScene};
pub use unbuild::{build_additive_of, raw_joints};
pub use up_axis::UpAxis;
