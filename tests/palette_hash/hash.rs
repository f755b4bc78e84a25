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
/// Without fused multiply-add. The same on every target.
const PORTABLE: u64 = 0x511c_add8_ff10_2723;
/// With it.
const NEON: u64 = 0x02c2_635b_5e44_615b;
/// Without.
const WASM128: u64 = 0x511c_add8_ff10_2723;

pub fn the_standard_crowd_has_one_hash() {
    let rig = Arc::new(mannequin().unwrap());
    for level in SimdLevel::supported() {
        level.set().unwrap();
        let expected = match level {
            SimdLevel::Avx512 => AVX512,
            SimdLevel::Avx2 => AVX2,
            SimdLevel::Sse42 => SSE42,
            SimdLevel::Portable => PORTABLE,
            SimdLevel::Neon => NEON,
            SimdLevel::Wasm128 => WASM128,
        };
        let run = || {
            let (mut crowd, _) = standard_crowd(rig.clone(), &[], 500).unwrap();
            let mut buffer = BoneBuffer::new();
            for _ in 0..60 {
                crowd.advance(1.0 / 60.0).unwrap();
                crowd.evaluate(&mut buffer);
            }
            buffer.hash()
        };
        let hash = run();
        assert_eq!(hash, expected, "{level}: {hash:#018x}");
        let threads: &[usize] = if cfg!(feature = "threads") { &[1, 2, 7, 32] } else { &[] };
        for &threads in threads {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let hash = pool.install(run);
            assert_eq!(hash, expected, "{level}, {threads} workers: {hash:#018x}");
        }
    }
}
