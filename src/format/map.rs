//! `Mapping`: a file as memory. The one unsafe line outside the lanes.

use memmap2::Mmap;
use std::fs::File;
use std::io;

/// A file's bytes, mapped to be read.
#[derive(Debug)]
pub(super) struct Mapping(Mmap);

impl Mapping {
    /// Maps a file. It must not be cut or written in place while the map lives; see FORMAT.md.
    pub fn new(file: &File) -> io::Result<Self> {
        // SAFETY: the map is only read. That nobody changes the file in place is what FORMAT.md asks of
        // whoever writes .phx files, and what `save` does: a new file takes the name, the old one stays
        // for those who mapped it. All counts and offsets are copied before they are checked, so bytes
        // that change anyway change poses, and a file that is cut ends the process (SIGBUS).
        let map = unsafe { Mmap::map(file) }?;
        Ok(Self(map))
    }
}

impl AsRef<[u8]> for Mapping {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}
