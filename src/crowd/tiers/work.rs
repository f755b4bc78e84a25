//! `Work`: what a frame writes, as lists of cells and as totals.

use crate::simd::SimdLevel;

/// A set of palettes of a bank. The earlier one of cell `c` has number `2 c`; the later one, or the only one, `2 c + 1`.
#[derive(Clone, Copy, Debug)]
pub(super) struct PaletteSet(u32);

impl PaletteSet {
    /// The later or only palettes of some cells, and the earlier ones of others.
    #[inline]
    pub fn new(later: u16, earlier: u16) -> Self {
        Self(spread(later) << 1 | spread(earlier))
    }

    #[inline(always)]
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Takes out the palette of the lowest number. The set is not empty.
    #[inline(always)]
    pub fn pop(&mut self) -> usize {
        let palette = self.0.trailing_zeros() as usize;
        self.0 &= self.0.wrapping_sub(1);
        palette
    }
}

/// The bits at even positions.
#[inline]
fn spread(bits: u16) -> u32 {
    if bits == 0 {
        return 0;
    }
    let mut x = u32::from(bits);
    for (shift, mask) in [(8, 0x00ff_00ff), (4, 0x0f0f_0f0f), (2, 0x3333_3333), (1, 0x5555_5555)] {
        x = (x | x << shift) & mask;
    }
    x
}

/// The cells of a bank that a frame writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    pub(in crate::crowd) bank: u32,
    /// Cells that are evaluated from what their instances play now. The other cells of `write` are evaluated from their
    /// stored inputs.
    pub(super) evaluate: u16,
    /// All cells that are written.
    pub(super) write: u16,
    /// The palettes of these cells that are written.
    pub(super) palettes: PaletteSet,
    /// Rows of the palettes of earlier banks.
    pub(super) before: usize,
    /// The first row in the memory that the frame is written to.
    pub(in crate::crowd) row: usize,
}

impl Work {
    #[inline]
    pub(super) fn palettes(&self) -> usize {
        self.palettes.len()
    }
}

/// Totals of a selection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Selected {
    /// True if joints are watched.
    pub watched: bool,
    /// True if a pool sorts its palettes by clips.
    pub sorts: bool,
    /// True if inputs are stored though a tier is updated in every frame: the budget may let it wait.
    pub store: bool,
    /// Cells that are evaluated.
    pub cells: usize,
    /// Cells that keep their palettes.
    pub held: usize,
    /// Palettes that are written.
    pub palettes: usize,
    /// Rows of palettes that are written, without padding.
    pub palette_rows: usize,
    /// Rows of palettes that are written, with padding.
    pub padded_rows: usize,
    /// Rows of all cells.
    pub rows: usize,
    /// Rows of the memory that is written.
    pub written: usize,
}

/// Request that a selection answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::crowd) struct Request {
    /// Every palette starts at a multiple of this many rows; at least 1.
    pub align: usize,
    /// Whether palettes are written one after another, not in place.
    pub compact: bool,
    pub level: SimdLevel,
}
