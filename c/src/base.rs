//! Version, errors, defaults of structs, instruction sets, memory and threads.

use crate::border::*;
use crate::crowd::*;
use crate::frame::phx_frame_options;
use crate::modifiers::{phx_aim, phx_feet, phx_hook, phx_springs, phx_two_bone_ik};
use crate::tiers::{phx_tier, phx_tiers};
use crate::types::*;
use std::ffi::{c_char, c_void};

/// The version of this library: major × 2^16 + minor × 2^8 + patch.
#[unsafe(no_mangle)]
pub extern "C" fn phx_version() -> u32 {
    const fn number(text: &str) -> u32 {
        let (bytes, mut i, mut value) = (text.as_bytes(), 0, 0);
        while i < bytes.len() {
            value = value * 10 + (bytes[i] - b'0') as u32;
            i += 1;
        }
        value
    }
    const MAJOR: u32 = number(env!("CARGO_PKG_VERSION_MAJOR"));
    const MINOR: u32 = number(env!("CARGO_PKG_VERSION_MINOR"));
    const PATCH: u32 = number(env!("CARGO_PKG_VERSION_PATCH"));
    MAJOR << 16 | MINOR << 8 | PATCH
}

/// Compares the ABI that the caller was compiled with, its `PHX_ABI_VERSION`, to this library's.
///
/// PHX_ERROR_VERSION: they differ; make no other call.
#[unsafe(no_mangle)]
pub extern "C" fn phx_abi_check(version: u32) -> phx_status {
    entry(|| {
        if version == PHX_ABI_VERSION {
            return Ok(());
        }
        let message = format!(
            "the caller's header has version {version} of the ABI, the library {PHX_ABI_VERSION}"
        );
        Err(Error::new(PHX_ERROR_VERSION, message))
    })
}

/// The message of the last call of this thread that failed: a sentence in English, with a NUL behind it. Empty if none
/// has. It stays until the next call of this thread that fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_error_message(
    text: *mut *const c_char,
    length: *mut usize,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (text, length) =
            unsafe { (output(text, "the text's place")?, output(length, "the length's place")?) };
        let (data, bytes) = last_message();
        text.write(data);
        length.write(bytes);
        Ok(())
    })
}

/// The instruction set that all crowds use: "portable", "sse4.2", "avx2", "avx512", "neon" or "wasm128". The name stays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_simd_level(
    text: *mut *const c_char,
    length: *mut usize,
) -> phx_status {
    // SAFETY: the caller's promise.
    entry(|| unsafe { put_text(phalanx::simd::SimdLevel::current().name(), text, length) })
}

/// Sets the instruction set of all crowds, for comparisons: by default it is this machine's best. Poses differ between
/// sets in their last bits; what plays does not.
///
/// PHX_ERROR_UNSUPPORTED: no such set, or none of this machine's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_simd_set_level(name: *const c_char, length: usize) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let name = unsafe { text(name, length, "the name") }?;
        Ok(name.parse::<phalanx::simd::SimdLevel>()?.set()?)
    })
}

/// Takes all blocks of memory of 64 KiB and more from two callbacks of the host, for the whole process and for good.
/// Smaller blocks come from the system. Call it before any other function.
///
/// The callbacks make no call of this library. If `allocate` returns null, and the library cannot go on without the
/// memory, it ends the process.
///
/// PHX_ERROR_NULL: a callback is missing. PHX_ERROR_STATE: a big block came from the system already, or callbacks are
/// set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_allocator_set(allocator: *const phx_allocator) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let callbacks = unsafe { options(allocator) }?;
        if callbacks.allocate.is_none() || callbacks.free.is_none() {
            return Err(Error::new(PHX_ERROR_NULL, "an allocator needs both callbacks"));
        }
        Choice::set(callbacks)
    })
}

/// Threads of the library that crowds share.
pub struct phx_pool {
    _opaque: [u8; 0],
}

handle!(phx_pool, std::sync::Arc<rayon::ThreadPool>, b"pool", "pool");

/// A pool of this many threads; 0 for one per processor core. Without a pool crowds use one that the process has, with a
/// thread per core, which starts when it is first needed.
///
/// PHX_ERROR_LIMIT: the system refuses the threads, or more than 1,024 are asked for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_pool_new(threads: u32, out: *mut *mut phx_pool) -> phx_status {
    entry(|| {
        if threads > 1024 {
            return Err(Error::new(PHX_ERROR_LIMIT, format!("{threads} threads; at most 1024")));
        }
        // SAFETY: the caller's promise.
        let out = unsafe { output(out, "the pool's place") }?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads as usize).build();
        let pool = pool.map_err(|error| Error::new(PHX_ERROR_LIMIT, error.to_string()))?;
        out.write(new(std::sync::Arc::new(pool)));
        Ok(())
    })
}

