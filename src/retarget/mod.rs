//! Clips of one skeleton on another. [`bind`](fn@bind) is for skeletons with the same joints by name; [`Retargeting`] is
//! for humanoids of different names, proportions and rest poses: a [`HumanoidMap`] says which joint is which bone of a
//! human body. [`mirror`] swaps the sides of a clip.
//!
//! These functions are for tools and loading: they may allocate and take seconds, and the result is an ordinary
//! [`Clip`](crate::clip::Clip) of the target. Clips of an equal skeleton do not need this module
//! ([`reorder_lanes`](crate::clip::reorder_lanes)).

mod bind;
mod bind_pose;
mod body;
mod closeness;
mod error;
mod facing;
mod feet;
mod hips;
mod humanoid;
mod link;
mod listed;
mod looks;
mod loose;
mod motion;
mod of_rig;
mod options;
mod pairs;
mod reference;
mod report;
mod retargeting;
mod sampler;
mod scalars;
mod setup;
mod shift;
mod sole;
mod space;
mod stance;
mod stretch;
mod track;
mod tracks;
mod work;

pub use bind::{
    BindMatch, BindOptions, BindReport, Binding, BoundClip, BoundJoint, HipHeights, RestDifference,
    TranslationMode, bind,
};
pub use error::RetargetError;
pub use feet::{FeetReport, FootPlanting};
pub use humanoid::{HumanBone, HumanoidMap, MapOrigin};
pub use options::{Alignment, Ground, RetargetOptions};
pub use reference::{Reference, ReferenceOrigin};
pub use report::RetargetReport;
pub use retargeting::{Retargeted, Retargeting, mirror};
