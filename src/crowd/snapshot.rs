//! `CrowdSnapshot`: the state of a crowd, for replay and rollback.

use super::crowd_data::{Crowd, Slot};
use crate::clip::{Clip, ClipKind};
use crate::playback::pool::{Pool, PoolState};
use crate::playback::{BlendSpace1D, LayerOptions, PlaybackError as CrowdError};

/// The state of a crowd at a moment: times, weights, fades, transforms, handles, who is due. Rigs and
/// clips are named by hash, not held.
#[derive(Clone, Debug, PartialEq)]
pub struct CrowdSnapshot {
    pools: Vec<(u16, Option<PoolSnapshot>)>,
}

#[derive(Clone, Debug, PartialEq)]
struct PoolSnapshot {
    structure: u64,
    layout: u64,
    layers: Vec<LayerOptions>,
    spaces: Vec<(u16, Option<BlendSpace1D>)>,
    /// Generation and content of every clip that was loaded.
    clips: Vec<(u16, Option<u64>)>,
    state: PoolState,
    due: Vec<bool>,
}

impl PoolSnapshot {
    fn take(pool: &Pool) -> Self {
        let skeleton = pool.rig.skeleton();
        let clips = pool.clips.iter();
        Self {
            structure: skeleton.structure_hash(),
            layout: skeleton.layout_hash(),
            layers: pool.layers.clone(),
            spaces: pool.spaces.clone(),
            clips: clips
                .map(|(g, c)| (*g, c.as_ref().map(|c| content(c))))
                .collect(),
            state: pool.state.clone(),
            due: pool.places.due().to_vec(),
        }
    }

    fn check(&self, pool: &Pool) -> Result<(), CrowdError> {
        let fail = |what| Err(CrowdError::Snapshot { what });
        let skeleton = pool.rig.skeleton();
        if (self.structure, self.layout) != (skeleton.structure_hash(), skeleton.layout_hash()) {
            return fail("rigs");
        }
        if self.layers != pool.layers {
            return fail("layers");
        }
        // Blend spaces made since are no hindrance, nor are clips.
        let mut then = self.spaces.iter().enumerate();
        let gone = |(i, space): (usize, &(u16, Option<BlendSpace1D>))| {
            space.1.is_some() && pool.spaces.get(i) != Some(space)
        };
        if then.any(gone) {
            return fail("blend spaces");
        }
        let same = self
            .clips
            .iter()
            .enumerate()
            .all(|(i, (generation, hash))| {
                hash.is_none_or(|hash| match pool.clips.get(i) {
                    Some((g, Some(clip))) => g == generation && content(clip) == hash,
                    _ => false,
                })
            });
        if same { Ok(()) } else { fail("clips") }
    }
}

/// Names a clip's content and its kind, which says what a lane without keys is.
fn content(clip: &Clip) -> u64 {
    clip.content_hash() ^ u64::from(clip.kind() == ClipKind::Additive)
}

impl Crowd {
    /// Takes a snapshot.
    pub fn snapshot(&self) -> CrowdSnapshot {
        let pools = self.pools.iter();
        CrowdSnapshot {
            pools: pools
                .map(|s| (s.generation, s.pool.as_ref().map(PoolSnapshot::take)))
                .collect(),
        }
    }

    /// Returns to a snapshot: the same calls from here give the same bits, every time. The next frame
    /// evaluates all that are shown, due or not.
    ///
    /// # Errors
    /// If the crowd's rigs, layers or clips are not those of the snapshot; nothing is changed then.
    pub fn restore(&mut self, snapshot: &CrowdSnapshot) -> Result<(), CrowdError> {
        let same = |(slot, (generation, pool)): (&Slot, &(u16, Option<PoolSnapshot>))| match (
            &slot.pool, pool,
        ) {
            (Some(now), Some(then)) if slot.generation == *generation => then.check(now),
            (None, None) => Ok(()),
            _ => Err(CrowdError::Snapshot { what: "rigs" }),
        };
        if self.pools.len() != snapshot.pools.len() {
            return Err(CrowdError::Snapshot { what: "rigs" });
        }
        self.pools.iter().zip(&snapshot.pools).try_for_each(same)?;
        self.events.clear();
        for (slot, (_, then)) in self.pools.iter_mut().zip(&snapshot.pools) {
            if let (Some(pool), Some(then)) = (&mut slot.pool, then) {
                pool.state.clone_from(&then.state);
                let count = pool.state.alive.len();
                pool.hints.clear();
                pool.hints.resize(pool.hints_per_instance() * count, 0);
                pool.places.reset(&then.due);
                pool.plans.touch_all();
                pool.roots.clear();
            }
        }
        Ok(())
    }
}