/// Frees a pool. Its threads end when no crowd has it. Null is nothing to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_pool_free(pool: *mut phx_pool) -> phx_status {
    // SAFETY: the caller's promise.
    entry(|| unsafe { free(pool) })
}

/// A struct of options, for `phx_options_init`.
pub type phx_options_kind = u32;
/// `phx_allocator`
pub const PHX_ALLOCATOR: phx_options_kind = 0;
/// `phx_crowd_options`
pub const PHX_CROWD_OPTIONS: phx_options_kind = 20;
/// `phx_rig_options`
pub const PHX_RIG_OPTIONS: phx_options_kind = 21;
/// `phx_space_options`
pub const PHX_SPACE_OPTIONS: phx_options_kind = 22;
/// `phx_layer_options`
pub const PHX_LAYER_OPTIONS: phx_options_kind = 23;
/// `phx_play_options`
pub const PHX_PLAY_OPTIONS: phx_options_kind = 30;
/// `phx_cross_fade`
pub const PHX_CROSS_FADE: phx_options_kind = 31;
/// `phx_import_options`
pub const PHX_IMPORT_OPTIONS: phx_options_kind = 1;
/// `phx_rig_arrays`
pub const PHX_RIG_ARRAYS: phx_options_kind = 2;
/// `phx_clip_arrays`
pub const PHX_CLIP_ARRAYS: phx_options_kind = 3;
/// `phx_bind_options`
pub const PHX_BIND_OPTIONS: phx_options_kind = 4;
/// `phx_retarget_options`
pub const PHX_RETARGET_OPTIONS: phx_options_kind = 5;
/// `phx_bake_options`
pub const PHX_BAKE_OPTIONS: phx_options_kind = 6;
/// `phx_two_bone_ik`
pub const PHX_TWO_BONE_IK: phx_options_kind = 40;
/// `phx_aim`
pub const PHX_AIM: phx_options_kind = 41;
/// `phx_feet`
pub const PHX_FEET: phx_options_kind = 42;
/// `phx_springs`
pub const PHX_SPRINGS: phx_options_kind = 43;
/// `phx_hook`
pub const PHX_HOOK: phx_options_kind = 44;
/// `phx_frame_options`
pub const PHX_FRAME_OPTIONS: phx_options_kind = 45;
/// `phx_tiers`
pub const PHX_TIERS: phx_options_kind = 46;
/// `phx_tier`
pub const PHX_TIER: phx_options_kind = 47;

/// Sets a struct of options to its defaults: `size` is the caller's `sizeof` of it.
///
/// PHX_ERROR_STRUCT_SIZE: the library knows no such size of it. PHX_ERROR_VALUE: there is no such kind.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_options_init(
    kind: phx_options_kind,
    options: *mut c_void,
    size: usize,
) -> phx_status {
    // SAFETY: the caller's promise.
    entry(|| unsafe {
        match kind {
            PHX_ALLOCATOR => init::<phx_allocator>(options, size),
            PHX_CROWD_OPTIONS => init::<phx_crowd_options>(options, size),
            PHX_RIG_OPTIONS => init::<phx_rig_options>(options, size),
            PHX_SPACE_OPTIONS => init::<phx_space_options>(options, size),
            PHX_LAYER_OPTIONS => init::<phx_layer_options>(options, size),
            PHX_PLAY_OPTIONS => init::<crate::instance::phx_play_options>(options, size),
            PHX_CROSS_FADE => init::<crate::instance::phx_cross_fade>(options, size),
            PHX_IMPORT_OPTIONS => init::<crate::import::phx_import_options>(options, size),
            PHX_RIG_ARRAYS => init::<crate::rig::phx_rig_arrays>(options, size),
            PHX_CLIP_ARRAYS => init::<crate::clip::phx_clip_arrays>(options, size),
            PHX_BIND_OPTIONS => init::<crate::clip::phx_bind_options>(options, size),
            PHX_RETARGET_OPTIONS => init::<crate::clip::phx_retarget_options>(options, size),
            PHX_BAKE_OPTIONS => init::<crate::clip::phx_bake_options>(options, size),
            PHX_TWO_BONE_IK => init::<phx_two_bone_ik>(options, size),
            PHX_AIM => init::<phx_aim>(options, size),
            PHX_FEET => init::<phx_feet>(options, size),
            PHX_SPRINGS => init::<phx_springs>(options, size),
            PHX_HOOK => init::<phx_hook>(options, size),
            PHX_FRAME_OPTIONS => init::<phx_frame_options>(options, size),
            PHX_TIERS => init::<phx_tiers>(options, size),
            PHX_TIER => init::<phx_tier>(options, size),
            other => Err(Error::value(format!("{other} is not a kind of options"))),
        }
    })
}
