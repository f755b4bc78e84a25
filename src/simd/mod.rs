//! SIMD levels: which instruction set the kernels run on.
//!
//! [`SimdLevel`] is chosen at run time, once per process; [`SimdLevel::set`] pins it.

mod lanes;
#[allow(unsafe_code)] // Stores through pointers, each with its reason.
mod ops;
mod stream;
#[allow(unsafe_code)] // Indices that were checked when the steps were made.
mod walk;
#[allow(unsafe_code)] // Loads of integers, each with its reason.
mod widen;

pub(crate) use lanes::{
    Kernel, PORTABLE_WIDTH, dispatch, dispatch_on, dispatch_portable, out_of_line,
};
pub use lanes::{SimdLevel, SimdLevelError};
pub(crate) use ops::{Lanes, each, prefetch};
#[cfg(test)]
pub(crate) use stream::SETTLED;
pub(crate) use stream::{Fence, Streaming};
pub(crate) use walk::{Local, Rows, Step, Walk, WalkConstants};
