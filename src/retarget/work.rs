//! `Work`: steps of a retargeting, summed before they are made.

use super::error::RetargetError;
use super::link::Link;
use super::motion::Motion;
use super::sampler::evaluations;
use super::track::halvings;

/// The most steps of one clip: evaluations times joints down a chain. A take of ten minutes at 120 Hz with 60 bones of
/// three moving joints each needs 3e7, one of 4,000 keys that are all halved as often as possible 2e7. A step takes
/// some ten nanoseconds.
const MAX_STEPS: u64 = 1 << 30;

/// What is left of the steps.
pub(super) struct Work {
    used: u64,
    /// Whether keys are inserted.
    pub refine: bool,
}

impl Work {
    pub fn new(refine: bool) -> Self {
        Self { used: 0, refine }
    }

    /// Counts `evaluations` × `joints` steps.
    pub fn take(&mut self, evaluations: usize, joints: usize) -> Result<(), RetargetError> {
        self.add(steps(evaluations, joints))
    }

    /// Fails if `evaluations` × `joints` steps are more than are left.
    pub fn check(&self, (evaluations, joints): (usize, usize)) -> Result<(), RetargetError> {
        Self { ..*self }.take(evaluations, joints)
    }

    /// Counts the steps of all links.
    pub fn take_links(&mut self, links: &[Link], motion: &Motion<'_>) -> Result<(), RetargetError> {
        let curves = |link: &Link| motion.rotations(&link.moving(motion));
        // At least; without a comparison of key times, which are too many as well then.
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
            let count = evaluations(&curves, |keys, cubic| halvings(keys, cubic, self.refine));
            steps(count, curves.len())
        });
        self.add(all.fold(0, u64::saturating_add))
    }

    fn add(&mut self, steps: u64) -> Result<(), RetargetError> {
        let steps = self.used.saturating_add(steps);
        if steps > MAX_STEPS {
            return Err(RetargetError::Work {
                steps,
                limit: MAX_STEPS,
            });
        }
        self.used = steps;
        Ok(())
    }
}

fn steps(evaluations: usize, joints: usize) -> u64 {
    (evaluations as u64).saturating_mul(joints as u64)
}
