//! The error metric: displacement of points around the joints between two clips.

use super::report::{ErrorReport, TrackBytes};
use super::transforms::{Live, Local, Model, TIMES, V, apart, load, unit};
use super::{BakeError, BakeOptions, MAX_BAKED_KEYS, is_additive};
use crate::clip::{Block, BlockKind, Channel, Clip, Cursor};
use crate::math::LANES;
use crate::runtime::SampleJob;
use crate::simd::{Kernel, Lanes, SimdLevel, dispatch};
use crate::skeleton::{Pose, Skeleton, SkeletonMismatch, Trs};
use fearless_simd::prelude::*;

/// Share of the error bound that the optimiser may use. The rest is for the f32 arithmetic of sampling
/// (measured: 1e-7 m) and for times between keys.
pub(super) const MARGIN: f64 = 0.985;

/// Bytes of raw data per joint and frame.
const RAW_BYTES: usize = 40;

/// Measures a baked clip against the raw one.
///
/// The error of a joint at a time is the largest distance in model space between the positions that the
/// two clips give three points on a shell around the joint (the metric of ACL). It is measured at all key
/// times of the raw clip and at times between them. Additive clips are measured on top of the rest pose.
///
/// Both clips are sampled by the portable kernels, so the result is the same on every machine. Other SIMD
/// levels round differently, by about 1e-7 of the model's size.
///
/// # Errors
/// If a setting is out of range, a clip does not fit the skeleton, the raw clip is larger than
/// [`MAX_BAKED_KEYS`], or the clips differ in kind or duration.
pub fn measure_error(
    raw: &Clip,
    built: &Clip,
    skeleton: &Skeleton,
    settings: &BakeOptions,
) -> Result<ErrorReport, BakeError> {
    measure_error_across((raw, skeleton), (built, skeleton), settings)
}

/// As [`measure_error`], for clips of one skeleton in two lane orders.
///
/// # Errors
/// As [`measure_error`], and if the skeletons differ in more than their lane order.
pub fn measure_error_across(
    raw: (&Clip, &Skeleton),
    built: (&Clip, &Skeleton),
    settings: &BakeOptions,
) -> Result<ErrorReport, BakeError> {
    settings.check(raw.1)?;
    check(raw.0, raw.1)?;
    let mismatch = built.1.mismatch(raw.1);
    if let Some(mismatch) = mismatch.filter(|m| *m != SkeletonMismatch::LaneOrder) {
        let clip = built.0.name().to_owned();
        return Err(BakeError::Skeleton { clip, mismatch });
    }
    Ok(measure(raw, built, settings)?.0)
}

/// The report, and the largest error weighted by the joints' settings, which is comparable with the
/// clip's bound.
pub(super) fn measure(
    (raw, skeleton): (&Clip, &Skeleton),
    (built, other): (&Clip, &Skeleton),
    settings: &BakeOptions,
) -> Result<(ErrorReport, f32), BakeError> {
    let different = |what, have, needed| BakeError::Different {
        clip: built.name().to_owned(),
        what,
        have,
        needed,
    };
    if raw.kind() != built.kind() {
        let kind = |clip: &Clip| clip.kind().to_string();
        return Err(different("the kind", kind(built), kind(raw)));
    }
    if raw.duration() != built.duration() {
        let seconds = |clip: &Clip| format!("{} s", clip.duration());
        return Err(different("the duration", seconds(built), seconds(raw)));
    }
    let times = sample_times(raw);
    let mut samplers = [Sampler::new(raw, skeleton), Sampler::new(built, other)];
    let ranges = scalar_ranges(raw, skeleton);
    let shells = settings.shells(skeleton);
    let joints = skeleton.len();
    let mut locals = [vec![[V::ZERO; 10]; joints], vec![[V::ZERO; 10]; joints]];
    let mut models = vec![[Model::ZERO; 2]; joints];
    let mut squares = vec![V::ZERO; joints];
    let mut errors = Vec::with_capacity(times.len() * joints);
    let mut report = ErrorReport::default();
    let mut weighted = 0.0;
    for chunk in times.chunks(TIMES) {
        for i in 0..TIMES {
            let time = chunk[i.min(chunk.len() - 1)];
            for (sampler, locals) in samplers.iter_mut().zip(&mut locals) {
                sampler.sample(time)?;
                sampler.write(i, locals);
            }
            let [absolute, relative] = scalar_errors(&samplers, &ranges);
            report.scalar_max = worse(report.scalar_max, absolute);
            report.scalar_relative = worse(report.scalar_relative, relative);
        }
        let kernel = Distances {
            parents: skeleton.parents(),
            shells: &shells,
            locals: &locals,
            models: &mut models,
            squares: &mut squares,
        };
        dispatch(SimdLevel::current(), kernel);
        for (i, &time) in chunk.iter().enumerate() {
            for (joint, square) in squares.iter().enumerate() {
                let distance = square.0[i].sqrt();
                let error = distance as f32;
                errors.push(error);
                weighted = worse(weighted, (distance * shells[joint].1) as f32);
                if error > report.max || error.is_nan() {
                    report.max = error;
                    report.worst_joint = joint as u16;
                    report.worst_time = time;
                }
            }
        }
    }
    report.samples = errors.len();
    let sum: f64 = errors.iter().map(|&e| f64::from(e)).sum();
    report.mean = (sum / errors.len().max(1) as f64) as f32;
    if !errors.is_empty() {
        let at = (errors.len() * 99 / 100).min(errors.len() - 1);
        report.p99 = *errors.select_nth_unstable_by(at, f32::total_cmp).1;
    }
    report.bytes = TrackBytes::of(built);
    report.raw_bytes = RAW_BYTES * joints * frames(raw);
    Ok((report, weighted))
}

