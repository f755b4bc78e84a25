//! Section CLIP: one clip. Its tables are copied; its rows stay in the bytes of the section.
//!
//! ```text
//! form 0  [header][timeline lengths][key times][blocks][root motion][pad to 64][rows, 64 B][integers, 2 B]
//! form 1  [bytes of `codec`]
//! ```

use super::codec::{self, KINDS};
use super::container::ALIGNMENT;
use super::error::{Fault, ReadError};
use super::read::SectionReader;
use super::write::{Bytes, code_of};
use super::writer::WriteError;
use crate::clip::{
    Block, Channel, Clip, ClipKind, ClipParts, Encoding, Marker, RootMotionParts, SharedBytes,
    Store,
};
use crate::skeleton::Skeleton;
use bytemuck::{AnyBitPattern, NoUninit, Pod, Zeroable};
use std::mem::offset_of;

/// The stored form of a clip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ClipForm {
    /// Rows in the layout that is sampled, used in the bytes that were read or mapped.
    #[default]
    Rows,
    /// Entropy coded and smaller. Reading decodes it into owned rows with the same bits.
    Coded,
}

impl ClipForm {
    /// All forms, in the order of their numbers in files.
    pub const ALL: [Self; 2] = [Self::Rows, Self::Coded];

    /// Name on the command line and in provenance.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rows => "rows",
            Self::Coded => "coded",
        }
    }

    pub(super) const fn code(self) -> u32 {
        self as u32
    }

    pub(super) fn of_code(code: u32) -> Option<Self> {
        Self::ALL.get(code as usize).copied()
    }
}

const KINDS_OF_CLIPS: [ClipKind; 2] = [ClipKind::Full, ClipKind::Additive];

#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Head {
    kind: u32,
    duration: f32,
    structure: u64,
    layout: u64,
    timelines: u32,
    times: u32,
    blocks: [u32; 4],
    rows: u32,
    /// Keys of the root motion; 0 for none.
    motion_keys: u32,
    motion_joint: u16,
    /// 1 if the root motion has rotations, otherwise 0.
    motion_turns: u16,
    /// Number of 16-bit integers of packed blocks, including the padding at their end.
    packed: u32,
    /// Numbers of animated and constant tracks per channel.
    tracks: [[u32; 2]; 4],
}

#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct StoredBlock {
    block: u16,
    kind: u8,
    /// 0 for rows of f32; otherwise the number of lanes stored as integers.
    lanes: u8,
    hold: u16,
    zero: u16,
    timeline: u32,
    first_row: u32,
    /// Index of the first integer; 0 for rows of f32.
    first: u32,
}

pub(super) fn write(
    clip: &Clip,
    skeleton: &Skeleton,
    form: ClipForm,
) -> Result<Vec<u8>, WriteError> {
    match form {
        ClipForm::Rows => Ok(rows(clip)),
        ClipForm::Coded => codec::encode(clip, skeleton),
    }
}

fn rows(clip: &Clip) -> Vec<u8> {
    let mut out = Bytes::default();
    let motion = clip.root_motion().map(|m| m.parts());
    let times: usize = clip.timelines().map(<[f32]>::len).sum();
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    out.one(Head {
        kind: code_of(&KINDS_OF_CLIPS, clip.kind()) as u32,
        duration: clip.duration(),
        structure: clip.structure_hash(),
        layout: clip.layout_hash(),
        timelines: count(clip.timelines().len()),
        times: count(times),
        blocks: Channel::ALL.map(|c| count(clip.blocks(c).len())),
        rows: count(clip.rows().len()),
        motion_keys: count(motion.map_or(0, |m| m.times.len())),
        motion_joint: motion.map_or(0, |m| m.joint),
        motion_turns: u16::from(motion.is_some_and(|m| !m.rotations.is_empty())),
        packed: count(clip.packed().len()),
        tracks: Channel::ALL.map(|c| clip.tracks(c).map(count)),
    });
    for times in clip.timelines() {
        out.one(count(times.len()));
    }
    for times in clip.timelines() {
        out.many(times);
    }
    for b in Channel::ALL.iter().flat_map(|&c| clip.blocks(c)) {
        let (lanes, first) = b.encoding.numbers();
        out.one(StoredBlock {
            block: b.block,
            kind: code_of(&KINDS, b.kind) as u8,
            lanes,
            hold: b.hold,
            zero: 0,
            timeline: b.timeline,
            first_row: b.first_row,
            first,
        });
    }
    if let Some(m) = motion {
        out.many(&m.times);
        out.many(&m.translations);
        out.many(&m.rotations);
    }
    out.pad(ALIGNMENT);
    out.many(clip.rows());
    out.many(clip.packed());
    out.0
}

