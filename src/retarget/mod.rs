//! Clips of one skeleton on another. [`Binding`] is for skeletons with the same joints by name; [`Retargeting`] is
//! for humanoids of different names, proportions and rest poses: a [`HumanoidMap`] says which joint is which bone of a
//! human body. [`mirror`] swaps the sides of a clip.
//!
//! These functions are for tools and loading: they may allocate and take seconds, and the result is an ordinary
//! [`Clip`](crate::clip::Clip) of the target. Clips of an equal skeleton do not need this module
//! ([`reorder_lanes`](crate::clip::reorder_lanes)).

mod bind;
mod bind_pose;
mod body;
mod error;
mod facing;
mod feet;
mod hips;
mod humanoid;
mod kept;
mod link;
mod looks;
mod loose;
mod motion;
mod options;
mod pose;
mod reference;
mod report;
mod retargeting;
mod sampler;
mod scalars;
mod setup;
mod space;
mod stance;
mod track;
mod work;

pub use bind::{BindOptions, BindReport, Binding, BoundClip, TranslationMode};
pub use error::RetargetError;
pub use humanoid::{HumanBone, HumanoidMap, MapOrigin};
pub use options::{Alignment, Ground, RetargetOptions};
pub use reference::Reference;
pub use report::{FeetReport, RetargetReport};
pub use retargeting::{Retargeting, mirror};
