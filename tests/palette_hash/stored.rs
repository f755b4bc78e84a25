//! A crowd restored from bytes has the bits of the one that it was stored from, at every SIMD level.

use phalanx::crowd::{BoneBuffer, CrowdSnapshot};
use phalanx::simd::SimdLevel;
use phalanx_testkit::lively::{Dice, Lively};

pub fn stored_snapshots_go_on_at_every_level() {
    let current = SimdLevel::current();
    for level in SimdLevel::supported() {
        level.set().unwrap();
        let mut dice = Dice(2);
        let mut original = Lively::new();
        let mut buffers = [BoneBuffer::new(), BoneBuffer::new()];
        for round in 0..600 {
            original.round(&mut dice, &mut buffers[0]);
            if round % 60 != 31 {
                continue;
            }
            let bytes = original.crowd.snapshot().to_bytes();
            let mut other = Lively::new();
            let read = CrowdSnapshot::from_bytes(&bytes).unwrap();
            other.crowd.restore(&read).unwrap();
            let mut again = dice.clone();
            // After a restore, instances that are not scheduled have no rows to keep.
            buffers = [BoneBuffer::new(), BoneBuffer::new()];
            for frame in 0..30 {
                let one = original.round(&mut dice, &mut buffers[0]);
                let two = other.round(&mut again, &mut buffers[1]);
                assert_eq!(one, two, "{level:?} {round}: {frame}");
            }
        }
    }
    current.set().unwrap();
}
