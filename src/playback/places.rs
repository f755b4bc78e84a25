//! The row ranges of a rig's instances: computed in every frame, by prefix sums.

use super::entries::make_room;

/// An instance without rows.
const NONE: u32 = u32::MAX;

/// The order in which the rows of instances lie in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RowOrder {
    /// By the indices of rigs, then of instances. Rows that are kept do not move until an instance is spawned,
    /// despawned, shown or hidden: for memory that is expensive to copy.
    #[default]
    Index,
    /// First the instances evaluated in this frame, as with [`Index`](Self::Index), then those carried over, in the
    /// order of their old rows: one copy transfers all new rows, and few copies carry the rest.
    FreshFirst,
}

/// A copy of rows that are carried over, from the last frame to this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowMove {
    /// The first row in the last frame.
    pub from: usize,
    /// The first row in this frame.
    pub to: usize,
    /// The number of rows.
    pub rows: usize,
}

/// The rows of ordinals: the first `written` instances begin at one row, the carried ones at another.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Segments {
    /// Rows from one instance to the next.
    stride: usize,
    first: usize,
    written: u32,
    carried: usize,
}

impl Segments {
    fn row(&self, ordinal: u32) -> Option<usize> {
        match ordinal {
            NONE => None,
            o if o < self.written => Some(self.first + o as usize * self.stride),
            o => Some(self.carried + (o - self.written) as usize * self.stride),
        }
    }
}

/// The instances of a rig that a frame writes and carries over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Instances with rows in the written part; some of them may be kept.
    pub written: usize,
    /// Those of them whose rows stay unchanged.
    pub kept: usize,
    /// Instances with rows behind the written part.
    pub carried: usize,
}

/// The row ranges of a rig's instances in this frame and the last.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// Whether an instance is scheduled: its palette is evaluated in every frame.
    due: Vec<bool>,
    /// How many are not.
    held: usize,
    /// For every instance the number of earlier ones that have rows in the written part; one more entry at the end.
    rank: Vec<u32>,
    /// Whether an instance's rows in the written part stay unchanged.
    kept: Vec<bool>,
    /// The ordinal of every instance among those with rows, in this frame and the last.
    ordinal: Vec<u32>,
    last: Vec<u32>,
    /// Instances by ordinal, with [`RowOrder::FreshFirst`]; empty with [`RowOrder::Index`].
    order: Vec<u32>,
    last_order: Vec<u32>,
    now: Segments,
    before: Segments,
    counts: Counts,
    /// The request of the last two frames, if both were equal, had the same result, and nothing has changed since:
    /// the same request then has the same result again.
    settled: Option<(bool, RowOrder)>,
    /// True if no rows are counted: see [`keep_rows`](Self::keep_rows).
    rowless: bool,
}

impl Places {
    /// Makes room for `more` instances.
    pub fn reserve(&mut self, more: usize) {
        make_room(&mut self.due, more);
        if !self.rowless {
            make_room(&mut self.ordinal, more);
            make_room(&mut self.last, more);
        }
    }

    /// Whether rows are counted from now on. Otherwise instances take no memory for it, and have no rows here.
    pub fn keep_rows(&mut self, keep: bool) {
        if self.rowless == keep {
            let due = std::mem::take(&mut self.due);
            let count = due.len();
            *self = Self {
                due,
                held: self.held,
                rowless: !keep,
                ..Self::default()
            };
            let count = if keep { count } else { 0 };
            self.ordinal.resize(count, NONE);
            self.last.resize(count, NONE);
        }
    }

    /// Adds an entry for one more instance.
    pub fn push(&mut self) {
        self.settled = None;
        make_room(&mut self.due, 1);
        self.due.push(true);
        if !self.rowless {
            make_room(&mut self.ordinal, 1);
            make_room(&mut self.last, 1);
            self.ordinal.push(NONE);
            self.last.push(NONE);
        }
    }

