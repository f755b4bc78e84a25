//! `save`: a file that is there whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a file was not written; the one that was there is as before.
#[derive(Debug, Error)]
#[error("{file}: cannot be written: {source}")]
pub struct SaveError {
    /// The file.
    pub file: String,
    /// Why.
    #[source]
    pub source: io::Error,
}

/// Writes a file under a temporary name beside it (`.NAME.partial`), syncs it, and gives it its name.
/// Whatever happens on the way, the file under the name is whole: the old one or the new one.
///
/// # Errors
/// If `write` fails, another process writes the same file, or the operating system refuses.
pub fn save<E: From<SaveError>>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
) -> Result<(), E> {
    let failed = |source| SaveError {
        file: path.display().to_string(),
        source,
    };
    let partial = partial(path).map_err(failed)?;
    let file = claim(&partial).map_err(failed)?;
    let mut out = BufWriter::new(file);
    let written = write(&mut out).and_then(|()| Ok(put(out, &partial, path).map_err(failed)?));
    if written.is_err() {
        // The error in flight says more than one about this.
        let _ = fs::remove_file(&partial);
    }
    written
}

fn partial(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name();
    let name = name.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidFilename))?;
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(".partial");
    Ok(path.with_file_name(hidden))
}

/// Opens the temporary file; what a process that ended left in it goes.
fn claim(partial: &Path) -> io::Result<File> {
    loop {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(partial)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let text = "another process is writing it";
                return Err(io::Error::new(io::ErrorKind::ResourceBusy, text));
            }
            // Some file systems know no locks.
            Err(TryLockError::Error(e)) if e.kind() == io::ErrorKind::Unsupported => {}
            Err(TryLockError::Error(e)) => return Err(e),
        }
        // Another process may have finished between opening and locking: then this is its output, whole
        // and perhaps mapped, and no longer a temporary file.
        if is_at(&file, partial)? {
            file.set_len(0)?;
            return Ok(file);
        }
    }
}

/// Whether an open file still has this name.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let own = file.metadata()?;
    match fs::metadata(path) {
        Ok(there) => Ok((own.dev(), own.ino()) == (there.dev(), there.ino())),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}

/// Whether there is a file of this name: which one, systems tell in ways of their own.
#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> io::Result<bool> {
    path.try_exists()
}

fn put(out: BufWriter<File>, partial: &Path, path: &Path) -> io::Result<()> {
    let mut out = out;
    out.flush()?;
    let file = out.into_inner().map_err(|e| e.into_error())?;
    file.sync_all()?;
    fs::rename(partial, path)?;
    drop(file);
    // The new name, too, has to survive a power cut; elsewhere folders cannot be opened.
    if cfg!(unix) {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
    }
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_given_its_name_is_no_temporary_one() -> io::Result<()> {
        let folder = std::env::temp_dir().join(format!("phalanx-save-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        let (partial, done) = (folder.join(".a.partial"), folder.join("a"));
        let file = claim(&partial)?;
        assert!(is_at(&file, &partial)?);
        fs::rename(&partial, &done)?;
        assert!(!is_at(&file, &partial)?);
        let next = claim(&partial)?;
        assert!(is_at(&next, &partial)? && !is_at(&file, &partial)?);
        fs::remove_dir_all(&folder)
    }
}
