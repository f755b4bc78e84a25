//! One hash of the standard crowd's palettes: the same for any number of workers, in debug and in
//! release, on every machine of a SIMD level.

use phalanx::crowd::BoneBuffer;
use phalanx::import::mannequin;
use phalanx::simd::SimdLevel;
use phalanx_workload::standard_crowd;
use std::sync::Arc;

/// One for each level. That some are equal holds for this crowd and is not promised: groups of lanes differ
/// in width, and with them what is folded into constants.
const AVX512: u64 = 0x02c2_635b_5e44_615b;
const AVX2: u64 = 0x02c2_635b_5e44_615b;
const SSE42: u64 = 0x511c_add8_ff10_2723;
/// Without fused multiply-add.
const SSE2: u64 = 0x511c_add8_ff10_2723;
/// With it: the portable level of AArch64.
const NEON: u64 = 0x02c2_635b_5e44_615b;

pub fn the_standard_crowd_has_one_hash() {
    let rig = Arc::new(mannequin().unwrap());
    for level in SimdLevel::supported() {
        level.set().unwrap();
        let expected = match level {
            SimdLevel::Avx512 => AVX512,
            SimdLevel::Avx2 => AVX2,
            SimdLevel::Sse42 => SSE42,
            SimdLevel::Portable if cfg!(target_arch = "aarch64") => NEON,
            SimdLevel::Portable => SSE2,
        };
        for threads in [1, 2, 7, 32] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let hash = pool.install(|| {
                let (mut crowd, _) = standard_crowd(rig.clone(), &[], 500).unwrap();
                let mut buffer = BoneBuffer::new();
                for _ in 0..60 {
                    crowd.advance(1.0 / 60.0).unwrap();
                    crowd.evaluate(&mut buffer);
                }
                buffer.hash()
            });
            assert_eq!(hash, expected, "{level}, {threads} workers: {hash:#018x}");
        }
    }
}