/// The parts of a clip that are stored outside its section.
pub(super) struct ClipEntry {
    pub form: ClipForm,
    pub name: String,
    pub duration: f32,
    pub markers: Vec<Marker>,
}

/// Reads a clip of a skeleton. `owner` holds the section that `r` reads; the clip's rows stay in it.
pub(super) fn read(
    r: SectionReader<'_>,
    skeleton: &Skeleton,
    entry: ClipEntry,
    owner: &SharedBytes,
) -> Result<Clip, ReadError> {
    match entry.form {
        ClipForm::Rows => read_rows(r, skeleton, entry, owner),
        ClipForm::Coded => read_coded(r, skeleton, entry),
    }
}

fn check_duration(r: &SectionReader<'_>, found: f32, entry: f32) -> Result<(), ReadError> {
    let (found, entry) = (found.to_bits(), entry.to_bits());
    if found == entry { Ok(()) } else { Err(r.limit("the bits of the duration", found, entry)) }
}

/// Number of blocks that a clip of the skeleton can have.
fn blocks_of(skeleton: &Skeleton) -> usize {
    skeleton.blocks() * 3 + skeleton.rest_pose().scalar_blocks()
}

fn read_coded(
    mut r: SectionReader<'_>,
    skeleton: &Skeleton,
    entry: ClipEntry,
) -> Result<Clip, ReadError> {
    let seen = r.memory.look_through(blocks_of(skeleton));
    seen.map_err(|fault| r.whole(fault))?;
    let bytes = r.rest();
    // The codec bounds its allocations by the number of bytes, so the charge can follow.
    let decoded = codec::decode(bytes, skeleton, entry.name, entry.markers);
    let clip = decoded.map_err(|e| r.whole(e.fault))?;
    r.charge(clip.bytes())?;
    check_duration(&r, clip.duration(), entry.duration)?;
    Ok(clip)
}

fn read_rows(
    mut r: SectionReader<'_>,
    skeleton: &Skeleton,
    entry: ClipEntry,
    owner: &SharedBytes,
) -> Result<Clip, ReadError> {
    let head: Head = r.one("the header of a clip")?;
    let Some(&kind) = KINDS_OF_CLIPS.get(head.kind as usize) else {
        return Err(r.limit("the kind of a clip", head.kind, 1u32));
    };
    check_duration(&r, head.duration, entry.duration)?;
    let have = head.structure;
    if have != skeleton.structure_hash() {
        let needed = skeleton.structure_hash();
        return Err(r.fault(Fault::Structure { have, needed }));
    }
    if head.layout != skeleton.layout_hash() {
        return Err(r.fault(Fault::hash("lane order", head.layout, skeleton.layout_hash())));
    }
    if head.motion_turns > 1 {
        return Err(r.limit("the flag of root rotations", head.motion_turns, 1u32));
    }
    let lens = r.each::<u32>(head.timelines as usize, "lengths of timelines")?;
    let total = lens.clone().map(u64::from).sum::<u64>();
    if total != u64::from(head.times) {
        let fault = Fault::limit("the number of key times of all timelines", total, head.times);
        return Err(r.fault_at(offset_of!(Head, times), fault));
    }
    r.charge(lens.len() * size_of::<Vec<f32>>())?;
    let mut timelines = Vec::with_capacity(lens.len());
    for len in lens {
        timelines.push(r.floats(len as usize, "key times")?);
    }
    let mut channels: [Vec<Block>; 4] = Default::default();
    for (blocks, &count) in channels.iter_mut().zip(&head.blocks) {
        let stored = r.each(count as usize, "blocks")?;
        r.charge(stored.len() * size_of::<Block>())?;
        blocks.reserve_exact(stored.len());
        for b in stored {
            blocks.push(block(&r, b)?);
        }
    }
    let root_motion = motion(&mut r, &head)?;
    r.pad(ALIGNMENT)?;
    let rows = typed_slice(&mut r, owner, head.rows, "rows")?;
    let packed = typed_slice(&mut r, owner, head.packed, "packed keys")?;
    // The block lookup of the clip, 2 bytes per block, and a fixed allowance.
    r.charge(2 * blocks_of(skeleton) + 4096)?;
    let parts = ClipParts {
        name: entry.name,
        duration: entry.duration,
        kind,
        timelines,
        channels,
        tracks: head.tracks.map(|counts| counts.map(|count| count as usize)),
        root_motion,
        markers: entry.markers,
        ..ClipParts::default()
    };
    let clip = Clip::of_stores(parts, (rows, packed), skeleton).map_err(|e| r.whole(e))?;
    r.finish()?;
    Ok(clip)
}

