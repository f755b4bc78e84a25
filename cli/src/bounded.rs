//! Reads files, which may be pipes or devices, up to a size limit.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Reads a whole file; `None` if it is longer than `limit` bytes. The size in the file's metadata is no
/// bound: for a device or a pipe it is 0.
pub fn read(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}
