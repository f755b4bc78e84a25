//! The living crowd: what a frame costs when characters play many clips, change what they play, carry swords,
//! are read joint by joint, or are of many rigs.
//!
//! A [`Case`] says what is measured and makes its [`Scene`]; [`groups`] lists the cases that are sampled in
//! turn, with the aims between them; [`measure()`] times a group. Everything is made from one rig by fixed
//! seeds, so that two runs evaluate the same frames.

mod attachments;
mod case;
mod churn;
mod crowds;
mod cubic;
mod groups;
mod library;
mod long_clips;
mod many;
mod measure;
mod models;
mod posed;
mod poses;
mod scene;
mod springs;

pub use attachments::Swords;
pub use case::{Case, Kind};
pub use churn::{CHURN_SHARE, Churn, ChurnFade, FADE_SECONDS};
pub use crowds::{Overridden, Playing, WatchedJoints};
pub use cubic::cubic_clips;
pub use groups::{Aim, Group, Measured, Sizes, groups};
pub use library::library;
pub use long_clips::{LONG_RATE, long_clips};
pub use many::{ManyRigs, Mixers};
pub use measure::{Figure, MeasureOptions, REPLAYS, WARM_UP, measure};
pub use models::Models;
pub use poses::ClipSource;
pub use scene::{FRAME, FrameTimes, LiveError, Scene, find_joint};
#[cfg(all(test, feature = "gltf"))]
mod tests;
