//! `Calendar`: when each entry of a pool has to be visited next.
//!
//! ```text
//! blocks   | least of 64 |    read in every step, front to back
//! due      | Moment |         read where the least of 64 is due
//! ```
//!
//! A step reads 8 bytes per 64 entries, and all moments of those blocks in which an entry is due. It finds entries in
//! their order, and ranges of blocks are independent, so workers share nothing. A hierarchical timing wheel was as fast
//! while few entries are due, 1.8 times slower at 17 visits and 10 times slower at 56 visits per 1,000 entries: its
//! lists lie across memory, and the entries that it finds have to be sorted.

use super::clock::{Moment, Step};
use super::entries::{BLOCK, make_room};

/// The ticks until the earliest of no moments: later than any wait.
const FAR: u64 = 1 << 62;

/// When each entry is due.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calendar {
    due: Vec<Moment>,
    blocks: Vec<Moment>,
}

/// A range of a calendar that one worker changes. It starts at a multiple of [`BLOCK`].
#[derive(Debug)]
pub(crate) struct CalendarMut<'a> {
    due: &'a mut [Moment],
    blocks: &'a mut [Moment],
}

impl Calendar {
    /// Makes room for `more` entries.
    pub fn reserve(&mut self, more: usize) {
        make_room(&mut self.due, more);
        make_room(&mut self.blocks, more.div_ceil(BLOCK));
    }

    /// Appends an entry. [`call`](Self::call) has to follow before the next step.
    pub fn push(&mut self) {
        if self.due.len().is_multiple_of(BLOCK) {
            make_room(&mut self.blocks, 1);
            self.blocks.push(Moment::ZERO);
        }
        make_room(&mut self.due, 1);
        self.due.push(Moment::ZERO);
    }

    /// Makes an entry due now: the next step visits it.
    #[inline]
    pub fn call(&mut self, at: usize, now: Moment) {
        // `now` is the earliest moment of the block: entries that were due before now have been visited.
        self.due[at] = now;
        self.blocks[at / BLOCK] = now;
    }

    /// Makes all entries due now: the next step visits them.
    pub fn call_all(&mut self, now: Moment) {
        self.due.fill(now);
        self.blocks.fill(now);
    }

    pub fn all(&mut self) -> CalendarMut<'_> {
        CalendarMut { due: &mut self.due, blocks: &mut self.blocks }
    }
}

/// The ticks from just after `now` to a moment: 2^63 and more if it is not later.
#[inline(always)]
fn left(now: Moment, due: Moment) -> u64 {
    now.ticks_to(due).wrapping_sub(1)
}

impl CalendarMut<'_> {
    /// Splits the range at an entry: a multiple of [`BLOCK`], or the end.
    pub fn split_at(self, entry: usize) -> (Self, Self) {
        let (due, blocks) = (self.due, self.blocks);
        let due = due.split_at_mut(entry.min(due.len()));
        let blocks = blocks.split_at_mut(entry.div_ceil(BLOCK).min(blocks.len()));
        let part = |due, blocks| Self { due, blocks };
        (part(due.0, blocks.0), part(due.1, blocks.1))
    }

    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    fn block(&self, block: usize) -> &[Moment] {
        let first = block * BLOCK;
        &self.due[first..(first + BLOCK).min(self.due.len())]
    }

    /// The entries of a block that a step visits, as bits. The caller has to [set](Self::set) each of them.
    #[inline(always)]
    pub fn take(&mut self, block: usize, step: &Step) -> u64 {
        match step.reaches(self.blocks[block]) {
            true => self.search(block, step),
            false => 0,
        }
    }

    #[inline(never)]
    fn search(&mut self, block: usize, step: &Step) -> u64 {
        let now = step.after().now();
        let (mut found, mut next) = (0, [FAR; 4]);
        let (fours, rest) = self.block(block).as_chunks::<4>();
        // Four chains of minima, since each minimum waits for the one before.
        for (n, four) in fours.iter().enumerate() {
            for (i, (next, &due)) in next.iter_mut().zip(four).enumerate() {
                let left = left(now, due);
                found |= (left >> 63) << (4 * n + i);
                *next = left.min(*next);
            }
        }
        for (i, &due) in rest.iter().enumerate() {
            let left = left(now, due);
            found |= (left >> 63) << (4 * fours.len() + i);
            next[i] = left.min(next[i]);
        }
        let mut next = next[0].min(next[1]).min(next[2].min(next[3]));
        if step.reaches_all() {
            found = u64::MAX >> (BLOCK - self.block(block).len());
            next = FAR;
        }
        self.blocks[block] = now.later(1 + next as i64);
        found
    }

    /// The number of entries that a step visits. Counting ends with the block in which it reaches `most`.
    pub fn count(&self, step: &Step, most: usize) -> usize {
        let mut count = 0;
        for (block, &least) in self.blocks.iter().enumerate() {
            if step.reaches(least) {
                let reached = |&&due: &&Moment| step.reaches(due);
                count += self.block(block).iter().filter(reached).count();
                if count >= most {
                    break;
                }
            }
        }
        count
    }

    /// Sets the moment at which an entry that was [taken](Self::take) is due.
    #[inline]
    pub fn set(&mut self, at: usize, due: Moment, now: Moment) {
        self.due[at] = due;
        let least = &mut self.blocks[at / BLOCK];
        *least = now.first(*least, due);
    }
}

#[cfg(test)]
mod tests {
    use super::super::clock::{Clock, Wait};
    use super::*;

    /// The calendar finds what a scan of all moments finds, in any order of calls, visits and waits.
    #[test]
    fn a_calendar_finds_what_a_scan_finds() {
        let mut state = 1u32;
        let mut random = |below: u32| {
            state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            (state >> 16) % below
        };
        for count in [1, 7, 64, 65, 1000] {
            let mut calendar = Calendar::default();
            // Close to where the count of ticks wraps.
            let mut clock = Clock::of_parts((i64::MAX - (1 << 49), false));
            (0..count).for_each(|_| calendar.push());
            calendar.call_all(clock.now());
            let mut plain = vec![clock.now(); count];
            for step in 0..400 {
                let dt = [0.0, 1.0 / 60.0, 0.1, 9000.0][random(40).min(3) as usize];
                let dt = if step % 97 == 96 { -dt } else { dt };
                let step = clock.advance(dt);
                let now = clock.now();
                let mut range = calendar.all();
                let found = range.count(&step, usize::MAX);
                let scan = || (0..count).filter(|&at| step.reaches(plain[at]));
                assert_eq!(scan().count(), found);
                let mut visited = Vec::new();
                for block in 0..range.blocks() {
                    let bits = range.take(block, &step);
                    for i in (0..BLOCK).filter(|i| bits >> i & 1 != 0) {
                        let at = block * BLOCK + i;
                        let wait = [0.0, 0.01, 1.0, 1e9][random(4) as usize];
                        let due = now.after(Wait::of(wait));
                        range.set(at, due, now);
                        visited.push((at, due));
                    }
                }
                assert!(visited.iter().map(|v| v.0).eq(scan()));
                visited.iter().for_each(|&(at, due)| plain[at] = due);
                for _ in 0..random(4) {
                    let at = random(count as u32) as usize;
                    calendar.call(at, now);
                    plain[at] = now;
                }
            }
        }
    }
}
