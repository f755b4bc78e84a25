//! `Work`: steps of a retargeting, counted before they are made.

use super::closeness::Room;
use super::error::RetargetError;
use super::link::Link;
use super::motion::Motion;
use super::sampler::{Closeness, PER_KEY, Sampling, Value, evaluations};
use super::track::Keys;
use crate::build::curve::Curve;
use std::convert::Infallible;

/// Limit on the steps of one clip: evaluations times joints down a chain. A take of ten minutes at 120 Hz with 60 bones of
/// three moving joints each needs 5e7. A step takes some ten nanoseconds.
const MAX_STEPS: u64 = 1 << 30;

/// Limit on the steps of inserted keys. 60 tracks that follow three joints each, filled to the last key, take 2e7.
const MAX_INSERTING: u64 = 1 << 26;

/// The remaining steps.
pub(super) struct Work {
    used: u64,
    /// Remaining steps of inserted keys.
    inserting: u64,
    room: Room,
}

impl Work {
    pub fn new(room: Room) -> Self {
        Self { used: 0, inserting: 0, room }
    }

    /// Keys of a function of curves of `joints` joints, and their largest distance from it. The evaluations at key times are
    /// counted already; no key is inserted without room or after the steps for it are used up.
    pub fn sample<V: Value>(
        &mut self,
        curves: &[&Curve],
        joints: usize,
        tolerance: f64,
        at: impl Fn(f32) -> V,
    ) -> (Keys, f64) {
        let sampling = Sampling::new(curves);
        let each = steps(PER_KEY, joints.max(1));
        let room = MAX_INSERTING.saturating_sub(self.inserting) / each;
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        let most = sampling.keys().saturating_add(room.min(self.room.of(sampling.keys())));
        let close = Closeness { tolerance, most };
        let Ok(sampled) = sampling.sample(close, |time| Ok::<V, Infallible>(at(time)));
        self.inserting += steps(sampled.inserted, 1) * each;
        (sampled.keys, sampled.worst)
    }

    /// Counts `evaluations` × `joints` steps.
    pub fn take(&mut self, evaluations: usize, joints: usize) -> Result<(), RetargetError> {
        self.add(steps(evaluations, joints))
    }

    /// Fails if fewer than `evaluations` × `joints` steps are left.
    pub fn check(&self, (evaluations, joints): (usize, usize)) -> Result<(), RetargetError> {
        Self { ..*self }.take(evaluations, joints)
    }

    /// Counts the steps of all links.
    pub fn take_links(&mut self, links: &[Link], motion: &Motion<'_>) -> Result<(), RetargetError> {
        let curves = |link: &Link| motion.rotations(&link.moving(motion));
        // This lower bound compares no key times: if it exceeds the limit, they are too many to compare as well.
        let least = links.iter().map(|link| {
            let curves = curves(link);
            let keys = curves.iter().map(|c| c.times.len()).max().unwrap_or(0);
            steps(keys, curves.len())
        });
        let least = least.fold(0, u64::saturating_add);
        if self.used.saturating_add(least) > MAX_STEPS {
            return self.add(least);
        }
        let all = links.iter().map(|link| {
            let curves = curves(link);
            let count = evaluations(&curves);
            steps(count, curves.len())
        });
        self.add(all.fold(0, u64::saturating_add))
    }

    fn add(&mut self, steps: u64) -> Result<(), RetargetError> {
        let steps = self.used.saturating_add(steps);
        if steps > MAX_STEPS {
            return Err(RetargetError::Work { steps, limit: MAX_STEPS });
        }
        self.used = steps;
        Ok(())
    }
}

fn steps(evaluations: usize, joints: usize) -> u64 {
    (evaluations as u64).saturating_mul(joints as u64)
}
