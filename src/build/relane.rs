//! Clips in another lane order: moved lane by lane, bit for bit, where the blocks allow it; rebuilt
//! otherwise.

use super::clip_builder::{ClipBuildError, Reference};
use super::unbuild::rebuild;
use crate::clip::{
    Block, BlockKind, Channel, Clip, ClipKind, ClipParts, Defaults, Encoding, FloatKeys,
    PackedKeys, Part, Stored,
};
use crate::math::{LANES, Row};
use crate::skeleton::{NO_JOINT, Pose, Skeleton};

use thiserror::Error;

/// Why a clip cannot be converted to another lane order.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum RelaneError {
    /// The skeletons differ in more than their lane order, or the clip belongs to neither.
    #[error("clip \"{clip}\" belongs to a skeleton with hash {have:016x}, expected {needed:016x}")]
    Skeleton {
        /// The clip.
        clip: String,
        /// Its skeleton's hash.
        have: u64,
        /// The hash expected.
        needed: u64,
    },
    /// The clip needs more memory in the new order than allowed.
    #[error("clip \"{clip}\" needs {needed} bytes in another lane order, the limit is {limit}")]
    Memory {
        /// The clip.
        clip: String,
        /// Bytes needed, at least.
        needed: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// The clip cannot be rebuilt in the new order.
    #[error(transparent)]
    Build(#[from] ClipBuildError),
}

/// Converts a clip to a skeleton that differs only in its lane order.
///
/// If the lanes that share a block in the new order have one timeline, their keys are kept bit for bit.
/// Blocks of 16-bit keys stay so; 16-bit keys that join rows of f32 become f32. Rotations that were nlerped
/// are slerped if a new neighbour needs it. If timelines or cubic splines mix, the clip is rebuilt in rows of
/// f32, and keys may be added between the old ones. `max_bytes` bounds the keys of both orders, because
/// lanes that shared rows may be separated.
///
/// # Errors
/// If the skeletons differ in structure, the clip is not in the lane order of `from`, the keys need more
/// memory than allowed, or a block needs more keys than a timeline holds.
pub fn relane(
    clip: &Clip,
    from: &Skeleton,
    to: &Skeleton,
    max_bytes: usize,
) -> Result<Clip, RelaneError> {
    let needed = to.structure_hash();
    let pairs = [clip.structure_hash(), from.structure_hash()];
    if let Some(&have) = pairs.iter().find(|&&have| have != needed) {
        let clip = clip.name().to_owned();
        return Err(RelaneError::Skeleton { clip, have, needed });
    }
    if clip.layout_hash() != from.layout_hash() {
        return Err(RelaneError::Skeleton {
            clip: clip.name().to_owned(),
            have: clip.layout_hash(),
            needed: from.layout_hash(),
        });
    }
    if clip.fits(to) {
        return Ok(clip.clone());
    }
    // Blocks may share rows; they are counted separately, as the code below copies them separately.
    let blocks = Channel::ALL
        .into_iter()
        .flat_map(|c| clip.blocks(c).iter().map(move |b| (c, b)));
    let mut room = Room::new(clip, max_bytes);
    for (channel, b) in blocks {
        room.take::<Row>(clip.keys_of(b).saturating_mul(b.kind.rows_per_key(channel)))?;
    }
    if let Some(moved) = moved(clip, from, to, max_bytes)? {
        return Ok(moved);
    }
    let neutral;
    let reference = match clip.kind() {
        ClipKind::Full => Reference::None,
        // The tracks hold differences already: subtract the neutral pose.
        ClipKind::Additive => {
            neutral = neutral_pose(to);
            Reference::Pose(&neutral)
        }
    };
    let motion = clip.root_motion().map(|m| m.parts().clone());
    Ok(rebuild(clip, from, to, reference, motion, max_bytes)?)
}

/// A pose whose subtraction changes nothing.
fn neutral_pose(skeleton: &Skeleton) -> Pose {
    let rest = skeleton.rest_pose();
    let mut pose = Pose::identity(skeleton.len(), skeleton.scalars().len());
    pose.quaternions.clone_from(&rest.quaternions);
    pose
}

/// A memory budget, counted before the allocation.
struct Room<'a> {
    clip: &'a Clip,
    used: usize,
    limit: usize,
}

