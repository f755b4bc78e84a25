//! `Banks`: the cells of the bone buffer, in banks of up to 16 that are updated together.

use super::bank::{Bank, BankKind, CELLS, SHARED, SHARED_CELL};
use crate::evaluate::Instances;
use crate::playback::pool::Pool;

/// A new bank comes with so many more at most: an eighth of those like it, and some.
const SPARES: u32 = 64;
/// Where there are few, so many at most.
const FEW_SPARES: u32 = 4;

/// All banks of a crowd, in the order of their rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Banks {
    all: Vec<Bank>,
    /// For each pool, banks of each kind that have a free cell; the last one is taken first.
    open: Vec<Vec<(BankKind, Vec<u32>)>>,
    /// Banks by their [`room`](BankKind::room).
    rooms: Vec<Room>,
    /// Number of cells that are updated in each of 16 successive frames.
    load: [u32; 16],
    /// Number of cells by the logarithm of their rate, and by turn.
    cells: [[u32; 16]; 5],
    /// Number of shared cells.
    shared: usize,
    /// Number of cells that were taken since the last selection.
    taken: usize,
    /// Number of banks that were given room for what their cells keep.
    fitted: usize,
    /// Key hints, bank by bank: as many for each cell as an instance has. Any values are valid.
    hints: Vec<u16>,
    /// True if inputs of all cells are stored, though their tier is updated in every frame.
    all_store: bool,
    /// True if some bank needs more hints.
    crowded: bool,
    /// True if banks have 16 cells, and new ones come with more, so that few frames make banks. Otherwise they have as
    /// many cells as are needed, and those at the end are given back when they are empty.
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

/// Cells that would be updated in another frame, so that frames have about as many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Uneven {
    pub rate: u8,
    pub from: u8,
    pub to: u8,
    /// Upper limit of this number.
    pub cells: u32,
}

/// Neighbouring banks.
#[derive(Debug)]
pub(crate) struct BankSlice<'a> {
    pub(super) all: &'a mut [Bank],
    /// The number of the first.
    pub(super) first: usize,
    pub(super) hints: &'a mut [u16],
    /// The index of the first of them among those of all banks.
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

