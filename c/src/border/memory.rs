//! Text, arrays and structs of the caller.

use super::Error;
use crate::types::*;
use std::cell::Cell;
use std::ffi::{CStr, c_char, c_void};
use std::slice;
use std::thread::LocalKey;

/// A struct of the header that begins with its size, so that callers and libraries of different versions fit.
///
/// # Safety
/// `repr(C)`, the first field is `size: usize`, and any bytes are a value: numbers, pointers, function pointers in
/// `Option`, and arrays of those.
pub unsafe trait Extensible: Copy {
    /// The struct's name in messages.
    const NAME: &'static str;
    /// The size that the struct had in the first version.
    const FIRST: usize;
    /// All fields at their defaults.
    const DEFAULT: Self;
}

/// Declares that a struct begins with its size: `extensible!(phx_play_options, Self { .. defaults .. });`. Of structs that
/// are only written, `extensible!(phx_rig_info);`, the default is all zero.
macro_rules! extensible {
    ($name:ident) => {
        $crate::border::extensible!($name, {
            // SAFETY: any bytes are a value of such a struct.
            let zero: Self = unsafe { std::mem::zeroed() };
            Self { size: size_of::<Self>(), ..zero }
        });
    };
    ($name:ident, $default:expr) => {
        // SAFETY: types.rs declares them so; a test reads them all.
        unsafe impl $crate::border::Extensible for $name {
            const NAME: &'static str = stringify!($name);
            const FIRST: usize = size_of::<Self>();
            const DEFAULT: Self = $default;
        }
    };
}
pub(crate) use extensible;

/// The size that a caller states is one that this library knows.
#[inline]
fn check_size<T: Extensible>(size: usize) -> Result<usize, Error> {
    let whole = size_of::<T>();
    if (T::FIRST..=whole).contains(&size) {
        return Ok(size);
    }
    Err(other_size(T::NAME, size, whole))
}

#[cold]
#[inline(never)]
fn other_size(name: &str, size: usize, whole: usize) -> Error {
    Error::new(
        PHX_ERROR_STRUCT_SIZE,
        format!(
            "{name}: the caller's has {size} bytes, this library's {whole}: set its size before the call"
        ),
    )
}

#[inline]
fn check_aligned<T>(pointer: *const T, what: &str) -> Result<(), Error> {
    let align = align_of::<T>();
    if pointer.addr().is_multiple_of(align) {
        return Ok(());
    }
    Err(misaligned(what, align))
}

#[cold]
#[inline(never)]
fn misaligned(what: &str, align: usize) -> Error {
    Error::new(PHX_ERROR_VALUE, format!("{what}: the address is not a multiple of {align}"))
}

#[cold]
#[inline(never)]
fn null(what: &str) -> Error {
    Error::new(PHX_ERROR_NULL, format!("{what} is null"))
}

/// The caller's options, or the defaults for null.
///
/// # Safety
/// The caller's promise: null, or `size` bytes that begin with `size`.
#[inline]
pub unsafe fn options<T: Extensible>(options: *const T) -> Result<T, Error> {
    let mut value = T::DEFAULT;
    if options.is_null() {
        return Ok(value);
    }
    check_aligned(options, T::NAME)?;
    // SAFETY: structs with a size begin with it.
    let size = check_size::<T>(unsafe { *options.cast::<usize>() })?;
    if size == size_of::<T>() {
        // SAFETY: the caller's has the size of a `T`, and any bytes are one. A copy whose size is known takes no call.
        return Ok(unsafe { *options });
    }
    // SAFETY: the caller's has `size` bytes, which are no more than a `T` has; any bytes are a `T`.
    unsafe {
        std::ptr::copy_nonoverlapping(options.cast::<u8>(), (&raw mut value).cast::<u8>(), size)
    };
    Ok(value)
}

/// The caller's options, which may not be null.
///
/// # Safety
/// The caller's promise: null, or `size` bytes that begin with `size`.
pub unsafe fn required<T: Extensible>(given: *const T) -> Result<T, Error> {
    if given.is_null() {
        return Err(null(T::NAME));
    }
    // SAFETY: as above.
    unsafe { options(given) }
}

