//! Values that are wrong under checksums that are right: refused by name, or harmless when played.

use super::Tested;
use super::quartet::read;
use super::roundtrip::check;
use super::stored::scratch;
use super::ways::{self, Way};
use phalanx::format::{ClipForm, Fault, Library, LibraryWriter, Provenance, RigOptions};
use phalanx::skeleton::HumanBone;
use phalanx_testkit::exercise;
use phalanx_testkit::made;
use phalanx_testkit::seal::{self, Part};
use std::io::Cursor;
use std::sync::Arc;

/// Plays all there is; whatever is decoded must come through.
pub fn play(file: &[u8]) -> bool {
    Library::from_bytes(file).is_ok_and(|library| play_library(&library))
}

fn play_library(library: &Library) -> bool {
    let Ok(rig) = library.rig(&RigOptions::default()) else {
        return false;
    };
    // A clip that is additive does not play on this layer.
    exercise::play(Arc::new(rig), |_| ());
    true
}

pub fn put(part: &mut Part, at: usize, bytes: &[u8]) {
    part.bytes[at..at + bytes.len()].copy_from_slice(bytes);
}

/// What is changed, in which section, where, to what, and the words the error has.
pub type Case = (&'static [u8; 4], usize, Vec<u8>, &'static str);

pub fn values() -> Tested {
    let parts = seal::parts(&made::library(&made::rig()));
    let u32s = |n: u32| n.to_le_bytes().to_vec();
    let float = |v: f32| v.to_le_bytes().to_vec();
    let nan = float(f32::NAN);
    let joints = seal::u32_at(&parts[seal::find(&parts, b"SKEL")].bytes, 0) as usize;
    let (parents, lanes) = (32, 32 + 2 * joints);
    let rest = lanes + 2 * joints + 4 * joints;
    // A float, and a quaternion behind it.
    let channel = parts[seal::find(&parts, b"SKEL")].bytes.len() - 48;
    // Morph ranges are last: node, first scalar, number.
    let node = &parts[seal::find(&parts, b"NODE")].bytes;
    let range = node.len() - 12;
    let scalars = made::rig().skeleton().scalars().len() as u32;
    let beyond = scalars + 1 - seal::u32_at(node, range + 4);
    let clip = &parts[seal::find(&parts, b"CLIP")].bytes;
    let timelines = seal::u32_at(clip, 24) as usize;
    let times = 96 + 4 * timelines;
    let all_times = seal::u32_at(clip, 28);
    let blocks = times + 4 * all_times as usize;
    let rows = clip.len() - 64;
    // The count, two materials of 60 bytes, and textures of 32.
    let texture = 4 + 60 + 60;
    let cases: Vec<Case> = vec![
        (b"NAME", 0, u32s(u32::MAX), "names is 4294967295"),
        (b"NAME", 4, u32s(u32::MAX), "the end of a name"),
        (b"SKEL", 0, u32s(1 << 30), "joints is"),
        (b"SKEL", 12, u32s(1), "the reserved field is 1"),
        (b"SKEL", channel + 12, u32s(1), "an unused component of a channel is 1"),
        (b"SKEL", channel + 4, u32s(5), "the type of a channel is 5, the limit is 4"),
        (b"SKEL", 16, u32s(1), "hash of the structure"),
        (b"SKEL", 24, u32s(1), "hash of the lane order"),
        (b"SKEL", parents + 2, vec![9, 0], "does not come before it"),
        (b"SKEL", lanes, vec![9, 9], "lane order has"),
        (b"SKEL", lanes + 2 * joints, u32s(99_999), "a name is 99999"),
        (b"SKEL", rest + 8, nan.clone(), "rest pose: number 2 is not finite"),
        (b"SKIN", 4, u32s(9), "skins of the file is 9"),
        (b"SKIN", 12, u32s(u32::MAX), "slots is"),
        (b"SKIN", 16, vec![200, 0], "slot 0 refers to joint 200"),
        (b"NODE", 4, u32s(u32::MAX), "nodes is"),
        (b"NODE", 20 + 8, u32s(5_000), "parent 5000"),
        (b"NODE", 20 + 8, u32s(3), "form a cycle"),
        (b"NODE", 20 + 14, vec![2, 0], "the flags of a node is 2, the limit is 1"),
        (b"NODE", 20 + 16, nan.clone(), "transform of a node"),
        (b"NODE", range, u32s(5_000), "the node of a morph range is 5000"),
        (b"NODE", range + 8, u32s(beyond), "its morph weights are scalars"),
        (b"MATL", 0, u32s(u32::MAX), "materials is"),
        (b"MATL", 4, u32s(77_777), "a name is 77777"),
        (b"MATL", 4 + 4, nan.clone(), "numbers of a material: number 0"),
        (b"MATL", 4 + 48, nan.clone(), "numbers of a material: number 11"),
        (b"MATL", 4 + 20, float(1.5), "material 0: the metallic factor is 1.5"),
        (b"MATL", 4 + 36, float(-1.0), "material 0: the emitted light is -1"),
        (b"MATL", 4 + 52, u32s(16), "flags of a material is 16, the limit is 15"),
        (b"MATL", 4 + 52, u32s(12), "alpha mode of a material is 3, the limit is 2"),
        (b"MATL", 4 + 56, u32s(32), "bit set of textures is 32, the limit is 31"),
        // The second material has all textures.
        (b"MATL", texture, u32s(77), "image 77 is out of range, there are 3"),
        (b"MATL", texture + 4, u32s(2), "texture coordinates 2"),
        (b"MATL", texture + 8, nan.clone(), "numbers of a texture: number 0"),
        (b"MATL", texture + 24, nan.clone(), "numbers of a texture: number 4"),
        (b"MATL", texture + 20, float(2e12), "scale of a texture is 2e12"),
        (b"MATL", texture + 28, vec![3], "wrapping of a texture is 3, the limit is 2"),
        (b"MATL", texture + 29, vec![9], "wrapping of a texture is 9"),
        (b"MATL", texture + 30, vec![3], "filter of a texture is 3, the limit is 2"),
        (b"MATL", texture + 31, vec![7], "filter of a texture is 7, the limit is 6"),
        (b"MESH", 4, u32s(u32::MAX), "primitives is"),
        (b"MESH", 20, u32s(u32::MAX), "vertices is"),
        (b"MESH", 24, u32s(64), "streams is 64"),
        (b"MESH", 28, u32s(5), "a multiple of 3, is 5"),
        (b"MESH", 40, u32s(9), "material 9 is out of range, there are 2"),
        (b"MESH", 44, nan.clone(), "positions: number 0"),
        (b"IMAG", 0, u32s(3), "the encoding of an image is 3"),
        (b"IMAG", 4, u32s(1 << 30), "width in pixels is"),
        (b"IMAG", 4, u32s(4), "image"),
        (b"EVNT", 0, u32s(u32::MAX), "markers is"),
        (b"EVNT", 4, u32s(7), "marker's clip"),
        (b"EVNT", 4, u32s(1), "a marker's clip, in ascending order, is 0"),
        (b"EVNT", 8, u32s(70_000), "marker's name is 70000"),
        (b"EVNT", 12, nan.clone(), "marker \"step\" is at NaN"),
        (b"PROV", 4, u32s(1), "the reserved field is 1"),
        (b"PROV", 8, u32s(u32::MAX), "sources is"),
        (b"PROV", 12, u32s(2), "clip origins is 2"),
        (b"PROV", 20, u32s(70_000), "a name is 70000"),
        (b"PROV", 40, u32s(4), "source of a clip is 4"),
        (b"PROV", 48, float(f32::INFINITY), "error of a clip is inf"),
        (b"PROV", 48, float(-1.0), "error of a clip is -1"),
        (b"PROV", 52, nan.clone(), "shell of a clip is NaN"),
        (b"PROV", 52, float(-0.5), "shell of a clip is -0.5"),
        (b"HUMN", 0, u32s(u32::MAX), "bones is 4294967295"),
        // Hips, spine and head. Places are those in the list of FORMAT.md.
        (b"HUMN", 4, vec![55], "a bone is 55, the limit is 54"),
        (b"HUMN", 8, vec![0], "a bone, in ascending order, is 0, the limit is 1"),
        (b"HUMN", 12, vec![1], "a bone, in ascending order, is 1, the limit is 2"),
        (
            b"HUMN",
            6,
            (joints as u16).to_le_bytes().to_vec(),
            "the joint of a bone is 20, the limit is 19",
        ),
        (b"HUMN", 6, vec![255, 255], "the joint of a bone is 65535"),
        (
            b"HUMN",
            10,
            vec![1, 0],
            "joint 1 \"joint 1\" is given to two bones, \"hips\" and \"spine\"",
        ),
        (b"CLIP", 0, u32s(2), "the kind of a clip is 2"),
        (b"CLIP", 4, u32s(0), "bits of the duration"),
        (b"CLIP", 8, u32s(0), "skeleton has the hash"),
        (b"CLIP", 16, u32s(0), "hash of the lane order"),
        (b"CLIP", 24, u32s(u32::MAX), "lengths of timelines"),
        (b"CLIP", 28, u32s(1), "key times of all timelines"),
        (b"CLIP", 28, u32s(all_times + 1), "key times of all timelines"),
        (b"CLIP", 32, u32s(u32::MAX), "blocks"),
        (b"CLIP", 48, u32s(u32::MAX), "rows"),
        (b"CLIP", 52, u32s(u32::MAX), "times of the root motion"),
        (b"CLIP", 56, vec![1, 0], "root motion's joint is 1"),
        (b"CLIP", 60, u32s(u32::MAX), "packed keys"),
        (b"CLIP", times + 4, u32s(0), "times must increase"),
        (b"CLIP", times, nan.clone(), "key times: number 0"),
        (b"CLIP", blocks, vec![200, 0], "block 200, there are"),
        (b"CLIP", blocks + 2, vec![4], "the kind of a block is 4"),
        (b"CLIP", blocks + 3, vec![17], "packed"),
        (b"CLIP", blocks + 6, vec![1], "unused field of a block"),
        (b"CLIP", blocks + 8, u32s(99), "timeline 99"),
        (b"CLIP", blocks + 12, u32s(1 << 30), "row"),
        (b"CLIP", blocks + 16, u32s(1), "unused field of a block"),
        (b"CLIP", rows, nan, "is NaN, the limit is"),
    ];
    table(&parts)?;
    refused(&parts, cases)?;
    // The node's range a second time.
    let mut twice = seal::parts(&made::library(&made::rig()));
    let node = seal::find(&twice, b"NODE");
    let again = twice[node].bytes[range..].to_vec();
    twice[node].bytes.extend(again);
    let count = seal::u32_at(&twice[node].bytes, 16) + 1;
    refused(&twice, vec![(b"NODE", 16, u32s(count), "has two morph ranges")])
}

