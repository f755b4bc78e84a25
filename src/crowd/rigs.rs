//! Handles of a crowd's rigs: the crowd's tag, and numbers that are never given twice.

use crate::playback::ids::{MAX_RIGS_GIVEN, Owner};
use crate::playback::options::check;
use crate::playback::{MAX_TAG, PlaybackError as CrowdError, RigId, Unknown};
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// The slot of a rig that was removed.
const REMOVED: u16 = u16::MAX;

/// The slot of each rig of a crowd, by the rig's number.
#[derive(Clone, Debug)]
pub(crate) struct RigNumbers {
    tag: u16,
    /// The slot of every rig that was ever added, by number; [`REMOVED`] for rigs that are gone.
    slots: Vec<u16>,
}

/// Tags count up from a random one, so that the first 1,023 crowds of a process have different tags, and crowds of
/// different processes most often do.
fn next_tag() -> u16 {
    static FIRST: OnceLock<u32> = OnceLock::new();
    static CROWDS: AtomicU32 = AtomicU32::new(0);
    let tags = u32::from(MAX_TAG);
    let first = FIRST.get_or_init(|| (RandomState::new().hash_one(0) % u64::from(tags)) as u32);
    let crowd = CROWDS.fetch_add(1, Ordering::Relaxed) % tags;
    1 + ((first + crowd) % tags) as u16
}

impl Default for RigNumbers {
    fn default() -> Self {
        Self { tag: next_tag(), slots: Vec::new() }
    }
}

impl RigNumbers {
    /// No rigs, and a tag that the caller chose.
    pub fn tagged(tag: u16) -> Result<Self, CrowdError> {
        check("tag", f64::from(tag), 1.0, f64::from(MAX_TAG))?;
        Ok(Self { tag, slots: Vec::new() })
    }

    pub fn tag(&self) -> u16 {
        self.tag
    }

    /// The number of rigs that were ever added.
    pub fn given(&self) -> usize {
        self.slots.len()
    }

    /// The owner that a rig's handles name.
    pub fn owner(&self, number: u32) -> Owner {
        Owner::of_rig(self.tag, number)
    }

    /// Gives the rig in a slot its number.
    pub fn add(&mut self, slot: usize) -> Result<Owner, CrowdError> {
        let number = self.slots.len();
        if number >= MAX_RIGS_GIVEN {
            return Err(CrowdError::Limit {
                what: "rigs added in the life of one crowd",
                count: number + 1,
                limit: MAX_RIGS_GIVEN,
            });
        }
        self.slots.push(slot as u16);
        Ok(self.owner(number as u32))
    }

    pub fn remove(&mut self, rig: RigId) {
        if let Some(slot) = self.slots.get_mut(rig.number() as usize) {
            *slot = REMOVED;
        }
    }

    /// The slot of a rig; `None` for rigs that were removed or are not of this crowd.
    #[inline]
    pub fn slot(&self, rig: RigId) -> Option<usize> {
        let slot = *self.slots.get(rig.number() as usize)?;
        (slot != REMOVED && rig.tag() == self.tag).then_some(usize::from(slot))
    }

    pub fn why_unknown(&self, rig: RigId) -> Unknown {
        match rig.tag() {
            tag if tag == self.tag => Unknown::Gone,
            0 => Unknown::OfMixer,
            _ => Unknown::OtherCrowd,
        }
    }

    /// Takes over the tag and numbers of a snapshot, whose rigs lie in the same slots.
    pub fn restore(&mut self, tag: u16, given: usize, rigs: impl Iterator<Item = (usize, u32)>) {
        self.tag = tag;
        self.slots.clear();
        self.slots.resize(given, REMOVED);
        for (slot, number) in rigs {
            if let Some(place) = self.slots.get_mut(number as usize) {
                *place = slot as u16;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spent_and_never_given_twice() {
        let mut rigs = RigNumbers::tagged(7).unwrap();
        for number in 0..MAX_RIGS_GIVEN {
            let rig = rigs.add(0).unwrap().rig();
            assert_eq!((rig.tag(), rig.number() as usize), (7, number));
            assert_eq!(rigs.slot(rig), Some(0));
            rigs.remove(rig);
            assert_eq!(rigs.slot(rig), None);
        }
        assert_eq!(
            rigs.add(0).unwrap_err(),
            CrowdError::Limit {
                what: "rigs added in the life of one crowd",
                count: 262_144,
                limit: 262_143
            }
        );
    }
}
