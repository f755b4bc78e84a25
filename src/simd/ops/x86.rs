//! The operations of AVX2 and AVX-512: rows in wider registers, and stores past the caches.

use super::{Lanes, RowRefs, StreamRow, Streaming, each};
use fearless_simd::{Avx2, Avx512, f32x4, f32x8, f32x16, prelude::*};

#[inline(always)]
fn fence() {
    // SAFETY: every x86-64 has SSE.
    unsafe { core::arch::x86_64::_mm_sfence() }
}

fearless_simd::kernel!(
    #[inline(always)]
    fn transpose512(
        token: Avx512,
        a: f32x16<Avx512>,
        b: f32x16<Avx512>,
        c: f32x16<Avx512>,
        d: f32x16<Avx512>,
    ) -> [f32x16<Avx512>; 4] {
        use core::arch::x86_64::*;
        let (a, b, c, d): (__m512, __m512, __m512, __m512) =
            (a.into(), b.into(), c.into(), d.into());
        let ab = _mm512_castps_pd(_mm512_unpacklo_ps(a, b));
        let ab_high = _mm512_castps_pd(_mm512_unpackhi_ps(a, b));
        let cd = _mm512_castps_pd(_mm512_unpacklo_ps(c, d));
        let cd_high = _mm512_castps_pd(_mm512_unpackhi_ps(c, d));
        [
            _mm512_castpd_ps(_mm512_unpacklo_pd(ab, cd)).simd_into(token),
            _mm512_castpd_ps(_mm512_unpackhi_pd(ab, cd)).simd_into(token),
            _mm512_castpd_ps(_mm512_unpacklo_pd(ab_high, cd_high)).simd_into(token),
            _mm512_castpd_ps(_mm512_unpackhi_pd(ab_high, cd_high)).simd_into(token),
        ]
    }
);

fearless_simd::kernel!(
    #[inline(always)]
    fn splat512(token: Avx512, a: f32x16<Avx512>) -> [f32x16<Avx512>; 4] {
        use core::arch::x86_64::*;
        let a: __m512 = a.into();
        [
            _mm512_permute_ps::<0x00>(a).simd_into(token),
            _mm512_permute_ps::<0x55>(a).simd_into(token),
            _mm512_permute_ps::<0xaa>(a).simd_into(token),
            _mm512_maskz_mov_ps(0x8888, a).simd_into(token),
        ]
    }
);

fearless_simd::kernel!(
    #[inline(always)]
    fn store_rows512(token: Avx512, m: f32x16<Avx512>, out: &mut [f32; 12]) {
        use core::arch::x86_64::*;
        let _ = token;
        // SAFETY: the mask selects twelve floats, and `out` has twelve.
        unsafe { _mm512_mask_storeu_ps(out.as_mut_ptr(), 0x0fff, m.into()) }
    }
);

fearless_simd::kernel!(
    #[inline(always)]
    fn stream512(token: Avx512, m: f32x16<Avx512>, out: &mut StreamRow) {
        use core::arch::x86_64::*;
        let m: __m512 = m.into();
        let p = out.0.as_mut_ptr();
        // SAFETY: a `StreamRow` has twelve floats and is aligned to 16 bytes, so each of three
        // stores of four floats is. `stream_rows` requires that nothing else accesses it before
        // the fence.
        unsafe {
            _mm_stream_ps(p, _mm512_castps512_ps128(m));
            _mm_stream_ps(p.add(4), _mm512_extractf32x4_ps::<1>(m));
            _mm_stream_ps(p.add(8), _mm512_extractf32x4_ps::<2>(m));
        }
    }
);

impl Lanes for Avx512 {
    /// Rows 0 to 2 and four floats of padding.
    type Matrix = f32x16<Self>;
    type Splats = [f32x16<Self>; 4];

    #[inline(always)]
    fn transpose(self, [a, b, c, d]: [Self::f32s; 4]) -> [Self::f32s; 4] {
        transpose512(self, a, b, c, d)
    }

    #[inline(always)]
    fn load_matrix(self, m: &[f32; 16]) -> Self::Matrix {
        f32x16::load_array_ref(self, m)
    }

    #[inline(always)]
    fn load_rows(self, m: &[f32; 12]) -> Self::Matrix {
        let two = f32x8::from_slice(self, &m[..8]);
        let last = f32x4::from_slice(self, &m[8..]);
        two.combine(last.combine(last))
    }

    #[inline(always)]
    fn store_matrix(self, m: Self::Matrix, out: &mut [f32; 16]) {
        m.store_array(out);
    }

    #[inline(always)]
    fn store_rows(self, m: Self::Matrix, out: &mut [f32; 12]) {
        store_rows512(self, m, out);
    }

    // SAFETY: the caller keeps others from `out` until the fence, as the trait requires.
    #[inline(always)]
    unsafe fn stream_rows(self, m: Self::Matrix, out: &mut StreamRow, _: Streaming<'_>) {
        stream512(self, m, out);
    }

    #[inline(always)]
    fn settle_streams(self) {
        fence();
    }

    #[inline(always)]
    fn splat_matrix(self, a: Self::Matrix) -> Self::Splats {
        splat512(self, a)
    }

    #[inline(always)]
    fn multiply(self, a: &Self::Splats, b: RowRefs<'_>) -> Self::Matrix {
        let b = each!(f32x16::splat(self, 0.0); 3; i => {
            f32x16::block_splat(f32x4::load_array_ref(self, b[i]))
        });
        a[0].mul_add(b[0], a[1].mul_add(b[1], a[2].mul_add(b[2], a[3])))
    }
}

