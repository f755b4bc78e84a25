//! Memory limits of a crowd and of a bake.

use super::error::CliError;
use phalanx::bake::{BAKE_BYTES_PER_KEY, MAX_BAKED_KEYS};
use phalanx::crowd::{CrowdError, MAX_INSTANCES};
use std::hint::black_box;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Largest memory of a crowd and its picture, in bytes: 0.9 million built-in characters, half the memory of
/// common machines.
pub const MAX_CROWD_BYTES: u64 = 8 << 30;

/// Address space for threads and the allocator's arenas besides a large crowd: glibc reserves 64 MiB for
/// some of the threads.
const BESIDE: u64 = 128 << 20;

/// Rejects crowds that would not fit into memory, at `each` bytes per character; returns the count.
pub fn check(count: u64, each: u64) -> Result<usize, CliError> {
    let needed = u128::from(count) * u128::from(each);
    if needed > u128::from(MAX_CROWD_BYTES) || u32::try_from(count).is_err() {
        return Err(CliError::CrowdTooLarge {
            count,
            needed,
            limit: MAX_CROWD_BYTES,
            most: (MAX_CROWD_BYTES / each.max(1)).min(u32::MAX.into()),
        });
    }
    if count > MAX_INSTANCES as u64 {
        return Err(CliError::Crowd(CrowdError::Limit {
            what: "characters of one model",
            count: usize::try_from(count).unwrap_or(usize::MAX),
            limit: MAX_INSTANCES,
        }));
    }
    // A machine with less memory, or a limit on it, fails here, where an error can be returned.
    let needed_bytes = needed as u64;
    match has_room(needed_bytes + (4 * needed_bytes).min(BESIDE)) {
        true => Ok(count as usize),
        false => Err(CliError::OutOfMemory { count, needed }),
    }
}

/// True if the system can currently provide this much memory.
pub fn has_room(bytes: u64) -> bool {
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    let mut memory = Vec::<u8>::new();
    let reserved = memory.try_reserve_exact(bytes).is_ok();
    // Keeps the compiler from removing an allocation that is never read.
    black_box(&memory);
    reserved
}

/// Limit on the memory of all clips baked at the same time, bytes. The largest clip fits alone.
pub const MAX_BAKE_BYTES: u64 = 5 << 30;
const _: () = assert!(MAX_BAKED_KEYS as u64 * BAKE_BYTES_PER_KEY <= MAX_BAKE_BYTES);

/// Memory of all bakes in this process.
pub static BAKING: Shared = Shared::new(MAX_BAKE_BYTES);

/// Memory that threads share: each takes a part for a time.
#[derive(Debug)]
pub struct Shared {
    limit: u64,
    taken: Mutex<u64>,
    given_back: Condvar,
}

/// A part of a [`Shared`], given back when dropped.
#[derive(Debug)]
pub struct Part<'a> {
    of: &'a Shared,
    bytes: u64,
}

impl Shared {
    pub const fn new(limit: u64) -> Self {
        Self { limit, taken: Mutex::new(0), given_back: Condvar::new() }
    }

    /// Takes a part, when others have given back enough; `None` if there is not as much even for this one alone. A
    /// thread must not take a second part while it holds one, nor begin work of others, which may wait.
    pub fn take(&self, bytes: u64) -> Option<Part<'_>> {
        let mut taken = self.taken();
        loop {
            // What others hold is counted as if they had not used it yet.
            let together = taken.saturating_add(bytes);
            if together <= self.limit && has_room(together) {
                *taken = together;
                return Some(Part { of: self, bytes });
            }
            if *taken == 0 {
                return None;
            }
            taken = self.given_back.wait(taken).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn taken(&self) -> MutexGuard<'_, u64> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        *self.of.taken() -= self.bytes;
        self.of.given_back.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn what_threads_take_together_stays_within_the_limit() {
        let shared = Shared::new(100);
        let (now, most, parts) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|s| {
            for thread in 0..8u64 {
                let (shared, now, most, parts) = (&shared, &now, &most, &parts);
                s.spawn(move || {
                    for n in 0..50 {
                        let bytes = 1 + (thread * 37 + n * 13) % 100;
                        let part = shared.take(bytes).expect("it is within the limit");
                        let sum = now.fetch_add(bytes, Ordering::SeqCst) + bytes;
                        most.fetch_max(sum, Ordering::SeqCst);
                        std::thread::yield_now();
                        now.fetch_sub(bytes, Ordering::SeqCst);
                        drop(part);
                        parts.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert!(most.load(Ordering::SeqCst) <= 100);
        assert_eq!(parts.load(Ordering::SeqCst), 400);
        assert!(shared.take(100).is_some());
        assert!(shared.take(101).is_none() && shared.take(u64::MAX).is_none());
    }

    #[test]
    fn what_the_system_does_not_have_is_refused() {
        assert!(Shared::new(u64::MAX).take(1 << 62).is_none());
    }
}
