//! `CrowdSnapshot`: the state of a crowd, for replay and rollback.

use super::crowd_data::Crowd;
use crate::clip::{Clip, ClipKind};
use crate::playback::blend_space::Space;
use crate::playback::lent::Lent;
use crate::playback::pool::{Pool, PoolState};
use crate::playback::slots::Slots;
use crate::playback::{LayerOptions, PlaybackError as CrowdError};
use std::sync::Arc;

/// The state of a crowd at a moment: times, weights, fades, transforms, handles, who is due. Rigs and
/// clips are named by hash, not held.
#[derive(Clone, Debug, PartialEq)]
pub struct CrowdSnapshot {
    tag: u16,
    /// How many rigs the crowd was given.
    rigs: usize,
    pools: Vec<Option<PoolSnapshot>>,
}

#[derive(Clone, Debug, PartialEq)]
struct PoolSnapshot {
    /// The rig's in the crowd.
    number: u32,
    structure: u64,
    layout: u64,
    layers: Vec<LayerOptions>,
    spaces: Slots<Space>,
    /// The content of every clip that was loaded.
    clips: Slots<(u64, ClipKind)>,
    state: PoolState,
    due: Vec<bool>,
}

impl PoolSnapshot {
    fn take(pool: &Pool) -> Self {
        let skeleton = pool.rig.skeleton();
        Self {
            number: pool.rig_number(),
            structure: skeleton.structure_hash(),
            layout: skeleton.layout_hash(),
            layers: pool.layers.clone(),
            spaces: pool.spaces.clone(),
            clips: pool.clips.map(|clip| clip.identity()),
            state: pool.state.clone(),
            due: pool.places.due().to_vec(),
        }
    }

    fn check(&self, pool: &Pool) -> Result<(), CrowdError> {
        let fail = |what| Err(CrowdError::Snapshot { what });
        let skeleton = pool.rig.skeleton();
        let now = (skeleton.structure_hash(), skeleton.layout_hash());
        if self.number != pool.rig_number() || (self.structure, self.layout) != now {
            return fail("rigs");
        }
        if self.layers != pool.layers {
            return fail("layers");
        }
        // Blend spaces made since are no hindrance, nor are clips.
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
}

impl Crowd {
    /// Takes a snapshot.
    pub fn snapshot(&self) -> CrowdSnapshot {
        let pools = self.pools.iter();
        CrowdSnapshot {
            tag: self.rigs.tag(),
            rigs: self.rigs.given(),
            pools: pools
                .map(|pool| pool.as_ref().map(PoolSnapshot::take))
                .collect(),
        }
    }

    /// Returns to a snapshot: the same calls from here give the same bits and the same handles, every time.
    /// The next frame evaluates all that are shown, due or not.
    ///
    /// So a handle of an instance that was given out after the snapshot names, from here on, whatever the
    /// replay spawns in its place, and nothing until then. Clips and blend spaces that were added since the
    /// snapshot stay, under their handles, and are given the same handles where the same calls add them
    /// again in the same order. A clip or blend space of the snapshot that was removed since makes the
    /// snapshot useless; a rig that was added since has to be removed first.
    ///
    /// The snapshot may be another crowd's that was built by the same calls. This crowd then takes over its
    /// [tag](Self::tag): the handles of that crowd are valid here, and those that this one gave out are
    /// unknown.
    ///
    /// # Errors
    /// If the crowd's rigs, layers, clips or blend spaces are not those of the snapshot; nothing is changed
    /// then.
    pub fn restore(&mut self, snapshot: &CrowdSnapshot) -> Result<(), CrowdError> {
        let slots = self.pools.len().max(snapshot.pools.len());
        for slot in 0..slots {
            let now = self.pools.get(slot).and_then(Option::as_ref);
            let then = snapshot.pools.get(slot).and_then(Option::as_ref);
            match (now, then) {
                (Some(now), Some(then)) => then.check(now)?,
                (None, None) => {}
                _ => return Err(CrowdError::Snapshot { what: "rigs" }),
            }
        }
        self.events.clear();
        self.pools.resize_with(snapshot.pools.len(), || None);
        let numbers = snapshot.pools.iter().enumerate();
        let numbers = numbers.filter_map(|(slot, then)| Some((slot, then.as_ref()?.number)));
        let Self {
            pools,
            rigs,
            mirrors,
            ..
        } = self;
        rigs.restore(snapshot.tag, snapshot.rigs, numbers);
        for (pool, then) in pools.iter_mut().zip(&snapshot.pools) {
            if let (Some(pool), Some(then)) = (pool, then) {
                if snapshot.tag != pool.owner.rig().tag() {
                    mirrors.forget(pool.owner.rig());
                    pool.owner = rigs.owner(then.number);
                }
                pool.clips.rewind(&then.clips);
                pool.spaces.rewind(&then.spaces);
                pool.state.clone_from(&then.state);
                let count = pool.state.alive.len();
                pool.hints.clear();
                pool.hints.resize(pool.hints_per_instance() * count, 0);
                pool.places.reset(&then.due);
                pool.plans.touch_all();
                pool.roots.clear();
            }
        }
        let mut lent = Lent::new(self, |crowd| &mut crowd.mirrors);
        let (crowd, mirrors) = lent.split();
        mirrors.undo(|instance| crowd.instance(instance).is_err());
        Ok(())
    }
}
