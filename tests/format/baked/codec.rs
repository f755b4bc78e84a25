//! The disk form: every clip comes back as it was, and any bytes are survived.

use super::made;
use super::support::rig_of;
use libtest_mimic::Failed;
use phalanx::bake::{BakeOptions, bake};
use phalanx::clip::{Channel, Clip, Cursor, MAX_IRREGULAR_KEYS};
use phalanx::format::codec::{decode, encode};
use phalanx::format::{Fault, ReadError, WriteError};
use phalanx::runtime::SampleJob;
use phalanx::skeleton::Skeleton;
use phalanx_testkit::alloc;
use phalanx_testkit::baked::times;

/// What decoding may allocate for the skeleton, whatever the bytes: tables of its blocks, a pose, and
/// the models of the coder.
const OF_SKELETON: usize = 256 << 10;

fn back(bytes: &[u8], clip: &Clip, skeleton: &Skeleton) -> Result<Clip, ReadError> {
    decode(bytes, skeleton, clip.name().to_owned(), clip.markers().to_vec())
}

/// Equal, with the bits of every number.
pub fn same(a: &Clip, b: &Clip) {
    assert_eq!(a, b);
    assert_eq!(a.content_hash(), b.content_hash(), "bits");
}

/// All clips of a model, as they were imported and baked.
pub fn model(file: &str) -> Result<(), Failed> {
    for rig in rig_of(file)? {
        let skeleton = rig.skeleton();
        for raw in rig.clips() {
            let baked = bake(raw, skeleton, &BakeOptions::default())?.0;
            for clip in [raw, &baked] {
                let bytes = encode(clip, skeleton)?;
                same(&back(&bytes, clip, skeleton)?, clip);
                assert!(bytes.len() < clip.bytes(), "{}: {} bytes", clip.name(), bytes.len());
            }
        }
    }
    Ok(())
}

/// Below an armature of scale 0.01 steps are those of model space: the same numbers are coded as without it.
pub fn units() -> Result<(), Failed> {
    let coded = |scale: f32| -> Result<(Vec<u8>, Clip), Failed> {
        let rig = super::scaled::wandering(scale)?;
        let (skeleton, raw) = (rig.skeleton(), &rig.clips()[0]);
        let baked = bake(raw, skeleton, &BakeOptions::default())?.0;
        let bytes = encode(&baked, skeleton)?;
        same(&back(&bytes, &baked, skeleton)?, &baked);
        Ok((bytes, baked))
    };
    let (plain, wanted) = coded(1.0)?;
    for scale in [0.01, 100.0, 0.0254] {
        let (bytes, baked) = coded(scale)?;
        assert_eq!(baked.packed(), wanted.packed(), "{scale}");
        // The codes of steps differ by whole octaves.
        assert!(bytes.len().abs_diff(plain.len()) <= 4, "{scale}");
    }
    // Scales next to powers of two are rounded ones: steps then have at most five digits.
    for (scale, rounded) in [(1.00005, true), (1.99995, true), (1.0005, false), (1.999, false)] {
        let clip = coded(scale)?.1;
        let moving = clip.blocks(Channel::Translation)[0];
        // The row behind the three components holds the steps.
        let steps = clip.rows()[moving.first_row as usize + 3].0;
        let step = steps.iter().find(|&&step| step != 0.0);
        let step = step.ok_or("no lane moves")?.to_bits();
        assert_eq!(step & 0x7_ffff == 0, rounded, "{scale}");
    }
    Ok(())
}

/// The made clips, of all kinds of blocks, full and additive.
pub fn every_kind() -> Result<(), Failed> {
    let rig = made::rig();
    let (skeleton, raw) = (rig.skeleton(), &rig.clips()[0]);
    let additive = made::additive(&rig);
    for clip in [&**raw, &additive] {
        let baked = bake(clip, skeleton, &BakeOptions::default())?.0;
        for clip in [clip, &baked] {
            same(&back(&encode(clip, skeleton)?, clip, skeleton)?, clip);
        }
    }
    Ok(())
}

