//! `Entries`: the stored state of all layers of a pool's instances, one entry per instance × layer.
//!
//! ```text
//! entries  | anchor | weight | speed | wait | first action |        read by the frame: most layers play one action
//! further  | further actions, linked oldest to youngest | extras | offsets |    one `Further` per bucket of 64 entries
//! calendar | Moment |                                               read in every step
//! ```
//!
//! An entry is stored as it was at its anchor. During its wait, its times and weights are functions of the clock, and
//! nothing changes it. The calendar holds the moment of its next visit: the end of its wait, or an earlier event of a
//! kind that is collected. The calendar follows from the entries and the event filter; it is not part of the state.

use super::action::{Action, LAST};
use super::blend_space::steer::Extra;
use super::calendar::{Calendar, CalendarMut};
use super::clock::{Clock, Moment, Wait};
use super::inertia::Inertia;
use super::layer_state::{ACTIONS_PER_LAYER, LayerState};
use super::linear_fade::LinearFade;
use crate::simd::prefetch;

mod further;
mod same;

use further::{ExtraOf, Further, actions, load};

/// Entries per bucket. Ranges of instances are split at multiples of this, so that each range owns its buckets.
pub(super) const BUCKET: usize = 64;

/// The layer of an instance, as it was at its anchor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    anchor: Moment,
    weight: LinearFade,
    speed: f32,
    /// The time from the anchor on during which nothing changes the entry.
    wait: Wait,
    /// The oldest action; [`Action::NOTHING`] if none plays.
    first: Action,
}

/// An entry as it is stored: its state at its anchor, the anchor, and its wait from there on.
pub(super) type Stored = (LayerState, Moment, Wait);

/// The error of [`Entries::sole`]: more than one action has a weight, or one has less than the full weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Several;

/// The entries of a pool.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entries {
    calendar: Calendar,
    entries: Vec<Entry>,
    further: Vec<Further>,
    /// True if few entries are expected to have further actions at once: see [`expect_few`](Self::expect_few).
    few: bool,
}

/// A range of entries that one worker changes. It starts at a multiple of [`BUCKET`].
#[derive(Debug)]
pub(crate) struct EntriesMut<'a> {
    pub calendar: CalendarMut<'a>,
    entries: &'a mut [Entry],
    further: &'a mut [Further],
}

/// Makes room for `more` elements: at least an eighth of the length, since doubling would leave up to half of it
/// unused.
pub(super) fn make_room<T>(v: &mut Vec<T>, more: usize) {
    if v.capacity() - v.len() < more {
        v.reserve_exact(more.max(v.len() / 8).max(8));
    }
}

impl Entry {
    const NOTHING: Self = Self {
        anchor: Moment::ZERO,
        weight: LinearFade::still(1.0),
        speed: 1.0,
        wait: Wait::NONE,
        first: Action::NOTHING,
    };

    /// Seconds since the anchor.
    #[inline(always)]
    pub fn since(&self, clock: Clock) -> f64 {
        clock.since(self.anchor)
    }

    /// The moment at which the wait ends.
    pub fn still_until(&self) -> Moment {
        self.anchor.after(self.wait)
    }

    #[inline(always)]
    pub fn weight(&self) -> &LinearFade {
        &self.weight
    }

    /// The oldest action, if one plays.
    #[inline(always)]
    pub fn first(&self) -> Option<&Action> {
        Some(&self.first).filter(|a| a.plays())
    }

    /// Whether the first action is the only one.
    #[inline(always)]
    pub fn plays_one(&self) -> bool {
        self.first.next() == LAST
    }
}

