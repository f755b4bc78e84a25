//! Mapped .phx files: the one `unsafe` call of the command line.
//!
//! | command | opens its .phx files |
//! |---|---|
//! | crowd, view, render, pose, bench, info | mapped from [`MAPPED_FROM`] bytes on, otherwise read |
//! | merge | mapped: thousands of parts are held at once, and an open file each is more than systems allow |
//! | verify, bake | read: they judge files that others may be writing |

use phalanx::format::{Library, ReadError};
use std::path::Path;

/// Size from which files that are played are mapped, in bytes: 64 MiB. Reading takes as much memory as all
/// clips of the file, mapping almost none (docs/performance/loading.md). Smaller files are read, so that a
/// program that writes to one of them cannot disturb a command.
const MAPPED_FROM: u64 = 64 << 20;

/// Opens a file whose clips are played or shown.
pub fn open_to_play(path: &Path) -> Result<Library, ReadError> {
    open_from(path, MAPPED_FROM)
}

fn open_from(path: &Path, mapped_from: u64) -> Result<Library, ReadError> {
    // A file that is missing is reported by the library.
    let large = std::fs::metadata(path).is_ok_and(|file| file.len() >= mapped_from);
    if large { open(path) } else { Library::open(path) }
}

/// Maps a file.
pub fn open(path: &Path) -> Result<Library, ReadError> {
    // SAFETY: the contract is that no process writes to the file or truncates it while the command runs.
    // Commands themselves replace their outputs by new files (`save`) and write none that they read
    // (`Files`). Of other programs it is required of the user, in docs/command-line.md.
    unsafe { Library::open_mapped(path) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phalanx::format::{ClipForm, LibraryWriter, Provenance, save};

    #[test]
    fn large_files_are_mapped_and_small_ones_are_read() {
        let rig = phalanx::import::mannequin().unwrap();
        let path = std::env::temp_dir().join(format!("phalanx-mapped-{}", std::process::id()));
        save(&path, |out| {
            let mut writer = LibraryWriter::new(out, rig.skeleton())?;
            writer.add_clip(&rig.clips()[0], "clip", ClipForm::Rows)?;
            writer.finish(&Provenance::default()).map(|_| ())
        })
        .unwrap();
        let bytes = std::fs::metadata(&path).unwrap().len();
        // Clips that are read own their rows; mapped clips share the map.
        let shared = |library: Library| {
            let [one, two] = [0, 0].map(|clip| library.clip(clip).unwrap());
            one.rows().as_ptr() == two.rows().as_ptr()
        };
        assert!(shared(open_from(&path, bytes).unwrap()));
        assert!(!shared(open_from(&path, bytes + 1).unwrap()));
        assert!(!shared(open_to_play(&path).unwrap()));
        std::fs::remove_file(&path).unwrap();
    }
}