    /// Resets the entry of a new instance: it has no rows yet.
    pub fn spawn(&mut self, index: usize) {
        self.settled = None;
        self.held -= usize::from(!self.due[index]);
        self.due[index] = true;
        for ordinals in [&mut self.ordinal, &mut self.last] {
            if let Some(ordinal) = ordinals.get_mut(index) {
                *ordinal = NONE;
            }
        }
    }

    /// For every instance whether it is scheduled.
    pub fn due(&self) -> &[bool] {
        &self.due
    }

    /// For every instance whether it is scheduled; `None` if all are.
    pub fn some_held(&self) -> Option<&[bool]> {
        (self.held > 0).then_some(&self.due[..])
    }

    /// Drops all rows: the state of the instances was replaced.
    pub fn reset(&mut self, due: &[bool]) {
        let count = if self.rowless { 0 } else { due.len() };
        self.settled = None;
        self.due.clear();
        self.due.extend_from_slice(due);
        self.held = due.iter().filter(|&&due| !due).count();
        for ordinals in [&mut self.ordinal, &mut self.last] {
            ordinals.clear();
            ordinals.resize(count, NONE);
        }
        self.order.clear();
        self.counts = Counts::default();
    }

    /// Sets whether an instance is scheduled.
    pub fn set_due(&mut self, index: usize, due: bool) {
        if self.due[index] != due {
            self.settled = None;
            self.due[index] = due;
            match due {
                true => self.held -= 1,
                false => self.held += 1,
            }
        }
    }

    /// To be called when the visibility of an instance has changed.
    pub fn unsettle(&mut self) {
        self.settled = None;
    }

    /// Decides which instances are evaluated. With `holds` the memory has the rows of the last frame, and instances
    /// that are not scheduled keep theirs; without it every visible instance is evaluated. `shown` is not read while
    /// nothing changes: see [`unsettle`](Self::unsettle).
    #[inline]
    pub fn count(
        &mut self,
        shown: impl Iterator<Item = bool>,
        holds: bool,
        order: RowOrder,
    ) -> Counts {
        if self.settled == Some((holds, order)) {
            self.before = self.now;
            return self.counts;
        }
        let counts = self.count_anew(shown, holds, order);
        let same = self.ordinal == self.last && self.order == self.last_order;
        self.settled = same.then_some((holds, order));
        counts
    }

    #[inline(never)]
    fn count_anew(
        &mut self,
        shown: impl Iterator<Item = bool>,
        holds: bool,
        order: RowOrder,
    ) -> Counts {
        let count = self.due.len();
        std::mem::swap(&mut self.ordinal, &mut self.last);
        std::mem::swap(&mut self.order, &mut self.last_order);
        self.before = self.now;
        self.order.clear();
        self.kept.resize(count, false);
        self.rank.resize(count + 1, 0);
        let mut rank = 0;
        let mut stays = 0;
        let places = self.rank.iter_mut().zip(&mut self.ordinal);
        let last = self.last.iter().zip(&self.due).zip(&mut self.kept);
        for (((place, ordinal), ((last, due), kept)), shown) in places.zip(last).zip(shown) {
            *place = rank;
            let stay = shown && holds && !due && *last != NONE;
            stays += usize::from(stay);
            *kept = stay;
            let written = shown && (!stay || order == RowOrder::Index);
            *ordinal = if written { rank } else { NONE };
            rank += u32::from(written);
        }
        if let Some(end) = self.rank.last_mut() {
            *end = rank;
        }
        self.counts = match order {
            RowOrder::Index => Counts {
                written: rank as usize,
                kept: stays,
                carried: 0,
            },
            RowOrder::FreshFirst => {
                self.follow(rank);
                Counts {
                    written: rank as usize,
                    kept: 0,
                    carried: stays,
                }
            }
        };
        self.counts
    }

    /// Appends the carried instances behind the written ones, in the order of their old rows.
    fn follow(&mut self, written: u32) {
        let fresh = (0u32..)
            .zip(self.ordinal.iter())
            .filter(|(_, o)| **o != NONE);
        self.order.extend(fresh.map(|(index, _)| index));
        let mut next = written;
        let mut follow = |index: u32| {
            let i = index as usize;
            if std::mem::take(&mut self.kept[i]) {
                self.ordinal[i] = next;
                self.order.push(index);
                next += 1;
            }
        };
        if self.last_order.is_empty() {
            (0..self.due.len() as u32).for_each(&mut follow);
        } else {
            self.last_order.iter().copied().for_each(&mut follow);
        }
    }

