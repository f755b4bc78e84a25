//! Groups and slots: which lanes are sampled and blended; and the tracks of every action.

use super::fold::{CHANNELS, Values, adds, constant, mask_weight};
use super::{
    Group, GroupMask, InputLayer, Plan, PlanAction, PlanInput, PlanLayer, Slot, Source, Still,
    Track, TrackKind,
};
use crate::clip::{Block, BlockKind, Channel, Clip, Encoding, neutral, rest_value};
use crate::math::{LANES, NOISE, NOISE_LENGTH, Row, settle};
use crate::skeleton::Skeleton;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// A slot in the making: its channel, its first lane, and the lanes that are read.
pub(super) struct Reading {
    channel: Channel,
    first: usize,
    lanes: Vec<usize>,
    register: u32,
}

impl Plan {
    pub(super) fn add_group(
        &mut self,
        skeleton: &Skeleton,
        width: usize,
        first: usize,
        lanes: &[usize],
        values: &Values,
        reading: &mut Vec<Reading>,
    ) {
        let [translation, rotation, scale] = CHANNELS.map(|channel| {
            let of = &values.0[channel as usize];
            if lanes.iter().any(|&l| of[l].is_none()) {
                let register = self.registers as u32;
                self.registers += channel.components();
                let rest = self.fixed(first, width, channel, |l| rest_value(skeleton, channel, l));
                self.slots[channel as usize].push(Slot {
                    register,
                    rest,
                    lane: (first % LANES) as u8,
                });
                reading.push(Reading {
                    channel,
                    first,
                    lanes: lanes.to_vec(),
                    register,
                });
                return Source::Varying(register);
            }
            let one = |l: &usize| of[*l].is_some_and(|v| v[..3] == [1.0; 3]);
            if channel == Channel::Scale && lanes.iter().all(one) {
                return Source::One;
            }
            let value = |l: usize| match of[l] {
                Some(value) if lanes.contains(&l) => value,
                _ => rest_value(skeleton, channel, l),
            };
            Source::Fixed(self.fixed(first, width, channel, value))
        });
        self.groups.push(Group {
            lane: (first % LANES) as u8,
            translation,
            rotation,
            scale,
        });
    }

    /// Appends rows that hold a value per lane of a group.
    fn fixed(
        &mut self,
        first: usize,
        width: usize,
        channel: Channel,
        value: impl Fn(usize) -> [f32; 4],
    ) -> u32 {
        let noise = match channel {
            Channel::Rotation => NOISE,
            _ => NOISE_LENGTH,
        };
        let at = self.rows.len();
        self.rows.resize(at + channel.components(), Row::splat(0.0));
        for lane in first..first + width {
            for (row, v) in self.rows[at..].iter_mut().zip(value(lane)) {
                row.0[lane % LANES] = settle(v, noise);
            }
        }
        at as u32
    }

    pub(super) fn add_layers(
        &mut self,
        skeleton: &Skeleton,
        input: &PlanInput<'_>,
        reading: &[Reading],
    ) {
        let mut cursors = 0;
        for layer in &input.layers {
            let masks: Vec<GroupMask> = reading.iter().map(|r| self.mask(layer, r)).collect();
            let first = self.actions.len();
            let mut stands = vec![false; reading.len()];
            let still = CHANNELS.map(|channel| {
                let start = self.still.len();
                for ((r, &mask), stands) in reading.iter().zip(&masks).zip(&mut stands) {
                    if r.channel == channel && mask != GroupMask::Nothing {
                        let still = self.still_slot(skeleton, input.width, layer, r);
                        *stands = still.is_some();
                        self.still.extend(still);
                    }
                }
                start..self.still.len()
            });
            for clip in &layer.clips {
                let tracks = CHANNELS.map(|channel| {
                    let start = self.tracks.len();
                    for ((r, &mask), &stands) in reading.iter().zip(&masks).zip(&stands) {
                        if r.channel != channel || mask == GroupMask::Nothing || stands {
                            continue;
                        }
                        if let Some(track) = self.track(skeleton, input.width, layer, clip, r) {
                            self.tracks.push(Track {
                                cursor: track.cursor + cursors,
                                mask,
                                ..track
                            });
                        }
                    }
                    start..self.tracks.len()
                });
                self.actions.push(PlanAction {
                    clip: clip.clone(),
                    first_cursor: cursors as usize,
                    tracks,
                });
                cursors += clip.timelines().len() as u32;
            }
            self.layers.push(PlanLayer {
                layer: layer.layer,
                additive: layer.additive,
                masked: layer.mask.is_some(),
                actions: first..self.actions.len(),
                still,
                masks: CHANNELS.map(|channel| {
                    let of = reading.iter().zip(&masks);
                    of.filter(|(r, _)| r.channel == channel)
                        .map(|(_, mask)| *mask)
                        .collect()
                }),
            });
        }
    }

