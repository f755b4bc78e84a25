//! The jobs of a frame, for pipelines that a host arranges: sample, blend, local to model, palette, the palette between
//! two, skinning, bounds.
//!
//! Each job is a plain struct of borrowed inputs and outputs, whose `run` checks them first; bounds are functions. No job
//! allocates. Start with
//! [`SampleJob`]. [`Crowd`](crate::crowd::Crowd) and [`Mixer`](crate::playback::Mixer) do the same work without
//! them.

mod blend;
mod bounds;
mod channels;
mod check;
mod clip_bounds;
mod clip_speed;
mod lerp_palette;
mod local_to_model;
mod once;
mod palette;
#[cfg(test)]
mod random;
mod sample;
mod scalars;
mod skin;

pub use crate::error::JobError;
pub use blend::{BlendJob, LayerJob, MAX_ACTION_WEIGHT};
pub use bounds::palette_bounds;
pub use clip_bounds::clip_bounds;
pub(crate) use clip_bounds::{ClipBoundsScratch, clip_cost};
pub(crate) use clip_speed::clip_speed;
pub use lerp_palette::LerpPaletteJob;
pub use local_to_model::LocalToModelJob;
pub(crate) use once::{models_once, sample_once};
pub use palette::PaletteJob;
pub use sample::SampleJob;
pub(crate) use scalars::{ScalarBlend, ScalarScratch};
pub use skin::SkinningJob;