    /// Whether the last two frames had the same row ranges and a frame with the same request has them again.
    pub fn steady(&self, holds: bool, order: RowOrder) -> bool {
        self.settled == Some((holds, order)) && self.now == self.before
    }

    /// Sets the first rows of the instances counted last.
    pub fn place(&mut self, stride: usize, first: usize, carried: usize) {
        self.now = Segments {
            stride,
            first,
            written: self.counts.written as u32,
            carried,
        };
    }

    /// Whether an instance has rows in the written part.
    pub fn scheduled(&self, index: usize) -> bool {
        self.rank[index + 1] > self.rank[index]
    }

    /// Whether its rows there stay unchanged.
    pub fn kept(&self, index: usize) -> bool {
        self.kept[index]
    }

    /// The number of instances in `first..end` that have rows in the written part.
    pub fn written(&self, first: usize, end: usize) -> usize {
        (self.rank[end] - self.rank[first]) as usize
    }

    /// The end of a range from `first` on that has `written` instances with rows in the written part.
    pub fn end_of(&self, first: usize, written: usize) -> usize {
        let rank = self.rank.get(first).map_or(0, |&rank| rank as usize) + written;
        let end = self.rank.partition_point(|&r| (r as usize) < rank);
        end.clamp(first, self.rank.len().saturating_sub(1).max(first))
    }

    /// The counts of the last [`count`](Self::count).
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Rows from one instance to the next.
    pub fn stride(&self) -> usize {
        self.now.stride
    }

    /// The first rows of the written and of the carried part.
    pub fn firsts(&self) -> (usize, usize) {
        (self.now.first, self.now.carried)
    }

    /// The first row of an instance in this frame.
    pub fn row(&self, index: usize) -> Option<usize> {
        self.now.row(*self.ordinal.get(index)?)
    }

    /// The first row of an instance in the frame before.
    pub fn last_row(&self, index: usize) -> Option<usize> {
        self.before.row(*self.last.get(index)?)
    }

