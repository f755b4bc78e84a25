//! The crowd's behaviour, on a rig made in code.

mod bits;
mod layers;
mod model;
mod playing;
mod refusals;
mod restore;
mod reuse;
mod rows;
mod unwind;
#[path = "../common/ruler.rs"]
mod ruler;
mod settled;
mod timelines;
mod walker;
