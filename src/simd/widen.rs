//! Conversion of 16-bit integers to lanes of f32.

use super::ops::each;
use fearless_simd::{f32x4, prelude::*};

/// Conversion of 16-bit integers to lanes.
pub(crate) trait Widen: Simd {
    /// Converts the first integers of a slice, one per lane of a register. The slice must hold at least that many.
    fn widen(self, integers: &[u16]) -> Self::f32s;

    /// Converts the `C` components of two keys, stored `stride` integers apart: one register of each.
    ///
    /// # Panics
    /// If the last register reaches past the end.
    #[inline(always)]
    fn widen_keys<const C: usize>(self, integers: &[u16], stride: u8) -> [[Self::f32s; C]; 2] {
        let (n, stride) = (Self::f32s::LEN, usize::from(stride));
        assert!(integers.len() >= (2 * C - 1) * stride + n);
        each!([Self::f32s::splat(self, 0.0); C]; 2; k => {
            each!(Self::f32s::splat(self, 0.0); C; c => {
                let at = (k * C + c) * stride;
                // SAFETY: the assertion has checked that the last of 2C registers is within the slice.
                self.widen(unsafe { integers.get_unchecked(at..at + n) })
            })
        })
    }
}

/// Plain code, where the level has no conversion of its own.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
macro_rules! plain {
    ($token:ty) => {
        impl Widen for $token {
            #[inline(always)]
            fn widen(self, integers: &[u16]) -> Self::f32s {
                let integers = &integers[..4];
                f32x4::load_array(self, each!(0.0; 4; i => f32::from(integers[i])))
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
plain!(fearless_simd::Sse2);
#[cfg(not(any(target_arch = "x86_64", all(target_arch = "wasm32", target_feature = "simd128"))))]
plain!(fearless_simd::Fallback);

/// A conversion by the level's own instructions.
#[cfg(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    all(target_arch = "wasm32", target_feature = "simd128")
))]
macro_rules! own {
    ($token:ty, $kernel:ident, $lanes:literal) => {
        impl Widen for $token {
            #[inline(always)]
            fn widen(self, integers: &[u16]) -> Self::f32s {
                let (first, _) = integers.split_at($lanes);
                let (first, _) = first.as_chunks::<$lanes>();
                $kernel(self, &first[0])
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::*;
    use core::arch::x86_64::*;
    use fearless_simd::{Avx2, Avx512, Sse4_2, f32x8, f32x16};

    fearless_simd::kernel!(
        #[inline(always)]
        fn widen512(token: Avx512, integers: &[u16; 16]) -> f32x16<Avx512> {
            // SAFETY: the array has the 32 bytes that are loaded, at any alignment.
            let k = unsafe { _mm256_loadu_si256(integers.as_ptr().cast()) };
            _mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(k)).simd_into(token)
        }
    );

    fearless_simd::kernel!(
        #[inline(always)]
        fn widen256(token: Avx2, integers: &[u16; 8]) -> f32x8<Avx2> {
            // SAFETY: the array has the 16 bytes that are loaded, at any alignment.
            let k = unsafe { _mm_loadu_si128(integers.as_ptr().cast()) };
            _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(k)).simd_into(token)
        }
    );

    fearless_simd::kernel!(
        #[inline(always)]
        fn widen128(token: Sse4_2, integers: &[u16; 4]) -> f32x4<Sse4_2> {
            // SAFETY: the array has the 8 bytes that are loaded, at any alignment.
            let k = unsafe { _mm_loadl_epi64(integers.as_ptr().cast()) };
            _mm_cvtepi32_ps(_mm_cvtepu16_epi32(k)).simd_into(token)
        }
    );

    own!(Avx512, widen512, 16);
    own!(Avx2, widen256, 8);
    own!(Sse4_2, widen128, 4);
}

#[cfg(target_arch = "aarch64")]
mod neon {
    use super::*;
    use core::arch::aarch64::*;
    use fearless_simd::Neon;

    fearless_simd::kernel!(
        #[inline(always)]
        fn widen_neon(token: Neon, integers: &[u16; 4]) -> f32x4<Neon> {
            // SAFETY: the array has the 8 bytes that are loaded, at its own alignment.
            let k = unsafe { vld1_u16(integers.as_ptr()) };
            vcvtq_f32_u32(vmovl_u16(k)).simd_into(token)
        }
    );

    own!(Neon, widen_neon, 4);
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod wasm {
    use super::*;
    use core::arch::wasm32::*;
    use fearless_simd::WasmSimd128;

    fearless_simd::kernel!(
        #[inline(always)]
        fn widen_wasm(token: WasmSimd128, integers: &[u16; 4]) -> f32x4<WasmSimd128> {
            // SAFETY: the array has the 8 bytes that are loaded, at any alignment.
            let k = unsafe { u32x4_load_extend_u16x4(integers.as_ptr()) };
            // Integers below 2^16 are the same signed, whose conversion is one instruction on all processors.
            f32x4_convert_i32x4(k).simd_into(token)
        }
    );

    own!(WasmSimd128, widen_wasm, 4);
}
