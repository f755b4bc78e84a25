//! `Work`: limits of a retargeting: the steps of one clip, counted before they are made; the keys that may be inserted;
//! and the error that tracks may have between their keys, so that directions in model space stay within a bound.

use super::error::RetargetError;
use super::link::Link;
use super::motion::Motion;
use super::sampler::{PER_KEY, Sampling, Value, evaluations};
use super::track::Keys;
use crate::build::curve::Curve;
use crate::clip::MAX_IRREGULAR_KEYS;
use std::convert::Infallible;

/// Limit on the steps of one clip: evaluations times joints down a chain. A take of ten minutes at 120 Hz with 60 bones of
/// three moving joints each needs 5e7. A step takes some ten nanoseconds.
const MAX_STEPS: u64 = 1 << 30;

/// Limit on the steps of inserted keys. 60 tracks that follow three joints each, filled to the last key, take 2e7.
const MAX_INSERTING: u64 = 1 << 26;

/// The largest deviation from the source between two keys, radians, before a key is inserted.
pub(super) const BETWEEN: f64 = 2e-5;

/// The largest deviation in model space: the sum of the deviations of a joint and those above it. Directions are to stay
/// within 1e-4; the rest is for f32 and for times between those that are compared.
const IN_SPACE: f64 = 5e-5;

/// The number of keys that may be inserted into a track: a share of the room that the source's keys leave in an
/// irregular timeline.
#[derive(Clone, Copy, Debug)]
pub(super) enum Room {
    /// Half of the room.
    Half,
    /// A sixteenth: the tracks of the 16 joints of a block then fit into one timeline, if they share the source's keys.
    Block,
    /// No key.
    Nothing,
}

impl Room {
    /// The number of keys that may be inserted into a track whose source has `keys` keys.
    fn of(self, keys: usize) -> usize {
        let free = MAX_IRREGULAR_KEYS.saturating_sub(keys);
        match self {
            Self::Half => free / 2,
            Self::Block => free / 16,
            Self::Nothing => 0,
        }
    }
}

/// The tolerance of every link, radians: the bound in model space, divided by the number of links on a path through it
/// that need inserted keys. Links above come first.
pub(super) fn tolerances(links: &[Link], motion: &Motion<'_>) -> Vec<f64> {
    let own: Vec<usize> = links.iter().map(|l| usize::from(!l.is_exact(motion))).collect();
    let mut up = own.clone();
    for at in 0..links.len() {
        up[at] += links[at].above.map_or(0, |over| up[over]);
    }
    let mut down = vec![0; links.len()];
    for at in (0..links.len()).rev() {
        if let Some(over) = links[at].above {
            down[over] = down[over].max(down[at] + own[at]);
        }
    }
    let counts = up.into_iter().zip(down).map(|(up, down)| (up + down).max(1) as f64);
    counts.map(|n| BETWEEN.min(IN_SPACE / n)).collect()
}

pub(super) struct Work {
    used: u64,
    /// Steps of inserted keys so far.
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
        let Ok((keys, worst)) =
            sampling.sample((tolerance, most), |time| Ok::<V, Infallible>(at(time)));
        self.inserting += (keys.times.len() - sampling.keys()) as u64 * each;
        (keys, worst)
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
        let sum = |count: fn(&[&Curve]) -> usize| {
            let each = links.iter().map(|link| {
                let curves = motion.rotations(&link.moving(motion));
                steps(count(&curves), curves.len())
            });
            each.fold(0, u64::saturating_add)
        };
        // This lower bound compares no key times: if it exceeds the limit, they are too many to compare as well.
        let least = sum(|curves| curves.iter().map(|c| c.times.len()).max().unwrap_or(0));
        Self { ..*self }.add(least)?;
        self.add(sum(evaluations))
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
