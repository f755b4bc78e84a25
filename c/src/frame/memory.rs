//! The caller's memory for palettes, in either format.

use phalanx::crowd::PaletteMemory;
use phalanx::math::Affine3x4;
use std::mem::MaybeUninit;

/// Four columns of four numbers.
pub type Column4 = [[f32; 4]; 4];

/// Bytes of a row in the two formats.
pub const ROW_BYTES: usize = size_of::<Affine3x4>();
pub const COLUMN_BYTES: usize = size_of::<Column4>();

pub enum Memory<'a> {
    /// Palettes are evaluated in place.
    Rows(&'a mut [Affine3x4]),
    /// Palettes are evaluated in cache, and transposed on their way.
    Columns(Columns<'a>),
}

/// Memory for 4x4 matrices, column by column. It is not read.
pub struct Columns<'a>(pub &'a mut [MaybeUninit<Column4>]);

impl PaletteMemory for Columns<'_> {
    fn split_at(self, rows: usize) -> (Self, Self) {
        let (now, later) = self.0.split_at_mut(rows.min(self.0.len()));
        (Self(now), Self(later))
    }

    fn write(&mut self, row: usize, palette: &[Affine3x4]) {
        let places = self.0.get_mut(row..).unwrap_or_default();
        for (place, matrix) in places.iter_mut().zip(palette) {
            place.write(columns(matrix));
        }
    }
}

/// The columns of a matrix, with the fourth row (0, 0, 0, 1).
pub fn columns(m: &Affine3x4) -> Column4 {
    let [x, y, z] = m.rows;
    let column = |c: usize| [x[c], y[c], z[c], if c == 3 { 1.0 } else { 0.0 }];
    [column(0), column(1), column(2), column(3)]
}
