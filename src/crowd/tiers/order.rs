//! The order in which a worker evaluates the palettes of its banks, and what it asks for ahead of them.

use super::bank::{Bank, SHARED};
use super::input::CellInput;
use super::select::{PaletteSet, Work};
use super::shared::{PhaseKey, SharedPhases};
use crate::evaluate::Sources;
use crate::playback::ids::NO_CLIP;
use crate::playback::pool::{Order, Pool, Prefetch, STATE, STEPS};
use crate::simd::prefetch;

/// Banks that are evaluated together if their palettes need no sorting.
pub(super) const GROUP: usize = 64;

/// A palette of a group of works.
#[derive(Clone, Copy)]
pub(super) struct Item {
    /// The work within the group.
    pub work: usize,
    /// Its number in the bank, see [`PaletteSet`].
    pub palette: usize,
}

impl Item {
    fn bits(self) -> u32 {
        (self.work << 5 | self.palette) as u32
    }

    #[inline(always)]
    pub fn of_bits(bits: u32) -> Self {
        Self {
            work: bits as usize >> 5,
            palette: bits as usize % 32,
        }
    }
}

/// The banks of a part, and what a frame writes of them.
#[derive(Clone, Copy)]
pub(super) struct Works<'a> {
    pub all: &'a [Work],
    /// Their order; empty for as they are.
    pub order: &'a [u32],
    /// The number of the first bank.
    pub first: usize,
}

impl<'a> Works<'a> {
    #[inline(always)]
    pub fn at(&self, i: usize) -> &'a Work {
        match self.order.get(i) {
            Some(&work) => &self.all[work as usize],
            None => &self.all[i],
        }
    }

    /// The place of a work's bank in the part.
    #[inline(always)]
    pub fn bank(&self, work: &Work) -> usize {
        work.bank as usize - self.first
    }

    /// The end of the works from `from` on that are of one pool and tier.
    pub fn group(&self, from: usize, banks: &[Bank], pools: &[Option<Pool>]) -> usize {
        let kind = |i: usize| {
            let kind = banks[self.bank(self.at(i))].kind;
            (kind.pool, kind.tier)
        };
        let own = kind(from);
        let sorted = matches!(pools.get(usize::from(own.0)), Some(Some(p)) if p.sorts());
        let most = if sorted { self.all.len() } else { from + GROUP };
        let mut end = from + 1;
        while end < self.all.len().min(most) && kind(end) == own {
            end += 1;
        }
        end
    }
}

impl<'a> Works<'a> {
    /// The work at an end of a group of a pool, if it is of another pool.
    pub fn behind<'p>(
        &self,
        end: usize,
        pool: u16,
        banks: &[Bank],
        pools: &'p [Option<Pool>],
    ) -> Option<(&'a Work, &'p Pool)> {
        let work = (end < self.all.len()).then(|| self.at(end))?;
        let of = banks[self.bank(work)].kind.pool;
        let next = pools.get(usize::from(of)).and_then(Option::as_ref);
        next.filter(|_| of != pool).map(|pool| (work, pool))
    }
}

/// The order of works by which palettes of a pool and tier come together, if some pool sorts them by clips.
pub(super) fn arrange(
    order: &mut Vec<u32>,
    all: &[Work],
    (banks, first): (&[Bank], usize),
    pools: &[Option<Pool>],
) {
    order.clear();
    let key = |work: &Work| {
        let kind = banks[work.bank as usize - first].kind;
        (kind.pool, kind.tier)
    };
    if pools.iter().flatten().any(|pool| pool.sorts()) && !all.is_sorted_by_key(key) {
        order.extend(0..all.len() as u32);
        order.sort_unstable_by_key(|&work| (key(&all[work as usize]), work));
    }
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

/// The palettes of the works of a group, bank by bank.
#[derive(Clone)]
struct InPlace<'a> {
    works: Works<'a>,
    from: usize,
    end: usize,
    /// The work that is next.
    next: usize,
    work: usize,
    left: PaletteSet,
}

impl Iterator for InPlace<'_> {
    type Item = Item;

    #[inline(always)]
    fn next(&mut self) -> Option<Item> {
        while self.left.is_empty() {
            if self.next == self.end {
                return None;
            }
            self.left = self.works.at(self.next).palettes;
            self.work = self.next - self.from;
            self.next += 1;
        }
        Some(Item {
            work: self.work,
            palette: self.left.pop(),
        })
    }
}

/// The palettes of a group, in the order in which they are evaluated.
pub(super) struct Palettes<'a> {
    in_place: InPlace<'a>,
    /// In another order, or so that the worker can look ahead.
    listed: Option<&'a [u32]>,
    taken: usize,
}

impl<'a> Palettes<'a> {
    /// Those of works `from..end`, by clips if the pool has many. They are listed for one who looks `ahead`.
    pub fn new(
        order: &'a mut Order,
        works: Works<'a>,
        (from, end): (usize, usize),
        (banks, pool): (&[Bank], &Pool),
        ahead: bool,
    ) -> Self {
        let in_place = InPlace {
            works,
            from,
            end,
            next: from,
            work: 0,
            left: PaletteSet::NONE,
        };
        if pool.sorts() {
            let clip = |item: Item| {
                let bank = &banks[works.bank(works.at(from + item.work))];
                bank.first_clip(pool, item.palette)
            };
            let items = in_place.clone().map(|item| (clip(item), item.bits()));
            order.sort(pool.clip_places(), items);
        } else if ahead {
            order.list(in_place.clone().map(Item::bits));
        }
        Self {
            in_place,
            listed: (pool.sorts() || ahead).then_some(&order.items),
            taken: 0,
        }
    }

    /// The next one, with its number.
    #[inline(always)]
    pub fn next(&mut self) -> Option<(usize, Item)> {
        let number = self.taken;
        self.taken += 1;
        let item = match self.listed {
            None => self.in_place.next()?,
            Some(listed) => Item::of_bits(*listed.get(number)?),
        };
        Some((number, item))
    }

    /// The list; empty if there is none.
    pub fn listed(&self) -> &'a [u32] {
        self.listed.unwrap_or_default()
    }
}

/// The palettes of a group, in order.
#[derive(Clone, Copy)]
pub(super) struct Upcoming<'a> {
    pub works: Works<'a>,
    pub from: usize,
    /// Empty if they are not listed.
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
            let item = Item::of_bits(bits);
            return Some(Next {
                pool: self.pool,
                sources: *self.sources,
                shared: self.shared,
                bank: &banks[self.works.bank(self.works.at(self.from + item.work))],
                palette: item.palette,
                other: false,
            });
        }
        let (work, pool) = self.behind?;
        let bank = &banks[self.works.bank(work)];
        let number = i - self.items.len();
        let mut palettes = work.palettes;
        for _ in 0..number.min(palettes.len()) {
            palettes.pop();
        }
        (bank.kind.tier != SHARED && !palettes.is_empty()).then(|| Next {
            pool,
            sources: pool.sources_of(bank.kind.detail),
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
            let ask = |alone| Prefetch {
                sources: next.sources,
                step,
                alone,
                other: next.other,
            };
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
