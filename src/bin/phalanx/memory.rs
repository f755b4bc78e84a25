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
    let refused = CliError::OutOfMemory { count, needed };
    let bytes = usize::try_from(needed).unwrap_or(usize::MAX);
    match Vec::<u8>::new().try_reserve_exact(bytes) {
        Ok(()) => Ok(count as usize),
        Err(_) => Err(refused),
    }
}
