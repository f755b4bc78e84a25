//! Chooses the steps of all tracks: as coarse as the error bound allows, down every chain of joints.

use super::locals::NOTHING;
use super::quantise::quantise;
use super::reference::mix;
use super::tracks::{CHANNELS, ChannelForm, JointTrack, Tracks, on_base, wanted};
use super::transforms::{Live, Local, Model, TIMES, Trs, apart, load, store, unit};
use crate::clip::Channel;
use crate::clip::lattice::{code_below, step};
use crate::simd::{Kernel, Lanes, SimdLevel, dispatch};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f64x8};
use std::ops::Range;

/// Rounds that measure the error and correct the shares in both directions.
const ROUNDS: usize = 6;
/// Factor by which the chosen shares are beyond the target when the next rounds begin.
const BEYOND: f64 = 1.15;
/// Rounds that lower only the shares of joints beyond the target and of the joints above them, so that one joint does not
/// cost all others bits.
const LOCAL: usize = 8;
/// Further rounds, which refine all steps by the missing factor. Measured: 4 if the bound is reachable.
const FINER: usize = 8;
/// Final rounds, which halve all shares: from the largest share to a thousandth of the target.
const HALVED: usize = 14;
/// Largest share of the target that a joint's steps may cause.
const LARGEST_SHARE: f64 = 16.0;
/// Initial share of the target that a joint's steps may cause.
const FIRST_SHARE: f64 = 0.4;
/// Step of constants relative to that of keys: they are stored once and their error applies at all times.
const CONSTANT: f64 = 0.25;
/// Groups of eight times that are evaluated together down the hierarchy. With 67 joints they fill 0.5 MB.
const BLOCK: usize = 8;

#[derive(Clone)]
pub(super) struct Built {
    /// For each joint and channel, the code of the step.
    pub codes: Vec<[u16; 3]>,
    /// For each joint, its quantised values at all key times, in groups of eight times.
    pub values: Vec<Vec<Local>>,
    /// Whether no error at the key times is above the target. If not, finer steps do not help.
    pub reached: bool,
}

/// Finds steps for which no error at the key times is above `target` metres.
///
/// The work is bounded for any input: `ROUNDS + LOCAL + FINER + HALVED` passes over all times and joints.
pub(super) fn optimise(tracks: &Tracks, target: f64) -> Built {
    let (state, reached) = search(tracks, target);
    Built { codes: state.codes, values: state.values, reached }
}

/// The final state of the search, and whether it reached the target.
fn search(tracks: &Tracks, target: f64) -> (State<'_>, bool) {
    let joints = tracks.joints.len();
    let mut shares = vec![target * FIRST_SHARE; joints];
    let mut state = State::new(tracks);
    let numbers = state.numbers();
    let mut best: Option<(f64, f64, Vec<f64>)> = None;
    for round in 0..ROUNDS {
        let below = state.evaluate(&shares, false);
        let over = below.iter().copied().fold(0.0, f64::max) / target;
        // The bits of the keys if all shares were scaled until the target is reached.
        let bits = state.bits() + numbers * over.max(f64::MIN_POSITIVE).log2();
        if best.as_ref().is_none_or(|(least, ..)| bits < *least) {
            best = Some((bits, over, shares.clone()));
        }
        let force = if round < ROUNDS / 2 { 0.9 } else { 0.6 };
        for (share, &error) in shares.iter_mut().zip(&below) {
            let ratio = if error > 0.0 { target / error } else { 2.0 };
            *share *= ratio.powf(force).clamp(0.4, 2.0);
            *share = share.min(LARGEST_SHARE * target);
        }
    }
    if let Some((_, over, best)) = best {
        let scaled = |share: f64| (share * BEYOND / over).min(LARGEST_SHARE * target);
        shares = best.into_iter().map(scaled).collect();
    }
    let mut round = 0;
    loop {
        let below = state.evaluate(&shares, true);
        let worst = below.iter().copied().fold(0.0, f64::max);
        let reached = worst <= target;
        round += 1;
        if reached || round == LOCAL + FINER + HALVED {
            return (state, reached);
        }
        if round <= LOCAL {
            for (share, &error) in shares.iter_mut().zip(&below) {
                if error > target {
                    *share *= (0.98 * target / error).max(0.5);
                }
            }
            continue;
        }
        let missing = if round < LOCAL + FINER { worst } else { f64::INFINITY };
        for share in &mut shares {
            *share *= (0.97 * target / missing).clamp(0.5, 0.97);
        }
    }
}

