//! What reading a file may cost.

use super::error::Fault;

/// Bytes of memory that reading may use per byte of the file; rows that lie in the file count nothing.
/// Names that every joint repeats were observed to need 7, pictures of one colour more than a hundred.
pub const MEMORY_PER_BYTE: u64 = 64;

/// Bytes of memory that reading may use whatever the file's size.
pub const MEMORY_BASE: u64 = 64 << 20;

/// Width and height of an image in pixels.
pub const MAX_IMAGE_SIDE: u32 = 16_384;

/// Memory that is left, counted down before it is allocated.
#[derive(Clone, Debug)]
pub(super) struct Budget {
    used: u64,
    limit: u64,
}

impl Budget {
    /// What a file of `bytes` may use.
    pub fn new(bytes: usize) -> Self {
        let limit = (bytes as u64).saturating_mul(MEMORY_PER_BYTE);
        Self {
            used: 0,
            limit: limit.saturating_add(MEMORY_BASE),
        }
    }

    /// Takes bytes before they are allocated.
    pub fn charge(&mut self, bytes: usize) -> Result<(), Fault> {
        let needed = self.used.saturating_add(bytes as u64);
        if needed > self.limit {
            return Err(Fault::Memory {
                needed,
                limit: self.limit,
            });
        }
        self.used = needed;
        Ok(())
    }

    /// Gives back what was only needed for a while.
    pub fn release(&mut self, bytes: usize) {
        self.used = self.used.saturating_sub(bytes as u64);
    }
}
