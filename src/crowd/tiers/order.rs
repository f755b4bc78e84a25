//! `Order`: the palettes of a worker in the order in which it evaluates them, and what it prefetches ahead of them.

use super::bank::{Bank, BankKind, CELLS, CellInput, NONE, SHARED};
use super::banks::BankSlice;
use super::shared::{PhaseKey, SharedPhases};
use super::work::Work;
use crate::evaluate::{Instances, Prefetch, STATE, STEPS, Sources};
use crate::playback::ids::NO_CLIP;
use crate::playback::pool::Pool;
use crate::simd::prefetch;

/// The most banks whose palettes are listed at once if they need no sorting.
const MOST: usize = 64;

/// Number of banks ahead at which a bank is prefetched while palettes are listed.
const AHEAD: usize = 4;

/// A palette that a worker evaluates.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Item {
    /// Index of the instance; of a shared palette the [bits](PhaseKey::bits) of its phase.
    pub owner: u32,
    /// First row, counted from the first row of the worker's memory.
    pub row: u32,
    /// Index of the first key hint among the hints of the worker's banks.
    pub hint: u32,
    /// Index of the stored input: number of the bank among the worker's banks × 32 + position in the bank. [`NONE`] if
    /// the palette is evaluated from what the instance plays now.
    input: u32,
    /// The clip by which palettes are sorted.
    clip: u16,
}

/// The input of a palette's evaluation.
pub(super) enum Source<'a> {
    /// A phase of a clip.
    Shared(PhaseKey),
    /// The instance of this index, as it plays now.
    Now(usize),
    Stored(&'a CellInput),
}

impl Item {
    /// The input of a palette in a bank of this kind.
    #[inline(always)]
    pub fn source<'a>(&self, kind: &BankKind, banks: &'a [Bank]) -> Source<'a> {
        if kind.tier == SHARED {
            return Source::Shared(PhaseKey::of_bits(self.owner, kind.detail));
        }
        match self.input {
            NONE => Source::Now(self.owner as usize),
            input => Source::Stored(banks[input as usize / 32].input(input as usize % 32)),
        }
    }

    /// Whether the palette, which is not shared, is evaluated from what its instance plays now.
    #[inline(always)]
    pub fn is_now(&self) -> bool {
        self.input == NONE
    }

    /// Whether a palette, the only one of its cell, is of an earlier frame.
    pub fn is_held(&self, banks: &[Bank], frame: u32) -> bool {
        let place = self.input as usize;
        self.input != NONE && banks[place / 32].age(place % 32, frame) > 0
    }

    fn first_clip(&self, kind: &BankKind, banks: &[Bank], pool: &Pool) -> u16 {
        match self.source(kind, banks) {
            Source::Shared(key) => key.clip,
            Source::Now(index) => pool.first_clip(index),
            Source::Stored(input) => input.actions.first().map_or(NO_CLIP, |a| a.clip),
        }
    }
}

/// The order in which a worker evaluates the palettes of its banks.
#[derive(Debug, Default)]
pub(crate) struct Order {
    /// Grows only; the first `count` are of the present works.
    items: Vec<Item>,
    count: usize,
    /// The items before they are sorted.
    unsorted: Vec<Item>,
    /// For each clip, first the number of items, then the index of the next item.
    counts: Vec<u32>,
}

/// The lengths of an order's lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OrderNeeds {
    listed: usize,
    sorted: usize,
    counts: usize,
}

impl OrderNeeds {
    /// The larger of these lengths and those that a pool needs.
    pub fn max(&self, pool: &Pool) -> Self {
        let instances = pool.state().len();
        let (listed, sorted, counts) = match pool.tables().sorts() {
            true => (instances, instances, pool.tables().clip_indices() + 2),
            false => (instances.min(MOST * CELLS), 0, 0),
        };
        Self {
            listed: self.listed.max(listed),
            sorted: self.sorted.max(sorted),
            counts: self.counts.max(counts),
        }
    }
}

