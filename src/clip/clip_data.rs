//! `Clip`: timelines, blocks of keys, markers and root motion of one animation.

use super::block::{Block, BlockKind, Channel};
use super::check::check_blocks;
use super::encoding::Part;
use super::limits::{check_keys, check_rotations, check_rows, check_scales, scale_factors};
use super::marker::{Marker, sorted};
use super::root_motion::{RootMotion, RootMotionParts};
use super::store::Store;
use super::timeline::{MAX_IRREGULAR_KEYS, MAX_KEYS, Timeline, regular_rate};
use crate::error::BuildError;
use crate::math::{Fnv1a, Row, within};
use crate::skeleton::{MAX_SECONDS, Skeleton};
use crate::words::plural;

/// Whether a clip replaces a pose or is added to one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ClipKind {
    /// Local transforms. A lane without keys is the rest pose.
    #[default]
    Full,
    /// Differences from a reference pose. A lane without keys is the identity.
    Additive,
}

/// `full` or `additive`.
impl std::fmt::Display for ClipKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Full => "full",
            Self::Additive => "additive",
        })
    }
}

/// An animation of one skeleton, laid out for sampling.
///
/// A clip is immutable. Its transforms are in local space, in metres; times are in seconds. It fits every
/// skeleton with the same structure and the same lane order ([`Clip::fits`]). The rows are owned, or shared
/// with the file that the clip was read from.
#[derive(Clone, Debug, PartialEq)]
pub struct Clip {
    pub(crate) name: String,
    pub(crate) duration: f32,
    pub(crate) kind: ClipKind,
    /// The skeleton that the clip was made for; its joints own the lanes.
    pub(crate) skeleton: Skeleton,
    pub(crate) timelines: Vec<Timeline>,
    pub(crate) times: Vec<f32>,
    pub(crate) channels: [Vec<Block>; 4],
    pub(crate) rows: Store<Row>,
    pub(crate) packed: Store<u16>,
    pub(crate) tracks: [[usize; 2]; 4],
    pub(crate) markers: Vec<Marker>,
    pub(crate) hints: usize,
    /// For each channel and block its index in `channels`, or [`NO_BLOCK`]; ends at the last stored block.
    pub(crate) lookup: [Vec<u16>; 4],
    pub(crate) root_motion: Option<RootMotion>,
    /// For each lane the largest factor of its scales, at least 1. Empty if all factors are 1.
    pub(super) scales: Vec<f32>,
    pub(crate) origin: ClipOrigin,
}

/// The file that a clip was read from, by the checksum of its table, and the clip's index in it: a rig of that file finds
/// the bounds that the file states for the clip. Origins are equal to each other, so that they do not make clips differ.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClipOrigin(pub Option<(u64, u32)>);

impl PartialEq for ClipOrigin {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// The lookup entry of a block without keys.
const NO_BLOCK: u16 = u16::MAX;

/// The parts of a clip, unchecked; [`Clip::new`] checks them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClipParts {
    /// Name; may be empty.
    pub name: String,
    /// Duration, seconds.
    pub duration: f32,
    /// Full or additive.
    pub kind: ClipKind,
    /// Key times of each timeline, seconds, strictly increasing.
    pub timelines: Vec<Vec<f32>>,
    /// Blocks of each channel, in [`Channel::ALL`] order, ascending by block index.
    pub channels: [Vec<Block>; 4],
    /// Rows of all blocks.
    pub rows: Vec<Row>,
    /// Integers of packed blocks.
    pub packed: Vec<u16>,
    /// For each channel the number of tracks that change over time, and of those that are constant and not at their default.
    pub tracks: [[usize; 2]; 4],
    /// The motion that was extracted from the root joint, if any.
    pub root_motion: Option<RootMotionParts>,
    /// Markers, in any order.
    pub markers: Vec<Marker>,
}

impl Clip {
    /// Checks the parts and makes a clip for a skeleton.
    ///
    /// The checks ensure that sampling never reads outside the parts and that palettes of sampled poses stay
    /// finite. Numbers are at most [`MAX_LENGTH`](crate::skeleton::MAX_LENGTH). The product of scales down a
    /// chain of joints is at most [`MAX_CHAIN_SCALE`](crate::skeleton::MAX_CHAIN_SCALE). Squared lengths of
    /// rotations are from 0.5 to 2, and the dot product of
    /// neighbouring keys is at least -0.1.
    ///
    /// # Errors
    /// If a time, a row, a block or a count is invalid.
    pub fn new(mut parts: ClipParts, skeleton: &Skeleton) -> Result<Self, BuildError> {
        let rows = std::mem::take(&mut parts.rows).into();
        let packed = std::mem::take(&mut parts.packed).into();
        Self::of_stores(parts, (rows, packed), skeleton)
    }

