//! Handles of a crowd's rigs: the crowd's tag, and numbers that are never given twice.

use crate::playback::ids::{MAX_RIGS_GIVEN, Owner};
use crate::playback::options::check;
use crate::playback::{MAX_TAG, PlaybackError as CrowdError, RigId, Unknown};
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// The index of the pool of a rig that was removed.
const REMOVED: u16 = u16::MAX;

/// The pool of each rig of a crowd, by the rig's number.
#[derive(Clone, Debug)]
pub(crate) struct RigNumbers {
    tag: u16,
    /// Index of the pool of every rig that was ever added, by number; [`REMOVED`] for rigs that are gone.
    indices: Vec<u16>,
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
        Self { tag: next_tag(), indices: Vec::new() }
    }
}

impl RigNumbers {
    /// No rigs, and a tag that the caller chose.
    pub fn tagged(tag: u16) -> Result<Self, CrowdError> {
        check("tag", f64::from(tag), 1.0, f64::from(MAX_TAG))?;
        Ok(Self { tag, indices: Vec::new() })
    }

    pub fn tag(&self) -> u16 {
        self.tag
    }

    /// The number of rigs that were ever added.
    pub fn given(&self) -> usize {
        self.indices.len()
    }

    /// The owner that a rig's handles name.
    pub fn owner(&self, number: u32) -> Owner {
        Owner::of_rig(self.tag, number)
    }

    /// Gives the rig of the pool at an index its number.
    pub fn add(&mut self, index: usize) -> Result<Owner, CrowdError> {
        let number = self.indices.len();
        if number >= MAX_RIGS_GIVEN {
            return Err(CrowdError::Limit {
                what: "rigs added in the life of one crowd",
                count: number + 1,
                limit: MAX_RIGS_GIVEN,
            });
        }
        self.indices.push(index as u16);
        Ok(self.owner(number as u32))
    }

    pub fn remove(&mut self, rig: RigId) {
        if let Some(index) = self.indices.get_mut(rig.number() as usize) {
            *index = REMOVED;
        }
    }

    /// The index of a rig's pool; `None` for rigs that were removed or are not of this crowd.
    #[inline]
    pub fn index(&self, rig: RigId) -> Option<usize> {
        let index = *self.indices.get(rig.number() as usize)?;
        (index != REMOVED && rig.tag() == self.tag).then_some(usize::from(index))
    }

    pub fn why_unknown(&self, rig: RigId) -> Unknown {
        match rig.tag() {
            tag if tag == self.tag => Unknown::Gone,
            0 => Unknown::OfMixer,
            _ => Unknown::OtherCrowd,
        }
    }

    /// Takes over the tag and numbers of a snapshot, whose rigs have the same indices.
    pub fn restore(&mut self, tag: u16, given: usize, rigs: impl Iterator<Item = (usize, u32)>) {
        self.tag = tag;
        self.indices.clear();
        self.indices.resize(given, REMOVED);
        for (index, number) in rigs {
            if let Some(known) = self.indices.get_mut(number as usize) {
                *known = index as u16;
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
            assert_eq!(rigs.index(rig), Some(0));
            rigs.remove(rig);
            assert_eq!(rigs.index(rig), None);
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
