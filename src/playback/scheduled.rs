//! `Scheduled`: the instances of a pool that frames evaluate.

use super::entries::make_room;

/// Whether each instance is scheduled. An instance that is not keeps its rows.
#[derive(Debug, Default)]
pub(crate) struct Scheduled {
    all: Vec<bool>,
    /// Number of instances that are not scheduled.
    held: usize,
}

impl Scheduled {
    /// Makes room for `more` instances.
    pub fn reserve(&mut self, more: usize) {
        make_room(&mut self.all, more);
    }

    /// Schedules the new instance at an index, which may be one past the end.
    pub fn spawn(&mut self, index: usize) {
        if index == self.all.len() {
            make_room(&mut self.all, 1);
            self.all.push(true);
        }
        self.set(index, true);
    }

    pub fn set(&mut self, index: usize, scheduled: bool) {
        if std::mem::replace(&mut self.all[index], scheduled) != scheduled {
            match scheduled {
                true => self.held -= 1,
                false => self.held += 1,
            }
        }
    }

    pub fn all(&self) -> &[bool] {
        &self.all
    }

    /// Whether each instance is scheduled; `None` if all are.
    pub fn some_held(&self) -> Option<&[bool]> {
        (self.held > 0).then_some(&self.all[..])
    }

    /// Replaces the flags of all instances with the flags of a snapshot.
    pub fn replace(&mut self, all: &[bool]) {
        self.all.clear();
        self.all.extend_from_slice(all);
        self.held = all.iter().filter(|&&scheduled| !scheduled).count();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_are_held_are_counted() {
        let mut s = Scheduled::default();
        (0..3).for_each(|index| s.spawn(index));
        assert_eq!(s.some_held(), None);
        s.set(1, false);
        s.set(1, false);
        assert_eq!(s.some_held(), Some(&[true, false, true][..]));
        s.spawn(1);
        assert_eq!(s.some_held(), None);
        s.replace(&[false, true]);
        assert_eq!(s.some_held(), Some(&[false, true][..]));
        s.set(0, true);
        assert_eq!(s.some_held(), None);
    }
}
