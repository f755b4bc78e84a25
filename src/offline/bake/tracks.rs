//! What the optimiser works on: a raw clip's transforms at all its key times, joint by joint.

use super::metric::key_times;
use super::reference::{locate, value};
use super::walk::{Local, Model, TIMES, V, unit};
use super::{BakeSettings, is_additive};
use crate::clip::{Block, BlockKind, Channel, Clip, split_lane};
use crate::math::LANES;
use crate::offline::curve::angle;
use crate::skeleton::Skeleton;

/// The channels of joints, and where their numbers stand in a local transform.
pub(super) const CHANNELS: [(Channel, usize); 3] = [
    (Channel::Translation, 0),
    (Channel::Rotation, 3),
    (Channel::Scale, 7),
];

/// How a channel of a joint is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Motion {
    /// Not at all, or as it is: rows of f32.
    Kept,
    /// One value on a lattice.
    Constant,
    /// Keys on a lattice, on this timeline of the clip.
    Moving { timeline: usize, hold: bool },
}

/// One joint.
pub(super) struct JointTrack {
    pub parent: Option<usize>,
    pub motions: [Motion; 3],
    /// The component of its rotations that follows from the others, and whether it is negative.
    pub derived: Option<(usize, bool)>,
    /// The clip's own values, by eight times.
    pub raw: Vec<Local>,
    /// In model space, on top of the rest pose if the clip is additive.
    pub models: Vec<Model>,
    /// Shell and weight of its errors.
    pub shell: (f64, f64),
    /// How far a turn of the joint carries the farthest point that is measured below it, metres;
    /// and the farthest of its own and its children's.
    pub reach: f64,
    pub arm: f64,
    /// The rest pose below an additive clip.
    pub base: Option<[f64; 10]>,
}

impl JointTrack {
    /// How far plain lerp may leave slerp between two keys, at the joint's reach, metres: rotations θ
    /// apart come to lie θ³/250 off (the largest difference over the way, to third order).
    pub fn lerp_error(&self, tracks: &Tracks) -> f64 {
        let Motion::Moving { timeline, .. } = self.motions[1] else {
            return 0.0;
        };
        let at = &tracks.timelines[timeline].at;
        let turn = |i: usize| -> [f64; 4] {
            std::array::from_fn(|c| self.raw[i / TIMES][3 + c].0[i % TIMES])
        };
        let widest = at
            .windows(2)
            .map(|pair| angle(&turn(pair[0]), &turn(pair[1])));
        widest.fold(0.0, f64::max).powi(3) / 250.0 * self.reach * self.shell.1
    }
}

/// A timeline's keys among all key times, and where each of those lies on it.
pub(super) struct TimelineKeys {
    /// Index of each key's time.
    pub at: Vec<usize>,
    /// Key before and way to the next, for every time.
    pub cursors: Vec<(usize, f64)>,
    /// Whether its keys are all key times.
    pub dense: bool,
}

/// A clip, ready to be optimised.
pub(super) struct Tracks {
    /// The error that is asked for, metres.
    pub max_error: f64,
    pub times: Vec<f32>,
    pub timelines: Vec<TimelineKeys>,
    pub joints: Vec<JointTrack>,
}

impl Tracks {
    pub fn new(clip: &Clip, skeleton: &Skeleton, settings: &BakeSettings) -> Self {
        let times = key_times(clip);
        let timelines = clip.timelines().iter().map(|t| {
            let own = clip.times(t);
            let at = own.iter().map(|t| times.partition_point(|x| x < t));
            TimelineKeys {
                at: at.collect(),
                cursors: times.iter().map(|&t| locate(own, t)).collect(),
                dense: own.len() == times.len(),
            }
        });
        let mut tracks = Self {
            timelines: timelines.collect(),
            joints: Vec::with_capacity(skeleton.len()),
            max_error: f64::from(settings.max_error),
            times,
        };
        let shells = settings.shells(skeleton);
        let (reach, arm) = levers(skeleton, &shells);
        for joint in 0..skeleton.len() {
            let track = tracks.joint(clip, skeleton, joint);
            tracks.joints.push(JointTrack {
                shell: shells[joint],
                reach: reach[joint],
                arm: arm[joint],
                ..track
            });
        }
        tracks
    }

    /// Groups of eight times; the last time fills the last group.
    pub fn chunks(&self) -> usize {
        self.times.len().div_ceil(TIMES)
    }

