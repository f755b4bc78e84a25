//! Status codes, and the message of a thread's last failure.

use crate::types::*;
use phalanx::bake::BakeError;
use phalanx::build::BuildError;
use phalanx::crowd::CrowdError;
use phalanx::format::ReadError;
use phalanx::import::ImportError;
use phalanx::retarget::RetargetError;
use phalanx::rig::LookupError;
use phalanx::simd::SimdLevelError;
use std::cell::RefCell;
use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A failure: its code, and a sentence for a person. One pointer, since every call returns one or none.
#[derive(Debug)]
pub struct Error(Box<(phx_status, String)>);

impl Error {
    #[cold]
    pub fn new(status: phx_status, message: impl Into<String>) -> Self {
        Self(Box::new((status, message.into())))
    }

    #[cfg(test)]
    pub fn status(&self) -> phx_status {
        self.0.0
    }

    /// A number or flag that is none of those allowed.
    #[cold]
    pub fn value(message: impl Into<String>) -> Self {
        Self::new(PHX_ERROR_VALUE, message)
    }

    /// An array that is shorter than what it is for.
    #[cold]
    pub fn short(what: &str, have: usize, needed: usize) -> Self {
        Self::new(PHX_ERROR_SHORT, format!("{what}: room for {have}, {needed} needed"))
    }

    /// An index that is not below the count.
    #[cold]
    pub fn index(what: &str, index: usize, have: usize) -> Self {
        Self::new(PHX_ERROR_NOT_FOUND, format!("there is no {what} {index}: the count is {have}"))
    }
}

/// Names the element of an array that a failure is about.
pub fn of_element(what: &str, i: usize) -> impl Fn(Error) -> Error {
    move |mut error| {
        error.0.1.insert_str(0, &format!("{what} {i}: "));
        error
    }
}

/// What fails in the library becomes the code of its kind; the message is the library's own.
macro_rules! from {
    ($($error:ty => $status:expr;)*) => {$(
        impl From<$error> for Error {
            #[cold]
            fn from(error: $error) -> Self {
                #[allow(clippy::redundant_closure_call)] // Some kinds have one code: a closure gives it.
                Self::new($status(&error), error.to_string())
            }
        }
    )*};
}

from! {
    CrowdError => of_crowd;
    LookupError => |_: &_| PHX_ERROR_NOT_FOUND;
    BuildError => of_build;
    ImportError => of_import;
    ReadError => of_read;
    RetargetError => |_: &_| PHX_ERROR_DATA;
    BakeError => |_: &_| PHX_ERROR_VALUE;
    SimdLevelError => |_: &_| PHX_ERROR_UNSUPPORTED;
}

fn of_crowd(error: &CrowdError) -> phx_status {
    use CrowdError::*;
    match error {
        UnknownRig { .. }
        | UnknownInstance { .. }
        | UnknownClip { .. }
        | UnknownSpace { .. }
        | UnknownModifier { .. } => PHX_ERROR_ID,
        NotPlaying { .. }
        | UnknownLayer { .. }
        | Lookup(_)
        | UnknownChannel { .. }
        | ClipIndex { .. } => PHX_ERROR_NOT_FOUND,
        InUse { .. } | NoPose | NoRootMotion { .. } | NoTiers => PHX_ERROR_STATE,
        Limit { .. } | RowMemory { .. } => PHX_ERROR_LIMIT,
        Snapshot { .. } | SnapshotBytes { .. } => PHX_ERROR_DATA,
        SnapshotVersion { .. } => PHX_ERROR_VERSION,
        ClipLayout { source, .. } | Scales { source, .. } => of_build(source),
        Element { source, .. } => of_crowd(source),
        _ => PHX_ERROR_VALUE,
    }
}

fn of_build(error: &BuildError) -> phx_status {
    match error {
        BuildError::Limit { .. } | BuildError::ClipBytes { .. } | BuildError::KeyTimes { .. } => {
            PHX_ERROR_LIMIT
        }
        BuildError::Joint(_) | BuildError::Index { .. } => PHX_ERROR_NOT_FOUND,
        BuildError::Beyond { .. } | BuildError::Marker { .. } => PHX_ERROR_VALUE,
        BuildError::Animation { source, .. } | BuildError::In { source, .. } => of_build(source),
        _ => PHX_ERROR_DATA,
    }
}

fn of_import(error: &ImportError) -> phx_status {
    use phalanx::import::ImportFault;
    match error {
        ImportError::Fault { fault: ImportFault::Io(_), .. } => PHX_ERROR_FILE,
        ImportError::Fault { fault: ImportFault::Extension { .. }, .. } => PHX_ERROR_UNSUPPORTED,
        ImportError::Fault {
            fault: ImportFault::Limit { .. } | ImportFault::Memory { .. },
            ..
        }
        | ImportError::ClipBytes { .. } => PHX_ERROR_LIMIT,
        ImportError::Build { source, .. } => of_build(source),
        _ => PHX_ERROR_DATA,
    }
}

fn of_read(error: &ReadError) -> phx_status {
    use phalanx::format::Fault;
    match &error.fault {
        Fault::Open { .. } | Fault::Read { .. } => PHX_ERROR_FILE,
        Fault::Version { .. } => PHX_ERROR_VERSION,
        Fault::Limit { .. } | Fault::Memory { .. } => PHX_ERROR_LIMIT,
        Fault::Build(source) => of_build(source),
        _ => PHX_ERROR_DATA,
    }
}

thread_local! {
    /// The message of this thread's last failure, with a NUL behind it.
    static MESSAGE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// This thread's last message, with a NUL behind it; empty without any failure. It stays until the next one.
pub fn last_message() -> (*const c_char, usize) {
    const NONE: (*const c_char, usize) = (c"".as_ptr(), 0);
    let read = |message: &RefCell<String>| {
        let message = message.borrow();
        message.len().checked_sub(1).map_or(NONE, |length| (message.as_ptr().cast(), length))
    };
    // A thread that ends has none any more.
    MESSAGE.try_with(read).unwrap_or(NONE)
}

/// This thread's last message, for tests.
#[cfg(test)]
pub fn said() -> String {
    let (data, length) = last_message();
    // SAFETY: it stays until this thread's next failure.
    let bytes = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), length) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs an entry. A failure leaves its message with the thread; a panic becomes [`PHX_ERROR_INTERNAL`].
#[inline]
pub fn entry(body: impl FnOnce() -> Result<(), Error>) -> phx_status {
    // What a panic leaves of a crowd is whole by the library's own promise, and its handle stays marked as in use
    // only while a guard of it lives.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => PHX_OK,
        Ok(Err(error)) => failed(error),
        Err(panic) => failed(panicked(&*panic)),
    }
}

#[cold]
fn failed(error: Error) -> phx_status {
    let (status, mut text) = *error.0;
    // C ends its text there.
    if text.contains('\0') {
        text = text.replace('\0', "\u{fffd}");
    }
    text.push('\0');
    // Nothing is allocated or freed while the message is borrowed: the host's allocator might call back.
    let last = MESSAGE.try_with(|message| message.replace(text));
    drop(last);
    status
}

#[cold]
fn panicked(panic: &(dyn std::any::Any + Send)) -> Error {
    let said = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    Error::new(
        PHX_ERROR_INTERNAL,
        format!("a fault of this library: {}", said.unwrap_or("no message")),
    )
}
