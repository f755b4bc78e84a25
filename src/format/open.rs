//! The bytes of a library: a mapped file, or a copy in memory.

use super::error::OpenError;
use super::map::Mapping;
use crate::clip::SharedBytes;
use crate::math::Row;
use std::fs::File;
use std::path::Path;

/// Bytes in memory, aligned to 64 bytes as the sections of a mapped file are.
struct Copied {
    rows: Vec<Row>,
    len: usize,
}

impl AsRef<[u8]> for Copied {
    fn as_ref(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.rows)[..self.len]
    }
}

/// Maps a regular file.
pub(super) fn map(path: &Path) -> Result<SharedBytes, OpenError> {
    let failed = |source| OpenError::Io {
        file: path.display().to_string(),
        source,
    };
    // Checked before opening: opening a pipe blocks until it has a writer.
    let kind = std::fs::metadata(path).map_err(failed)?;
    if kind.is_dir() {
        return Err(failed(std::io::ErrorKind::IsADirectory.into()));
    }
    if !kind.is_file() {
        return Err(failed(std::io::Error::other("not a regular file")));
    }
    let file = File::open(path).map_err(failed)?;
    let data = file.metadata().map_err(failed)?;
    // An empty file cannot be mapped.
    if data.len() == 0 {
        return Ok(copy(&[]));
    }
    Ok(SharedBytes::from_owner(
        Mapping::new(&file).map_err(failed)?,
    ))
}

/// Copies bytes into aligned memory.
pub(super) fn copy(bytes: &[u8]) -> SharedBytes {
    let mut rows = vec![Row::default(); bytes.len().div_ceil(size_of::<Row>())];
    bytemuck::cast_slice_mut(&mut rows)[..bytes.len()].copy_from_slice(bytes);
    let len = bytes.len();
    SharedBytes::from_owner(Copied { rows, len })
}
