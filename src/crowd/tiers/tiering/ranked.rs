//! `Ranked`: the part of a pool that the crowd shows, and the importances that the host gives.

use super::clocks::PhaseClocks;
use crate::crowd::tiers::cells::Cells;
use crate::crowd::tiers::shared::SharedPhases;
use crate::crowd::tiers::spheres::Spheres;
use crate::playback::pool::Pool;

/// Importances of a pool's instances, set by the host.
#[derive(Debug, Default)]
pub(super) struct Importances {
    /// One entry per instance; empty if the host gave none.
    of: Vec<f32>,
    /// Number of the rig that the importances belong to.
    given_for: Option<u32>,
}

impl Importances {
    pub fn all(&self) -> &[f32] {
        &self.of
    }

    pub fn set(&mut self, rig: u32, importances: &[f32]) {
        self.given_for = Some(rig);
        self.of.clear();
        self.of.extend_from_slice(importances);
    }

    /// Forgets the importances unless they are of the pool's rig.
    pub fn keep_of(&mut self, rig: Option<u32>) {
        if self.given_for.is_some() && self.given_for != rig {
            self.of.clear();
        }
    }
}

/// The part of a pool that the crowd shows. [`Tiering`](super::Tiering) keeps its open fields, each of which keeps its
/// own arrays.
#[derive(Debug, Default)]
pub(super) struct Ranked {
    pub spheres: Spheres,
    pub cells: Cells,
    pub importances: Importances,
    pub shared: SharedPhases,
    pub clocks: PhaseClocks,
    /// True if the last frame gave every visible instance a cell of its own in the first tier. The next frame then
    /// visits only instances that have changed.
    pub shows_all: bool,
    /// Number of the pool's rig. Another one means that the pool of another rig has this index.
    rig: Option<u32>,
    /// Layout of watched joints by which cells were chosen: an instance that watches joints of its own has a cell of the
    /// full rig. Another layout ends the reuse of a selection.
    watched: Option<u64>,
    /// [`Pool::clip_changes`](crate::playback::pool::Pool) at the last selection. Another number ends its reuse.
    clip_changes: u64,
}

impl Ranked {
    /// Shows nothing of a rig yet.
    pub fn new(rig: Option<u32>, importances: Importances) -> Self {
        Self { rig, importances, ..Self::default() }
    }

    pub fn is_of(&self, rig: u32) -> bool {
        self.rig == Some(rig)
    }

    pub fn resize(&mut self, instances: usize) {
        self.cells.resize(instances);
        self.clocks.resize(instances);
        let given = &mut self.importances.of;
        if !given.is_empty() {
            given.resize(instances, 0.0);
        }
    }

    /// Whether nothing of the pool has changed on which the last selection depends.
    #[inline]
    pub fn rests(&self, pool: &Pool) -> bool {
        pool.changes().is_empty()
            && pool.clip_changes() == self.clip_changes
            && pool.scheduled().some_held().is_none()
            && self.watched == Some(pool.watched().layouts())
            && !pool.watched().is_stale()
    }

    /// Notes the state of the pool by which cells were selected.
    pub fn select(&mut self, pool: &Pool) {
        self.clip_changes = pool.clip_changes();
        self.watched = Some(pool.watched().layouts());
    }

    /// Notes the layout of watched joints. Returns whether it is another one.
    pub fn meet_watched(&mut self, pool: &Pool) -> bool {
        let layouts = Some(pool.watched().layouts());
        std::mem::replace(&mut self.watched, layouts) != layouts
    }
}
