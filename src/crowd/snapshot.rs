//! `CrowdSnapshot`: the state of a crowd, for replay and rollback.

use super::crowd_data::Crowd;
use crate::playback::ids::MAX_RIGS_GIVEN;
use crate::playback::pool::Pool;
use crate::playback::snapshot::bytes::{Kind, Reader, Writer};
use crate::playback::snapshot::{PoolSnapshot, rigs_differ};
use crate::playback::{MAX_TAG, PlaybackError as CrowdError};

/// A snapshot whose time is farther from the crowd's than this counts as one of another crowd, since palettes that stay
/// would be out of date by as much. Seconds; rollback over a network goes back by some tenths.
const CLOSE: f64 = 1.0;

/// The playback of a crowd at one moment: its actions with times, weights and fades, transforms, overrides, targets, handles,
/// and which instances are scheduled. It refers to rigs and clips by hash and does not own them.
///
/// Cells and palettes are not part of a snapshot, since they follow from what plays. Tiers, views, importances and the
/// budget are not part of it either: the crowd that restores the snapshot keeps its own.
///
/// [`to_bytes`](Self::to_bytes) and [`from_bytes`](Self::from_bytes) carry it to another process: for saved games, and
/// for rollback over a network. Two snapshots are equal if their bytes are. `==` serialises both, so to find
/// differences between many crowds, compare hashes of the bytes.
///
/// ```
/// use phalanx::crowd::{BoneBuffer, Crowd, CrowdSnapshot, PlayOptions};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # #[cfg(feature = "gltf")] {
/// let data = std::sync::Arc::new(phalanx::import::mannequin()?);
/// let mut crowd = Crowd::new();
/// let rig = crowd.add_rig(data.clone())?;
/// let character = crowd.spawn(rig)?;
/// let walk = crowd.clip_named(rig, "Walk")?;
/// crowd.play(character, walk, &PlayOptions::default())?;
/// crowd.advance(0.4)?;
/// let saved = crowd.snapshot().to_bytes();
/// // In another process, with the same rigs and clips:
/// let mut other = Crowd::new();
/// other.add_rig(data)?;
/// other.restore(&CrowdSnapshot::from_bytes(&saved)?)?;
/// let mut bones = [BoneBuffer::new(), BoneBuffer::new()];
/// crowd.evaluate(&mut bones[0]);
/// other.evaluate(&mut bones[1]);
/// assert_eq!(bones[0], bones[1]);
/// assert!(other.playing(character)?.clips().eq([walk]));
/// # }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct CrowdSnapshot {
    tag: u16,
    /// The number of rigs added in the life of the crowd.
    rigs: usize,
    /// Snapshots of the pools, by index; `None` for an index without a rig.
    pools: Vec<Option<Box<PoolSnapshot>>>,
}

impl CrowdSnapshot {
    /// The snapshot as bytes, for files and other processes. FORMAT.md specifies every byte.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut w = Writer::new(Kind::Crowd);
        w.u16(self.tag);
        w.count(self.rigs);
        w.count(self.pools.len());
        for pool in &self.pools {
            w.flags([pool.is_some()]);
            if let Some(pool) = pool {
                pool.write(&mut w);
            }
        }
        w.finish()
    }

    /// Reads the bytes that [`to_bytes`](Self::to_bytes) made. The bytes may come from anywhere: every number is
    /// checked, and memory is at most [`SNAPSHOT_MEMORY_PER_BYTE`](crate::playback::SNAPSHOT_MEMORY_PER_BYTE) times the
    /// bytes. [`Crowd::restore`] checks whether the snapshot fits a crowd.
    ///
    /// # Errors
    /// If the bytes are not a snapshot of a crowd, or are of another version, cut, changed, or contradictory.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CrowdError> {
        let mut r = Reader::new(bytes, Kind::Crowd)?;
        let tag = r.u16("tag")?;
        r.limit("tag", tag.into(), MAX_TAG.into())?;
        r.needs(tag > 0, "the tag is 0")?;
        let rigs = r.u32("rigs added")?;
        r.limit("rigs added", rigs.into(), MAX_RIGS_GIVEN as u64)?;
        let count = r.count("indices of rigs", 1, usize::from(u16::MAX))?;
        let mut pools = Vec::new();
        let mut numbers = Vec::new();
        for _ in 0..count {
            let [full] = r.flags("an index of a rig")?;
            let mut pool = None;
            if full {
                let read = PoolSnapshot::read(&mut r)?;
                r.needs(read.number() < rigs, "a rig has a number that was not given")?;
                numbers.push(read.number());
                pool = Some(Box::new(read));
            }
            pools.push(pool);
        }
        numbers.sort_unstable();
        let once = numbers.windows(2).all(|pair| pair[0] != pair[1]);
        r.needs(once, "two rigs have one number")?;
        r.finish()?;
        let rigs = rigs as usize;
        Ok(Self { tag, rigs, pools })
    }
}

