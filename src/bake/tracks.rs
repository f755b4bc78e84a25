//! The input of the optimiser: the transforms of a raw clip at all its key times, joint by joint.

use super::locals::{Locals, Normalise};
use super::reference::{locate, value};
use super::shells::{LEAST_LENGTH, Shell, magnitudes, rounding, shells};
use super::times::key_times;
use super::transforms::{Live, Local, Model, TIMES, Trs, product, unit};
use super::{BakeOptions, is_additive};
use crate::clip::lattice::{MAX_MULTIPLE, code_below, step, unit as unit_of};
use crate::clip::{Block, BlockKind, Channel, Clip, split_lane};
use crate::math::angle;
use crate::simd::{SimdLevel, dispatch, each};
use crate::skeleton::{Frames, Skeleton};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f64x8};

/// The channels of joints, and their first component in a local transform.
pub(super) const CHANNELS: [(Channel, usize); 3] =
    [(Channel::Translation, 0), (Channel::Rotation, 3), (Channel::Scale, 7)];

/// Share of the error bound below which the motion of a track counts as noise.
const STILL: f64 = 0.2;
/// Steps in the range of a 16-bit track. The rest is for rotations that compensate errors of ancestors.
const MAX_RANGE: f64 = 60_000.0;

/// How a channel of a joint is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ChannelForm {
    /// Not stored, or kept as f32 rows.
    Kept,
    /// One quantised value, for motion that is noise.
    Constant,
    /// Quantised keys on this timeline of the clip; `hold` for stepped interpolation.
    Moving { timeline: usize, hold: bool },
}

/// The tracks of one joint.
pub(super) struct JointTrack {
    pub parent: Option<usize>,
    pub forms: [ChannelForm; 3],
    /// The component of the joint's rotations that is derived from the others, and whether it is negative.
    pub derived: Option<(usize, bool)>,
    /// The values of the raw clip.
    pub raw: Locals,
    /// The values of channels whose motion is noise.
    pub middles: [[f64; 4]; 3],
    /// The points at which the joint's error is measured.
    pub shell: Shell,
    /// The largest change of the shell per unit of scale, as a share of the shell's distance; the largest scale.
    own: (f64, f64),
    /// Largest weight of an error that the joint's motion causes: at the joint, or at a joint below it.
    pub weight: f64,
    /// Distance of the farthest measured point that a rotation of the joint moves, metres.
    pub reach: f64,
    /// For each channel, displacement of the measured points of the joint and its children per unit, metres.
    pub levers: [f64; 3],
    /// Whether a channel that is kept unchanged moves.
    keeps_keys: bool,
    /// For each channel, the code of the finest step for which 16 bits hold the range.
    pub finest: [u16; 3],
    /// For each channel, the divisor of its steps, see [`unit_of`].
    pub units: [f64; 3],
    /// For each channel, the residuals of its keys.
    pub residuals: [Residuals; 3],
    /// The joint's rest pose, if the clip is additive.
    pub base: Option<[f64; 10]>,
}

/// The residuals of a channel's keys, each predicted by the line through the two before it: an estimate of what the coder
/// of clips stores.
#[derive(Clone, Copy, Default)]
pub(super) struct Residuals {
    /// Number of keys; 0 for channels that do not move.
    pub keys: f64,
    /// Mean magnitude by component, in the unit of the channel.
    pub sizes: [f64; 4],
}

impl Residuals {
    fn new(raw: &Locals, which: usize, at: &[usize]) -> Self {
        let mut sizes = [0.0; 4];
        let width = CHANNELS[which].0.components();
        for three in at.windows(3) {
            let [a, b, c] = [0, 1, 2].map(|i| raw.at(which, three[i]));
            for (i, size) in sizes.iter_mut().enumerate().take(width) {
                *size += (a[i] - 2.0 * b[i] + c[i]).abs() / at.len() as f64;
            }
        }
        Self { keys: at.len() as f64, sizes }
    }
}

impl JointTrack {
    /// The joint's largest distance from its parent, in the parent's units.
    fn offset(&self) -> f64 {
        let ranges = self.raw.range(0);
        let far = ranges[..3].iter().enumerate().map(|(c, &range)| {
            let base = self.base.map_or(0.0, |base| base[c].abs());
            base + magnitudes(range)[1]
        });
        far.map(|v| v * v).sum::<f64>().sqrt()
    }

    /// True if no channel moves.
    pub fn is_still(&self) -> bool {
        let moves = |m: &ChannelForm| matches!(m, ChannelForm::Moving { .. });
        !self.forms.iter().any(moves) && !self.keeps_keys
    }

