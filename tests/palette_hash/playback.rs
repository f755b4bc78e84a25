//! Playback has the same bits on every target and at every SIMD level, so that machines of different kinds may roll back
//! together. What is shown differs in the last bits.

use phalanx::crowd::BoneBuffer;
use phalanx::simd::SimdLevel;
use phalanx_testkit::lively::{Dice, Lively};
use std::hash::{DefaultHasher, Hasher};

/// Of snapshots and events of 10,000 rounds.
const HASH: u64 = 0x2bfe_0256_dcdd_6394;

pub fn playback_has_one_hash_on_all_targets() {
    let current = SimdLevel::current();
    // Ten thousand rounds take long without optimisation: all levels in release builds alone.
    for level in SimdLevel::supported().filter(|l| !cfg!(debug_assertions) || *l == current) {
        level.set().unwrap();
        let (mut lively, mut dice) = (Lively::new(), Dice(3));
        let mut buffer = BoneBuffer::new();
        let mut hash = DefaultHasher::new();
        for round in 0..10_000 {
            let (_, events) = lively.round(&mut dice, &mut buffer);
            hash.write_u64(events);
            if round % 100 == 99 {
                hash.write(&lively.crowd.snapshot().to_bytes());
            }
        }
        let hash = hash.finish();
        assert_eq!(hash, HASH, "{level}: {hash:#018x}");
    }
    current.set().unwrap();
}
