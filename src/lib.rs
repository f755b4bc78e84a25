#![doc = include_str!("front_page.md")]
#![deny(unsafe_code)]
#![warn(missing_docs)]

/// The version of glam in this interface. Every type of it has a twin in plain arrays and slices.
pub use glam;

pub mod bake;
pub mod build;
pub mod clip;
pub mod crowd;
#[cfg(feature = "phx")]
pub mod format;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod import;
pub mod math;
pub mod mesh;
pub mod playback;
pub mod rig;
pub mod runtime;
pub mod scene;
pub mod simd;
pub mod skeleton;

/// Compiles the examples of `docs/library.md` and of the README.
#[cfg(all(doctest, feature = "gltf", feature = "phx"))]
#[doc = include_str!("../docs/library.md")]
#[doc = include_str!("../README.md")]
struct Pages;
