//! Steady frames allocate nothing, counted by the global allocator.
//!
//! The frames run inside one rayon `install`: a call from outside the pool goes through rayon's own
//! injection queue, which may allocate a block now and then.

use phalanx::crowd::{BoneBuffer, standard_crowd};
use phalanx::offline::build_rig;
use phalanx::offline::raw::{
    Interpolation, RawChannel, RawClip, RawNode, RawScene, RawSkin, RawTrack,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn raw() -> RawScene {
    let clip = |duration: f32, power: i32| RawClip {
        duration,
        tracks: (0..40)
            .map(|node| RawTrack {
                node,
                channel: RawChannel::Translation,
                interpolation: Interpolation::Linear,
                times: (0..9)
                    .map(|k| duration * (k as f32 / 8.0).powi(power))
                    .collect(),
                values: (0..27).map(|v| (v * (node + 1) % 7) as f32).collect(),
            })
            .collect(),
        ..RawClip::default()
    };
    RawScene {
        nodes: (0..40)
            .map(|i: usize| RawNode {
                parent: i.checked_sub(1),
                ..RawNode::default()
            })
            .collect(),
        skins: vec![RawSkin {
            name: None,
            joints: (0..40).collect(),
            inverse_bind: vec![phalanx::math::Affine3x4::IDENTITY.to_cols_array(); 40],
        }],
        // The second has uneven keys, so that key hints are at work.
        clips: vec![clip(1.0, 1), clip(0.8, 2)],
        ..RawScene::default()
    }
}

#[test]
fn steady_frames_allocate_nothing() {
    for threads in [1, 4] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let counted = pool.install(|| {
            let rig = Arc::new(build_rig(raw(), &Default::default()).unwrap());
            let (mut crowd, _) = standard_crowd(rig, &[], 700).unwrap();
            let mut buffer = BoneBuffer::new();
            let mut frame = |crowd: &mut phalanx::crowd::Crowd| {
                crowd.advance(1.0 / 60.0).unwrap();
                crowd.evaluate(&mut buffer);
            };
            // The first frames make the buffers.
            (0..3).for_each(|_| frame(&mut crowd));
            let before = ALLOCATIONS.load(Ordering::Relaxed);
            (0..100).for_each(|_| frame(&mut crowd));
            let steady = ALLOCATIONS.load(Ordering::Relaxed) - before;
            // That the count can rise at all.
            crowd.snapshot();
            assert!(ALLOCATIONS.load(Ordering::Relaxed) > before + steady);
            steady
        });
        assert_eq!(counted, 0, "{threads} workers");
    }
}
