//! How much memory a crowd may take.

use super::error::CliError;

/// The most memory of a crowd and its picture: 0.9 million of the built-in character, and half of
/// what common machines have.
pub const MAX_CROWD_BYTES: u64 = 8 << 30;

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
    // A machine with less memory (or a limit on it) says so here, where it can be told.
    match has_room(needed as u64 + (needed as u64).min(BESIDE)) {
        true => Ok(count as usize),
        false => Err(CliError::OutOfMemory { count, needed }),
    }
}

/// Whether the system would give so much more memory now.
pub fn has_room(bytes: u64) -> bool {
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
}

/// Address space that threads and the allocator's arenas take beside a large crowd.
const BESIDE: u64 = 128 << 20;
