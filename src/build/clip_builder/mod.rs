//! The clip builder, `exact` profile: raw tracks to blocks of f32 rows.

mod additive;
mod key_times;
mod user_track;
pub(super) mod variation;

pub use key_times::RESAMPLE_RATE;
pub(crate) use key_times::Resampled;
pub(crate) use variation::{Variation, check_track, classify, variation};

use super::curve::Curve;
use super::lengths::Lengths;
use crate::clip::{
    Block, BlockKind, CUBIC_SLERP_MAX_ANGLE, Channel, Clip, ClipKind, ClipParts, Defaults,
    FloatKeys, MAX_IRREGULAR_KEYS, Part, RootMotionParts, split_lane,
};
use crate::error::BuildError;
use crate::evaluate::quat::{NLERP_MAX_ANGLE, SLERP_MAX_ANGLE};
use crate::math::{LANES, NOISE, Row, angle, settle};
use crate::raw::{Interpolation, RawClip, RawTrack};
use crate::skeleton::{Pose, Skeleton, UserChannel, noise_length};
use additive::make_additive;
use key_times::{KeyTimes, key_times, resample};
use std::collections::HashMap;
use variation::tolerance;

/// Blocks of fewer rows than this let the vector of rows double its capacity: one megabyte.
const FEW_ROWS: usize = (1 << 20) / size_of::<Row>();

/// The storage of a raw node's properties: its lane; its first scalar and the number of its scalars.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Target {
    pub lane: Option<usize>,
    pub scalars: Option<(usize, usize)>,
}

impl Target {
    /// Targets of tracks whose nodes are joints; nodes from the number of joints on are scalars.
    pub fn of_joints(skeleton: &Skeleton) -> Vec<Self> {
        let joints = skeleton
            .lane_of()
            .iter()
            .map(|&lane| Self { lane: Some(usize::from(lane)), scalars: None });
        let scalars =
            (0..skeleton.scalars().len()).map(|i| Self { lane: None, scalars: Some((i, 1)) });
        joints.chain(scalars).collect()
    }
}

/// Builds one clip. `targets[node]` says where a node's properties are stored.
pub(crate) struct ClipBuilder<'a> {
    pub skeleton: &'a Skeleton,
    pub targets: &'a [Target],
    /// Lengths in the frames of the tracks' nodes.
    pub lengths: &'a Lengths,
    /// Limit on the rows of a clip, bytes.
    pub max_bytes: usize,
    /// The user channels that user tracks refer to.
    pub channels: &'a [UserChannel],
}

struct Lane {
    lane: usize,
    /// The scale of a translation's frame; 1 for other channels.
    frame: f64,
    /// The size relative to which noise of a translation is measured; for other channels the model's.
    size: f64,
    curve: Curve,
    variation: Variation,
}

/// The timelines of a clip while it is built.
struct Timelines {
    /// Indices of the timelines by the bits of their times.
    known: HashMap<Vec<u32>, u32>,
    /// Keys per second of times that are resampled.
    rate: f64,
    resampled: Vec<Resampled>,
}

