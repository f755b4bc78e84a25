//! What tests of steady frames share: an allocator that counts, worker pools whose threads it counts,
//! and a rig that moves in every joint.
//!
//! The frames run inside one rayon `install`: a call from outside the pool goes through rayon's own
//! injection queue, which may allocate a block now and then. Only the pool's threads are counted, and only
//! while they work: the test harness keeps books on a thread of its own, and a thread that ends hands its
//! garbage to crossbeam in a block that it allocates. On a busy machine a pool's threads end late, while
//! the next pool's frames are counted. A thread's own entry in crossbeam's tables is there before it is
//! counted: looking for the first piece of work makes it.

use phalanx::math::Affine3x4;
use phalanx::offline::raw::{
    Interpolation, RawChannel, RawClip, RawNode, RawScene, RawSkin, RawTrack,
};
use rayon::ThreadPool;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static COUNTED: Cell<bool> = const { Cell::new(false) };
}

fn count() {
    // A thread that ends has no flag any more.
    if COUNTED.try_with(Cell::get).unwrap_or(false) {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: every call is passed on to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of all counted threads so far.
pub fn allocations() -> usize {
    ALLOCATIONS.load(Ordering::Relaxed)
}

/// A pool of workers that are counted until they end.
pub fn pool(threads: usize) -> ThreadPool {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .exit_handler(|_| COUNTED.set(false))
        .build()
        .unwrap();
    pool.broadcast(|_| COUNTED.set(true));
    pool
}

/// Forty joints in a row, with two clips that move them all.
pub fn raw() -> RawScene {
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
            inverse_bind: vec![Affine3x4::IDENTITY.to_cols_array(); 40],
        }],
        // The second has uneven keys, so that key hints are at work.
        clips: vec![clip(1.0, 1), clip(0.8, 2)],
        ..RawScene::default()
    }
}