    /// Decides how a moving channel is stored. Motion below the noise share becomes a constant. Other motion
    /// gets the finest step for which 16 bits hold its range, or stays f32 if that step causes more than
    /// the share `coarsest` of the error.
    fn settle(&mut self, which: usize, max_error: f64, coarsest: f64) {
        let (channel, _) = CHANNELS[which];
        if !matches!(self.forms[which], ChannelForm::Moving { .. }) {
            return;
        }
        let turns = channel == Channel::Rotation;
        let mut middles = [0.0; 4];
        let (mut widest, mut farthest) = (0.0f64, 0.0f64);
        let ranges = self.raw.range(which);
        for (middle, [low, high]) in middles.iter_mut().zip(ranges).take(channel.components()) {
            *middle = 0.5 * (low + high);
            widest = widest.max(high - low);
            farthest = farthest.max(high.max(-low));
        }
        let lever = if turns { 2.0 * self.reach } else { self.levers[which] };
        if widest * lever > STILL * max_error {
            let unit = self.units[which];
            let exact = code_below(farthest * unit / MAX_MULTIPLE) + 1;
            let narrow = exact.max(code_below(widest * unit / MAX_RANGE) + 1);
            let fine = |code: u16| step(code) / unit * self.levers[which] <= coarsest * max_error;
            match [narrow, exact].into_iter().find(|&code| fine(code)) {
                Some(code) => self.finest[which] = code,
                None => {
                    self.forms[which] = ChannelForm::Kept;
                    self.keeps_keys = true;
                }
            }
            return;
        }
        if turns {
            let length = middles.iter().map(|v| v * v).sum::<f64>().sqrt();
            middles = middles.map(|v| v / length);
        }
        self.middles[which] = middles;
        self.forms[which] = ChannelForm::Constant;
    }

    /// Largest difference of normalised lerp and slerp between keys, at the joint's reach, in metres. For rotations θ
    /// between keys it is θ³/250 of the reach, to third order.
    pub fn lerp_error(&self, tracks: &Tracks) -> f64 {
        let ChannelForm::Moving { timeline, .. } = self.forms[1] else { return 0.0 };
        let at = &tracks.timelines[timeline].at;
        let turn = |i: usize| self.raw.at(1, i);
        let widest = at.windows(2).map(|pair| angle(&turn(pair[0]), &turn(pair[1])));
        widest.fold(0.0, f64::max).powi(3) / 250.0 * self.reach * self.weight
    }
}

/// The keys of a timeline among all key times, and the position of each key time on it.
pub(super) struct TimelineKeys {
    /// For each key, the index of its time.
    pub at: Vec<usize>,
    /// For each key time, the key before it, and the fraction to the next key.
    pub cursors: Vec<(usize, f64)>,
    /// Whether the timeline has a key at every key time.
    pub dense: bool,
}

/// A clip, prepared for the optimiser.
pub(super) struct Tracks {
    /// The error bound, metres.
    pub max_error: f64,
    /// Bound of the f32 rounding errors, metres.
    pub rounding: f64,
    pub times: Vec<f32>,
    pub timelines: Vec<TimelineKeys>,
    pub joints: Vec<JointTrack>,
}

impl Tracks {
    pub fn new(clip: &Clip, skeleton: &Skeleton, settings: &BakeOptions, coarsest: f64) -> Self {
        let times = key_times(clip);
        let timelines = clip.timelines().map(|own| {
            let at = own.iter().map(|t| times.partition_point(|x| x < t));
            TimelineKeys {
                at: at.collect(),
                cursors: times.iter().map(|&t| locate(own, t)).collect(),
                dense: own.len() == times.len(),
            }
        });
        let max_error = f64::from(settings.max_error);
        let mut tracks = Self {
            timelines: timelines.collect(),
            joints: Vec::with_capacity(skeleton.len()),
            max_error,
            rounding: 0.0,
            times,
        };
        let shells = shells(clip, skeleton, settings);
        tracks.rounding = rounding(clip, skeleton, &shells);
        let frames = Frames::of_rest(skeleton);
        for (joint, shell) in shells.into_iter().enumerate() {
            let track = tracks.joint(clip, (skeleton, &frames), joint, shell);
            tracks.joints.push(track);
        }
        set_levers(&mut tracks.joints);
        for track in &mut tracks.joints {
            for which in 0..CHANNELS.len() {
                track.settle(which, max_error / track.weight, coarsest);
                if let ChannelForm::Moving { timeline, .. } = track.forms[which] {
                    let at = &tracks.timelines[timeline].at;
                    track.residuals[which] = Residuals::new(&track.raw, which, at);
                }
            }
        }
        tracks
    }

    /// How each channel of each joint is stored.
    pub fn forms(&self) -> Vec<[ChannelForm; 3]> {
        self.joints.iter().map(|j| j.forms).collect()
    }

    /// Number of groups of eight times; the last time fills up the last group.
    pub fn chunks(&self) -> usize {
        self.times.len().div_ceil(TIMES)
    }

