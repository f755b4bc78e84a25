//! Phalanx: data-oriented skeletal animation for crowds.
#![deny(unsafe_code)]
#![warn(missing_docs)]

#[cfg(feature = "gpu")]
pub mod gpu;
pub mod math;
pub mod mesh;
pub mod offline;
#[cfg(feature = "render")]
pub mod render;
pub mod skeleton;
