//! The ways to open a library: read from its file, mapped, and in memory. They refuse the same files with the
//! same errors. A library that is read survives what happens to its file.

use super::Tested;
use super::roundtrip::check;
use super::stored::scratch;
use libtest_mimic::Failed;
use phalanx::format::{
    ClipForm, Fault, Library, LibraryWriter, Provenance, ReadError, RigOptions, Section,
    WriteError, save,
};
use phalanx_testkit::sample::sample;
use phalanx_testkit::{alloc, made};
use std::fs::{self, File};
use std::io::{Cursor, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A way to open a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    Read,
    Mapped,
    Memory,
}

impl Way {
    pub const ALL: [Self; 3] = [Self::Read, Self::Mapped, Self::Memory];
    pub const FILES: [Self; 2] = [Self::Read, Self::Mapped];

    pub fn open(self, path: &Path) -> Result<Library, ReadError> {
        let opened = match self {
            Self::Read => Library::open(path),
            Self::Mapped => mapped(path),
            Self::Memory => {
                return Library::from_bytes(&fs::read(path).expect("the file was just written"));
            }
        };
        opened.map_err(|mut error| {
            let missing = matches!(error.fault, Fault::Open { .. });
            assert!(!missing, "the file was just written: {error}");
            assert_eq!(error.file.take(), Some(path.display().to_string()));
            error
        })
    }
}

fn mapped(path: &Path) -> Result<Library, ReadError> {
    // SAFETY: the file is in a folder of one test, which changes no file while it is mapped.
    unsafe { Library::open_mapped(path) }
}

/// Opens and reads all there is.
pub fn read(way: Way, path: &Path) -> Result<(), ReadError> {
    way.open(path)?.verify()
}

/// Opens a file of these bytes in both ways, which must give what reading them in memory has given.
pub fn same(file: &[u8], expected: &Result<(), ReadError>) -> Tested {
    // Tests run side by side; none may write to what another has mapped.
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let name = format!("{}.phx", NEXT.fetch_add(1, Ordering::Relaxed));
    let path = scratch("same")?.join(name);
    fs::write(&path, file)?;
    for way in Way::FILES {
        let found = read(way, &path);
        // As text, since an error may hold a NaN.
        let (found, expected) = (format!("{found:?}"), format!("{expected:?}"));
        check(found == expected, format!("{way:?}: {found}, in memory {expected}"))?;
    }
    Ok(fs::remove_file(&path)?)
}

/// Changes one byte of a file where it lies.
pub fn flip(path: &Path, at: u64, value: u8) -> Tested {
    let mut file = File::options().write(true).open(path)?;
    file.seek(SeekFrom::Start(at))?;
    Ok(file.write_all(&[value])?)
}

fn made_file(folder: &str) -> Result<PathBuf, Failed> {
    let path = scratch(folder)?.join("made.phx");
    fs::write(&path, made::library(&made::rig()))?;
    Ok(path)
}

/// Offset and size of a clip's section, in bytes.
fn place(library: &Library, clip: usize) -> Result<(u64, u64), Failed> {
    let mut clips = library.sections().filter(|s| s.section == Section::Clip);
    let section = clips.nth(clip).ok_or("no such clip")?;
    Ok((section.offset, section.bytes))
}

pub fn cut_after_opening() -> Tested {
    let path = made_file("cut")?;
    let library = Library::open(&path)?;
    let (first, second) = (library.clip(0)?, library.clip(1)?);
    let (offset, bytes) = place(&library, 1)?;
    let file = File::options().write(true).open(&path)?;
    file.set_len(offset + 10)?;
    check(library.clip(0)? == first, "a clip in front of the cut")?;
    let error = library.clip(1).map(|_| ()).expect_err("it was cut");
    // A section is read with the padding behind it.
    let whole = bytes.next_multiple_of(64);
    let named = matches!(error.fault, Fault::Short { needed, have: 10, .. } if needed == whole);
    let there = (error.section, error.offset) == (Section::Clip, offset);
    check(named && there, error.to_string())?;
    file.set_len(0)?;
    for clip in 0..library.clip_count() {
        let error = library.clip(clip).map(|_| ()).expect_err("nothing is left");
        let named = matches!(error.fault, Fault::Short { have: 0, .. });
        check(named, error.to_string())?;
    }
    let calls = [
        library.rig(&RigOptions::default()).map(|_| ()),
        library.clips().map(|_| ()),
        library.check_sums(),
        library.verify(),
    ];
    for error in calls {
        let named = matches!(&error, Err(e) if matches!(e.fault, Fault::Short { .. }));
        check(named, format!("{error:?}"))?;
    }
    // What was read before is whole.
    check(library.clip_info(1).is_some_and(|c| c.name == "nod"), "a name")?;
    let rig = made::rig();
    let skeleton = rig.skeleton();
    check(
        sample(&second, skeleton, 0.3)? == sample(&rig.clips()[1], skeleton, 0.3)?,
        "a clip that was read before",
    )
}