/// Of 16 frames that follow one another, those that are a turn of a rate.
fn frames_of(rate: u8, turn: u8) -> impl Iterator<Item = usize> {
    (usize::from(turn)..16).step_by(usize::from(rate))
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

    pub fn shared(&self) -> usize {
        self.shared
    }

    /// Number of cells that were taken since the last selection.
    pub fn taken(&self) -> usize {
        self.taken
    }

    /// Notes that `cells` cells will be taken for this frame.
    pub fn expect(&mut self, cells: usize) {
        self.demand = cells;
    }

    /// By how many cells frames may differ so that fewer banks are needed: 4% of their mean.
    fn slack(&self) -> u32 {
        self.load.iter().sum::<u32>() / 16 / 24
    }

    /// The mean number of cells that are updated in the frames of a turn.
    fn mean(&self, rate: u8, turn: u8) -> u32 {
        let all: u32 = frames_of(rate, turn).map(|f| self.load[f]).sum();
        all * u32::from(rate) / 16
    }

    /// The turn for a new cell of a kind, whose turn does not matter: that in which the fewest cells are updated, or
    /// one with about as few that has a bank with a free cell of the kind.
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
        let mean = |turn: &u8| self.mean(rate, *turn);
        // The first of equals.
        let least = (0..rate).min_by_key(mean).unwrap_or(0);
        let most = mean(&least) + self.slack();
        let fit = |turn: &u8| open >> turn & 1 == 1 && mean(turn) <= most;
        (0..rate).filter(fit).min_by_key(mean).unwrap_or(least)
    }

    /// Which cells could be updated in this frame rather than in their own, so that it comes up to the mean; `None` if
    /// frames are about even. Called again after cells were moved, it finds the next ones.
    pub fn uneven(&self, frame: u32) -> Option<Uneven> {
        let mean = self.load.iter().sum::<u32>().div_ceil(16);
        let room = (mean + 1).saturating_sub(self.due(frame) as u32);
        if room == 0 {
            return None;
        }
        for (log, cells) in self.cells.iter().enumerate().skip(1) {
            let rate = 1u8 << log;
            let to = (frame % u32::from(rate)) as u8;
            let least = self.mean(rate, to);
            // The first frame after this one of equals.
            let others = (1..rate).map(|after| (to + after) % rate);
            let others = others.filter(|&from| cells[usize::from(from)] > 0);
            let most = others.rev().max_by_key(|&from| self.mean(rate, from));
            let Some(from) = most else {
                continue;
            };
            let most = self.mean(rate, from);
            if most > mean && most > least + (self.slack() * 3 / 2).max(4) + 1 {
                let cells = (most - mean).min(room).min(cells[usize::from(from)]);
                return Some(Uneven { rate, from, to, cells });
            }
        }
        None
    }

    pub fn due(&self, frame: u32) -> usize {
        self.load[frame as usize % 16] as usize
    }

    /// Counts cells that have come to a bank, or gone.
    fn count(&mut self, kind: BankKind, rate: u8, by: i32) {
        if kind.tier != SHARED {
            for frame in frames_of(rate, kind.turn) {
                self.load[frame] = self.load[frame].saturating_add_signed(by);
            }
            let cells = &mut self.cells[rate.trailing_zeros() as usize][usize::from(kind.turn)];
            *cells = cells.saturating_add_signed(by);
        } else {
            self.shared = self.shared.saturating_add_signed(by as isize);
        }
    }

    /// Cells that are an instance's own.
    pub fn own_cells(&self) -> usize {
        self.cells.as_flattened().iter().sum::<u32>() as usize
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
        self.count(kind, rate, 1);
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
        bank * CELLS as u32 + place as u32
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
        self.count(kind, rate, -1);
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
mod tests {
    use super::*;

    fn kind(tier: u8, turn: u8, stride: u32) -> BankKind {
        BankKind { pool: 0, tier, turn, palettes: 1, detail: 0, rows: stride, stride }
    }

    #[test]
    fn cells_are_used_again_and_banks_stay_where_they_are() {
        let mut banks = Banks::new(true);
        let cells: Vec<u32> = (0..40).map(|i| banks.take(kind(0, 0, 10), 1, i, 7)).collect();
        // The third comes with a spare one.
        assert_eq!((banks.all.len(), banks.rows()), (4, 640));
        assert_eq!(cells[17], 17);
        banks.free(cells[3], 1);
        banks.free(cells[20], 1);
        // The bank that was opened last is filled first.
        assert_eq!(banks.take(kind(0, 0, 10), 1, 99, 8), cells[20]);
        (0..16).filter(|&i| i != 3).for_each(|i| banks.free(cells[i], 1));
        // An empty bank serves any kind with cells of its size.
        assert_eq!(split(banks.take(kind(1, 0, 10), 4, 5, 9)), (0, 0));
        assert_eq!(split(banks.take(kind(1, 0, 7), 4, 5, 9)), (4, 0));
        assert_eq!(banks.rows(), 640 + 16 * 7);
    }

    #[test]
    fn banks_without_spares_have_as_many_cells_as_are_asked_for() {
        let mut banks = Banks { demand: 20, ..Banks::default() };
        let own = kind(0, 0, 10);
        let cells: Vec<u32> = (0..20).map(|i| banks.take(own, 1, i, 7)).collect();
        assert!(cells.iter().copied().eq(0..20));
        assert_eq!((banks.all.len(), banks.rows()), (2, 200));
        // The last bank grows.
        assert_eq!((banks.take(own, 1, 20, 8), banks.rows()), (20, 210));
        assert_eq!((banks.take(own, 1, 21, 8), banks.rows()), (21, 220));
        // Of another rig.
        let other = BankKind { pool: 1, ..kind(0, 0, 5) };
        assert_eq!((banks.take(other, 1, 0, 8), banks.rows()), (32, 225));
        // The last one freed is taken next; banks at the end go when nobody is in them.
        banks.free(4, 1);
        assert_eq!(banks.take(own, 1, 22, 8), 4);
        (16..22).for_each(|cell| banks.free(cell, 1));
        banks.trim();
        assert_eq!(banks.rows(), 225);
        banks.free(32, 1);
        banks.trim();
        assert_eq!((banks.all.len(), banks.rows()), (1, 160));
        assert_eq!((banks.take(own, 1, 9, 9), banks.rows()), (16, 170));
    }

    #[test]
    fn turns_spread_the_work_evenly() {
        let mut banks = Banks::default();
        for i in 0..1000 {
            let rate = [1, 2, 4, 8, 16][i % 5];
            let turn = banks.turn_of(kind((i % 5) as u8, 0, 10), rate);
            banks.take(kind((i % 5) as u8, turn, 10), rate, i as u32, 0);
        }
        let (least, most) = (banks.load.iter().min().unwrap(), banks.load.iter().max().unwrap());
        assert!(most - least <= (2 * banks.slack()).max(2), "{:?}", banks.load);
    }
}
