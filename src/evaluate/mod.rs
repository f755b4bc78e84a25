//! The evaluation of one instance, from the clips that it plays to its palette rows, and the tables that it reads.
//!
//! ```text
//! instance, mix, scratch   the run of one instance: chooses tables, samples, blends, composes, walks
//! tables/                  what a run reads, made once per rig and per clip and shared by all crowds and mixers
//! kernel/                  arithmetic, generic over the vector type: decodes keys, blends, composes; reads clips alone
//! ```
//!
//! Imports go from the upper to the lower of these. Rules of playing do not belong here: no time, no fades, no pools.
//! A run does not allocate, panic or log; what would have to allocate is made in `tables`, before the frame.

mod instance;
mod kernel;
mod mix;
mod scratch;
mod tables;

pub(crate) use instance::Instance;
pub(crate) use kernel::{blend, compose, locate_all, multiply, quat, track};
pub(crate) use scratch::{
    ActionInput, LayerInput, LayerMask, LocalOverride, Needs, Scratch, Sources,
};
pub(crate) use tables::{
    CHANNELS, ClipProgram, Programs, RigProgram, UnitSet, group_floats, scratch_row,
};
