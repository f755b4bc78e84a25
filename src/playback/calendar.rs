//! `Calendar`: when each entry of a pool has to be visited next.
//!
//! ```text
//! least    | least of a bucket |    read in every step, front to back
//! moments  | Moment |               read where the least of a bucket is due
//! ```
//!
//! A step reads 8 bytes per 64 entries, and all moments of those buckets in which an entry is due. It finds entries in
//! their order, and ranges of buckets are independent, so workers share nothing. A hierarchical timing wheel was as fast
//! while few entries are due, 1.8 times slower at 17 visits and 10 times slower at 56 visits per 1,000 entries: its
//! lists lie across memory, and the entries that it finds have to be sorted.

use super::clock::{Moment, Step};
use super::entries::{BUCKET, make_room};

/// The ticks until the earliest of no moments: later than any wait.
const FAR: u64 = 1 << 62;

/// The moment of each entry's next visit, and the least of each bucket.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calendar {
    moments: Vec<Moment>,
    least: Vec<Moment>,
}

/// A range of a calendar that one worker changes. It starts at a multiple of [`BUCKET`].
#[derive(Debug)]
pub(crate) struct CalendarMut<'a> {
    moments: &'a mut [Moment],
    least: &'a mut [Moment],
}

impl Calendar {
    /// Makes room for `more` entries.
    pub fn reserve(&mut self, more: usize) {
        make_room(&mut self.moments, more);
        make_room(&mut self.least, more.div_ceil(BUCKET));
    }

    /// Appends an entry. [`call`](Self::call) has to follow before the next step.
    pub fn push(&mut self) {
        if self.moments.len().is_multiple_of(BUCKET) {
            make_room(&mut self.least, 1);
            self.least.push(Moment::ZERO);
        }
        make_room(&mut self.moments, 1);
        self.moments.push(Moment::ZERO);
    }

    /// Makes an entry due now: the next step visits it.
    #[inline]
    pub fn call(&mut self, at: usize, now: Moment) {
        // `now` is the earliest moment of the bucket: entries that were due before now have been visited.
        self.moments[at] = now;
        self.least[at / BUCKET] = now;
    }

    /// Makes all entries due now: the next step visits them.
    pub fn call_all(&mut self, now: Moment) {
        self.moments.fill(now);
        self.least.fill(now);
    }

    pub fn all(&mut self) -> CalendarMut<'_> {
        CalendarMut { moments: &mut self.moments, least: &mut self.least }
    }
}

/// The ticks from just after `now` to a moment: 2^63 and more if it is not later.
#[inline(always)]
fn left(now: Moment, moment: Moment) -> u64 {
    now.ticks_to(moment).wrapping_sub(1)
}

impl CalendarMut<'_> {
    /// Splits the range at an entry: a multiple of [`BUCKET`], or the end.
    pub fn split_at(self, entry: usize) -> (Self, Self) {
        let (moments, least) = (self.moments, self.least);
        let moments = moments.split_at_mut(entry.min(moments.len()));
        let least = least.split_at_mut(entry.div_ceil(BUCKET).min(least.len()));
        let part = |moments, least| Self { moments, least };
        (part(moments.0, least.0), part(moments.1, least.1))
    }

    pub fn buckets(&self) -> usize {
        self.least.len()
    }

    fn bucket(&self, bucket: usize) -> &[Moment] {
        let first = bucket * BUCKET;
        &self.moments[first..(first + BUCKET).min(self.moments.len())]
    }

    /// The entries of a bucket that a step visits, as bits. The caller has to [set](Self::set) each of them.
    #[inline(always)]
    pub fn take(&mut self, bucket: usize, step: &Step) -> u64 {
        match step.reaches(self.least[bucket]) {
            true => self.search(bucket, step),
            false => 0,
        }
    }

    #[inline(never)]
    fn search(&mut self, bucket: usize, step: &Step) -> u64 {
        let now = step.after().now();
        let (mut found, mut next) = (0, [FAR; 4]);
        let (fours, rest) = self.bucket(bucket).as_chunks::<4>();
        // Four chains of minima, since each minimum waits for the one before.
        for (n, four) in fours.iter().enumerate() {
            for (i, (next, &moment)) in next.iter_mut().zip(four).enumerate() {
                let left = left(now, moment);
                found |= (left >> 63) << (4 * n + i);
                *next = left.min(*next);
            }
        }
        for (i, &moment) in rest.iter().enumerate() {
            let left = left(now, moment);
            found |= (left >> 63) << (4 * fours.len() + i);
            next[i] = left.min(next[i]);
        }
        let mut next = next[0].min(next[1]).min(next[2].min(next[3]));
        if step.reaches_all() {
            found = u64::MAX >> (BUCKET - self.bucket(bucket).len());
            next = FAR;
        }
        self.least[bucket] = now.later(1 + next as i64);
        found
    }

    /// The number of entries that a step visits. Counting ends with the bucket in which it reaches `most`.
    pub fn count(&self, step: &Step, most: usize) -> usize {
        let mut count = 0;
        for (bucket, &least) in self.least.iter().enumerate() {
            if step.reaches(least) {
                let reached = |&&moment: &&Moment| step.reaches(moment);
                count += self.bucket(bucket).iter().filter(reached).count();
                if count >= most {
                    break;
                }
            }
        }
        count
    }

    /// Sets the moment of the next visit of an entry that was [taken](Self::take).
    #[inline]
    pub fn set(&mut self, at: usize, moment: Moment, now: Moment) {
        self.moments[at] = moment;
        let least = &mut self.least[at / BUCKET];
        *least = now.first(*least, moment);
    }
}

#[cfg(test)]
mod tests {
    use super::super::clock::{Clock, Wait};
    use super::*;

    /// The calendar finds what a scan of all moments finds, in any order of calls, visits and waits.
    #[test]
    fn a_calendar_finds_the_entries_that_a_scan_finds() {
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
                for bucket in 0..range.buckets() {
                    let bits = range.take(bucket, &step);
                    for i in (0..BUCKET).filter(|i| bits >> i & 1 != 0) {
                        let at = bucket * BUCKET + i;
                        let wait = [0.0, 0.01, 1.0, 1e9][random(4) as usize];
                        let moment = now.after(Wait::of(wait));
                        range.set(at, moment, now);
                        visited.push((at, moment));
                    }
                }
                assert!(visited.iter().map(|v| v.0).eq(scan()));
                visited.iter().for_each(|&(at, moment)| plain[at] = moment);
                for _ in 0..random(4) {
                    let at = random(count as u32) as usize;
                    calendar.call(at, now);
                    plain[at] = now;
                }
            }
        }
    }
}
