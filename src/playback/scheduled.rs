//! `Scheduled`: which instances of a pool are evaluated.

use super::entries::make_room;

/// For every instance whether it is scheduled. One that is not keeps the rows that it has.
#[derive(Debug, Default)]
pub(crate) struct Scheduled {
    all: Vec<bool>,
    /// How many are not.
    held: usize,
}

impl Scheduled {
    /// Makes room for `more` instances.
    pub fn reserve(&mut self, more: usize) {
        make_room(&mut self.all, more);
    }

    /// Schedules the new instance at an index, which may be the next one.
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

    /// For every instance whether it is scheduled; `None` if all are.
    pub fn some_held(&self) -> Option<&[bool]> {
        (self.held > 0).then_some(&self.all[..])
    }

    /// Takes over that of another moment.
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
