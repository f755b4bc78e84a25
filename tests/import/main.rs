//! Import of glTF 2.0 and BVH: every feature and every refusal on files made here; links of the documentation.
#![cfg(feature = "gltf")]

mod animations;
mod broken_files;
mod bvh;
mod clip_names;
mod containers;
mod extensions;
mod json;
mod late;
mod limits;
mod links;
mod markers;
mod materials;
mod meshes;
#[cfg(feature = "meshopt")]
mod meshopt;
mod nodes;
mod pointers;
mod refusals;
mod scenes;
mod split;
mod travel;
mod unread;
mod up_axis;