impl<'a> Room<'a> {
    fn new(clip: &'a Clip, limit: usize) -> Self {
        // Rows and packed keys are indexed with 32 bits.
        let limit = limit.min(u32::MAX as usize);
        Self {
            clip,
            used: 0,
            limit,
        }
    }

    fn take<T>(&mut self, count: usize) -> Result<(), RelaneError> {
        self.used = self
            .used
            .saturating_add(count.saturating_mul(size_of::<T>()));
        if self.used > self.limit {
            return Err(RelaneError::Memory {
                clip: self.clip.name().to_owned(),
                needed: self.used,
                limit: self.limit,
            });
        }
        Ok(())
    }
}

/// The clip with its lanes moved; `None` if the lanes of a new block cannot share one.
fn moved(
    clip: &Clip,
    from: &Skeleton,
    to: &Skeleton,
    max_bytes: usize,
) -> Result<Option<Clip>, RelaneError> {
    let timelines = clip.timelines().iter().map(|t| clip.times(t).to_vec());
    let parts = ClipParts {
        name: clip.name().to_owned(),
        duration: clip.duration(),
        kind: clip.kind(),
        timelines: timelines.collect(),
        tracks: Channel::ALL.map(|c| clip.tracks(c)),
        root_motion: clip.root_motion().map(|m| m.parts().clone()),
        markers: clip.markers().to_vec(),
        ..ClipParts::default()
    };
    let mut mover = Mover {
        clip,
        from,
        to,
        parts,
        room: Room::new(clip, max_bytes),
        defaults: Defaults::new(to, clip.kind()),
    };
    for channel in Channel::ALL {
        let blocks = match channel {
            Channel::Scalar => to.rest_pose().scalar_blocks(),
            _ => to.blocks(),
        };
        for block in 0..blocks {
            if !mover.block(channel, block)? {
                return Ok(None);
            }
        }
    }
    let mut parts = mover.parts;
    parts.end_packed();
    Ok(Clip::new(parts, to).ok())
}

struct Mover<'a> {
    clip: &'a Clip,
    from: &'a Skeleton,
    to: &'a Skeleton,
    parts: ClipParts,
    room: Room<'a>,
    defaults: Defaults<'a>,
}

/// A lane in the old order.
#[derive(Clone, Copy)]
struct Old<'a> {
    block: &'a Block,
    lane: usize,
}

impl Old<'_> {
    fn moves(self) -> bool {
        self.block.kind != BlockKind::Constant && self.block.moving >> self.lane & 1 == 1
    }

    fn holds(self) -> bool {
        self.block.hold >> self.lane & 1 == 1
    }

    /// Whether its keys are 16-bit integers.
    fn is_packed(self) -> bool {
        matches!(self.block.encoding, Encoding::Packed { .. })
    }
}