impl ClipBuilder<'_> {
    /// Builds a clip: a full one or, with a reference pose in lane order, an additive one of differences to it.
    pub fn build(
        &self,
        raw: &RawClip,
        reference: Option<&Pose>,
        root_motion: Option<RootMotionParts>,
    ) -> Result<Clip, BuildError> {
        let built = self.build_reporting(raw, reference, root_motion, RESAMPLE_RATE);
        built.map(|(clip, _)| clip)
    }

    /// Builds a clip; also returns what was resampled, at most one entry per channel. `rate` is in keys per second.
    pub fn build_reporting(
        &self,
        raw: &RawClip,
        reference: Option<&Pose>,
        root_motion: Option<RootMotionParts>,
        rate: f64,
    ) -> Result<(Clip, Vec<Resampled>), BuildError> {
        let name = raw.name.clone().unwrap_or_default();
        let mut lanes: [Vec<Lane>; 4] = Default::default();
        for (index, track) in raw.tracks.iter().enumerate() {
            self.add_track(&name, index, track, reference, &mut lanes)?;
        }
        let mut same = HashMap::new();
        raw.user_tracks.iter().for_each(|track| *same.entry(track.node).or_insert(0) += 1);
        for track in &raw.user_tracks {
            let same = same.get(&track.node).copied().unwrap_or(1);
            self.add_user_track(&name, (track, same), reference, &mut lanes[3])?;
        }
        let mut parts = ClipParts {
            name,
            duration: raw.duration,
            markers: raw.markers.clone(),
            kind: if reference.is_some() { ClipKind::Additive } else { ClipKind::Full },
            root_motion,
            ..ClipParts::default()
        };
        let mut timelines = Timelines { known: HashMap::new(), rate, resampled: Vec::new() };
        let defaults = Defaults::new(self.skeleton, parts.kind);
        for channel in Channel::ALL {
            let lanes = &mut lanes[channel as usize];
            lanes.sort_by_key(|l| l.lane);
            let mut rest = lanes.as_slice();
            while let Some(first) = rest.first() {
                let (block, _) = split_lane(first.lane);
                let len = rest.partition_point(|l| split_lane(l.lane).0 == block);
                let (now, later) = rest.split_at(len);
                self.add_block((channel, block), now, &defaults, &mut parts, &mut timelines)?;
                rest = later;
            }
        }
        Ok((Clip::new(parts, self.skeleton)?, timelines.resampled))
    }

    fn add_track(
        &self,
        clip: &str,
        index: usize,
        track: &RawTrack,
        reference: Option<&Pose>,
        lanes: &mut [Vec<Lane>; 4],
    ) -> Result<(), BuildError> {
        let target = self.targets.get(track.node).copied().unwrap_or_default();
        let missing = |what| {
            let node = track.node;
            BuildError::of_clip(clip, format!("track {index}: node {node} has no such {what}"))
        };
        let channel = track.channel.to_channel();
        let (first, parts) = if channel == Channel::Scalar {
            target.scalars.ok_or_else(|| missing("morph targets"))?
        } else {
            (target.lane.ok_or_else(|| missing("joint"))?, 1)
        };
        check_track(clip, index, track, parts)?;
        for part in 0..parts {
            let mut curve = Curve::new(track, part);
            let lane = first + part;
            if let Some(pose) = reference {
                make_additive(&mut curve, channel, lane, pose);
            }
            let variation = classify(&curve, channel, self.lengths.local(track.node));
            lanes[channel as usize].push(Lane {
                lane,
                frame: match channel {
                    Channel::Translation => self.lengths.frame(track.node),
                    _ => 1.0,
                },
                size: self.lengths.local(track.node),
                curve,
                variation,
            });
        }
        Ok(())
    }

    fn add_block(
        &self,
        (channel, block): (Channel, usize),
        lanes: &[Lane],
        defaults: &Defaults<'_>,
        parts: &mut ClipParts,
        timelines: &mut Timelines,
    ) -> Result<(), BuildError> {
        let width = channel.components();
        let mut constants = vec![Row::splat(0.0); width];
        for l in 0..LANES {
            let value = defaults.value(channel, block * LANES + l);
            for (row, v) in constants.iter_mut().zip(value) {
                row.0[l] = v;
            }
        }
        let [mut animated, mut constant] = [0, 0];
        for lane in lanes {
            match lane.variation {
                Variation::Animated => animated += 1,
                Variation::Constant(mut value) => {
                    let default = defaults.value(channel, lane.lane).map(f64::from);
                    if self.is_default((channel, lane.size), &default, &mut value) {
                        continue;
                    }
                    constant += 1;
                    for (row, v) in constants.iter_mut().zip(value) {
                        row.0[lane.lane % LANES] = v as f32;
                    }
                }
            }
        }
        let counts = &mut parts.tracks[channel as usize];
        *counts = [counts[0] + animated, counts[1] + constant];
        let first_row = parts.rows.len();
        if animated == 0 {
            if constant > 0 {
                self.check_size(parts, width, 0)?;
                parts.rows.extend_from_slice(&constants);
                parts.channels[channel as usize].push(Block::constant(block, first_row));
            }
            return Ok(());
        }
        let moving: Vec<&Lane> =
            lanes.iter().filter(|l| l.variation == Variation::Animated).collect();
        let is_cubic = |l: &&Lane| l.curve.interpolation == Interpolation::CubicSpline;
        let cubic = moving.iter().any(is_cubic);
        let max_angle = if cubic { CUBIC_SLERP_MAX_ANGLE } else { SLERP_MAX_ANGLE };
        let sampled;
        let (times, moving, cubic) = match key_times(&moving, max_angle, timelines.rate) {
            Ok(KeyTimes::Union(times)) => (times, moving, cubic),
            Ok(KeyTimes::Grid { times, replaced }) => {
                // Checked before resampling takes memory for the lanes.
                self.check_size(parts, width, times.len())?;
                let (lanes, resampled) = resample(channel, &moving, &times, replaced);
                timelines.add(resampled);
                sampled = lanes;
                (times, sampled.iter().collect(), false)
            }
            Err(keys) => {
                return Err(BuildError::KeyTimes {
                    clip: parts.name.clone(),
                    block: format!("{channel} block {block}"),
                    keys,
                    limit: MAX_IRREGULAR_KEYS,
                });
            }
        };
        let kind = if cubic {
            BlockKind::Cubic
        } else if channel == Channel::Rotation && needs_slerp(&moving, &times) {
            BlockKind::Slerp
        } else {
            BlockKind::Linear
        };
        let per_key = kind.rows_per_key(channel);
        self.check_size(parts, per_key, times.len())?;
        let rows = &mut parts.rows;
        let more = per_key * times.len();
        // Room for millions of keys is reserved exactly: doubling would take twice the memory.
        let room = match more < FEW_ROWS {
            true => rows.try_reserve(more),
            false => rows.try_reserve_exact(more),
        };
        room.map_err(|_| {
            let needed = (rows.len() + more) * size_of::<Row>();
            let words = format!("{needed} bytes of memory for its rows are more than there are");
            BuildError::of_clip(&parts.name, words)
        })?;
        let mut keys = FloatKeys::append(rows, (channel, kind), &constants, times.len());
        // Such keys are copied: searching each of millions takes most of the time of a long take.
        let own: Vec<bool> = moving.iter().map(|l| !cubic && l.curve.times == times).collect();
        for k in 0..times.len() {
            for (lane, &own) in moving.iter().zip(&own) {
                match own {
                    true => copy_key(&mut keys, lane, k),
                    false => write_key(&mut keys, lane, &times, k, cubic),
                }
            }
        }
        let hold = moving
            .iter()
            .filter(|l| l.curve.interpolation == Interpolation::Step)
            .fold(0u16, |bits, l| bits | 1 << (l.lane % LANES));
        let bits: Vec<u32> = times.iter().map(|t| t.to_bits()).collect();
        let timeline = *timelines.known.entry(bits).or_insert_with(|| {
            parts.timelines.push(times.clone());
            parts.timelines.len() as u32 - 1
        });
        parts.channels[channel as usize].push(Block {
            kind,
            hold,
            timeline,
            ..Block::constant(block, first_row)
        });
        Ok(())
    }

    /// Checks the memory of the rows so far and of a block's; constants are checked with 0 keys.
    fn check_size(&self, parts: &ClipParts, per_key: usize, keys: usize) -> Result<(), BuildError> {
        let more = per_key.saturating_mul(keys.max(1));
        let needed = (parts.rows.len().saturating_add(more)).saturating_mul(size_of::<Row>());
        if needed > self.max_bytes {
            return Err(BuildError::ClipBytes {
                clip: parts.name.clone(),
                // The number is at most 2^24.
                keys: keys as u32,
                needed,
                limit: self.max_bytes,
            });
        }
        Ok(())
    }

    /// Whether a constant is the default within the channel's tolerance; rotations up to sign.
    fn is_default(
        &self,
        (channel, size): (Channel, f64),
        default: &[f64; 4],
        value: &mut [f64; 4],
    ) -> bool {
        let dot: f64 = value.iter().zip(default).map(|(a, b)| a * b).sum();
        if channel == Channel::Rotation && dot < 0.0 {
            value.iter_mut().for_each(|v| *v = -*v);
        }
        let tolerance = tolerance(channel, size, || default.map(f64::abs));
        let mut all = value.iter().zip(default).zip(tolerance);
        all.all(|((a, b), tolerance)| (a - b).abs() <= tolerance)
    }
}

