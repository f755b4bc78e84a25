//! Where results go: standard output, and files that are opened before the work and written after.

use super::error::CliError;
use super::text::one_line;
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes text to standard output.
pub fn print(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(CliError::Stdout)
}

/// Writes a line to standard error: why the program ends, or a warning.
pub fn tell(what: &str) {
    // Nothing is left to do if standard error is closed too.
    let _ = writeln!(io::stderr(), "phalanx: {}", one_line(what));
}

/// Writes a value as JSON and a newline to standard output; `pretty` on many lines.
pub fn print_json(value: &impl Serialize, pretty: bool) -> Result<(), CliError> {
    let mut out = BufWriter::new(io::stdout().lock());
    write_json(&mut out, value, pretty).map_err(CliError::Stdout)
}

fn write_json(out: &mut impl Write, value: &impl Serialize, pretty: bool) -> io::Result<()> {
    if pretty {
        serde_json::to_writer_pretty(&mut *out, value)?;
    } else {
        serde_json::to_writer(&mut *out, value)?;
    }
    out.write_all(b"\n")?;
    out.flush()
}

/// A file to be written when the work is done. It is opened before, so that a path that cannot be
/// written costs no work; if the work fails, a file that was not there before is removed again.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    file: File,
    created: bool,
    written: bool,
}

impl Output {
    /// Opens a file for writing and leaves its content alone.
    pub fn open(path: &Path) -> Result<Self, CliError> {
        let created = !path.exists();
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(|source| failed(path, source))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            created,
            written: false,
        })
    }

    /// Replaces the content.
    pub fn write(mut self, bytes: &[u8]) -> Result<(), CliError> {
        let file = &mut self.file;
        // Pipes and devices have no length to set.
        let cut = match file.metadata() {
            Ok(m) if m.is_file() => file.set_len(0),
            other => other.map(|_| ()),
        };
        cut.and_then(|()| file.write_all(bytes))
            .and_then(|()| file.flush())
            .map_err(|source| failed(&self.path, source))?;
        self.written = true;
        Ok(())
    }

    /// Replaces the content by a value as JSON.
    pub fn write_json(self, value: &impl Serialize) -> Result<(), CliError> {
        let mut bytes = Vec::new();
        write_json(&mut bytes, value, true).map_err(|source| failed(&self.path, source))?;
        self.write(&bytes)
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if self.created && !self.written {
            // The file is empty; if it cannot be removed, the error in flight says more.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn failed(path: &Path, source: io::Error) -> CliError {
    CliError::Write {
        path: path.display().to_string(),
        source,
    }
}
