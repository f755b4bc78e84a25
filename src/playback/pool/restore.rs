//! A pool's return to a snapshot.

use super::Pool;
use crate::playback::changes::What;
use crate::playback::snapshot::PoolSnapshot;
use crate::playback::state::State;

impl Pool {
    /// Returns to a snapshot that was [checked](PoolSnapshot::check). Marks instances whose playback differs as changed;
    /// all instances unless the snapshot is `close` to the pool's present time. Returns the indices whose clip is
    /// another one than before.
    pub fn restore(&mut self, then: &PoolSnapshot, close: bool) -> Vec<u16> {
        let changed = self.library.rewind(&then.identity, &then.spaces);
        self.mark_differences(&then.state, close);
        self.state.clone_from(&then.state);
        self.fit_entries();
        self.state.call_all();
        self.scheduled.replace(&then.scheduled);
        self.watched.reset();
        self.fit_clips();
        let motions = self.library.motions();
        for clip in self.state.all_actions().flat_map(|a| motions.all_clips(a.source())) {
            self.tables.require(clip);
        }
        self.require_speeds();
        self.prepare_overrides();
        self.prepare_offsets();
        let hooked = self.library.modifiers().iter().any(|(_, modifier)| modifier.is_hook());
        self.hook_clock.restart(if hooked { self.state.len() } else { 0 });
        self.roots.moves.clear();
        changed
    }

    /// Marks the instances whose state differs in `other`, which will replace it; all instances unless `other` is
    /// `close`.
    fn mark_differences(&mut self, other: &State, close: bool) {
        if self.changes.records(What::LAYOUT) {
            self.changes.truncate(other.len());
            for index in 0..other.len() {
                let difference = self.state.difference(other, index, self.library.layers().len());
                let all = match close {
                    true => What::NOTHING,
                    false => What::POSE | What::BOUNDS,
                };
                self.touch(index, difference | all);
            }
        }
    }
}
