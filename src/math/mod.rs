//! Numbers: lanes, matrices, quaternions. Knows nothing of skeletons or clips. Only the lane files
//! name an instruction set.

mod affine;

pub use affine::Affine3x4;
