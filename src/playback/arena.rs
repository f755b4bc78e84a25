//! `Arena`: generational storage for clips and blend spaces.

use super::error::PlaybackError;
use super::ids::RETIRED;

/// Values by index. The generation of an index changes when its value is removed. An index whose generations are used
/// up stays empty, so that a stale handle never refers to another value.
///
/// Only `values` are the state, which snapshots hold. Values that a [`rewind`](Self::rewind) takes out of the state,
/// called undone, are kept in `stayed`: such a value has its handle until its index has a value, and returns to the state
/// when it is added again or used.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Arena<T> {
    pub(super) values: Vec<(u16, Option<T>)>,
    /// Undone values; those that were taken out last are last.
    stayed: Vec<Stayed<T>>,
}

/// The most undone values that are kept: 17 s of one new clip a frame. The oldest are dropped, and snapshots that hold
/// them are refused from then on, as if they had been unloaded. Searches are linear.
const MAX_STAYED: usize = 1024;

/// A value that a rewind has taken out of the state.
#[derive(Clone, Debug, PartialEq)]
struct Stayed<T> {
    index: u16,
    generation: u16,
    value: T,
    /// True if the handle still names the value; false if what the value refers to has changed. A snapshot can bring it
    /// back in both cases.
    named: bool,
}

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Self::of_values(Vec::new())
    }
}

impl<T> FromIterator<T> for Arena<T> {
    fn from_iter<I: IntoIterator<Item = T>>(all: I) -> Self {
        Self::of_values(all.into_iter().map(|t| (0, Some(t))).collect())
    }
}

