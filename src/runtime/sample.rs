//! `SampleJob`: a clip at a time, as local transforms.

use super::channels;
use super::error::{JobError, at_least, same_shape};
use super::quat::{self, dot4, from_steps, hermite, lerp, packed_lerp, packed_slerp, slerp, unit};
use super::vector::{lanes, load, store, store_all};
use crate::clip::timeline::{locate_hinted, locate_regular};
use crate::clip::{Block, BlockKind, Channel, Clip, ClipKind, Cursor, Encoding};
use crate::math::Row;
use crate::simd::{Kernel, Lanes, SimdLevel, Widen, dispatch, each};
use crate::skeleton::{Pose, Skeleton};
use fearless_simd::{f32x16, prelude::*};

/// Samples a clip at a time into a pose.
///
/// `time` is in seconds, in the clip's own period; before the first and after the last key of a
/// timeline the end values hold, and NaN counts as 0. Lanes without keys become the rest pose
/// (additive clips: the identity). Rotations leave normalised. Interpolation: glTF 2.0, appendix C.
#[derive(Debug)]
pub struct SampleJob<'a> {
    /// The skeleton that the clip was built for.
    pub skeleton: &'a Skeleton,
    /// The clip.
    pub clip: &'a Clip,
    /// Seconds.
    pub time: f32,
    /// Key hints, at least `clip.hint_count()`; any values are valid, good ones are faster.
    pub hints: &'a mut [u16],
    /// Scratch: at least one cursor per timeline of the clip.
    pub cursors: &'a mut [Cursor],
    /// The result, of the skeleton's shape.
    pub output: &'a mut Pose,
}

impl SampleJob<'_> {
    const NAME: &'static str = "SampleJob";

    /// Checks buffers and skeleton.
    ///
    /// # Errors
    /// If the clip does not fit the skeleton or a buffer has not the size needed.
    pub fn validate(&self) -> Result<(), JobError> {
        if !self.clip.fits(self.skeleton) {
            let structure = self.clip.structure_hash() != self.skeleton.structure_hash();
            let pick = |s, l| if structure { s } else { l };
            return Err(JobError::Skeleton {
                job: Self::NAME,
                clip: self.clip.name().to_owned(),
                have: pick(self.clip.structure_hash(), self.clip.layout_hash()),
                needed: pick(self.skeleton.structure_hash(), self.skeleton.layout_hash()),
            });
        }
        at_least(
            Self::NAME,
            "hints",
            self.hints.len(),
            self.clip.hint_count(),
        )?;
        at_least(
            Self::NAME,
            "cursors",
            self.cursors.len(),
            self.clip.timelines().len(),
        )?;
        same_shape(
            Self::NAME,
            [
                "output.translation",
                "output.rotation",
                "output.scale",
                "output.scalars",
            ],
            self.output.shape(),
            self.skeleton.rest_pose().shape(),
        )
    }

    /// Validates, then samples.
    ///
    /// # Errors
    /// Those of [`SampleJob::validate`].
    pub fn run(self) -> Result<(), JobError> {
        self.run_at(SimdLevel::current())
    }

    /// As [`run`](Self::run), with another instruction set than the one in force.
    pub(crate) fn run_at(self, level: SimdLevel) -> Result<(), JobError> {
        self.validate()?;
        dispatch(level, SampleKernel(self));
        Ok(())
    }
}

struct SampleKernel<'a>(SampleJob<'a>);

impl Kernel for SampleKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) {
        let job = self.0;
        locate_all(job.clip, job.time, job.hints, job.cursors);
        sample_pose(simd, job.skeleton, job.clip, job.cursors, job.output);
    }
}

/// Finds the interval of `time` on every timeline of the clip.
#[inline(always)]
pub(crate) fn locate_all(clip: &Clip, time: f32, hints: &mut [u16], cursors: &mut [Cursor]) {
    for (timeline, cursor) in clip.timelines.iter().zip(cursors) {
        let times = clip.times(timeline);
        *cursor = match timeline.hint {
            None => locate_regular(times, timeline.rate, time),
            Some(slot) => locate_hinted(times, &mut hints[usize::from(slot)], time),
        };
    }
}

