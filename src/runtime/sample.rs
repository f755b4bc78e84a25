//! `SampleJob`: a clip at a time, as local transforms.

use super::channels;
use super::check::{JobError, at_least, parts, same_shape};
use crate::clip::{Block, BlockKind, Channel, Clip, ClipKind, Cursor};
use crate::evaluate::locate_all;
use crate::evaluate::quat::Floats;
use crate::evaluate::quat::unit;
use crate::evaluate::track::{Keys, Track, load};
use crate::math::{LANES, Row};
use crate::simd::{Kernel, Lanes, SimdLevel, dispatch, dispatch_portable};
use crate::skeleton::{Pose, Skeleton};
use fearless_simd::prelude::*;

/// Samples a clip at a time into a pose.
///
/// `time` is in seconds, in the clip's own period; before the first and after the last key of a timeline the end values
/// hold, and NaN counts as 0. Lanes without keys get the rest pose (in additive clips the identity). Sampled rotations
/// are normalised. Interpolation: glTF 2.0, appendix C.
#[derive(Debug)]
pub struct SampleJob<'a> {
    /// The skeleton that the clip was built for.
    pub skeleton: &'a Skeleton,
    /// The clip.
    pub clip: &'a Clip,
    /// Time in the clip, seconds.
    pub time: f32,
    /// Key hints, at least `clip.hint_count()`, updated by the run. Any values are valid; the values left by the last
    /// run are fastest.
    pub hints: &'a mut [u16],
    /// Scratch: at least one cursor per timeline of the clip.
    pub cursors: &'a mut [Cursor],
    /// The result, of the skeleton's shape.
    pub output: &'a mut Pose,
}

impl SampleJob<'_> {
    /// Checks skeleton and buffers, then samples.
    ///
    /// # Errors
    /// If the clip does not fit the skeleton or a buffer has not the size needed.
    pub fn run(self) -> Result<(), JobError> {
        self.run_at(SimdLevel::current())
    }

    /// [`run`](Self::run) at a given level.
    pub(crate) fn run_at(self, level: SimdLevel) -> Result<(), JobError> {
        self.check()?;
        dispatch(level, self);
        Ok(())
    }

    /// [`run`](Self::run) with the same bits on all machines.
    pub(crate) fn run_portable(self) -> Result<(), JobError> {
        self.check()?;
        dispatch_portable(self);
        Ok(())
    }

    fn check(&self) -> Result<(), JobError> {
        const NAME: &str = "SampleJob";
        if let Some(mismatch) = self.clip.skeleton().mismatch(self.skeleton) {
            return Err(JobError::Skeleton {
                job: NAME,
                clip: self.clip.name().to_owned(),
                mismatch,
            });
        }
        at_least(NAME, "hints", self.hints.len(), self.clip.hint_count())?;
        at_least(NAME, "cursors", self.cursors.len(), self.clip.timelines().len())?;
        let needed = self.skeleton.rest_pose().shape();
        same_shape(NAME, parts!("output"), self.output.shape(), needed)
    }
}

impl Kernel for SampleJob<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) {
        locate_all(self.clip, self.time, self.hints, self.cursors);
        sample_pose(simd, self.skeleton, self.clip, self.cursors, self.output);
    }
}

