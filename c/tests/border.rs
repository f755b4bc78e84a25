//! What all entries share: handles, messages, sizes of structs, text.

use phalanx_c::*;
use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};
use std::thread;

/// The message of this thread's last failure.
fn message() -> String {
    let (mut text, mut length) = (null(), 0);
    unsafe {
        assert_eq!(phx_error_message(&mut text, &mut length), PHX_OK);
        assert_eq!(*text.add(length), 0, "a NUL follows");
        String::from_utf8(std::slice::from_raw_parts(text.cast(), length).to_vec()).unwrap()
    }
}

fn pool() -> *mut phx_pool {
    let mut pool = null_mut();
    assert_eq!(unsafe { phx_pool_new(1, &mut pool) }, PHX_OK);
    pool
}

#[test]
fn versions_are_the_packages() {
    let [major, minor, patch] =
        env!("CARGO_PKG_VERSION").split('.').map(|n| n.parse::<u32>().unwrap()).collect::<Vec<_>>()
            [..]
    else {
        panic!()
    };
    assert_eq!(phx_version(), major << 16 | minor << 8 | patch);
    assert_eq!(phx_abi_check(PHX_ABI_VERSION), PHX_OK);
    assert_eq!(phx_abi_check(PHX_ABI_VERSION + 7), PHX_ERROR_VERSION);
    assert_eq!(message(), "the caller's header has version 8 of the ABI, the library 1");
}

#[test]
fn freed_and_foreign_handles_are_errors() {
    let freed = pool();
    unsafe {
        assert_eq!(phx_pool_free(freed), PHX_OK);
        assert_eq!(phx_pool_free(freed), PHX_ERROR_HANDLE);
        assert_eq!(message(), "the pool was freed");
        assert_eq!(phx_pool_free(null_mut()), PHX_OK, "null is nothing to free");

        let other = pool();
        assert_eq!(phx_crowd_free(other.cast()), PHX_ERROR_HANDLE);
        assert_eq!(message(), "the handle is not of a crowd");
        assert_eq!(phx_crowd_advance(null_mut(), 0.0), PHX_ERROR_NULL);
        assert_eq!(message(), "the crowd is null");
        // A new handle is not at the place of a freed one.
        assert_ne!(pool(), freed);
        assert_eq!(phx_pool_free(other), PHX_OK);
    }
}

#[test]
fn a_message_stays_with_its_thread() {
    assert_eq!(phx_abi_check(1000), PHX_ERROR_VERSION);
    let mine = message();
    thread::spawn(|| {
        assert_eq!(message(), "");
        assert_eq!(phx_abi_check(2000), PHX_ERROR_VERSION);
        assert!(message().contains("2000"));
    })
    .join()
    .unwrap();
    assert_eq!(message(), mine);
    assert_eq!(phx_abi_check(PHX_ABI_VERSION), PHX_OK);
    assert_eq!(message(), mine, "a success keeps it");
}

/// A failing call in a destructor of a thread that ends, when its message may be gone already.
#[test]
fn calls_may_fail_while_a_thread_ends() {
    struct Late;
    impl Drop for Late {
        fn drop(&mut self) {
            assert_eq!(phx_abi_check(99), PHX_ERROR_VERSION);
            let (mut text, mut length) = (null(), 77);
            assert_eq!(unsafe { phx_error_message(&mut text, &mut length) }, PHX_OK);
            assert!(!text.is_null());
        }
    }
    thread_local! {
        static LATE: Late = const { Late };
    }
    for first in [true, false] {
        let ends = move || {
            // Destructors run in either order.
            if first {
                LATE.with(|_| ());
            }
            assert_eq!(phx_abi_check(9), PHX_ERROR_VERSION);
            LATE.with(|_| ());
        };
        thread::spawn(ends).join().unwrap();
    }
}

#[test]
fn outputs_are_looked_at_first() {
    unsafe {
        let mut length = 77;
        assert_eq!(phx_error_message(null_mut(), &mut length), PHX_ERROR_NULL);
        assert_eq!(length, 77);
        assert_eq!(phx_pool_new(1, null_mut()), PHX_ERROR_NULL);
        assert_eq!(message(), "the pool's place is null");
        let mut pool = null_mut();
        assert_eq!(phx_pool_new(5000, &mut pool), PHX_ERROR_LIMIT);
        assert!(pool.is_null() && message().starts_with("5000 threads"));
    }
}

#[test]
fn text_is_checked() {
    let name = |bytes: &[u8], length: usize| unsafe {
        phx_simd_set_level(bytes.as_ptr().cast::<c_char>(), length)
    };
    assert_eq!(name(b"portable, and more", 8), PHX_OK);
    assert_eq!(name(b"portable\0", PHX_NUL), PHX_OK);
    let (mut text, mut length) = (null(), 0);
    unsafe {
        assert_eq!(phx_simd_level(&mut text, &mut length), PHX_OK);
        assert_eq!(std::slice::from_raw_parts(text.cast::<u8>(), length), b"portable");
        assert_eq!(phx_simd_set_level(null(), PHX_NUL), PHX_ERROR_NULL);
        assert_eq!(phx_simd_set_level(null(), 3), PHX_ERROR_NULL);
    }
    assert_eq!(name(b"\xff\xfe", 2), PHX_ERROR_UTF8);
    assert_eq!(name(b"mmx", 3), PHX_ERROR_UNSUPPORTED);
    assert!(message().contains("mmx"), "{}", message());
}

#[test]
fn structs_of_unknown_sizes_are_errors() {
    let whole = size_of::<phx_allocator>();
    let mut place = MaybeUninit::<[usize; 16]>::new([7; 16]);
    let place: *mut phx_allocator = place.as_mut_ptr().cast();
    for (size, status) in [
        (whole, PHX_OK),
        (0, PHX_ERROR_STRUCT_SIZE),
        (7, PHX_ERROR_STRUCT_SIZE),
        (whole - 8, PHX_ERROR_STRUCT_SIZE),
        (whole + 8, PHX_ERROR_STRUCT_SIZE),
    ] {
        assert_eq!(
            unsafe { phx_options_init(PHX_ALLOCATOR, place.cast(), size) },
            status,
            "{size} bytes"
        );
        assert_eq!(unsafe { (*place).size }, whole, "a call that fails writes nothing");
    }
    assert!(
        message().contains(&whole.to_string()) && message().contains(&(whole + 8).to_string()),
        "{}",
        message()
    );
    unsafe {
        assert_eq!(phx_options_init(12_345, place.cast(), whole), PHX_ERROR_VALUE);
        assert_eq!(phx_options_init(PHX_ALLOCATOR, null_mut(), whole), PHX_ERROR_NULL);
        assert_eq!(phx_options_init(PHX_ALLOCATOR, place.cast(), whole), PHX_OK);
        assert_eq!((*place).size, whole);
        // Without callbacks there is nothing to set.
        assert_eq!(phx_allocator_set(place), PHX_ERROR_NULL);
        (*place).size = 3;
        assert_eq!(phx_allocator_set(place), PHX_ERROR_STRUCT_SIZE);
        let odd = place.cast::<u8>().add(1).cast();
        assert_eq!(phx_allocator_set(odd), PHX_ERROR_VALUE);
    }
}