/// Writes every lane of `output`: sampled blocks from the clip, the others from the default pose.
#[inline(always)]
pub(crate) fn sample_pose<S: Widen>(
    simd: S,
    skeleton: &Skeleton,
    clip: &Clip,
    cursors: &[Cursor],
    output: &mut Pose,
) {
    let rest = skeleton.rest_pose();
    let full = clip.kind() == ClipKind::Full;
    let keys = Keys::of(clip);
    let zero = Row::splat(0.0);
    let one = Row::splat(1.0);

    let mut next = 0;
    for b in clip.blocks(Channel::Translation) {
        let at = usize::from(b.block);
        fill(
            &mut output.translation[next..at],
            &rest.translation[next..at],
            full,
            [zero; 3],
        );
        store_all(
            sample_vector::<S, 3>(simd, keys, b, cursors),
            &mut output.translation[at],
        );
        next = at + 1;
    }
    fill(
        &mut output.translation[next..],
        &rest.translation[next..],
        full,
        [zero; 3],
    );

    next = 0;
    let identity = [zero, zero, zero, one];
    for b in clip.blocks(Channel::Rotation) {
        let at = usize::from(b.block);
        fill(
            &mut output.rotation[next..at],
            &rest.rotation[next..at],
            full,
            identity,
        );
        let q = sample_rotation(simd, keys, b, cursors);
        store_all(unit(simd, &q), &mut output.rotation[at]);
        next = at + 1;
    }
    fill(
        &mut output.rotation[next..],
        &rest.rotation[next..],
        full,
        identity,
    );

    next = 0;
    for b in clip.blocks(Channel::Scale) {
        let at = usize::from(b.block);
        fill(
            &mut output.scale[next..at],
            &rest.scale[next..at],
            full,
            [one; 3],
        );
        store_all(
            sample_vector::<S, 3>(simd, keys, b, cursors),
            &mut output.scale[at],
        );
        next = at + 1;
    }
    fill(
        &mut output.scale[next..],
        &rest.scale[next..],
        full,
        [one; 3],
    );

    sample_scalars(simd, skeleton, clip, cursors, output);
}

/// Writes the scalars of `output`, whose joints may be missing.
#[inline(always)]
pub(crate) fn sample_scalars<S: Widen>(
    simd: S,
    skeleton: &Skeleton,
    clip: &Clip,
    cursors: &[Cursor],
    output: &mut Pose,
) {
    let rest = skeleton.rest_pose();
    let full = clip.kind() == ClipKind::Full;
    let keys = Keys::of(clip);
    let zero = Row::splat(0.0);
    let mut next = 0;
    for b in clip.blocks(Channel::Scalar) {
        let at = usize::from(b.block);
        fill(
            &mut output.scalars[next..at],
            &rest.scalars[next..at],
            full,
            zero,
        );
        let [v] = sample_vector::<S, 1>(simd, keys, b, cursors);
        store(v, &mut output.scalars[at]);
        next = at + 1;
    }
    fill(
        &mut output.scalars[next..],
        &rest.scalars[next..],
        full,
        zero,
    );
    channels::finish_sample(clip, output);
}

#[inline(always)]
fn fill<T: Copy>(output: &mut [T], rest: &[T], full: bool, identity: T) {
    if full {
        output.copy_from_slice(rest);
    } else {
        output.fill(identity);
    }
}

/// What a clip's blocks are read from, looked up once.
#[derive(Clone, Copy)]
pub(crate) struct Keys<'a> {
    pub rows: &'a [Row],
    pub packed: &'a [u16],
}

impl<'a> Keys<'a> {
    #[inline(always)]
    pub fn of(clip: &'a Clip) -> Self {
        Self {
            rows: clip.rows(),
            packed: clip.packed(),
        }
    }
}

#[inline(always)]
fn load_key<S: Widen, const C: usize>(simd: S, rows: &[Row], first: usize) -> [f32x16<S>; C] {
    let rows = &rows[first..first + C];
    each!(f32x16::splat(simd, 0.0); C; c => load(simd, &rows[c]))
}

