//! A crowd restored from bytes plays as the one that it was stored from, at every SIMD level; without tiers it has the same
//! rows.

use phalanx::crowd::{BoneBuffer, CrowdSnapshot};
use phalanx::simd::SimdLevel;
use phalanx_testkit::lively::{Dice, Lively};

pub fn stored_snapshots_go_on_at_every_level() {
    let current = SimdLevel::current();
    for level in SimdLevel::supported() {
        level.set().unwrap();
        for tiers in [false, true] {
            go_on(level, tiers);
        }
    }
    current.set().unwrap();
}

fn go_on(level: SimdLevel, tiers: bool) {
    // With tiers what is shown depends on the frames before; what plays and what was passed does not.
    let frame = |lively: &mut Lively, dice: &mut Dice, buffer: &mut BoneBuffer| {
        lively.heights(dice);
        let (rows, events) = lively.round(dice, buffer);
        (if tiers { 0 } else { rows }, events)
    };
    let mut dice = Dice(2);
    let mut original = Lively::new();
    if tiers {
        original.rank();
    }
    let mut buffers = [BoneBuffer::new(), BoneBuffer::new()];
    for round in 0..600 {
        frame(&mut original, &mut dice, &mut buffers[0]);
        if round % 60 != 31 {
            continue;
        }
        let bytes = original.crowd.snapshot().to_bytes();
        let mut other = Lively::new();
        if tiers {
            other.rank();
        }
        let read = CrowdSnapshot::from_bytes(&bytes).unwrap();
        other.crowd.restore(&read).unwrap();
        assert!(other.crowd.snapshot().to_bytes() == bytes);
        let mut again = dice.clone();
        // After a restore, instances that are not scheduled have no rows to keep.
        buffers = [BoneBuffer::new(), BoneBuffer::new()];
        for n in 0..30 {
            let one = frame(&mut original, &mut dice, &mut buffers[0]);
            let two = frame(&mut other, &mut again, &mut buffers[1]);
            assert_eq!(one, two, "{level:?} {tiers} {round}: {n}");
        }
        let ends = [&original, &other].map(|lively| lively.crowd.snapshot().to_bytes());
        assert!(ends[0] == ends[1], "{level:?} {tiers} {round}");
    }
}
