//! `Clip`: timelines and SoA blocks of keys. Immutable; made by `offline` or read from a file.

use super::encoding::{Encoding, slack};
use super::marker::{MAX_MARKERS, Marker, sorted};
use super::root_motion::{RootMotion, RootMotionParts};
use super::store::Store;
use super::timeline::{MAX_KEYS, Timeline, regular_rate};
use crate::math::{Fnv1a, LANES, Row, all_finite};
use crate::skeleton::Skeleton;
use thiserror::Error;

/// What kind of values a clip holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ClipKind {
    /// Local transforms; a lane without keys is the rest pose.
    #[default]
    Full,
    /// Differences to a reference pose; a lane without keys is the identity.
    Additive,
}

/// The properties that a clip moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Channel {
    /// Three rows a key.
    Translation = 0,
    /// Four rows a key.
    Rotation = 1,
    /// Three rows a key.
    Scale = 2,
    /// One row a key.
    Scalar = 3,
}

impl Channel {
    /// All channels in order.
    pub const ALL: [Self; 4] = [Self::Translation, Self::Rotation, Self::Scale, Self::Scalar];

    /// Rows of one value.
    pub const fn components(self) -> usize {
        match self {
            Self::Translation | Self::Scale => 3,
            Self::Rotation => 4,
            Self::Scalar => 1,
        }
    }
}

/// How a block's keys are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockKind {
    /// One value, held for ever.
    Constant,
    /// A value per key, interpolated linearly (rotations: normalised lerp).
    Linear,
    /// As `Linear`, for rotations whose keys lie apart: the parameter is corrected to follow slerp.
    Slerp,
    /// In-tangent, value and out-tangent per key; tangents are per interval, not per second.
    Cubic,
}

/// Sixteen lanes of one channel of a clip. Blocks that stay at their default are not stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    /// Lanes `16 × block ..`.
    pub block: u16,
    /// How values between keys come about.
    pub kind: BlockKind,
    /// How the keys are stored.
    pub encoding: Encoding,
    /// Lanes that hold a key's value until the next key (bit l: lane l).
    pub hold: u16,
    /// Lanes whose keys differ (bit l: lane l); found by [`Clip::new`].
    pub moving: u16,
    /// Index of its timeline; unused if constant.
    pub timeline: u32,
    /// Its first row: of its keys, or of their ranges.
    pub first_row: u32,
}

/// What a block does, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrackCounts {
    /// Lanes that change over time.
    pub animated: usize,
    /// Lanes that are constant but not at their default.
    pub constant: usize,
}

/// An animation of one skeleton, packed for sampling.
#[derive(Clone, Debug, PartialEq)]
pub struct Clip {
    pub(crate) name: String,
    pub(crate) duration: f32,
    pub(crate) kind: ClipKind,
    pub(crate) structure: u64,
    pub(crate) layout: u64,
    pub(crate) timelines: Vec<Timeline>,
    pub(crate) times: Vec<f32>,
    pub(crate) channels: [Vec<Block>; 4],
    pub(crate) rows: Store<Row>,
    pub(crate) packed: Store<u16>,
    pub(crate) tracks: [TrackCounts; 4],
    pub(crate) markers: Vec<Marker>,
    pub(crate) hints: usize,
    /// For every channel and block, its place in `channels`, or [`NO_BLOCK`].
    pub(crate) lookup: [Vec<u16>; 4],
    pub(crate) root_motion: Option<RootMotion>,
}

/// No keys are stored for a block.
const NO_BLOCK: u16 = u16::MAX;

/// The parts of a clip, as a builder or a reader has them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClipParts {
    /// Name.
    pub name: String,
    /// Seconds.
    pub duration: f32,
    /// Full or additive.
    pub kind: ClipKind,
    /// Key times of every timeline.
    pub timelines: Vec<Vec<f32>>,
    /// Blocks of every channel, ascending.
    pub channels: [Vec<Block>; 4],
    /// All rows.
    pub rows: Store<Row>,
    /// The keys of packed blocks.
    pub packed: Store<u16>,
    /// Tracks of every channel, counted.
    pub tracks: [TrackCounts; 4],
    /// The motion that was taken out of the root joint's keys, if any.
    pub root_motion: Option<RootMotionParts>,
    /// Markers, in any order.
    pub markers: Vec<Marker>,
}

