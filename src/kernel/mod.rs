//! The arithmetic of a frame, generic over the vector type: sampling, blending, composing, and the run of one
//! instance from clips to palette rows. No rules of playing, no allocation, no panic, no logging.
//!
//! `track` has the only decoder of keys, `blend` the only rules of blending. The public jobs apply them to rows of
//! poses, the run of an instance to the registers of its scratch.

pub(crate) mod blend;
mod compose;
mod instance;
mod mix;
pub(crate) mod quat;
mod scratch;
pub(crate) mod track;

pub(crate) use compose::compose;
pub(crate) use instance::{Instance, locate_all, multiply};
pub(crate) use scratch::{
    ActionInput, LayerInput, LayerMask, LocalOverride, Needs, Scratch, Sources,
};
pub(crate) use track::Track;
