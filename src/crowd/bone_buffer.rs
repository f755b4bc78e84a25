//! `BoneBuffer`: the palettes of a crowd, one after another, in heap memory.

use super::schedule::{FrameId, Schedule};
use crate::math::{Affine3x4, Fnv1a};

/// The palette rows of all instances of a frame: 48 bytes each, ready for the GPU as they are.
///
/// Where an instance's rows lie is a result of the frame: [`Crowd::palette_range`](super::Crowd::palette_range).
#[derive(Clone, Debug, Default)]
pub struct BoneBuffer {
    rows: Vec<Affine3x4>,
    /// The frame that the rows are of.
    frame: Option<FrameId>,
    /// The rows of the frame before, while kept ones move.
    old: Vec<Affine3x4>,
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

    pub(super) fn frame(&self) -> Option<FrameId> {
        self.frame
    }

    /// Makes room for a frame and brings the rows that are kept to their places. Allocates only if the
    /// buffer has never been as large, or rows move for the first time.
    pub(super) fn prepare(&mut self, schedule: &Schedule<'_>) -> &mut [Affine3x4] {
        let mut moved = false;
        if schedule.stats().carried > 0 {
            schedule.moves(|m| moved |= m.from != m.to);
        }
        if moved {
            std::mem::swap(&mut self.rows, &mut self.old);
        }
        self.rows.resize(schedule.rows(), Affine3x4::IDENTITY);
        if moved {
            schedule.moves(|m| {
                let to = self.rows.get_mut(m.to..m.to + m.rows);
                if let (Some(to), Some(from)) = (to, self.old.get(m.from..m.from + m.rows)) {
                    to.copy_from_slice(from);
                }
            });
        }
        self.frame = Some(schedule.id());
        &mut self.rows
    }
}
