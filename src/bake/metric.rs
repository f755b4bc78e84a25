//! The error metric: displacement of points around the joints between two clips.

use super::report::ErrorReport;
use super::shells::{Shell, rounding, shells};
use super::times::{key_times, near_peaks, sample_times};
use super::transforms::{Live, Local, Model, TIMES, V, apart, load, unit};
use super::{BakeError, BakeOptions, MAX_BAKED_KEYS, is_additive};
use crate::clip::{Channel, Clip, Cursor};
use crate::math::LANES;
use crate::runtime::SampleJob;
use crate::simd::{Kernel, Lanes, SimdLevel, dispatch};
use crate::skeleton::{Pose, Skeleton, SkeletonMismatch, Trs};
use fearless_simd::prelude::*;

/// Share of the error bound that the optimiser may use. The rest is for times between keys.
pub(super) const MARGIN: f64 = 0.97;
/// Share of the largest measured error that is added for the times between those measured: an allowance, not a proof.
/// Between two keys the error of a point is a sum of vectors that each change about linearly and rotate with a joint.
/// If all rotate together the sum is largest at a key; if not, it may rise between two measured times, which is why
/// more times are measured around the largest errors.
pub(super) const BETWEEN: f64 = 0.02;

/// Bytes of raw data per joint and frame.
const RAW_BYTES: usize = 40;

/// Measures a baked clip against the raw one.
///
/// The error of a joint at a time is the largest distance in model space between the positions that the two clips give
/// three points on a shell around the joint (the metric of ACL). The points lie on the joint's axes in the raw clip at
/// that time, at the shell's distance in model space; if the clip shrinks a joint below a hundredth of its largest size,
/// its shell shrinks too. The error is measured at all key times of the raw clip and at times between them, more of these
/// where joints rotate far. Additive clips are measured on top of the rest pose.
///
/// Both clips are sampled by the portable kernels, so the result is the same on every machine. Other SIMD
/// levels round differently, by about 1e-7 of the model's size.
///
/// # Errors
/// If a setting is out of range, the raw clip does not fit the skeleton or is larger than [`MAX_BAKED_KEYS`], the
/// skeletons of the clips differ in more than the lane order, or the clips differ in kind or duration.
pub fn measure_error(
    raw: &Clip,
    built: &Clip,
    skeleton: &Skeleton,
    settings: &BakeOptions,
) -> Result<ErrorReport, BakeError> {
    settings.check(skeleton)?;
    check(raw, skeleton)?;
    let mismatch = built.skeleton().mismatch(skeleton);
    if let Some(mismatch) = mismatch.filter(|m| *m != SkeletonMismatch::LaneOrder) {
        let clip = built.name().to_owned();
        return Err(BakeError::Skeleton { clip, mismatch });
    }
    Ok(measure((raw, skeleton), built, settings)?.0)
}

/// The report, and the largest error weighted by the joints' settings, which can be compared with the clip's bound.
pub(super) fn measure(
    (raw, skeleton): (&Clip, &Skeleton),
    built: &Clip,
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
    let shells = shells(raw, skeleton, settings);
    let rounding = rounding(raw, skeleton, &shells);
    let joints = skeleton.len();
    let mut measuring = Measuring {
        samplers: [Sampler::new(raw, skeleton), Sampler::new(built, built.skeleton())],
        ranges: scalar_ranges(raw, skeleton),
        parents: skeleton.parents(),
        shells: &shells,
        rounding,
        locals: [vec![[V::ZERO; 10]; joints], vec![[V::ZERO; 10]; joints]],
        models: vec![[Model::ZERO; 2]; joints],
        squares: vec![V::ZERO; joints],
        report: ErrorReport { max: rounding as f32, ..ErrorReport::default() },
        weighted: 0.0,
    };
    let mut errors = Vec::with_capacity(times.len() * joints);
    measuring.run(&times, &mut errors)?;
    measuring.run(&near_peaks(&times, &errors, joints), &mut Vec::new())?;
    let Measuring { mut report, weighted, .. } = measuring;
    report.samples = errors.len();
    let sum: f64 = errors.iter().map(|&e| f64::from(e)).sum();
    report.mean = (sum / errors.len().max(1) as f64) as f32;
    if !errors.is_empty() {
        let at = (errors.len() * 99 / 100).min(errors.len() - 1);
        report.p99 = *errors.select_nth_unstable_by(at, f32::total_cmp).1;
    }
    let frames = raw.timelines().map(<[f32]>::len).max().unwrap_or(1);
    report.measure_size(built, RAW_BYTES * joints * frames);
    Ok((report, weighted))
}

/// Two clips that are compared, and the errors found so far.
struct Measuring<'a> {
    samplers: [Sampler<'a>; 2],
    ranges: Vec<[f32; 2]>,
    parents: &'a [u16],
    shells: &'a [Shell],
    rounding: f64,
    locals: [Vec<Local>; 2],
    models: Vec<[Model; 2]>,
    squares: Vec<V>,
    report: ErrorReport,
    /// The largest error, weighted by the joints' settings.
    weighted: f32,
}

