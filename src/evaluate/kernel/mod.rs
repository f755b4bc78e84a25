//! The arithmetic of a frame, generic over the vector type: decoding keys, blending, composing.
//!
//! `track` has the only decoder of keys, `blend` the only rules of blending. The public jobs apply them to rows of
//! poses, the run of an instance to the registers of its scratch.

pub(crate) mod blend;
mod compose;
pub(crate) mod decay;
pub(crate) mod quat;
pub(crate) mod track;

pub(crate) use compose::{compose, multiply};
pub(crate) use track::{Track, locate_all};
