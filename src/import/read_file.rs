//! Whole files within a limit of bytes.

use super::ImportFault;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Limit on the size of one file, bytes: a glTF file, a file that it refers to, or a BVH file. Ten minutes at 120 Hz of 31
/// joints take 60 MB of BVH.
pub(super) const MAX_FILE_BYTES: u64 = 4 << 30;

/// Reads a regular file of at most `limit` bytes.
pub(super) fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>, ImportFault> {
    // The kind is checked before the file is opened: opening a pipe blocks until it has a writer.
    let info = fs::metadata(path).map_err(ImportFault::Io)?;
    if !info.is_file() {
        return Err(ImportFault::Io(io::Error::other("not a regular file")));
    }
    if info.len() > limit {
        return Err(ImportFault::Limit { what: "bytes of one file", needed: info.len(), limit });
    }
    let file = File::open(path).map_err(ImportFault::Io)?;
    let mut bytes = Vec::new();
    let size = usize::try_from(info.len()).unwrap_or(usize::MAX);
    let room = bytes.try_reserve_exact(size);
    room.map_err(|_| ImportFault::Io(io::ErrorKind::OutOfMemory.into()))?;
    // A file that grows while it is read stays within the limit too.
    let read = file.take(limit).read_to_end(&mut bytes);
    read.map_err(ImportFault::Io)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_up_to_the_limit() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let bytes = fs::read(&path).unwrap();
        let size = bytes.len() as u64;
        assert!(read_file(&path, size).is_ok_and(|read| read == bytes));
        let long = read_file(&path, size - 1);
        assert!(matches!(long, Err(ImportFault::Limit { needed, .. }) if needed == size));
        let folder = read_file(path.parent().unwrap(), size);
        assert!(matches!(folder, Err(ImportFault::Io(e)) if e.to_string() == "not a regular file"));
        assert!(matches!(read_file(&path.join("none"), size), Err(ImportFault::Io(_))));
    }
}