/// The code of the step of a channel for a share of the error, metres.
fn code_of(track: &JointTrack, which: usize, share: f64) -> u16 {
    let lever = track.levers[which];
    let part = if track.forms[which] == ChannelForm::Constant { CONSTANT } else { 1.0 };
    code_below(share * part / lever * track.units[which]).max(track.finest[which])
}

/// The steps of these codes, in the units of a joint's channels.
pub(super) fn steps(track: &JointTrack, codes: [u16; 3]) -> [f64; 3] {
    std::array::from_fn(|which| step(codes[which]) / track.units[which])
}

struct State<'a> {
    tracks: &'a Tracks,
    /// For each joint, quantised values in groups of eight times. Joints that do not move have one group.
    values: Vec<Vec<Local>>,
    /// Number of groups of times that are evaluated together down the hierarchy.
    block: usize,
    /// For each joint, model-space transforms of these groups, and the raw clip's transforms.
    models: Vec<Vec<Model>>,
    wanted: Vec<Vec<Model>>,
    codes: Vec<[u16; 3]>,
    /// For each joint, its largest error, weighted, metres.
    errors: Vec<f64>,
    rounds: usize,
}

impl<'a> State<'a> {
    fn new(tracks: &'a Tracks) -> Self {
        let joints = &tracks.joints;
        let values = |j: &JointTrack| if j.is_still() { 1 } else { tracks.chunks() };
        let sparse = joints.iter().any(|j| is_sparse(tracks, j));
        let block = if sparse { tracks.chunks() } else { BLOCK.min(tracks.chunks()) };
        Self {
            tracks,
            values: joints.iter().map(|j| vec![NOTHING; values(j)]).collect(),
            block,
            models: vec![vec![Model::ZERO; block]; joints.len()],
            wanted: vec![vec![Model::ZERO; block]; joints.len()],
            codes: vec![[0; 3]; joints.len()],
            errors: vec![0.0; joints.len()],
            rounds: 0,
        }
    }

    /// Evaluates steps for these shares. Returns for each joint the largest error at it or at any joint below it.
    fn evaluate(&mut self, shares: &[f64], keep: bool) -> Vec<f64> {
        self.rounds += 1;
        for (joint, track) in self.tracks.joints.iter().enumerate() {
            self.codes[joint] = std::array::from_fn(|which| code_of(track, which, shares[joint]));
        }
        let kernel = Evaluate { state: self, keep };
        dispatch(SimdLevel::current(), kernel);
        let mut below = self.errors.clone();
        for joint in (0..below.len()).rev() {
            if let Some(parent) = self.tracks.joints[joint].parent {
                below[parent] = below[parent].max(below[joint]);
            }
        }
        below
    }
}

impl State<'_> {
    /// The number of components that all moving keys have.
    fn numbers(&self) -> f64 {
        let tracks = self.tracks.joints.iter();
        let all = tracks.flat_map(|track| track.residuals.iter().zip(CHANNELS));
        let numbers = all.map(|(own, (channel, _))| own.keys * channel.components() as f64);
        numbers.sum()
    }

    /// Estimate of the bits that these components take on disk, in the steps of the last evaluation.
    fn bits(&self) -> f64 {
        let mut bits = 0.0;
        for (track, &codes) in self.tracks.joints.iter().zip(&self.codes) {
            for (own, step) in track.residuals.iter().zip(steps(track, codes)) {
                let number = own.sizes.map(|size| (1.0 + size / step).log2());
                bits += own.keys * number.iter().sum::<f64>();
            }
        }
        bits
    }
}

struct Evaluate<'s, 'a> {
    state: &'s mut State<'a>,
    /// Whether to store the values as well as the errors.
    keep: bool,
}

impl Kernel for Evaluate<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) {
        let chunks = self.state.tracks.chunks();
        self.state.errors.fill(0.0);
        let mut first = 0;
        while first < chunks {
            let last = (first + self.state.block).min(chunks);
            for joint in 0..self.state.tracks.joints.len() {
                evaluate_joint(simd, self.state, joint, first..last, self.keep);
            }
            first = last;
        }
    }
}

