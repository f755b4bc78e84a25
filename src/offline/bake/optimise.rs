//! Chooses the steps of all tracks: as coarse as the error allows, down every chain of the hierarchy.

use super::tracks::{CHANNELS, JointTrack, Motion, Tracks, on_base};
use super::walk::{Local, Model, TIMES, Turn, V, apart, conjugate, product, unit};
use crate::clip::lattice::{MAX_MULTIPLE, code_below, step};
use crate::math::{Kernel, Lanes, SimdLevel, dispatch};

/// Rounds of measuring and correcting.
const ROUNDS: usize = 9;
/// What a joint may add to the error at first, in parts of the whole.
const FIRST_SHARE: f64 = 0.4;
/// Constants are this much finer than keys: they are stored once, and are off at all times.
const CONSTANT: f64 = 0.25;
/// The largest number of steps in the range of a track.
pub(super) const MAX_RANGE: f64 = 65_000.0;

/// What was chosen.
#[derive(Clone)]
pub(super) struct Built {
    /// Per joint and channel: the step's code.
    pub codes: Vec<[u16; 3]>,
    /// Per joint: its values at all key times, on the lattices, by eight times.
    pub values: Vec<Vec<Local>>,
}

/// Finds steps with which no error is above `target` metres at the key times.
pub(super) fn optimise(tracks: &Tracks, target: f64) -> Built {
    let joints = tracks.joints.len();
    let mut shares = vec![target * FIRST_SHARE; joints];
    let mut state = State::new(tracks);
    let mut best: Option<(f64, Vec<f64>)> = None;
    for round in 0..ROUNDS {
        let below = state.evaluate(&shares);
        let worst = below.iter().copied().fold(0.0, f64::max);
        let gain = cost(tracks, &shares);
        if worst <= target && best.as_ref().is_none_or(|(least, _)| gain < *least) {
            best = Some((gain, shares.clone()));
        }
        let force = if round < ROUNDS / 2 { 0.9 } else { 0.6 };
        for (share, &error) in shares.iter_mut().zip(&below) {
            let ratio = if error > 0.0 { target / error } else { 2.0 };
            *share *= ratio.powf(force).clamp(0.4, 2.0);
            *share = share.min(16.0 * target);
        }
    }
    let mut shares = best.map_or(shares, |(_, shares)| shares);
    loop {
        let below = state.evaluate(&shares);
        let worst = below.iter().copied().fold(0.0, f64::max);
        if worst <= target || shares.iter().all(|&s| s < target * 1e-3) {
            return state.finish(&shares);
        }
        for share in &mut shares {
            *share *= (0.97 * target / worst).clamp(0.5, 0.97);
        }
    }
}

/// Bits that finer steps cost, up to a constant.
fn cost(tracks: &Tracks, shares: &[f64]) -> f64 {
    let of = |(track, share): (&JointTrack, &f64)| -> f64 {
        let moving = track.motions.iter().filter_map(|m| match m {
            Motion::Moving { timeline, .. } => Some(tracks.timelines[*timeline].at.len()),
            _ => None,
        });
        -(moving.sum::<usize>() as f64) * share.log2()
    };
    tracks.joints.iter().zip(shares).map(of).sum()
}

/// The step of a channel for a share of the error.
fn code_of(track: &JointTrack, which: usize, share: f64) -> u16 {
    let lever = track.levers[which];
    let part = match track.motions[which] {
        Motion::Constant => CONSTANT,
        _ => 1.0,
    };
    code_below(share * part / lever).max(track.finest[which])
}

struct State<'a> {
    tracks: &'a Tracks,
    values: Vec<Vec<Local>>,
    models: Vec<Vec<Model>>,
    codes: Vec<[u16; 3]>,
    /// The largest error of every joint.
    errors: Vec<f64>,
}

impl<'a> State<'a> {
    fn new(tracks: &'a Tracks) -> Self {
        let joints = &tracks.joints;
        Self {
            tracks,
            values: joints.iter().map(|j| j.raw.clone()).collect(),
            models: joints.iter().map(|j| j.models.clone()).collect(),
            codes: vec![[0; 3]; joints.len()],
            errors: vec![0.0; joints.len()],
        }
    }

    /// The largest error at or below every joint.
    fn evaluate(&mut self, shares: &[f64]) -> Vec<f64> {
        for (joint, track) in self.tracks.joints.iter().enumerate() {
            self.codes[joint] = std::array::from_fn(|which| code_of(track, which, shares[joint]));
        }
        dispatch(SimdLevel::current(), Evaluate(self));
        let mut below = self.errors.clone();
        for joint in (0..below.len()).rev() {
            if let Some(parent) = self.tracks.joints[joint].parent {
                below[parent] = below[parent].max(below[joint]);
            }
        }
        below
    }

    fn finish(mut self, shares: &[f64]) -> Built {
        self.evaluate(shares);
        Built {
            codes: self.codes,
            values: self.values,
        }
    }
}

struct Evaluate<'s, 'a>(&'s mut State<'a>);

