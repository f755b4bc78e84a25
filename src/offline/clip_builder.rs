//! The clip builder, `exact` profile: raw tracks to blocks of f32 rows.

use super::curve::{Curve, angle};
use super::raw::{Interpolation, RawChannel, RawClip, RawTrack, RawUserChannel};
use crate::clip::{
    Block, BlockKind, Channel, Clip, ClipError, ClipKind, ClipParts, Encoding, MAX_KEYS,
    RootMotionParts, TrackCounts, split_lane,
};
use crate::math::{LANES, NOISE, NOISE_LENGTH, Row, settle};
use crate::runtime::{NLERP_MAX_ANGLE, SLERP_MAX_ANGLE};
use crate::skeleton::{Pose, Skeleton, Trs};
use std::collections::HashMap;
use thiserror::Error;

/// A rotation track whose keys stay this close together per component is constant.
pub const ROTATION_TOLERANCE: f64 = 1e-6;
/// A translation track whose keys stay within this part of the model's size is constant.
/// At 1e-5 pab's run was 2.4e-5 off its golden poses (2e-5 allowed); here it is 1.9e-6, in as many bytes.
pub const TRANSLATION_TOLERANCE: f64 = 2e-6;
/// A scale track whose keys stay this close together is constant, and 1 if that is as close
/// (4e-7 of noise was observed in the scales of a widely used exporter).
pub const SCALE_TOLERANCE: f64 = 1e-6;
/// A scalar track whose keys stay this close together is constant.
pub const SCALAR_TOLERANCE: f64 = 1e-6;
/// The largest rotation between keys when slerp is carried by a cubic block, radians: the Hermite
/// fit then stays within 3e-6 (20 degrees).
const CUBIC_SLERP_MAX_ANGLE: f64 = 20.0 * std::f64::consts::PI / 180.0;

/// Why a clip cannot be built.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ClipBuildError {
    /// A track's lengths do not fit each other.
    #[error(
        "clip \"{clip}\", track {track} (node {node}): {keys} keys and {values} values, needed are {needed}"
    )]
    TrackLength {
        /// The clip.
        clip: String,
        /// The track.
        track: usize,
        /// Its node.
        node: usize,
        /// Key times.
        keys: usize,
        /// Values.
        values: usize,
        /// Values needed.
        needed: usize,
    },
    /// A track moves a node or morph target that the skeleton does not hold.
    #[error("clip \"{clip}\", track {track}: node {node} has no such {what}")]
    Target {
        /// The clip.
        clip: String,
        /// The track.
        track: usize,
        /// The node.
        node: usize,
        /// What it lacks.
        what: &'static str,
    },
    /// A track of a user channel has wrong lengths, times that do not increase, or is the second one.
    #[error("clip \"{clip}\", user channel \"{channel}\": {what}: {have}, needed are {needed}")]
    UserTrack {
        /// The clip.
        clip: String,
        /// The channel.
        channel: String,
        /// What is wrong.
        what: &'static str,
        /// How many there are, or the key.
        have: usize,
        /// How many are needed.
        needed: usize,
    },
    /// The union of a block's key times is too long.
    #[error(
        "clip \"{clip}\": the joint key times of {channel:?} block {block} are {keys}, the limit is {MAX_KEYS}"
    )]
    TooManyKeys {
        /// The clip.
        clip: String,
        /// The channel.
        channel: Channel,
        /// The block.
        block: usize,
        /// Keys of the union.
        keys: usize,
    },
    /// The clip's rows would outgrow the limit.
    #[error("clip \"{clip}\" needs {needed} bytes of rows, the limit is {limit}")]
    TooLarge {
        /// The clip.
        clip: String,
        /// Bytes needed, at least.
        needed: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// The packed clip was refused.
    #[error(transparent)]
    Clip(#[from] ClipError),
}

/// Where a raw node's properties go: its lane, and its first scalar.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Target {
    pub lane: Option<usize>,
    pub scalars: Option<(usize, usize)>,
}

/// What a clip is measured against.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reference<'a> {
    /// Nothing: a full clip.
    None,
    /// A pose in lane order: an additive clip of differences to it.
    Pose(&'a Pose),
}

/// How a track behaves, found before lane order is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Motion {
    Still([f64; 4]),
    Moving,
}

/// The tolerance below which a channel counts as constant.
pub(crate) fn tolerance(channel: RawChannel, model_size: f64) -> f64 {
    match channel {
        RawChannel::Translation => TRANSLATION_TOLERANCE * model_size,
        RawChannel::Rotation => ROTATION_TOLERANCE,
        RawChannel::Scale => SCALE_TOLERANCE,
        RawChannel::Weights => SCALAR_TOLERANCE,
    }
}