/// Why parts are no clip.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ClipError {
    /// The duration is negative, NaN or infinite.
    #[error("clip \"{clip}\": the duration {duration} is not a finite number of seconds")]
    Duration {
        /// The clip.
        clip: String,
        /// Its duration.
        duration: f32,
    },
    /// A timeline has too few or too many keys.
    #[error("clip \"{clip}\": timeline {timeline} has {keys} keys, allowed are 2 to {MAX_KEYS}")]
    KeyCount {
        /// The clip.
        clip: String,
        /// The timeline.
        timeline: usize,
        /// Its keys.
        keys: usize,
    },
    /// Times do not increase.
    #[error("clip \"{clip}\": timeline {timeline}, key {key}: times must be finite and increase")]
    Times {
        /// The clip.
        clip: String,
        /// The timeline.
        timeline: usize,
        /// The key.
        key: usize,
    },
    /// More timelines than hints can be told apart.
    #[error(
        "clip \"{clip}\": {count} irregular timelines, the limit is {}",
        u16::MAX
    )]
    TooManyTimelines {
        /// The clip.
        clip: String,
        /// Irregular timelines.
        count: usize,
    },
    /// A block names lanes, rows or a timeline that do not exist.
    #[error("clip \"{clip}\": {channel:?} block {index} reaches {what} {needed}, there are {have}")]
    Block {
        /// The clip.
        clip: String,
        /// The channel.
        channel: Channel,
        /// Position in the channel's list of blocks.
        index: usize,
        /// What it reaches past.
        what: &'static str,
        /// How far it reaches.
        needed: usize,
        /// How many there are.
        have: usize,
    },
    /// There is no such clip.
    #[error("there is no clip {clip}, the rig has {clips}")]
    Unknown {
        /// The clip.
        clip: usize,
        /// Clips of the rig.
        clips: usize,
    },
    /// A marker lies outside the clip.
    #[error("clip \"{clip}\": marker \"{marker}\" is at {time} s, the clip ends at {duration} s")]
    Marker {
        /// The clip.
        clip: String,
        /// The marker.
        marker: String,
        /// Its time.
        time: f32,
        /// Seconds of the clip.
        duration: f32,
    },
    /// More markers than events can name.
    #[error("clip \"{clip}\": {count} markers, the limit is {MAX_MARKERS}")]
    TooManyMarkers {
        /// The clip.
        clip: String,
        /// Markers.
        count: usize,
    },
    /// A row holds NaN or an infinity.
    #[error("clip \"{clip}\": row {row} is not finite")]
    NotFinite {
        /// The clip.
        clip: String,
        /// The row.
        row: usize,
    },
    /// The root motion is not usable, or none may be there.
    #[error("clip \"{clip}\", root motion: {what} ({index})")]
    RootMotion {
        /// The clip.
        clip: String,
        /// What is wrong.
        what: &'static str,
        /// With which key, joint or count.
        index: usize,
    },
}

