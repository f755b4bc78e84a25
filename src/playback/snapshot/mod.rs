//! The state of one rig's instances at one moment, for the snapshots of crowds and mixers; `MixerSnapshot`.
//!
//! `identity` holds the rig, layers and clips that a snapshot was taken with; `bytes`, `pool`, `instance`, `layer` and
//! `mixer` are the stored form, which FORMAT.md describes.

pub(crate) mod bytes;
mod error;
pub(super) mod identity;
mod instance;
mod layer;
mod mixer;
mod pool;

use super::arena::Arena;
use super::blend_space::{Point, Space};
use super::error::PlaybackError;
use super::pool::Pool;
use super::state::State;
use crate::words::shorten;
pub(crate) use error::SnapshotError;
pub use error::SnapshotFault;
use identity::PoolIdentity;
pub use identity::SnapshotDiffers;
use std::sync::Arc;

/// The version of the stored form of snapshots. Other versions are rejected.
pub const SNAPSHOT_VERSION: u16 = 1;

/// The most memory that reading a snapshot takes, bytes per byte of the snapshot.
pub const SNAPSHOT_MEMORY_PER_BYTE: u64 = 64;

/// The state of a [`Mixer`](super::Mixer) at one moment: actions, times, weights, fades, overrides. It refers to the
/// rig and the clips by hash and does not own them.
///
/// [`to_bytes`](Self::to_bytes) and [`from_bytes`](Self::from_bytes) carry it to another process. Two snapshots are
/// equal if their bytes are; `==` serialises both.
#[derive(Clone, Debug)]
pub struct MixerSnapshot {
    pub(super) pool: PoolSnapshot,
}

/// The state of one rig's instances at one moment.
#[derive(Clone, Debug)]
pub(crate) struct PoolSnapshot {
    /// Number of the rig in its crowd; the same for all mixers.
    number: u32,
    identity: Arc<PoolIdentity>,
    spaces: Arena<Space>,
    state: State,
    scheduled: Vec<bool>,
}

impl PoolSnapshot {
    pub fn take(pool: &Pool) -> Self {
        let mut state = pool.state.clone();
        state.anchor_still(pool.layers.len());
        Self {
            number: pool.rig_number(),
            identity: pool.identity().clone(),
            spaces: pool.spaces.map(Space::clone),
            state,
            scheduled: pool.scheduled.all().to_vec(),
        }
    }

    /// The rig's number in its crowd.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The seconds by which the snapshot lies before a pool's clock. `None` if time runs in another direction than in
    /// the snapshot.
    pub fn seconds_before(&self, pool: &Pool) -> Option<f64> {
        let (now, then) = (pool.state.clock(), self.state.clock());
        (now.sign() == then.sign()).then(|| now.since(then.now()))
    }

    /// Checks that a pool has the rig, layers, clips and blend spaces of the snapshot.
    ///
    /// # Errors
    /// If one of them differs.
    pub fn check(&self, pool: &Pool) -> Result<(), PlaybackError> {
        let rig = pool.owner.rig();
        if self.number != pool.rig_number() {
            return Err(PlaybackError::Snapshot(SnapshotDiffers::Rigs {
                here: Some(pool.rig_number()),
                snapshot: Some(self.number),
            }));
        }
        let differs = |d: SnapshotDiffers| Err(PlaybackError::Snapshot(d));
        if let Some(difference) = self.identity.difference(pool.identity(), pool) {
            return differs(difference);
        }
        // Blend spaces and clips added after the snapshot are accepted.
        for (space, then) in self.spaces.iter() {
            let generation = self.spaces.generation(space);
            let now = pool.spaces.find(space, generation);
            let undone = || pool.spaces.undone(space, generation).any(|now| now == then);
            if now != Some(then) && !undone() {
                return differs(SnapshotDiffers::Space {
                    rig,
                    name: shorten(pool.rig.name()),
                    space,
                });
            }
        }
        let parents = pool.rig.skeleton().parents();
        if !self.state.overrides().fit(parents) {
            return differs(SnapshotDiffers::Overrides { rig, name: shorten(pool.rig.name()) });
        }
        Ok(())
    }

    /// Restores a pool that was [checked](Self::check). Marks instances whose playback differs as changed; all
    /// instances unless the snapshot is `close` to the pool's present time. Returns the indices whose clip is another
    /// one than before.
    pub fn restore(&self, pool: &mut Pool, close: bool) -> Vec<u16> {
        let now = pool.identity().clone();
        let loaded = |pool: &Pool| -> Vec<_> {
            let indices = 0..pool.clips.extent();
            let clips = indices.map(|clip| pool.clips.get(clip).map(Arc::as_ptr));
            clips.collect()
        };
        let before = loaded(pool);
        pool.clips.rewind(self.identity.clips(), |then, clip, place| {
            let known = place.and_then(|index| now.clips.get(index));
            known.map_or_else(|| then.is_of(clip), |now| then.fits(now))
        });
        pool.spaces.rewind(&self.spaces, |a, b, _| a == b);
        let after = loaded(pool);
        let clip = |all: &[Option<_>], index: u16| all.get(usize::from(index)).copied().flatten();
        let changed = |index: u16| clip(&before, index) != clip(&after, index);
        let member = |p: &Point| changed(p.clip);
        pool.spaces.disown(|space| space.points.iter().any(member));
        pool.mark_differences(&self.state, close);
        pool.state.clone_from(&self.state);
        pool.fit_entries();
        pool.state.call_all();
        pool.scheduled.replace(&self.scheduled);
        pool.watch.reset();
        pool.fit_clips();
        pool.require_all();
        pool.require_speeds();
        pool.prepare_overrides();
        let moves = pool.take_moves();
        pool.settle(moves);
        let others = (0..).zip(&before).filter(|&(index, _)| changed(index));
        others.map(|(index, _)| index).collect()
    }
}
