//! Packs the values of the optimiser into a clip.

use super::BakeOptions;
use super::optimise::{Built, steps};
use super::tracks::{CHANNELS, ChannelForm, Tracks};
use super::transforms::TIMES;
use crate::clip::lattice::{code_below, step};
use crate::clip::{
    Block, BlockKind, Channel, Clip, ClipParts, Encoding, FloatKeys, PackedKeys, Part,
};
use crate::error::BuildError;
use crate::math::{LANES, Row};
use crate::skeleton::{NO_JOINT, Skeleton};

/// Packs the values. Blocks that 16 bits cannot hold stay rows of f32.
pub(super) fn pack(
    raw: &Clip,
    skeleton: &Skeleton,
    settings: &BakeOptions,
    tracks: &Tracks,
    built: &Built,
) -> Result<Clip, BuildError> {
    let mut packer = Packer {
        raw,
        skeleton,
        tracks,
        built,
        scalar_error: f64::from(settings.scalar_error),
        parts: raw.outline(),
    };
    for channel in Channel::ALL {
        for b in raw.blocks(channel) {
            packer.block(channel, b);
        }
    }
    let Packer { mut parts, .. } = packer;
    drop_unused_timelines(&mut parts);
    parts.end_packed();
    Clip::new(parts, skeleton)
}

/// Drops timelines whose blocks have all become constant.
fn drop_unused_timelines(parts: &mut ClipParts) {
    let mut places = vec![None; parts.timelines.len()];
    let blocks = parts.channels.iter_mut().flatten();
    let moving: Vec<&mut Block> = blocks.filter(|b| b.kind != BlockKind::Constant).collect();
    for b in &moving {
        places[b.timeline as usize] = Some(0);
    }
    for (place, used) in (0u32..).zip(places.iter_mut().flatten()) {
        *used = place;
    }
    for b in moving {
        b.timeline = places[b.timeline as usize].unwrap_or_default();
    }
    let mut used = places.iter().map(Option::is_some);
    parts.timelines.retain(|_| used.next().unwrap_or(false));
}

struct Packer<'a> {
    raw: &'a Clip,
    skeleton: &'a Skeleton,
    tracks: &'a Tracks,
    built: &'a Built,
    scalar_error: f64,
    parts: ClipParts,
}

/// The joint of a lane, the index of the channel in [`CHANNELS`], and its first component in a transform.
fn joint(
    skeleton: &Skeleton,
    channel: Channel,
    b: &Block,
    l: usize,
) -> Option<(usize, usize, usize)> {
    let lane = usize::from(b.block) * LANES + l;
    let which = CHANNELS.iter().position(|(c, _)| *c == channel)?;
    let joint = *skeleton.joint_of().get(lane)?;
    (joint != NO_JOINT).then(|| (usize::from(joint), which, CHANNELS[which].1))
}

/// The integers of a lane: key-major, one per component.
struct LaneKeys {
    step: f64,
    multiples: Vec<i32>,
}

