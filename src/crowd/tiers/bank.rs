//! `Bank`: up to 16 cells of the bone buffer that are updated together.

mod inputs;

use crate::simd::prefetch;
pub(super) use inputs::CellInput;

/// The most cells of a bank.
pub(super) const CELLS: usize = 16;

/// No cell, no instance.
pub(super) const NONE: u32 = u32::MAX;

/// The bit of an instance's cell that is shared. A crowd has fewer cells than this: each has a row of memory at least.
pub(super) const SHARED_CELL: u32 = 1 << 31;

/// The tier of a bank whose cells are shared.
pub(super) const SHARED: u8 = u8::MAX;

/// Properties that all cells of a bank share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct BankKind {
    /// Index of the pool.
    pub pool: u16,
    /// The tier, or [`SHARED`].
    pub tier: u8,
    /// The bank's turn: it is updated in the frames whose number, divided by the tier's rate, leaves this remainder.
    pub turn: u8,
    /// Palettes of a cell: 1, or 2 that are interpolated.
    pub palettes: u8,
    /// Number of the detail that palettes are evaluated with; 0 for the full rig.
    pub detail: u8,
    /// Rows of a palette.
    pub rows: u32,
    /// Rows from one palette to the next.
    pub stride: u32,
}

impl BankKind {
    pub fn cell_rows(&self) -> usize {
        self.stride as usize * usize::from(self.palettes)
    }

    /// Properties of banks that can replace one another: the rows of a cell, and whether cells have room
    /// for inputs.
    pub fn room(&self) -> (usize, bool) {
        (self.cell_rows(), self.tier != SHARED)
    }
}

/// Up to 16 cells. The fields that a frame reads of every bank come first, in one cache line; `owner` begins within the
/// next one.
///
/// Sets of cells are bits by the cell's place in the bank. `fresh`, `stale`, `waiting` and `stored` are subsets of
/// `used`.
#[derive(Clone, Debug, PartialEq)]
#[repr(C, align(128))]
pub(crate) struct Bank {
    kind: BankKind,
    /// First row in the bone buffer.
    first: usize,
    /// Number of cells, used or not.
    cells: u8,
    /// Cells that have an owner.
    used: u16,
    /// Cells whose palettes were never written.
    fresh: u16,
    /// Cells whose owner was changed by a call since they were evaluated.
    stale: u16,
    /// Cells that were to be updated and wait for the budget.
    waiting: u16,
    /// Cells that the scheduled frame evaluates.
    chosen: u16,
    /// Cells whose second palette is the later one.
    second: u16,
    /// Cells whose input is stored in `inputs`.
    stored: u16,
    /// The last frame in which all used cells were updated at once, so that most frames write one number.
    whole: u32,
    /// Index of the first key hint, and the number of hints for which there is room.
    hints: usize,
    hint_room: u32,
    /// Index of each cell's instance; of shared cells the [bits](super::shared::PhaseKey::bits) of their phase.
    owner: [u32; CELLS],
    /// The frame in which each cell was updated, unless all were [later](Self::whole); of shared cells the frame in
    /// which they were taken.
    updated: [u32; CELLS],
    /// Time of the earlier and of the later palette of interpolated cells, in seconds of the crowd. Empty until the
    /// bank is interpolated.
    times: Vec<[f64; 2]>,
    /// Input that each palette was evaluated from, by [position](Self::position).
    inputs: Vec<CellInput>,
}

const _: () = assert!(std::mem::offset_of!(Bank, owner) <= 64);
const _: () = assert!(CELLS == u16::BITS as usize);

/// The places of a set of cells, ascending.
pub(super) fn places(mut cells: u16) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = cells.trailing_zeros() as usize;
        cells &= cells.wrapping_sub(1);
        (place < CELLS).then_some(place)
    })
}

impl Bank {
    /// A bank without used cells.
    pub fn new(kind: BankKind, first: usize, cells: u8) -> Self {
        Self {
            kind,
            first,
            cells,
            used: 0,
            fresh: 0,
            stale: 0,
            waiting: 0,
            chosen: 0,
            second: 0,
            stored: 0,
            whole: 0,
            owner: [NONE; CELLS],
            updated: [0; CELLS],
            times: Vec::new(),
            inputs: Vec::new(),
            hints: 0,
            hint_room: 0,
        }
    }

    #[inline(always)]
    pub fn kind(&self) -> &BankKind {
        &self.kind
    }

    /// Serves another kind of the same [room](BankKind::room). No cell is used.
    pub fn reuse(&mut self, kind: BankKind) {
        self.kind = kind;
    }

    #[inline(always)]
    pub fn first_row(&self) -> usize {
        self.first
    }

    /// The row behind the bank.
    pub fn end(&self) -> usize {
        self.first + self.len() * self.kind.cell_rows()
    }

    /// Number of cells, used or not.
    pub fn len(&self) -> usize {
        self.cells.into()
    }

    /// Adds cells at the end, up to [`CELLS`] in all.
    pub fn grow(&mut self, cells: u8) {
        self.cells = (self.cells + cells).min(CELLS as u8);
    }

    #[inline(always)]
    pub fn used(&self) -> u16 {
        self.used
    }

    /// The used cells whose palettes have been written.
    pub fn written(&self) -> u16 {
        self.used & !self.fresh
    }

    pub fn is_full(&self) -> bool {
        self.used == u16::MAX >> (CELLS as u32 - u32::from(self.cells))
    }

    /// The owner of a used cell: index of its instance, or the bits of a shared phase.
    #[inline(always)]
    pub fn owner(&self, place: usize) -> u32 {
        self.owner[place % CELLS]
    }