fearless_simd::kernel!(
    #[inline(always)]
    fn transpose256(
        token: Avx2,
        a: f32x8<Avx2>,
        b: f32x8<Avx2>,
        c: f32x8<Avx2>,
        d: f32x8<Avx2>,
    ) -> [f32x8<Avx2>; 4] {
        use core::arch::x86_64::*;
        let (a, b, c, d): (__m256, __m256, __m256, __m256) =
            (a.into(), b.into(), c.into(), d.into());
        let ab = _mm256_castps_pd(_mm256_unpacklo_ps(a, b));
        let ab_high = _mm256_castps_pd(_mm256_unpackhi_ps(a, b));
        let cd = _mm256_castps_pd(_mm256_unpacklo_ps(c, d));
        let cd_high = _mm256_castps_pd(_mm256_unpackhi_ps(c, d));
        [
            _mm256_castpd_ps(_mm256_unpacklo_pd(ab, cd)).simd_into(token),
            _mm256_castpd_ps(_mm256_unpackhi_pd(ab, cd)).simd_into(token),
            _mm256_castpd_ps(_mm256_unpacklo_pd(ab_high, cd_high)).simd_into(token),
            _mm256_castpd_ps(_mm256_unpackhi_pd(ab_high, cd_high)).simd_into(token),
        ]
    }
);

fearless_simd::kernel!(
    #[inline(always)]
    fn splat256(token: Avx2, a: f32x8<Avx2>) -> [f32x8<Avx2>; 4] {
        use core::arch::x86_64::*;
        let a: __m256 = a.into();
        [
            _mm256_permute_ps::<0x00>(a).simd_into(token),
            _mm256_permute_ps::<0x55>(a).simd_into(token),
            _mm256_permute_ps::<0xaa>(a).simd_into(token),
            _mm256_blend_ps::<0x88>(_mm256_setzero_ps(), a).simd_into(token),
        ]
    }
);

fearless_simd::kernel!(
    #[inline(always)]
    fn splat128(token: Avx2, a: f32x4<Avx2>) -> [f32x4<Avx2>; 4] {
        use core::arch::x86_64::*;
        let a: __m128 = a.into();
        [
            _mm_permute_ps::<0x00>(a).simd_into(token),
            _mm_permute_ps::<0x55>(a).simd_into(token),
            _mm_permute_ps::<0xaa>(a).simd_into(token),
            _mm_blend_ps::<0x8>(_mm_setzero_ps(), a).simd_into(token),
        ]
    }
);

fearless_simd::kernel!(
    #[inline(always)]
    fn stream256(token: Avx2, a: f32x8<Avx2>, b: f32x4<Avx2>, out: &mut StreamRow) {
        use core::arch::x86_64::*;
        let (a, b): (__m256, __m128) = (a.into(), b.into());
        let p = out.0.as_mut_ptr();
        // SAFETY: a `StreamRow` has twelve floats and is aligned to 16 bytes, so each of three
        // stores of four floats is. `stream_rows` requires that nothing else accesses it before
        // the fence.
        unsafe {
            _mm_stream_ps(p, _mm256_castps256_ps128(a));
            _mm_stream_ps(p.add(4), _mm256_extractf128_ps::<1>(a));
            _mm_stream_ps(p.add(8), b);
        }
    }
);

impl Lanes for Avx2 {
    /// Rows 0 and 1, and row 2.
    type Matrix = (f32x8<Self>, f32x4<Self>);
    type Splats = ([f32x8<Self>; 4], [f32x4<Self>; 4]);

    #[inline(always)]
    fn transpose(self, [a, b, c, d]: [Self::f32s; 4]) -> [Self::f32s; 4] {
        transpose256(self, a, b, c, d)
    }

    #[inline(always)]
    fn load_matrix(self, m: &[f32; 16]) -> Self::Matrix {
        (f32x8::from_slice(self, &m[..8]), f32x4::from_slice(self, &m[8..12]))
    }

    #[inline(always)]
    fn load_rows(self, m: &[f32; 12]) -> Self::Matrix {
        (f32x8::from_slice(self, &m[..8]), f32x4::from_slice(self, &m[8..]))
    }

    #[inline(always)]
    fn store_matrix(self, m: Self::Matrix, out: &mut [f32; 16]) {
        m.0.store_slice(&mut out[..8]);
        m.1.store_slice(&mut out[8..12]);
    }

    #[inline(always)]
    fn store_rows(self, m: Self::Matrix, out: &mut [f32; 12]) {
        m.0.store_slice(&mut out[..8]);
        m.1.store_slice(&mut out[8..]);
    }

    // SAFETY: the caller keeps others from `out` until the fence, as the trait requires.
    #[inline(always)]
    unsafe fn stream_rows(self, m: Self::Matrix, out: &mut StreamRow, _: Streaming<'_>) {
        stream256(self, m.0, m.1, out);
    }

    #[inline(always)]
    fn settle_streams(self) {
        fence();
    }

    #[inline(always)]
    fn splat_matrix(self, a: Self::Matrix) -> Self::Splats {
        (splat256(self, a.0), splat128(self, a.1))
    }

    #[inline(always)]
    fn multiply(self, (a, c): &Self::Splats, b: RowRefs<'_>) -> Self::Matrix {
        let n = each!(f32x4::splat(self, 0.0); 3; i => f32x4::load_array_ref(self, b[i]));
        let b = each!(f32x8::splat(self, 0.0); 3; i => f32x8::block_splat(n[i]));
        (
            a[0].mul_add(b[0], a[1].mul_add(b[1], a[2].mul_add(b[2], a[3]))),
            c[0].mul_add(n[0], c[1].mul_add(n[1], c[2].mul_add(n[2], c[3]))),
        )
    }
}
