//! `Banks`: the cells of the bone buffer, in banks of 16 that are updated together.

use super::input::CellInput;
use crate::simd::prefetch;

/// The cells of a bank.
pub(super) const CELLS: usize = 16;

/// A new bank comes with so many more at most: an eighth of those like it, and some.
const SPARES: u32 = 64;
/// Where there are few, so many at most.
const FEW_SPARES: u32 = 4;

/// No cell, no instance.
pub(super) const NONE: u32 = u32::MAX;

/// The bit of an instance's cell that is shared. A crowd has fewer cells than this: each has a row of memory at least.
pub(super) const SHARED_CELL: u32 = 1 << 31;

/// The tier of a bank whose cells are shared.
pub(super) const SHARED: u8 = u8::MAX;

/// What the cells of a bank have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct BankKind {
    /// The index of the pool.
    pub pool: u16,
    /// The tier, or [`SHARED`].
    pub tier: u8,
    /// The bank is updated in frames whose number has this remainder by the tier's rate.
    pub phase: u8,
    /// Palettes of a cell: 1, or 2 that are interpolated.
    pub palettes: u8,
    /// The number of the detail that they are evaluated by; 0 for the full rig.
    pub detail: u8,
    /// Rows from one palette to the next.
    pub stride: u32,
}

impl BankKind {
    pub fn cell_rows(&self) -> usize {
        self.stride as usize * usize::from(self.palettes)
    }

    /// What banks have in common that can take the place of one another: the rows of a cell, and whether cells have room
    /// for what they are evaluated from.
    pub(super) fn room(&self) -> (usize, bool) {
        (self.cell_rows(), self.tier != SHARED)
    }
}

/// 16 cells. What a frame looks at in every bank comes first, in one cache line, and owners in the line beside it.
#[derive(Clone, Debug, PartialEq)]
#[repr(C, align(128))]
pub(crate) struct Bank {
    pub(super) kind: BankKind,
    /// The first row.
    pub(super) first: usize,
    /// Cells that are used.
    pub(super) used: u16,
    /// Those of them whose palettes have never been written.
    pub(super) fresh: u16,
    /// Those whose instance a call has changed since they were written.
    pub(super) stale: u16,
    /// Those that were to be updated and wait for the budget.
    pub(super) waiting: u16,
    /// Those that this frame evaluates.
    pub(super) chosen: u16,
    /// Cells whose second palette is the later one.
    pub(super) second: u16,
    /// Cells whose input is stored.
    pub(super) stored: u16,
    /// Where the key hints of its cells begin, and for how many there is room.
    pub(super) hints: usize,
    pub(super) hint_room: u32,
    /// The instance of each cell; of shared ones the clip and its phase.
    pub(super) owner: [u32; CELLS],
    /// The frame in which each was updated; of shared ones the frame in which it was made.
    pub(super) updated: [u32; CELLS],
    /// When the earlier palette of interpolated cells is reached, and when the later one: seconds of the crowd. Empty
    /// until the bank is interpolated.
    pub(super) times: Vec<[f64; 2]>,
    /// What each palette was evaluated from: cell × palette.
    pub(super) inputs: Vec<CellInput>,
}

impl Bank {
    pub(super) fn new(kind: BankKind, first: usize) -> Self {
        Self {
            kind,
            first,
            used: 0,
            fresh: 0,
            stale: 0,
            waiting: 0,
            chosen: 0,
            second: 0,
            stored: 0,
            owner: [NONE; CELLS],
            updated: [0; CELLS],
            times: Vec::new(),
            inputs: Vec::new(),
            hints: 0,
            hint_room: 0,
        }
    }

    /// Asks for what evaluation reads of every bank.
    #[inline(always)]
    pub(super) fn prefetch(&self) {
        prefetch(std::slice::from_ref(&self.kind));
        prefetch(&self.owner);
    }

    /// Where a palette lies, in palettes from the bank's first one.
    #[inline(always)]
    pub(super) fn slot(&self, palette: usize) -> usize {
        let (place, later) = (palette / 2, palette % 2);
        let second = usize::from(self.second >> place & 1);
        match self.kind.palettes {
            1 => place,
            // The first of a pair is the later one unless the second is.
            _ => 2 * place + (1 ^ second ^ later),
        }
    }

    /// The first row of a cell's earlier and of its later palette.
    pub(super) fn rows_of(&self, place: usize) -> [usize; 2] {
        let row = |later: usize| self.slot(2 * place + later) * self.kind.stride as usize;
        [self.first + row(0), self.first + row(1)]
    }

    /// The rows behind the bank.
    pub(super) fn end(&self) -> usize {
        self.first + CELLS * self.kind.cell_rows()
    }
}

