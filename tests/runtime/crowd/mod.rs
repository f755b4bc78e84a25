//! The crowd's behaviour, on a rig made in code.

mod batches;
mod bits;
mod bulk;
mod joints;
mod large;
mod layers;
mod listened;
mod mirrors;
mod parts;
mod playing;
mod poses;
mod refusals;
pub(crate) mod restore;
mod reuse;
mod rows;
mod settled;
mod stored;
mod timelines;
mod unwind;
mod walker;
mod workers;