/// Bones are numbered as FORMAT.md lists them.
pub fn bones() -> Tested {
    let sides = ["left", "right"];
    let limb = |side: &str, parts: &[&str]| -> Vec<String> {
        parts.iter().map(|part| format!("{side}{part}")).collect()
    };
    let mut names: Vec<String> =
        ["hips", "spine", "chest", "upperChest", "neck", "head", "leftEye", "rightEye", "jaw"]
            .map(String::from)
            .to_vec();
    for parts in
        [["UpperLeg", "LowerLeg", "Foot", "Toes"], ["Shoulder", "UpperArm", "LowerArm", "Hand"]]
    {
        names.extend(sides.iter().flat_map(|side| limb(side, &parts)));
    }
    for side in sides {
        names.extend(limb(side, &["ThumbMetacarpal", "ThumbProximal", "ThumbDistal"]));
        for finger in ["Index", "Middle", "Ring", "Little"] {
            let parts = ["Proximal", "Intermediate", "Distal"];
            names.extend(parts.map(|part| format!("{side}{finger}{part}")));
        }
    }
    check(names.len() == 55, "VRM 1.0 has 55 bones")?;
    let mut parts = seal::parts(&made::library(&made::rig()));
    let section = seal::find(&parts, b"HUMN");
    for (code, name) in names.iter().enumerate() {
        parts[section].bytes = [1, 0, 0, 0, code as u8, 0, 3, 0].to_vec();
        let rig = Library::from_bytes(&seal::file(&parts))?.rig(&RigOptions::default())?;
        let found = rig.humanoid().to_vec();
        let expected = HumanBone::named(name).map(|bone| vec![(bone, 3)]);
        check(Some(&found) == expected.as_ref(), format!("{code}: {found:?}"))?;
    }
    // A file without the section has no humanoid.
    parts.remove(section);
    let rig = Library::from_bytes(&seal::file(&parts))?.rig(&RigOptions::default())?;
    check(rig.humanoid().is_empty(), "no section")
}