impl<'a> Mover<'a> {
    /// The old position of a lane of the new order, if keys are stored for it.
    fn old(&self, channel: Channel, lane: usize) -> Option<Old<'a>> {
        let lane = match channel {
            Channel::Scalar => lane,
            _ => match *self.to.joint_of().get(lane)? {
                NO_JOINT => return None,
                joint => usize::from(*self.from.lane_of().get(usize::from(joint))?),
            },
        };
        let block = self.clip.block_at(channel, lane / LANES)?;
        let lane = lane % LANES;
        Some(Old { block, lane })
    }

    /// Adds a block of the new order, unless all its lanes are at their defaults. Returns false if its
    /// lanes cannot share a block.
    fn block(&mut self, channel: Channel, block: usize) -> Result<bool, RelaneError> {
        let width = channel.components();
        let old: [Option<Old<'a>>; LANES] =
            std::array::from_fn(|l| self.old(channel, block * LANES + l));
        let mut still = vec![Row::splat(0.0); width];
        let mut differs = false;
        for (l, old) in old.iter().enumerate() {
            let default = self.defaults.value(channel, block * LANES + l);
            let value = match old {
                Some(old) => self.clip.constant(channel, old.block, old.lane),
                None => default,
            };
            for (c, row) in still.iter_mut().enumerate() {
                row.0[l] = value[c];
                differs |= value[c].to_bits() != default[c].to_bits();
            }
        }
        let moving: Vec<(usize, Old<'a>)> = (0..LANES)
            .filter_map(|l| Some((l, old[l].filter(|o| o.moves())?)))
            .collect();
        let first_row = self.parts.rows.len() as u32;
        let mut new = Block {
            block: block as u16,
            kind: BlockKind::Constant,
            encoding: Encoding::Float,
            hold: 0,
            moving: 0,
            timeline: 0,
            first_row,
        };
        if let Some(&(last, one)) = moving.last() {
            let keys = self.clip.keys_of(one.block);
            new.timeline = one.block.timeline;
            let Some(kind) = kind_of(&moving) else {
                return Ok(false);
            };
            new.kind = kind;
            for &(l, old) in &moving {
                new.hold |= u16::from(old.holds()) << l;
            }
            if moving.iter().all(|(_, old)| old.is_packed()) {
                self.room.take::<Row>(width + 1)?;
                self.room.take::<u16>(keys * width * (last + 1))?;
                new.encoding = self.integers(channel, &moving, keys, (last + 1, &still));
            } else {
                self.room.take::<Row>(keys * kind.rows_per_key(channel))?;
                self.rows((channel, kind), &moving, keys, &still);
            }
        } else if differs {
            self.room.take::<Row>(width)?;
            self.parts.rows.to_mut().extend_from_slice(&still);
        } else {
            return Ok(true);
        }
        self.parts.channels[channel as usize].push(new);
        Ok(true)
    }

    /// Writes a packed block: its ranges, then its keys up to the last animated lane.
    fn integers(
        &mut self,
        channel: Channel,
        moving: &[(usize, Old<'_>)],
        keys: usize,
        (lanes, still): (usize, &[Row]),
    ) -> Encoding {
        let mut new = PackedKeys::new(still, keys, lanes);
        for &(l, old) in moving {
            let had = self.clip.keys(channel, old.block);
            for (key, c) in (0..keys).flat_map(|k| (0..still.len()).map(move |c| (k, c))) {
                if let Stored::Integer {
                    least,
                    step,
                    integer,
                } = had.number(key, Part::Value, c, old.lane)
                {
                    if key == 0 {
                        new.set_range(c, l, least, step);
                    }
                    new.set(key, c, l, integer);
                }
            }
        }
        new.append(&mut self.parts)
    }

    /// Writes a block's rows of f32; the keys of packed lanes are exact in f32.
    fn rows(
        &mut self,
        (channel, kind): (Channel, BlockKind),
        moving: &[(usize, Old<'_>)],
        keys: usize,
        still: &[Row],
    ) {
        let parts: &[Part] = match kind {
            BlockKind::Cubic => &[Part::In, Part::Value, Part::Out],
            _ => &[Part::Value],
        };
        let rows = self.parts.rows.to_mut();
        let mut new = FloatKeys::append(rows, (channel, kind), still, keys);
        for &(l, old) in moving {
            let had = self.clip.keys(channel, old.block);
            for (key, &part) in (0..keys).flat_map(|k| parts.iter().map(move |p| (k, p))) {
                new.set(key, part, l, &had.get(key, part, old.lane));
            }
        }
    }
}

/// The kind of a block of these lanes; `None` if their timelines or kinds cannot share one.
fn kind_of(moving: &[(usize, Old<'_>)]) -> Option<BlockKind> {
    let (_, one) = moving.first()?;
    let mut kind = one.block.kind;
    for (_, old) in moving {
        if old.block.timeline != one.block.timeline {
            return None;
        }
        kind = match (kind, old.block.kind) {
            (a, b) if a == b => a,
            (BlockKind::Cubic, _) | (_, BlockKind::Cubic) => return None,
            // Some lanes need the correction, and it does the others no harm.
            _ => BlockKind::Slerp,
        };
    }
    Some(kind)
}
