//! Code shared by Phalanx's tests.
//!
//! [`oracle`] is the reference evaluator, in f64, written from the glTF specification; it never calls the
//! library. [`compare`] compares the library's results with it and with stored golden poses, and [`adapter`]
//! makes the library a subject of that comparison. The other modules build models in code, count
//! allocations, and run trials that report missing test models.
#![deny(unsafe_code)]

#[cfg(feature = "gltf")]
pub mod adapter;
#[allow(unsafe_code)] // Allocators that pass every call on.
pub mod alloc;
pub mod baked;
pub mod capture;
pub mod carried;
pub mod chain;
pub mod compare;
#[cfg(feature = "gpu")]
pub mod device;
pub mod exercise;
#[cfg(feature = "gltf")]
pub mod gltf_file;
pub mod lively;
#[cfg(feature = "phx")]
pub mod made;
pub mod memory;
pub mod oracle;
#[cfg(feature = "gltf")]
pub mod raw_pose;
pub mod reference;
pub mod rigs;
pub mod ruler;
pub mod sample;
pub mod scaled;
#[cfg(feature = "phx")]
pub mod seal;
pub mod surface;
pub mod trials;
#[cfg(feature = "gltf")]
pub mod vrm;
