//! Stores past the caches: rows whose type proves their alignment, and the fence behind them.
//!
//! ```text
//! row (48 bytes)    | 16 bytes | 16 bytes | 16 bytes |     one store each; 16 divides 48, so every row
//!                                                          of a slice is aligned if the first is
//! ```

use super::lanes::{Kernel, SimdLevel, dispatch};
use super::ops::Lanes;
use crate::math::Affine3x4;
use bytemuck::{Pod, Zeroable};
use std::marker::PhantomData;

/// A palette row that is aligned to 16 bytes, which a store past the caches requires.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(16))]
pub(crate) struct StreamRow(pub [f32; 12]);

const _: () = assert!(size_of::<StreamRow>() == size_of::<Affine3x4>());

impl StreamRow {
    /// The rows as stream rows, if they are aligned.
    #[inline(always)]
    pub fn of(rows: &mut [Affine3x4]) -> Option<&mut [Self]> {
        bytemuck::try_cast_slice_mut(rows).ok()
    }
}

/// Makes streamed rows visible before the thread's next stores when it is dropped, on unwinding too.
#[derive(Debug)]
pub(crate) struct Fence {
    level: SimdLevel,
}

/// Permission to store past the caches while a [`Fence`] stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Streaming<'a>(PhantomData<&'a Fence>);

impl Fence {
    /// A fence behind the rows that a kernel of this level streams.
    pub fn new(level: SimdLevel) -> Self {
        Self { level }
    }

    /// Permission to stream for as long as the fence stands.
    pub fn streaming(&self) -> Streaming<'_> {
        Streaming(PhantomData)
    }
}

impl Drop for Fence {
    fn drop(&mut self) {
        dispatch(self.level, Settle);
    }
}

struct Settle;

impl Kernel for Settle {
    type Output = ();

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) {
        simd.settle_streams();
        #[cfg(test)]
        SETTLED.set(SETTLED.get() + 1);
    }
}

#[cfg(test)]
thread_local! {
    /// The number of times that this thread has settled its streams.
    pub(crate) static SETTLED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Row;
    use std::panic::{catch_unwind, resume_unwind};

    #[test]
    #[cfg_attr(panic = "abort", ignore = "panics end the program")]
    fn the_fence_runs_on_unwinding_too() {
        for level in SimdLevel::supported() {
            let before = SETTLED.get();
            let fence = Fence::new(level);
            assert_eq!(SETTLED.get(), before, "{level}");
            drop(fence);
            assert_eq!(SETTLED.get(), before + 1, "{level}");
            let cut = catch_unwind(|| {
                let _fence = Fence::new(level);
                // `panic!` would print a message that looks like a failure.
                resume_unwind(Box::new("as meant"));
            });
            assert!(cut.is_err());
            assert_eq!(SETTLED.get(), before + 2, "{level}");
        }
    }

    /// `Affine3x4` is aligned to 4 bytes: one address in four is aligned for streams.
    #[test]
    fn only_aligned_rows_are_stream_rows() {
        let mut memory = [Row::splat(0.0); 4];
        let floats = bytemuck::cast_slice_mut::<Row, f32>(&mut memory);
        for at in 0..12 {
            let rows = bytemuck::cast_slice_mut(&mut floats[at..at + 36]);
            let rows = StreamRow::of(rows).map(|rows| rows.len());
            assert_eq!(rows, (at % 4 == 0).then_some(3), "{at} floats in");
        }
    }
}