impl Clip {
    /// Makes a clip for a skeleton of its parts, after checking that no sample can leave them.
    ///
    /// # Errors
    /// If a time, a row, a block or a count is not usable; see [`ClipError`].
    pub fn new(mut parts: ClipParts, skeleton: &Skeleton) -> Result<Self, ClipError> {
        let clip = || parts.name.clone();
        if !(parts.duration >= 0.0 && parts.duration.is_finite()) {
            return Err(ClipError::Duration {
                clip: clip(),
                duration: parts.duration,
            });
        }
        let mut timelines = Vec::with_capacity(parts.timelines.len());
        let mut times = Vec::with_capacity(parts.timelines.iter().map(Vec::len).sum());
        let mut hints = 0usize;
        for (timeline, keys) in parts.timelines.iter().enumerate() {
            if keys.len() < 2 || keys.len() > MAX_KEYS {
                return Err(ClipError::KeyCount {
                    clip: clip(),
                    timeline,
                    keys: keys.len(),
                });
            }
            let bad = (0..keys.len())
                .find(|&k| !keys[k].is_finite() || (k > 0 && keys[k - 1] >= keys[k]));
            if let Some(key) = bad {
                return Err(ClipError::Times {
                    clip: clip(),
                    timeline,
                    key,
                });
            }
            let rate = regular_rate(keys);
            let hint = (rate == 0.0).then_some(hints.min(usize::from(u16::MAX)) as u16);
            hints += usize::from(hint.is_some());
            timelines.push(Timeline {
                first: times.len() as u32,
                len: keys.len() as u32,
                rate,
                hint,
            });
            times.extend_from_slice(keys);
        }
        if hints > usize::from(u16::MAX) {
            return Err(ClipError::TooManyTimelines {
                clip: clip(),
                count: hints,
            });
        }
        for channel in Channel::ALL {
            Self::check_blocks(&parts, channel, skeleton)?;
        }
        if !all_finite(bytemuck::cast_slice(&parts.rows)) {
            let bad = |r: &Row| r.0.iter().any(|v| !v.is_finite());
            let row = parts.rows.iter().position(bad).unwrap_or_default();
            return Err(ClipError::NotFinite { clip: clip(), row });
        }
        let root_motion = match parts.root_motion.take() {
            Some(motion) => Some(RootMotion::new(motion, &parts, skeleton)?),
            None => None,
        };
        let markers = sorted(
            std::mem::take(&mut parts.markers),
            &parts.name,
            parts.duration,
        )?;
        let mut lookup: [Vec<u16>; 4] = Default::default();
        let (all_rows, all_packed) = (parts.rows.as_slice(), parts.packed.as_slice());
        for channel in Channel::ALL {
            let blocks = match channel {
                Channel::Scalar => skeleton.rest_pose().scalar_blocks(),
                _ => skeleton.blocks(),
            };
            let places = &mut lookup[channel as usize];
            places.resize(blocks, NO_BLOCK);
            for (place, b) in parts.channels[channel as usize].iter_mut().enumerate() {
                places[usize::from(b.block)] = place as u16;
                let keys = match b.kind {
                    BlockKind::Constant => 1,
                    _ => timelines[b.timeline as usize].len as usize,
                };
                let rows = b.encoding.rows(channel, keys, b.kind.rows_per_key(channel));
                let rows = &all_rows[b.first_row as usize..][..rows];
                b.moving = match b.encoding {
                    Encoding::Float => moving_lanes(rows, b.kind, channel),
                    Encoding::Packed { first, lanes } => {
                        let (width, lanes) = (channel.components(), usize::from(lanes));
                        let packed = &all_packed[first as usize..][..keys * width * lanes];
                        packed_moving_lanes(&rows[width], packed, lanes, width)
                    }
                };
            }
        }
        Ok(Self {
            name: parts.name,
            duration: parts.duration,
            kind: parts.kind,
            structure: skeleton.structure_hash(),
            layout: skeleton.layout_hash(),
            timelines,
            times,
            channels: parts.channels,
            rows: parts.rows,
            packed: parts.packed,
            tracks: parts.tracks,
            markers,
            hints,
            lookup,
            root_motion,
        })
    }

    fn check_blocks(
        parts: &ClipParts,
        channel: Channel,
        skeleton: &Skeleton,
    ) -> Result<(), ClipError> {
        let have_blocks = match channel {
            Channel::Scalar => skeleton.rest_pose().scalar_blocks(),
            _ => skeleton.blocks(),
        };
        let (rows, packed) = (parts.rows.as_slice(), parts.packed.as_slice());
        let mut least = 0usize;
        for (index, b) in parts.channels[channel as usize].iter().enumerate() {
            let fail = |what, needed, have| ClipError::Block {
                clip: parts.name.clone(),
                channel,
                index,
                what,
                needed,
                have,
            };
            let block = usize::from(b.block);
            // Ascending blocks: each is written once by a sample.
            if block >= have_blocks || block < least {
                return Err(fail("block", block, have_blocks));
            }
            least = block + 1;
            let keys = if b.kind == BlockKind::Constant {
                1
            } else {
                match parts.timelines.get(b.timeline as usize) {
                    Some(t) => t.len(),
                    None => {
                        return Err(fail("timeline", b.timeline as usize, parts.timelines.len()));
                    }
                }
            };
            let count = b.encoding.rows(channel, keys, b.kind.rows_per_key(channel));
            let end = (b.first_row as usize).saturating_add(count);
            if end > rows.len() {
                return Err(fail("row", end, rows.len()));
            }
            if let Encoding::Packed { first, lanes } = b.encoding {
                let lanes = usize::from(lanes);
                if !matches!(b.kind, BlockKind::Linear | BlockKind::Slerp) {
                    return Err(fail("packed keys of the kind", b.kind as usize, 0));
                }
                if lanes == 0 || lanes > LANES {
                    return Err(fail("packed lane", lanes, LANES));
                }
                let steps = &rows[end - 1].0;
                if let Some(l) = (lanes..LANES).find(|&l| steps[l] != 0.0) {
                    return Err(fail("step of lane", l, lanes));
                }
                let size = keys * channel.components() * lanes + slack(lanes);
                let end = (first as usize).saturating_add(size);
                if end > packed.len() {
                    return Err(fail("packed key", end, packed.len()));
                }
                let finite = |row: &[Row], l: usize| {
                    let farthest = row.iter().map(|r| r.0[l].abs()).fold(0.0, f32::max);
                    (farthest + steps[l].abs() * f32::from(u16::MAX)).is_finite()
                };
                let ranges = &rows[b.first_row as usize..][..channel.components()];
                if let Some(l) = (0..LANES).find(|&l| !finite(ranges, l)) {
                    return Err(fail("finite range of lane", l, LANES));
                }
            }
        }
        Ok(())
    }