    fn joint(
        &self,
        clip: &Clip,
        (skeleton, frames): (&Skeleton, &Frames),
        joint: usize,
        shell: Shell,
    ) -> JointTrack {
        let lane = usize::from(skeleton.lane_of()[joint]);
        let (block, l) = split_lane(lane);
        let rest = skeleton.rest(joint).to_array().map(f64::from);
        let mut fixed = rest;
        if is_additive(clip) {
            fixed = [0., 0., 0., 0., 0., 0., 1., 1., 1., 1.];
        }
        let mut raw = Locals::still(&fixed);
        let mut keeps_keys = false;
        let mut forms = [ChannelForm::Kept; 3];
        for (which, (channel, _)) in CHANNELS.into_iter().enumerate() {
            let Some(b) = clip.block_at(channel, block) else { continue };
            let moving = b.moves(l);
            if moving {
                let cursors = &self.timelines[b.timeline as usize].cursors;
                let values = cursors.iter().map(|&at| value(clip, channel, b, l, at));
                raw.set(which, values);
            } else {
                raw.set_still(which, &value(clip, channel, b, l, (0, 0.0)));
            }
            forms[which] = form_of(b, l);
            keeps_keys |= moving && forms[which] == ChannelForm::Kept;
        }
        let parent = usize::from(skeleton.parents()[joint]);
        let base = is_additive(clip).then_some(rest);
        dispatch(SimdLevel::current(), Normalise(&mut raw));
        JointTrack {
            middles: [[0.0; 4]; 3],
            parent: self.joints.get(parent).map(|_| parent),
            forms,
            derived: derived(&raw),
            raw,
            shell,
            own: (0.0, 0.0),
            weight: shell.weight,
            reach: 0.0,
            levers: [1.0; 3],
            keeps_keys,
            finest: [0; 3],
            residuals: [Residuals::default(); 3],
            units: [unit_of(frames, joint), 1.0, 1.0],
            base,
        }
    }
}

/// The raw transforms of a joint in model space at a group of times, from its parent's transforms.
#[inline(always)]
pub(super) fn wanted<S: Simd>(
    simd: S,
    raw: &Locals,
    base: Option<&[f64; 10]>,
    group: usize,
    above: Option<&Model>,
) -> Live<S> {
    let above = match above {
        Some(model) => Live::load(simd, model),
        None => Live::root(simd),
    };
    above.below(&Live::own(simd, &on_base(simd, base, &raw.load(simd, group))))
}

/// The rest pose with the difference `d` added; `d` itself if the clip is not additive.
#[inline(always)]
pub(super) fn on_base<S: Simd>(simd: S, base: Option<&[f64; 10]>, d: &Trs<S>) -> Trs<S> {
    let Some(base) = base else { return *d };
    let rest = each!(f64x8::splat(simd, 0.0); 10; i => f64x8::splat(simd, base[i]));
    let turn = product(&[rest[3], rest[4], rest[5], rest[6]], &[d[3], d[4], d[5], d[6]]);
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

/// Fills up the last group of eight times with the last time.
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

/// Lanes that do not move are kept unchanged: quantising the constants of each clip separately made blends
/// 10 % slower.
fn form_of(b: &Block, l: usize) -> ChannelForm {
    if b.kind == BlockKind::Cubic || !b.moves(l) {
        return ChannelForm::Kept;
    }
    ChannelForm::Moving { timeline: b.timeline as usize, hold: b.holds(l) }
}

/// The component with the largest minimum magnitude, if it is never small and keeps its sign. It can be
/// derived accurately from the others.
fn derived(raw: &Locals) -> Option<(usize, bool)> {
    const LEAST: f64 = 0.35;
    let mut least = [f64::INFINITY; 4];
    for group in raw.groups(1) {
        for (least, v) in least.iter_mut().zip(group) {
            *least = v.0.iter().map(|v| v.abs()).fold(*least, f64::min);
        }
    }
    let best = (0..4).max_by(|&a, &b| least[a].total_cmp(&least[b]))?;
    let first = raw.at(1, 0)[best];
    let mut all = raw.groups(1).flat_map(|group| group[best].0);
    let one_sign = all.all(|v| (v < 0.0) == (first < 0.0));
    (least[best] > LEAST && one_sign).then_some((best, first < 0.0))
}

/// Sets reach, levers and weight of every joint, from the largest lengths that the clip has.
fn set_levers(joints: &mut [JointTrack]) {
    for j in joints.iter_mut() {
        let distance = j.shell.distance;
        // The smaller a joint's scale, the farther a change of it moves the shell's points, down to a limit.
        let (mut finest, mut most) = (0.0f64, 0.0f64);
        for range in &j.raw.range(2)[..3] {
            let [low, high] = magnitudes(*range);
            if high > 0.0 {
                finest = finest.max(1.0 / low.max(LEAST_LENGTH * high));
                most = most.max(high);
            }
        }
        j.reach = distance;
        j.levers = [1.0, distance, distance * finest];
        j.own = (finest, most);
    }
    for joint in (0..joints.len()).rev() {
        let Some(parent) = joints[joint].parent else { continue };
        let (before, after) = joints.split_at_mut(joint);
        let (above, own) = (&mut before[parent], &mut after[0]);
        let unit = above.shell.unit;
        own.levers[0] = unit;
        let apart = unit * own.offset();
        let distance = own.shell.distance;
        let (finest, most) = above.own;
        above.reach = above.reach.max(own.reach + apart);
        above.levers[1] = above.levers[1].max(apart + distance);
        if most > 0.0 {
            above.levers[2] = above.levers[2].max(apart / most + distance * finest);
        }
        above.weight = above.weight.max(own.weight);
    }
}
