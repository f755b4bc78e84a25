//! `Work`: steps of a retargeting, counted before they are made.

use super::error::RetargetError;

/// The most steps of one clip: keys times joints down a chain. A take of ten minutes at 120 Hz needs 2e8 at most,
/// with every key halved as often as possible; a step takes some ten nanoseconds.
const MAX_STEPS: u64 = 1 << 31;

/// What is left of the steps.
pub(super) struct Work {
    left: u64,
    /// Whether keys are inserted.
    pub refine: bool,
}

impl Work {
    pub fn new(refine: bool) -> Self {
        Self {
            left: MAX_STEPS,
            refine,
        }
    }

    /// Counts `keys` × `joints` steps.
    pub fn take(&mut self, keys: usize, joints: usize) -> Result<(), RetargetError> {
        let steps = (keys as u64).saturating_mul(joints as u64);
        match self.left.checked_sub(steps) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(RetargetError::Work {
                steps: (MAX_STEPS - self.left).saturating_add(steps),
                limit: MAX_STEPS,
            }),
        }
    }
}
