//! Big blocks come from the host's callbacks. One test: what is set holds for the whole process.

use phalanx_c::*;
use std::alloc::{Layout, alloc, dealloc};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

static LIVE: AtomicUsize = AtomicUsize::new(0);
static CALLS: AtomicUsize = AtomicUsize::new(0);

/// In front of a block, so that blocks of the system would be found out.
const MARK: u64 = 0x5eed_5eed_5eed_5eed;

unsafe extern "C" fn allocate(user: *mut c_void, size: usize, align: usize) -> *mut c_void {
    assert!(size >= 1 << 16 && user.addr() == 42);
    // The host's fault, but no reason to end the process.
    assert_eq!(phx_abi_check(99), PHX_ERROR_VERSION);
    let align = align.max(16);
    // SAFETY: the mark lies in the room before the block.
    unsafe {
        let block = System::get(size + align, align);
        block.add(align - 16).cast::<u64>().write(MARK);
        LIVE.fetch_add(size, Ordering::Relaxed);
        CALLS.fetch_add(1, Ordering::Relaxed);
        block.add(align).cast()
    }
}

unsafe extern "C" fn free(_: *mut c_void, block: *mut c_void, size: usize, align: usize) {
    let align = align.max(16);
    // SAFETY: the block is of `allocate`, with these numbers.
    unsafe {
        assert_eq!(block.cast::<u8>().sub(16).cast::<u64>().read(), MARK);
        System::put(block.cast::<u8>().sub(align), size + align, align);
    }
    LIVE.fetch_sub(size, Ordering::Relaxed);
}

/// Memory that is not the library's: by the system, past the allocator of this process.
struct System;

impl System {
    unsafe fn get(size: usize, align: usize) -> *mut u8 {
        unsafe {
            std::alloc::GlobalAlloc::alloc(
                &std::alloc::System,
                Layout::from_size_align_unchecked(size, align),
            )
        }
    }

    unsafe fn put(block: *mut u8, size: usize, align: usize) {
        unsafe {
            std::alloc::GlobalAlloc::dealloc(
                &std::alloc::System,
                block,
                Layout::from_size_align_unchecked(size, align),
            )
        }
    }
}

#[test]
fn big_blocks_come_from_the_callbacks() {
    let size = size_of::<phx_allocator>();
    let callbacks = phx_allocator {
        size,
        user: std::ptr::without_provenance_mut(42),
        allocate: Some(allocate),
        free: Some(free),
    };
    unsafe {
        assert_eq!(phx_allocator_set(&callbacks), PHX_OK);
        assert_eq!(phx_allocator_set(&callbacks), PHX_ERROR_STATE, "once");
        let live = || LIVE.load(Ordering::Relaxed);

        // Blocks that grow into big ones and shrink again keep their bytes.
        let mut bytes = Vec::with_capacity(100);
        for i in 0..300_000_usize {
            bytes.push(i as u8);
        }
        assert!(live() >= 300_000);
        assert!(bytes.iter().enumerate().all(|(i, &byte)| byte == i as u8));
        bytes.truncate(1000);
        bytes.shrink_to_fit();
        assert!(bytes.iter().enumerate().all(|(i, &byte)| byte == i as u8));
        assert_eq!(live(), 0);
        assert!(vec![0_u64; 50_000].iter().all(|&zero| zero == 0));

        // A wider alignment than the system's.
        let layout = Layout::from_size_align(1 << 17, 4096).unwrap();
        let block = alloc(layout);
        assert_eq!(block.addr() % 4096, 0);
        dealloc(block, layout);
        assert_eq!(live(), 0);

        // A message that is a big block itself.
        let (mut rig, mut index) = (null_mut(), 0);
        assert_eq!(phx_rig_new_mannequin(&mut rig), PHX_OK);
        let name = vec![b'x'; 100_000];
        assert_eq!(
            phx_rig_find(rig, PHX_PART_CLIP, name.as_ptr().cast(), name.len(), &mut index),
            PHX_ERROR_NOT_FOUND
        );
        assert_eq!(phx_rig_free(rig), PHX_OK);
        assert_eq!(phx_abi_check(99), PHX_ERROR_VERSION);
        drop(name);
        assert_eq!(live(), 0);

        let calls = CALLS.load(Ordering::Relaxed);
        let mut rig = null_mut();
        assert_eq!(phx_rig_new_mannequin(&mut rig), PHX_OK);
        assert!(CALLS.load(Ordering::Relaxed) > calls && live() > 0);
        assert_eq!(phx_rig_free(rig), PHX_OK);
        assert_eq!(live(), 0);
    }
}