/// Evaluates a joint over a range of groups. Its ancestors must have been evaluated.
#[inline(always)]
fn evaluate_joint<S: Simd>(
    simd: S,
    state: &mut State<'_>,
    joint: usize,
    times: Range<usize>,
    keep: bool,
) {
    let (tracks, first) = (state.tracks, times.start);
    let track = &tracks.joints[joint];
    let (before, after) = state.models.split_at_mut(joint);
    let above = track.parent.map(|p| &before[p][..times.len()]);
    let models = &mut after[0][..times.len()];
    let (before, after) = state.wanted.split_at_mut(joint);
    let goals = &mut after[0][..times.len()];
    // Clips of one block compute the raw transforms once. Longer ones compute them in every round: reading them back
    // from memory takes longer.
    if state.rounds == 1 || state.block < tracks.chunks() {
        for (chunk, goal) in times.clone().zip(goals.iter_mut()) {
            let above = track.parent.map(|p| &before[p][chunk - first]);
            wanted(simd, &track.raw, track.base.as_ref(), chunk, above).store(goal);
        }
    }
    let values = &mut state.values[joint];
    let steps = steps(track, state.codes[joint]);
    let parent = |chunk: usize| match above {
        Some(models) => Live::load(simd, &models[chunk - first]),
        None => Live::root(simd),
    };
    let mut shown = None;
    if is_sparse(tracks, track) {
        for chunk in times.clone() {
            let goal = &goals[chunk - first];
            let local = quantise(simd, track, (chunk, goal), &parent(chunk), steps);
            store(&local, &mut values[chunk]);
        }
        shown = Some(between(tracks, track, values));
    }
    let still = track.is_still().then(|| {
        let local = quantise(simd, track, (0, &goals[0]), &parent(first), steps);
        store(&local, &mut values[0]);
        Live::own(simd, &shown_local(simd, track, local))
    });
    let mut worst = f64x8::splat(simd, 0.0);
    for chunk in times {
        let goal = &goals[chunk - first];
        let parent = parent(chunk);
        let own = match (&still, &shown) {
            (Some(own), _) => *own,
            (None, Some(shown)) => {
                let local = load(simd, &shown[chunk]);
                Live::own(simd, &shown_local(simd, track, local))
            }
            (None, None) => {
                let local = quantise(simd, track, (chunk, goal), &parent, steps);
                if keep {
                    store(&local, &mut values[chunk]);
                }
                Live::own(simd, &shown_local(simd, track, local))
            }
        };
        let model = parent.below(&own);
        model.store(&mut models[chunk - first]);
        let wanted = Live::load(simd, goal);
        worst = worst.max(apart(simd, &wanted.matrix, &model.matrix, &track.shell));
    }
    let worst = worst.to_array().into_iter().fold(0.0, f64::max);
    let error = &mut state.errors[joint];
    *error = error.max((worst.sqrt() + tracks.rounding) * track.shell.weight);
}

/// A local transform in the displayed form: normalised, and added to the rest pose if the clip is additive.
#[inline(always)]
fn shown_local<S: Simd>(simd: S, track: &JointTrack, mut local: Trs<S>) -> Trs<S> {
    let q = unit(&[local[3], local[4], local[5], local[6]]);
    local[3..7].copy_from_slice(&q);
    on_base(simd, track.base.as_ref(), &local)
}

/// True if a moving channel of the joint has no key at some of the key times, or is stepped.
fn is_sparse(tracks: &Tracks, track: &JointTrack) -> bool {
    track.forms.iter().any(|m| match m {
        ChannelForm::Moving { timeline, hold } => *hold || !tracks.timelines[*timeline].dense,
        _ => false,
    })
}

/// The displayed values at all key times, interpolated from each channel's own keys.
fn between(tracks: &Tracks, track: &JointTrack, values: &[Local]) -> Vec<Local> {
    let mut out = values.to_vec();
    for (which, (channel, first)) in CHANNELS.into_iter().enumerate() {
        let ChannelForm::Moving { timeline, hold } = track.forms[which] else { continue };
        let timeline = &tracks.timelines[timeline];
        for (i, &(key, t)) in timeline.cursors.iter().enumerate() {
            let t = if hold && t < 1.0 { 0.0 } else { t };
            let (a, b) = (timeline.at[key], timeline.at[key + 1]);
            let key = |at: usize| -> [f64; 4] {
                let used = first..first + channel.components();
                let mut key = [0.0; 4];
                for (v, c) in key.iter_mut().zip(used) {
                    *v = values[at / TIMES][c].0[at % TIMES];
                }
                key
            };
            let turns = channel == Channel::Rotation;
            let value = mix(turns, key(a), key(b), t);
            for (c, v) in value.into_iter().enumerate().take(channel.components()) {
                out[i / TIMES][first + c].0[i % TIMES] = v;
            }
        }
        super::tracks::fill_last(&mut out, tracks.times.len(), first..first + channel.components());
    }
    out
}

#[cfg(test)]
mod tests;
