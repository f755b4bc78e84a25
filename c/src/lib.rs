//! Phalanx behind a C ABI: `include/phalanx.h`, and `include/phalanx.hpp` for C++17.
//!
//! Every entry checks its handles, ids, sizes and text, catches panics and returns a status; `border.rs` has the rules.
//! A group of functions has a file of its own. `docs/c.md` is the guide.

// Names are C's.
#![allow(non_camel_case_types)]
// What pointers must be is the same for all functions: border.rs says it once, and so does the header.
#![allow(clippy::missing_safety_doc)]

mod border;
mod convert;

// The groups, in the header's order.

// Numbers, text, ids.
mod types;

// Version, errors, defaults of structs, instruction sets, memory and threads.
mod base;

// Skeletons, skins, what rigs are made from.
mod rig;

// What is drawn.
mod mesh;

// Files and bytes.
mod import;

// .phx files, clip by clip.
mod library;

// Clips of other clips, of arrays, of other characters.
mod clip;

// Rigs, clips and characters of a crowd, time, events, snapshots.
mod crowd;

// One character.
mod instance;

// Many characters.
mod instances;

// What lies between clips and palettes.
mod modifiers;

// Palettes.
mod frame;

// Large crowds.
mod tiers;

// For tests, benchmarks and fuzz targets in Rust; callers in C have the header.
pub use self::{
    base::*, border::phx_allocator, clip::*, crowd::*, frame::*, import::*, instance::*,
    instances::*, library::*, mesh::*, modifiers::*, rig::*, tiers::*, types::*,
};