/// Checks that a clip fits a skeleton and is not larger than [`MAX_BAKED_KEYS`].
pub(super) fn check(clip: &Clip, skeleton: &Skeleton) -> Result<(), BakeError> {
    let (times, joints) = (key_times(clip).len(), skeleton.len());
    if times.saturating_mul(joints) > MAX_BAKED_KEYS {
        return Err(BakeError::TooLarge {
            clip: clip.name().to_owned(),
            times,
            joints,
        });
    }
    Sampler::new(clip, skeleton).sample(0.0)
}

/// Number of frames of a clip: keys of its longest timeline.
pub(super) fn frames(clip: &Clip) -> usize {
    let keys = clip.timelines().iter().map(|t| t.len as usize);
    keys.max().unwrap_or(1)
}

/// All distinct key times of a clip, sorted.
pub(super) fn key_times(clip: &Clip) -> Vec<f32> {
    let mut times: Vec<f32> = match clip.timelines() {
        [] => vec![0.0],
        all => all.iter().flat_map(|t| clip.times(t)).copied().collect(),
    };
    times.sort_by(f32::total_cmp);
    times.dedup();
    times
}

/// Where normalised lerp is farthest from slerp between two keys; in the middle both agree. The two
/// positions alternate, since measuring both would cost half as much again.
const BESIDE: [f32; 2] = [0.21, 0.79];
/// Where cubic curves are measured between keys.
const QUARTERS: [f32; 3] = [0.25, 0.5, 0.75];

/// The times to measure: all key times and one time between each two; quarters if there are cubic curves.
/// With stepped lanes also the last moment before each key, where other lanes differ most from the step.
fn sample_times(clip: &Clip) -> Vec<f32> {
    let keys = key_times(clip);
    let has = |what: fn(&Block) -> bool| {
        Channel::ALL
            .iter()
            .any(|&c| clip.blocks(c).iter().any(what))
    };
    let (cubic, held) = (has(|b| b.kind == BlockKind::Cubic), has(|b| b.hold != 0));
    let mut times = Vec::with_capacity(keys.len() * if cubic { 5 } else { 3 });
    for (pair, &beside) in keys.windows(2).zip(BESIDE.iter().cycle()) {
        let parts = if cubic { &QUARTERS[..] } else { &[beside] };
        times.push(pair[0]);
        times.extend(parts.iter().map(|t| pair[0] + (pair[1] - pair[0]) * t));
        times.extend(held.then(|| pair[1].next_down()));
    }
    times.extend(keys.last());
    times
}

/// A clip with the scratch data of the sample job.
struct Sampler<'a> {
    skeleton: &'a Skeleton,
    clip: &'a Clip,
    hints: Vec<u16>,
    cursors: Vec<Cursor>,
    pose: Pose,
}

