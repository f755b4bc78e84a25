#![doc = include_str!("front_page.md")]
#![deny(unsafe_code)]
#![warn(missing_docs)]

/// The version of glam in this interface. Its vectors, quaternions and matrices convert from and to arrays by their
/// own methods, so that a user of another version needs no glam; matrices that come in slices come as slices of arrays, too
/// ([`SceneGraph::world_arrays`](scene::SceneGraph::world_arrays), [`BoneBuffer::bytes`](crowd::BoneBuffer::bytes)).
pub use glam;

pub mod bake;
pub mod build;
pub mod clip;
pub mod crowd;
mod error;
mod evaluate;
#[cfg(feature = "phx")]
pub mod format;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod import;
pub mod math;
pub mod mesh;
pub mod playback;
mod raw;
pub mod retarget;
pub mod rig;
pub mod runtime;
pub mod scene;
pub mod simd;
pub mod skeleton;
pub mod suggest;
mod threads;
mod words;

/// Compiles the examples of the pages in `docs/` and of the README.
#[cfg(all(doctest, feature = "gltf", feature = "phx"))]
#[doc = include_str!("../docs/library.md")]
#[doc = include_str!("../docs/motion-capture.md")]
#[doc = include_str!("../docs/cookbook.md")]
#[doc = include_str!("../README.md")]
struct Pages;
