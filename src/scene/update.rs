//! The per-frame pass over the nodes: world transforms, parents before children.

use super::graph::{NONE, SceneGraph};
use glam::DAffine3;
use std::ops::Range;

/// The ranges of indices whose flags are true.
pub(super) fn runs(flags: &[bool]) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut end = 0;
    let runs = flags.chunk_by(|a, b| a == b).map(move |run| {
        end += run.len();
        (run[0], end - run.len()..end)
    });
    runs.filter(|run| run.0).map(|run| run.1)
}

impl SceneGraph {
    /// Computes the world transforms of all nodes that have moved, or whose ancestors have: those that
    /// [`changed`](Self::changed) lists.
    ///
    /// Time is linear in the number of nodes, also when a change of the structure makes it sort them. Allocates only when
    /// the scene has grown.
    pub fn update(&mut self) {
        self.changed_ranges.clear();
        if !std::mem::take(&mut self.any_dirty) {
            return;
        }
        self.sort();
        // The number of ranges differs from frame to frame; this is the largest there can be.
        self.changed_ranges.reserve(self.changed.len().div_ceil(2));
        for &n in &self.order {
            let n = n as usize;
            let parent = self.parent[n] as usize;
            let above = (self.parent[n] != NONE).then_some(parent);
            let moved = self.dirty[n] || above.is_some_and(|p| self.changed[p]);
            self.dirty[n] = false;
            self.changed[n] = moved;
            if moved {
                let local = DAffine3::from(self.local[n]);
                self.world[n] = above.map_or(local, |p| self.world[p] * local);
            }
        }
        self.changed_ranges.extend(runs(&self.changed));
    }

    /// Ranges of node indices whose world transforms the last [`update`](Self::update) computed: those to fetch again.
    pub fn changed(&self) -> &[Range<usize>] {
        &self.changed_ranges
    }

    /// Sorts the live nodes: parents first, otherwise by index, so that the joints of a mirror are
    /// adjacent.
    pub(super) fn sort(&mut self) {
        if !std::mem::take(&mut self.unsorted) {
            return;
        }
        self.order.clear();
        // Here `changed` means "placed"; the update then writes it for every live node.
        self.changed.fill(false);
        for start in 0..self.live.len() {
            let mut at = start as u32;
            while at != NONE && self.live[at as usize] && !self.changed[at as usize] {
                self.path.push(at);
                at = self.parent[at as usize];
            }
            while let Some(n) = self.path.pop() {
                self.changed[n as usize] = true;
                self.order.push(n);
            }
        }
        // Outside an update these flags must not be read as changes.
        self.changed.fill(false);
    }
}
