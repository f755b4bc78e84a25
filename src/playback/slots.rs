//! `Slots`: places for clips, blend spaces and actions, each with the generation of what lies there.

use super::error::PlaybackError;
use super::ids::RETIRED;

/// Places that are filled, freed and filled again. A place whose generations are used up stays empty, so
/// that the handle of something that has gone never names something else.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Slots<T>(Vec<(u16, Option<T>)>);

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> FromIterator<T> for Slots<T> {
    fn from_iter<I: IntoIterator<Item = T>>(all: I) -> Self {
        Self(all.into_iter().map(|t| (0, Some(t))).collect())
    }
}

impl<T> Slots<T> {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline]
    pub fn get(&self, index: u16) -> Option<&T> {
        self.0.get(usize::from(index))?.1.as_ref()
    }

    /// What lies at a place, if it is of this generation.
    pub fn find(&self, index: u16, generation: u16) -> Option<&T> {
        let (known, value) = self.0.get(usize::from(index))?;
        value.as_ref().filter(|_| *known == generation)
    }

    pub fn find_mut(&mut self, index: u16, generation: u16) -> Option<&mut T> {
        let (known, value) = self.0.get_mut(usize::from(index))?;
        value.as_mut().filter(|_| *known == generation)
    }

    pub fn generation(&self, index: u16) -> u16 {
        self.0.get(usize::from(index)).map_or(RETIRED, |s| s.0)
    }

    /// All that lies somewhere, with its place.
    pub fn iter(&self) -> impl Iterator<Item = (u16, &T)> + Clone {
        let all = (0..).zip(&self.0);
        all.filter_map(|(i, (_, value))| Some((i, value.as_ref()?)))
    }

    /// Puts something into the first free place.
    pub fn add(
        &mut self,
        value: T,
        what: &'static str,
        limit: usize,
    ) -> Result<u16, PlaybackError> {
        let free = |s: &(u16, Option<T>)| s.1.is_none() && s.0 != RETIRED;
        let index = self.0.iter().position(free).unwrap_or(self.0.len());
        if index >= limit {
            let count = index + 1;
            return Err(PlaybackError::Limit { what, count, limit });
        }
        match self.0.get_mut(index) {
            Some(slot) => slot.1 = Some(value),
            None => self.0.push((0, Some(value))),
        }
        Ok(index as u16)
    }

    /// Takes away what lies at a place; its handles become stale.
    pub fn take(&mut self, index: u16) -> Option<T> {
        let slot = self.0.get_mut(usize::from(index))?;
        let taken = slot.1.take()?;
        slot.0 = slot.0.saturating_add(1);
        Some(taken)
    }

    /// The same places with something else in them.
    pub fn map<U>(&self, f: impl Fn(&T) -> U) -> Slots<U> {
        let all = self.0.iter();
        Slots(all.map(|(g, value)| (*g, value.as_ref().map(&f))).collect())
    }

    /// Whether all that lay somewhere then still does.
    pub fn still_holds<U>(&self, then: &Slots<U>, same: impl Fn(&T, &U) -> bool) -> bool {
        then.iter().all(|(i, value)| {
            let now = self.find(i, then.generation(i));
            now.is_some_and(|now| same(now, value))
        })
    }

    /// Gives the empty places the generations of then, so that the same calls give the same handles. What
    /// was put into others since stays.
    pub fn rewind<U>(&mut self, then: &Slots<U>) {
        while self.0.len() > then.0.len() && self.0.pop_if(|s| s.1.is_none()).is_some() {}
        for (now, then) in self.0.iter_mut().zip(&then.0) {
            if now.1.is_none() {
                now.0 = then.0;
            }
        }
        let missing = then.0.iter().skip(self.0.len()).map(|s| (s.0, None));
        let missing: Vec<_> = missing.collect();
        self.0.extend(missing);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_retires_before_a_generation_comes_again() {
        let mut slots = Slots::default();
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
        let add = |slots: &mut Slots<char>, c| {
            let i = slots.add(c, "things", 9).unwrap();
            (i, slots.generation(i))
        };
        let mut slots: Slots<char> = ['a', 'b'].into_iter().collect();
        slots.take(0);
        let then = slots.clone();
        let run = |slots: &mut Slots<char>| {
            let first = add(slots, 'c');
            slots.take(first.0);
            let all = [first, add(slots, 'd'), add(slots, 'e'), add(slots, 'f')];
            for (i, _) in all {
                slots.take(i);
            }
            all
        };
        let first = run(&mut slots);
        assert!(slots.still_holds(&then, |a, b| a == b));
        slots.rewind(&then);
        assert_eq!(slots, then);
        assert_eq!(run(&mut slots), first);
        // In one that has had less, too.
        let mut other: Slots<char> = ['x'].into_iter().collect();
        other.take(0);
        other.rewind(&then);
        assert_eq!(other.map(|_| ()).0, [(1, None), (0, None)]);
        // What was added since stays, under its handle.
        let kept = add(&mut slots, 'g');
        slots.rewind(&then);
        assert_eq!(slots.find(kept.0, kept.1), Some(&'g'));
    }
}