    fn mask(&mut self, layer: &InputLayer<'_>, r: &Reading) -> GroupMask {
        let Some(mask) = layer.mask else {
            return GroupMask::Whole;
        };
        if r.lanes.iter().all(|&l| mask_weight(layer.mask, l) == 0.0) {
            return GroupMask::Nothing;
        }
        self.rows.push(mask.rows()[r.first / LANES]);
        GroupMask::Row(self.rows.len() as u32 - 1)
    }

    /// A slot that no action of a blending layer moves; none if one does, if their number is not one
    /// of [`STILL_ACTIONS`], or if rotations do not lie well on one side.
    fn still_slot(
        &mut self,
        skeleton: &Skeleton,
        width: usize,
        layer: &InputLayer<'_>,
        r: &Reading,
    ) -> Option<Still> {
        let &Reading {
            channel,
            first,
            register,
            ref lanes,
        } = r;
        let moves = |clip: &Arc<Clip>| moving_block(clip, channel, first, lanes).is_some();
        if layer.additive
            || !STILL_ACTIONS.contains(&layer.clips.len())
            || layer.clips.iter().any(moves)
        {
            return None;
        }
        let value = |clip: &Clip, l: usize| {
            let value = constant(clip, channel, l).flatten();
            value.unwrap_or_else(|| rest_value(skeleton, channel, l))
        };
        let turned = |clip: &Clip, l: usize| {
            let q = value(clip, l);
            match channel == Channel::Rotation && dot(q, value(&layer.clips[0], l)) < 0.0 {
                true => q.map(|v| -v),
                false => q,
            }
        };
        if channel == Channel::Rotation {
            let apart = |l: &usize| {
                let q: Vec<_> = layer.clips.iter().map(|c| turned(c, *l)).collect();
                (0..q.len()).any(|i| (0..i).any(|j| dot(q[i], q[j]) < ONE_SIDED))
            };
            if lanes.iter().any(apart) {
                return None;
            }
        }
        let row = self.rows.len() as u32;
        for clip in &layer.clips {
            self.fixed(first, width, channel, |l| turned(clip, l));
        }
        Some(Still {
            row,
            register,
            lane: (first % LANES) as u8,
        })
    }

    /// How one action moves a slot; none if it is additive and leaves it alone.
    fn track(
        &mut self,
        skeleton: &Skeleton,
        width: usize,
        layer: &InputLayer<'_>,
        clip: &Clip,
        r: &Reading,
    ) -> Option<Track> {
        let &Reading {
            channel,
            first,
            register,
            ..
        } = r;
        let mut track = Track {
            row: 0,
            integer: 0,
            stride: 0,
            cursor: 0,
            register,
            mask: GroupMask::Whole,
            hold: 0,
            kind: TrackKind::Fixed,
            lane: (first % LANES) as u8,
        };
        let adds = |&l: &usize| adds(clip, layer.mask, channel, l);
        if layer.additive && !r.lanes.iter().any(adds) {
            return None;
        }
        if let Some(b) = moving_block(clip, channel, first, &r.lanes) {
            track.row = b.first_row;
            track.cursor = b.timeline;
            track.hold = (u32::from(b.hold) >> (first % LANES) & ((1 << width) - 1)) as u16;
            track.kind = match b.kind {
                BlockKind::Cubic => TrackKind::Cubic,
                BlockKind::Slerp if channel == Channel::Rotation => TrackKind::Slerp,
                _ => TrackKind::Linear,
            };
            if let Encoding::Packed {
                first: integer,
                lanes,
            } = b.encoding
            {
                track.integer = integer + (first % LANES) as u32;
                track.stride = lanes;
                track.kind = match track.kind {
                    TrackKind::Slerp => TrackKind::PackedSlerp,
                    _ => TrackKind::Packed,
                };
            }
            return Some(track);
        }
        let value = |l: usize| {
            let missing = if layer.additive {
                neutral(channel)
            } else {
                rest_value(skeleton, channel, l)
            };
            // A lane that moves, but is not read, may hold anything.
            constant(clip, channel, l).flatten().unwrap_or(missing)
        };
        track.row = self.fixed(first, width, channel, value);
        Some(track)
    }
}

/// Numbers of actions that the mixing has loops for.
const STILL_ACTIONS: RangeInclusive<usize> = 2..=4;

/// Rotations whose dot products are all at least this lie on one side of any sum of theirs, whatever is
/// rounded.
const ONE_SIDED: f32 = 0.1;

fn dot(a: [f32; 4], b: [f32; 4]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The clip's block, if it moves a lane that is read.
fn moving_block<'a>(
    clip: &'a Clip,
    channel: Channel,
    first: usize,
    read: &[usize],
) -> Option<&'a Block> {
    let b = clip.block_at(channel, first / LANES)?;
    let moves = |l: &usize| b.moving >> (l % LANES) & 1 == 1;
    (b.kind != BlockKind::Constant && read.iter().any(moves)).then_some(b)
}
