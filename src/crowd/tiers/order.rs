//! The order in which a worker evaluates the palettes of its banks, and what it asks for ahead of them.

use super::bank::{Bank, SHARED};
use super::input::CellInput;
use super::select::{PaletteSet, Work};
use super::shared::{PhaseKey, SharedPhases};
use crate::evaluate::Sources;
use crate::evaluate::{Instances, Order, Prefetch, STATE, STEPS};
use crate::playback::ids::NO_CLIP;
use crate::playback::pool::Pool;
use crate::simd::prefetch;

/// Banks that are evaluated together if their palettes need no sorting.
pub(super) const GROUP: usize = 64;

/// A palette of a group of works as a number: the work within the group, and its number in the bank, see [`PaletteSet`].
#[inline(always)]
fn bits(work: usize, palette: usize) -> u32 {
    (work << 5 | palette) as u32
}

#[inline(always)]
fn of_bits(bits: u32) -> (usize, usize) {
    (bits as usize >> 5, bits as usize % 32)
}

/// The length of the first group of works: those of the pool and the tier of the first one. Of pools that are not `sorted`
/// a group has [`GROUP`] at most.
#[inline(always)]
pub(super) fn group(works: &[Work], sorted: bool, banks: &[Bank], first: usize) -> usize {
    let kind = |work: &Work| {
        let kind = &banks[work.bank as usize - first].kind;
        (kind.pool, kind.tier)
    };
    let most = if sorted { works.len() } else { GROUP };
    let Some((head, others)) = works.split_first() else {
        return 0;
    };
    let own = kind(head);
    1 + others.iter().take(most - 1).take_while(|work| kind(work) == own).count()
}

/// The works in an order in which palettes of a pool and tier come together, if some pool sorts them by clips.
pub(super) fn arrange<'a>(
    arranged: &'a mut Vec<Work>,
    all: &'a [Work],
    (banks, first): (&[Bank], usize),
    pools: &[Option<Pool>],
) -> &'a [Work] {
    let key = |work: &Work| {
        let kind = banks[work.bank as usize - first].kind;
        (kind.pool, kind.tier)
    };
    let sorts = |pool: &Pool| pool.tables().sorts();
    if !pools.iter().flatten().any(sorts) || all.is_sorted_by_key(key) {
        return all;
    }
    arranged.clear();
    arranged.extend_from_slice(all);
    arranged.sort_unstable_by_key(|work| (key(work), work.bank));
    arranged
}

/// What a palette is evaluated from.
pub(super) enum Source<'a> {
    /// A phase of a clip.
    Shared(PhaseKey),
    /// What the instance plays now.
    Now(usize),
    Stored(&'a CellInput),
}

impl Bank {
    /// What a palette is evaluated from.
    #[inline(always)]
    pub(super) fn source(&self, palette: usize) -> Source<'_> {
        let place = palette / 2;
        if self.kind.tier == SHARED {
            return Source::Shared(PhaseKey::of_bits(self.owner[place], self.kind.detail));
        }
        if self.stored >> place & 1 == 0 {
            // It is updated in every frame.
            return Source::Now(self.owner[place] as usize);
        }
        Source::Stored(&self.inputs[self.slot(palette)])
    }

    /// Whether the palette of a cell is evaluated from what its instance plays now, by the full rig.
    #[inline(always)]
    pub(super) fn is_now(&self, place: usize) -> bool {
        self.kind.tier != SHARED && self.kind.detail == 0 && self.stored >> place & 1 == 0
    }

    fn first_clip(&self, pool: &Pool, palette: usize) -> u16 {
        match self.source(palette) {
            Source::Shared(key) => key.clip,
            Source::Now(index) => pool.first_clip(index),
            Source::Stored(input) => input.actions.first().map_or(NO_CLIP, |a| a.clip),
        }
    }
}

/// The palettes of works, bank by bank.
#[derive(Clone)]
struct InPlace<'a> {
    /// The works that are next.
    next: std::slice::Iter<'a, Work>,
    work: &'a Work,
    left: PaletteSet,
}

impl<'a> Iterator for InPlace<'a> {
    type Item = (&'a Work, usize);

    #[inline(always)]
    fn next(&mut self) -> Option<(&'a Work, usize)> {
        while self.left.is_empty() {
            self.work = self.next.next()?;
            self.left = self.work.palettes;
        }
        Some((self.work, self.left.pop()))
    }
}

/// The palettes of a group, in the order in which they are evaluated.
pub(super) struct Palettes<'a> {
    group: &'a [Work],
    in_place: InPlace<'a>,
    /// In another order, or so that the worker can look ahead.
    listed: Option<&'a [u32]>,
    /// Of those that are listed.
    taken: usize,
}

