//! `save` and `NewFile`: a file that is there whole or not at all.

use super::hash_bytes;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Temporary names that are tried: what is no file, or belongs to somebody else, may be in the way.
const MOST_NAMES: usize = 8;

/// How often a temporary file is made anew, where another process took the last one away.
const MOST_TRIES: usize = 1000;

/// Links that are followed to a file, as many as Linux follows.
const MOST_LINKS: usize = 40;

/// Bytes of a name that a temporary name repeats: systems take 255 in all.
const LONGEST_NAME: usize = 200;

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

impl SaveError {
    fn of(path: &Path) -> impl Fn(io::Error) -> Self + '_ {
        |source| Self {
            file: path.display().to_string(),
            source,
        }
    }
}

/// Writes a file under a temporary name beside it (`.NAME.partial`), syncs it, and gives it its name, as
/// [`NewFile`] does. Whatever happens on the way, the file under the name is whole: the old one or the new one.
///
/// # Errors
/// If `write` fails, another process writes the same file, the name is not that of a regular file, or the
/// operating system refuses.
pub fn save<E: From<SaveError>>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
) -> Result<(), E> {
    let mut new = NewFile::create(path)?;
    write(&mut new.out)?;
    Ok(new.finish()?)
}

/// A file in the making, which takes its name when it is whole; dropped before, it goes.
///
/// It lies beside the file whose place it takes, under a name of its own (`.NAME.partial`) that was not there
/// before: no link and no file of somebody else is written through. What a process that was killed has left
/// under that name goes; what another process is writing stays, and is an error. A file that is there keeps
/// its permissions and, where the system allows that, its owner. If the name is a symbolic link, the file
/// that it leads to is replaced, and the link stays.
#[derive(Debug)]
pub struct NewFile {
    /// Dropped before the file, whose lock keeps other processes away from the name.
    name: TemporaryName,
    out: BufWriter<File>,
    /// As given, for errors.
    path: PathBuf,
    /// The same with links followed.
    place: PathBuf,
}

impl NewFile {
    /// Opens a temporary file beside this one.
    ///
    /// # Errors
    /// If the name is that of something other than a regular file, another process writes the same file, or
    /// the operating system refuses.
    pub fn create(path: &Path) -> Result<Self, SaveError> {
        Self::create_beside(path).map_err(SaveError::of(path))
    }

    fn create_beside(path: &Path) -> io::Result<Self> {
        let before = match fs::metadata(path) {
            Ok(before) if before.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(before) if !before.is_file() => return Err(io::Error::other("not a regular file")),
            Ok(before) => Some(before),
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(e) => return Err(e),
        };
        let place = behind_links(path)?;
        let mut taken = io::Error::from(io::ErrorKind::AlreadyExists);
        for number in 0..MOST_NAMES {
            let partial = partial(&place, number)?;
            match claim(&partial) {
                Ok(file) => {
                    let name = TemporaryName(Some(partial));
                    if let Some(before) = &before {
                        keep_access(&file, before)?;
                    }
                    return Ok(Self {
                        name,
                        out: BufWriter::new(file),
                        path: path.to_owned(),
                        place,
                    });
                }
                Err(e) if is_in_the_way(&e) => taken = e,
                Err(e) => return Err(e),
            }
        }
        Err(taken)
    }

    /// Syncs the file and gives it its name.
    ///
    /// # Errors
    /// If the operating system refuses; the file that was there is as before.
    pub fn finish(self) -> Result<(), SaveError> {
        let Self {
            mut name,
            out,
            path,
            place,
        } = self;
        put(out, &mut name, &place).map_err(SaveError::of(&path))
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The name of a temporary file, until it is given another; then none.
#[derive(Debug)]
struct TemporaryName(Option<PathBuf>);

impl Drop for TemporaryName {
    fn drop(&mut self) {
        if let Some(name) = &self.0 {
            // The error in flight says more than one about this.
            let _ = fs::remove_file(name);
        }
    }
}

/// The file that a name leads to, whether it is there or not.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            Ok(to) => path = path.parent().unwrap_or(Path::new("")).join(to),
            // No link.
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many links lead on from it"))
}

fn partial(path: &Path, number: usize) -> io::Result<PathBuf> {
    let name = path.file_name();
    let name = name.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidFilename))?;
    let mut hidden = OsString::from(".");
    match name.len() {
        0..=LONGEST_NAME => hidden.push(name),
        _ => hidden.push(format!("{:016x}", hash_bytes(name.as_encoded_bytes()))),
    }
    hidden.push(".partial");
    if number > 0 {
        hidden.push(format!("-{number}"));
    }
    Ok(path.with_file_name(hidden))
}

/// Whether another temporary name may do.
fn is_in_the_way(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::AlreadyExists | io::ErrorKind::PermissionDenied
    )
}