impl EntriesMut<'_> {
    /// Splits the range at an entry: a multiple of [`BUCKET`], or the end.
    pub fn split_at(self, entry: usize) -> (Self, Self) {
        let (entries, further) = (self.entries, self.further);
        let entry = entry.min(entries.len());
        let calendar = self.calendar.split_at(entry);
        let entries = entries.split_at_mut(entry);
        let further = further.split_at_mut(entry.div_ceil(BUCKET));
        let part = |calendar, entries, further| Self { calendar, entries, further };
        (part(calendar.0, entries.0, further.0), part(calendar.1, entries.1, further.1))
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The moment at which the wait of an entry ends.
    pub fn still_until(&self, at: usize) -> Moment {
        self.entries[at].still_until()
    }

    /// An entry and its actions, oldest first, as they stood at its anchor.
    pub fn get(&self, at: usize) -> (&Entry, impl Iterator<Item = &Action>) {
        let entry = &self.entries[at];
        (entry, actions(entry, &self.further[at / BUCKET]))
    }

    #[inline(always)]
    pub fn prefetch(&self, at: usize) {
        prefetch(std::slice::from_ref(&self.entries[at]));
    }

    /// The state of an entry at its anchor, and the anchor.
    pub fn load(&self, at: usize) -> (LayerState, Moment) {
        let entry = &self.entries[at];
        (load(entry, &self.further[at / BUCKET], at % BUCKET), entry.anchor)
    }

    /// Updates an entry that plays one action, at a time when the layer's weight does not change, in a bucket where no
    /// action has an [`Extra`](super::blend_space::steer::Extra). `update` gets the action as it is at `clock`, and the weight and the speed of the layer. It returns the
    /// seconds of the action's wait, and the seconds without an event that is collected, or `None` if the action stops.
    /// Returns false, and changes nothing, for any other entry.
    #[inline]
    pub fn update_alone(
        &mut self,
        at: usize,
        clock: Clock,
        now: Moment,
        update: impl FnOnce(&mut Action, (f32, f32)) -> Option<(f64, f64)>,
    ) -> bool {
        let (entry, further) = (&mut self.entries[at], &self.further[at / BUCKET]);
        let plays_one = entry.first.plays() && entry.plays_one();
        let more = !further.extras.is_empty() || further.offset(at % BUCKET).is_some();
        if !plays_one || entry.weight.running() || more {
            return false;
        }
        let action = &mut entry.first;
        action.glide(clock.since(entry.anchor));
        let stays = update(action, (entry.weight.value(), entry.speed));
        if stays.is_none() {
            *action = Action::NOTHING;
        }
        let (steady, silent) = stays.unwrap_or((f64::INFINITY, f64::INFINITY));
        (entry.anchor, entry.wait) = (now, Wait::of(steady));
        self.set_visit(at, now, silent);
        true
    }

    /// Anchors an entry now, with its stored state and without an end of its wait: its instance stands still.
    pub fn hold(&mut self, at: usize, now: Moment) {
        let (entry, further) = (&mut self.entries[at], &mut self.further[at / BUCKET]);
        (entry.anchor, entry.wait) = (now, Wait::of(f64::INFINITY));
        entry.first.stood();
        let mut next = entry.first.next();
        while let Some(action) = further.more.get_mut(usize::from(next)) {
            action.stood();
            next = action.next();
        }
        self.set_visit(at, now, f64::INFINITY);
    }

    /// Makes an entry due when its wait ends, or after `silent` seconds from now on.
    pub fn set_visit(&mut self, at: usize, now: Moment, silent: f64) {
        let visit = now.first(self.still_until(at), now.wait(silent));
        self.calendar.set(at, visit, now);
    }

    /// Stores an entry with its state at `anchor`.
    pub fn store(&mut self, at: usize, layer: &LayerState, anchor: Moment, wait: Wait) {
        let (entry, further) = (&mut self.entries[at], &mut self.further[at / BUCKET]);
        (entry.anchor, entry.wait) = (anchor, wait);
        (entry.weight, entry.speed) = (layer.weight, layer.speed);
        // From the youngest on, since each action holds the index of the next one.
        let (mut spare, mut next) = (entry.first.next(), LAST);
        let actions = layer.actions();
        for action in actions.iter().skip(1).rev() {
            let index = further.take(&mut spare);
            further.more[usize::from(index)] = action.linked(next);
            next = index;
        }
        let first = actions.first().copied();
        entry.first = first.map_or(Action::NOTHING, |first| first.linked(next));
        further.release(spare);
        further.set_offset(at % BUCKET, layer.offset);
        // The index in a bucket is below 64.
        let entry = (at % BUCKET) as u8;
        if !further.extras.is_empty() {
            further.extras.retain(|of| of.entry != entry);
        }
        for (a, action) in actions.iter().enumerate() {
            let extra = *layer.extra(a);
            if extra != Extra::NONE {
                let source = action.source();
                if further.extras.len() == further.extras.capacity() {
                    further.extras.reserve_exact(further.extras.len().max(1));
                }
                further.extras.push(ExtraOf { entry, source, extra });
            }
        }
    }
}

impl Entries {
    /// Makes room for `more` entries.
    pub fn reserve(&mut self, more: usize) {
        make_room(&mut self.further, more.div_ceil(BUCKET));
        self.calendar.reserve(more);
        make_room(&mut self.entries, more);
    }

    /// Appends an entry that plays nothing.
    pub fn push(&mut self) {
        if self.entries.len().is_multiple_of(BUCKET) {
            make_room(&mut self.further, 1);
            self.further.push(Further::EMPTY);
        }
        make_room(&mut self.entries, 1);
        self.calendar.push();
        self.entries.push(Entry::NOTHING);
    }

