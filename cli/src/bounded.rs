//! Files that may be pipes or devices, read up to a limit.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Reads all of a file; none if it is longer. What a file says of its size is no bound: a device or a pipe
/// says 0.
pub fn read(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}
