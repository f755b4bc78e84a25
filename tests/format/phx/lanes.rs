//! Baked clips in another lane order keep their integers.

use super::Tested;
use super::roundtrip::{check, turned};
use libtest_mimic::Failed;
use phalanx::bake::{BakeOptions, bake, measure_error};
use phalanx::build::{BuildError, BuildOptions, build_rig};
use phalanx::clip::{BlockKind, Channel, Clip, Encoding, reorder_lanes};
use phalanx::import::{ImportOptions, read_path};
use phalanx::skeleton::Skeleton;
use phalanx_testkit::trials;

const LANES: usize = 16;

/// What is stored of one lane.
#[derive(Debug, PartialEq)]
enum Keys {
    Nothing,
    Still(Vec<u32>),
    Rows(Vec<u32>),
    Integers { ranges: Vec<u32>, keys: Vec<u16> },
}

/// A lane's keys as they lie in the clip, with their times and whether they hold.
fn stored(clip: &Clip, channel: Channel, lane: usize) -> (Keys, Vec<f32>, bool) {
    let found = clip.blocks(channel).iter().find(|b| usize::from(b.block) == lane / LANES);
    let Some(b) = found else {
        return (Keys::Nothing, Vec::new(), false);
    };
    let (l, width) = (lane % LANES, channel.components());
    let bits = |first: usize, count: usize| -> Vec<u32> {
        let rows = &clip.rows()[first..first + count];
        rows.iter().map(|r| r.0[l].to_bits()).collect()
    };
    let first = b.first_row as usize;
    if b.moving >> l & 1 == 0 {
        let value = if b.kind == BlockKind::Cubic { width } else { 0 };
        let first = first + value;
        return (Keys::Still(bits(first, width)), Vec::new(), false);
    }
    let times = clip.timelines().nth(b.timeline as usize).unwrap_or_default().to_vec();
    let keys = match b.encoding {
        Encoding::Float => {
            let per_key = if b.kind == BlockKind::Cubic { 3 * width } else { width };
            Keys::Rows(bits(first, times.len() * per_key))
        }
        Encoding::Packed { first: at, lanes } => Keys::Integers {
            ranges: bits(first, width + 1),
            keys: (0..times.len() * width)
                .map(|i| clip.packed()[at as usize + i * usize::from(lanes) + l])
                .collect(),
        },
    };
    (keys, times, b.hold >> l & 1 == 1)
}

/// Whether every joint's keys are the same in both orders; the count of those in integers.
fn compare(a: (&Clip, &Skeleton), b: (&Clip, &Skeleton)) -> Result<usize, Failed> {
    let mut integers = 0;
    for channel in [Channel::Translation, Channel::Rotation, Channel::Scale] {
        for joint in 0..a.1.len() {
            let of = |(clip, s): (&Clip, &Skeleton)| {
                stored(clip, channel, usize::from(s.lane_of()[joint]))
            };
            let (x, y) = (of(a), of(b));
            // A lane at its default is stored or not as its neighbours are.
            let same = match (&x.0, &y.0) {
                (Keys::Nothing, Keys::Still(_)) | (Keys::Still(_), Keys::Nothing) => true,
                _ => x == y,
            };
            check(same, format!("{channel:?} of joint {joint}: {x:?}, {y:?}"))?;
            integers += usize::from(matches!(x.0, Keys::Integers { .. }));
        }
    }
    Ok(integers)
}

pub fn keep_their_keys(file: &str) -> Tested {
    let read =
        || read_path(&trials::needed(file)?, &ImportOptions::default()).map_err(Failed::from);
    let rig = build_rig(read()?.0, &BuildOptions::default())?;
    let options =
        BuildOptions { lane_order: Some(turned(rig.skeleton().len())), ..BuildOptions::default() };
    let other = build_rig(read()?.0, &options)?;
    let (from, to) = (rig.skeleton(), other.skeleton());
    check(from.layout_hash() != to.layout_hash(), "the orders are one")?;
    let (mut integers, mut moved_rows) = (0, 0);
    // Lanes of several timelines may meet in one block, which is then rebuilt; those clips are tested elsewhere.
    for exact in rig.clips().iter().filter(|c| c.timelines().len() == 1) {
        let (baked, _) = bake(exact, from, &BakeOptions::default())?;
        for clip in [exact, &baked] {
            let moved = reorder_lanes(clip, to, usize::MAX)?;
            // Rotations that meet slerped ones are slerped; nothing else differs. Baked keys may be far apart.
            let turned = if clip.packed().is_empty() { 1e-6 } else { 1e-3 };
            let off = measure_error(clip, &moved, from, &BakeOptions::default())?.measured;
            check(off < turned, format!("keys are kept: {off}"))?;
            let context = |f: Failed| format!("{}: {}", clip.name(), f.message().unwrap_or("?"));
            integers += compare((clip, from), (&moved, to)).map_err(context)?;
            moved_rows += moved.rows().len();
            // Not enough memory is an error that says so, and how much there is.
            let bytes = clip.bytes() / 4;
            let refused = reorder_lanes(clip, to, bytes);
            let named = matches!(refused, Err(BuildError::Limit { limit, needed, .. })
                if limit == bytes as u64 && needed > limit);
            check(named, format!("{refused:?}"))?;
            let back = reorder_lanes(&moved, from, usize::MAX)?;
            compare((clip, from), (&back, from)).map_err(context)?;
            check(back.timelines().eq(clip.timelines()), "timelines")?;
        }
    }
    check(integers > 10 && moved_rows > 0, format!("{integers} joints in integers"))
}