impl<T> Arena<T> {
    /// An arena of values by index, with their generations.
    pub fn of_values(values: Vec<(u16, Option<T>)>) -> Self {
        Self { values, stayed: Vec::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The number of indices, with or without a value.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    #[inline]
    pub fn get(&self, index: u16) -> Option<&T> {
        match self.values.get(usize::from(index)) {
            Some((_, Some(value))) => Some(value),
            _ => self.stayed_at(index).map(|stayed| &stayed.value),
        }
    }

    /// The undone value that the handle of an index without a value names.
    fn stayed_at(&self, index: u16) -> Option<&Stayed<T>> {
        let mut stayed = self.stayed.iter().rev();
        stayed.find(|s| s.index == index && s.named)
    }

    /// The value at an index, if the generation matches.
    pub fn find(&self, index: u16, generation: u16) -> Option<&T> {
        let value = self.get(index)?;
        (self.generation(index) == generation).then_some(value)
    }

    /// The generation of the handle that names the value at an index; without a value, of the next handle.
    pub fn generation(&self, index: u16) -> u16 {
        match self.values.get(usize::from(index)) {
            Some((generation, Some(_))) => *generation,
            vacant => match self.stayed_at(index) {
                Some(stayed) => stayed.generation,
                None => vacant.map_or(RETIRED, |s| s.0),
            },
        }
    }

    /// All values of the state, with their indices.
    pub fn iter(&self) -> impl Iterator<Item = (u16, &T)> + Clone {
        let all = (0..).zip(&self.values);
        all.filter_map(|(i, (_, value))| Some((i, value.as_ref()?)))
    }

    /// Whether there are undone values.
    pub fn has_undone(&self) -> bool {
        !self.stayed.is_empty()
    }

    /// The undone values that had a handle, the last one first.
    pub fn undone(&self, index: u16, generation: u16) -> impl Iterator<Item = &T> {
        let stayed = self.stayed.iter().rev();
        let stayed = stayed.filter(move |s| (s.index, s.generation) == (index, generation));
        stayed.map(|s| &s.value)
    }

    /// Stores a value at the first free index and returns the index.
    pub fn add(
        &mut self,
        value: T,
        what: &'static str,
        limit: usize,
    ) -> Result<u16, PlaybackError> {
        let free = |s: &(u16, Option<T>)| s.1.is_none() && s.0 != RETIRED;
        let index = self.values.iter().position(free).unwrap_or(self.values.len());
        if index >= limit {
            let count = index + 1;
            return Err(PlaybackError::Limit { what, count, limit });
        }
        match self.values.get_mut(index) {
            Some(vacant) => vacant.1 = Some(value),
            None => self.values.push((0, Some(value))),
        }
        Ok(index as u16)
    }

    /// As [`add`](Self::add), but brings back an undone value if it is the `same` and had the handle that the value
    /// gets. Returns the index, and whether that handle named the value that was brought back.
    pub fn add_again(
        &mut self,
        value: T,
        same: impl Fn(&T, &T) -> bool,
        what: &'static str,
        limit: usize,
    ) -> Result<(u16, bool), PlaybackError> {
        if self.stayed.is_empty() {
            return Ok((self.add(value, what, limit)?, false));
        }
        let index = self.add(value, what, limit)?;
        let (generation, value) = &self.values[usize::from(index)];
        let is_same = |s: &Stayed<T>| {
            let handle = (s.index, s.generation) == (index, *generation);
            handle && value.as_ref().is_some_and(|added| same(&s.value, added))
        };
        let Some(at) = self.stayed.iter().rposition(is_same) else {
            return Ok((index, false));
        };
        let named = self.stayed_at(index).is_some_and(|s| std::ptr::eq(s, &self.stayed[at]));
        let stayed = self.stayed.remove(at);
        self.values[usize::from(index)].1 = Some(stayed.value);
        Ok((index, named))
    }

    /// Returns an undone value to the state, because it is used. Returns whether the index had one.
    pub fn adopt(&mut self, index: u16) -> bool {
        if self.stayed.is_empty() {
            return false;
        }
        let at = usize::from(index);
        let named = |s: &Stayed<T>| s.index == index && s.named;
        let empty = self.values.get(at).is_none_or(|at| at.1.is_none());
        let Some(found) = self.stayed.iter().rposition(named).filter(|_| empty) else {
            return false;
        };
        let stayed = self.stayed.remove(found);
        if self.values.len() <= at {
            self.values.resize_with(at + 1, || (0, None));
        }
        self.values[at] = (stayed.generation, Some(stayed.value));
        true
    }

    /// Takes their handles from the undone values for which `all` is true.
    pub fn disown(&mut self, all: impl Fn(&T) -> bool) {
        for stayed in &mut self.stayed {
            stayed.named &= !all(&stayed.value);
        }
    }

    /// Removes the value at an index; its handles become stale.
    pub fn take(&mut self, index: u16) -> Option<T> {
        if let Some(at) = self.values.get_mut(usize::from(index))
            && let Some(taken) = at.1.take()
        {
            at.0 = at.0.saturating_add(1);
            // Older handles of the index, which name undone values, are stale too.
            let stale = at.0;
            let keeps = |s: &mut Stayed<T>| s.named &= s.index != index || s.generation >= stale;
            self.stayed.iter_mut().for_each(keeps);
            return Some(taken);
        }
        let named = |s: &Stayed<T>| s.index == index && s.named;
        let at = self.stayed.iter().rposition(named)?;
        let stayed = self.stayed.remove(at);
        // The same handle had named older undone values; it names none of them now.
        let older = |s: &mut Stayed<T>| {
            s.named &= s.index != index || s.generation > stayed.generation;
        };
        self.stayed.iter_mut().for_each(older);
        Some(stayed.value)
    }

    /// The same indices and generations with mapped values, without undone ones.
    pub fn map<U>(&self, f: impl Fn(&T) -> U) -> Arena<U> {
        let all = self.values.iter();
        Arena::of_values(all.map(|(g, value)| (*g, value.as_ref().map(&f))).collect())
    }

    /// Goes back to the indices, generations and values of `then`, so that the same calls return the same handles.
    /// Values that `then` lacks become undone. `same` says whether a value is the one of `then`; it gets the index of a
    /// value of the state, and `None` for an undone one.
    pub fn rewind<U>(&mut self, then: &Arena<U>, same: impl Fn(&U, &T, Option<u16>) -> bool) {
        let mut before = std::mem::take(&mut self.values);
        for (index, (generation, value)) in (0u16..).zip(&then.values) {
            let then = value.as_ref().and_then(|then| {
                let present = before.get_mut(usize::from(index));
                if let Some((known, now)) = present
                    && known == generation
                    && now.as_ref().is_some_and(|now| same(then, now, Some(index)))
                {
                    return now.take();
                }
                let is_it = |s: &Stayed<T>| {
                    (s.index, s.generation) == (index, *generation) && same(then, &s.value, None)
                };
                let at = self.stayed.iter().rposition(is_it)?;
                Some(self.stayed.remove(at).value)
            });
            self.values.push((*generation, then));
        }
        let left = (0u16..).zip(before);
        let left = left.filter_map(|(index, (generation, value))| {
            Some(Stayed { index, generation, value: value?, named: true })
        });
        self.stayed.extend(left);
        let dropped = self.stayed.len().saturating_sub(MAX_STAYED);
        self.stayed.drain(..dropped);
        for stayed in &mut self.stayed {
            // Handles older than the index's generation are stale.
            let value = then.values.get(usize::from(stayed.index));
            stayed.named &= value.is_none_or(|value| value.0 <= stayed.generation);
        }
    }

    /// One more than the last index that has a value, in the state or undone.
    pub fn extent(&self) -> u16 {
        let stayed = self.stayed.iter().map(|s| s.index + 1).max();
        // There are at most 65,535 indices.
        stayed.unwrap_or(0).max(self.values.len() as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_retires_before_a_generation_comes_again() {
        let mut arena = Arena::default();
        let mut given = std::collections::HashSet::new();
        for n in 0..70_000 {
            let i = arena.add(n, "things", 2).unwrap();
            assert!(given.insert((i, arena.generation(i))), "{n}");
            assert_ne!(arena.generation(i), RETIRED);
            assert_eq!(arena.take(i), Some(n));
        }
        let most = 2 * usize::from(RETIRED);
        for _ in given.len()..most {
            let i = arena.add(0, "things", 2).unwrap();
            arena.take(i);
        }
        assert_eq!(
            arena.add(0, "things", 2),
            Err(PlaybackError::Limit { what: "things", count: 3, limit: 2 })
        );
    }

    #[test]
    fn rewound_indices_give_the_same_handles() {
        let add = |arena: &mut Arena<char>, c| {
            let i = arena.add(c, "things", 9).unwrap();
            (i, arena.generation(i))
        };
        let mut arena: Arena<char> = ['a', 'b'].into_iter().collect();
        arena.take(0);
        let then = arena.clone();
        let run = |arena: &mut Arena<char>| {
            let first = add(arena, 'c');
            arena.take(first.0);
            let all = [first, add(arena, 'd'), add(arena, 'e'), add(arena, 'f')];
            for (i, _) in all {
                arena.take(i);
            }
            all
        };
        let first = run(&mut arena);
        arena.rewind(&then, |a, b, _| a == b);
        assert_eq!(arena, then);
        assert_eq!(run(&mut arena), first);
        // The same for an arena with fewer indices.
        let mut other: Arena<char> = ['x', 'b'].into_iter().collect();
        other.take(0);
        other.rewind(&then, |a, b, _| a == b);
        assert_eq!(other, then);
    }

    #[test]
    fn undone_values_stay_beside_the_state_until_they_are_added_again_or_used() {
        let again = |arena: &mut Arena<char>, c| {
            let added = arena.add_again(c, |a, b| a == b, "things", 9);
            added.unwrap()
        };
        let mut arena: Arena<char> = ['a', 'b'].into_iter().collect();
        arena.take(0);
        let then = arena.clone();
        for c in ['g', 'h'] {
            arena.add(c, "things", 9).unwrap();
        }
        let later = arena.clone();
        arena.rewind(&then, |a, b, _| a == b);
        let found = |arena: &Arena<char>| (arena.find(0, 1).copied(), arena.find(2, 0).copied());
        assert_eq!(found(&arena), (Some('g'), Some('h')));
        assert_eq!(arena.map(|c| *c), then);
        // Another value takes the index and the handle.
        assert_eq!(again(&mut arena, 'i'), (0, false));
        assert_eq!(found(&arena), (Some('i'), Some('h')));
        assert_eq!(again(&mut arena, 'h'), (2, true));
        // Both undone values can be brought back.
        for _ in 0..2 {
            let other = arena.map(|c| *c);
            arena.rewind(&later, |a, b, _| a == b);
            assert_eq!(arena.map(|c| *c), later);
            arena.rewind(&other, |a, b, _| a == b);
            assert_eq!(found(&arena), (Some('i'), Some('h')));
        }
        // A value that is used returns to the state; a value that is removed is gone.
        arena.rewind(&then, |a, b, _| a == b);
        assert!(arena.adopt(2) && !arena.adopt(2));
        assert_eq!(arena.values, [(1, None), (0, Some('b')), (0, Some('h'))]);
        assert!(arena.take(0).is_some());
        arena.disown(|_| true);
        assert_eq!(found(&arena), (None, Some('h')));
        assert_eq!(again(&mut arena, 'j'), (0, false));
        assert_eq!(arena.generation(0), 1);
    }
}