    /// The offset of an entry, as of its anchor.
    #[inline]
    pub fn offset(&self, at: usize) -> Option<&Inertia> {
        self.further[at / BUCKET].offset(at % BUCKET)
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn stored(&self, at: usize) -> Stored {
        let (entry, further) = (&self.entries[at], &self.further[at / BUCKET]);
        (load(entry, further, at % BUCKET), entry.anchor, entry.wait)
    }

    /// Stores an entry that [`stored`](Self::stored) returned. [`call_all`](Self::call_all) has to follow.
    pub fn restore(&mut self, at: usize, (layer, anchor, wait): &Stored) {
        self.make_first_room(at, layer);
        self.all().store(at, layer, *anchor, *wait);
    }

    /// Makes all entries due in the next step. A visit during a wait fires events and changes nothing, so more visits
    /// than necessary change no bit.
    pub fn call_all(&mut self, now: Moment) {
        self.calendar.call_all(now);
    }

    pub fn all(&mut self) -> EntriesMut<'_> {
        EntriesMut {
            calendar: self.calendar.all(),
            entries: &mut self.entries,
            further: &mut self.further,
        }
    }

    #[inline(always)]
    pub fn range(&self, range: std::ops::Range<usize>) -> &[Entry] {
        &self.entries[range]
    }

    /// The actions of an entry at its anchor, oldest first.
    #[inline(always)]
    pub fn actions(&self, at: usize) -> impl Iterator<Item = &Action> {
        actions(&self.entries[at], &self.further[at / BUCKET])
    }

    /// The only action of an entry with a weight, if it and the entry have their full weights; `Ok(None)` if none has a
    /// weight; `Err` otherwise. Valid until a call changes the entry or a fade ends: an action that fades counts,
    /// whatever its weight is now.
    #[inline]
    pub fn sole(&self, at: usize) -> Result<Option<&Action>, Several> {
        let entry = &self.entries[at];
        if entry.weight.is_silent() {
            return Ok(None);
        }
        let (mut sole, mut next) = (None, entry.first());
        while let Some(action) = next {
            if !action.weight.is_silent() {
                if sole.is_some() || !(action.weight.is_whole() && entry.weight.is_whole()) {
                    return Err(Several);
                }
                sole = Some(action);
            }
            // Most entries play one action: their further ones are not read.
            next = match action.next() {
                LAST => None,
                more => self.further[at / BUCKET].more.get(usize::from(more)),
            };
        }
        Ok(sole)
    }

    pub fn all_actions(&self) -> impl Iterator<Item = &Action> {
        (0..self.entries.len()).flat_map(|at| self.actions(at))
    }

    /// The state of an entry at a clock; at its anchor if that is `None`.
    pub fn at(&self, at: usize, clock: Option<Clock>) -> LayerState {
        let (entry, further) = (&self.entries[at], &self.further[at / BUCKET]);
        let mut layer = load(entry, further, at % BUCKET);
        layer.glide(clock.map_or(0.0, |clock| entry.since(clock)));
        layer
    }

    /// Stores an entry that a call has changed. The next step visits it.
    pub fn store(&mut self, at: usize, layer: &LayerState, clock: Clock) {
        let now = clock.now();
        self.make_first_room(at, layer);
        self.all().store(at, layer, now, Wait::NONE);
        self.calendar.call(at, now);
    }

    /// Anchors an entry now, because its instance stands still: its state is the same at any clock.
    pub fn anchor(&mut self, at: usize, now: Moment) {
        let entry = &mut self.entries[at];
        if entry.wait != Wait::NONE {
            entry.anchor = now;
        }
    }

    /// Sets whether the first room for further actions is one per four entries. Otherwise it is one per entry: all may
    /// begin a crossfade at once.
    pub fn expect_few(&mut self, few: bool) {
        self.few = few;
    }

    /// Makes room in all buckets if this is the first further action, the first extra or the first offset, so that later
    /// ones need not allocate in any bucket.
    fn make_first_room(&mut self, at: usize, layer: &LayerState) {
        let mut needs = [layer.len() > 1, layer.has_extras(), layer.offset.is_some()];
        for (needs, has) in needs.iter_mut().zip(self.further[at / BUCKET].has_room()) {
            *needs &= !has;
        }
        if needs != [false; 3] {
            let mut left = self.entries.len();
            for further in &mut self.further {
                let entries = left.min(BUCKET);
                let room = if self.few { entries.div_ceil(4) } else { entries };
                further.make_first_room(room, needs);
                left = left.saturating_sub(BUCKET);
            }
        }
    }
}

const _: () = assert!((ACTIONS_PER_LAYER - 1) * BUCKET < LAST as usize);

#[cfg(test)]
mod tests;