/// Errors in the table state the number and its place in the file.
fn table(parts: &[Part]) -> Tested {
    type Change = fn(&mut Part);
    let cases: [(&[u8; 4], Change, usize, &str); 5] = [
        (b"CLIP", |p| p.form = 2, 4, "form of a section is 2, the limit is 1"),
        (b"SKEL", |p| p.form = 1, 4, "form of a section is 1, the limit is 0"),
        (b"SKEL", |p| p.name = 0, 32, "name of a section is 0, the limit is 4294967295"),
        (b"CLIP", |p| p.name = 70_000, 32, "name of a section is 70000"),
        (b"MATL", |p| p.value = 7, 36, "value of a section is 7, the limit is 0"),
    ];
    for (code, change, field, words) in cases {
        let mut all = parts.to_vec();
        let place = seal::find(&all, code);
        change(&mut all[place]);
        let file = seal::file(&all);
        let at = seal::u64_at(&file, 40) as usize + place * seal::ENTRY + field;
        let error = Library::from_bytes(&file).expect_err(words);
        if error.offset != at as u64 || !error.to_string().contains(words) {
            return Err(format!("{error}; at {at} {words}").into());
        }
    }
    Ok(())
}

/// Where the blocks of a clip begin.
fn blocks_of(part: &Part) -> Vec<usize> {
    if part.code != *b"CLIP" {
        return Vec::new();
    }
    let number = |at: usize| seal::u32_at(&part.bytes, at) as usize;
    let first = 96 + 4 * (number(24) + number(28));
    let count: usize = (0..4).map(|c| number(32 + 4 * c)).sum();
    (0..count).map(|i| first + 20 * i).collect()
}

