//! Numbers: lanes, matrices, hashes. Knows nothing of skeletons or clips. Only the lane files name
//! an instruction set.

mod affine;
mod hash;
mod lanes;
mod lanes_ops;
mod row;

pub use affine::Affine3x4;
pub use hash::Fnv1a;
pub(crate) use lanes::{Kernel, dispatch};
pub use lanes::{SimdLevel, SimdLevelError};
pub(crate) use lanes_ops::{Lanes, each};
pub use row::{LANES, Row, blocks_for};
