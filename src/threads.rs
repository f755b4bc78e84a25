//! Work on rayon's workers. Without the feature `threads` all of it runs on the caller's thread.

#[cfg(feature = "threads")]
pub(crate) use rayon::{current_num_threads, join};

#[cfg(not(feature = "threads"))]
pub(crate) fn current_num_threads() -> usize {
    1
}

/// Runs both calls.
#[cfg(not(feature = "threads"))]
pub(crate) fn join<A, B>(a: impl FnOnce() -> A, b: impl FnOnce() -> B) -> (A, B) {
    (a(), b())
}

/// What a call gives for each number below `count`, or one of its errors.
#[cfg(feature = "phx")]
pub(crate) fn try_each<T: Send, E: Send>(
    count: usize,
    each: impl Fn(usize) -> Result<T, E> + Send + Sync,
) -> Result<Vec<T>, E> {
    #[cfg(feature = "threads")]
    {
        use rayon::prelude::*;
        (0..count).into_par_iter().map(each).collect()
    }
    #[cfg(not(feature = "threads"))]
    (0..count).map(each).collect()
}
