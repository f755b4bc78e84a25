//! Which instances of a pool calls have changed since the last frame, for crowds with tiers. Without tiers nothing is
//! recorded.

/// The pose: what plays, its time, weights, speeds, overrides; also whether the instance is there at all.
pub(crate) const POSE: u8 = 1;
/// The instance is new: another one may have had its index. With [`POSE`].
pub(crate) const NEW: u8 = 4;
/// The world transform.
pub(crate) const WORLD: u8 = 2;

/// The changed instances of a pool.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    on: bool,
    /// What has changed, by instance.
    what: Vec<u8>,
    /// Those with a change, each once, in the order of the calls.
    list: Vec<u32>,
}

impl Changes {
    /// Begins or ends to record. All instances count as changed when it begins.
    pub fn record(&mut self, on: bool, instances: usize) {
        *self = Self {
            on,
            ..Self::default()
        };
        for index in 0..if on { instances } else { 0 } {
            self.mark(index, POSE | WORLD);
        }
    }

    /// Whether changes are recorded.
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// Records a change of an instance.
    #[inline]
    pub fn mark(&mut self, index: usize, what: u8) {
        if self.on && what != 0 {
            self.mark_on(index, what);
        }
    }

    fn mark_on(&mut self, index: usize, what: u8) {
        if self.what.len() <= index {
            self.what.resize(index + 1, 0);
        }
        let known = &mut self.what[index];
        if *known == 0 {
            self.list.push(index as u32);
        }
        *known |= what;
    }

    /// The changed instances, with what has changed.
    pub fn all(&self) -> impl Iterator<Item = (usize, u8)> {
        let what = |&index: &u32| (index as usize, self.what[index as usize]);
        self.list.iter().map(what)
    }

    /// What has changed of an instance.
    #[inline]
    pub fn of(&self, index: usize) -> u8 {
        self.what.get(index).copied().unwrap_or(0)
    }

    /// Forgets the changes of instances from an index on.
    pub fn truncate(&mut self, instances: usize) {
        self.what.truncate(instances);
        self.list.retain(|&index| (index as usize) < instances);
    }

    /// Forgets all changes.
    pub fn clear(&mut self) {
        for &index in &self.list {
            self.what[index as usize] = 0;
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
        changes.mark(3, POSE);
        assert_eq!(changes.all().count(), 0);
        changes.record(true, 2);
        changes.clear();
        changes.mark(5, POSE);
        changes.mark(1, WORLD);
        changes.mark(5, WORLD);
        let all: Vec<_> = changes.all().collect();
        assert_eq!(all, [(5, POSE | WORLD), (1, WORLD)]);
        changes.clear();
        assert_eq!((changes.all().count(), changes.of(5)), (0, 0));
    }
}
