//! The crowd's behaviour, on a rig made in code.

mod bits;
mod layers;
mod model;
mod playing;
mod refusals;
mod rows;
mod unwind;
