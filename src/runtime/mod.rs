//! The jobs of a frame, one per file: sample, blend, local to model, palette, skinning, bounds. Each is a plain
//! struct of borrowed inputs and outputs with `validate` and `run`; none allocates.
//!
//! Crowds and mixers run `fused`, which does all of it for one instance by a plan. `chain` does the same job by
//! job, for instances with overrides and for questions about single joints.

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
