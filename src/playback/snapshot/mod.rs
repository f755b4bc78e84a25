//! The state of one rig's instances at one moment, for the snapshots of crowds and mixers; `MixerSnapshot`.
//!
//! `identity` holds the rig, layers and clips that a snapshot was taken with; `bytes`, `pool`, `layer` and `mixer`,
//! with `state/stored.rs` for instances, are the stored form, which FORMAT.md describes.

pub(crate) mod bytes;
pub(super) mod identity;
pub(super) mod layer;
mod mixer;
pub(super) mod offset;
mod pool;

use super::arena::Arena;
use super::blend_space::space::Space;
use super::error::PlaybackError;
use super::pool::Pool;
use super::state::State;
use identity::PoolIdentity;
use std::sync::Arc;

/// The version of the stored form of snapshots. Other versions are rejected.
pub const SNAPSHOT_VERSION: u16 = 1;

/// The most memory that reading a snapshot takes, bytes per byte of the snapshot.
pub const SNAPSHOT_MEMORY_PER_BYTE: u64 = 64;

/// The state of a [`Mixer`](super::Mixer) at one moment, as a [`CrowdSnapshot`](crate::crowd::CrowdSnapshot) is that of a
/// crowd.
#[derive(Clone, Debug)]
pub struct MixerSnapshot {
    pub(super) pool: PoolSnapshot,
}

/// The state of one rig's instances at one moment.
#[derive(Clone, Debug)]
pub(crate) struct PoolSnapshot {
    /// Number of the rig in its crowd; the same for all mixers.
    number: u32,
    pub(super) identity: Arc<PoolIdentity>,
    pub(super) spaces: Arena<Space>,
    /// Hashes of the modifiers.
    modifiers: Arena<u64>,
    pub(super) state: State,
    pub(super) scheduled: Vec<bool>,
}

impl PoolSnapshot {
    pub fn take(pool: &Pool) -> Self {
        let library = pool.library();
        let mut state = pool.state().clone();
        state.anchor_still(library.layers().len());
        Self {
            number: library.owner().rig().number(),
            identity: library.identity().clone(),
            spaces: library.spaces().map(Space::clone),
            modifiers: library.modifiers().map(|modifier| modifier.hash),
            state,
            scheduled: pool.scheduled().all().to_vec(),
        }
    }

    pub fn number(&self) -> u32 {
        self.number
    }

    /// The seconds by which the snapshot lies before a pool's clock. `None` if time runs in another direction than in
    /// the snapshot.
    pub fn seconds_before(&self, pool: &Pool) -> Option<f64> {
        let (now, then) = (pool.state().clock(), self.state.clock());
        (now.sign() == then.sign()).then(|| now.since(then.now()))
    }

    /// Checks that a pool has the rig, layers, clips and blend spaces of the snapshot.
    pub fn check(&self, pool: &Pool) -> Result<(), PlaybackError> {
        let library = pool.library();
        let differs = |part, difference| Err(PlaybackError::Snapshot { part, difference });
        if self.number != pool.rig_number() {
            return Err(rigs_differ(Some(pool.rig_number()), Some(self.number)));
        }
        if let Some((part, difference)) = self.identity.difference(library) {
            return differs(part, difference);
        }
        // Blend spaces and clips added after the snapshot are accepted.
        for (space, then) in self.spaces.iter() {
            let generation = self.spaces.generation(space);
            let now = library.spaces().find(space, generation);
            let undone = || library.spaces().undone(space, generation).any(|now| now == then);
            if now != Some(then) && !undone() {
                let rig = library.rig_text();
                let text = format!("blend space {space} of {rig} is not that of the snapshot");
                return differs("blend spaces", text);
            }
        }
        for (modifier, then) in self.modifiers.iter() {
            let generation = self.modifiers.generation(modifier);
            let now = library.modifiers().find(modifier, generation);
            if now.is_none_or(|now| now.hash != *then) {
                let rig = library.rig_text();
                let text = format!("modifier {modifier} of {rig} is not that of the snapshot");
                return differs("modifiers", text);
            }
        }
        if !self.state.inputs_fit(library) {
            let text = format!("targets in the snapshot do not fit {}", library.rig_text());
            return differs("modifiers", text);
        }
        if !self.state.poses_fit(pool.rig().skeleton()) {
            let text = format!("poses in the snapshot do not fit {}", library.rig_text());
            return differs("poses", text);
        }
        if !self.state.offsets_fit(pool.rig().skeleton()) {
            let text = format!("offsets in the snapshot do not fit {}", library.rig_text());
            return differs("offsets", text);
        }
        let parents = pool.rig().skeleton().parents();
        if !self.state.overrides().fit(parents) {
            let text = format!("overrides in the snapshot do not fit {}", library.rig_text());
            return differs("overrides", text);
        }
        Ok(())
    }
}

/// The error for rigs of other numbers in one slot; `None` for an empty slot.
pub(crate) fn rigs_differ(here: Option<u32>, snapshot: Option<u32>) -> PlaybackError {
    let rig = |rig: Option<u32>| rig.map_or("no rig".into(), |number| format!("rig {number}"));
    let difference = format!("there is {} where the snapshot has {}", rig(here), rig(snapshot));
    PlaybackError::Snapshot { part: "rigs", difference }
}
