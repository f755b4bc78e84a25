//! Memory limits of a crowd.

use super::error::CliError;
use phalanx::crowd::{CrowdError, MAX_INSTANCES};
use std::hint::black_box;

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
