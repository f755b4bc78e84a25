//! Clips of one character on another: between humanoids of different names, proportions and rest poses.
//!
//! Start with [`Retargeting`]. A [`HumanoidMap`] says which joint is which bone of a human body; [`mirror`] swaps
//! the sides of a clip. Everything here is offline: it may allocate and take seconds, and its result is an
//! ordinary [`Clip`](crate::clip::Clip).

mod body;
mod error;
mod feet;
mod hips;
mod humanoid;
mod link;
mod loose;
mod motion;
mod of_rig;
mod options;
mod pairs;
mod report;
mod retargeting;
mod scalars;
mod space;
mod stretch;
mod track;
mod work;

pub use error::RetargetError;
pub use feet::{FeetReport, FootPlanting};
pub use humanoid::{HUMAN_BONES, HumanBone, HumanoidMap, MapError, MapOrigin};
pub use options::{Alignment, Ground, Reference, RetargetOptions, ScaleMode};
pub use report::RetargetReport;
pub use retargeting::{Retargeted, Retargeting, mirror};
