//! The crowd's behaviour, on a rig made in code.

mod bits;
mod layers;
mod mirrors;
mod model;
mod playing;
mod refusals;
mod restore;
mod reuse;
mod rows;
#[path = "../common/ruler.rs"]
mod ruler;
mod settled;
mod timelines;
mod unwind;
mod walker;
