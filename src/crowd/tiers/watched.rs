//! Watched joints of frames with tiers.

use super::tiering::{OUT, Tiering};
use crate::playback::pool::Pool;

impl Tiering {
    /// Evaluates the watched joints of instances in the picture, on rayon's `workers` or on this thread. Their cells may be
    /// held, shared, or of other times.
    pub(in crate::crowd) fn evaluate_watched(&self, pools: &mut [Option<Pool>], workers: bool) {
        for (pool, ranked) in pools.iter_mut().zip(&self.pools) {
            let Some(pool) = pool.as_mut().filter(|pool| !pool.watch.is_empty()) else {
                continue;
            };
            pool.evaluate_watched(workers, |index| {
                ranked.tier.get(index).is_some_and(|&tier| tier != OUT)
            });
        }
    }
}
