//! Work before playback: raw data, import, the builders. May allocate and take seconds; knows
//! nothing of crowds, the GPU or the renderers.

#[cfg(feature = "gltf")]
pub mod gltf;
pub mod raw;
mod report;
mod split;
mod up_axis;

pub use report::{ImportReport, ReportEntry, Severity};
pub use split::{SplitError, SplitScene};
pub use up_axis::UpAxis;
