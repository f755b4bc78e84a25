//! Limits of the sampling of folded joints: its error and its work.

use crate::build::curve::Curve;
use crate::clip::MAX_IRREGULAR_KEYS;
use crate::retarget::sampler::{Closeness, Sampling, Value};
use crate::retarget::track::Keys;
use glam::{DQuat, DVec3};
use std::cell::Cell;

/// Largest error of an interval, radians (0.002 degrees).
const ROTATION: f64 = 4e-5;

/// Largest error of an interval, as a share of the target's size: 0.02 mm of a character of 2 m.
const TRANSLATION: f64 = 1e-5;

/// Limit on the local transforms that binding one clip evaluates. A take of ten minutes at 120 Hz with ten folded joints
/// needs 2^24.
pub const MAX_WORK: usize = 1 << 26;

/// The remaining work of a clip, in local transforms.
pub struct Work(Cell<usize>);

impl Work {
    pub fn new() -> Self {
        Self(Cell::new(MAX_WORK))
    }

    /// Counts evaluations; `None` if there are too many.
    pub fn take(&self, count: usize) -> Option<()> {
        self.0.set(self.0.get().checked_sub(count)?);
        Some(())
    }
}

/// Samples a rotation; returns keys and their error. `None` if `at` gives none.
pub fn sample_rotation(
    curves: &[&Curve],
    at: impl Fn(f32) -> Option<DQuat>,
) -> Option<(Keys, f64)> {
    sample(curves, ROTATION, at)
}

/// Samples a translation; `size` is the target's, in the frame of the translation. `None` if `at` gives none.
pub fn sample_translation(
    curves: &[&Curve],
    size: f64,
    at: impl Fn(f32) -> Option<DVec3>,
) -> Option<(Keys, f64)> {
    sample(curves, TRANSLATION * size, at)
}

fn sample<V: Value>(
    curves: &[&Curve],
    tolerance: f64,
    at: impl Fn(f32) -> Option<V>,
) -> Option<(Keys, f64)> {
    let close = Closeness { tolerance, most: MAX_IRREGULAR_KEYS };
    let sampled = Sampling::new(curves).sample(close, |time| at(time).ok_or(()));
    sampled.ok().map(|s| (s.keys, s.worst))
}