/// Writes every lane of `output`: sampled blocks from the clip, the others from the default pose.
#[inline(always)]
fn sample_pose<S: Lanes>(
    simd: S,
    skeleton: &Skeleton,
    clip: &Clip,
    cursors: &[Cursor],
    output: &mut Pose,
) {
    let rest = skeleton.rest_pose();
    let full = clip.kind() == ClipKind::Full;
    let keys = keys(clip, cursors);
    let [zero, one] = [0.0, 1.0].map(Row::splat);
    for (channel, rest, output, identity) in [
        (Channel::Translation, &rest.translation, &mut output.translation, zero),
        (Channel::Scale, &rest.scale, &mut output.scale, one),
    ] {
        let mut next = 0;
        for b in clip.blocks(channel) {
            let at = usize::from(b.block);
            fill(&mut output[next..at], &rest[next..at], full, [identity; 3]);
            for lane in (0..LANES).step_by(S::f32s::LEN) {
                let v: [_; 3] = vector(simd, channel, b, &keys, lane);
                store(&v, &mut output[at], lane);
            }
            next = at + 1;
        }
        fill(&mut output[next..], &rest[next..], full, [identity; 3]);
    }
    let mut next = 0;
    let identity = [zero, zero, zero, one];
    let (rest, rotation) = (&rest.rotation, &mut output.rotation);
    for b in clip.blocks(Channel::Rotation) {
        let at = usize::from(b.block);
        fill(&mut rotation[next..at], &rest[next..at], full, identity);
        for lane in (0..LANES).step_by(S::f32s::LEN) {
            let q = if b.kind == BlockKind::Constant {
                load(simd, keys.rows, b.first_row as usize, lane as u8)
            } else {
                let track = Track::of_block(b, Channel::Rotation, lane, S::f32s::LEN);
                track.rotation(simd, &keys, S::f32s::splat(simd, 1.0)).0
            };
            store(&unit(simd, &q), &mut rotation[at], lane);
        }
        next = at + 1;
    }
    fill(&mut rotation[next..], &rest[next..], full, identity);
    sample_scalars(simd, skeleton, clip, cursors, output);
}

/// Writes the scalars of `output`, which may be a pose without joints.
#[inline(always)]
pub(super) fn sample_scalars<S: Lanes>(
    simd: S,
    skeleton: &Skeleton,
    clip: &Clip,
    cursors: &[Cursor],
    output: &mut Pose,
) {
    let rest = &skeleton.rest_pose().scalars;
    let full = clip.kind() == ClipKind::Full;
    let keys = keys(clip, cursors);
    let zero = Row::splat(0.0);
    let scalars = &mut output.scalars;
    let mut next = 0;
    for b in clip.blocks(Channel::Scalar) {
        let at = usize::from(b.block);
        fill(&mut scalars[next..at], &rest[next..at], full, zero);
        for lane in (0..LANES).step_by(S::f32s::LEN) {
            let v: [_; 1] = vector(simd, Channel::Scalar, b, &keys, lane);
            store(&v, std::array::from_mut(&mut scalars[at]), lane);
        }
        next = at + 1;
    }
    fill(&mut scalars[next..], &rest[next..], full, zero);
    channels::finish_sample(clip, output);
}

/// Samples a register of lanes of a block that holds no rotations.
#[inline(always)]
fn vector<S: Lanes, const C: usize>(
    simd: S,
    channel: Channel,
    b: &Block,
    keys: &Keys<'_>,
    lane: usize,
) -> [S::f32s; C] {
    match b.kind {
        BlockKind::Constant => load(simd, keys.rows, b.first_row as usize, lane as u8),
        _ => Track::of_block(b, channel, lane, S::f32s::LEN).vector(simd, keys),
    }
}

/// The tables from which blocks are sampled. No track of a stored block reads constants.
#[inline(always)]
fn keys<'a>(clip: &'a Clip, cursors: &'a [Cursor]) -> Keys<'a> {
    Keys { rows: clip.rows(), packed: clip.packed(), constants: &[], cursors }
}

/// Stores the components of a register of lanes.
#[inline(always)]
fn store<S: Simd, V: Floats<S>, const C: usize>(v: &[V; C], rows: &mut [Row; C], lane: usize) {
    for (v, row) in v.iter().zip(rows) {
        v.store_slice(&mut row.0[lane..lane + V::LEN]);
    }
}

#[inline(always)]
fn fill<T: Copy>(output: &mut [T], rest: &[T], full: bool, identity: T) {
    if full {
        output.copy_from_slice(rest);
    } else {
        output.fill(identity);
    }
}

#[cfg(test)]
mod tests;
