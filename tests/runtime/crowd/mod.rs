//! The crowd's behaviour, on a rig made in code.

mod bits;
mod layers;
mod mirrors;
mod playing;
mod refusals;
mod restore;
mod reuse;
mod rows;
mod settled;
mod timelines;
mod unwind;
mod walker;
