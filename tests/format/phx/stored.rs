//! The stored file, which later versions must read, and saving.

use super::roundtrip::check;
use super::{Tested, damage};
use libtest_mimic::Failed;
use phalanx::format::{ClipForm, Library, NewFile, RigOptions, WriteError, save};
use phalanx::skeleton::HumanBone;
use phalanx_testkit::made;
use phalanx_testkit::seal;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A folder for files of these tests.
pub fn scratch(name: &str) -> Result<PathBuf, Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("phx").join(name);
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// `PHALANX_STORE=1 cargo test --test format stored` rewrites the stored file, which is allowed only before its version
/// is released, and the seeds of the fuzz targets, which is always allowed.
fn store(path: &Path) -> Tested {
    fs::write(path, made::of_all_kinds())?;
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds");
    let (files, clips) = (seeds.join("read_phx"), seeds.join("sample_decoded"));
    for folder in [&files, &clips] {
        fs::create_dir_all(folder)?;
    }
    for (i, file) in made::files().iter().enumerate() {
        fs::write(files.join(format!("library-{i}.phx")), file)?;
        let parts = seal::parts(file);
        let found = parts.iter().filter(|p| p.code == *b"CLIP");
        for (c, part) in found.enumerate() {
            let head = made::head_bytes(ClipForm::ALL[part.form as usize]);
            let payload = &part.bytes[head..];
            let seed = [&[part.form as u8], payload].concat();
            fs::write(clips.join(format!("clip-{i}-{c}")), seed)?;
        }
    }
    Ok(())
}

/// What the file holds; never to be changed. The skeleton's hashes are those of its structure and its layout.
const SKELETON: (u64, u64) = (0xbb3e_8b21_1f1b_118a, 0xd5d9_2c98_aeab_346d);
const CLIPS: [u64; 7] = [
    0x4e86_1621_aa69_f556,
    0x4e86_1621_aa69_f556,
    0x6b2f_0c10_39f8_6e18,
    0x4e86_1621_aa69_f556,
    0x4e86_1621_aa69_f556,
    0x6b2f_0c10_39f8_6e18,
    0xc97f_a84d_efba_bb25,
];

pub fn version_1() -> Tested {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/library-1.phx");
    if std::env::var_os("PHALANX_STORE").is_some() {
        store(&path)?;
    }
    let file = fs::read(&path)?;
    check(seal::u32_at(&file, 8) == 1, "the version")?;
    let library = Library::open(&path)?;
    library.verify()?;
    check(library.provenance() == &made::provenance(CLIPS.len()), "provenance")?;
    let rig = library.rig(&RigOptions::default())?;
    let skeleton = rig.skeleton();
    let hashes = (skeleton.structure_hash(), skeleton.layout_hash());
    let clips: Vec<u64> = rig.clips().iter().map(|c| c.content_hash()).collect();
    let found = format!("{hashes:#x?}, {clips:#x?}");
    check(hashes == SKELETON && clips == CLIPS, found)?;
    // All else is plain numbers of the scene made in code.
    let made = made::travelling();
    check(rig.skins() == made.skins() && rig.nodes() == made.nodes(), "skins and nodes")?;
    check(rig.materials() == made.materials(), "materials")?;
    let bones = [(HumanBone::Hips, 1), (HumanBone::Spine, 2), (HumanBone::Head, 19)];
    check(rig.humanoid() == bones, "the humanoid")?;
    // They are stored as PNG.
    let pictures = cfg!(not(feature = "images")) || rig.images() == made.images();
    check(pictures, "pictures")?;
    let meshes = rig.meshes().iter().zip(made.meshes());
    check(rig.meshes().len() == made.meshes().len(), "meshes")?;
    let same = meshes.into_iter().all(|(a, b)| a.mesh == b.mesh);
    check(same, "a mesh")?;
    let forms: Vec<_> = library.sections().filter_map(|s| s.form).collect();
    check(ClipForm::ALL.iter().all(|f| forms.contains(f)), "a form is missing")?;
    check(damage::play(&file), "it plays")
}

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
    check(fs::read(&path)? == b"one" && names()? == ["file.phx"], "a new file")?;
    // What a process that was killed has left is written over, however long it was.
    fs::write(folder.join(".file.phx.partial"), [7; 1000])?;
    put(b"three")?;
    check(fs::read(&path)? == b"three" && names()? == ["file.phx"], "a leftover")?;
    // A failure leaves the old file, and nothing else.
    let failed = save(&path, |out| {
        out.write_all(b"half")?;
        Err::<(), WriteError>(std::io::Error::other("no").into())
    });
    check(failed.is_err() && fs::read(&path)? == b"three", "a failure")?;
    check(names()? == ["file.phx"], "a leftover of a failure")?;
    // Two at once: the second gets an error.
    let both = save(&path, |out| {
        out.write_all(b"mine")?;
        match put(b"theirs") {
            Err(error) if error.to_string().contains("another process") => Ok(()),
            other => Err(std::io::Error::other(format!("{other:?}")).into()),
        }
    });
    both.map_err(|e: WriteError| e.to_string())?;
    check(fs::read(&path)? == b"mine", "two at once")?;
    check(save(Path::new(""), |_| Ok::<(), WriteError>(())).is_err(), "no name")?;
    // As long as a system takes, and the temporary one is longer.
    let long = folder.join("n".repeat(251) + ".phx");
    let put = |out: &mut std::io::BufWriter<fs::File>| Ok::<(), WriteError>(out.write_all(b"4")?);
    save(&long, put)?;
    check(fs::read(&long)? == b"4" && names()?.len() == 2, "a long name")?;
    fs::remove_file(&long)?;
    check(save(&folder, put).is_err() && names()? == ["file.phx"], "a folder's name")?;
    given_away(&folder)
}