impl Measuring<'_> {
    /// Compares at some times. Appends the errors of all joints, time by time.
    fn run(&mut self, times: &[f32], errors: &mut Vec<f32>) -> Result<(), BakeError> {
        let report = &mut self.report;
        for chunk in times.chunks(TIMES) {
            for i in 0..TIMES {
                let time = chunk[i.min(chunk.len() - 1)];
                for (sampler, locals) in self.samplers.iter_mut().zip(&mut self.locals) {
                    sampler.sample(time)?;
                    sampler.write(i, locals);
                }
                let [absolute, relative] = scalar_errors(&self.samplers, &self.ranges);
                report.scalar_max = worse(report.scalar_max, absolute);
                report.scalar_relative = worse(report.scalar_relative, relative);
            }
            let kernel = Distances {
                parents: self.parents,
                shells: self.shells,
                locals: &self.locals,
                models: &mut self.models,
                squares: &mut self.squares,
            };
            dispatch(SimdLevel::current(), kernel);
            for (i, &time) in chunk.iter().enumerate() {
                for (joint, square) in self.squares.iter().enumerate() {
                    let distance = square.0[i].sqrt();
                    let error = distance as f32;
                    errors.push(error);
                    let bound = distance * (1.0 + BETWEEN) + self.rounding;
                    let weighted = (bound * self.shells[joint].weight) as f32;
                    self.weighted = worse(self.weighted, weighted);
                    if error > report.measured || error.is_nan() {
                        report.measured = error;
                        report.max = bound as f32;
                        report.worst_joint = joint as u16;
                        report.worst_time = time;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Checks that a clip fits a skeleton and is not larger than [`MAX_BAKED_KEYS`].
pub(super) fn check(clip: &Clip, skeleton: &Skeleton) -> Result<(), BakeError> {
    let (times, joints) = (key_times(clip).len(), skeleton.len());
    if times.saturating_mul(joints) > MAX_BAKED_KEYS {
        return Err(BakeError::TooLarge { clip: clip.name().to_owned(), times, joints });
    }
    Sampler::new(clip, skeleton).sample(0.0)
}

/// A clip with the scratch data of the sample job.
pub(super) struct Sampler<'a> {
    skeleton: &'a Skeleton,
    clip: &'a Clip,
    hints: Vec<u16>,
    cursors: Vec<Cursor>,
    pose: Pose,
}

impl<'a> Sampler<'a> {
    pub fn new(clip: &'a Clip, skeleton: &'a Skeleton) -> Self {
        Self {
            skeleton,
            clip,
            hints: vec![0; clip.hint_count()],
            cursors: vec![Cursor::default(); clip.timelines().len()],
            pose: skeleton.rest_pose().clone(),
        }
    }

    pub fn sample(&mut self, time: f32) -> Result<(), BakeError> {
        let job = SampleJob {
            skeleton: self.skeleton,
            clip: self.clip,
            time,
            hints: &mut self.hints,
            cursors: &mut self.cursors,
            output: &mut self.pose,
        };
        // Whether the bound is reached, and so the baked clip, must not depend on the machine.
        Ok(job.run_portable()?)
    }

    /// The local transform of a joint that was sampled, on top of the rest pose if the clip is additive.
    pub fn local(&self, joint: usize) -> [f32; 10] {
        let lane = usize::from(self.skeleton.lane_of()[joint]);
        let mut trs = self.pose.lane(lane);
        if is_additive(self.clip) {
            trs = added(&self.skeleton.rest(joint), &trs);
        }
        trs.to_array()
    }

    /// Writes the sampled pose at one of eight times.
    fn write(&self, at: usize, locals: &mut [Local]) {
        for (joint, local) in locals.iter_mut().enumerate() {
            for (v, x) in local.iter_mut().zip(self.local(joint)) {
                v.0[at] = f64::from(x);
            }
        }
    }
}

pub(super) fn added(rest: &Trs, d: &Trs) -> Trs {
    Trs {
        translation: rest.translation + d.translation,
        rotation: rest.rotation * d.rotation,
        scale: rest.scale * d.scale,
    }
}

/// For each scalar, the divisor of its errors, and the rounding error of f32.
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
        let over = if error <= *rounded { 0.0 } else { error - rounded };
        largest = [worse(largest[0], error), worse(largest[1], over / range)];
    }
    largest
}

struct Distances<'a> {
    parents: &'a [u16],
    shells: &'a [Shell],
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
            let [raw, built] = &pair;
            let square = apart(simd, &raw.matrix, &built.matrix, &self.shells[joint]);
            square.store_array(&mut self.squares[joint].0);
        }
    }
}
