//! Handles: blocks on the heap that know their kind, whether they were freed, and who uses them.
//!
//! ```text
//! block   | kind 4 | users 4 | next freed block 8 | value: a pointer, 8; null once it is freed |
//! ```
//!
//! A freed handle's value goes; its block of some 24 bytes stays for good, in the list of freed blocks, so that a later
//! use of the handle reads that it was freed. Blocks of frames serve again after 64 others.

use super::Error;
use crate::types::*;
use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The kind of a block whose value is gone.
const FREED: u32 = 0x6565_7266;

/// Users of a block that one caller has for itself.
const ALONE: i32 = -1;

#[repr(C)]
struct Header {
    kind: AtomicU32,
    /// Callers that read; [`ALONE`] while one may write.
    users: AtomicI32,
    /// The block that was freed before this one.
    next: AtomicPtr<Header>,
}

#[repr(C)]
struct Block<T> {
    header: Header,
    value: UnsafeCell<Option<Box<T>>>,
}

/// The block that was freed last. Blocks are kept reachable from here, so tools that look for leaks find none.
static LAST_FREED: AtomicPtr<Header> = AtomicPtr::new(null_mut());

/// An opaque type of the header: its pointers are those of blocks with a `Value`.
pub trait Handle {
    type Value: Send + Sync;
    /// Tells kinds apart.
    const KIND: u32;
    /// The kind in messages.
    const NAME: &'static str;
    /// Whether freed blocks serve again: of one kind alone, which comes and goes all the time.
    const RESTS: bool;
}

/// Says what the handles of an opaque type own. The type itself stands beside, where cbindgen sees it.
macro_rules! handle {
    ($name:ident, $value:ty, $kind:literal, $text:literal) => {
        $crate::border::handle!($name, $value, $kind, $text, false);
    };
    ($name:ident, $value:ty, $kind:literal, $text:literal, $rests:literal) => {
        impl $crate::border::Handle for $name {
            type Value = $value;
            const KIND: u32 = u32::from_le_bytes(*$kind);
            const NAME: &'static str = $text;
            const RESTS: bool = $rests;
        }
    };
}
pub(crate) use handle;

/// Freed blocks of kinds that come and go all the time. The oldest serves again once there are [`MOST_RESTING`], so a
/// handle that was freed is known as such until as many others were.
static RESTING: Mutex<VecDeque<Freed>> = Mutex::new(VecDeque::new());

/// The number of freed blocks that wait.
const MOST_RESTING: usize = 64;

/// A block without a value.
struct Freed(*mut Header);

// SAFETY: who takes it out of the list has it alone.
unsafe impl Send for Freed {}

fn resting() -> MutexGuard<'static, VecDeque<Freed>> {
    RESTING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A new handle that owns `value`.
pub fn new<H: Handle>(value: H::Value) -> *mut H {
    let mut freed = resting();
    if H::RESTS
        && freed.len() >= MOST_RESTING
        && let Some(Freed(block)) = freed.pop_front()
    {
        drop(freed);
        let block: *mut Block<H::Value> = block.cast();
        // SAFETY: all blocks that rest are of this kind, the only one that rests, and this one has no value and no user.
        unsafe {
            *(*block).value.get() = Some(Box::new(value));
            (*block).header.kind.store(H::KIND, Ordering::Release);
        }
        return block.cast();
    }
    drop(freed);
    let header = Header {
        kind: AtomicU32::new(H::KIND),
        users: AtomicI32::new(0),
        next: AtomicPtr::new(null_mut()),
    };
    Box::into_raw(Box::new(Block { header, value: UnsafeCell::new(Some(Box::new(value))) })).cast()
}

/// The header of a handle that is one of `H`.
///
/// # Safety
/// The caller's promise of handles.
#[inline]
unsafe fn header<'a, H: Handle>(handle: *const H) -> Result<&'a Header, Error> {
    // SAFETY: a handle that is not null is a block, by the caller's promise; blocks are never freed.
    let header = unsafe { handle.cast::<Header>().as_ref() };
    match header {
        Some(header) if header.kind.load(Ordering::Acquire) == H::KIND => Ok(header),
        other => Err(no_handle::<H>(other)),
    }
}

#[cold]
#[inline(never)]
fn no_handle<H: Handle>(header: Option<&Header>) -> Error {
    let name = H::NAME;
    match header.map(|header| header.kind.load(Ordering::Relaxed)) {
        None => Error::new(PHX_ERROR_NULL, format!("the {name} is null")),
        Some(FREED) => Error::new(PHX_ERROR_HANDLE, format!("the {name} was freed")),
        Some(_) => Error::new(PHX_ERROR_HANDLE, format!("the handle is not of a {name}")),
    }
}

#[cold]
#[inline(never)]
fn busy<H: Handle>() -> Error {
    Error::new(PHX_ERROR_BUSY, format!("another call uses the {}", H::NAME))
}

