//! The border: what all entries share.
//!
//! What a caller promises of every pointer that it passes, and what `SAFETY` lines call *the caller's promise*:
//!
//! - A handle is null, or came from a function of this library, in this process. It may have been freed.
//! - Any other pointer is null, or points to as many values as its function says, which nobody writes (for inputs) or
//!   uses (for outputs) during the call.
//! - Text and arrays that an entry returns as views are read only while their owner says that they stay.
//!
//! All else is checked here: null, alignment, lengths, UTF-8, sizes of structs, handles that were freed or are of another
//! kind, and two threads in one handle.

mod alloc;
mod error;
mod handle;
mod memory;

pub use alloc::{Choice, phx_allocator};
#[cfg(test)]
pub use error::said;
pub use error::{Error, entry, last_message, of_element};
pub(crate) use handle::handle;
pub use handle::{Exclusive, Handle, Hold, free, lend, new, share, take};
pub(crate) use memory::extensible;
pub use memory::{
    Extensible, array, array_mut, bytes, fill, fillable, init, one, optional, options, output,
    put_text, required, scratch, sized, text,
};