/// Makes the temporary file: always a new one, since a file or link that is there may be anybody's. What a
/// process that ended left under the name goes.
fn claim(partial: &Path) -> io::Result<File> {
    for _ in 0..MOST_TRIES {
        let mut options = OpenOptions::new();
        let made = options.read(true).write(true).create_new(true);
        match made.open(partial) {
            Ok(file) => {
                lock(&file)?;
                // Another process may have taken it for a leftover between making and locking it.
                if is_at(&file, partial)? {
                    return Ok(file);
                }
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => remove_leftover(partial)?,
            Err(e) => return Err(e),
        }
    }
    Err(io::Error::new(
        io::ErrorKind::ResourceBusy,
        "others make and remove its temporary file",
    ))
}

/// Removes a temporary file that no process is writing.
fn remove_leftover(partial: &Path) -> io::Result<()> {
    let removed = || {
        if !fs::symlink_metadata(partial)?.is_file() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        // For the lock alone: nothing is written to what is there.
        let file = File::open(partial)?;
        lock(&file)?;
        // Another process may have finished between opening and locking: then this is its output, whole
        // and perhaps mapped, and no longer a temporary file.
        match is_at(&file, partial)? {
            true => fs::remove_file(partial),
            false => Ok(()),
        }
    };
    match removed() {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn lock(file: &File) -> io::Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            let text = "another process is writing it";
            Err(io::Error::new(io::ErrorKind::ResourceBusy, text))
        }
        // Some file systems know no locks.
        Err(TryLockError::Error(e)) if e.kind() == io::ErrorKind::Unsupported => Ok(()),
        Err(TryLockError::Error(e)) => Err(e),
    }
}

/// Whether an open file still has this name.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let own = file.metadata()?;
    match fs::symlink_metadata(path) {
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

/// Gives a new file, still empty, the permissions of the one whose place it takes, and its owner where the
/// system allows that.
#[cfg(unix)]
fn keep_access(file: &File, before: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let own = file.metadata()?;
    let mut mode = before.mode() & 0o777;
    if own.uid() != before.uid() {
        // Only root may give files away.
        let _ = fchown(file, Some(before.uid()), None);
    }
    if own.gid() != before.gid() && fchown(file, None, Some(before.gid())).is_err() {
        // What one group might do is nothing for another.
        mode &= !0o070;
    }
    file.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn keep_access(_: &File, _: &fs::Metadata) -> io::Result<()> {
    Ok(())
}

fn put(mut out: BufWriter<File>, name: &mut TemporaryName, place: &Path) -> io::Result<()> {
    out.flush()?;
    let file = out.into_inner().map_err(|e| e.into_error())?;
    file.sync_all()?;
    if let Some(partial) = &name.0 {
        fs::rename(partial, place)?;
        name.0 = None;
    }
    drop(file);
    // The new name, too, has to survive a power cut; some folders cannot be opened, on some systems none.
    let folder = place.parent().filter(|p| !p.as_os_str().is_empty());
    match File::open(folder.unwrap_or(Path::new("."))) {
        Ok(folder) if cfg!(unix) => folder.sync_all(),
        _ => Ok(()),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn folder(name: &str) -> io::Result<PathBuf> {
        let name = format!("phalanx-save-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    #[test]
    fn a_file_that_was_given_its_name_is_no_temporary_one() -> io::Result<()> {
        let folder = folder("claim")?;
        let (partial, done) = (folder.join(".a.partial"), folder.join("a"));
        let file = claim(&partial)?;
        assert!(is_at(&file, &partial)?);
        fs::rename(&partial, &done)?;
        assert!(!is_at(&file, &partial)?);
        let next = claim(&partial)?;
        assert!(is_at(&next, &partial)? && !is_at(&file, &partial)?);
        fs::remove_dir_all(&folder)
    }

    #[test]
    fn a_link_under_the_temporary_name_is_not_followed() -> io::Result<()> {
        let folder = folder("link")?;
        let (out, other) = (folder.join("a"), folder.join("other"));
        fs::write(&other, "another's")?;
        let link = folder.join(".a.partial");
        std::os::unix::fs::symlink("other", &link)?;
        let mut new = NewFile::create(&out).map_err(|e| e.source)?;
        new.write_all(b"new")?;
        new.finish().map_err(|e| e.source)?;
        assert_eq!(fs::read(&out)?, b"new");
        assert_eq!(fs::read(&other)?, b"another's");
        assert_eq!(fs::read_link(&link)?, Path::new("other"));
        fs::remove_dir_all(&folder)
    }

    #[test]
    fn links_that_lead_in_a_circle_end() -> io::Result<()> {
        let folder = folder("circle")?;
        let (a, b) = (folder.join("a"), folder.join("b"));
        std::os::unix::fs::symlink("b", &a)?;
        std::os::unix::fs::symlink("a", &b)?;
        assert!(behind_links(&a).is_err() && NewFile::create(&a).is_err());
        fs::remove_dir_all(&folder)
    }
}
