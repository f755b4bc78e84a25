//! How much memory a crowd may take.

use super::error::CliError;
use phalanx::crowd::{CrowdError, MAX_INSTANCES};
use std::hint::black_box;

/// The most memory of a crowd and its picture: 0.9 million of the built-in character, and half of
/// what common machines have.
pub const MAX_CROWD_BYTES: u64 = 8 << 30;

/// Address space that threads and the allocator's arenas take beside a large crowd: glibc reserves 64 MiB for
/// each of some threads.
const BESIDE: u64 = 128 << 20;

/// Refuses crowds that would not fit into memory, at `each` bytes a character; the count as an index.
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
    // A machine with less memory (or a limit on it) says so here, where it can be told.
    let needed_bytes = needed as u64;
    match has_room(needed_bytes + (4 * needed_bytes).min(BESIDE)) {
        true => Ok(count as usize),
        false => Err(CliError::OutOfMemory { count, needed }),
    }
}

/// Whether the system would give so much more memory now.
pub fn has_room(bytes: u64) -> bool {
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    let mut memory = Vec::<u8>::new();
    let reserved = memory.try_reserve_exact(bytes).is_ok();
    // What nobody looks at need not be reserved.
    black_box(&memory);
    reserved
}