/// Blocks whose keys are integers.
pub fn packed_values() -> Tested {
    let mut parts = seal::parts(&made::library(&made::baked()));
    let packed = parts.iter().position(|p| {
        // Behind the head, timelines and times: the kind of keys is a block's fourth byte.
        let blocks = blocks_of(p);
        blocks.iter().any(|&b| p.bytes[b + 3] != 0)
    });
    let packed = packed.ok_or("no block of the baked clips is packed")?;
    // Cases change the first clip. Markers stay within it: clips are equally long.
    let first = seal::find(&parts, b"CLIP");
    parts.swap(first, packed);
    let clip = &parts[first].bytes;
    let blocks = blocks_of(&parts[first]);
    let packed = blocks.iter().position(|&b| clip[b + 3] != 0);
    let place = packed.ok_or("it was found above")?;
    let at = blocks[place];
    let integers = seal::u32_at(clip, 60) as usize;
    let rows = clip.len() - 2 * integers - 64 * seal::u32_at(clip, 48) as usize;
    // Translations stand first, then rotations. The row behind the components holds the steps.
    let translations = seal::u32_at(clip, 32) as usize;
    let width = if place < translations { 3 } else { 4 };
    let first_row = rows + 64 * seal::u32_at(clip, at + 12) as usize;
    let steps = first_row + 64 * width;
    let u32s = |n: u32| n.to_le_bytes().to_vec();
    let cases: Vec<Case> = vec![
        (b"CLIP", at + 2, vec![0], "packed keys of the kind"),
        (b"CLIP", at + 2, vec![3], "packed keys of the kind"),
        (b"CLIP", at + 3, vec![17], "packed lane 17, there are 16"),
        (b"CLIP", at + 3, vec![255], "packed lane 255"),
        (b"CLIP", at + 16, u32s(u32::MAX), "packed key"),
        (b"CLIP", at + 16, u32s(integers as u32), "packed key"),
        (b"CLIP", at + 12, u32s(u32::MAX), "row"),
        (b"CLIP", 60, u32s(integers as u32 + 1), "packed keys"),
        (b"CLIP", 60, u32s(0), "packed key"),
        (
            b"CLIP",
            steps,
            f32::MAX.to_le_bytes().to_vec(),
            "the range of lane 0 is inf, the limit is 1e12",
        ),
        (b"CLIP", steps, f32::INFINITY.to_le_bytes().to_vec(), "the limit is 1e12"),
    ];
    refused(&parts, cases)
}