    fn joint(&self, clip: &Clip, skeleton: &Skeleton, joint: usize) -> JointTrack {
        let lane = usize::from(skeleton.lane_of()[joint]);
        let (block, l) = split_lane(lane);
        let rest = skeleton.rest(joint).to_array().map(f64::from);
        let mut fixed = rest;
        if is_additive(clip) {
            fixed = [0., 0., 0., 0., 0., 0., 1., 1., 1., 1.];
        }
        let mut raw = vec![fixed.map(V::splat); self.chunks()];
        let mut motions = [Motion::Kept; 3];
        for (motion, (channel, at)) in motions.iter_mut().zip(CHANNELS) {
            let Some(b) = clip.block_at(channel, block) else {
                continue;
            };
            let width = channel.components();
            let moving = b.moving >> l & 1 == 1;
            for (i, &time) in self.times.iter().enumerate() {
                if i > 0 && !moving {
                    break;
                }
                let v = value(clip, channel, b, l, time);
                for (c, &v) in v.iter().enumerate().take(width) {
                    raw[i / TIMES][at + c].0[i % TIMES] = v;
                }
            }
            if moving {
                fill_last(&mut raw, self.times.len(), at..at + width);
            } else {
                let first = raw[0];
                for chunk in &mut raw {
                    for c in at..at + width {
                        chunk[c] = V::splat(first[c].0[0]);
                    }
                }
            }
            *motion = motion_of(b, l, width, &raw[0], at, &fixed);
        }
        for chunk in &mut raw {
            let q = unit(&[chunk[3], chunk[4], chunk[5], chunk[6]]);
            chunk[3..7].copy_from_slice(&q);
        }
        let parent = usize::from(skeleton.parents()[joint]);
        let base = is_additive(clip).then_some(rest);
        let above = self.joints.get(parent).map(|p| &p.models);
        let models = raw.iter().enumerate().map(|(i, local)| {
            let above = above.map_or(Model::ROOT, |models| models[i]);
            above.below(&on_base(base.as_ref(), local))
        });
        JointTrack {
            models: models.collect(),
            parent: self.joints.get(parent).map(|_| parent),
            motions,
            derived: derived(&raw),
            raw,
            shell: (0.0, 1.0),
            reach: 0.0,
            arm: 0.0,
            base,
        }
    }
}

/// The local transform of an additive clip's values; others are themselves.
#[inline(always)]
pub(super) fn on_base(base: Option<&[f64; 10]>, d: &Local) -> Local {
    let Some(base) = base else { return *d };
    let rest = base.map(V::splat);
    let turn = super::walk::product(
        &[rest[3], rest[4], rest[5], rest[6]],
        &[d[3], d[4], d[5], d[6]],
    );
    let [x, y, z, w] = unit(&turn);
    [
        rest[0] + d[0],
        rest[1] + d[1],
        rest[2] + d[2],
        x,
        y,
        z,
        w,
        rest[7] * d[7],
        rest[8] * d[8],
        rest[9] * d[9],
    ]
}

/// Repeats the last time in what is left of the last eight.
pub(super) fn fill_last(values: &mut [Local], times: usize, of: std::ops::Range<usize>) {
    if let Some(last) = values.last_mut() {
        let used = (times - 1) % TIMES;
        for v in &mut last[of] {
            for i in used + 1..TIMES {
                v.0[i] = v.0[used];
            }
        }
    }
}

fn motion_of(
    b: &Block,
    l: usize,
    width: usize,
    raw: &Local,
    at: usize,
    fixed: &[f64; 10],
) -> Motion {
    if b.kind == BlockKind::Cubic {
        return Motion::Kept;
    }
    if b.moving >> l & 1 == 1 {
        return Motion::Moving {
            timeline: b.timeline as usize,
            hold: b.hold >> l & 1 == 1,
        };
    }
    let still = (at..at + width).all(|c| raw[c].0[0] == fixed[c]);
    if still {
        Motion::Kept
    } else {
        Motion::Constant
    }
}

/// The component that stays largest, if it is never small: it follows well from the others.
fn derived(raw: &[Local]) -> Option<(usize, bool)> {
    const LEAST: f64 = 0.35;
    let mut least = [f64::INFINITY; 4];
    for chunk in raw {
        for c in 0..4 {
            let smallest = chunk[3 + c].0.iter().map(|v| v.abs());
            least[c] = smallest.fold(least[c], f64::min);
        }
    }
    let best = (0..4).max_by(|&a, &b| least[a].total_cmp(&least[b]))?;
    let first = raw.first()?[3 + best].0[0];
    let one_sign = raw
        .iter()
        .all(|c| c[3 + best].0.iter().all(|v| (*v < 0.0) == (first < 0.0)));
    (least[best] > LEAST && one_sign).then_some((best, first < 0.0))
}

/// Reach and arm of every joint, in the rest pose.
fn levers(skeleton: &Skeleton, shells: &[(f64, f64)]) -> (Vec<f64>, Vec<f64>) {
    let mut reach: Vec<f64> = shells.iter().map(|s| s.0).collect();
    let mut arm = reach.clone();
    for joint in (0..skeleton.len()).rev() {
        let parent = usize::from(skeleton.parents()[joint]);
        if parent >= skeleton.len() {
            continue;
        }
        let length = f64::from(skeleton.rest(joint).translation.length());
        reach[parent] = reach[parent].max(reach[joint] + length);
        arm[parent] = arm[parent].max(length + shells[joint].0);
    }
    (reach, arm)
}

/// The lanes of a block that are stored as integers: up to the last that moves.
pub(super) fn stored_lanes(moving: u16) -> usize {
    LANES - moving.leading_zeros() as usize
}
