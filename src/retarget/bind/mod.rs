//! Binding by name: `names.rs` finds which joints are the same, `path.rs` what lies between them, `tracks.rs` carries
//! keys over, `measured.rs` measures what came of them, `report.rs` says what was done. No guesses beyond names and equal
//! hierarchies: humanoid maps are not for here.

mod binding;
mod measured;
mod names;
mod path;
mod report;
mod sampled;
mod tracks;

pub use binding::{BindOptions, Binding, BoundClip, TranslationMode, bind};
pub use measured::BindDistance;
pub use names::BindMatch;
pub(super) use names::{Numbered, scalar_pairs, scalars_by_index};
pub use report::{BindReport, BoundJoint, HipHeights, RestDifference};
