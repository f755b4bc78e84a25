//! Every truncation, extra bytes, malformed headers, unknown versions and sections.

use super::Tested;
use super::roundtrip::{check, same_rig};
use super::stored::scratch;
use super::ways::{self, Way, flip};
use phalanx::format::{Fault, Library, ReadError, RigOptions, Section};
use phalanx_testkit::made;
use phalanx_testkit::seal::{self, ENTRY, HEADER, Part, seal_header};

/// Opens and reads all there is.
pub fn read(file: &[u8]) -> Result<(), ReadError> {
    Library::from_bytes(file)?.verify()
}

fn fault(file: &[u8]) -> Result<ReadError, String> {
    match read(file) {
        Ok(()) => Err("a damaged file was read".into()),
        Err(error) => {
            let line = error.to_string();
            match line.contains('\n') || !line.contains("at byte") {
                true => Err(format!("not one line with its place: {line}")),
                false => Ok(error),
            }
        }
    }
}

pub fn truncations() -> Tested {
    for file in made::files() {
        for len in 0..file.len() {
            let error = fault(&file[..len]).map_err(|e| format!("{len} bytes: {e}"))?;
            check(error.section == Section::Header, format!("{len}: {error}"))?;
        }
        // A file that becomes shorter and shorter.
        let path = scratch("truncations")?.join("file.phx");
        std::fs::write(&path, &file)?;
        for len in (0..file.len()).rev().step_by(7) {
            let cut = std::fs::File::options().write(true).open(&path)?;
            cut.set_len(len as u64)?;
            let expected = read(&file[..len]);
            for way in Way::FILES {
                let found = ways::read(way, &path);
                check(found == expected, format!("{way:?}, {len}: {found:?}"))?;
            }
        }
    }
    Ok(())
}

pub fn extra_bytes() -> Tested {
    for mut file in made::files() {
        let end = file.len() as u64;
        for extra in [0u8, 1, 255] {
            file.push(extra);
            let error = fault(&file)?;
            let expected = matches!(error.fault, Fault::Extra { expected, .. } if expected == end);
            check(expected, error.to_string())?;
            ways::same(&file, &Err(error))?;
        }
    }
    Ok(())
}

/// No byte can change without being noticed: checksums, the header's check, zeros between sections.
pub fn every_byte() -> Tested {
    for file in made::files() {
        for at in 0..file.len() {
            let mut damaged = file.clone();
            damaged[at] ^= 1 << (at % 8);
            fault(&damaged).map_err(|e| format!("byte {at}: {e}"))?;
        }
        let path = scratch("every-byte")?.join("file.phx");
        std::fs::write(&path, &file)?;
        for at in (0..file.len()).step_by(13) {
            let value = file[at] ^ (1 << (at % 8));
            let mut damaged = file.clone();
            damaged[at] = value;
            let expected = fault(&damaged)?;
            flip(&path, at as u64, value)?;
            for way in Way::FILES {
                let found = ways::read(way, &path);
                let same = found.as_ref() == Err(&expected);
                check(same, format!("{way:?}, byte {at}: {found:?}"))?;
            }
            flip(&path, at as u64, file[at])?;
        }
    }
    Ok(())
}

