//! `Further`: the further actions of a bucket of 64 entries, extras of actions, and offsets of layers; entries as layers.

use super::Entry;
use crate::playback::action::{Action, LAST};
use crate::playback::blend_space::steer::Extra;
use crate::playback::ids::Source;
use crate::playback::inertia::Inertia;
use crate::playback::layer_state::LayerState;

/// The parts of a bucket that few of its entries have.
#[derive(Clone, Debug)]
pub(super) struct Further {
    /// Further actions, linked by [`Action::next()`] from oldest to youngest; free elements are linked too.
    pub more: Vec<Action>,
    /// Index of the first free element of `more`, or [`LAST`].
    free: u8,
    pub extras: Vec<ExtraOf>,
    /// The entries that have an offset, as bits.
    has_offset: u64,
    /// The offsets of those entries, in their order.
    offsets: Vec<Inertia>,
}

/// The extras of the action with this entry and motion: no two actions of a layer play the same.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExtraOf {
    /// Index of the entry in its bucket.
    pub entry: u8,
    pub source: Source,
    pub extra: Extra,
}

impl Further {
    pub const EMPTY: Self = Self {
        more: Vec::new(),
        free: LAST,
        extras: Vec::new(),
        has_offset: 0,
        offsets: Vec::new(),
    };

    /// Makes the first room for `entries` actions, extras or offsets, if there is none.
    pub fn make_first_room(&mut self, entries: usize, [actions, extras, offsets]: [bool; 3]) {
        if actions && self.more.capacity() == 0 {
            self.more.reserve_exact(entries);
        }
        if extras && self.extras.capacity() == 0 {
            self.extras.reserve_exact(entries);
        }
        if offsets && self.offsets.capacity() == 0 {
            self.offsets.reserve_exact(entries);
        }
    }

    /// Whether there is room for a further action, an extra and an offset.
    pub fn has_room(&self) -> [bool; 3] {
        [self.more.capacity() > 0, self.extras.capacity() > 0, self.offsets.capacity() > 0]
    }

    /// The number of offsets of entries before this one, and whether it has one itself.
    #[inline]
    fn rank(&self, entry: usize) -> (usize, bool) {
        let before = self.has_offset & ((1 << entry) - 1);
        (before.count_ones() as usize, self.has_offset >> entry & 1 == 1)
    }

    /// The offset of an entry, given by its index in the bucket.
    #[inline]
    pub fn offset(&self, entry: usize) -> Option<&Inertia> {
        let (at, has) = self.rank(entry);
        has.then(|| self.offsets.get(at)).flatten()
    }

    /// Sets or removes the offset of an entry.
    #[inline]
    pub fn set_offset(&mut self, entry: usize, offset: Option<Inertia>) {
        match (self.rank(entry), offset) {
            ((_, false), None) => {}
            ((at, true), Some(offset)) => self.offsets[at] = offset,
            ((at, true), None) => {
                self.offsets.remove(at);
                self.has_offset &= !(1 << entry);
            }
            ((at, false), Some(offset)) => {
                if self.offsets.len() == self.offsets.capacity() {
                    self.offsets.reserve_exact(self.offsets.len().max(1));
                }
                self.offsets.insert(at, offset);
                self.has_offset |= 1 << entry;
            }
        }
    }

    /// Takes an element for an action: one that the entry had, or a free one, or a new one. If there is no room, the room
    /// doubles.
    #[inline]
    pub fn take(&mut self, spare: &mut u8) -> u8 {
        let list = if *spare != LAST { spare } else { &mut self.free };
        match self.more.get(usize::from(*list)) {
            Some(free) => std::mem::replace(list, free.next()),
            None => {
                if self.more.len() == self.more.capacity() {
                    self.more.reserve_exact(self.more.len().max(1));
                }
                self.more.push(Action::NOTHING);
                // There are at most 3 × 64 elements.
                (self.more.len() - 1) as u8
            }
        }
    }

    /// Frees linked elements.
    #[inline]
    pub fn release(&mut self, mut spare: u8) {
        while let Some(element) = self.more.get_mut(usize::from(spare)) {
            let next = element.next();
            *element = Action::NOTHING.linked(self.free);
            self.free = spare;
            spare = next;
        }
    }
}

/// The actions of an entry, oldest first.
#[inline(always)]
pub(super) fn actions<'a>(
    entry: &'a Entry,
    further: &'a Further,
) -> impl Iterator<Item = &'a Action> {
    let more = |a: &&'a Action| further.more.get(usize::from(a.next()));
    std::iter::successors(entry.first(), more)
}

/// The layer of an entry at its anchor. `number` is the entry's index in its bucket.
pub(super) fn load(entry: &Entry, further: &Further, number: usize) -> LayerState {
    let mut layer = LayerState::new(entry.weight, entry.speed);
    for action in actions(entry, further) {
        layer.push(action.linked(LAST));
    }
    for of in further.extras.iter().filter(|of| usize::from(of.entry) == number) {
        if let Some(a) = layer.find(of.source) {
            *layer.moving(a).1 = of.extra;
        }
    }
    layer.offset = further.offset(number).copied();
    layer
}