impl Timelines {
    /// Merges the resampling of a block into that of its channel.
    fn add(&mut self, new: Resampled) {
        let known = self.resampled.iter_mut().find(|r| r.channel == new.channel);
        let Some(known) = known else {
            self.resampled.push(new);
            return;
        };
        let error = known.error.max(new.error);
        if new.keys[0] > known.keys[0] {
            *known = new;
        }
        known.error = error;
    }
}

/// Whether neighbouring keys of a linear lane are so far apart that the error of plain nlerp is visible.
fn needs_slerp(moving: &[&Lane], times: &[f32]) -> bool {
    moving.iter().filter(|l| l.curve.interpolation == Interpolation::Linear).any(|l| {
        if l.curve.rotation && l.curve.times == times {
            return l.curve.most_parts(NLERP_MAX_ANGLE) > 1;
        }
        let mut last: Option<[f64; 4]> = None;
        times.iter().any(|&t| {
            let value = l.curve.at(t).value;
            let wide = last.is_some_and(|a| angle(&a, &value) > NLERP_MAX_ANGLE);
            last = Some(value);
            wide
        })
    })
}

/// Writes a key of a linear or stepped lane that has the key times of the block.
fn copy_key(keys: &mut FloatKeys<'_>, lane: &Lane, k: usize) {
    let noise = noise(lane);
    let mut value = [0.0; 4];
    for (v, key) in value.iter_mut().zip(lane.curve.key(k)) {
        *v = settle(*key as f32, noise);
    }
    keys.set(k, Part::Value, lane.lane % LANES, &value);
}

/// The size below which a component is noise.
fn noise(lane: &Lane) -> f32 {
    if lane.curve.width == 4 { NOISE } else { noise_length(lane.frame) }
}

/// Writes a lane's key `k`.
fn write_key(keys: &mut FloatKeys<'_>, lane: &Lane, times: &[f32], k: usize, cubic: bool) {
    let l = lane.lane % LANES;
    let knot = lane.curve.at(times[k]);
    let noise = noise(lane);
    keys.set(k, Part::Value, l, &knot.value.map(|v| settle(v as f32, noise)));
    if cubic {
        keys.set_tangents((k, l), times, [knot.before, knot.after], noise);
    }
}
