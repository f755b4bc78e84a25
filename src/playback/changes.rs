//! `What` changed of an instance, and `Changes`: the instances of a pool that have changed since the last frame,
//! recorded for crowds.

use std::ops::BitOr;

/// The kinds of changes of an instance, as bits: the argument of [`Pool::touch`](super::pool::Pool::touch).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct What(u8);

impl What {
    pub const NOTHING: Self = Self(0);
    /// The pose: actions, their times and weights, speeds, overrides, targets of modifiers.
    pub const POSE: Self = Self(1);
    /// The bounds in the world: the world transform, or what plays.
    pub const BOUNDS: Self = Self(2);
    /// Whether it has rows: it was spawned, despawned, shown or hidden.
    pub const LAYOUT: Self = Self(4);
    /// The instance is new: another one may have had its index. Comes with [`POSE`](Self::POSE).
    pub const NEW: Self = Self(8);
    /// The kinds that a crowd without tiers needs.
    pub const ROWS: Self = Self(4 | 8);
    pub const ALL: Self = Self(15);

    #[inline]
    pub fn has(self, what: Self) -> bool {
        self.0 & what.0 != 0
    }
}

impl BitOr for What {
    type Output = Self;

    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The changed instances of a pool.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// The kinds of changes that are recorded; others are ignored.
    kinds: What,
    /// The recorded changes of each instance, by index.
    what: Vec<What>,
    /// Indices of the changed instances, each once, in the order of the calls.
    list: Vec<u32>,
}

impl Changes {
    /// Starts to record these kinds of changes only. All instances count as changed.
    pub fn record(&mut self, kinds: What, instances: usize) {
        *self = Self { kinds, ..Self::default() };
        for index in 0..instances {
            self.mark(index, What::POSE | What::BOUNDS | What::LAYOUT);
        }
    }

    /// Whether any of these kinds is recorded.
    pub fn records(&self, what: What) -> bool {
        self.kinds.has(what)
    }

    /// Records a change of an instance.
    #[inline]
    pub fn mark(&mut self, index: usize, what: What) {
        let what = What(what.0 & self.kinds.0);
        if what != What::NOTHING {
            self.add(index, what);
        }
    }

    fn add(&mut self, index: usize, what: What) {
        if self.what.len() <= index {
            self.what.resize(index + 1, What::NOTHING);
        }
        let known = &mut self.what[index];
        if *known == What::NOTHING {
            self.list.push(index as u32);
        }
        *known = *known | what;
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The changed instances, with their changes.
    pub fn all(&self) -> impl Iterator<Item = (usize, What)> {
        let what = |&index: &u32| (index as usize, self.what[index as usize]);
        self.list.iter().map(what)
    }

    #[inline]
    pub fn of(&self, index: usize) -> What {
        self.what.get(index).copied().unwrap_or_default()
    }

    /// Drops the changes of instances from index `instances` on.
    pub fn truncate(&mut self, instances: usize) {
        self.what.truncate(instances);
        self.list.retain(|&index| (index as usize) < instances);
    }

    pub fn clear(&mut self) {
        for &index in &self.list {
            self.what[index as usize] = What::NOTHING;
        }
        self.list.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_listed_once_and_only_while_they_are_recorded() {
        let mut changes = Changes::default();
        changes.mark(3, What::POSE);
        assert_eq!(changes.all().count(), 0);
        changes.record(What::ALL, 2);
        assert_eq!(changes.all().count(), 2);
        changes.clear();
        changes.mark(5, What::POSE);
        changes.mark(1, What::BOUNDS);
        changes.mark(5, What::BOUNDS);
        let all: Vec<_> = changes.all().collect();
        assert_eq!(all, [(5, What::POSE | What::BOUNDS), (1, What::BOUNDS)]);
        changes.clear();
        assert_eq!((changes.is_empty(), changes.of(5)), (true, What::NOTHING));
        changes.record(What::ROWS, 0);
        changes.mark(1, What::POSE | What::BOUNDS);
        changes.mark(2, What::POSE | What::LAYOUT);
        assert!(changes.all().eq([(2, What::LAYOUT)]));
    }
}