/// Classifies a curve, snapping constant scales to 1.
pub(crate) fn classify(curve: &Curve, channel: RawChannel, model_size: f64) -> Motion {
    match curve.constant(tolerance(channel, model_size)) {
        None => Motion::Moving,
        Some(mut v) => {
            if channel == RawChannel::Scale {
                for s in &mut v[..3] {
                    if (*s - 1.0).abs() <= SCALE_TOLERANCE {
                        *s = 1.0;
                    }
                }
            }
            Motion::Still(v)
        }
    }
}

/// Checks that a track's arrays have consistent lengths.
pub(crate) fn check_track(
    clip: &str,
    index: usize,
    track: &RawTrack,
    targets: usize,
) -> Result<(), ClipBuildError> {
    let width = match track.channel {
        RawChannel::Translation | RawChannel::Scale => 3,
        RawChannel::Rotation => 4,
        RawChannel::Weights => targets,
    };
    let groups = if track.interpolation == Interpolation::CubicSpline {
        3
    } else {
        1
    };
    let needed = track.times.len().saturating_mul(width * groups);
    if track.times.is_empty() || track.values.len() != needed {
        return Err(ClipBuildError::TrackLength {
            clip: clip.to_owned(),
            track: index,
            node: track.node,
            keys: track.times.len(),
            values: track.values.len(),
            needed: needed.max(width * groups),
        });
    }
    Ok(())
}

/// Builds one clip. `targets[node]` says where a node's properties go.
pub(crate) struct ClipBuilder<'a> {
    pub skeleton: &'a Skeleton,
    pub targets: &'a [Target],
    pub model_size: f64,
    /// The most bytes of rows a clip may take.
    pub max_bytes: usize,
    /// User channels, in the order of the skeleton's.
    pub channels: &'a [RawUserChannel],
}

struct Lane {
    lane: usize,
    curve: Curve,
    motion: Motion,
}