pub fn written_after_opening() -> Tested {
    let path = made_file("written")?;
    let library = Library::open(&path)?;
    let second = library.clip(1)?;
    let (offset, bytes) = place(&library, 1)?;
    let (at, old) = (offset + bytes - 1, fs::read(&path)?[(offset + bytes) as usize - 1]);
    flip(&path, at, !old)?;
    let error = library.clip(1).map(|_| ()).expect_err("it was written to");
    let sums = matches!(error.fault, Fault::Checksum { stated, found } if stated != found);
    let there = (error.section, error.offset) == (Section::Clip, offset);
    check(sums && there, error.to_string())?;
    check(library.clip(0).is_ok(), "another clip")?;
    check(library.verify().is_err(), "the file as a whole")?;
    flip(&path, at, old)?;
    check(library.clip(1)? == second, "the byte is back")?;
    // Another file under the same name is no change.
    let other = |out: &mut std::io::BufWriter<File>| out.write_all(b"another file");
    save(&path, |out| Ok::<(), WriteError>(other(out)?))?;
    check(fs::read(&path)? == b"another file", "it was replaced")?;
    check(library.clip(1)? == second, "the file that was opened")
}

/// Many clips in one file.
fn many(clips: usize) -> Result<Vec<u8>, Failed> {
    let rig = made::rig();
    let mut writer = LibraryWriter::new(Cursor::new(Vec::new()), rig.skeleton())?;
    for i in 0..clips {
        let clip = &rig.clips()[i % rig.clips().len()];
        writer.add_clip(clip, clip.name(), ClipForm::Rows)?;
    }
    Ok(writer.finish(&Provenance::default())?.into_inner())
}

/// Memory that a call takes at most, in bytes of this thread.
fn peak<T>(call: impl FnOnce() -> Result<T, Failed>) -> Result<(T, u64), Failed> {
    alloc::start();
    let made = call()?;
    Ok((made, alloc::peak()))
}

pub fn memory() -> Tested {
    const CLIPS: usize = 300;
    let path = scratch("memory")?.join("many.phx");
    fs::write(&path, many(CLIPS)?)?;
    let (library, opening) = peak(|| Ok(Library::open(&path)?))?;
    let sections: Vec<u64> = (0..CLIPS).filter_map(|c| Some(library.clip_info(c)?.bytes)).collect();
    let all: u64 = sections.iter().sum();
    let most = sections.iter().copied().max().unwrap_or_default();
    check(opening < all / 4, format!("opening: {opening} of {all} bytes"))?;
    // One after the other: each is freed when it is dropped.
    let ((), single) = peak(|| {
        for clip in 0..CLIPS {
            library.clip(clip)?;
        }
        Ok(())
    })?;
    check(
        (most..4 * most + 4096).contains(&single),
        format!("one by one: {single}, sections of up to {most} bytes"),
    )?;
    let (kept, together) = peak(|| {
        let clips = (0..CLIPS).map(|clip| library.clip(clip));
        Ok(clips.collect::<Result<Vec<_>, _>>()?)
    })?;
    check(
        kept.len() == CLIPS && (all..3 * all).contains(&together),
        format!("together: {together} of {all} bytes"),
    )
}

pub fn rows_of_their_own() -> Tested {
    let path = made_file("own")?;
    let rig = made::rig();
    let library = Library::open(&path)?;
    let mut clips = Vec::new();
    for (c, exact) in rig.clips().iter().enumerate() {
        let (one, two) = (library.clip(c)?, library.clip(c)?);
        let at = one.rows().as_ptr();
        check(one.rows().is_empty() || at != two.rows().as_ptr(), "two copies in one place")?;
        check(at.align_offset(64) == 0, "rows are not aligned")?;
        check(one.rows() == exact.rows(), "rows differ")?;
        clips.push(one);
    }
    // Clips outlive the library and its file.
    drop(library);
    fs::remove_file(&path)?;
    for (clip, exact) in clips.iter().zip(rig.clips()) {
        let skeleton = rig.skeleton();
        check(
            sample(clip, skeleton, 0.4)? == sample(exact, skeleton, 0.4)?,
            "samples after the file has gone",
        )?;
    }
    Ok(())
}

pub fn not_files() -> Tested {
    let folder = scratch("not-files")?;
    for path in [folder.clone(), folder.join("missing.phx")] {
        for opened in [Library::open(&path), mapped(&path)] {
            let error = opened.map(|_| ()).expect_err("it is no file");
            check(matches!(error.fault, Fault::Open { .. }), error.to_string())?;
        }
    }
    same(&[], &Library::from_bytes(&[]).map(|_| ()))
}