/// A slice of values in the bytes of the section.
fn typed_slice<T: AnyBitPattern + NoUninit>(
    r: &mut SectionReader<'_>,
    owner: &SharedBytes,
    count: u32,
    what: &'static str,
) -> Result<Store<T>, ReadError> {
    let at = r.position();
    let bytes = r.take((count as usize).saturating_mul(size_of::<T>()), what)?;
    let store = Store::shared(owner, at..at + bytes.len());
    store.ok_or_else(|| r.limit("the misalignment of rows", (at % ALIGNMENT) as u64, 0u32))
}

fn block(r: &SectionReader<'_>, b: StoredBlock) -> Result<Block, ReadError> {
    let kind = KINDS.get(usize::from(b.kind)).copied();
    let kind = kind.ok_or_else(|| r.limit("the kind of a block", b.kind, 3u32))?;
    let unused = u32::from(b.zero) | if b.lanes == 0 { b.first } else { 0 };
    if unused != 0 {
        return Err(r.limit("an unused field of a block", unused, 0u32));
    }
    Ok(Block {
        kind,
        hold: b.hold,
        encoding: Encoding::of_numbers((b.lanes, b.first)),
        timeline: b.timeline,
        ..Block::constant(b.block.into(), b.first_row as usize)
    })
}

fn motion(r: &mut SectionReader<'_>, head: &Head) -> Result<Option<RootMotionParts>, ReadError> {
    let keys = head.motion_keys as usize;
    if keys == 0 {
        let unused = u32::from(head.motion_joint) | u32::from(head.motion_turns) << 16;
        return match unused {
            0 => Ok(None),
            found => {
                let fault = Fault::limit("the root motion's joint", found, 0u32);
                Err(r.fault_at(offset_of!(Head, motion_joint), fault))
            }
        };
    }
    let turns = if head.motion_turns == 1 { keys } else { 0 };
    Ok(Some(RootMotionParts {
        joint: head.motion_joint,
        times: r.floats(keys, "times of the root motion")?,
        translations: r.floats(keys, "translations of the root motion")?,
        rotations: r.floats(turns, "rotations of the root motion")?,
    }))
}

#[cfg(test)]
mod tests {
    use super::super::container::Entry;
    use super::super::memory::{BLOCKS_BASE, MemoryLimit};
    use super::super::source;
    use super::*;
    use crate::skeleton::{Joint, Trs};

    /// The blocks of a coded clip are charged before any of its bytes is read.
    #[test]
    fn coded_clips_count_the_blocks_of_the_skeleton() {
        let joint = Joint { name: "joint".into(), parent: None, rest: Trs::IDENTITY };
        let skeleton = Skeleton::new(&[joint], None, Vec::new()).unwrap();
        let stated = || ClipEntry {
            form: ClipForm::Coded,
            name: "clip".into(),
            duration: 0.0,
            markers: Vec::new(),
        };
        let memory = MemoryLimit::new(0);
        let (owner, entry) = (source::copy(&[]), Entry::zeroed());
        let read = || {
            let reader = SectionReader::new(&[], &entry, &memory);
            let fault = read(reader, &skeleton, stated(), &owner).map(|_| ());
            fault.expect_err("a clip needs bytes").fault
        };
        assert!(!matches!(read(), Fault::Limit { .. }));
        // One joint has three blocks, one per channel.
        memory.look_through(BLOCKS_BASE as usize - 5).unwrap();
        let refused = read();
        let named = matches!(refused, Fault::Limit { found, limit, .. }
            if found == BLOCKS_BASE + 1 && limit == BLOCKS_BASE);
        assert!(named, "{refused:?}");
    }
}
