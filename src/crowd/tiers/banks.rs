//! `Banks`: the cells of the bone buffer, in banks of up to 16 that are updated together.

use super::bank::{Bank, BankKind, CELLS, SHARED, SHARED_CELL};
use super::turns::Turns;
use crate::evaluate::Instances;
use crate::playback::pool::Pool;

/// The most spare banks that are made with a new bank.
const SPARES: u32 = 64;
/// Spare banks are also at most this number plus an eighth of the banks with the same [`Room`].
const FEW_SPARES: u32 = 4;

/// All banks of a crowd, in the order of their rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Banks {
    all: Vec<Bank>,
    /// For each pool, banks of each kind that have a free cell; the last one is taken first.
    open: Vec<Vec<(BankKind, Vec<u32>)>>,
    /// Banks by their [`room`](BankKind::room).
    rooms: Vec<Room>,
    turns: Turns,
    /// Number of cells that were taken since the last selection.
    taken: usize,
    /// Cells that instances have taken for this frame, ascending: the instances had other rows before, or none.
    new: Vec<u32>,
    /// Number of banks that were given room for what their cells keep.
    fitted: usize,
    /// Key hints, bank by bank. Each cell has the number of hints of an instance. Any values are valid.
    hints: Vec<u16>,
    /// True if inputs of all cells are stored, though their tier is updated in every frame.
    all_store: bool,
    /// True if some bank needs more hints.
    crowded: bool,
    /// True if banks have 16 cells, and each new bank brings spare banks, so that few frames make banks. Otherwise
    /// banks have only the cells that are needed, and empty banks at the end are given back.
    spares: bool,
    /// Number of cells that are still to be taken for this frame.
    demand: usize,
}

/// The banks with one [`room`](BankKind::room).
#[derive(Clone, Debug)]
struct Room {
    room: (usize, bool),
    banks: u32,
    /// Banks without used cells; the last one is taken first.
    empty: Vec<u32>,
}

/// Neighbouring banks.
#[derive(Debug)]
pub(crate) struct BankSlice<'a> {
    pub(super) all: &'a mut [Bank],
    /// The number of the first.
    pub(super) first: usize,
    pub(super) hints: &'a mut [u16],
    /// Index of the first of `hints` among the hints of all banks.
    pub(super) first_hint: usize,
}

impl BankSlice<'_> {
    pub(super) fn split_before(self, bank: usize) -> (Self, Self) {
        let (a, b) = self.all.split_at_mut(bank - self.first);
        let end = self.first_hint + self.hints.len();
        let middle = b.first().map_or(end, Bank::first_hint);
        let (hints_a, hints_b) = self.hints.split_at_mut(middle - self.first_hint);
        let a = Self { all: a, hints: hints_a, ..self };
        let b = Self { all: b, first: bank, hints: hints_b, first_hint: middle };
        (a, b)
    }
}

