//! Outputs: standard output, and files that are checked for write access before the work and written
//! after it.

use super::error::CliError;
use super::text::{self, one_line};
use phalanx::format::NewFile;
use serde::Serialize;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes text to standard output, broken at spaces where it is wider than the terminal.
pub fn print(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    out.write_all(text::paragraphs(&text::lines(text)).as_bytes())
        .and_then(|()| out.flush())
        .map_err(CliError::Stdout)
}

/// The widest line of an error, in columns: several long paths fit.
pub const WIDEST_LINE: usize = 4000;

/// Writes a line to standard error: an error or a warning.
pub fn tell(what: &str) {
    let line = text::shorten(&one_line(what), WIDEST_LINE);
    // Nothing can be done if standard error is closed too.
    let _ = writeln!(io::stderr(), "phalanx: {line}");
}

/// Writes a value as JSON and a newline to standard output; `pretty` indents it.
pub fn print_json(value: &impl Serialize, pretty: bool) -> Result<(), CliError> {
    let mut out = BufWriter::new(io::stdout().lock());
    text::write_json(&mut out, value, pretty).map_err(CliError::Stdout)
}

/// A file to be written when the work is done. Write access is checked first, so that a path that cannot be
/// written fails early; existing content is kept until then.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    mode: WriteMode,
}

/// How the file is written.
#[derive(Debug)]
enum WriteMode {
    /// A new file replaces the existing one.
    Replace,
    /// The existing file is truncated and written, since its folder accepts no new files.
    Rewrite(File),
    /// Standard output or error, a pipe, a device.
    Stream(File),
}

impl Output {
    /// Checks that a file can be written, without changing its content.
    pub fn open(path: &Path) -> Result<Self, CliError> {
        let mode = WriteMode::to(path).map_err(|source| failed(path, source))?;
        Ok(Self { path: path.to_owned(), mode })
    }

    /// Replaces the content.
    pub fn write(self, bytes: &[u8]) -> Result<(), CliError> {
        let written = match self.mode {
            WriteMode::Replace => {
                NewFile::create(&self.path).map_err(io::Error::from).and_then(|mut new| {
                    new.write_all(bytes)?;
                    new.finish().map_err(io::Error::from)
                })
            }
            WriteMode::Rewrite(mut file) => file.set_len(0).and_then(|()| file.write_all(bytes)),
            WriteMode::Stream(mut file) => file.write_all(bytes).and_then(|()| file.flush()),
        };
        written.map_err(|source| failed(&self.path, source))
    }

    /// Replaces the content with a value as JSON.
    pub fn write_json(self, value: &impl Serialize) -> Result<(), CliError> {
        let mut bytes = Vec::new();
        text::write_json(&mut bytes, value, true).map_err(|source| failed(&self.path, source))?;
        self.write(&bytes)
    }
}

impl WriteMode {
    fn to(path: &Path) -> io::Result<Self> {
        if let Some(stream) = standard_stream(path)? {
            return Ok(Self::Stream(stream));
        }
        // An existing file must be writable, even though it will be replaced.
        let old = match fs::metadata(path) {
            Ok(there) => {
                let old = OpenOptions::new().write(true).open(path)?;
                if !there.is_file() {
                    return Ok(Self::Stream(old));
                }
                Some(old)
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(e) => return Err(e),
        };
        match (NewFile::create(path).map_err(io::Error::from), old) {
            (Ok(_), _) => Ok(Self::Replace),
            // The folder accepts no new file.
            (Err(e), Some(old)) if e.kind() == io::ErrorKind::PermissionDenied => {
                Ok(Self::Rewrite(old))
            }
            (Err(error), _) => Err(error),
        }
    }
}

/// Standard output or standard error if the path leads to it: `/dev/stdout`, or the file to which a shell
/// has redirected it.
#[cfg(unix)]
fn standard_stream(path: &Path) -> io::Result<Option<File>> {
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;
    let Ok(there) = fs::metadata(path) else {
        return Ok(None);
    };
    let (out, error) = (io::stdout(), io::stderr());
    for stream in [out.as_fd(), error.as_fd()] {
        let stream = File::from(stream.try_clone_to_owned()?);
        let own = stream.metadata()?;
        if (own.dev(), own.ino()) == (there.dev(), there.ino()) {
            return Ok(Some(stream));
        }
    }
    Ok(None)
}

#[cfg(not(unix))]
fn standard_stream(_: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

fn failed(path: &Path, source: io::Error) -> CliError {
    CliError::Write { path: path.display().to_string(), source }
}
