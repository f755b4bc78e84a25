//! The offsets of layers that decay.

use super::State;
use crate::evaluate::Offsets;
use crate::playback::inertia::{Inertia, fits};
use crate::playback::layer_state::LayerState;
use crate::skeleton::Skeleton;

impl State {
    /// The offsets of layers that decay.
    #[inline(always)]
    pub fn offsets(&self) -> &Offsets {
        &self.offsets
    }

    pub fn offsets_mut(&mut self) -> &mut Offsets {
        &mut self.offsets
    }

    /// The offset of an entry. Without any in the pool its bucket is not read.
    #[inline(always)]
    pub fn offset(&self, at: usize) -> Option<&Inertia> {
        if self.offsets.is_empty() { None } else { self.entries.offset(at) }
    }

    /// Whether an entry has the same offset as that of another state, or neither has one.
    pub(super) fn same_offset(&self, other: &Self, at: usize) -> bool {
        match (self.entries.offset(at), other.entries.offset(at)) {
            (Some(a), Some(b)) => self.offsets.same(a.id, &other.offsets, b.id),
            (a, b) => a.is_none() && b.is_none(),
        }
    }

    /// Frees the offset of an entry that will have another one, or none.
    #[inline]
    pub(super) fn replace_offset(&mut self, at: usize, layer: &LayerState) {
        if let Some(before) = self.offset(at).map(|offset| offset.id)
            && layer.offset.is_none_or(|offset| offset.id != before)
        {
            self.offsets.free(before);
        }
    }

    /// Whether all offsets are possible for a skeleton.
    pub fn offsets_fit(&self, skeleton: &Skeleton) -> bool {
        let mut products = Vec::new();
        let held = (0..self.entries.len()).filter_map(|at| self.entries.offset(at));
        held.map(|held| held.id).all(|id| fits(&self.offsets, id, skeleton, &mut products))
    }
}