    /// The same with rows and integers that may lie in shared bytes; `parts` has none.
    pub(crate) fn of_stores(
        parts: ClipParts,
        (rows, packed): (Store<Row>, Store<u16>),
        skeleton: &Skeleton,
    ) -> Result<Self, BuildError> {
        if !(0.0..=MAX_SECONDS).contains(&parts.duration) {
            let duration = parts.duration;
            let words = format!("the duration is {duration} s, allowed are 0 to {MAX_SECONDS:e} s");
            return Err(BuildError::of_clip(&parts.name, words));
        }
        let mut timelines = Vec::with_capacity(parts.timelines.len());
        let mut times = Vec::with_capacity(parts.timelines.iter().map(Vec::len).sum());
        let mut hints = 0usize;
        for (timeline, keys) in parts.timelines.iter().enumerate() {
            if keys.len() < 2 {
                let keys = plural(keys.len() as u64, "key");
                let words = format!("timeline {timeline} has {keys}, at least 2 are needed");
                return Err(BuildError::of_clip(&parts.name, words));
            }
            check_keys(&parts.name, timeline, keys.len(), MAX_KEYS)?;
            let bad = (0..keys.len())
                .find(|&k| !within(keys[k], MAX_SECONDS) || (k > 0 && keys[k - 1] >= keys[k]));
            if let Some(key) = bad {
                let words = format!(
                    "timeline {timeline}, key {key}: times must increase, from -{MAX_SECONDS:e} to {MAX_SECONDS:e} s"
                );
                return Err(BuildError::of_clip(&parts.name, words));
            }
            let rate = regular_rate(keys);
            if rate == 0.0 {
                check_keys(&parts.name, timeline, keys.len(), MAX_IRREGULAR_KEYS)?;
            }
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
            let what = format!("{hints} irregular timelines");
            return Err(BuildError::clip_limit(&parts.name, what, hints, u16::MAX.into()));
        }
        let mut clip = Self {
            name: parts.name,
            duration: parts.duration,
            kind: parts.kind,
            skeleton: skeleton.clone(),
            timelines,
            times,
            channels: parts.channels,
            rows,
            packed,
            tracks: parts.tracks,
            markers: Vec::new(),
            hints,
            lookup: Default::default(),
            root_motion: None,
            scales: Vec::new(),
            origin: ClipOrigin::default(),
        };
        for channel in Channel::ALL {
            check_blocks(&clip, channel)?;
        }
        check_rows(&clip)?;
        clip.root_motion = match parts.root_motion {
            Some(motion) => Some(RootMotion::new(motion, &clip)?),
            None => None,
        };
        clip.markers = sorted(parts.markers, &clip.name, clip.duration)?;
        for channel in Channel::ALL {
            let mut blocks = std::mem::take(&mut clip.channels[channel as usize]);
            // Blocks ascend. The lookup ends at the last stored block: many clips of a large skeleton animate
            // only a small part of it.
            let mut places = vec![NO_BLOCK; blocks.last().map_or(0, |b| usize::from(b.block) + 1)];
            for (place, b) in blocks.iter_mut().enumerate() {
                places[usize::from(b.block)] = place as u16;
                if b.kind == BlockKind::Constant {
                    // The timeline of a constant block is unused; it is 0 so that equal clips have equal hashes.
                    b.timeline = 0;
                }
                b.moving = clip.keys(channel, b).moving();
            }
            clip.channels[channel as usize] = blocks;
            clip.lookup[channel as usize] = places;
        }
        check_rotations(&clip)?;
        clip.scales = scale_factors(&clip);
        check_scales(&clip)?;
        Ok(clip)
    }

    /// The parts of the clip but for its blocks and their keys.
    pub(crate) fn outline(&self) -> ClipParts {
        ClipParts {
            name: self.name.clone(),
            duration: self.duration,
            kind: self.kind,
            timelines: self.timelines().map(<[f32]>::to_vec).collect(),
            tracks: self.tracks,
            root_motion: self.root_motion.as_ref().map(|motion| motion.parts().clone()),
            markers: self.markers.clone(),
            ..ClipParts::default()
        }
    }

    /// The name; may be empty.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The clip with another name.
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Duration in seconds; 0 for a single pose.
    pub fn duration(&self) -> f32 {
        self.duration
    }

    /// Full or additive.
    pub fn kind(&self) -> ClipKind {
        self.kind
    }

    /// True if the clip was built for a skeleton with the same structure and lane order.
    pub fn fits(&self, skeleton: &Skeleton) -> bool {
        self.structure_hash() == skeleton.structure_hash()
            && self.layout_hash() == skeleton.layout_hash()
    }

    /// Structure hash of the skeleton: joints, rest pose, scalars.
    pub(crate) fn structure_hash(&self) -> u64 {
        self.skeleton.structure_hash()
    }

