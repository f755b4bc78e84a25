//! `save` and `NewFile`: atomic replacement of files.

use super::hash_bytes;
use super::writer::WriteError;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Number of temporary names that are tried. A name may be taken by a directory, or by a file of another user.
const MOST_NAMES: usize = 8;

/// Limit on the attempts to create a temporary file while other processes keep removing it.
const MOST_TRIES: usize = 1000;

/// Limit on the symbolic links that are followed to a file; the limit of Linux.
const MOST_LINKS: usize = 40;

/// Longest name that its temporary name repeats, bytes. File systems allow 255 for the whole name.
const LONGEST_NAME: usize = 200;

/// The error of a file that could not be put in place.
fn failed(path: &Path) -> impl Fn(io::Error) -> WriteError + '_ {
    |source| WriteError::Save { file: path.display().to_string(), source }
}

/// Writes a file atomically: under a temporary name beside it (`.NAME.partial`), then renamed.
///
/// The file is synced before it is renamed, so after a failure or a power cut the name refers to the
/// complete old file or the complete new one. See [`NewFile`] for permissions, links and leftovers.
///
/// # Errors
/// If `write` fails, another process is writing the same file, the path exists and is not a regular file,
/// or the operating system reports an error.
pub fn save<E: From<WriteError>>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
) -> Result<(), E> {
    let mut new = NewFile::create(path)?;
    write(&mut new.out)?;
    Ok(new.finish()?)
}

/// Removes the temporary file that a killed process has left next to a file. A file that another process is writing, or
/// that cannot be removed, is left alone.
pub fn remove_leftovers(path: &Path) {
    let Ok(place) = behind_links(path) else { return };
    for number in 0..MOST_NAMES {
        match partial(&place, number) {
            Ok(name) if name.symlink_metadata().is_ok() => {
                // Errors are ignored here: writing the file reports them.
                let _ = remove_leftover(&name);
            }
            _ => {}
        }
    }
}

/// A file being written, which replaces its target on [`NewFile::finish`]. Dropping it first removes it.
///
/// The file is created beside its target as `.NAME.partial` and is always a new file, so it never writes through
/// an existing link or into another user's file. A leftover of a killed process is removed first; a file
/// that another process is writing is left alone and reported as an error. The new file gets the
/// permissions of the file it replaces and, where the system allows it, its owner. If the path is a
/// symbolic link, the link stays and its target is replaced.
#[derive(Debug)]
pub struct NewFile {
    /// The temporary name, dropped before the file, whose lock protects the name from other processes.
    name: TemporaryName,
    out: BufWriter<File>,
    /// The path as given, for errors.
    path: PathBuf,
    /// The path with links followed.
    place: PathBuf,
}

impl NewFile {
    /// Creates the temporary file beside `path`.
    ///
    /// # Errors
    /// If the path exists and is not a regular file, another process is writing the same file, or the
    /// operating system reports an error.
    pub fn create(path: &Path) -> Result<Self, WriteError> {
        Self::create_beside(path).map_err(failed(path))
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

    /// Syncs the file and renames it to its target.
    ///
    /// # Errors
    /// If the operating system reports an error. Unless only the folder could not be synced, the existing
    /// file is unchanged.
    pub fn finish(self) -> Result<(), WriteError> {
        let Self { mut name, out, path, place } = self;
        put(out, &mut name, &place).map_err(failed(&path))
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

/// The path of a temporary file, removed on drop. `None` once it is renamed.
#[derive(Debug)]
struct TemporaryName(Option<PathBuf>);

impl Drop for TemporaryName {
    fn drop(&mut self) {
        if let Some(name) = &self.0 {
            // An error here would hide the one that led to the drop.
            let _ = fs::remove_file(name);
        }
    }
}

/// Follows symbolic links; the target need not exist.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            Ok(to) => path = path.parent().unwrap_or(Path::new("")).join(to),
            // The path is not a link.
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many levels of symbolic links"))
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

/// True if another temporary name may succeed.
fn is_in_the_way(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::PermissionDenied)
}

/// Creates and locks the temporary file. It is always a new file: an existing file or link may belong to
/// another user. A leftover under the name is removed.
fn claim(partial: &Path) -> io::Result<File> {
    for _ in 0..MOST_TRIES {
        let mut options = OpenOptions::new();
        let made = options.read(true).write(true).create_new(true);
        match made.open(partial) {
            Ok(file) => {
                lock(&file)?;
                // Between creating and locking, another process may have removed it as a leftover.
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
        "other processes keep removing its temporary file",
    ))
}

/// Removes a temporary file that no process is writing.
fn remove_leftover(partial: &Path) -> io::Result<()> {
    let removed = || {
        if !fs::symlink_metadata(partial)?.is_file() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        // Opened only to lock it.
        let file = File::open(partial)?;
        lock(&file)?;
        // Between opening and locking, another process may have renamed it. Then it is a complete output,
        // possibly mapped, and no longer a temporary file.
        if is_at(&file, partial)? { fs::remove_file(partial) } else { Ok(()) }
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
        // Some file systems do not support locks.
        Err(TryLockError::Error(e)) if e.kind() == io::ErrorKind::Unsupported => Ok(()),
        Err(TryLockError::Error(e)) => Err(e),
    }
}

/// True if the path still refers to the open file.
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

/// True if the path exists. There is no portable way to compare it with the open file.
#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> io::Result<bool> {
    path.try_exists()
}

/// Copies permissions from the file to be replaced to the new, still empty file; owner and group too where
/// the system allows it.
#[cfg(unix)]
fn keep_access(file: &File, before: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let own = file.metadata()?;
    let mut mode = before.mode() & 0o777;
    if own.uid() != before.uid() {
        // Only root may change the owner, so an error is ignored.
        let _ = fchown(file, Some(before.uid()), None);
    }
    if own.gid() != before.gid() && fchown(file, None, Some(before.gid())).is_err() {
        // The group differs, so its permissions are dropped.
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
    // The rename is synced as well. Some folders cannot be opened, and on some systems none can.
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
    fn links_that_lead_in_a_circle_end() -> io::Result<()> {
        let folder = folder("circle")?;
        let (a, b) = (folder.join("a"), folder.join("b"));
        std::os::unix::fs::symlink("b", &a)?;
        std::os::unix::fs::symlink("a", &b)?;
        assert!(behind_links(&a).is_err() && NewFile::create(&a).is_err());
        fs::remove_dir_all(&folder)
    }
}
