//! Basic types: SoA rows of 16 lanes, 3×4 matrices, rigid motions in f64, hashes.

mod affine;
pub(crate) mod channel;
mod hash;
mod hermite;
mod rigid;
mod row;
mod slerp;

pub use affine::Affine3x4;
pub(crate) use hash::Fnv1a;
pub(crate) use hermite::hermite;
pub use rigid::Rigid;
pub(crate) use row::blocks_for;
pub use row::{LANES, Row};
pub(crate) use row::{NOISE, NOISE_LENGTH, all_within, settle, within};
pub(crate) use slerp::{angle, slerp, slerp_value};
