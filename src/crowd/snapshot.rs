//! `CrowdSnapshot`: the state of a crowd, for replay and rollback.

use super::crowd_data::Crowd;
use crate::playback::PlaybackError as CrowdError;
use crate::playback::lent::Lent;
use crate::playback::snapshot::PoolSnapshot;

/// The state of a crowd at a moment: times, weights, fades, transforms, handles, and which instances are
/// scheduled. It refers to rigs and clips by hash and does not own them.
#[derive(Clone, Debug, PartialEq)]
pub struct CrowdSnapshot {
    tag: u16,
    /// The number of rigs added in the life of the crowd.
    rigs: usize,
    pools: Vec<Option<PoolSnapshot>>,
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

    /// Restores a snapshot: the same calls then give the same bits and the same handles, every time. The next frame
    /// evaluates every visible instance, scheduled or not.
    ///
    /// A handle of an instance that was spawned after the snapshot is unknown until the replay spawns an instance
    /// with the same handle, and then identifies that one. Clips and blend spaces that were added after the snapshot
    /// stay, under their handles; the same calls in the same order return the same handles for them. If a clip or
    /// blend space of the snapshot has been removed, the snapshot cannot be restored. A rig that was added after the
    /// snapshot has to be removed first.
    ///
    /// The snapshot may be of another crowd that was built by the same calls. This crowd then takes over its
    /// [tag](Self::tag): handles of that crowd become valid here, and handles that this crowd returned before become
    /// unknown.
    ///
    /// # Errors
    /// If the crowd's rigs, layers, clips or blend spaces are not those of the snapshot. The crowd is then
    /// unchanged.
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
        let numbers = numbers.filter_map(|(slot, then)| Some((slot, then.as_ref()?.number())));
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
                    pool.owner = rigs.owner(then.number());
                }
                then.restore(pool);
            }
        }
        let mut lent = Lent::new(self, |crowd| &mut crowd.mirrors);
        let (crowd, mirrors) = lent.split();
        mirrors.undo(|instance| crowd.instance(instance).is_err());
        Ok(())
    }
}
