//! The .phx file: one skeleton with its skins, meshes, materials and images, and any number of clips.
//!
//! Open a file with [`Library::open`], or map it with [`Library::open_mapped`]. [`Library::rig`] reads a whole
//! character, [`Library::clip`] a single clip. Write a file with [`LibraryWriter`]; [`save()`] replaces an
//! existing file atomically. FORMAT.md specifies every byte.
//!
//! Files are untrusted input: every count and offset is checked before it is used, and memory is charged
//! against a [limit](MEMORY_PER_BYTE) before it is allocated.

mod bounds;
mod clip;
pub mod codec;
mod container;
mod error;
mod events;
mod humanoid;
mod images;
mod library;
#[allow(unsafe_code)] // `Library::open_mapped`; the promise is stated there.
mod map;
mod materials;
mod memory;
mod meshes;
mod names;
mod nodes;
mod provenance;
mod read;
mod save;
mod skeleton;
mod skins;
mod source;
mod springs;
mod table;
mod write;
mod writer;

pub use clip::ClipForm;
use container::MAGIC;
pub use container::{Section, hash_bytes};
pub use error::{Fault, ReadError};
pub use library::{Library, RigOptions, SectionInfo};
pub use memory::{MEMORY_BASE, MEMORY_PER_BYTE};
pub use provenance::{ClipOrigin, Provenance, Source};
pub use save::{NewFile, remove_leftovers, save};
pub use writer::{LibraryWriter, WriteError};

/// Rows and tables are used with the bytes that are stored, so the machine's byte order must be the file's.
const _: () = assert!(
    cfg!(target_endian = "little"),
    "feature `phx`: .phx files are little endian and need a little-endian target"
);

/// True if the bytes begin as every .phx file does.
pub fn is_phx(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}
