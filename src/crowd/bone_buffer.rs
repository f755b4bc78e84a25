//! `BoneBuffer`: the palettes of a crowd, one after another, in heap memory.

use crate::math::{Affine3x4, Fnv1a};

/// The palette rows of all instances of a frame: 48 bytes each, ready for the GPU as they are.
///
/// Where an instance's rows lie is a result of the frame: [`Crowd::palette_range`](super::Crowd::palette_range).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoneBuffer {
    rows: Vec<Affine3x4>,
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

    /// Gives the buffer exactly `rows` rows, allocating only if it has never been as large.
    pub(crate) fn resize(&mut self, rows: usize) -> &mut [Affine3x4] {
        self.rows.resize(rows, Affine3x4::IDENTITY);
        &mut self.rows
    }
}
