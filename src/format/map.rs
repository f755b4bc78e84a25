//! `Library::open_mapped`: a library in a memory-mapped file. The only `unsafe` code outside `simd`.

use super::error::ReadError;
use super::library::Library;
use super::source::{Source, copy, regular_file};
use crate::clip::SharedBytes;
use memmap2::Mmap;
use std::path::Path;

impl Library {
    /// Opens and maps a file. Sections are read in the mapped bytes, and rows of clips in form
    /// [`ClipForm::Rows`](super::ClipForm::Rows) are sampled there.
    ///
    /// In contrast to [`Library::open`] nothing is copied, no file descriptor is held, and the rows take no memory besides
    /// the system's file cache, which processes share. It pays for large libraries of which a part plays at a time;
    /// PERFORMANCE.md has figures.
    ///
    /// # Safety
    /// From this call until the library, its clones, and every clip and rig read from any of them have been
    /// dropped, no process, this one included, may write to the file or truncate it, and its file system may
    /// not change its bytes in another way (a network share whose server restarts). Behaviour is undefined
    /// otherwise: values that were checked can change. A truncated file usually ends the process with SIGBUS.
    ///
    /// Removing the file and giving its name to another one, as [`save()`](super::save()) and
    /// [`NewFile`](super::NewFile) do, does not change the mapped bytes.
    ///
    /// # Errors
    /// Those of [`Library::open`], and if the file cannot be mapped.
    ///
    /// # Examples
    /// ```no_run
    /// use phalanx::format::Library;
    /// use std::path::Path;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// // SAFETY: the file is installed with this program, read-only, and updates replace it.
    /// let library = unsafe { Library::open_mapped(Path::new("library.phx")) }?;
    /// let walk = library.find_clip("walk").ok_or("no such clip")?;
    /// let clip = library.clip(walk)?; // its rows are sampled in the file
    /// # Ok(())
    /// # }
    /// ```
    pub unsafe fn open_mapped(path: &Path) -> Result<Self, ReadError> {
        let (file, bytes) = regular_file(path)?;
        // An empty file cannot be mapped.
        if bytes == 0 {
            return Self::of_file(path, Source::Memory(copy(&[])));
        }
        // SAFETY: the caller promises that the bytes do not change while the map lives. It is read-only and
        // lives as long as the library, its clones and the clips that use it, each of which shares it.
        let map = unsafe { Mmap::map(&file) };
        let map = map.map_err(ReadError::open(path))?;
        Self::of_file(path, Source::Memory(SharedBytes::from_owner(map)))
    }
}