/// Clips that are coded.
pub fn coded_values() -> Tested {
    let parts = seal::parts(&made::library_in(&made::travelling(), ClipForm::Coded));
    let clip = &parts[seal::find(&parts, b"CLIP")].bytes;
    check(clip[0] == 0, "the clip is filled up")?;
    let cases: Vec<Case> = vec![
        (b"CLIP", 0, vec![0xff; 6], "bits of the padding's length"),
        (b"CLIP", 0, vec![0xff, 0x7f], "bytes are needed"),
        (b"CLIP", 0, vec![1, 7], "a byte of the padding is 7"),
        (b"CLIP", 1, vec![!clip[1]], "skeleton has the hash"),
        (b"CLIP", 4, vec![!clip[4]], "skeleton has the hash"),
    ];
    refused(&parts, cases)?;
    // The duration of the table is that of the code.
    let mut parts = parts.clone();
    let place = seal::find(&parts, b"CLIP");
    parts[place].value ^= 1;
    let line = read(&seal::file(&parts)).map_or_else(|e| e.to_string(), |()| "read".into());
    check(line.contains("bits of the duration"), line)
}

/// Changes a file in one place at a time; each has to be refused with the case's words.
pub fn refused(parts: &[Part], cases: Vec<Case>) -> Tested {
    for (code, at, bytes, words) in cases {
        let name = String::from_utf8_lossy(code).into_owned();
        let mut parts = parts.to_vec();
        let place = seal::find(&parts, code);
        put(&mut parts[place], at, &bytes);
        let file = seal::file(&parts);
        let found = read(&file);
        ways::same(&file, &found)?;
        match found {
            Ok(()) => return Err(format!("{name} at {at}: {words}: was read").into()),
            Err(error) => {
                let line = error.to_string();
                check(line.contains(words), format!("{name} at {at}: no {words:?} in {line}"))?;
                let entry = seal::u64_at(&file, 40) as usize + place * seal::ENTRY;
                let section = seal::u64_at(&file, entry + 8);
                // The value, or the list or section that holds it; where there are too few bytes, the
                // place where they are missing.
                let told = section..=section + at as u64;
                let short = matches!(error.fault, Fault::Short { .. });
                let elsewhere = !line.starts_with(&format!("section {name} "));
                check(
                    short || elsewhere || told.contains(&error.offset),
                    format!("{line}: {name} was changed at {at}, byte {}", told.end()),
                )?;
            }
        }
    }
    Ok(())
}

/// Adds names behind those of a file; gives the index of the first.
fn add_names(parts: &mut [Part], names: &[String]) -> u32 {
    let place = seal::find(parts, b"NAME");
    let section = &mut parts[place].bytes;
    let count = seal::u32_at(section, 0);
    let mut text = section.split_off(4 + 4 * count as usize);
    for name in names {
        text.extend(name.bytes());
        section.extend((text.len() as u32).to_le_bytes());
    }
    section[..4].copy_from_slice(&(count + names.len() as u32).to_le_bytes());
    section.extend(text);
    count
}

/// A long name that every clip repeats: one clip may have it, all together may not.
pub fn repeated_names() -> Tested {
    const LENGTH: usize = 512 << 10;
    const CLIPS: usize = 600;
    let mut parts = seal::parts(&made::library(&made::rig()));
    let count = add_names(&mut parts, &["a".repeat(LENGTH)]);
    let empty = parts.iter().filter(|p| p.code == *b"CLIP").nth(2);
    let mut empty = empty.ok_or("no third clip")?.clone();
    empty.name = count;
    parts.extend(std::iter::repeat_n(empty, CLIPS));
    // It says where every clip comes from, or where none does.
    parts.retain(|p| p.code != *b"PROV");
    let library = Library::from_bytes(&seal::file(&parts))?;
    check(library.clip(3)?.name().len() == LENGTH, "one of them")?;
    let all = library.clips().map(|all| all.len());
    let refused = matches!(&all, Err(e) if matches!(e.fault, Fault::Memory { .. }));
    check(refused, format!("{all:?}"))
}