const _: () = assert!(std::mem::offset_of!(Bank, owner) <= 64);

/// All banks of a crowd, in the order of their rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Banks {
    pub all: Vec<Bank>,
    /// Banks of each kind that have a free cell, the last one is taken first.
    pub open: Vec<(BankKind, Vec<u32>)>,
    /// Banks without used cells, by their [`room`](BankKind::room).
    pub empty: Vec<((usize, bool), Vec<u32>)>,
    /// How many cells are updated in each of 16 frames that follow one another.
    load: [u32; 16],
    /// Banks that have room for what their cells keep.
    pub fitted: usize,
    /// Key hints, bank by bank: of each cell as many as an instance has. Any values are valid.
    pub hints: Vec<u16>,
    /// Whether cells store what they are evaluated from though their tier is updated in every frame.
    pub all_store: bool,
    /// Whether no cell has been taken or freed since the last selection.
    pub settled: bool,
    /// Whether some bank needs more hints.
    crowded: bool,
}

/// Neighbouring banks.
#[derive(Debug)]
pub(crate) struct BankSlice<'a> {
    pub(super) all: &'a mut [Bank],
    /// The number of the first.
    pub(super) first: usize,
    pub(super) hints: &'a mut [u16],
    /// The place of the first of them among those of all banks.
    pub(super) first_hint: usize,
}

impl BankSlice<'_> {
    /// Splits before the bank of a number.
    pub(super) fn split_before(self, bank: usize) -> (Self, Self) {
        let (a, b) = self.all.split_at_mut(bank - self.first);
        let end = self.first_hint + self.hints.len();
        let middle = b.first().map_or(end, |bank| bank.hints);
        let (hints_a, hints_b) = self.hints.split_at_mut(middle - self.first_hint);
        let a = Self {
            all: a,
            hints: hints_a,
            ..self
        };
        let b = Self {
            all: b,
            first: bank,
            hints: hints_b,
            first_hint: middle,
        };
        (a, b)
    }
}

/// A cell's bank and place.
pub(super) fn split(cell: u32) -> (usize, usize) {
    let cell = cell & !SHARED_CELL;
    (cell as usize / CELLS, cell as usize % CELLS)
}

impl Banks {
    /// The phase of a rate in which the fewest cells are updated.
    pub fn least_phase(&self, rate: u8) -> u8 {
        let load = |phase: u8| {
            let frames = (usize::from(phase)..16).step_by(usize::from(rate));
            frames.map(|f| self.load[f]).sum::<u32>()
        };
        // The first of equals.
        (0..rate).min_by_key(|&phase| load(phase)).unwrap_or(0)
    }

    /// Counts cells that have come to a bank, or gone.
    pub fn count(&mut self, kind: BankKind, rate: u8, by: i32) {
        if kind.tier != SHARED {
            for frame in (usize::from(kind.phase)..16).step_by(usize::from(rate)) {
                self.load[frame] = self.load[frame].saturating_add_signed(by);
            }
        }
    }

    /// Takes a cell for an instance or a phase. It is fresh.
    pub fn take(&mut self, kind: BankKind, rate: u8, owner: u32, frame: u32) -> u32 {
        self.count(kind, rate, 1);
        self.settled = false;
        let open = match self.open.iter().position(|(k, _)| *k == kind) {
            Some(at) => at,
            None => {
                self.open.push((kind, Vec::with_capacity(64)));
                self.open.len() - 1
            }
        };
        let bank = match self.open[open].1.last() {
            Some(&bank) => bank,
            None => {
                let bank = self.bank(kind);
                self.open[open].1.push(bank);
                bank
            }
        };
        let b = &mut self.all[bank as usize];
        let place = (!b.used).trailing_zeros() as usize;
        let bit = 1 << place;
        b.used |= bit;
        b.fresh |= bit;
        b.stale &= !bit;
        b.waiting &= !bit;
        b.second &= !bit;
        b.stored &= !bit;
        (b.owner[place], b.updated[place]) = (owner, frame);
        if b.used == u16::MAX {
            self.open[open].1.pop();
        }
        bank * CELLS as u32 + place as u32
    }

    /// An empty bank, or a new one behind all others. Some more are made then, so that few frames make banks.
    fn bank(&mut self, kind: BankKind) -> u32 {
        let room = kind.room();
        let empty = self.empty.iter_mut().find(|(r, _)| *r == room);
        if let Some(bank) = empty.and_then(|(_, banks)| banks.pop()) {
            let b = &mut self.all[bank as usize];
            b.kind = kind;
            return bank;
        }
        let bank = self.all.len() as u32;
        let alike = self.all.iter().filter(|b| b.kind.room() == room);
        let alike = alike.count() as u32;
        let spare = (alike / 2).min(FEW_SPARES + alike / 8).min(SPARES);
        for _ in 0..=spare {
            self.all.push(Bank::new(kind, self.rows()));
        }
        self.crowded = true;
        // The first of them is taken first.
        for spare in (bank + 1..=bank + spare).rev() {
            self.put_empty(room, spare);
        }
        bank
    }