impl ClipBuilder<'_> {
    pub fn build(
        &self,
        (index, raw): (usize, &RawClip),
        reference: Reference<'_>,
        root_motion: Option<RootMotionParts>,
    ) -> Result<Clip, ClipBuildError> {
        let name = raw.name.clone().unwrap_or_default();
        let mut lanes: [Vec<Lane>; 4] = Default::default();
        for (index, track) in raw.tracks.iter().enumerate() {
            self.add_track(&name, index, track, reference, &mut lanes)?;
        }
        for user in self.channels {
            self.add_user_track(&name, index, user, reference, &mut lanes[3])?;
        }
        let mut parts = ClipParts {
            name,
            duration: raw.duration,
            markers: raw.markers.clone(),
            kind: match reference {
                Reference::None => ClipKind::Full,
                Reference::Pose(_) => ClipKind::Additive,
            },
            root_motion,
            ..ClipParts::default()
        };
        let mut known = HashMap::new();
        for channel in Channel::ALL {
            let lanes = &mut lanes[channel as usize];
            lanes.sort_by_key(|l| l.lane);
            let mut rest = lanes.as_slice();
            while let Some(first) = rest.first() {
                let (block, _) = split_lane(first.lane);
                let len = rest.partition_point(|l| split_lane(l.lane).0 == block);
                let (now, later) = rest.split_at(len);
                self.add_block(channel, block, now, &mut parts, &mut known)?;
                rest = later;
            }
        }
        Ok(Clip::new(parts, self.skeleton)?)
    }

    fn add_track(
        &self,
        clip: &str,
        index: usize,
        track: &RawTrack,
        reference: Reference<'_>,
        lanes: &mut [Vec<Lane>; 4],
    ) -> Result<(), ClipBuildError> {
        let target = self.targets.get(track.node).copied().unwrap_or_default();
        let missing = |what| ClipBuildError::Target {
            clip: clip.to_owned(),
            track: index,
            node: track.node,
            what,
        };
        let channel = match track.channel {
            RawChannel::Translation => Channel::Translation,
            RawChannel::Rotation => Channel::Rotation,
            RawChannel::Scale => Channel::Scale,
            RawChannel::Weights => Channel::Scalar,
        };
        let (first, parts) = if channel == Channel::Scalar {
            target.scalars.ok_or_else(|| missing("morph targets"))?
        } else {
            (target.lane.ok_or_else(|| missing("joint"))?, 1)
        };
        check_track(clip, index, track, parts)?;
        for part in 0..parts {
            let mut curve = Curve::new(track, part);
            let lane = first + part;
            if let Reference::Pose(pose) = reference {
                make_additive(&mut curve, channel, lane, pose);
            }
            let motion = classify(&curve, track.channel, self.model_size);
            lanes[channel as usize].push(Lane {
                lane,
                curve,
                motion,
            });
        }
        Ok(())
    }

    fn add_user_track(
        &self,
        clip: &str,
        index: usize,
        user: &RawUserChannel,
        reference: Reference<'_>,
        lanes: &mut Vec<Lane>,
    ) -> Result<(), ClipBuildError> {
        let mut tracks = user.tracks.iter().filter(|t| t.clip == index);
        let Some(track) = tracks.next() else {
            return Ok(());
        };
        let fail = |what, have, needed| {
            Err(ClipBuildError::UserTrack {
                clip: clip.to_owned(),
                channel: user.channel.name.clone(),
                what,
                have,
                needed,
            })
        };
        let more = tracks.count();
        if more > 0 {
            return fail("tracks", more + 1, 1);
        }
        let handle = self.skeleton.channel(&user.channel.name);
        let Some((channel, first)) = handle.and_then(|h| self.skeleton.channel_at(h)) else {
            return fail("channels of that name", 0, 1);
        };
        let width = channel.rest.width();
        if width != user.channel.rest.width() {
            return fail("numbers", user.channel.rest.width(), width);
        }
        let per_key = match track.interpolation {
            Interpolation::CubicSpline => 3 * width,
            _ => width,
        };
        let (keys, values) = (track.times.len(), track.values.len());
        if keys == 0 || values != keys.saturating_mul(per_key) {
            return fail("values", values, keys.max(1).saturating_mul(per_key));
        }
        let bad = |&k: &usize| {
            let time = track.times[k];
            !(time >= 0.0 && time.is_finite()) || (k > 0 && track.times[k - 1] >= time)
        };
        if let Some(key) = (0..keys).find(bad) {
            return fail("times that increase before key", key, keys);
        }
        if let Some(value) = track.values.iter().position(|v| !v.is_finite()) {
            return fail("finite values", value, values);
        }
        let raw = RawTrack {
            node: 0,
            channel: match channel.rest.is_quaternion() {
                true => RawChannel::Rotation,
                false => RawChannel::Weights,
            },
            interpolation: track.interpolation,
            times: track.times.clone(),
            values: track.values.clone(),
        };
        let whole = channel.rest.is_quaternion().then(|| {
            let mut curve = Curve::new(&raw, 0);
            if let Reference::Pose(pose) = reference {
                let base = std::array::from_fn(|c| f64::from(pose.scalar(first + c)));
                turn_back(&mut curve, &base);
            }
            curve
        });
        for part in 0..width {
            let lane = first + part;
            let curve = match &whole {
                Some(whole) => whole.part(part, NLERP_MAX_ANGLE),
                None => {
                    let mut curve = Curve::new(&raw, part);
                    if let Reference::Pose(pose) = reference {
                        make_additive(&mut curve, Channel::Scalar, lane, pose);
                    }
                    curve
                }
            };
            let motion = classify(&curve, RawChannel::Weights, self.model_size);
            lanes.push(Lane {
                lane,
                curve,
                motion,
            });
        }
        Ok(())
    }

    fn add_block(
        &self,
        channel: Channel,
        block: usize,
        lanes: &[Lane],
        parts: &mut ClipParts,
        known: &mut HashMap<Vec<u32>, u32>,
    ) -> Result<(), ClipBuildError> {
        let width = channel.components();
        let additive = parts.kind == ClipKind::Additive;
        let mut defaults = vec![Row::splat(0.0); width];
        for l in 0..LANES {
            let value = self.default_value(channel, block * LANES + l, additive);
            for (row, v) in defaults.iter_mut().zip(value) {
                row.0[l] = v as f32;
            }
        }
        let mut counts = TrackCounts::default();
        let mut constants = defaults.clone();
        for lane in lanes {
            match lane.motion {
                Motion::Moving => counts.animated += 1,
                Motion::Still(mut value) => {
                    if self.is_default(channel, lane.lane, additive, &mut value) {
                        continue;
                    }
                    counts.constant += 1;
                    for (row, v) in constants.iter_mut().zip(value) {
                        row.0[lane.lane % LANES] = v as f32;
                    }
                }
            }
        }
        parts.tracks[channel as usize].animated += counts.animated;
        parts.tracks[channel as usize].constant += counts.constant;
        let first_row = parts.rows.len() as u32;
        if counts.animated == 0 {
            if counts.constant > 0 {
                self.check_size(parts, width)?;
                parts.rows.to_mut().extend_from_slice(&constants);
                parts.channels[channel as usize].push(Block {
                    block: block as u16,
                    kind: BlockKind::Constant,
                    encoding: Encoding::Float,
                    hold: 0,
                    moving: 0,
                    timeline: 0,
                    first_row,
                });
            }
            return Ok(());
        }
        let moving: Vec<&Lane> = lanes
            .iter()
            .filter(|l| l.motion == Motion::Moving)
            .collect();
        let cubic = moving
            .iter()
            .any(|l| l.curve.interpolation == Interpolation::CubicSpline);
        let times = self.union(channel, block, &moving, cubic, parts)?;
        let kind = if cubic {
            BlockKind::Cubic
        } else if channel == Channel::Rotation && needs_slerp(&moving, &times) {
            BlockKind::Slerp
        } else {
            BlockKind::Linear
        };
        let per_key = kind.rows_per_key(channel);
        self.check_size(parts, per_key.saturating_mul(times.len()))?;
        let rows = parts.rows.to_mut();
        for (k, _) in times.iter().enumerate() {
            if cubic {
                rows.extend(std::iter::repeat_n(Row::splat(0.0), width));
                rows.extend_from_slice(&constants);
                rows.extend(std::iter::repeat_n(Row::splat(0.0), width));
            } else {
                rows.extend_from_slice(&constants);
            }
            let at = first_row as usize + k * per_key;
            for lane in &moving {
                write_key(&mut rows[at..at + per_key], lane, &times, k, cubic);
            }
        }
        let hold = moving
            .iter()
            .filter(|l| l.curve.interpolation == Interpolation::Step)
            .fold(0u16, |bits, l| bits | 1 << (l.lane % LANES));
        let bits: Vec<u32> = times.iter().map(|t| t.to_bits()).collect();
        let timeline = *known.entry(bits).or_insert_with(|| {
            parts.timelines.push(times.clone());
            parts.timelines.len() as u32 - 1
        });
        parts.channels[channel as usize].push(Block {
            block: block as u16,
            kind,
            encoding: Encoding::Float,
            hold,
            moving: 0,
            timeline,
            first_row,
        });
        Ok(())
    }

    fn union(
        &self,
        channel: Channel,
        block: usize,
        moving: &[&Lane],
        cubic: bool,
        parts: &ClipParts,
    ) -> Result<Vec<f32>, ClipBuildError> {
        let max_angle = if cubic {
            CUBIC_SLERP_MAX_ANGLE
        } else {
            SLERP_MAX_ANGLE
        };
        let mut times: Vec<f32> = Vec::new();
        for lane in moving {
            let extra = lane.curve.extra_times(max_angle);
            let own = lane.curve.times.iter().copied();
            // −0.0 and 0.0 are one time.
            times.extend(own.chain(extra).map(|t| t + 0.0));
            times.sort_by(f32::total_cmp);
            times.dedup();
            if times.len() > MAX_KEYS {
                return Err(ClipBuildError::TooManyKeys {
                    clip: parts.name.clone(),
                    channel,
                    block,
                    keys: times.len(),
                });
            }
        }
        Ok(times)
    }

    fn check_size(&self, parts: &ClipParts, more: usize) -> Result<(), ClipBuildError> {
        let needed = (parts.rows.len().saturating_add(more)).saturating_mul(size_of::<Row>());
        if needed > self.max_bytes {
            return Err(ClipBuildError::TooLarge {
                clip: parts.name.clone(),
                needed,
                limit: self.max_bytes,
            });
        }
        Ok(())
    }

    fn default_value(&self, channel: Channel, lane: usize, additive: bool) -> [f64; 4] {
        let trs = if additive || channel == Channel::Scalar {
            Trs::IDENTITY
        } else {
            self.skeleton.rest_pose().lane(lane)
        };
        let out: Vec<f32> = match channel {
            Channel::Translation => trs.translation.to_array().to_vec(),
            Channel::Rotation => trs.rotation.to_array().to_vec(),
            Channel::Scale => trs.scale.to_array().to_vec(),
            Channel::Scalar if additive => vec![self.additive_default(lane)],
            Channel::Scalar => vec![self.skeleton.rest_pose().scalar(lane)],
        };
        let mut value = [0.0; 4];
        for (v, o) in value.iter_mut().zip(out) {
            *v = f64::from(o);
        }
        value
    }

    /// What an additive clip leaves a scalar at: nothing, which of a quaternion's w is 1.
    fn additive_default(&self, lane: usize) -> f32 {
        let quaternions = &self.skeleton.rest_pose().quaternions;
        let is_w = quaternions.iter().any(|&first| first as usize + 3 == lane);
        f32::from(u8::from(is_w))
    }

    /// Whether a constant is the default within the channel's tolerance; rotations up to sign.
    fn is_default(
        &self,
        channel: Channel,
        lane: usize,
        additive: bool,
        value: &mut [f64; 4],
    ) -> bool {
        let default = self.default_value(channel, lane, additive);
        let raw = match channel {
            Channel::Translation => RawChannel::Translation,
            Channel::Rotation => RawChannel::Rotation,
            Channel::Scale => RawChannel::Scale,
            Channel::Scalar => RawChannel::Weights,
        };
        let dot: f64 = value.iter().zip(&default).map(|(a, b)| a * b).sum();
        if channel == Channel::Rotation && dot < 0.0 {
            value.iter_mut().for_each(|v| *v = -*v);
        }
        let tolerance = tolerance(raw, self.model_size);
        value
            .iter()
            .zip(&default)
            .all(|(a, b)| (a - b).abs() <= tolerance)
    }
}

