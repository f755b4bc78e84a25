//! `PaletteMemory`: a host's memory for palettes, which need not be a slice of rows.

use crate::math::Affine3x4;

/// Memory that palettes are written to, one whole instance at a time. It may be write-only: a mapped buffer of a
/// graphics API, for example.
///
/// Each worker owns one part, split by rows of 48 bytes. A palette is finished in the worker's cache first, then
/// written in one piece.
///
/// A panic in these calls ends the frame and propagates to the caller. The crowd stays consistent, and no memory counts
/// as holding that frame: the next one evaluates every visible instance. With [tiers](super::Crowd::set_tiers) all
/// cells are assigned again, as after [`Crowd::set_tiers`](super::Crowd::set_tiers), so nothing depends on how far the
/// frame had come.
pub trait PaletteMemory: Send + Sized {
    /// Splits into the first `rows` rows and the rest. If there are fewer rows, the first part has all of them.
    fn split_at(self, rows: usize) -> (Self, Self);

    /// Writes one palette from `row` of this part on. Palettes come in any order, each at most once; palettes that are
    /// kept are not written. Rows that do not fit are dropped.
    fn write(&mut self, row: usize, palette: &[Affine3x4]);

    /// The memory as rows that may be written in any order. If it returns some, palettes are evaluated in place,
    /// without a copy. Default `None`.
    fn as_rows(&mut self) -> Option<&mut [Affine3x4]> {
        None
    }
}

/// Rows in heap memory. Palettes are evaluated in place.
impl PaletteMemory for &mut [Affine3x4] {
    #[inline]
    fn split_at(self, rows: usize) -> (Self, Self) {
        let rows = rows.min(self.len());
        self.split_at_mut(rows)
    }

    fn write(&mut self, row: usize, palette: &[Affine3x4]) {
        for (to, from) in self.iter_mut().skip(row).zip(palette) {
            *to = *from;
        }
    }

    #[inline]
    fn as_rows(&mut self) -> Option<&mut [Affine3x4]> {
        Some(self)
    }
}
