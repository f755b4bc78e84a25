//! One job per file: sample, blend, local to model, palette, skinning, bounds; and the chain, the
//! fused run of one instance that Mixer and Crowd share. No allocation, no panic, no logging below
//! this line. Knows `clip`, `skeleton`, `mesh`, `math` and `simd`; not `build`, not `format`.

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