pub fn headers() -> Tested {
    let file = made::library(&made::rig());
    let with = |at: usize, bytes: &[u8]| {
        let mut file = file.clone();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        seal_header(&mut file);
        file
    };
    for version in [0u32, 2, 0x1_0001, u32::MAX] {
        let error = fault(&with(8, &version.to_le_bytes()))?;
        let named = matches!(error.fault, Fault::Version { have, known: 1 } if have == version);
        check(named && error.offset == 8, error.to_string())?;
    }
    // Before the header is known to be whole: a newer one may be longer.
    let newer = [&file[..8], &2u32.to_le_bytes()].concat();
    let line = fault(&newer)?.to_string();
    let words = "the file has version 2, this library reads version 1";
    check(line.contains(words), line)?;
    for at in [16, 31] {
        let error = fault(&with(at, &[1]))?;
        let line = error.to_string();
        let named = line.contains("a reserved field is") && error.offset == 16;
        check(named && error.section == Section::Header, line)?;
    }
    let error = fault(b"glTF, or so")?;
    check(error.fault == Fault::Magic, error.to_string())?;
    // A table that is elsewhere, and one that is longer than the file.
    for (at, value) in [(40, 0u64), (40, 64), (40, u64::MAX), (12, u64::from(u32::MAX))] {
        let bytes = value.to_le_bytes();
        let bytes = if at == 12 { &bytes[..4] } else { &bytes[..] };
        let error = fault(&with(at, bytes))?;
        check(error.section == Section::Header, error.to_string())?;
    }
    Ok(())
}

pub fn unknown_sections() -> Tested {
    let rig = made::rig();
    let mut parts = seal::parts(&made::library(&rig));
    check(seal::file(&parts) == made::library(&rig), "taken apart and put together")?;
    for at in [0, 3, parts.len()] {
        parts.insert(
            at,
            Part { code: *b"WHAT", form: 99, name: 123_456, value: 5, bytes: (0..77).collect() },
        );
    }
    let library = Library::from_bytes(&seal::file(&parts))?;
    same_rig(&rig, &library.rig(&RigOptions::default())?)?;
    let unknown = library.sections().filter(|s| s.section == Section::Unknown(*b"WHAT"));
    check(unknown.count() == 3, "unknown sections are listed")?;
    // Needed sections that are missing, and single ones that are not.
    for code in [b"SKEL", b"NAME"] {
        let mut parts = seal::parts(&made::library(&rig));
        parts.remove(seal::find(&parts, code));
        check(fault(&seal::file(&parts))?.fault == Fault::Sections(0), "none")?;
    }
    for code in [b"SKEL", b"NAME", b"SKIN", b"NODE", b"MATL", b"EVNT", b"PROV"] {
        let mut parts = seal::parts(&made::library(&rig));
        let twice = parts[seal::find(&parts, code)].clone();
        parts.push(twice);
        check(fault(&seal::file(&parts))?.fault == Fault::Sections(2), "two")?;
    }
    Ok(())
}

/// Every section at every shorter length, and longer, with right checksums.
pub fn sections() -> Tested {
    for file in made::files() {
        lengths(&seal::parts(&file))?;
    }
    // Entries that point elsewhere.
    let file = made::library(&made::rig());
    let table = seal::u64_at(&file, 40) as usize;
    for at in [8, 16] {
        for value in [0u64, 1, 63, HEADER as u64 + 1, u64::MAX, u64::MAX - 63, 1 << 40] {
            let mut file = file.clone();
            file[table + ENTRY + at..][..8].copy_from_slice(&value.to_le_bytes());
            let sum = phalanx::format::hash_bytes(&file[table..]);
            file[48..56].copy_from_slice(&sum.to_le_bytes());
            seal_header(&mut file);
            fault(&file).map_err(|e| format!("{at}: {value}: {e}"))?;
        }
    }
    Ok(())
}

/// Every section of a file at every shorter length, and longer.
fn lengths(parts: &[Part]) -> Tested {
    for (place, part) in parts.iter().enumerate() {
        let name = String::from_utf8_lossy(&part.code).into_owned();
        let lengths = (0..part.bytes.len()).chain([part.bytes.len() + 1, part.bytes.len() + 64]);
        for len in lengths {
            let mut parts = parts.to_vec();
            parts[place].bytes.resize(len, 0);
            let error = fault(&seal::file(&parts));
            let error = error.map_err(|e| format!("{name}, {len} bytes: {e}"))?;
            // Names that went away are missed where they are used.
            let there = error.section.to_string().contains(&name) || name == "NAME";
            check(there, format!("{name}, {len} bytes: {error}"))?;
        }
    }
    Ok(())
}