/// A file that is made and written, and then not wanted.
fn given_away(folder: &Path) -> Tested {
    let path = folder.join("other.phx");
    let partial = folder.join(".other.phx.partial");
    let mut new = NewFile::create(&path)?;
    new.write_all(b"some")?;
    check(partial.is_file() && !path.exists(), "in the making")?;
    check(
        NewFile::create(&path).is_err_and(|e| e.to_string().contains("another process")),
        "two at once",
    )?;
    drop(new);
    check(!partial.exists() && !path.exists(), "dropped")?;
    let mut new = NewFile::create(&path)?;
    new.write_all(b"all")?;
    new.finish()?;
    check(fs::read(&path)? == b"all" && !partial.exists(), "finished")?;
    Ok(fs::remove_file(&path)?)
}

/// What lies under the temporary name is somebody else's; the name may be a link.
#[cfg(unix)]
pub fn saving_beside_links() -> Tested {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = scratch("links")?;
    let [path, partial, victim, far] =
        ["file.phx", ".file.phx.partial", "victim", "far.phx"].map(|n| folder.join(n));
    let put = |text: &'static [u8]| save(&path, |out| Ok::<(), WriteError>(out.write_all(text)?));
    for kind in ["link", "dangling link", "hard link", "folder"] {
        for file in [&path, &partial, &victim, &far] {
            let _ = fs::remove_file(file);
        }
        fs::write(&victim, b"not yours")?;
        match kind {
            "link" => symlink("victim", &partial)?,
            "dangling link" => symlink("far.phx", &partial)?,
            "hard link" => fs::hard_link(&victim, &partial)?,
            _ => fs::create_dir_all(&partial)?,
        }
        put(b"mine")?;
        check(fs::read(&path)? == b"mine", kind)?;
        check(fs::read(&victim)? == b"not yours" && !far.exists(), kind)?;
        check(fs::symlink_metadata(&path)?.is_file(), kind)?;
    }
    fs::remove_dir_all(&partial)?;
    // Through a link to a file, whose permissions stay; then to none.
    fs::rename(&path, &far)?;
    fs::set_permissions(&far, fs::Permissions::from_mode(0o604))?;
    symlink("far.phx", &path)?;
    for there in [true, false] {
        put(b"new")?;
        check(fs::read(&far)? == b"new", format!("there: {there}"))?;
        check(fs::symlink_metadata(&path)?.is_symlink(), "the link")?;
        let mode = fs::metadata(&far)?.permissions().mode() & 0o777;
        check(!there || mode == 0o604, format!("{mode:o}"))?;
        fs::remove_file(&far)?;
    }
    Ok(fs::remove_dir_all(&folder)?)
}

/// Links to files are no file system's own elsewhere.
#[cfg(not(unix))]
pub fn saving_beside_links() -> Tested {
    Ok(())
}