    fn put_empty(&mut self, room: (usize, bool), bank: u32) {
        match self.empty.iter_mut().find(|(r, _)| *r == room) {
            Some((_, banks)) => banks.push(bank),
            None => {
                let mut banks = Vec::with_capacity(64);
                banks.push(bank);
                self.empty.push((room, banks));
            }
        }
    }

    /// Frees a cell.
    pub fn free(&mut self, cell: u32, rate: u8) {
        let (bank, place) = split(cell);
        let b = &mut self.all[bank];
        let (kind, full) = (b.kind, b.used == u16::MAX);
        let bit = 1 << place;
        b.used &= !bit;
        for bits in [&mut b.fresh, &mut b.stale, &mut b.waiting, &mut b.stored] {
            *bits &= !bit;
        }
        b.owner[place] = NONE;
        let empty = b.used == 0;
        self.count(kind, rate, -1);
        self.settled = false;
        let Some((_, open)) = self.open.iter_mut().find(|(k, _)| *k == kind) else {
            return;
        };
        if full {
            open.push(bank as u32);
        }
        if empty {
            open.retain(|&b| b as usize != bank);
            self.put_empty(kind.room(), bank as u32);
        }
    }

    pub fn as_slice(&mut self) -> BankSlice<'_> {
        BankSlice {
            all: &mut self.all,
            first: 0,
            hints: &mut self.hints,
            first_hint: 0,
        }
    }

    /// Notes that a bank needs so many hints.
    pub fn need_hints(&mut self, bank: usize, hints: usize) {
        let bank = &mut self.all[bank];
        if (bank.hint_room as usize) < hints {
            bank.hint_room = hints as u32;
            self.crowded = true;
        }
    }

    /// Makes room for the hints of all banks.
    pub fn fit_hints(&mut self) {
        if std::mem::take(&mut self.crowded) {
            let mut all = 0;
            for bank in &mut self.all {
                bank.hints = all;
                all += bank.hint_room as usize;
            }
            self.hints.resize(all, 0);
        }
    }

    /// Whether a cell that an instance of a pool shows is one of the pool's shared palettes. It is not when its clip was
    /// unloaded.
    pub fn shares(&self, pool: usize, cell: u32) -> bool {
        let (bank, place) = split(cell);
        let shared = |b: &Bank| {
            let kind = (usize::from(b.kind.pool), b.kind.tier);
            kind == (pool, SHARED) && b.used >> place & 1 == 1
        };
        self.all.get(bank).is_some_and(shared)
    }

    /// The rows of all banks.
    pub fn rows(&self) -> usize {
        self.all.last().map_or(0, Bank::end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(tier: u8, phase: u8, stride: u32) -> BankKind {
        BankKind {
            pool: 0,
            tier,
            phase,
            palettes: 1,
            detail: 0,
            stride,
        }
    }

    #[test]
    fn cells_are_used_again_and_banks_stay_where_they_are() {
        let mut banks = Banks::default();
        let cells: Vec<u32> = (0..40)
            .map(|i| banks.take(kind(0, 0, 10), 1, i, 7))
            .collect();
        // The third comes with a spare one.
        assert_eq!((banks.all.len(), banks.rows()), (4, 640));
        assert_eq!(cells[17], 17);
        banks.free(cells[3], 1);
        banks.free(cells[20], 1);
        // The bank that was opened last is filled first.
        assert_eq!(banks.take(kind(0, 0, 10), 1, 99, 8), cells[20]);
        (0..16)
            .filter(|&i| i != 3)
            .for_each(|i| banks.free(cells[i], 1));
        // An empty bank serves any kind with cells of its size.
        assert_eq!(split(banks.take(kind(1, 0, 10), 4, 5, 9)), (0, 0));
        assert_eq!(split(banks.take(kind(1, 0, 7), 4, 5, 9)), (4, 0));
        assert_eq!(banks.rows(), 640 + 16 * 7);
    }

    #[test]
    fn phases_spread_the_work_evenly() {
        let mut banks = Banks::default();
        for i in 0..1000 {
            let rate = [1, 2, 4, 8, 16][i % 5];
            let phase = banks.least_phase(rate);
            banks.take(kind((i % 5) as u8, phase, 10), rate, i as u32, 0);
        }
        let (least, most) = (
            banks.load.iter().min().unwrap(),
            banks.load.iter().max().unwrap(),
        );
        assert!(most - least <= 2, "{:?}", banks.load);
    }
}
