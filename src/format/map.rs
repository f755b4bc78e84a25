//! `Mapping`: a memory-mapped file. The only `unsafe` code outside `simd`.

use memmap2::Mmap;
use std::fs::File;
use std::io;

/// A file, mapped read-only.
#[derive(Debug)]
pub(super) struct Mapping(Mmap);

impl Mapping {
    /// Maps a file. It must not be truncated or written in place while it is mapped; see FORMAT.md.
    pub fn new(file: &File) -> io::Result<Self> {
        // SAFETY: the map is only read. FORMAT.md forbids changing a .phx file in place. `save` complies: it
        // renames a new file over the old one, which stays intact for processes that have mapped it. If the
        // file changes anyway: counts and offsets are copied before they are checked, so changed bytes
        // change poses only; truncation ends the process with SIGBUS.
        let map = unsafe { Mmap::map(file) }?;
        Ok(Self(map))
    }
}

impl AsRef<[u8]> for Mapping {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}