/// What is refused when it is read cannot be written.
pub fn provenance() -> Tested {
    let rig = made::rig();
    let sound = made::provenance(rig.clips().len());
    let write = |p: &Provenance| {
        let mut writer = LibraryWriter::new(Cursor::new(Vec::new()), rig.skeleton())?;
        for clip in rig.clips() {
            writer.add_clip(clip, clip.name(), ClipForm::Rows)?;
        }
        writer.finish(p)
    };
    write(&sound)?;
    write(&Provenance::default())?;
    type Change = fn(&mut Provenance);
    let cases: [(Change, &str); 5] = [
        (|p| p.clips.truncate(1), "clip origins is 1"),
        (|p| p.clips[1].source = 1, "source of a clip is 1, the limit is 0"),
        (|p| p.clips[0].max_error = f32::INFINITY, "error of a clip is inf"),
        (|p| p.clips[0].max_error = -1.0, "error of a clip is -1"),
        (|p| p.clips[2].shell = f32::NAN, "shell of a clip is NaN"),
    ];
    for (change, words) in cases {
        let mut p = sound.clone();
        change(&mut p);
        let error = write(&p).expect_err(words).to_string();
        check(error.contains(words), format!("{error}; {words}"))?;
    }
    Ok(())
}

/// Two long names that differ at their ends, in turns of very many clips: sorting them by comparing the texts
/// again for every clip would not end.
pub fn long_names() -> Tested {
    const LENGTH: usize = 4 << 20;
    const CLIPS: usize = 60_000;
    let mut parts = seal::parts(&made::library(&made::rig()));
    let long = ["z", "b"].map(|last| format!("{}{last}", "a".repeat(LENGTH - 1)));
    let count = add_names(&mut parts, &long);
    let first = parts.iter().position(|p| p.code == *b"CLIP");
    let mut empty = parts[first.ok_or("no clip")?].clone();
    empty.bytes.clear();
    let old = parts.iter().filter(|p| p.code == *b"CLIP").count();
    parts.extend((0..CLIPS as u32).map(|i| Part { name: count + i % 2, ..empty.clone() }));
    parts.retain(|p| p.code != *b"PROV");
    let library = Library::from_bytes(&seal::file(&parts))?;
    for (i, name) in long.iter().enumerate() {
        check(library.find_clip(name) == Some(old + i), "the first of them")?;
    }
    Ok(())
}

/// A generator of its own, so that a case's number makes it again.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        // Marsaglia's xorshift64*.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

const INTERESTING: [u32; 12] = [
    0,
    1,
    2,
    0x7f,
    0xff,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x7f80_0000,
    0x7f7f_ffff,
    0x0000_0001,
];

/// Sections with some words changed, lengthened or cut, sealed again; what is read plays.
pub fn variants() -> Tested {
    let files = made::files();
    let path = scratch("variants")?.join("file.phx");
    let mut read = 0;
    for case in 0..4_000u64 {
        let mut random = Random(case * 2 + 0x9e37_79b9_7f4a_7c15);
        let mut parts = seal::parts(&files[case as usize % files.len()]);
        for _ in 0..=random.below(3) {
            let place = random.below(parts.len());
            let bytes = &mut parts[place].bytes;
            let at = random.below(bytes.len());
            let word = INTERESTING[random.below(INTERESTING.len())].to_le_bytes();
            match random.below(8) {
                0 => bytes.truncate(at),
                1 => bytes.extend_from_slice(&word),
                2..5 => {
                    // Where numbers stand.
                    let at = at / 4 * 4;
                    for (b, w) in bytes.iter_mut().skip(at).zip(word) {
                        *b = w;
                    }
                }
                _ => {
                    if let Some(b) = bytes.get_mut(at) {
                        *b = b.wrapping_add(random.next() as u8);
                    }
                }
            }
        }
        let file = seal::file(&parts);
        let plays = play(&file);
        read += u32::from(plays);
        if case % 16 == 0 {
            std::fs::write(&path, &file)?;
            for way in Way::FILES {
                let same = way.open(&path).is_ok_and(|l| play_library(&l)) == plays;
                check(same, format!("{way:?}, case {case}"))?;
            }
        }
    }
    // Poses, weights and colours may be others; most changes are refused.
    check((100..3_900).contains(&read), format!("{read} of 4000 were read"))
}