/// The way between the keys, per lane: lanes that hold stay at 0 until the last key is reached.
#[inline(always)]
fn alpha_of<S: Widen>(simd: S, b: &Block, cursor: Cursor) -> f32x16<S> {
    let alpha = f32x16::splat(simd, cursor.alpha);
    if b.hold == 0 {
        return alpha;
    }
    let held = if cursor.alpha >= 1.0 { 1.0 } else { 0.0 };
    lanes(simd, b.hold).select(f32x16::splat(simd, held), alpha)
}

/// Samples a block of `C` components without normalising.
#[inline(always)]
fn sample_vector<S: Widen, const C: usize>(
    simd: S,
    keys: Keys<'_>,
    b: &Block,
    cursors: &[Cursor],
) -> [f32x16<S>; C] {
    let (rows, first) = (keys.rows, b.first_row as usize);
    if b.kind == BlockKind::Constant {
        return load_key(simd, rows, first);
    }
    let cursor = cursors[b.timeline as usize];
    let t = alpha_of(simd, b, cursor);
    if b.kind == BlockKind::Cubic {
        let at = first + cursor.key as usize * 3 * C;
        let key = |part: usize| load_key(simd, rows, at + part * C);
        return hermite(simd, [key(1), key(2), key(3), key(4)], t);
    }
    if let Encoding::Packed { first, lanes } = b.encoding {
        let [k0, k1] = packed_keys::<S, C>(simd, keys, (first, lanes), cursor.key);
        let (least, step) = ranges(simd, keys, b);
        return from_steps(simd, &least, step, &packed_lerp(simd, &k0, &k1, t));
    }
    let at = first + cursor.key as usize * C;
    let k0: [_; C] = load_key(simd, rows, at);
    let k1: [_; C] = load_key(simd, rows, at + C);
    lerp(simd, &k0, &k1, t)
}

/// The integers of a key and of the next, as floats. What lies behind the lanes that are stored has
/// step 0.
#[inline(always)]
fn packed_keys<S: Widen, const C: usize>(
    simd: S,
    keys: Keys<'_>,
    (first, lanes): (u32, u8),
    key: u32,
) -> [[f32x16<S>; C]; 2] {
    let at = first as usize + key as usize * C * usize::from(lanes);
    simd.widen_rows(&keys.packed[at..], lanes)
}

/// The least values and the steps of a packed block.
#[inline(always)]
fn ranges<S: Widen, const C: usize>(
    simd: S,
    keys: Keys<'_>,
    b: &Block,
) -> ([f32x16<S>; C], f32x16<S>) {
    let first = b.first_row as usize;
    let ranges = &keys.rows[first..first + C + 1];
    (load_key(simd, ranges, 0), load(simd, &ranges[C]))
}

/// Samples a block of rotations; the result is not normalised.
#[inline(always)]
fn sample_rotation<S: Widen>(
    simd: S,
    keys: Keys<'_>,
    b: &Block,
    cursors: &[Cursor],
) -> [f32x16<S>; 4] {
    match b.kind {
        BlockKind::Slerp => {}
        BlockKind::Cubic => return quat::guard(simd, sample_vector(simd, keys, b, cursors)),
        _ => return sample_vector(simd, keys, b, cursors),
    }
    let cursor = cursors[b.timeline as usize];
    if let Encoding::Packed { first, lanes } = b.encoding {
        let [k0, k1] = packed_keys::<S, 4>(simd, keys, (first, lanes), cursor.key);
        let (least, step) = ranges(simd, keys, b);
        let k = packed_slerp(simd, &k0, &k1, step, alpha_of(simd, b, cursor));
        return from_steps(simd, &least, step, &k);
    }
    let (rows, at) = (keys.rows, b.first_row as usize + cursor.key as usize * 4);
    let k0: [_; 4] = load_key(simd, rows, at);
    let k1: [_; 4] = load_key(simd, rows, at + 4);
    let e = f32x16::splat(simd, 1.0) - dot4(&k0, &k1);
    let t = slerp(simd, e, alpha_of(simd, b, cursor));
    lerp(simd, &k0, &k1, t)
}

#[cfg(test)]
mod tests;
