//! Reads files, which may be pipes or devices, up to a size limit.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Reads a whole file; `None` if it is longer than `limit` bytes. The size in the file's metadata is not trusted: for a
/// device or a pipe it is 0. Only a pipe that a shell has opened is read; opening any other pipe would block until it
/// has a writer.
pub fn read(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    if is_pipe(path)? && !is_opened(path) {
        return Err(io::Error::other("not a regular file"));
    }
    File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

#[cfg(unix)]
fn is_pipe(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::FileTypeExt;
    Ok(std::fs::metadata(path)?.file_type().is_fifo())
}

/// Other systems have no pipes among files.
#[cfg(not(unix))]
fn is_pipe(_: &Path) -> io::Result<bool> {
    Ok(false)
}

/// Whether a path names a file that this process was started with: standard input, `<(COMMAND)`.
fn is_opened(path: &Path) -> bool {
    let folders = ["/dev/fd", "/proc/self/fd"];
    path == Path::new("/dev/stdin")
        || path.parent().is_some_and(|p| folders.iter().any(|f| p == Path::new(f)))
}
