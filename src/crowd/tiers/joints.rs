//! Watched joints of a frame.

use super::tiering::{OUT, Tiering};
use crate::playback::pool::Pool;

impl Tiering {
    /// To be called before a frame is evaluated. Returns whether joints are watched.
    #[inline]
    pub(in crate::crowd) fn begin_joints(&self, pools: &mut [Option<Pool>]) -> bool {
        let mut any = false;
        for pool in pools.iter_mut().flatten() {
            if !pool.watched().is_empty() {
                pool.watched_mut().begin_frame();
                any = true;
            }
        }
        any
    }

    /// Evaluates the watched joints of those instances in the picture of which the frame has taken none, on rayon's
    /// `workers` or on this thread. Their cells may be held, shared, or of other times.
    pub(in crate::crowd) fn evaluate_joints(&self, pools: &mut [Option<Pool>], workers: bool) {
        for (pool, ranked) in pools.iter_mut().zip(&self.pools) {
            let Some(pool) = pool.as_mut().filter(|pool| !pool.watched().is_empty()) else {
                continue;
            };
            pool.evaluate_watched(workers, |index| {
                ranked.tier.get(index).is_some_and(|&tier| tier != OUT)
            });
        }
    }
}