    /// Its name; may be empty.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Seconds; 0 for a clip that is one pose.
    pub fn duration(&self) -> f32 {
        self.duration
    }

    /// Full or additive.
    pub fn kind(&self) -> ClipKind {
        self.kind
    }

    /// Whether the clip was built for this skeleton with this lane order.
    pub fn fits(&self, skeleton: &Skeleton) -> bool {
        self.structure == skeleton.structure_hash() && self.layout == skeleton.layout_hash()
    }

    /// Structure hash of its skeleton.
    pub fn structure_hash(&self) -> u64 {
        self.structure
    }

    /// Layout hash of its skeleton.
    pub fn layout_hash(&self) -> u64 {
        self.layout
    }

    /// Its timelines.
    pub fn timelines(&self) -> &[Timeline] {
        &self.timelines
    }

    /// Key times of a timeline.
    pub fn times(&self, timeline: &Timeline) -> &[f32] {
        &self.times[timeline.first as usize..][..timeline.len as usize]
    }

    /// Blocks of a channel.
    pub fn blocks(&self, channel: Channel) -> &[Block] {
        &self.channels[channel as usize]
    }

    /// The block of a channel that holds lanes `16 × block ..`, if keys are stored for it.
    #[inline(always)]
    pub(crate) fn block_at(&self, channel: Channel, block: usize) -> Option<&Block> {
        let place = *self.lookup[channel as usize].get(block)?;
        self.channels[channel as usize].get(usize::from(place))
    }

    /// The value of a lane that does not move.
    pub(crate) fn constant(&self, channel: Channel, b: &Block, lane: usize) -> [f32; 4] {
        let width = channel.components();
        let value = if b.kind == BlockKind::Cubic { width } else { 0 };
        let mut out = [0.0; 4];
        for (c, out) in out.iter_mut().enumerate().take(width) {
            *out = self.rows[b.first_row as usize + value + c].0[lane];
        }
        if let Encoding::Packed { first, lanes } = b.encoding
            && lane < usize::from(lanes)
        {
            let step = self.rows[b.first_row as usize + width].0[lane];
            for (c, out) in out.iter_mut().enumerate().take(width) {
                let at = first as usize + c * usize::from(lanes) + lane;
                *out += step * f32::from(self.packed[at]);
            }
        }
        out
    }

    /// All rows; looked up each time, so take them once before a loop.
    #[inline(always)]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The keys of packed blocks; looked up each time, as [`Clip::rows`].
    #[inline(always)]
    pub fn packed(&self) -> &[u16] {
        &self.packed
    }

    /// Tracks of a channel, counted.
    pub fn tracks(&self, channel: Channel) -> TrackCounts {
        self.tracks[channel as usize]
    }

    /// The motion that was taken out of its root joint, if any; see `offline::RootMotionOptions`.
    pub fn root_motion(&self) -> Option<&RootMotion> {
        self.root_motion.as_ref()
    }

    /// Key hints that a player of this clip needs: one per irregular timeline.
    pub fn hint_count(&self) -> usize {
        self.hints
    }