/// A value that is read, beside others that read. Guards hold pointers, since a value may go while a guard that is an
/// argument still lives.
pub struct Shared<'a, T> {
    users: &'a AtomicI32,
    value: NonNull<T>,
}

impl<T> Deref for Shared<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: while users are counted, nobody has the value for itself.
        unsafe { self.value.as_ref() }
    }
}

impl<T> Drop for Shared<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.users.fetch_sub(1, Ordering::Release);
    }
}

/// A value that one call has for itself.
pub struct Exclusive<'a, T> {
    hold: Hold<'a>,
    value: NonNull<T>,
}

// SAFETY: it is a `&mut T`, and counts users by an atomic.
unsafe impl<T: Send> Send for Exclusive<'_, T> {}

impl<T> Deref for Exclusive<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: nobody else has the value until the hold is dropped.
        unsafe { self.value.as_ref() }
    }
}

impl<T> DerefMut for Exclusive<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { self.value.as_mut() }
    }
}

impl<'a, T> Exclusive<'a, T> {
    /// The value, and apart from it what keeps others away until it is dropped. For values that borrow the value and
    /// outlive the call.
    pub fn split(self) -> (NonNull<T>, Hold<'a>) {
        (self.value, self.hold)
    }
}

/// Keeps other callers away from a handle until it is dropped, in any thread.
pub struct Hold<'a> {
    users: &'a AtomicI32,
}

impl Drop for Hold<'_> {
    #[inline]
    fn drop(&mut self) {
        self.users.store(0, Ordering::Release);
    }
}

/// The handle's value, to read.
///
/// # Safety
/// The caller's promise of handles.
#[inline]
pub unsafe fn share<'a, H: Handle>(handle: *const H) -> Result<Shared<'a, H::Value>, Error> {
    // SAFETY: as above.
    let header = unsafe { header(handle) }?;
    let users = &header.users;
    // Mostly there is no other: one operation then, without a look before it.
    if users.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
        let one_more = |users: i32| (users >= 0).then(|| users + 1);
        if users.fetch_update(Ordering::Acquire, Ordering::Relaxed, one_more).is_err() {
            return Err(busy::<H>());
        }
    }
    // SAFETY: the block is of this kind, and nobody has it for itself while users are counted.
    match unsafe { &*(*handle.cast::<Block<H::Value>>()).value.get() } {
        Some(value) => Ok(Shared { users, value: NonNull::from(&**value) }),
        None => {
            users.fetch_sub(1, Ordering::Relaxed);
            Err(no_handle::<H>(Some(header)))
        }
    }
}

/// The handle's value, for this call alone.
///
/// # Safety
/// The caller's promise of handles.
#[inline]
pub unsafe fn lend<'a, H: Handle>(handle: *mut H) -> Result<Exclusive<'a, H::Value>, Error> {
    // SAFETY: as above.
    let header = unsafe { header(handle) }?;
    if header.users.compare_exchange(0, ALONE, Ordering::Acquire, Ordering::Relaxed).is_err() {
        return Err(busy::<H>());
    }
    // SAFETY: the block is of this kind, and this call has it for itself.
    match unsafe { &mut *(*handle.cast::<Block<H::Value>>()).value.get() } {
        Some(value) => {
            let hold = Hold { users: &header.users };
            Ok(Exclusive { hold, value: NonNull::from(&mut **value) })
        }
        None => {
            header.users.store(0, Ordering::Release);
            Err(no_handle::<H>(Some(header)))
        }
    }
}

/// Frees a handle: its value goes, and later uses of it are errors. Null is nothing to free.
///
/// # Safety
/// The caller's promise of handles.
pub unsafe fn free<H: Handle>(handle: *mut H) -> Result<(), Error> {
    if handle.is_null() {
        return Ok(());
    }
    // SAFETY: as above.
    drop(unsafe { take(handle) }?);
    Ok(())
}

/// Frees a handle and returns what it owned.
///
/// # Safety
/// The caller's promise of handles.
pub unsafe fn take<H: Handle>(handle: *mut H) -> Result<Box<H::Value>, Error> {
    // SAFETY: as above.
    let (header, (_, hold)) = unsafe { (header(handle)?, lend(handle)?.split()) };
    header.kind.store(FREED, Ordering::Release);
    // SAFETY: the block is of this kind, and `hold` keeps others away.
    let value = unsafe { (*(*handle.cast::<Block<H::Value>>()).value.get()).take() };
    drop(hold);
    if H::RESTS {
        resting().push_back(Freed(handle.cast()));
    } else {
        keep(header, handle.cast());
    }
    value.ok_or_else(|| no_handle::<H>(Some(header)))
}

/// Enters a block into the list of freed ones.
fn keep(header: &Header, block: *mut Header) {
    let mut last = LAST_FREED.load(Ordering::Relaxed);
    loop {
        header.next.store(last, Ordering::Relaxed);
        match LAST_FREED.compare_exchange_weak(last, block, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => break,
            Err(now) => last = now,
        }
    }
}
