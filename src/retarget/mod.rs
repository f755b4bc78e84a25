//! Clips of one skeleton on another. [`bind`](fn@bind) is for skeletons with the same joints by name.
//!
//! Offline: the result is an ordinary clip of the target, which plays as every other does. Nothing of the runtime
//! knows this module; clips of an equal skeleton need none of it ([`relane`](crate::clip::relane)).

mod bind;

pub use bind::{
    BindError, BindMatch, BindOptions, BindReport, Binding, BoundClip, BoundJoint, HipHeights,
    RestDifference, TranslationMode, bind,
};
