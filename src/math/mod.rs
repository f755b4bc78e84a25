//! Numbers: lanes, matrices, hashes. Knows nothing of skeletons or clips. Only the lane files name
//! an instruction set.

mod affine;
mod hash;
mod lanes;
#[allow(unsafe_code)] // Stores through pointers, each with its reason.
mod lanes_ops;
#[allow(unsafe_code)] // Indices that were checked when the steps were made.
mod lanes_walk;
#[allow(unsafe_code)] // Loads of integers, each with its reason.
mod lanes_wide;
mod rigid;
mod row;

pub use affine::Affine3x4;
pub use hash::Fnv1a;
pub(crate) use lanes::{Kernel, apart, dispatch};
pub use lanes::{SimdLevel, SimdLevelError};
pub(crate) use lanes_ops::{Lanes, each};
pub(crate) use lanes_walk::{Local, Rows, Step, Walk};
pub(crate) use lanes_wide::Widen;
pub use rigid::Rigid;
#[cfg(feature = "phx")]
pub(crate) use row::all_finite;
pub use row::{LANES, Row, blocks_for};
pub(crate) use row::{NOISE, NOISE_LENGTH, all_within, settle, within};
