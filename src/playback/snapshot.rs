//! The state of one rig's instances at a moment, for the snapshots of crowds and mixers; `MixerSnapshot`.

use super::arena::Arena;
use super::blend_space::Space;
use super::error::PlaybackError;
use super::mixer_action::Remembered;
use super::pool::{LayerOptions, Pool, PoolState};
use crate::clip::{Clip, ClipKind};
use std::sync::Arc;

/// The state of a [`Mixer`](super::Mixer) at a moment: times, weights, fades, and its actions with their options.
/// It refers to the rig and the clips by hash and does not own them.
#[derive(Clone, Debug, PartialEq)]
pub struct MixerSnapshot {
    pub(super) pool: PoolSnapshot,
    pub(super) actions: Arena<Remembered>,
}

/// The state of one rig's instances at a moment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PoolSnapshot {
    /// The rig's number in its crowd; the same for all mixers.
    number: u32,
    structure: u64,
    layout: u64,
    layers: Vec<LayerOptions>,
    spaces: Arena<Space>,
    /// The content hash of every clip that was loaded.
    clips: Arena<(u64, ClipKind)>,
    state: PoolState,
    scheduled: Vec<bool>,
}

impl PoolSnapshot {
    pub fn take(pool: &Pool) -> Self {
        let skeleton = pool.rig.skeleton();
        Self {
            number: pool.rig_number(),
            structure: skeleton.structure_hash(),
            layout: skeleton.layout_hash(),
            layers: pool.layers.clone(),
            spaces: pool.spaces.clone(),
            clips: pool.clips.map(|clip| clip.identity()),
            state: pool.state.clone(),
            scheduled: pool.places.due().to_vec(),
        }
    }

    /// The rig's number in its crowd.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Checks that a pool has the rig, layers, clips and blend spaces of the snapshot.
    ///
    /// # Errors
    /// If one of them differs.
    pub fn check(&self, pool: &Pool) -> Result<(), PlaybackError> {
        let fail = |what| Err(PlaybackError::Snapshot { what });
        let skeleton = pool.rig.skeleton();
        let now = (skeleton.structure_hash(), skeleton.layout_hash());
        if self.number != pool.rig_number() || (self.structure, self.layout) != now {
            return fail("rigs");
        }
        if self.layers != pool.layers {
            return fail("layers");
        }
        // Blend spaces and clips added after the snapshot are accepted.
        if !pool
            .spaces
            .still_holds(&self.spaces, |now, then| now == then)
        {
            return fail("blend spaces");
        }
        let same = |now: &Arc<Clip>, then: &(u64, ClipKind)| now.identity() == *then;
        if !pool.clips.still_holds(&self.clips, same) {
            return fail("clips");
        }
        Ok(())
    }

    /// Restores a pool that was [checked](Self::check) to the state of the snapshot.
    pub fn restore(&self, pool: &mut Pool) {
        pool.clips.rewind(&self.clips);
        pool.spaces.rewind(&self.spaces);
        pool.state.clone_from(&self.state);
        let count = pool.state.alive.len();
        pool.hints.clear();
        pool.hints.resize(pool.hints_per_instance() * count, 0);
        pool.places.reset(&self.scheduled);
        pool.plans.touch_all();
        pool.roots.clear();
    }
}
