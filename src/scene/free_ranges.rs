//! Free indices of the node arrays: sorted ranges, merged where they touch.

use std::ops::Range;

/// Free ranges, ascending, with at least one used index between two of them.
#[derive(Clone, Debug, Default)]
pub(super) struct FreeRanges(Vec<Range<u32>>);

impl FreeRanges {
    /// Takes `count` consecutive indices from the first range that holds as many; returns the first index.
    pub fn take(&mut self, count: u32) -> Option<u32> {
        let at = self.0.iter().position(|r| r.end - r.start >= count)?;
        let range = &mut self.0[at];
        let first = range.start;
        range.start += count;
        if range.start == range.end {
            self.0.remove(at);
        }
        Some(first)
    }

    /// Frees the indices of a range.
    pub fn give(&mut self, range: Range<u32>) {
        let at = self.0.partition_point(|r| r.start < range.start);
        let before = at.checked_sub(1).filter(|&b| self.0[b].end == range.start);
        let after = self.0.get(at).is_some_and(|r| r.start == range.end);
        match (before, after) {
            (Some(b), true) => self.0[b].end = self.0.remove(at).end,
            (Some(b), false) => self.0[b].end = range.end,
            (None, true) => self.0[at].start = range.start,
            (None, false) => self.0.insert(at, range),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_merge_and_the_first_that_fits_is_taken() {
        let mut free = FreeRanges::default();
        assert_eq!(free.take(1), None);
        free.give(10..12);
        free.give(4..5);
        free.give(5..6);
        free.give(13..20);
        assert_eq!(free.0, [4..6, 10..12, 13..20]);
        assert_eq!(free.take(3), Some(13));
        assert_eq!(free.take(2), Some(4));
        free.give(12..13);
        assert_eq!(free.0, [10..13, 16..20]);
        free.give(13..16);
        assert_eq!((free.0.len(), free.take(10)), (1, Some(10)));
    }
}
