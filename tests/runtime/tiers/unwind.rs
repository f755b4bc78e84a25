//! A frame with tiers that a caller's memory cuts short: the next one begins anew, whatever was done.

use super::{DT, chains, every, shared};
use phalanx::crowd::{BoneBuffer, Crowd, PaletteMemory, RowLayout, Tiers};
use phalanx::math::Affine3x4;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Memory that takes so many palettes, and panics then.
struct Takes<'a>(&'a AtomicUsize);

impl PaletteMemory for Takes<'_> {
    fn split_at(self, _: usize) -> (Self, Self) {
        (Takes(self.0), Takes(self.0))
    }

    fn write(&mut self, _: usize, _: &[Affine3x4]) {
        let left = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
        if left.is_err() {
            // Not by `panic!`, which prints a message that looks like a failure.
            resume_unwind(Box::new("as meant"));
        }
    }
}

fn layout() -> RowLayout {
    RowLayout { align: 1, compact: false, holds: None }
}

/// A crowd after some frames, and then one that is cut short after so many palettes, by threads of the host or not.
fn cut(tiers: &Tiers, taken: usize, parts: Option<usize>) -> Crowd {
    let (mut crowd, ..) = chains(200);
    crowd.set_tiers(Some(tiers.clone())).unwrap();
    let mut bones = BoneBuffer::new();
    for _ in 0..5 {
        crowd.advance(DT).unwrap();
        crowd.evaluate(&mut bones);
    }
    crowd.advance(DT).unwrap();
    let left = AtomicUsize::new(taken);
    let mut schedule = crowd.schedule(&layout());
    let unwound = catch_unwind(AssertUnwindSafe(|| match parts {
        None => {
            schedule.write(Takes(&left));
        }
        Some(parts) => schedule.parts(parts, Takes(&left)).for_each(|part| part()),
    }));
    assert!(unwound.is_err());
    crowd
}

/// Hashes of the next frames.
fn later(crowd: &mut Crowd) -> Vec<u64> {
    let mut bones = BoneBuffer::new();
    let mut hashes = Vec::new();
    for _ in 0..20 {
        crowd.advance(DT).unwrap();
        crowd.evaluate(&mut bones);
        hashes.push(bones.hash());
    }
    hashes
}

#[test]
fn after_a_panic_nothing_depends_on_which_cells_were_done() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        for tiers in [every(4, true), every(2, false), shared(8)] {
            // As after `set_tiers`.
            let mut anew = cut(&tiers, 3, None);
            anew.set_tiers(Some(tiers.clone())).unwrap();
            let wanted = later(&mut anew);
            for taken in [0, 1, 3, 5] {
                for parts in [None, Some(1), Some(3)] {
                    let mut crowd = cut(&tiers, taken, parts);
                    let hashes = later(&mut crowd);
                    assert!(hashes == wanted, "{tiers:?}: {taken}, {parts:?}");
                }
            }
        }
    });
}
