//! Whether entries play the same.

use super::Entries;

impl Entries {
    /// Whether an entry plays the same as the other's: with equal anchors if `anchored`, else comparing the states at
    /// either anchor.
    pub fn plays_alike(&self, other: &Self, at: usize, anchored: bool) -> bool {
        let (one, two) = (&self.entries[at], &other.entries[at]);
        if anchored && one.anchor != two.anchor {
            return false;
        }
        let ((one, _, wait), (two, _, other)) = (self.stored(at), other.stored(at));
        one == two && wait == other
    }
}

impl PartialEq for Entries {
    /// Whether all entries play the same, wherever their actions are stored.
    fn eq(&self, other: &Self) -> bool {
        self.entries.len() == other.entries.len()
            && (0..self.entries.len()).all(|at| self.stored(at) == other.stored(at))
    }
}
