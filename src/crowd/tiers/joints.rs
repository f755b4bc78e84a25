//! Watched joints of a frame.

use super::tiering::{OUT, Tiering};
use crate::playback::pool::Pool;

impl Tiering {
    /// To be called before a frame is evaluated.
    pub(in crate::crowd) fn begin_joints(&self, pools: &mut [Option<Pool>]) {
        for pool in pools.iter_mut().flatten().filter(|pool| !pool.watched().is_empty()) {
            pool.watched_mut().begin_frame();
        }
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