/// Turns a curve into differences to the reference pose. Tangents go through the same linear map.
fn make_additive(curve: &mut Curve, channel: Channel, lane: usize, pose: &Pose) {
    match channel {
        Channel::Translation => {
            let base = pose.lane(lane).translation.to_array();
            curve.map(
                |v| v.iter_mut().zip(base).for_each(|(v, b)| *v -= f64::from(b)),
                |_| {},
            );
        }
        Channel::Scale => {
            // A reference of zero has no ratio; the scale stays as it is below.
            let base = pose.lane(lane).scale.to_array();
            let divide = |v: &mut [f64]| {
                for (v, b) in v.iter_mut().zip(base) {
                    *v = if b == 0.0 { 1.0 } else { *v / f64::from(b) };
                }
            };
            curve.map(divide, divide);
        }
        Channel::Rotation => {
            turn_back(curve, &pose.lane(lane).rotation.to_array().map(f64::from));
        }
        Channel::Scalar => {
            let base = f64::from(pose.scalar(lane));
            curve.map(|v| v[0] -= base, |_| {});
        }
    }
}

/// Turns rotations into differences to `base`.
fn turn_back(curve: &mut Curve, base: &[f64; 4]) {
    let turn = |v: &mut [f64]| {
        let out = conjugate_times(base, v);
        v.copy_from_slice(&out);
    };
    curve.map(turn, turn);
}

