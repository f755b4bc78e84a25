//! `Further`: the further actions of a bucket of 64 entries, and what few actions have.

use crate::playback::action::{Action, LAST};
use crate::playback::blend_space::steer::Extra;
use crate::playback::ids::Source;

/// The parts of a bucket that few of its entries have.
#[derive(Clone, Debug)]
pub(super) struct Further {
    /// Further actions, linked by [`Action::next()`] from oldest to youngest; free elements are linked too.
    pub more: Vec<Action>,
    /// Index of the first free element of `more`, or [`LAST`].
    free: u8,
    pub extras: Vec<ExtraOf>,
}

/// What few actions have, of the action with this entry and motion: no two actions of a layer play the same.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExtraOf {
    /// Index of the entry in its bucket.
    pub entry: u8,
    pub source: Source,
    pub extra: Extra,
}

impl Further {
    pub const EMPTY: Self = Self { more: Vec::new(), free: LAST, extras: Vec::new() };

    /// Makes the first room for `entries` actions or extras, if there is none.
    pub fn make_first_room(&mut self, entries: usize, actions: bool, extras: bool) {
        if actions && self.more.capacity() == 0 {
            self.more.reserve_exact(entries);
        }
        if extras && self.extras.capacity() == 0 {
            self.extras.reserve_exact(entries);
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
