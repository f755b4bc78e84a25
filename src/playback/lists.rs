//! `Lists`: a short list of values for each instance, sorted by a key.
//!
//! ```text
//! lists   | instance 0: first, length | instance 1 | …      up to the last instance that had a value
//! values  | range of 1 | range of 4          | range of 2 | …    sorted by key within a list
//! ```
//!
//! A list has a range of a power of two. A list that outgrows its range takes one of the next size; free ranges of
//! each size are used again. So a call costs the same for any number of instances, and a copy of all lists is two
//! copies of memory.

use std::ops::Range;

/// A value with the key by which lists are sorted.
pub(super) trait Keyed: Copy + Default {
    fn key(&self) -> u16;
}

/// Lists of values by instance.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists<T> {
    lists: Vec<List>,
    /// The values of all lists.
    values: Vec<T>,
    /// First values of the free ranges, by the logarithm of their size.
    free: Vec<Vec<u32>>,
}

/// The values of an instance: the first `len` values from `first` on. An empty list has no range.
#[derive(Clone, Copy, Debug, Default)]
struct List {
    first: u32,
    len: u32,
}

impl List {
    #[inline(always)]
    fn range(self) -> Range<usize> {
        self.first as usize..(self.first + self.len) as usize
    }

    /// The base-2 logarithm of the size of the range of a list.
    fn class(len: u32) -> usize {
        len.next_power_of_two().trailing_zeros() as usize
    }
}

impl<T: Keyed> Lists<T> {
    /// The number of lists: one more than the last instance that had a value.
    pub fn len(&self) -> usize {
        self.lists.len()
    }

    /// The values of an instance, in ascending order of keys.
    #[inline(always)]
    pub fn of(&self, instance: usize) -> &[T] {
        match self.lists.get(instance) {
            Some(list) if list.len > 0 => self.values.get(list.range()).unwrap_or_default(),
            _ => &[],
        }
    }

    #[inline]
    pub fn get_mut(&mut self, instance: usize, key: u16) -> Option<&mut T> {
        let at = self.of(instance).binary_search_by_key(&key, T::key).ok()?;
        let first = self.lists[instance].first as usize;
        self.values.get_mut(first + at)
    }

    /// The value with a key; a default value is added if there is none, and has to be given that key.
    #[inline]
    pub fn entry(&mut self, instance: usize, key: u16) -> &mut T {
        if self.lists.len() <= instance {
            self.lists.resize(instance + 1, List::default());
        }
        let list = self.lists[instance];
        let at = match self.of(instance).binary_search_by_key(&key, T::key) {
            Ok(at) => list.first as usize + at,
            Err(at) => self.insert(instance, at),
        };
        &mut self.values[at]
    }

    /// Makes room for one more value at `at` in the list of an instance. Returns its index in `values`.
    fn insert(&mut self, instance: usize, at: usize) -> usize {
        let mut list = self.lists[instance];
        let class = List::class(list.len + 1);
        if list.len == 0 || class != List::class(list.len) {
            let to = self.take(class);
            self.values.copy_within(list.range(), to as usize);
            self.give(list);
            list.first = to;
        }
        let range = list.range();
        let at = range.start + at;
        self.values.copy_within(at..range.end, at + 1);
        self.values[at] = T::default();
        list.len += 1;
        self.lists[instance] = list;
        at
    }

    /// Takes a range of a size, given by its logarithm.
    fn take(&mut self, class: usize) -> u32 {
        if let Some(first) = self.free.get_mut(class).and_then(Vec::pop) {
            return first;
        }
        // A rig has at most 65,535 joints and 2^20 instances; so many values do not fit in memory.
        let first = self.values.len();
        self.values.resize(first + (1 << class), T::default());
        first as u32
    }

    fn give(&mut self, list: List) {
        if list.len > 0 {
            let class = List::class(list.len);
            if self.free.len() <= class {
                self.free.resize_with(class + 1, Vec::new);
            }
            self.free[class].push(list.first);
        }
    }

    /// Removes the value with a key. Returns false if there was none.
    pub fn remove(&mut self, instance: usize, key: u16) -> bool {
        let Ok(at) = self.of(instance).binary_search_by_key(&key, T::key) else {
            return false;
        };
        let list = self.lists[instance];
        let at = list.first as usize + at;
        self.values.copy_within(at + 1..list.range().end, at);
        let mut less = list;
        less.len -= 1;
        if less.len == 0 {
            self.give(list);
        } else if List::class(less.len) != List::class(list.len) {
            less.first = self.take(List::class(less.len));
            let from = list.first as usize..list.first as usize + less.len as usize;
            self.values.copy_within(from, less.first as usize);
            self.give(list);
        }
        self.lists[instance] = less;
        true
    }

    /// Removes all values of an instance. Returns false if there were none.
    pub fn clear(&mut self, instance: usize) -> bool {
        match self.lists.get_mut(instance) {
            Some(list) if list.len > 0 => {
                let list = std::mem::take(list);
                self.give(list);
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    struct Number(u16);

    impl Keyed for Number {
        fn key(&self) -> u16 {
            self.0
        }
    }

    #[test]
    fn lists_are_sorted() {
        let mut lists = Lists::<Number>::default();
        for (instance, key) in [(7, 3), (2, 9), (7, 1), (2, 9), (5, 0)] {
            lists.entry(instance, key).0 = key;
        }
        let keys = |lists: &Lists<Number>, i| lists.of(i).iter().map(|n| n.0).collect::<Vec<_>>();
        assert_eq!(keys(&lists, 7), [1, 3]);
        assert_eq!(keys(&lists, 2), [9]);
        assert_eq!(keys(&lists, 6), [0u16; 0]);
        assert!(lists.remove(7, 1) && !lists.remove(7, 2));
        assert_eq!(keys(&lists, 7), [3]);
        assert!(lists.clear(2) && lists.clear(7) && !lists.clear(7));
        assert_eq!(keys(&lists, 5), [0]);
        lists.clear(5);
        assert!((0..lists.len()).all(|i| lists.of(i).is_empty()));
    }

    #[test]
    fn ranges_are_used_again() {
        let mut lists = Lists::<Number>::default();
        let fill = |lists: &mut Lists<Number>| {
            for key in [5, 3, 9, 1, 7] {
                (0..20).for_each(|instance| lists.entry(instance, key).0 = key);
            }
        };
        fill(&mut lists);
        let size = lists.values.len();
        for round in 0..5 {
            for instance in 0..20 {
                for key in [1, 9, 3, 5, 7] {
                    assert!(lists.remove(instance, key), "round {round}");
                    assert!(lists.of(instance).is_sorted_by_key(|n| n.0));
                }
            }
            fill(&mut lists);
            let all = [1, 3, 5, 7, 9].map(Number);
            assert!((0..20).all(|instance| lists.of(instance) == all));
        }
        assert_eq!(lists.values.len(), size);
    }
}
