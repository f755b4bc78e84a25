//! A counting allocator. A test binary installs it:
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: phalanx_testkit::alloc::Counting = phalanx_testkit::alloc::Counting;
//! ```
//!
//! It keeps three figures: the peak of live bytes of one thread ([`start`], [`peak`]), the live bytes of the
//! process ([`live`]), and the allocations of one pool's workers ([`pool`], [`allocations`]).
//!
//! Steady frames must run inside one rayon `install`: a call from outside the pool goes through rayon's
//! injection queue, which may allocate a block now and then. Only the pool's threads are counted, and only
//! until they end: the test harness allocates on its own thread, and a thread that ends hands its garbage to
//! crossbeam in a block that it allocates. On a busy machine a pool's threads may end while the next pool's
//! frames are counted. A thread's entry in crossbeam's tables exists before counting starts: the search for
//! the first piece of work creates it.

use rayon::ThreadPool;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The counting allocator.
pub struct Counting;

/// Live bytes of the process.
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
    // The counters of an ending thread are already gone, and no longer read.
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

// SAFETY: every call is forwarded unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        add(layout.size() as i64);
        // SAFETY: the caller upholds the contract; the arguments are unchanged.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        add(layout.size() as i64);
        // SAFETY: the caller upholds the contract; the arguments are unchanged.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        add(-(layout.size() as i64));
        // SAFETY: the caller upholds the contract; the arguments are unchanged.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // The old and the new block may exist at the same time.
        add(size as i64);
        add(-(layout.size() as i64));
        // SAFETY: the caller upholds the contract; the arguments are unchanged.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Resets this thread's counters for [`peak`].
pub fn start() {
    THREAD_LIVE.set(0);
    THREAD_PEAK.set(0);
}

/// Largest number of live bytes of this thread since [`start`].
pub fn peak() -> u64 {
    THREAD_PEAK.get().unsigned_abs()
}

/// Bytes that the process has allocated and not freed.
pub fn live() -> i64 {
    LIVE.load(Ordering::Relaxed)
}

/// A lock for tests that read [`live`], since the figure covers the whole process.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Number of allocations of all counted threads so far.
pub fn allocations() -> usize {
    ALLOCATIONS.load(Ordering::Relaxed)
}

/// A pool whose workers are counted until they end.
///
/// # Panics
/// If the system cannot start the threads.
pub fn pool(threads: usize) -> ThreadPool {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .exit_handler(|_| COUNTED.set(false))
        .build()
        .expect("threads can be started");
    pool.broadcast(|_| COUNTED.set(true));
    pool
}
