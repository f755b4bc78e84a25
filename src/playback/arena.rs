//! `Arena`: generational storage for clips, blend spaces and actions.

use super::error::PlaybackError;
use super::ids::RETIRED;

/// Values by index, each index with a generation that changes when its value is removed. An index whose
/// generations are used up stays empty, so a stale handle never refers to another value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Arena<T> {
    pub(super) places: Vec<(u16, Option<T>)>,
    /// Indices of values that were added after the moment that [`rewind`](Self::rewind) went back to.
    stayed: Vec<u16>,
}

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            stayed: Vec::new(),
        }
    }
}

impl<T> FromIterator<T> for Arena<T> {
    fn from_iter<I: IntoIterator<Item = T>>(all: I) -> Self {
        Self {
            places: all.into_iter().map(|t| (0, Some(t))).collect(),
            stayed: Vec::new(),
        }
    }
}

impl<T> Arena<T> {
    /// Values by index with their generations.
    pub fn of_places(places: Vec<(u16, Option<T>)>) -> Self {
        Self {
            places,
            stayed: Vec::new(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The number of indices, with or without a value.
    pub fn places(&self) -> usize {
        self.places.len()
    }

    #[inline]
    pub fn get(&self, index: u16) -> Option<&T> {
        self.places.get(usize::from(index))?.1.as_ref()
    }

    /// The value at an index, if the generation matches.
    pub fn find(&self, index: u16, generation: u16) -> Option<&T> {
        let (known, value) = self.places.get(usize::from(index))?;
        value.as_ref().filter(|_| *known == generation)
    }

    pub fn find_mut(&mut self, index: u16, generation: u16) -> Option<&mut T> {
        let (known, value) = self.places.get_mut(usize::from(index))?;
        value.as_mut().filter(|_| *known == generation)
    }

    pub fn generation(&self, index: u16) -> u16 {
        self.places.get(usize::from(index)).map_or(RETIRED, |s| s.0)
    }

    /// All values with their indices.
    pub fn iter(&self) -> impl Iterator<Item = (u16, &T)> + Clone {
        let all = (0..).zip(&self.places);
        all.filter_map(|(i, (_, value))| Some((i, value.as_ref()?)))
    }

    /// Stores a value at the first free index and returns the index.
    pub fn add(
        &mut self,
        value: T,
        what: &'static str,
        limit: usize,
    ) -> Result<u16, PlaybackError> {
        let free = |s: &(u16, Option<T>)| s.1.is_none() && s.0 != RETIRED;
        let index = self
            .places
            .iter()
            .position(free)
            .unwrap_or(self.places.len());
        if index >= limit {
            let count = index + 1;
            return Err(PlaybackError::Limit { what, count, limit });
        }
        match self.places.get_mut(index) {
            Some(slot) => slot.1 = Some(value),
            None => self.places.push((0, Some(value))),
        }
        Ok(index as u16)
    }

    /// The index of a value that survived a [`rewind`](Self::rewind), if it is the `same` and is stored
    /// where [`add`](Self::add) would put it now. So a repeated call returns the handle that it returned
    /// before the rewind.
    pub fn add_again(&mut self, same: impl Fn(&T) -> bool) -> Option<u16> {
        if self.stayed.is_empty() {
            return None;
        }
        let mut places = (0u16..).zip(&self.places);
        let next = places.find(|(i, s)| match &s.1 {
            Some(_) => self.stayed.contains(i),
            None => s.0 != RETIRED,
        });
        let (index, (_, value)) = next?;
        same(value.as_ref()?).then_some(index)?;
        self.stayed.retain(|&i| i != index);
        Some(index)
    }

    /// Removes the value at an index; its handles become stale.
    pub fn take(&mut self, index: u16) -> Option<T> {
        let slot = self.places.get_mut(usize::from(index))?;
        let taken = slot.1.take()?;
        slot.0 = slot.0.saturating_add(1);
        self.stayed.retain(|&i| i != index);
        Some(taken)
    }

    /// The same indices and generations with mapped values.
    pub fn map<U>(&self, f: impl Fn(&T) -> U) -> Arena<U> {
        let all = self.places.iter();
        Arena {
            places: all.map(|(g, value)| (*g, value.as_ref().map(&f))).collect(),
            stayed: Vec::new(),
        }
    }

    /// Restores the generations of `then` at empty indices, so that the same calls return the same handles.
    /// Values added since then stay where they are; see [`add_again`](Self::add_again).
    pub fn rewind<U>(&mut self, then: &Arena<U>) {
        while self.places.len() > then.places.len()
            && self.places.pop_if(|s| s.1.is_none()).is_some()
        {}
        for (now, then) in self.places.iter_mut().zip(&then.places) {
            if now.1.is_none() {
                now.0 = then.0;
            }
        }
        let missing = then
            .places
            .iter()
            .skip(self.places.len())
            .map(|s| (s.0, None));
        let missing: Vec<_> = missing.collect();
        self.places.extend(missing);
        let added = |i: &u16| then.get(*i).is_none();
        self.stayed = self.iter().map(|(i, _)| i).filter(added).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_retires_before_a_generation_comes_again() {
        let mut slots = Arena::default();
        let mut given = std::collections::HashSet::new();
        for n in 0..70_000 {
            let i = slots.add(n, "things", 2).unwrap();
            assert!(given.insert((i, slots.generation(i))), "{n}");
            assert_ne!(slots.generation(i), RETIRED);
            assert_eq!(slots.take(i), Some(n));
        }
        let most = 2 * usize::from(RETIRED);
        for _ in given.len()..most {
            let i = slots.add(0, "things", 2).unwrap();
            slots.take(i);
        }
        assert_eq!(
            slots.add(0, "things", 2),
            Err(PlaybackError::Limit {
                what: "things",
                count: 3,
                limit: 2
            })
        );
    }

    #[test]
    fn rewound_places_give_the_same_handles() {
        let add = |slots: &mut Arena<char>, c| {
            let i = slots.add(c, "things", 9).unwrap();
            (i, slots.generation(i))
        };
        let mut slots: Arena<char> = ['a', 'b'].into_iter().collect();
        slots.take(0);
        let then = slots.clone();
        let run = |slots: &mut Arena<char>| {
            let first = add(slots, 'c');
            slots.take(first.0);
            let all = [first, add(slots, 'd'), add(slots, 'e'), add(slots, 'f')];
            for (i, _) in all {
                slots.take(i);
            }
            all
        };
        let first = run(&mut slots);
        slots.rewind(&then);
        assert_eq!(slots, then);
        assert_eq!(run(&mut slots), first);
        // The same for storage that has held fewer values.
        let mut other: Arena<char> = ['x'].into_iter().collect();
        other.take(0);
        other.rewind(&then);
        assert_eq!(other.map(|_| ()).places, [(1, None), (0, None)]);
    }

    #[test]
    fn what_stays_is_given_its_handle_again() {
        let mut slots: Arena<char> = ['a', 'b'].into_iter().collect();
        slots.take(0);
        let then = slots.clone();
        for c in ['g', 'h'] {
            slots.add(c, "things", 9).unwrap();
        }
        slots.rewind(&then);
        assert_eq!(
            (slots.find(0, 1), slots.find(2, 0)),
            (Some(&'g'), Some(&'h'))
        );
        // 'h' is not the next value, and a new value gets a new index.
        assert_eq!(slots.add_again(|c| *c == 'h'), None);
        assert_eq!(slots.add('i', "things", 9), Ok(3));
        assert_eq!(slots.add_again(|c| *c == 'g'), Some(0));
        assert_eq!(slots.add_again(|c| *c == 'g'), None, "once");
        assert_eq!(slots.add_again(|c| *c == 'h'), Some(2));
        assert_eq!(slots.add_again(|_| true), None);
        // A removed value is no longer found.
        slots.rewind(&then);
        slots.take(0);
        assert_eq!(slots.add_again(|_| true), None, "place 0 is free");
        assert_eq!(slots.add('j', "things", 9), Ok(0));
        assert_eq!(
            (slots.generation(0), slots.add_again(|c| *c == 'h')),
            (2, Some(2))
        );
    }
}
