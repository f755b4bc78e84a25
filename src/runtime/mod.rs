//! The jobs of a frame, for pipelines of your own: sample, blend, local to model, palette, skinning, bounds.
//!
//! Each job is a plain struct of borrowed inputs and outputs with `validate` and `run`; none allocates. Start
//! with [`SampleJob`]. [`Crowd`](crate::crowd::Crowd) and [`Mixer`](crate::playback::Mixer) do all of it by
//! themselves.

mod blend;
mod bounds;
pub(crate) mod chain;
mod channels;
mod error;
pub(crate) mod fused;
mod local_to_model;
mod palette;
pub(crate) mod plan;
mod quat;
mod sample;
mod skin;
mod vector;

pub use blend::{AdditiveJob, BlendJob, LayerJob, MAX_ACTION_WEIGHT, REST_THRESHOLD};
pub use bounds::BoundsJob;
pub use error::JobError;
pub use local_to_model::{LocalMatrices, LocalToModelJob};
pub use palette::PaletteJob;
pub(crate) use quat::{NLERP_MAX_ANGLE, SLERP_MAX_ANGLE};
pub use sample::SampleJob;
pub use skin::SkinningJob;