    /// The skeleton that the clip was made for. It shares the arrays of the rig's or the file's skeleton.
    pub fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// Layout hash of the skeleton: its lane order.
    pub(crate) fn layout_hash(&self) -> u64 {
        self.skeleton.layout_hash()
    }

    /// Key times of each timeline, seconds, strictly increasing; at least 2.
    pub fn timelines(&self) -> impl ExactSizeIterator<Item = &[f32]> + Clone {
        self.timelines.iter().map(|timeline| self.times(timeline))
    }

    /// Key times of a timeline of the clip.
    #[inline(always)]
    pub(crate) fn times(&self, timeline: &Timeline) -> &[f32] {
        &self.times[timeline.first as usize..][..timeline.len as usize]
    }

    /// Key times of a block of the clip that is not constant.
    pub(crate) fn times_of(&self, b: &Block) -> &[f32] {
        self.times(&self.timelines[b.timeline as usize])
    }

    /// Stored blocks of a channel, ascending.
    pub fn blocks(&self, channel: Channel) -> &[Block] {
        &self.channels[channel as usize]
    }

    pub(crate) fn keys_of(&self, b: &Block) -> usize {
        match b.kind {
            BlockKind::Constant => 1,
            _ => self.timelines[b.timeline as usize].len as usize,
        }
    }

    /// The block that holds the lanes from `16 × block`, if it is stored.
    #[inline(always)]
    pub(crate) fn block_at(&self, channel: Channel, block: usize) -> Option<&Block> {
        let place = *self.lookup[channel as usize].get(block)?;
        self.channels[channel as usize].get(usize::from(place))
    }

    pub(crate) fn constant(&self, channel: Channel, b: &Block, lane: usize) -> [f32; 4] {
        self.keys(channel, b).get(0, Part::Value, lane)
    }

    /// All rows. Each call resolves the storage, so hoist it out of loops.
    #[inline(always)]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Integers of packed blocks. Hoist it out of loops, as [`Clip::rows`].
    #[inline(always)]
    pub fn packed(&self) -> &[u16] {
        &self.packed
    }

    /// The number of a channel's tracks that change over time, and of those that are constant and not at their default.
    pub fn tracks(&self, channel: Channel) -> [usize; 2] {
        self.tracks[channel as usize]
    }

    /// The motion that was extracted from the root joint, if any; see
    /// [`RootMotionOptions`](crate::build::RootMotionOptions).
    pub fn root_motion(&self) -> Option<&RootMotion> {
        self.root_motion.as_ref()
    }

    /// Key hints that playing this clip needs: one per irregular timeline.
    pub fn hint_count(&self) -> usize {
        self.hints
    }

    /// Keys stored, summed over all blocks. A key of a block holds up to 16 lanes; a constant block has one.
    pub fn key_count(&self) -> usize {
        Channel::ALL.iter().flat_map(|&c| self.blocks(c)).map(|b| self.keys_of(b)).sum()
    }

    /// Bytes in memory of rows, integers, key times, timelines, blocks and root motion.
    pub fn bytes(&self) -> usize {
        self.rows.len() * size_of::<Row>()
            + self.packed.len() * size_of::<u16>()
            + self.times.len() * size_of::<f32>()
            + self.timelines.len() * size_of::<Timeline>()
            + self.channels.iter().map(Vec::len).sum::<usize>() * size_of::<Block>()
            + self.root_motion.as_ref().map_or(0, RootMotion::bytes)
    }

    /// Bytes of the tables that grow with the skeleton instead of the keys; not part of [`Clip::bytes`].
    pub(crate) fn table_bytes(&self) -> usize {
        let places: usize = self.lookup.iter().map(Vec::len).sum();
        places * size_of::<u16>() + self.scales.len() * size_of::<f32>()
    }

    /// Identifies a clip among the clips of one skeleton: the content hash, and the kind, which determines the
    /// default of lanes without keys.
    pub(crate) fn identity(&self) -> (u64, ClipKind) {
        (self.content_hash(), self.kind)
    }

    /// Hash of the sampled data, the root motion and the markers; without name and kind. For snapshots and
    /// files; it does not resist deliberate collisions (FNV-1a).
    pub fn content_hash(&self) -> u64 {
        let mut h = Fnv1a::default();
        h.write_f32(self.duration);
        h.write_u64(self.structure_hash());
        h.write_u64(self.layout_hash());
        h.write(bytemuck::cast_slice(&self.times));
        for b in self.channels.iter().flatten() {
            h.write_u64(u64::from(b.block) | u64::from(b.hold) << 16 | (b.kind as u64) << 32);
            h.write_u64(u64::from(b.timeline) | u64::from(b.first_row) << 32);
            let (lanes, first) = b.encoding.numbers();
            if lanes != 0 {
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
