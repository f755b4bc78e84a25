//! The allocator: the system's, or the caller's two callbacks for big blocks.

use super::Error;
use crate::types::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::c_void;
use std::ptr::{self, NonNull, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

/// Blocks from this size on go to the callbacks. Smaller ones cost one comparison.
const BIG: usize = 1 << 16;

/// Where big blocks come from. See `phx_allocator_set`. The callbacks make no call of this library.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_allocator {
    /// The size of this struct.
    pub size: usize,
    /// Passed to both calls.
    pub user: *mut c_void,
    /// `size` bytes at a multiple of `align`, a power of two; null if there is no memory. Any thread may call it.
    pub allocate:
        Option<unsafe extern "C" fn(user: *mut c_void, size: usize, align: usize) -> *mut c_void>,
    /// Frees what `allocate` returned for this size and alignment.
    pub free: Option<
        unsafe extern "C" fn(user: *mut c_void, block: *mut c_void, size: usize, align: usize),
    >,
}

super::extensible!(
    phx_allocator,
    Self { size: size_of::<Self>(), user: null_mut(), allocate: None, free: None }
);

/// Where big blocks come from, decided once: null until the first big block or the first call of [`Choice::set`], then
/// [`SYSTEM`] or leaked callbacks. So every block is freed where it came from.
static BIG_BLOCKS: AtomicPtr<phx_allocator> = AtomicPtr::new(null_mut());

/// Stands for the system's allocator.
fn system() -> *mut phx_allocator {
    NonNull::dangling().as_ptr()
}

/// Chooses by size where a block comes from.
pub struct Choice;

#[global_allocator]
static ALLOCATOR: Choice = Choice;

impl Choice {
    /// Sets the callbacks, once, before the first big block.
    pub fn set(callbacks: phx_allocator) -> Result<(), Error> {
        let boxed = Box::into_raw(Box::new(callbacks));
        let Err(decided) = Self::decide(boxed) else { return Ok(()) };
        // SAFETY: it was not stored, so nobody else has it.
        drop(unsafe { Box::from_raw(boxed) });
        let why = if decided == system() {
            format!(
                "a block of {BIG} bytes or more came from the system's allocator already: set callbacks first of all"
            )
        } else {
            "the allocator is set already".into()
        };
        Err(Error::new(PHX_ERROR_STATE, why))
    }

    fn decide(choice: *mut phx_allocator) -> Result<*mut phx_allocator, *mut phx_allocator> {
        BIG_BLOCKS.compare_exchange(null_mut(), choice, Ordering::AcqRel, Ordering::Acquire)
    }

    /// The callbacks for big blocks; `None` for the system's allocator, which this decides if nothing has.
    fn callbacks() -> Option<&'static phx_allocator> {
        let mut chosen = BIG_BLOCKS.load(Ordering::Acquire);
        if chosen.is_null() {
            chosen = Self::decide(system()).map_or_else(|decided| decided, |_| system());
        }
        // SAFETY: other than the mark they were leaked by `set`, and nothing changes them.
        (chosen != system()).then(|| unsafe { &*chosen })
    }

    /// A block of [`BIG`] bytes or more.
    ///
    /// # Safety
    /// The caller's promise of `GlobalAlloc`.
    #[cold]
    unsafe fn big(layout: Layout, zeroed: bool) -> *mut u8 {
        let Some(phx_allocator { user, allocate: Some(allocate), .. }) = Self::callbacks() else {
            // SAFETY: the caller's promise of `GlobalAlloc`.
            return unsafe {
                if zeroed { System.alloc_zeroed(layout) } else { System.alloc(layout) }
            };
        };
        // SAFETY: the host's promise of its callback.
        let block = unsafe { allocate(*user, layout.size(), layout.align()) }.cast::<u8>();
        if zeroed && !block.is_null() {
            // SAFETY: the callback returned `size` bytes.
            unsafe { ptr::write_bytes(block, 0, layout.size()) };
        }
        block
    }
}

// SAFETY: every block is freed where it came from: its size says so, as one decision holds for all big blocks.
unsafe impl GlobalAlloc for Choice {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        unsafe { if layout.size() < BIG { System.alloc(layout) } else { Self::big(layout, false) } }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        unsafe {
            if layout.size() < BIG { System.alloc_zeroed(layout) } else { Self::big(layout, true) }
        }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if layout.size() >= BIG
            && let Some(phx_allocator { user, free: Some(free), .. }) = Self::callbacks()
        {
            // SAFETY: the block is of `allocate`, with this layout.
            return unsafe { free(*user, block.cast(), layout.size(), layout.align()) };
        }
        // SAFETY: the caller's promise; the block is the system's.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let (was, is) = (layout.size() >= BIG, size >= BIG);
        if !was && !is || Self::callbacks().is_none() {
            // SAFETY: the caller's promise; the block is the system's, and so is the new one.
            return unsafe { System.realloc(block, layout, size) };
        }
        // SAFETY: the caller promises that the new size is one; the two blocks do not overlap.
        unsafe {
            let new = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !new.is_null() {
                ptr::copy_nonoverlapping(block, new, layout.size().min(size));
                self.dealloc(block, layout);
            }
            new
        }
    }
}