/// Checks that [`fill`] can write a struct, for calls that change something before. Returns the size of the caller's.
///
/// # Safety
/// The caller's promise: null, or `size` bytes that begin with `size`.
#[inline]
pub unsafe fn fillable<T: Extensible>(out: *const T) -> Result<usize, Error> {
    if out.is_null() {
        return Err(null(T::NAME));
    }
    check_aligned(out, T::NAME)?;
    // SAFETY: structs with a size begin with it.
    check_size::<T>(unsafe { *out.cast::<usize>() })
}

/// Writes a struct that begins with its size, as far as the caller's reaches. The size stays the caller's.
///
/// # Safety
/// The caller's promise: null, or `size` bytes that begin with `size`.
#[inline]
pub unsafe fn fill<T: Extensible>(out: *mut T, mut value: T) -> Result<(), Error> {
    // SAFETY: as above, and as in `options`, the other way.
    unsafe {
        let size = fillable(out)?;
        (&raw mut value).cast::<usize>().write(size);
        std::ptr::copy_nonoverlapping((&raw const value).cast::<u8>(), out.cast::<u8>(), size);
    }
    Ok(())
}

/// Sets a struct that begins with its size to its defaults. The struct need not state its size; `size` does.
///
/// # Safety
/// The caller's promise: null, or `size` bytes.
pub unsafe fn init<T: Extensible>(out: *mut c_void, size: usize) -> Result<(), Error> {
    let out = out.cast::<T>();
    if out.is_null() {
        return Err(null(T::NAME));
    }
    check_aligned(out, T::NAME)?;
    check_size::<T>(size)?;
    // SAFETY: as above, and every known size has room for itself.
    unsafe {
        out.cast::<usize>().write(size);
        fill(out, T::DEFAULT)
    }
}

/// `count` values of the caller. Null is allowed for none.
///
/// # Safety
/// The caller's promise. Any bytes must be a `T`.
#[inline]
pub unsafe fn array<'a, T>(data: *const T, count: usize, what: &str) -> Result<&'a [T], Error> {
    if count == 0 {
        return Ok(&[]);
    }
    check_array(data, count, what)?;
    // SAFETY: not null, aligned, no longer than a slice can be; the caller promises the values.
    Ok(unsafe { slice::from_raw_parts(data, count) })
}

/// `count` values of the caller, to write. Null is allowed for none.
///
/// # Safety
/// The caller's promise. Any bytes must be a `T`.
#[inline]
pub unsafe fn array_mut<'a, T>(
    data: *mut T,
    count: usize,
    what: &str,
) -> Result<&'a mut [T], Error> {
    if count == 0 {
        return Ok(&mut []);
    }
    check_array(data, count, what)?;
    // SAFETY: as in `array`, and nobody else uses them during the call.
    Ok(unsafe { slice::from_raw_parts_mut(data, count) })
}

#[inline]
fn check_array<T>(data: *const T, count: usize, what: &str) -> Result<(), Error> {
    if data.is_null() {
        return Err(null(what));
    }
    check_aligned(data, what)?;
    if count > isize::MAX as usize / size_of::<T>().max(1) {
        return Err(too_many(what, count));
    }
    Ok(())
}

#[cold]
#[inline(never)]
fn too_many(what: &str, count: usize) -> Error {
    Error::new(PHX_ERROR_LIMIT, format!("{what}: {count} values are more than memory has"))
}