impl Packer<'_> {
    fn block(&mut self, channel: Channel, b: &Block) {
        let first_row = self.parts.rows.len() as u32;
        let mut block = Block { first_row, encoding: Encoding::Float, ..*b };
        let moving = self.moving(channel, b);
        if moving == 0 {
            (block.kind, block.hold) = (BlockKind::Constant, 0);
            let rows = self.still(channel, b);
            self.parts.rows.extend_from_slice(&rows);
        } else if b.kind != BlockKind::Cubic
            && let Some(encoding) = self.packed(channel, b, moving)
        {
            block.encoding = encoding;
            block.kind = self.kind(channel, b);
        } else {
            self.rows(channel, b);
        }
        self.parts.channels[channel as usize].push(block);
    }

    /// The lanes that still move after optimisation.
    fn moving(&self, channel: Channel, b: &Block) -> u16 {
        let still = (0..LANES).filter(|&l| match joint(self.skeleton, channel, b, l) {
            Some((joint, which, _)) => {
                self.tracks.joints[joint].forms[which] == ChannelForm::Constant
            }
            None => false,
        });
        still.fold(b.moving, |moving, l| moving & !(1 << l))
    }

    /// The values of lanes that do not move, or no longer move.
    fn still(&self, channel: Channel, b: &Block) -> Vec<Row> {
        let mut rows = vec![Row::splat(0.0); channel.components()];
        for l in 0..LANES {
            for (row, v) in rows.iter_mut().zip(self.constant(channel, b, l)) {
                row.0[l] = v;
            }
        }
        rows
    }

    /// Appends a block as rows of f32. Lanes on a lattice get their quantised values.
    fn rows(&mut self, channel: Channel, b: &Block) {
        let raw = self.raw.keys(channel, b);
        let still = self.still(channel, b);
        let kind = (channel, b.kind);
        let mut rows = FloatKeys::append(&mut self.parts.rows, kind, &still, raw.len());
        for l in 0..LANES {
            let place = joint(self.skeleton, channel, b, l);
            let form = place.map(|(joint, which, _)| self.tracks.joints[joint].forms[which]);
            let Some((joint, _, at)) = place.filter(|_| form != Some(ChannelForm::Kept)) else {
                rows.copy(l, &raw, l);
                continue;
            };
            let times = &self.tracks.timelines[b.timeline as usize].at;
            let values = &self.built.values[joint];
            for (k, &time) in times.iter().enumerate() {
                let i = if form == Some(ChannelForm::Constant) { 0 } else { time };
                let mut value = [0.0; 4];
                for (c, v) in value.iter_mut().enumerate().take(channel.components()) {
                    *v = values[i / TIMES][at + c].0[i % TIMES] as f32;
                }
                rows.set(k, Part::Value, l, &value);
            }
        }
    }

    /// The value of a lane that no longer moves.
    fn constant(&self, channel: Channel, b: &Block, l: usize) -> [f32; 4] {
        let raw = self.raw.constant(channel, b, l);
        let Some((joint, which, at)) = joint(self.skeleton, channel, b, l) else { return raw };
        if self.tracks.joints[joint].forms[which] != ChannelForm::Constant {
            return raw;
        }
        let values = &self.built.values[joint][0];
        let mut out = [0.0; 4];
        for (c, v) in out.iter_mut().enumerate().take(channel.components()) {
            *v = values[at + c].0[0] as f32;
        }
        out
    }

    /// Packs a block; `None` if the range of a lane does not fit 16 bits.
    fn packed(&mut self, channel: Channel, b: &Block, moving: u16) -> Option<Encoding> {
        let (width, lanes) = (channel.components(), PackedKeys::lanes(moving));
        let keys = self.raw.keys_of(b);
        let mut out = PackedKeys::new(&self.still(channel, b), keys, lanes);
        for l in (0..LANES).filter(|l| moving >> l & 1 == 1) {
            let lane = match joint(self.skeleton, channel, b, l) {
                Some(place) => self.joint_keys(b, place, width)?,
                None => self.scalar_keys(b, l)?,
            };
            for c in 0..width {
                let own = lane.multiples.iter().skip(c).step_by(width);
                let least = own.clone().copied().min()?;
                let low = (f64::from(least) * lane.step) as f32;
                out.set_range(c, l, low, lane.step as f32);
                for (k, &m) in own.enumerate() {
                    out.set(k, c, l, u16::try_from(m - least).ok()?);
                }
            }
        }
        Some(out.append(&mut self.parts))
    }

    fn joint_keys(
        &self,
        b: &Block,
        (joint, which, at): (usize, usize, usize),
        width: usize,
    ) -> Option<LaneKeys> {
        if self.tracks.joints[joint].forms[which] == ChannelForm::Kept {
            return None;
        }
        let step = steps(&self.tracks.joints[joint], self.built.codes[joint])[which];
        let times = &self.tracks.timelines[b.timeline as usize].at;
        let values = &self.built.values[joint];
        let mut multiples = Vec::with_capacity(times.len() * width);
        for &i in times {
            let key = &values[i / TIMES][at..at + width];
            multiples.extend(key.iter().map(|v| (v.0[i % TIMES] / step).round() as i32));
        }
        for c in 0..width {
            let own = || multiples.iter().skip(c).step_by(width).copied();
            let (low, high) = (own().min()?, own().max()?);
            if !PackedKeys::fits(low.into(), high.into(), 1.0) {
                return None;
            }
        }
        Some(LaneKeys { step, multiples })
    }

    /// The keys of a scalar, quantised within its error bound.
    fn scalar_keys(&self, b: &Block, l: usize) -> Option<LaneKeys> {
        let raw = self.raw.keys(Channel::Scalar, b);
        let keys = raw.len();
        let value = |k: usize| f64::from(raw.get(k, Part::Value, l)[0]);
        let low = (0..keys).map(value).fold(f64::INFINITY, f64::min);
        let high = (0..keys).map(value).fold(f64::NEG_INFINITY, f64::max);
        let step = step(code_below(2.0 * self.scalar_error * (high - low).max(1.0)));
        let multiples = (0..keys).map(|k| (value(k) / step).round() as i32);
        PackedKeys::fits(low, high, step).then(|| LaneKeys { step, multiples: multiples.collect() })
    }

    /// The kind of a packed block: `Linear` if the error of uncorrected lerp is small enough.
    fn kind(&self, channel: Channel, b: &Block) -> BlockKind {
        if channel != Channel::Rotation || b.kind != BlockKind::Slerp {
            return BlockKind::Linear;
        }
        let needs =
            (0..LANES).filter_map(|l| joint(self.skeleton, channel, b, l)).any(|(joint, _, _)| {
                let track = &self.tracks.joints[joint];
                matches!(track.forms[1], ChannelForm::Moving { hold: false, .. })
                    && track.lerp_error(self.tracks) > LERP_SHARE * self.tracks.max_error
            });
        if needs { BlockKind::Slerp } else { BlockKind::Linear }
    }
}

/// Share of the error bound that uncorrected lerp may cause.
const LERP_SHARE: f64 = 0.4;
