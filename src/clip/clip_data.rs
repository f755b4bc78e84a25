//! `Clip`: timelines and SoA blocks of keys. Immutable; made by `build` or read from a file.

use super::block::{Block, BlockKind, Channel, TrackCounts};
use super::check::{check_blocks, moving_lanes, packed_moving_lanes};
use super::encoding::Encoding;
use super::error::ClipError;
use super::limits::{check_rotations, check_rows, check_scales, scale_factors};
use super::marker::{Marker, sorted};
use super::root_motion::{RootMotion, RootMotionParts};
use super::store::Store;
use super::timeline::{MAX_KEYS, Timeline, regular_rate};
use crate::math::{Fnv1a, LANES, Row, within};
use crate::skeleton::{MAX_SECONDS, Skeleton};

/// What kind of values a clip holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ClipKind {
    /// Local transforms; a lane without keys is the rest pose.
    #[default]
    Full,
    /// Differences to a reference pose; a lane without keys is the identity.
    Additive,
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
    /// What the scales multiply a lane by at most; empty if that is 1.
    pub(super) scales: Vec<f32>,
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

impl ClipParts {
    /// Puts zeros behind the last integer, if there are integers: the last block is read as whole rows,
    /// too.
    pub(crate) fn end_packed(&mut self) {
        if !self.packed.is_empty() {
            let end = self.packed.len() + LANES;
            self.packed.to_mut().resize(end, 0);
        }
    }
}

impl Clip {
    /// Makes a clip for a skeleton of its parts, after checking that no sample can leave them, and that
    /// palettes of what is sampled stay finite: numbers are at most
    /// [`MAX_LENGTH`](crate::skeleton::MAX_LENGTH), scales multiply to at most
    /// [`MAX_CHAIN_SCALE`](crate::skeleton::MAX_CHAIN_SCALE) down a chain, rotations lie within
    /// [`ROTATION_SQUARES`](crate::skeleton::ROTATION_SQUARES) and turn from key to key on one hemisphere.
    ///
    /// # Errors
    /// If a time, a row, a block or a count is not usable; see [`ClipError`].
    pub fn new(mut parts: ClipParts, skeleton: &Skeleton) -> Result<Self, ClipError> {
        let clip = || parts.name.clone();
        if !(0.0..=MAX_SECONDS).contains(&parts.duration) {
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
                .find(|&k| !within(keys[k], MAX_SECONDS) || (k > 0 && keys[k - 1] >= keys[k]));
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
            check_blocks(&parts, channel, skeleton)?;
        }
        check_rows(&parts, skeleton)?;
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
            // Blocks ascend. As long as is needed: many clips of a large skeleton move little of it.
            let stored = &parts.channels[channel as usize];
            let blocks = stored.last().map_or(0, |b| usize::from(b.block) + 1);
            let places = &mut lookup[channel as usize];
            places.resize(blocks, NO_BLOCK);
            for (place, b) in parts.channels[channel as usize].iter_mut().enumerate() {
                places[usize::from(b.block)] = place as u16;
                let keys = match b.kind {
                    BlockKind::Constant => {
                        // Nobody reads it: one clip has one hash.
                        b.timeline = 0;
                        1
                    }
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
        check_rotations(&parts, skeleton)?;
        let mut clip = Self {
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
            scales: Vec::new(),
        };
        clip.scales = scale_factors(&clip, skeleton);
        check_scales(&clip, skeleton)?;
        Ok(clip)
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

    /// Keys of one of its blocks.
    pub(crate) fn keys_of(&self, b: &Block) -> usize {
        match b.kind {
            BlockKind::Constant => 1,
            _ => self.timelines[b.timeline as usize].len as usize,
        }
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

    /// The motion that was taken out of its root joint, if any; see [`RootMotionOptions`](crate::build::RootMotionOptions).
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
            .map(|b| self.keys_of(b))
            .sum()
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

    /// Bytes of the tables beside the keys that grow with the skeleton, not with the clip.
    pub(crate) fn table_bytes(&self) -> usize {
        let places: usize = self.lookup.iter().map(Vec::len).sum();
        places * size_of::<u16>() + self.scales.len() * size_of::<f32>()
    }

    /// Tells clips of one skeleton apart: the hash of the content, and the kind, which says what a lane
    /// without keys is.
    pub(crate) fn identity(&self) -> (u64, ClipKind) {
        (self.content_hash(), self.kind)
    }

    /// Hash of all that a sample reads but the kind, and of the markers; for snapshots and files, not for
    /// hostile input.
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