impl Order {
    /// Makes room. Room is never given back.
    pub fn reserve(&mut self, needs: &OrderNeeds) {
        let Self { items, unsorted, counts, .. } = self;
        items.reserve(needs.listed.saturating_sub(items.len()));
        unsorted.reserve(needs.sorted.saturating_sub(unsorted.len()));
        counts.reserve(needs.counts.saturating_sub(counts.len()));
    }

    /// Lists the palettes of works of one kind, bank by bank, in a part of a frame whose memory begins at a row.
    /// `evaluates`: false if the palettes are written once more.
    #[inline(always)]
    pub(super) fn list(
        &mut self,
        works: &[Work],
        banks: &mut BankSlice<'_>,
        (kind, pool): (&BankKind, &Pool),
        (first_row, compact): (usize, bool),
        evaluates: bool,
    ) {
        self.count = 0;
        let hints = pool.hints_per_instance();
        let stride = kind.stride as usize;
        for work in works {
            let number = work.bank as usize - banks.first;
            if let Some(later) = banks.all.get(number + AHEAD) {
                later.prefetch();
            }
            let bank = &mut banks.all[number];
            let first_hint = bank.first_hint() - banks.first_hint;
            let mut next = work.row - first_row;
            let end = self.count + work.palettes();
            if self.items.len() < end {
                self.items.resize(end, Item::default());
            }
            let mut left = work.palettes;
            for item in &mut self.items[self.count..end] {
                let palette = left.pop();
                let (cell, position) = (palette / 2 % CELLS, bank.position(palette));
                let row = if compact { next } else { work.row - first_row + position * stride };
                *item = Item {
                    owner: bank.owner(cell),
                    row: row as u32,
                    hint: (first_hint + cell * hints) as u32,
                    input: if bank.stores(cell) { (number * 32 + position) as u32 } else { NONE },
                    clip: 0,
                };
                next += stride;
            }
            self.count = end;
            bank.finish(work.write, if evaluates { work.evaluate } else { 0 });
        }
    }

    /// Sorts the listed palettes by their clips, by counting. Those without a clip are last.
    #[inline(never)]
    pub(super) fn sort(&mut self, banks: &[Bank], kind: &BankKind, pool: &Pool) {
        let clips = pool.tables().clip_indices();
        let Self { items, count, unsorted, counts } = self;
        counts.clear();
        counts.resize(clips + 2, 0);
        for item in &mut items[..*count] {
            let clip = usize::from(item.first_clip(kind, banks, pool)).min(clips);
            // There are fewer clips than 2^16.
            item.clip = clip as u16;
            counts[clip + 1] += 1;
        }
        let mut before = 0;
        for count in &mut *counts {
            before += *count;
            *count = before;
        }
        std::mem::swap(items, unsorted);
        if items.len() < *count {
            items.resize(*count, Item::default());
        }
        for item in &unsorted[..*count] {
            let next = &mut counts[usize::from(item.clip)];
            items[*next as usize] = *item;
            *next += 1;
        }
    }

    #[inline(always)]
    pub(super) fn items(&self) -> &[Item] {
        &self.items[..self.count]
    }
}

/// Pool, tier and detail of a bank: banks that have them in common are evaluated with the same tables.
#[inline(always)]
fn tables_of(kind: &BankKind) -> (u16, u8, u8) {
    (kind.pool, kind.tier, kind.detail)
}

/// The number of works that are evaluated together: those from the first one on that use the same tables. Of pools that
/// are not `sorted` there are [`MOST`] at most.
#[inline(always)]
pub(super) fn together(works: &[Work], sorted: bool, banks: &BankSlice<'_>) -> usize {
    let tables = |work: &Work| tables_of(banks.all[work.bank as usize - banks.first].kind());
    let most = if sorted { works.len() } else { MOST.min(works.len()) };
    let mut count = 1.min(most);
    while count < most && tables(&works[count]) == tables(&works[0]) {
        count += 1;
    }
    count
}