/// `conj(a) × b` of quaternions xyzw.
fn conjugate_times(a: &[f64; 4], b: &[f64]) -> [f64; 4] {
    let [ax, ay, az, aw] = [-a[0], -a[1], -a[2], a[3]];
    let (bx, by, bz, bw) = (b[0], b[1], b[2], b[3]);
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by + ay * bw + az * bx - ax * bz,
        aw * bz + az * bw + ax * by - ay * bx,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

/// Whether neighbouring keys of a slerped lane lie so far apart that plain nlerp would show.
fn needs_slerp(moving: &[&Lane], times: &[f32]) -> bool {
    moving
        .iter()
        .filter(|l| l.curve.interpolation == Interpolation::Linear)
        .any(|l| {
            let mut last: Option<[f64; 4]> = None;
            times.iter().any(|&t| {
                let value = l.curve.at(t).value;
                let wide = last.is_some_and(|a| angle(&a, &value) > NLERP_MAX_ANGLE);
                last = Some(value);
                wide
            })
        })
}

/// Writes a lane's key `k` into the rows of that key.
fn write_key(rows: &mut [Row], lane: &Lane, times: &[f32], k: usize, cubic: bool) {
    let l = lane.lane % LANES;
    let width = lane.curve.width;
    let knot = lane.curve.at(times[k]);
    let value_row = if cubic { width } else { 0 };
    let noise = if width == 4 { NOISE } else { NOISE_LENGTH };
    for c in 0..width {
        rows[value_row + c].0[l] = settle(knot.value[c] as f32, noise);
    }
    if !cubic {
        return;
    }
    let gap = |a: Option<&f32>, b: Option<&f32>| match (a, b) {
        (Some(&a), Some(&b)) => f64::from(b) - f64::from(a),
        _ => 0.0,
    };
    let before = gap(k.checked_sub(1).and_then(|i| times.get(i)), times.get(k));
    let after = gap(times.get(k), times.get(k + 1));
    for c in 0..width {
        rows[c].0[l] = (knot.before[c] * before) as f32;
        rows[2 * width + c].0[l] = (knot.after[c] * after) as f32;
    }
}
