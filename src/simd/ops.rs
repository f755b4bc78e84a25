//! The shuffles that `fearless_simd` lacks, per level: 4×4 transposes within each 128 bits, and
//! products of 3×4 matrices held in registers row by row.
//!
//! ```text
//! matrix        | row x | row y | row z | padding |     4 floats each
//! 128 bits      one register per row, no padding
//! AVX2          |     f32x8     | f32x4 |               two registers
//! AVX-512       |             f32x16              |     one register
//! ```

use super::stream::{StreamRow, Streaming};
use super::widen::Widen;
use fearless_simd::{Simd, f32x4, prelude::*};

#[cfg(target_arch = "x86_64")]
mod x86;

/// An array of `n` values of an expression in its index.
///
/// Use it in kernels instead of `array::from_fn` and `array::map`: their closures are not always
/// inlined into the function that enables the instruction set, and then every vector operation is
/// a call (ten times slower where it was observed, at SSE4.2).
macro_rules! each {
    ($zero:expr; $n:expr; $i:ident => $value:expr) => {{
        let mut out = [$zero; $n];
        let mut $i = 0;
        while $i < $n {
            out[$i] = $value;
            $i += 1;
        }
        out
    }};
}
pub(crate) use each;

/// Prefetches the cache lines of a slice that is read soon.
#[inline(always)]
pub(crate) fn prefetch<T>(of: &[T]) {
    const LINE: usize = 64;
    let first = of.as_ptr().cast::<i8>();
    let mut at = 0;
    while at < size_of_val(of) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the address is within the slice, and a prefetch changes nothing that a program can see. Every
        // x86-64 has the instruction.
        unsafe {
            use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(first.add(at));
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = first;
        at += LINE;
    }
}

/// The three rows of the right-hand matrix of a product, in memory.
pub(crate) type RowRefs<'a> = [&'a [f32; 4]; 3];

/// Operations that kernels need beyond [`Simd`].
pub(crate) trait Lanes: Simd + Widen {
    /// A 3×4 matrix in registers.
    type Matrix: Copy;
    /// The left-hand matrix of a product, prepared once for many products.
    type Splats: Copy;
    /// Transposes the 4×4 matrices that four vectors hold in each 128 bits of them.
    fn transpose(self, v: [Self::f32s; 4]) -> [Self::f32s; 4];
    /// Loads three rows; the fourth is padding.
    fn load_matrix(self, m: &[f32; 16]) -> Self::Matrix;
    /// Loads the twelve elements.
    fn load_rows(self, m: &[f32; 12]) -> Self::Matrix;
    /// Stores rows; the padding is unspecified.
    fn store_matrix(self, m: Self::Matrix, out: &mut [f32; 16]);
    /// Stores the twelve elements.
    fn store_rows(self, m: Self::Matrix, out: &mut [f32; 12]);
    /// Stores the twelve elements past the caches, if the level can. The type of `out` proves its
    /// alignment; `_streaming` proves that a fence follows.
    ///
    /// # Safety
    /// Until that fence is dropped, nothing may read or write `out` but this method.
    #[inline(always)]
    unsafe fn stream_rows(self, m: Self::Matrix, out: &mut StreamRow, _streaming: Streaming<'_>) {
        self.store_rows(m, &mut out.0);
    }
    /// Makes streamed stores visible before the thread's next stores: [`Fence`](super::Fence) calls it.
    #[inline(always)]
    fn settle_streams(self) {}
    /// Prepares a matrix for [`Lanes::multiply`]: broadcasts the elements of every row.
    fn splat_matrix(self, a: Self::Matrix) -> Self::Splats;
    /// `a × b`: row = a0·B0 + a1·B1 + a2·B2 + (0, 0, 0, a3).
    fn multiply(self, a: &Self::Splats, b: RowRefs<'_>) -> Self::Matrix;
}

/// The levels without wider shuffles: rows in three 128-bit registers.
macro_rules! narrow {
    ($token:ty) => {
        impl Lanes for $token {
            type Matrix = [f32x4<Self>; 3];
            type Splats = Self::Matrix;

            #[inline(always)]
            fn transpose(self, v: [Self::f32s; 4]) -> [Self::f32s; 4] {
                let mut out = [0.0; 16];
                self.store_four_interleaved_f32x4(v, &mut out);
                let (rows, _) = out.as_chunks::<4>();
                each!(f32x4::splat(self, 0.0); 4; i => f32x4::load_array_ref(self, &rows[i]))
            }

            #[inline(always)]
            fn load_matrix(self, m: &[f32; 16]) -> Self::Matrix {
                let (rows, _) = m.as_chunks::<4>();
                each!(f32x4::splat(self, 0.0); 3; i => f32x4::load_array_ref(self, &rows[i]))
            }

            #[inline(always)]
            fn load_rows(self, m: &[f32; 12]) -> Self::Matrix {
                let (rows, _) = m.as_chunks::<4>();
                each!(f32x4::splat(self, 0.0); 3; i => f32x4::load_array_ref(self, &rows[i]))
            }

            #[inline(always)]
            fn store_matrix(self, m: Self::Matrix, out: &mut [f32; 16]) {
                let (rows, _) = out.as_chunks_mut::<4>();
                for i in 0..3 {
                    m[i].store_array(&mut rows[i]);
                }
            }

            #[inline(always)]
            fn store_rows(self, m: Self::Matrix, out: &mut [f32; 12]) {
                let (rows, _) = out.as_chunks_mut::<4>();
                for i in 0..3 {
                    m[i].store_array(&mut rows[i]);
                }
            }

            #[inline(always)]
            fn splat_matrix(self, a: Self::Matrix) -> Self::Splats {
                a
            }

            #[inline(always)]
            fn multiply(self, a: &Self::Splats, b: RowRefs<'_>) -> Self::Matrix {
                let b = each!(f32x4::splat(self, 0.0); 3; i => f32x4::load_array_ref(self, b[i]));
                each!(f32x4::splat(self, 0.0); 3; i => {
                    let [a0, a1, a2, a3] = a[i].to_array();
                    let last = f32x4::load_array(self, [0.0, 0.0, 0.0, a3]);
                    let sum = f32x4::splat(self, a2).mul_add(b[2], last);
                    let sum = f32x4::splat(self, a1).mul_add(b[1], sum);
                    f32x4::splat(self, a0).mul_add(b[0], sum)
                })
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
narrow!(fearless_simd::Sse2);
#[cfg(target_arch = "x86_64")]
narrow!(fearless_simd::Sse4_2);
#[cfg(target_arch = "aarch64")]
narrow!(fearless_simd::Neon);
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
narrow!(fearless_simd::WasmSimd128);
#[cfg(not(any(target_arch = "x86_64", all(target_arch = "wasm32", target_feature = "simd128"))))]
narrow!(fearless_simd::Fallback);