    /// Takes the first cell that is not used, of which there is one. It is fresh.
    pub fn take(&mut self, owner: u32, frame: u32) -> usize {
        let place = (!self.used).trailing_zeros() as usize;
        let bit = 1 << place;
        if self.used == 0 {
            self.whole = frame;
        }
        self.used |= bit;
        self.fresh |= bit;
        for bits in [&mut self.stale, &mut self.waiting, &mut self.second, &mut self.stored] {
            *bits &= !bit;
        }
        (self.owner[place], self.updated[place]) = (owner, frame);
        place
    }

    /// Frees a used cell.
    pub fn free(&mut self, place: usize) {
        let bit = 1 << place;
        self.used &= !bit;
        for bits in [&mut self.fresh, &mut self.stale, &mut self.waiting, &mut self.stored] {
            *bits &= !bit;
        }
        self.owner[place] = NONE;
    }

    /// Prefetches what evaluation reads of every bank.
    #[inline(always)]
    pub fn prefetch(&self) {
        prefetch(std::slice::from_ref(&self.kind));
        prefetch(&self.owner);
    }

    /// Position of a palette, in palettes from the bank's first one. Palettes are numbered as in a
    /// [`PaletteSet`](super::work::PaletteSet).
    #[inline(always)]
    pub fn position(&self, palette: usize) -> usize {
        let (place, later) = (palette / 2, palette % 2);
        let second = usize::from(self.second >> place & 1);
        match self.kind.palettes {
            1 => place,
            // The first of a pair is the later one unless the second is.
            _ => 2 * place + (1 ^ second ^ later),
        }
    }

    /// First rows of a cell's earlier and later palette.
    pub fn rows_of(&self, place: usize) -> [usize; 2] {
        let row = |later: usize| self.position(2 * place + later) * self.kind.stride as usize;
        [self.first + row(0), self.first + row(1)]
    }

    /// Times of a cell's earlier and later palette, in seconds of the crowd; `None` if the bank was never interpolated.
    pub fn times(&self, place: usize) -> Option<[f64; 2]> {
        self.times.get(place).copied()
    }

    /// Frames since a cell was updated.
    #[inline(always)]
    pub fn age(&self, place: usize, frame: u32) -> u32 {
        let since = |updated| frame.wrapping_sub(updated);
        since(self.updated[place]).min(since(self.whole))
    }

    /// Index of the first key hint.
    #[inline(always)]
    pub fn first_hint(&self) -> usize {
        self.hints
    }

    /// Notes that the bank needs `hints` key hints. Returns whether it has room for fewer.
    #[inline(always)]
    pub fn need_hints(&mut self, hints: usize) -> bool {
        let more = (self.hint_room as usize) < hints;
        if more {
            self.hint_room = hints as u32;
        }
        more
    }

    /// Sets where the key hints begin. Returns the index behind them.
    pub fn set_hints(&mut self, first: usize) -> usize {
        self.hints = first;
        first + self.hint_room as usize
    }
}

/// Sets of cells that a frame treats alike.
impl Bank {
    /// The cells that a frame must evaluate, and the cells that it evaluates if the budget allows. `rate` is the rate
    /// of the bank's tier. `scheduled` says of each instance whether it is scheduled; `None` if all are. `lost` is true
    /// if the memory has no palettes.
    #[inline(always)]
    pub fn requested(
        &self,
        (frame, rate): (u32, u8),
        scheduled: Option<&[bool]>,
        lost: bool,
    ) -> (u16, u16) {
        if self.kind.tier == SHARED {
            return (self.fresh | self.stale, 0);
        }
        let now = frame & (u32::from(rate) - 1) == u32::from(self.kind.turn);
        let mut due = if now { self.used } else { 0 } | self.waiting;
        let mut must = self.stale;
        if (due | must) != 0
            && let Some(scheduled) = scheduled
        {
            for place in places(self.used) {
                if scheduled.get(self.owner[place] as usize) == Some(&false) {
                    let held = 1 << place;
                    (due, must) = (due & !held, must & !held);
                }
            }
        }
        must |= self.fresh;
        if lost {
            // Of what they play now, as nothing else is known.
            must |= self.used & (self.stale | !self.stored);
        }
        (must, due & !must)
    }

    /// Sets the cells that the frame evaluates, and those that wait for the budget.
    #[inline(always)]
    pub fn choose(&mut self, chosen: u16, waiting: u16) {
        (self.chosen, self.waiting) = (chosen, waiting);
    }

    /// Evaluates a waiting cell in this frame.
    pub fn choose_waiting(&mut self, place: usize) {
        self.chosen |= 1 << place;
        self.waiting &= !(1 << place);
    }

    #[inline(always)]
    pub fn chosen(&self) -> u16 {
        self.chosen
    }

    #[inline(always)]
    pub fn waiting(&self) -> u16 {
        self.waiting
    }

    /// The cells of a set, written by this frame, whose earlier palette is written too.
    #[inline(always)]
    pub fn pairs(&self, written: u16, lost: bool) -> u16 {
        match self.kind.palettes {
            1 => 0,
            _ if lost => written,
            _ => written & (self.fresh | self.stale),
        }
    }

    /// Notes that these cells are written, and that those are evaluated.
    #[inline(always)]
    pub fn finish(&mut self, written: u16, evaluated: u16) {
        // Lines that stay as they are need not go back to memory.
        if (self.fresh | self.stale) != 0 {
            self.fresh &= !written;
            self.stale &= !evaluated;
        }
    }
}