/// The entry of a list that `is` finds, made if there is none.
fn entry<T>(all: &mut Vec<T>, is: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> &mut T {
    let at = all.iter().position(is).unwrap_or(all.len());
    if at == all.len() {
        all.push(make());
    }
    &mut all[at]
}

/// A cell's bank and place.
pub(super) fn split(cell: u32) -> (usize, usize) {
    let cell = cell & !SHARED_CELL;
    (cell as usize / CELLS, cell as usize % CELLS)
}

impl Banks {
    /// None yet; see [`spares`](Self::spares).
    pub fn new(spares: bool) -> Self {
        Self { spares, ..Self::default() }
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// The banks in the order of their rows.
    pub fn all(&self) -> &[Bank] {
        &self.all
    }

    /// The banks, for what does not change which cells are used.
    pub fn all_mut(&mut self) -> &mut [Bank] {
        &mut self.all
    }

    /// The bank of a cell and the cell's place in it.
    pub fn of_cell(&self, cell: u32) -> (&Bank, usize) {
        let (bank, place) = split(cell);
        (&self.all[bank], place)
    }

    pub fn turns(&self) -> &Turns {
        &self.turns
    }

    #[inline]
    pub fn begin_frame(&mut self) {
        self.new.clear();
    }

    /// Whether an instance has taken a cell for the last frame.
    pub fn is_new(&self, cell: u32) -> bool {
        self.new.binary_search(&cell).is_ok()
    }

    /// Number of cells that were taken since the last selection.
    pub fn taken(&self) -> usize {
        self.taken
    }

    /// Notes that `cells` cells will be taken for this frame.
    pub fn expect(&mut self, cells: usize) {
        self.demand = cells;
    }

    /// The turn for a new cell of a kind; the turn in `kind` is ignored. It is the turn in which the fewest cells are
    /// updated, or a turn with few more in which a bank of the kind has a free cell.
    pub fn turn_of(&self, kind: BankKind, rate: u8) -> u8 {
        if rate == 1 {
            return 0;
        }
        let mut open = 0u16;
        for (other, banks) in self.open.get(usize::from(kind.pool)).into_iter().flatten() {
            let turn = other.turn;
            if !banks.is_empty() && *other == (BankKind { turn, ..kind }) {
                open |= 1 << turn;
            }
        }
        self.turns.choose(rate, open)
    }

    /// The list of a kind's banks that have a free cell, which is made if there is none.
    fn open(&mut self, kind: BankKind) -> &mut Vec<u32> {
        let pool = usize::from(kind.pool);
        if self.open.len() <= pool {
            self.open.resize_with(pool + 1, Vec::new);
        }
        let make = || (kind, Vec::with_capacity(64));
        &mut entry(&mut self.open[pool], |(k, _)| *k == kind, make).1
    }

    fn room(&mut self, kind: BankKind) -> &mut Room {
        let room = kind.room();
        let make = || Room { room, banks: 0, empty: Vec::with_capacity(64) };
        entry(&mut self.rooms, |r| r.room == room, make)
    }

    /// Adds a bank behind all others.
    fn push(&mut self, bank: Bank) {
        self.room(*bank.kind()).banks += 1;
        self.all.push(bank);
    }

    /// Takes a cell for an instance or a shared phase. It is fresh.
    pub fn take(&mut self, kind: BankKind, rate: u8, owner: u32, frame: u32) -> u32 {
        self.turns.count(kind, rate, 1);
        self.taken += 1;
        let bank = match self.open(kind).last() {
            Some(&bank) => bank,
            None => {
                let bank = self.bank(kind);
                self.open(kind).push(bank);
                bank
            }
        };
        self.demand = self.demand.saturating_sub(1);
        let b = &mut self.all[bank as usize];
        let place = b.take(owner, frame);
        if b.is_full() {
            self.open(kind).pop();
        }
        let cell = bank * CELLS as u32 + place as u32;
        if kind.tier != SHARED {
            self.new.push(cell);
        }
        cell
    }

    /// An empty bank, or a new one behind all others. Some more are made then, so that few frames make banks.
    fn bank(&mut self, kind: BankKind) -> u32 {
        let room = self.room(kind);
        if let Some(bank) = room.empty.pop() {
            self.all[bank as usize].reuse(kind);
            return bank;
        }
        let alike = room.banks;
        self.crowded = true;
        if !self.spares {
            return self.extend(kind);
        }
        let bank = self.all.len() as u32;
        let spare = (alike / 2).min(FEW_SPARES + alike / 8).min(SPARES);
        for _ in 0..=spare {
            self.push(Bank::new(kind, self.rows(), CELLS as u8));
        }
        // The first of them is taken first.
        let spares = (bank + 1..=bank + spare).rev();
        self.room(kind).empty.extend(spares);
        bank
    }

    /// Cells for those that are still to come: in the last bank, or in a new one behind it.
    fn extend(&mut self, kind: BankKind) -> u32 {
        let wanted = self.demand.clamp(1, CELLS) as u8;
        let last = self.all.last_mut();
        if let Some(last) = last.filter(|b| *b.kind() == kind && b.len() < CELLS) {
            last.grow(wanted);
        } else {
            self.push(Bank::new(kind, self.rows(), wanted));
        }
        self.all.len() as u32 - 1
    }

    /// Gives back the banks at the end that have no used cells.
    #[inline]
    pub fn trim(&mut self) {
        if self.spares || self.all.last().is_none_or(|b| b.used() != 0) {
            return;
        }
        while let Some(bank) = self.all.pop_if(|b| b.used() == 0) {
            self.room(*bank.kind()).banks -= 1;
        }
        let end = self.all.len() as u32;
        for room in &mut self.rooms {
            room.empty.retain(|&bank| bank < end);
        }
        self.fitted = self.fitted.min(self.all.len());
        self.crowded = true;
    }

    pub fn free(&mut self, cell: u32, rate: u8) {
        let (bank, place) = split(cell);
        let b = &mut self.all[bank];
        let (kind, full) = (*b.kind(), b.is_full());
        b.free(place);
        let empty = b.used() == 0;
        self.turns.count(kind, rate, -1);
        let open = self.open(kind);
        if full {
            open.push(bank as u32);
        }
        if empty {
            open.retain(|&b| b as usize != bank);
            self.room(kind).empty.push(bank as u32);
        }
    }

    pub fn as_slice(&mut self) -> BankSlice<'_> {
        BankSlice { all: &mut self.all, first: 0, hints: &mut self.hints, first_hint: 0 }
    }

    /// Notes that a bank needs room for the key hints of a pool's instances.
    #[inline(always)]
    pub fn need_hints(&mut self, bank: usize, pool: &Pool) {
        let bank = &mut self.all[bank];
        self.crowded |= bank.need_hints(bank.len() * pool.hints_per_instance());
    }

    /// Ends a selection: makes room for the key hints of all banks.
    pub fn settle(&mut self) {
        self.taken = 0;
        self.new.sort_unstable();
        if std::mem::take(&mut self.crowded) {
            let all = self.all.iter_mut().fold(0, |first, bank| bank.set_hints(first));
            self.hints.resize(all, 0);
        }
    }

    /// Makes room for what a cell keeps, and all cells of the banks that have come with it. `stores`: whether the
    /// inputs of the cell's tier are stored.
    pub fn fit(&mut self, cell: u32, pool: &Pool, stores: bool) {
        for bank in std::mem::replace(&mut self.fitted, self.all.len())..self.all.len() {
            self.need_hints(bank, pool);
            if stores {
                self.all[bank].fit_inputs(u16::MAX, pool);
            }
        }
        if stores {
            let (bank, place) = split(cell);
            self.all[bank].fit_inputs(1 << place, pool);
        }
    }

    /// Makes room for the inputs of all cells once there is a budget: any of them may have to wait.
    pub fn fit_budget(&mut self, budget: bool, pools: &[Option<Pool>]) {
        if std::mem::replace(&mut self.all_store, budget) || !budget {
            return;
        }
        for bank in self.all.iter_mut().filter(|b| b.kind().tier != SHARED) {
            // Those that have stored nothing yet are evaluated once more, so that all that wait can be written again.
            bank.mark_not_stored();
            if let Some(Some(pool)) = pools.get(usize::from(bank.kind().pool)) {
                bank.fit_inputs(u16::MAX, pool);
            }
        }
    }

    /// Marks the cells of a pool changed whose stored input plays a clip.
    pub fn mark_clip(&mut self, pool: usize, clip: u16) {
        let of_pool = |b: &&mut Bank| usize::from(b.kind().pool) == pool;
        self.all.iter_mut().filter(of_pool).for_each(|bank| bank.mark_clip(clip));
    }

    /// Whether a cell that an instance of a pool shows is one of the pool's shared palettes. It is not when its clip
    /// was unloaded.
    pub fn shares(&self, pool: usize, cell: u32) -> bool {
        let (bank, place) = split(cell);
        let shared = |b: &Bank| {
            let kind = (usize::from(b.kind().pool), b.kind().tier);
            kind == (pool, SHARED) && b.used() >> place & 1 == 1
        };
        self.all.get(bank).is_some_and(shared)
    }

    pub fn rows(&self) -> usize {
        self.all.last().map_or(0, Bank::end)
    }
}

#[cfg(test)]
mod tests;
