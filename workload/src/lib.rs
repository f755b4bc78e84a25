//! Crowds for measuring Phalanx: the standard crowd, the workloads C1 to C3, and a textbook pipeline that
//! computes the same palettes the way tutorials do.
//!
//! [`standard_crowd`] needs a rig. [`Workload::crowd`] needs a rig and [`WorkloadClips`], which a
//! `subject::Subject` chooses from a file or from the built-in character. [`live`] has crowds that change what
//! they play, carry things or are of many rigs; [`plaza`] has one around a camera, with tiers.
#![deny(unsafe_code)]
#![warn(missing_docs)]

pub mod live;
pub mod plaza;
pub mod sampling;
#[cfg(feature = "gltf")]
pub mod stages;
mod standard;
#[cfg(feature = "gltf")]
pub mod subject;
pub mod textbook;
#[cfg(feature = "gltf")]
pub mod tutorial;
mod workload;

pub use standard::{PARADE, hash01, standard_crowd};
pub use workload::{Workload, WorkloadClips};
