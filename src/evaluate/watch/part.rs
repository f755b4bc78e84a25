//! `WatchPart`: the entries of watched joints, written by several workers.

use super::{Scratch, Sources, Stamp};
use crate::math::Affine3x4;
use crate::simd::Lanes;

/// The entries of a range of instances, writable.
#[derive(Debug, Default)]
pub(crate) struct WatchPart<'a> {
    /// First entry of each instance of the pool.
    pub(super) first: &'a [usize],
    pub(super) joints: &'a [u16],
    /// Number of each instance's entries before the stage.
    pub(super) before: usize,
    /// The first instance of the range.
    pub(super) start: usize,
    /// Matrices of the range.
    pub(super) models: &'a mut [Affine3x4],
    pub(super) stamps: &'a mut [Stamp],
    pub(super) now: Stamp,
}

impl WatchPart<'_> {
    /// Splits the range behind its first `count` instances.
    pub fn split(self, count: usize) -> (Self, Self) {
        let at = self.entry(self.start + count);
        let (models_a, models_b) = self.models.split_at_mut(at.min(self.models.len()));
        let (stamps_a, stamps_b) = self.stamps.split_at_mut(count.min(self.stamps.len()));
        let a = Self { models: models_a, stamps: stamps_a, ..self };
        let b = Self { start: self.start + count, models: models_b, stamps: stamps_b, ..self };
        (a, b)
    }

    /// Whether no instance of the range has entries.
    pub fn is_empty(&self) -> bool {
        self.models.is_empty()
    }

    /// Index of an instance's first entry in `models`.
    #[inline(always)]
    fn entry(&self, instance: usize) -> usize {
        match (self.first.get(instance), self.first.get(self.start)) {
            (Some(at), Some(start)) => at - start,
            _ => 0,
        }
    }

    /// Whether an instance has entries that this evaluation has not written.
    pub fn lacks(&self, index: usize) -> bool {
        let now = |stamp: &Stamp| *stamp == self.now;
        self.entry(index + 1) > self.entry(index)
            && !self.stamps.get(index - self.start).is_some_and(now)
    }

    /// Writes the entries of an instance after its run.
    #[inline(always)]
    pub fn take<S: Lanes>(
        &mut self,
        simd: S,
        (sources, scratch, staged): (&Sources<'_>, &Scratch, bool),
        index: usize,
        palette: &[Affine3x4],
    ) {
        if let Some(stamp) = self.stamps.get_mut(index - self.start) {
            *stamp = self.now;
        }
        let joints = self.first[index]..self.first[index + 1];
        let models = self.entry(index)..self.entry(index + 1);
        let joints = (&self.joints[joints], self.before);
        let out = &mut self.models[models];
        matrices(simd, (sources, scratch, staged), joints, palette, out);
    }
}

/// Writes the matrices of an instance's entries after a run, of which the last `before` are before the stage. `staged`:
/// whether the run had a stage.
#[inline(always)]
pub(super) fn matrices<S: Lanes>(
    simd: S,
    (sources, scratch, staged): (&Sources<'_>, &Scratch, bool),
    (joints, before): (&[u16], usize),
    palette: &[Affine3x4],
    out: &mut [Affine3x4],
) {
    let after = joints.len() - before;
    let mut at = 0;
    while at < joints.len().min(out.len()) {
        match staged && at >= after {
            true => out[at] = sources.before.model(scratch, at - after),
            false => scratch.model(simd, sources, (joints[at].into(), palette), &mut out[at]),
        }
        at += 1;
    }
}