/// Every beginning of a clip's bytes is refused, and so are bytes behind it, other
/// skeletons and filling that is not empty.
pub fn quartet() -> Result<(), Failed> {
    let rig = made::rig();
    let skeleton = rig.skeleton();
    let baked = bake(&rig.clips()[0], skeleton, &BakeOptions::default())?.0;
    let bytes = encode(&baked, skeleton)?;
    for len in 0..bytes.len() {
        match back(&bytes[..len], &baked, skeleton) {
            Err(ReadError { offset, fault: Fault::Short { needed, have, .. }, .. }) => {
                let len = len as u64;
                assert_eq!((offset, needed, have), (len, len + 1, len));
            }
            Err(ReadError { fault: Fault::Memory { needed, limit }, .. }) => {
                assert!(needed > limit)
            }
            other => return Err(format!("{len} bytes: {other:?}").into()),
        }
    }
    let mut longer = bytes.clone();
    longer.push(0);
    let (expected, have) = (bytes.len() as u64, bytes.len() as u64 + 1);
    let refused = back(&longer, &baked, skeleton).unwrap_err();
    assert_eq!(refused.offset, expected);
    assert_eq!(refused.fault, Fault::Extra { expected, have });
    let changed = |at: usize, byte: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = byte;
        back(&bytes, &baked, skeleton).unwrap_err()
    };
    let filled = Fault::Limit { what: "a byte of the padding", found: bytes[1].into(), limit: 0 };
    assert_eq!((changed(0, 1).offset, changed(0, 1).fault), (1, filled));
    assert!(matches!(changed(0, 0x7f).fault, Fault::Limit { .. } | Fault::Short { .. }));
    assert!(matches!(changed(1, bytes[1] ^ 1).fault, Fault::Structure { .. }));
    let stranger = phalanx::import::mannequin()?;
    let other = decode(&bytes, stranger.skeleton(), String::new(), Vec::new()).unwrap_err();
    assert!(matches!(other.fault, Fault::Structure { .. }));
    let other = encode(&baked, stranger.skeleton()).unwrap_err();
    assert!(matches!(other, WriteError::Codec { fault: Fault::Structure { .. }, .. }));
    let late = vec![phalanx::clip::Marker::new("late", 9.0)];
    let clip = decode(&bytes, skeleton, String::new(), late).unwrap_err();
    assert_eq!(clip.offset, bytes.len() as u64);
    assert!(matches!(clip.fault, Fault::Build(_)));
    Ok(())
}

/// A long clip of few bits is filled up, so that readers can hold to their bound.
pub fn filling() -> Result<(), Failed> {
    let rig = made::held(MAX_IRREGULAR_KEYS);
    let (skeleton, clip) = (rig.skeleton(), &rig.clips()[0]);
    let bytes = encode(clip, skeleton)?;
    let zeros = bytes.iter().skip(8).take_while(|&&b| b == 0).count();
    assert!(zeros > 100, "{zeros} zeros in {} bytes", bytes.len());
    assert!(clip.bytes() < bytes.len() * EXPANSION + MEMORY_BASE);
    same(&back(&bytes, clip, skeleton)?, clip);
    Ok(())
}

/// Bytes changed at random: errors, or clips that can be sampled; and never more memory than stated.
pub fn mutations() -> Result<(), Failed> {
    let rig = made::rig();
    let skeleton = rig.skeleton();
    let raw = &rig.clips()[0];
    let baked = bake(raw, skeleton, &BakeOptions::default())?.0;
    let mut random = super::Random(0x9e37_79b9_7f4a_7c15);
    let (mut sound, mut unsound) = (0, 0);
    for clip in [&baked, raw] {
        let bytes = encode(clip, skeleton)?;
        for _ in 0..4000 {
            let mut changed = bytes.clone();
            for _ in 0..1 + random.below(3) {
                // The first bytes name the skeleton: changes there are seen at once.
                let at = 5 + random.below(changed.len() - 5);
                changed[at] = random.below(256) as u8;
            }
            if random.below(4) == 0 {
                changed.resize(random.below(2 * bytes.len()), random.below(256) as u8);
            }
            // Most changes make a clip shorter or longer: its bytes are cut or go on, so that some end.
            let mut decoded = bounded(&changed, skeleton)?;
            for _ in 0..40 {
                match decoded.as_ref().map_err(|e| &e.fault) {
                    Err(Fault::Short { .. }) => changed.push(random.below(256) as u8),
                    Err(Fault::Extra { expected, .. }) => changed.truncate(*expected as usize),
                    _ => break,
                }
                decoded = bounded(&changed, skeleton)?;
            }
            match decoded {
                Ok(clip) => {
                    sample(&clip, skeleton)?;
                    same(&back(&encode(&clip, skeleton)?, &clip, skeleton)?, &clip);
                    sound += 1;
                }
                Err(_) => unsound += 1,
            }
        }
    }
    assert!(sound > 50 && unsound > 50, "{sound} sound, {unsound} not");
    Ok(())
}

/// What bytes decode to, if that takes no more memory than stated.
fn bounded(bytes: &[u8], skeleton: &Skeleton) -> Result<Result<Clip, ReadError>, Failed> {
    alloc::start();
    let decoded = decode(bytes, skeleton, String::new(), Vec::new());
    let peak = alloc::peak() as usize;
    if peak > bytes.len() * EXPANSION + MEMORY_BASE + OF_SKELETON {
        return Err(format!("{peak} bytes for {}: {decoded:?}", bytes.len()).into());
    }
    Ok(decoded)
}

/// Bytes of memory that a coded clip may take for each of its bytes, and in addition, as `decode` states them.
const EXPANSION: usize = 256;
const MEMORY_BASE: usize = 16 << 10;

/// Samples at, between and outside all keys.
fn sample(clip: &Clip, skeleton: &Skeleton) -> Result<(), Failed> {
    let mut hints = vec![0; clip.hint_count()];
    let mut cursors = vec![Cursor::default(); clip.timelines().len()];
    let mut output = skeleton.rest_pose().clone();
    let inside = times(clip, &[&[0.4]]).into_iter().take(200).map(|t| t as f32);
    for time in inside.chain([f32::MIN, f32::MAX, f32::NAN]) {
        let job = SampleJob {
            skeleton,
            clip,
            time,
            hints: &mut hints,
            cursors: &mut cursors,
            output: &mut output,
        };
        job.run()?;
    }
    Ok(())
}
