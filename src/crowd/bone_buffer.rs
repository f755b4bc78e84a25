//! `BoneBuffer`: the palettes of a crowd, one after another, in heap memory.

use super::schedule::{FrameId, Schedule};
use crate::math::{Affine3x4, Fnv1a};
use crate::playback::PlaybackError as CrowdError;

/// The palette rows of all instances of a frame: 48 bytes each, in the layout that the GPU reads.
///
/// [`Crowd::palette_range`](super::Crowd::palette_range) returns the rows of an instance, after each frame.
#[derive(Clone, Debug, Default)]
pub struct BoneBuffer {
    rows: Vec<Affine3x4>,
    /// The frame that the rows belong to; `None` until the first one.
    frame: Option<FrameId>,
}

impl PartialEq for BoneBuffer {
    /// Whether the rows are equal.
    fn eq(&self, other: &Self) -> bool {
        self.rows == other.rows
    }
}

impl BoneBuffer {
    /// An empty buffer; it grows with the first frame.
    pub fn new() -> Self {
        Self::default()
    }

    /// All rows of the last frame.
    pub fn rows(&self) -> &[Affine3x4] {
        &self.rows
    }

    /// The rows as bytes.
    pub fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.rows)
    }

    /// A hash of all bits: equal buffers have equal hashes, on every machine of one SIMD level.
    pub fn hash(&self) -> u64 {
        let mut h = Fnv1a::default();
        h.write(self.bytes());
        h.finish()
    }

    /// Reserves memory for frames of `rows` rows: instances times
    /// [`Rig::palette_len`](crate::rig::Rig::palette_len), summed over the rigs.
    ///
    /// If memory runs out in [`Crowd::evaluate`](super::Crowd::evaluate), the process ends, as with other
    /// collections. After this call it allocates no rows.
    ///
    /// # Errors
    /// If the allocator has no memory. The buffer is then unchanged.
    pub fn try_reserve(&mut self, rows: usize) -> Result<(), CrowdError> {
        reserve_rows(&mut self.rows, rows)
    }

    pub(super) fn frame(&self) -> Option<FrameId> {
        self.frame
    }

    /// [`prepare`](Self::prepare) that reports a lack of memory.
    ///
    /// # Errors
    /// If the allocator has no memory. The buffer is then unchanged.
    #[cfg(feature = "gpu")]
    pub(super) fn try_prepare(
        &mut self,
        schedule: &Schedule<'_>,
    ) -> Result<&mut [Affine3x4], CrowdError> {
        reserve_rows(&mut self.rows, schedule.rows())?;
        Ok(self.prepare(schedule))
    }

    /// Resizes the buffer for a frame. Allocates only if the buffer has never been as large.
    pub(super) fn prepare(&mut self, schedule: &Schedule<'_>) -> &mut [Affine3x4] {
        self.rows.resize(schedule.rows(), Affine3x4::IDENTITY);
        self.frame = Some(schedule.id());
        &mut self.rows
    }
}

/// Reserves memory for `rows` rows in total, with room to grow if the allocator has memory for that.
pub(crate) fn reserve_rows(to: &mut Vec<Affine3x4>, rows: usize) -> Result<(), CrowdError> {
    let more = rows.saturating_sub(to.len());
    let reserved = to.try_reserve(more);
    reserved.or_else(|_| to.try_reserve_exact(more)).map_err(|_| CrowdError::RowMemory {
        rows,
        bytes: (rows as u64).saturating_mul(size_of::<Affine3x4>() as u64),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_rows_than_memory_are_refused_and_change_nothing() {
        let mut buffer = BoneBuffer::new();
        buffer.rows = vec![Affine3x4::IDENTITY; 3];
        // An exbibyte, or more than a 32-bit process can have; and more bytes than there are addresses.
        let large = usize::try_from((1_u64 << 60) / 48).unwrap_or(isize::MAX as usize / 48 + 1);
        let most = (usize::MAX as u64).saturating_mul(48);
        for (rows, bytes) in [(large, large as u64 * 48), (usize::MAX, most)] {
            let refused = buffer.try_reserve(rows);
            assert_eq!(refused, Err(CrowdError::RowMemory { rows, bytes }));
        }
        assert_eq!(buffer.rows(), [Affine3x4::IDENTITY; 3]);
        buffer.try_reserve(1000).unwrap();
        assert!(buffer.rows.capacity() >= 1000);
        assert_eq!(buffer.rows(), [Affine3x4::IDENTITY; 3]);
    }
}
