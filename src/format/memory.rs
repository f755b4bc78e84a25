//! What reading a file may cost.

use super::error::Fault;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of memory that reading may use per byte of the file; rows that lie in the file count nothing.
/// Names that every joint repeats were observed to need 7, coded clips of held poses 60, pictures of one
/// colour more than a hundred; no coded clip may take more (`codec::EXPANSION`).
pub const MEMORY_PER_BYTE: u64 = 256;

/// Bytes of memory that reading may use whatever the file's size.
pub const MEMORY_BASE: u64 = 64 << 20;

/// Blocks of the skeleton that reading coded clips may look through, per byte of the file: each clip says of
/// every block whether it has it, in next to no bytes.
pub const BLOCKS_PER_BYTE: u64 = 64;

/// Blocks that may be looked through whatever the file's size: 4,096 clips of 65,535 joints.
pub const BLOCKS_BASE: u64 = 1 << 26;

/// Memory that is left, counted down before it is allocated; by several threads at once.
#[derive(Debug)]
pub(super) struct MemoryLimit {
    used: AtomicU64,
    limit: u64,
    blocks: AtomicU64,
    most_blocks: u64,
}

impl MemoryLimit {
    /// What a file of `bytes` may use.
    pub fn new(bytes: usize) -> Self {
        let limit = (bytes as u64).saturating_mul(MEMORY_PER_BYTE);
        Self {
            used: AtomicU64::new(0),
            limit: limit.saturating_add(MEMORY_BASE),
            blocks: AtomicU64::new(0),
            most_blocks: (bytes as u64)
                .saturating_mul(BLOCKS_PER_BYTE)
                .saturating_add(BLOCKS_BASE),
        }
    }

    /// Takes bytes before they are allocated.
    pub fn charge(&self, bytes: usize) -> Result<(), Fault> {
        let limit = self.limit;
        let more = |used: u64| used.checked_add(bytes as u64).filter(|&n| n <= limit);
        let order = Ordering::Relaxed;
        match self.used.fetch_update(order, order, more) {
            Ok(_) => Ok(()),
            Err(used) => Err(Fault::Memory {
                needed: used.saturating_add(bytes as u64),
                limit,
            }),
        }
    }

    /// Takes blocks before they are looked through.
    pub fn look_through(&self, blocks: usize) -> Result<(), Fault> {
        let before = self.blocks.fetch_add(blocks as u64, Ordering::Relaxed);
        let (found, limit) = (before.saturating_add(blocks as u64), self.most_blocks);
        if found <= limit {
            return Ok(());
        }
        let what = "the blocks of the skeleton, counted for each coded clip,";
        Err(Fault::Limit { what, found, limit })
    }

    /// Bytes that may still be taken.
    pub fn left(&self) -> u64 {
        self.limit.saturating_sub(self.used.load(Ordering::Relaxed))
    }

    /// Gives back what was only needed for a while.
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