/// The works in an order in which those that use the same tables come together.
#[inline(never)]
pub(super) fn arrange<'a>(
    arranged: &'a mut Vec<Work>,
    all: &'a [Work],
    banks: &BankSlice<'_>,
) -> &'a [Work] {
    let tables = |work: &Work| tables_of(banks.all[work.bank as usize - banks.first].kind());
    if all.is_sorted_by_key(tables) {
        return all;
    }
    arranged.clear();
    arranged.extend_from_slice(all);
    arranged.sort_unstable_by_key(|work| (tables(work), work.bank));
    arranged
}

/// The listed palettes and what follows them, for prefetching.
#[derive(Clone, Copy)]
pub(super) struct Upcoming<'a> {
    pub items: &'a [Item],
    pub kind: &'a BankKind,
    pub pool: &'a Pool,
    pub shared: Option<&'a SharedPhases>,
    pub sources: &'a Sources<'a>,
    /// The first work behind the listed ones, and its pool, if that is another one.
    pub behind: Option<(&'a Work, &'a Pool)>,
    /// Number of the worker's first bank.
    pub first: usize,
}

/// A palette that will be evaluated.
struct Next<'a> {
    pool: &'a Pool,
    sources: Sources<'a>,
    shared: Option<&'a SharedPhases>,
    source: Source<'a>,
    /// Whether it is the first of another pool.
    other: bool,
}

impl<'a> Upcoming<'a> {
    /// The `i`-th listed palette; beyond the list, the palettes of the next pool's first bank.
    #[inline(always)]
    fn at<'b>(&self, i: usize, banks: &'b [Bank]) -> Option<Next<'b>>
    where
        'a: 'b,
    {
        if let Some(item) = self.items.get(i) {
            return Some(Next {
                pool: self.pool,
                sources: *self.sources,
                shared: self.shared,
                source: item.source(self.kind, banks),
                other: false,
            });
        }
        let (work, pool) = self.behind?;
        let bank = &banks[work.bank as usize - self.first];
        let number = i - self.items.len();
        let mut palettes = work.palettes;
        for _ in 0..number.min(palettes.len()) {
            palettes.pop();
        }
        if bank.kind().tier == SHARED || palettes.is_empty() {
            return None;
        }
        let palette = palettes.pop();
        let cell = palette / 2;
        let source = match bank.stores(cell) {
            true => Source::Stored(bank.input(bank.position(palette))),
            false => Source::Now(bank.owner(cell) as usize),
        };
        let sources = pool.tables().sources_of(bank.kind().detail);
        Some(Next { pool, sources, shared: None, source, other: number == 0 })
    }

    /// Prefetches the data of the palettes after the `i`-th. Not inlined: few crowds have enough keys to call it, and
    /// the loop over palettes keeps more registers.
    #[inline(never)]
    pub fn look_ahead(&self, i: usize, banks: &[Bank]) {
        // Stored inputs take a step more.
        if let Some(Next { source: Source::Stored(input), .. }) = self.at(i + STATE + 2, banks) {
            prefetch(std::slice::from_ref(input));
        }
        if let Some(next) = self.at(i + STATE, banks) {
            if next.other {
                next.pool.prefetch();
            }
            match next.source {
                Source::Shared(_) => {}
                Source::Now(index) => next.pool.prefetch_entries(index),
                Source::Stored(input) => {
                    prefetch(&input.layers);
                    prefetch(&input.actions);
                }
            }
        }
        for (steps, step) in STEPS {
            let Some(next) = self.at(i + steps, banks) else {
                continue;
            };
            let Next { pool, sources, shared, other, .. } = next;
            let clips = |alone| Prefetch { sources, step, alone, other };
            match next.source {
                Source::Shared(key) => {
                    clips(true).clip(key.clip, shared.map_or(0.0, |s| s.time(key)));
                }
                Source::Now(index) => pool.prefetch_clips(index, step, sources, other),
                Source::Stored(input) => {
                    let clips = clips(input.actions.len() <= 1);
                    for action in &input.actions {
                        clips.clip(action.clip, action.time);
                    }
                }
            }
        }
    }
}