impl<'a> Sampler<'a> {
    fn new(clip: &'a Clip, skeleton: &'a Skeleton) -> Self {
        Self {
            skeleton,
            clip,
            hints: vec![0; clip.hint_count()],
            cursors: vec![Cursor::default(); clip.timelines().len()],
            pose: skeleton.new_pose(),
        }
    }

    fn sample(&mut self, time: f32) -> Result<(), BakeError> {
        let job = SampleJob {
            skeleton: self.skeleton,
            clip: self.clip,
            time,
            hints: &mut self.hints,
            cursors: &mut self.cursors,
            output: &mut self.pose,
        };
        // Always portable: whether the bound is reached, and so the baked clip, must not depend on the
        // machine.
        Ok(job.run_at(SimdLevel::Portable)?)
    }

    /// Writes the sampled pose at one of eight times.
    fn write(&self, at: usize, locals: &mut [Local]) {
        for (joint, local) in locals.iter_mut().enumerate() {
            let lane = usize::from(self.skeleton.lane_of()[joint]);
            let mut trs = self.pose.lane(lane);
            if is_additive(self.clip) {
                trs = added(&self.skeleton.rest(joint), &trs);
            }
            for (v, x) in local.iter_mut().zip(trs.to_array()) {
                v.0[at] = f64::from(x);
            }
        }
    }
}

/// The rest pose with a difference added to it.
pub(super) fn added(rest: &Trs, d: &Trs) -> Trs {
    Trs {
        translation: rest.translation + d.translation,
        rotation: rest.rotation * d.rotation,
        scale: rest.scale * d.scale,
    }
}

/// Per scalar: the divisor of its errors, and the rounding error of f32.
fn scalar_ranges(raw: &Clip, skeleton: &Skeleton) -> Vec<[f32; 2]> {
    let mut ranges = vec![[1.0, 0.0]; skeleton.rest_pose().scalar_blocks() * LANES];
    for b in raw.blocks(Channel::Scalar) {
        for l in 0..LANES {
            let [[low, high], ..] = raw.reach(Channel::Scalar, b, l);
            if let Some(range) = ranges.get_mut(usize::from(b.block) * LANES + l) {
                let rounded = low.abs().max(high.abs()) * (4.0 * f32::EPSILON);
                *range = [(high - low).max(1.0), rounded];
            }
        }
    }
    ranges
}

/// The larger error; NaN counts as the largest.
fn worse(a: f32, b: f32) -> f32 {
    if a.is_nan() || a >= b { a } else { b }
}

/// The largest difference of a scalar, absolute and relative to its range.
fn scalar_errors([a, b]: &[Sampler<'_>; 2], ranges: &[[f32; 2]]) -> [f32; 2] {
    let rows = a.pose.scalars.iter().zip(&b.pose.scalars);
    let apart = rows.flat_map(|(a, b)| a.0.iter().zip(&b.0).map(|(a, b)| (a - b).abs()));
    let mut largest = [0.0; 2];
    for (error, [range, rounded]) in apart.zip(ranges) {
        let over = if error <= *rounded {
            0.0
        } else {
            error - rounded
        };
        largest = [worse(largest[0], error), worse(largest[1], over / range)];
    }
    largest
}

struct Distances<'a> {
    parents: &'a [u16],
    shells: &'a [(f64, f64)],
    locals: &'a [Vec<Local>; 2],
    models: &'a mut [[Model; 2]],
    squares: &'a mut [V],
}

impl Kernel for Distances<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) {
        for (joint, &parent) in self.parents.iter().enumerate() {
            let (before, after) = self.models.split_at_mut(joint);
            // Roots have parent u16::MAX, which is never in range.
            let above = before.get(usize::from(parent));
            let mut pair = [Live::root(simd); 2];
            let mut which = 0;
            while which < 2 {
                let mut local = load(simd, &self.locals[which][joint]);
                let q = unit(&[local[3], local[4], local[5], local[6]]);
                local[3..7].copy_from_slice(&q);
                let above = above.map_or(Live::root(simd), |a| Live::load(simd, &a[which]));
                pair[which] = above.below(&Live::own(simd, &local));
                pair[which].store(&mut after[0][which]);
                which += 1;
            }
            let (shell, _) = self.shells[joint];
            let square = apart(simd, &pair[0].matrix, &pair[1].matrix, shell);
            square.store_array(&mut self.squares[joint].0);
        }
    }
}
