//! Import of glTF 2.0: every feature and every refusal on files made here.
#![cfg(feature = "gltf")]

mod animations;
mod containers;
mod evaluate;
mod file;
mod golden;
mod materials;
mod meshes;
#[cfg(feature = "meshopt")]
mod meshopt;
mod nodes;
mod refusals;
mod split;
mod up_axis;
