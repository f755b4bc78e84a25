//! Files of version 1, of which one is stored and others are taken from it.

use super::Tested;
use super::damage::{self, Case, refused_in};
use super::quartet::{lengths as every_length, read};
use super::roundtrip::check;
use phalanx_testkit::made;
use phalanx_testkit::seal::{self, Part};
use std::path::Path;

/// The stored file of version 1, taken apart.
fn version_1() -> Result<Vec<Part>, libtest_mimic::Failed> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/version-1.phx");
    let file = std::fs::read(path)?;
    let parts = seal::parts(&file);
    check(seal::file_of(1, &parts) == file, "it is what was stored")?;
    Ok(parts)
}

/// Sections whose bytes differ by version are refused in files of the other.
pub fn mixed() -> Tested {
    let old = version_1()?;
    let new = seal::parts(&made::library(&made::travelling()));
    for code in [b"MATL", b"MESH"] {
        let name = String::from_utf8_lossy(code).into_owned();
        for (version, mut parts, other) in [(1, old.clone(), &new), (2, new.clone(), &old)] {
            // A name that the other file has not is refused first.
            let from = other[seal::find(other, code)].bytes.clone();
            let place = seal::find(&parts, code);
            parts[place].bytes = from;
            let found = read(&seal::file_of(version, &parts));
            // The mesh of version 1 has no bit that version 2 does not know.
            if version == 2 && code == b"MESH" {
                check(found.is_ok(), format!("{name}: {found:?}"))?;
                continue;
            }
            let line = found.expect_err("bytes of another version").to_string();
            check(line.contains(&name), format!("version {version}: {line}"))?;
        }
    }
    Ok(())
}

/// Materials and meshes of version 1 at every length; the other sections are as in version 2.
pub fn lengths() -> Tested {
    let mut parts = version_1()?;
    parts.retain(|p| p.code != *b"CLIP" && p.code != *b"EVNT" && p.code != *b"PROV");
    read(&seal::file_of(1, &parts))?;
    every_length(1, &parts)
}

/// Values that are wrong by version 1, under checksums that are right.
pub fn values() -> Tested {
    let parts = version_1()?;
    let u32s = |n: u32| n.to_le_bytes().to_vec();
    let nan = f32::NAN.to_le_bytes().to_vec();
    let clip = &parts[seal::find(&parts, b"CLIP")].bytes;
    check(seal::u32_at(clip, 24) > 0, "the first clip has timelines")?;
    let cases: Vec<Case> = vec![
        (b"MATL", 0, u32s(u32::MAX), "materials is"),
        (b"MATL", 4 + 4, nan, "base colour: number 0"),
        (b"MATL", 4 + 20, u32s(77), "image 77, there are 3"),
        (b"MATL", 4 + 24, u32s(2), "flags above the first"),
        (b"MESH", 24, u32s(32), "streams is 32, the limit is 15"),
        (
            b"CLIP",
            96,
            u32s(65_536),
            "keys of a timeline is 65536, the limit is 65535",
        ),
        (
            b"CLIP",
            52,
            u32s(65_536),
            "keys of a timeline is 65536, the limit is 65535",
        ),
    ];
    refused_in(1, &parts, cases)?;
    check(damage::play(&seal::file_of(1, &parts)), "it plays")
}
