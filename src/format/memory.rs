//! Limits on the memory and the work of reading a file.

use super::error::Fault;
use std::sync::atomic::{AtomicU64, Ordering};

/// Memory that one call may allocate, in bytes per byte of the file.
///
/// Sections themselves are not counted: their bytes are mapped, or copied with at most the size of the file.
///
/// Measured needs: 7 for names that every joint repeats, 60 for coded clips of held poses, above 100 for
/// images of one colour. Coded clips have the same limit ([`codec::decode`](super::codec::decode)).
pub const MEMORY_PER_BYTE: u64 = 256;

/// Memory that one call may allocate in addition, whatever the file's size: 64 MiB.
pub const MEMORY_BASE: u64 = 64 << 20;

/// Blocks of the skeleton that decoding coded clips may visit, per byte of the file. A coded clip visits
/// every block, and an absent block takes almost no bytes.
pub(super) const BLOCKS_PER_BYTE: u64 = 64;

/// Blocks that may be visited in addition, whatever the file's size: the number in 5,461 clips of 65,535 joints.
pub(super) const BLOCKS_BASE: u64 = 1 << 26;

/// Memory and blocks used by one call. Shared by the threads that read its clips.
#[derive(Debug)]
pub(super) struct MemoryLimit {
    used: AtomicU64,
    limit: u64,
    blocks: AtomicU64,
    most_blocks: u64,
}

impl MemoryLimit {
    /// The limits of a file of `bytes` bytes.
    pub fn new(bytes: usize) -> Self {
        let limit = (bytes as u64).saturating_mul(MEMORY_PER_BYTE);
        Self {
            used: AtomicU64::new(0),
            limit: limit.saturating_add(MEMORY_BASE),
            blocks: AtomicU64::new(0),
            most_blocks: (bytes as u64).saturating_mul(BLOCKS_PER_BYTE).saturating_add(BLOCKS_BASE),
        }
    }

    /// Charges memory before it is allocated.
    pub fn charge(&self, bytes: usize) -> Result<(), Fault> {
        let limit = self.limit;
        let more = |used: u64| used.checked_add(bytes as u64).filter(|&n| n <= limit);
        let order = Ordering::Relaxed;
        match self.used.fetch_update(order, order, more) {
            Ok(_) => Ok(()),
            Err(used) => Err(Fault::Memory { needed: used.saturating_add(bytes as u64), limit }),
        }
    }

    /// Charges blocks before they are visited.
    pub fn look_through(&self, blocks: usize) -> Result<(), Fault> {
        let before = self.blocks.fetch_add(blocks as u64, Ordering::Relaxed);
        let (found, limit) = (before.saturating_add(blocks as u64), self.most_blocks);
        if found <= limit {
            return Ok(());
        }
        let what = "the number of skeleton blocks, summed over coded clips,";
        Err(Fault::limit(what, found, limit))
    }

    /// Bytes that may still be charged.
    pub fn left(&self) -> u64 {
        self.limit.saturating_sub(self.used.load(Ordering::Relaxed))
    }

    /// Returns the charge of memory that was freed.
    #[cfg(feature = "images")]
    pub fn release(&self, bytes: usize) {
        self.used.fetch_sub(bytes as u64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_counted_over_all_clips() {
        let memory = MemoryLimit::new(100);
        let most = BLOCKS_BASE + 100 * BLOCKS_PER_BYTE;
        assert!(memory.look_through(most as usize - 16_384).is_ok());
        assert!(memory.look_through(16_384).is_ok());
        let refused = memory.look_through(1);
        let named = matches!(refused, Err(Fault::Limit { found, limit, .. })
            if found == most + 1 && limit == most);
        assert!(named, "{refused:?}");
    }
}