/// Structs one behind another, each of the size that the first states.
///
/// # Safety
/// The caller's promise.
pub unsafe fn sized<T: Extensible>(
    first: *const T,
    count: usize,
    what: &str,
) -> Result<Vec<T>, Error> {
    if count == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: structs with a size begin with it.
    let size_of = |one: *const T| unsafe { one.cast::<usize>().read_unaligned() };
    // SAFETY: the caller's promise; at least one struct is there. The others are looked at after the check of the extent.
    let size = unsafe {
        array(first, 1, what)?;
        options(first)?;
        array(first.cast::<u8>(), count.saturating_mul(size_of(first)), what)?;
        size_of(first)
    };
    let mut all = Vec::new();
    for i in 0..count {
        let one = first.wrapping_byte_add(i * size);
        // Before it is read: a larger one would not lie within the array.
        if size_of(one) != size {
            let words = format!("{what}: {i} states another size than the first, {size} bytes");
            return Err(Error::new(PHX_ERROR_STRUCT_SIZE, words));
        }
        // SAFETY: the caller promises `count` structs.
        all.push(unsafe { options(one) }?);
    }
    Ok(all)
}

/// Bytes of the caller.
///
/// # Safety
/// The caller's promise.
pub unsafe fn bytes<'a>(data: *const u8, size: usize, what: &str) -> Result<&'a [u8], Error> {
    // SAFETY: as above.
    unsafe { array(data, size, what) }
}

/// Text of the caller: `length` bytes, or as far as the NUL for [`PHX_NUL`]. Null is allowed for none.
///
/// # Safety
/// The caller's promise.
pub unsafe fn text<'a>(data: *const c_char, length: usize, what: &str) -> Result<&'a str, Error> {
    let bytes = if length == PHX_NUL {
        if data.is_null() {
            return Err(null(what));
        }
        // SAFETY: the caller promises a NUL.
        unsafe { CStr::from_ptr(data) }.to_bytes()
    } else {
        // SAFETY: as above.
        unsafe { array(data.cast::<u8>(), length, what) }?
    };
    str::from_utf8(bytes).map_err(|error| Error::new(PHX_ERROR_UTF8, format!("{what}: {error}")))
}

/// One value of the caller to write, which may be uninitialised.
///
/// # Safety
/// The caller's promise.
#[inline]
pub unsafe fn output<'a, T>(
    out: *mut T,
    what: &str,
) -> Result<&'a mut std::mem::MaybeUninit<T>, Error> {
    check_array(out, 1, what)?;
    // SAFETY: not null and aligned; the caller promises the place.
    Ok(unsafe { &mut *out.cast() })
}

/// [`output`] that may be null: the caller does not want it.
///
/// # Safety
/// The caller's promise.
#[inline]
pub unsafe fn optional<'a, T>(
    out: *mut T,
    what: &str,
) -> Result<Option<&'a mut std::mem::MaybeUninit<T>>, Error> {
    // SAFETY: as above.
    (!out.is_null()).then(|| unsafe { output(out, what) }).transpose()
}

/// One value of the caller.
///
/// # Safety
/// The caller's promise. Any bytes must be a `T`.
#[inline]
pub unsafe fn one<T: Copy>(data: *const T, what: &str) -> Result<T, Error> {
    check_array(data, 1, what)?;
    // SAFETY: not null and aligned; the caller promises the value.
    Ok(unsafe { *data })
}

/// Writes a view of text for the caller.
///
/// # Safety
/// The caller's promise; the text stays as long as the header says.
pub unsafe fn put_text(
    value: &str,
    text: *mut *const c_char,
    length: *mut usize,
) -> Result<(), Error> {
    // SAFETY: as above; both places are looked at before either is written.
    unsafe {
        let (text, length) =
            (output(text, "the text's place")?, output(length, "the length's place")?);
        text.write(value.as_ptr().cast());
        length.write(value.len());
    }
    Ok(())
}

/// Lends a value of this thread, which keeps its memory, so that a call in every frame allocates once. While it is lent
/// the thread has an empty one, so a call from within this one borrows nothing twice. A thread that ends and has no values
/// any more gets an empty one, too.
pub fn scratch<T: Default, R>(key: &'static LocalKey<Cell<T>>, run: impl FnOnce(&mut T) -> R) -> R {
    let mut value = key.try_with(Cell::take).unwrap_or_default();
    let result = run(&mut value);
    // It fails where there is nothing to keep it in.
    let _ = key.try_with(|kept| kept.set(value));
    result
}
