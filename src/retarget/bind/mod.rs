//! Binding by name: `names.rs` finds the same joints, `path.rs` the joints between them, `rests.rs` compares the rest poses,
//! `tracks.rs` converts keys, `measured.rs` measures the result, `report.rs` describes it. Nothing is guessed beyond names
//! and equal hierarchies; humanoid maps are not used here.

mod binding;
mod locals;
mod measured;
mod names;
mod path;
mod report;
mod rests;
mod shown;
mod tracks;

pub use binding::{BindOptions, Binding, BoundClip, TranslationMode};
pub(super) use names::Numbered;
pub use report::BindReport;