    /// The rows that are carried over, `len` per instance, adjacent ones joined, in ascending order of their
    /// destination.
    pub fn moves(&self, len: usize, mut each: impl FnMut(RowMove)) {
        let mut run: Option<RowMove> = None;
        let mut add = |index: usize| {
            let (Some(from), Some(to)) = (self.last_row(index), self.row(index)) else {
                return;
            };
            match &mut run {
                Some(run)
                    if run.from + (to - run.to) == from
                        && to - run.to == run.rows + self.now.stride - len =>
                {
                    run.rows = to + len - run.to;
                }
                _ => {
                    let next = RowMove {
                        from,
                        to,
                        rows: len,
                    };
                    if let Some(done) = run.replace(next) {
                        each(done);
                    }
                }
            }
        };
        if self.counts.kept > 0 {
            let kept = self.kept.iter().enumerate().filter(|k| *k.1);
            kept.for_each(|(index, _)| add(index));
        } else if self.counts.carried > 0 {
            let carried = self.order.iter().skip(self.counts.written);
            carried.for_each(|&index| add(index as usize));
        }
        if let Some(done) = run {
            each(done);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(places: &mut Places, order: RowOrder, shown: [bool; 6], holds: bool) -> Counts {
        places.unsettle();
        let counts = places.count(shown.into_iter(), holds, order);
        places.place(4, 100, 100 + counts.written * 4);
        counts
    }

    fn moves(places: &Places) -> Vec<[usize; 3]> {
        let mut out = Vec::new();
        places.moves(3, |m| out.push([m.from, m.to, m.rows]));
        out
    }

    fn six() -> Places {
        let mut places = Places::default();
        (0..6).for_each(|_| places.push());
        places
    }

    fn set_all(p: &mut Places, due: [bool; 6]) {
        (0..6).for_each(|index| p.set_due(index, due[index]));
        assert_eq!(p.some_held(), Some(&due[..]));
    }

    #[test]
    fn in_slots_rows_stay_while_nobody_comes_or_goes() {
        let mut p = six();
        let all = [true; 6];
        // No instance has rows yet: every visible one is evaluated, scheduled or not.
        set_all(&mut p, [true, false, false, true, false, true]);
        let counts = frame(&mut p, RowOrder::Index, all, true);
        assert_eq!((counts.written, counts.kept), (6, 0));
        let counts = frame(&mut p, RowOrder::Index, all, true);
        assert_eq!((counts.written, counts.kept), (6, 3));
        assert_eq!(moves(&p), [[104, 104, 7], [116, 116, 3]]);
        // The first is hidden: all rows move, in one run each.
        let hidden = [false, true, true, true, true, true];
        frame(&mut p, RowOrder::Index, hidden, true);
        assert_eq!(moves(&p), [[104, 100, 7], [116, 112, 3]]);
        assert_eq!(
            (p.row(0), p.row(5), p.last_row(0)),
            (None, Some(116), Some(100))
        );
        // In memory that does not hold the last frame, every instance is written.
        assert_eq!(frame(&mut p, RowOrder::Index, hidden, false).kept, 0);
    }

    #[test]
    fn fresh_rows_come_first_and_carried_ones_by_their_old_rows() {
        let mut p = six();
        let all = [true; 6];
        assert_eq!(frame(&mut p, RowOrder::FreshFirst, all, true).written, 6);
        set_all(&mut p, [true, false, false, true, false, true]);
        let counts = frame(&mut p, RowOrder::FreshFirst, all, true);
        assert_eq!((counts.written, counts.carried), (3, 3));
        let rows: Vec<_> = (0..6).filter_map(|i| p.row(i)).collect();
        assert_eq!(rows, [100, 112, 116, 104, 120, 108]);
        assert_eq!(moves(&p), [[104, 112, 7], [116, 120, 3]]);
        // The halves are swapped: the rows that were written are carried in one run.
        set_all(&mut p, [false, true, true, false, true, false]);
        frame(&mut p, RowOrder::FreshFirst, all, true);
        assert_eq!(moves(&p), [[100, 112, 11]]);
        // A new instance in a reused entry has no rows to carry.
        p.spawn(0);
        p.set_due(0, false);
        let counts = frame(&mut p, RowOrder::FreshFirst, all, true);
        assert_eq!((counts.written, counts.carried), (4, 2));
        assert_eq!(p.last_row(0), None);
    }

    #[test]
    fn what_has_settled_is_what_would_be_counted() {
        let mut state = 1u32;
        let mut random = |below: u32| {
            state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            ((state >> 16) % below) as usize
        };
        let mut settles = 0;
        for order in [RowOrder::Index, RowOrder::FreshFirst] {
            // The second one is counted in every frame.
            let mut pair = [six(), six()];
            let mut shown = [true; 6];
            for step in 0..2000 {
                let (index, what) = (random(6), random(12));
                let holds = step % 50 != 49;
                for p in &mut pair {
                    match what {
                        0 => p.set_due(index, !p.due[index]),
                        1 => p.spawn(index),
                        _ => {}
                    }
                }
                if what == 2 {
                    shown[index] = !shown[index];
                    pair[0].unsettle();
                }
                pair[1].unsettle();
                settles += usize::from(pair[0].settled == Some((holds, order)));
                let counts = pair.each_mut().map(|p| {
                    let counts = p.count(shown.into_iter(), holds, order);
                    p.place(4, step, step + counts.written * 4);
                    counts
                });
                assert_eq!(counts[0], counts[1]);
                let all = pair.each_ref().map(|p| {
                    let of = |i| (p.row(i), p.last_row(i), p.scheduled(i), p.kept(i));
                    ((0..6).map(of).collect::<Vec<_>>(), moves(p))
                });
                assert_eq!(all[0], all[1], "step {step}, {order:?}");
            }
        }
        assert!(settles > 1000, "{settles}");
    }
}
