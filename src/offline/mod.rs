//! Work before playback: raw data, import, the builders. May allocate and take seconds; knows
//! nothing of crowds, the GPU or the renderers.

pub mod raw;
mod report;

pub use report::{ImportReport, ReportEntry, Severity};
