//! The .phx file: one skeleton, its skins, meshes and surfaces, and any number of clips.
//!
//! Lives here: the container, one section per file, the writer, the reader and the map. Not here: how
//! clips are built (`build`) or sampled (`runtime`). FORMAT.md describes every byte.
//! Nothing trusts a file: every count and offset is checked before it is used, and memory is paid for
//! from a [memory limit](MEMORY_PER_BYTE) before it is allocated.

mod clip;
pub mod codec;
mod container;
mod error;
mod events;
mod images;
mod library;
#[allow(unsafe_code)] // The map call, with its reason.
mod map;
mod materials;
mod memory;
mod meshes;
mod names;
mod nodes;
mod open;
mod provenance;
mod read;
mod save;
mod skeleton;
mod skins;
mod write;
mod writer;

pub use clip::ClipForm;
pub use codec::CodecError;
pub use container::{ALIGNMENT, MAGIC, Section, VERSION, hash_bytes};
pub use error::{Fault, FormatError, OpenError};
pub use library::{Library, RigOptions, SectionInfo};
pub use memory::{BLOCKS_BASE, BLOCKS_PER_BYTE, MEMORY_BASE, MEMORY_PER_BYTE};
pub use provenance::{ClipOrigin, Provenance, Source};
pub use save::{NewFile, SaveError, save};
pub use writer::{LibraryWriter, WriteError};

/// Rows and tables are read where they lie, so the machine's bytes have to be those of the file.
const _: () = assert!(
    cfg!(target_endian = "little"),
    "feature `phx`: .phx files are little endian, and so must be the machine"
);

/// Whether bytes begin as a .phx file does.
pub fn is_phx(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}