impl<'a> Palettes<'a> {
    /// Those of a group, by clips if its pool has many. They are listed for one who looks `ahead`. There is a work at least.
    #[inline(always)]
    pub fn new(
        order: &'a mut Order,
        group: &'a [Work],
        (banks, first): (&[Bank], usize),
        (pool, sorts, ahead): (&Pool, bool, bool),
    ) -> Self {
        let in_place = InPlace { next: group.iter(), work: &group[0], left: PaletteSet::NONE };
        let listed = (sorts || ahead).then(|| list(order, group, (banks, first), (pool, sorts)));
        Self { group, in_place, listed, taken: 0 }
    }

    /// The next one with its work.
    #[inline(always)]
    pub fn next(&mut self) -> Option<(&'a Work, usize)> {
        let Some(listed) = self.listed else {
            return self.in_place.next();
        };
        let (work, palette) = of_bits(*listed.get(self.taken)?);
        self.taken += 1;
        Some((&self.group[work], palette))
    }

    /// How many of those that are listed have been taken.
    #[inline(always)]
    pub fn taken(&self) -> usize {
        self.taken
    }

    /// The list; empty if there is none.
    pub fn listed(&self) -> &'a [u32] {
        self.listed.unwrap_or_default()
    }
}

/// Lists the palettes of a group.
#[inline(never)]
fn list<'a>(
    order: &'a mut Order,
    group: &[Work],
    (banks, first): (&[Bank], usize),
    (pool, sorts): (&Pool, bool),
) -> &'a [u32] {
    let items = group.iter().enumerate().flat_map(|(number, work)| {
        let mut left = work.palettes;
        std::iter::from_fn(move || {
            let palette = (!left.is_empty()).then(|| left.pop())?;
            Some((work, palette, bits(number, palette)))
        })
    });
    if sorts {
        let items = items.map(|(work, palette, bits)| {
            let bank = &banks[work.bank as usize - first];
            (bank.first_clip(pool, palette), bits)
        });
        order.sort(pool.tables().clip_places(), items);
    } else {
        order.list(items.map(|item| item.2));
    }
    &order.items
}

/// The palettes of a group, in order.
#[derive(Clone, Copy)]
pub(super) struct Upcoming<'a> {
    pub group: &'a [Work],
    /// The number of the first bank.
    pub first: usize,
    pub items: &'a [u32],
    pub pool: &'a Pool,
    pub shared: Option<&'a SharedPhases>,
    /// Of the palette that is evaluated: most of the next ones have the same.
    pub sources: &'a Sources<'a>,
    /// The first work behind the group, and its pool if it is another one.
    pub behind: Option<(&'a Work, &'a Pool)>,
}

/// A palette that will be evaluated.
struct Next<'a> {
    pool: &'a Pool,
    sources: Sources<'a>,
    shared: Option<&'a SharedPhases>,
    bank: &'a Bank,
    palette: usize,
    /// Whether it is the first of another pool.
    other: bool,
}

impl<'a> Upcoming<'a> {
    /// The `i`-th palette; behind those of the group, those of the next pool's first bank.
    #[inline(always)]
    fn at<'b>(&self, i: usize, banks: &'b [Bank]) -> Option<Next<'b>>
    where
        'a: 'b,
    {
        if let Some(&bits) = self.items.get(i) {
            let (work, palette) = of_bits(bits);
            return Some(Next {
                pool: self.pool,
                sources: *self.sources,
                shared: self.shared,
                bank: &banks[self.group[work].bank as usize - self.first],
                palette,
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
        (bank.kind.tier != SHARED && !palettes.is_empty()).then(|| Next {
            pool,
            sources: pool.tables().sources_of(bank.kind.detail),
            shared: None,
            bank,
            palette: palettes.pop(),
            other: number == 0,
        })
    }

    /// Asks for what the palettes after the `i`-th will read.
    #[inline(always)]
    pub fn look_ahead(&self, i: usize, banks: &[Bank]) {
        // What is stored takes a step more.
        if let Some(next) = self.at(i + STATE + 2, banks)
            && let Source::Stored(input) = next.bank.source(next.palette)
        {
            prefetch(std::slice::from_ref(input));
        }
        if let Some(next) = self.at(i + STATE, banks) {
            if next.other {
                next.pool.prefetch();
            }
            match next.bank.source(next.palette) {
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
            let ask = |alone| Prefetch { sources: next.sources, step, alone, other: next.other };
            match next.bank.source(next.palette) {
                Source::Shared(key) => {
                    let time = next.shared.map_or(0.0, |s| s.time(key));
                    ask(true).clip(key.clip, time);
                }
                Source::Now(index) => {
                    let Next { pool, sources, .. } = next;
                    pool.prefetch_clips(index, step, sources, next.other);
                }
                Source::Stored(input) => {
                    let ask = ask(input.actions.len() <= 1);
                    for action in &input.actions {
                        ask.clip(action.clip, action.time);
                    }
                }
            }
        }
    }
}