impl PartialEq for CrowdSnapshot {
    fn eq(&self, other: &Self) -> bool {
        (self.tag, self.rigs) == (other.tag, other.rigs) && self.to_bytes() == other.to_bytes()
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
                .map(|pool| pool.as_ref().map(|p| Box::new(PoolSnapshot::take(p))))
                .collect(),
        }
    }

    /// Restores a snapshot: the same calls then give the same playback, events and handles, every time. Palettes that
    /// belong to one instance and are updated in every frame get the same bits.
    ///
    /// Without tiers the next frame evaluates every visible instance, scheduled or not. With [tiers](Self::set_tiers),
    /// instances whose playback differs from the snapshot's count as changed by a call: the next frame evaluates their
    /// palettes, beyond the [budget](Self::set_budget) if need be. The others keep their palettes until their next
    /// update, and shared ones may be of other phases than when the snapshot was taken. A rollback by a few frames
    /// changes few. If the snapshot's time is more than a second before or after the crowd's, or runs in the other
    /// direction, or the snapshot is of another crowd, all instances count as changed.
    ///
    /// The handle of an instance that was spawned after the snapshot is unknown until the replay spawns an instance
    /// with the same handle, and then names that one. Clips and blend spaces that were added after the snapshot stay,
    /// and so do their handles, until a replay adds others with the same handles; playing one adds it to the restored
    /// state. Later snapshots leave out those that only stayed, so a snapshot taken after a rollback equals one taken
    /// without. If a clip, blend space or modifier of the snapshot has been removed, the snapshot cannot be restored.
    /// Modifiers that were added after the snapshot stay, without targets, and a replay that adds them again adds others:
    /// add modifiers before the first snapshot. Remove rigs that were added after the snapshot before you restore it.
    ///
    /// The snapshot may be of another crowd that was built by the same calls. This crowd then takes over its
    /// [tag](Self::with_tag): handles of that crowd become valid here, and handles that this crowd returned before become
    /// unknown.
    ///
    /// # Errors
    /// If the crowd's rigs, layers, clips, blend spaces or modifiers differ from the snapshot's. The crowd is then unchanged.
    pub fn restore(&mut self, snapshot: &CrowdSnapshot) -> Result<(), CrowdError> {
        self.settle_parts();
        let count = self.pools.len().max(snapshot.pools.len());
        for index in 0..count {
            let now = self.pools.get(index).and_then(Option::as_ref);
            let then = snapshot.pools.get(index).and_then(Option::as_ref);
            match (now, then) {
                (Some(now), Some(then)) => then.check(now)?,
                (None, None) => {}
                (now, then) => {
                    let then = then.map(|then| then.number());
                    return Err(rigs_differ(now.map(Pool::rig_number), then));
                }
            }
        }
        let before = self.seconds_before(snapshot);
        self.passages.clear();
        self.pools.resize_with(snapshot.pools.len(), || None);
        let numbers = snapshot.pools.iter().enumerate();
        let numbers = numbers.filter_map(|(index, then)| Some((index, then.as_ref()?.number())));
        let Self { pools, rigs, tiering, .. } = self;
        tiering.rewind(before);
        rigs.restore(snapshot.tag, snapshot.rigs, numbers);
        for (index, (pool, then)) in pools.iter_mut().zip(&snapshot.pools).enumerate() {
            if let (Some(pool), Some(then)) = (pool, then) {
                if snapshot.tag != pool.library().owner().rig().tag() {
                    pool.set_owner(rigs.owner(then.number()));
                }
                let clips = pool.restore(then, before.is_some());
                tiering.replace(index, pool.state().len(), &clips);
            }
        }
        if self.tiers().is_none() {
            self.frames.lose();
        }
        let mut mirrors = std::mem::take(&mut self.mirrors);
        mirrors.undo(|instance| self.instance(instance).is_err());
        self.mirrors = mirrors;
        Ok(())
    }

    /// The seconds by which a snapshot lies before the crowd; `None` if it is of another crowd, not [`CLOSE`], or time
    /// runs in the other direction there. The snapshot's rigs have to be the crowd's.
    fn seconds_before(&self, snapshot: &CrowdSnapshot) -> Option<f64> {
        if snapshot.tag != self.rigs.tag() {
            return None;
        }
        let mut before = 0.0;
        for (now, then) in self.pools.iter().zip(&snapshot.pools) {
            if let (Some(now), Some(then)) = (now, then) {
                before = then.seconds_before(now)?;
                if before.abs() > CLOSE {
                    return None;
                }
            }
        }
        Some(before)
    }
}