impl Kernel for Evaluate<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Lanes>(self, _: S) {
        let state = self.0;
        let chunks = state.tracks.chunks();
        for joint in 0..state.tracks.joints.len() {
            let track = &state.tracks.joints[joint];
            let (before, after) = state.models.split_at_mut(joint);
            let above = track.parent.map(|p| &before[p]);
            let values = &mut state.values[joint];
            let steps = state.codes[joint].map(step);
            for chunk in 0..chunks {
                let parent = above.map_or(Model::ROOT, |m| m[chunk]);
                quantise(track, chunk, &parent, steps, &mut values[chunk]);
            }
            let mut worst = V::ZERO;
            let sparse = is_sparse(state.tracks, track);
            let shown = if sparse {
                Some(between(state.tracks, track, values))
            } else {
                None
            };
            for chunk in 0..chunks {
                let parent = above.map_or(Model::ROOT, |m| m[chunk]);
                let mut local = shown.as_ref().map_or(values[chunk], |s| s[chunk]);
                let q = unit(&[local[3], local[4], local[5], local[6]]);
                local[3..7].copy_from_slice(&q);
                let model = parent.below(&on_base(track.base.as_ref(), &local));
                worst = worst.max(apart(
                    &model.matrix,
                    &track.models[chunk].matrix,
                    track.shell.0,
                ));
                after[0][chunk] = model;
            }
            let worst = worst.0.into_iter().fold(0.0, f64::max);
            state.errors[joint] = worst.sqrt() * track.shell.1;
        }
    }
}

/// Values of eight times on the lattices.
#[inline(always)]
fn quantise(track: &JointTrack, chunk: usize, parent: &Model, steps: [f64; 3], out: &mut Local) {
    let raw = &track.raw[chunk];
    for (which, at) in [(0, 0), (2, 7)] {
        if track.motions[which] != Motion::Kept {
            for c in at..at + 3 {
                out[c] = nearest(raw[c], steps[which]);
            }
        }
    }
    if track.motions[1] == Motion::Kept {
        return;
    }
    let mut q = [raw[3], raw[4], raw[5], raw[6]];
    // A turn makes up for the errors of those above it, so that they do not add up.
    if matches!(track.motions[1], Motion::Moving { .. }) && track.base.is_none() {
        let wanted = product(&conjugate(&parent.turn), &track.models[chunk].turn);
        let dot = wanted[0] * q[0] + wanted[1] * q[1] + wanted[2] * q[2] + wanted[3] * q[3];
        let sign = V::splat(1.0).copysign(dot);
        q = [
            wanted[0] * sign,
            wanted[1] * sign,
            wanted[2] * sign,
            wanted[3] * sign,
        ];
    }
    let q = nearest_turn(&q, steps[1], track.derived);
    out[3..7].copy_from_slice(&q);
}

#[inline(always)]
fn nearest(v: V, step: f64) -> V {
    (v * V::splat(1.0 / step)).round() * V::splat(step)
}

#[inline(always)]
fn nearest_turn(q: &Turn, step: f64, derived: Option<(usize, bool)>) -> Turn {
    let mut out = *q;
    let Some((largest, negative)) = derived else {
        for v in &mut out {
            *v = nearest(*v, step);
        }
        return out;
    };
    let mut square = V::ZERO;
    for (c, v) in out.iter_mut().enumerate() {
        if c != largest {
            *v = nearest(*v, step);
            square = square + *v * *v;
        }
    }
    let left = (V::splat(1.0) - square).max(V::ZERO).sqrt();
    let sign = if negative { -1.0 } else { 1.0 };
    out[largest] = nearest(left, step) * V::splat(sign);
    out
}

/// Whether some of a joint's times are not keys of their own.
fn is_sparse(tracks: &Tracks, track: &JointTrack) -> bool {
    track.motions.iter().any(|m| match m {
        Motion::Moving { timeline, hold } => *hold || !tracks.timelines[*timeline].dense,
        _ => false,
    })
}

/// What is shown at all times if only keys are stored.
fn between(tracks: &Tracks, track: &JointTrack, values: &[Local]) -> Vec<Local> {
    let mut out = values.to_vec();
    for (which, (channel, first)) in CHANNELS.into_iter().enumerate() {
        let Motion::Moving { timeline, hold } = track.motions[which] else {
            continue;
        };
        let timeline = &tracks.timelines[timeline];
        for (i, &(key, t)) in timeline.cursors.iter().enumerate() {
            let t = if hold && t < 1.0 { 0.0 } else { t };
            let (a, b) = (timeline.at[key], timeline.at[key + 1]);
            for c in first..first + channel.components() {
                let get = |at: usize| values[at / TIMES][c].0[at % TIMES];
                out[i / TIMES][c].0[i % TIMES] = get(a) * (1.0 - t) + get(b) * t;
            }
        }
        super::tracks::fill_last(
            &mut out,
            tracks.times.len(),
            first..first + channel.components(),
        );
    }
    out
}

/// Whether 16 bits and the lattice hold a track's range at this step.
pub(super) fn fits(low: f64, high: f64, step: f64) -> bool {
    (high - low) / step <= MAX_RANGE && low.abs().max(high.abs()) / step < MAX_MULTIPLE
}
