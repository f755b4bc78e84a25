//! The kind of a file, guessed from its first bytes.

use super::error::CliError;
use super::import_args::advise;
use phalanx::import::ImportError;
use phalanx::import::bvh::{is_bvh, is_bvh_file};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Bytes read to tell what a file is.
const HEAD: u64 = 256;

/// The kinds of files that are distinguished.
enum Kind {
    /// Whole or cut within the first bytes.
    Phx,
    Empty,
    Glb,
    Json,
    Bvh,
    /// A file that is not a model; its kind in words.
    Named(&'static str),
    /// Nothing known; the first byte.
    Unknown(u8),
}

/// `None` if the file cannot be read.
fn kind(file: &Path) -> Option<Kind> {
    // Opening a pipe would block until a writer appears.
    if !file.is_file() {
        return None;
    }
    let mut head = Vec::new();
    let opened = File::open(file).ok()?;
    opened.take(HEAD).read_to_end(&mut head).ok()?;
    let text = head.trim_ascii_start();
    Some(match &head[..] {
        // A file that is cut within the first bytes is damaged.
        [0x89, b'P', b'H', b'X', ..] => Kind::Phx,
        [] => Kind::Empty,
        [b'g', b'l', b'T', b'F', ..] => Kind::Glb,
        [0x89, b'P', b'N', b'G', ..] => Kind::Named("a PNG picture"),
        [b'G', b'I', b'F', b'8', ..] => Kind::Named("a GIF picture"),
        [b'P', b'K', 3, 4, ..] => Kind::Named("a ZIP archive"),
        _ if text.starts_with(b"{") => Kind::Json,
        _ if is_bvh(&head) => Kind::Bvh,
        [first, ..] => Kind::Unknown(*first),
    })
}

/// Describes a file that does not begin like a .phx file; `None` for .phx files and for files that cannot be read.
pub fn other_than_phx(file: &Path) -> Option<String> {
    Some(match kind(file)? {
        Kind::Phx => return None,
        Kind::Empty => "it is empty".into(),
        Kind::Glb => "it seems to be a binary glTF file (.glb), which `phalanx bake` reads".into(),
        Kind::Json => {
            "it seems to be JSON, maybe a glTF file (.gltf), which `phalanx bake` reads".into()
        }
        Kind::Bvh => "it seems to be motion capture (.bvh), which `phalanx bake` reads".into(),
        Kind::Named(name) => format!("it seems to be {name}"),
        Kind::Unknown(first) => {
            format!("its first byte is {first:#04x}, where .phx files have 0x89")
        }
    })
}

/// The error of an import; for a file that begins like no model, what it seems to be.
pub fn explain(file: &Path, error: ImportError) -> CliError {
    // A file that is named .bvh: the error says with which word it begins.
    if matches!(error, ImportError::Fault { .. }) && is_bvh_file(file) {
        return advise(error);
    }
    let kind = match kind(file) {
        Some(Kind::Phx) => "it seems to be a damaged .phx file".into(),
        Some(Kind::Named(name)) => format!("it seems to be {name}"),
        Some(Kind::Unknown(first)) => format!(
            "its first byte is {first:#04x}, where .glb files have 0x67, .gltf files 0x7b, .bvh files 0x48 and .phx files 0x89"
        ),
        Some(Kind::Empty | Kind::Glb | Kind::Json | Kind::Bvh) | None => {
            return advise(error);
        }
    };
    let file = file.display().to_string();
    CliError::NoModel { file, kind }
}
