//! Binding by name: `names.rs` finds which joints are the same, `path.rs` what lies between them, `tracks.rs` carries
//! keys over, `report.rs` says what was done. No guesses beyond names: humanoid maps are not for here.

mod binding;
mod error;
mod names;
mod path;
mod report;
mod sampled;
mod tracks;

pub use binding::{BindOptions, Binding, BoundClip, TranslationMode, bind};
pub use error::BindError;
pub use names::BindMatch;
pub(super) use names::{Numbered, scalar_pairs};
pub use report::{BindReport, BoundJoint, HipHeights, RestDifference};
