//! An allocator that counts. A test binary names it itself:
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: phalanx_testkit::alloc::Counting = phalanx_testkit::alloc::Counting;
//! ```
//!
//! It keeps three figures: the most bytes that one thread had live ([`start`], [`peak`]), the bytes that the
//! process has live ([`live`]), and the allocations of the workers of one pool ([`pool`], [`allocations`]).
//!
//! Steady frames run inside one rayon `install`: a call from outside the pool goes through rayon's own
//! injection queue, which may allocate a block now and then. Only the pool's threads are counted, and only
//! while they work: the test harness keeps books on a thread of its own, and a thread that ends hands its
//! garbage to crossbeam in a block that it allocates. On a busy machine a pool's threads end late, while
//! the next pool's frames are counted. A thread's own entry in crossbeam's tables is there before it is
//! counted: looking for the first piece of work makes it.

use rayon::ThreadPool;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The allocator.
pub struct Counting;

/// Bytes that the process has live.
static LIVE: AtomicI64 = AtomicI64::new(0);
/// Allocations of counted threads.
static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static THREAD_LIVE: Cell<i64> = const { Cell::new(0) };
    static THREAD_PEAK: Cell<i64> = const { Cell::new(0) };
    static COUNTED: Cell<bool> = const { Cell::new(false) };
}

fn add(bytes: i64) {
    LIVE.fetch_add(bytes, Ordering::Relaxed);
    // A thread that ends has no counters any more; they are not read then.
    let _ = THREAD_LIVE.try_with(|live| {
        live.set(live.get() + bytes);
        let _ = THREAD_PEAK.try_with(|peak| peak.set(peak.get().max(live.get())));
    });
}

fn count() {
    if COUNTED.try_with(Cell::get).unwrap_or(false) {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        add(layout.size() as i64);
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        add(layout.size() as i64);
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        add(-(layout.size() as i64));
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // Old and new storage may both be there for a moment.
        add(size as i64);
        add(-(layout.size() as i64));
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Starts the count of [`peak`] for this thread.
pub fn start() {
    THREAD_LIVE.set(0);
    THREAD_PEAK.set(0);
}

/// The most bytes that this thread had live at once since [`start`].
pub fn peak() -> u64 {
    THREAD_PEAK.get().unsigned_abs()
}

/// Bytes that the process has allocated and not freed.
pub fn live() -> i64 {
    LIVE.load(Ordering::Relaxed)
}

/// Held by a test that reads [`live`]: one at a time, as the figure is of the whole process.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Allocations of all counted threads so far.
pub fn allocations() -> usize {
    ALLOCATIONS.load(Ordering::Relaxed)
}

/// A pool of workers that are counted until they end.
///
/// # Panics
/// If the system has no threads left.
pub fn pool(threads: usize) -> ThreadPool {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .exit_handler(|_| COUNTED.set(false))
        .build()
        .expect("the system has threads left");
    pool.broadcast(|_| COUNTED.set(true));
    pool
}