    /// Keys stored, over all blocks and lanes that move.
    pub fn key_count(&self) -> usize {
        Channel::ALL
            .iter()
            .flat_map(|&c| self.blocks(c))
            .map(|b| match b.kind {
                BlockKind::Constant => 1,
                _ => self.timelines[b.timeline as usize].len as usize,
            })
            .sum::<usize>()
    }

    /// Bytes of key data and tables in memory.
    pub fn bytes(&self) -> usize {
        self.rows.len() * size_of::<Row>()
            + self.packed.len() * size_of::<u16>()
            + self.times.len() * size_of::<f32>()
            + self.timelines.len() * size_of::<Timeline>()
            + self.channels.iter().map(Vec::len).sum::<usize>() * size_of::<Block>()
            + self.root_motion.as_ref().map_or(0, RootMotion::bytes)
    }

    /// Hash of all that a sample reads, and of the markers; for snapshots and files, not for hostile
    /// input.
    pub fn content_hash(&self) -> u64 {
        let mut h = Fnv1a::default();
        h.write_f32(self.duration);
        h.write_u64(self.structure);
        h.write_u64(self.layout);
        h.write(bytemuck::cast_slice(&self.times));
        for b in self.channels.iter().flatten() {
            h.write_u64(u64::from(b.block) | u64::from(b.hold) << 16 | (b.kind as u64) << 32);
            h.write_u64(u64::from(b.timeline) | u64::from(b.first_row) << 32);
            if let Encoding::Packed { first, lanes } = b.encoding {
                h.write_u64(u64::from(first) | u64::from(lanes) << 32);
            }
        }
        h.write(bytemuck::cast_slice(self.packed()));
        for row in self.rows() {
            h.write(bytemuck::cast_slice(&row.0));
        }
        if let Some(motion) = &self.root_motion {
            motion.hash(&mut h);
        }
        for marker in &self.markers {
            h.write_f32(marker.time);
            h.write_u64(marker.name.len() as u64);
            h.write(marker.name.as_bytes());
        }
        h.finish()
    }
}

impl BlockKind {
    /// Rows of one key of this kind.
    pub const fn rows_per_key(self, channel: Channel) -> usize {
        match self {
            Self::Cubic => 3 * channel.components(),
            _ => channel.components(),
        }
    }
}

/// The lanes of a block that change over its keys.
fn moving_lanes(rows: &[Row], kind: BlockKind, channel: Channel) -> u16 {
    let width = channel.components();
    let per_key = kind.rows_per_key(channel);
    let values = match kind {
        BlockKind::Cubic => width..2 * width,
        _ => 0..width,
    };
    let mut moving = [0u32; LANES];
    for key in rows.chunks_exact(per_key) {
        for (part, (row, first)) in key.iter().zip(rows).enumerate() {
            // Tangents have to be zero.
            let still = if values.contains(&part) {
                first.0
            } else {
                [0.0; LANES]
            };
            for (moving, (v, still)) in moving.iter_mut().zip(row.0.iter().zip(still)) {
                *moving |= u32::from(*v != still);
            }
        }
    }
    let bits = moving.iter().enumerate();
    bits.fold(0, |all, (l, &moving)| all | (moving as u16) << l)
}

/// Keys that are compared before it is asked whether all lanes are known to move.
const KEYS_AT_ONCE: usize = 4;

/// The lanes of a packed block that change over its keys.
fn packed_moving_lanes(steps: &Row, packed: &[u16], lanes: usize, width: usize) -> u16 {
    let bits =
        |of: &dyn Fn(usize) -> bool| (0..lanes).fold(0, |all, l| all | u16::from(of(l)) << l);
    let stepping = bits(&|l| steps.0[l] != 0.0);
    let mut moving = 0;
    let (first, later) = packed.split_at(width * lanes);
    let mut differs = [0u16; 4 * LANES];
    for keys in later.chunks(KEYS_AT_ONCE * width * lanes) {
        for key in keys.chunks_exact(width * lanes) {
            for (differs, (a, b)) in differs.iter_mut().zip(first.iter().zip(key)) {
                *differs |= a ^ b;
            }
        }
        moving = bits(&|l| (0..width).any(|c| differs[c * lanes + l] != 0)) & stepping;
        if moving == stepping {
            break;
        }
    }
    moving
}

/// The lane `lane` of a row index, as (block, lane within the block).
pub(crate) const fn split_lane(lane: usize) -> (usize, usize) {
    (lane / LANES, lane % LANES)
}
