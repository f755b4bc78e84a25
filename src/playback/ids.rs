//! Handles: whose it is, a place, and the generation of what lies there, so that a stale or a foreign
//! handle is known as such.
//!
//! ```text
//! a crowd's rig         | 0000 | tag 10 | number 18 |             28 bits; the tag is 1 to 1,023
//! a skeleton's mixers   | 1 | structure hash 31 |                 32 bits
//! RigId                 | rig 28 |
//! InstanceId            | rig 28 | index 20 | generation 16 |
//! ClipId, BlendSpaceId  | rig or mixers 32 | index 16 | generation 16 |
//! ActionId              | mixer 32 | index 16 | generation 16 |
//! ```
//!
//! Arrays hold the bare indices: a clip that plays cannot be unloaded. Handles are put together when they
//! are given out.

use std::fmt::{self, Debug, Formatter};
use std::num::{NonZeroU32, NonZeroU64};

/// The largest tag of a crowd; 0 is none's.
pub const MAX_TAG: u16 = (1 << TAG_BITS) - 1;

/// The most instances of one rig: an [`InstanceId`] has 20 bits for the place of an instance.
pub const MAX_INSTANCES: usize = 1 << INDEX_BITS;

const TAG_BITS: u32 = 10;
const NUMBER_BITS: u32 = 18;
const INDEX_BITS: u32 = 20;
const GENERATION_BITS: u32 = 16;

/// How many rigs a crowd can be given in its life: their numbers are 18 bits and never given twice.
pub(crate) const MAX_RIGS_GIVEN: usize = (1 << NUMBER_BITS) - 1;

/// The generation of a place that has had all others: it is not filled again.
pub(crate) const RETIRED: u16 = u16::MAX;

/// An action slot that plays nothing: no clip has this index.
pub(crate) const NO_CLIP: u16 = u16::MAX;

/// A rig of a crowd.
///
/// Valid until [`Crowd::remove_rig`](crate::crowd::Crowd::remove_rig). No other rig of the crowd gets the
/// same handle, unless a [`restore`](crate::crowd::Crowd::restore) goes back to a time before this one was
/// added. To a crowd with another [tag](crate::crowd::Crowd::tag) it is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RigId(Owner);

/// A clip of a rig of a crowd, or of the mixers of a skeleton.
///
/// Valid until the clip is unloaded; the place may then be filled by another clip, with a handle of its
/// own. A clip that was added and unloaded after a snapshot leaves its handle to what the same calls put
/// there after a [`restore`](crate::crowd::Crowd::restore). It is unknown to other rigs of the crowd and to crowds with another
/// [tag](crate::crowd::Crowd::tag). All mixers of one skeleton give the clip at a place the same handle;
/// skeletons are told apart by 31 bits of their hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClipId {
    pub(super) owner: Owner,
    pub(super) index: u16,
    pub(super) generation: u16,
}

/// A blend space of a rig of a crowd, or of the mixers of a skeleton.
///
/// Valid until the blend space is removed, with [`ClipId`]'s exception for restored crowds. It is unknown to other rigs of the crowd and to crowds with
/// another [tag](crate::crowd::Crowd::tag).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlendSpaceId {
    pub(super) owner: Owner,
    pub(super) index: u16,
    pub(super) generation: u16,
}

/// An instance of a crowd.
///
/// Valid until [`Crowd::despawn`](crate::crowd::Crowd::despawn). Its place is filled again, at most 65,535
/// times, each time under another handle; it is unknown to crowds with another
/// [tag](crate::crowd::Crowd::tag). After a [`restore`](crate::crowd::Crowd::restore) the crowd gives out
/// the handles that it gave out since the snapshot once more: one of those then names whatever the replay
/// spawns in its place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InstanceId(NonZeroU64);

/// An action of a mixer.
///
/// Valid until its clip is unloaded or its blend space removed. It is unknown to all other mixers of the
/// process, of 4,294,967,295 that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ActionId {
    pub(super) mixer: NonZeroU32,
    pub(super) index: u16,
    pub(super) generation: u16,
}

/// What an action plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Motion {
    /// A clip.
    Clip(ClipId),
    /// Two neighbours of a [`BlendSpace1D`](super::BlendSpace1D), in step.
    Space(BlendSpaceId),
}

/// What an action plays, by its place in the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Clip(u16),
    Space(u16),
}

/// A rig of a crowd, or the mixers of a skeleton.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Owner(NonZeroU32);

impl Owner {
    /// The bit that tells mixers from crowds.
    const MIXERS: u32 = 1 << 31;

    /// Whose the only instance of a mixer is: no crowd has tag 0.
    const OF_ANY_MIXER: Self = Self(NonZeroU32::MIN);

    /// A rig of a crowd.
    pub fn of_rig(tag: u16, number: u32) -> Self {
        let bits = u32::from(tag) << NUMBER_BITS | number;
        // A tag is never 0.
        Self(NonZeroU32::new(bits).unwrap_or(NonZeroU32::MIN))
    }

    /// The mixers of a skeleton.
    pub fn of_mixers(structure: u64) -> Self {
        let folded = (structure ^ structure >> 32) as u32;
        Self(NonZeroU32::MIN | Self::MIXERS | folded)
    }

    /// That of clips and blend spaces with these bits.
    fn from_bits(bits: u32) -> Option<Self> {
        let tag = bits >> NUMBER_BITS;
        let known = bits >= Self::MIXERS || (1..=u32::from(MAX_TAG)).contains(&tag);
        NonZeroU32::new(bits).filter(|_| known).map(Self)
    }

    pub fn rig(self) -> RigId {
        let mixers = self.0.get() >= Self::MIXERS;
        RigId(if mixers { Self::OF_ANY_MIXER } else { self })
    }

    fn bits(self) -> u32 {
        self.0.get()
    }
}

impl Debug for Owner {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.bits() >= Self::MIXERS {
            write!(f, "mixers of {:08x}", self.bits() & !Self::MIXERS)
        } else {
            write!(f, "crowd {} rig {}", self.rig().tag(), self.rig().number())
        }
    }
}

impl RigId {
    /// The handle as a number, for files and other languages: from the top 10 bits of the
    /// crowd's tag and 18 of the rig's number, 28 in all.
    pub fn to_bits(self) -> u64 {
        u64::from(self.0.bits())
    }

    /// The handle with these bits; `None` if no handle of a rig has them.
    pub fn from_bits(bits: u64) -> Option<Self> {
        let fits = bits >> (TAG_BITS + NUMBER_BITS) == 0;
        let bits = NonZeroU32::new(bits as u32).filter(|_| fits)?;
        Some(Self(Owner(bits)))
    }

    /// The tag of its crowd.
    pub(crate) fn tag(self) -> u16 {
        (self.0.bits() >> NUMBER_BITS) as u16
    }

    /// Its number in the crowd.
    pub(crate) fn number(self) -> u32 {
        self.0.bits() & ((1 << NUMBER_BITS) - 1)
    }
}

impl InstanceId {
    pub(crate) fn new(owner: Owner, index: usize, generation: u16) -> Self {
        let upper = u64::from(owner.rig().0.bits()) << INDEX_BITS | index as u64;
        let bits = upper << GENERATION_BITS | u64::from(generation);
        // An owner is never 0.
        Self(NonZeroU64::new(bits).unwrap_or(NonZeroU64::MIN))
    }

    /// The rig that it is an instance of. (A mixer's events name one instance, the same for all mixers and
    /// no crowd's.)
    pub fn rig(self) -> RigId {
        let bits = (self.0.get() >> (INDEX_BITS + GENERATION_BITS)) as u32;
        RigId(Owner(
            NonZeroU32::new(bits).unwrap_or(Owner::OF_ANY_MIXER.0),
        ))
    }

    /// Its place among the instances of its rig, below [`MAX_INSTANCES`]: for arrays of the caller's own.
    /// One that comes after it may have the same.
    pub fn index(self) -> usize {
        (self.0.get() >> GENERATION_BITS) as usize & (MAX_INSTANCES - 1)
    }

    pub(crate) fn generation(self) -> u16 {
        self.0.get() as u16
    }

    /// The handle as a number, for files and other languages: from the top 28 bits of its
    /// rig, 20 of its place, 16 of a generation.
    pub fn to_bits(self) -> u64 {
        self.0.get()
    }

    /// The handle with these bits; `None` if no handle of an instance has them.
    pub fn from_bits(bits: u64) -> Option<Self> {
        let owned = bits >> (INDEX_BITS + GENERATION_BITS) != 0;
        let id = NonZeroU64::new(bits).filter(|_| owned).map(Self);
        id.filter(|id| id.generation() != RETIRED)
    }
}

impl Debug for InstanceId {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("InstanceId")
            .field("owner", &self.rig().0)
            .field("index", &self.index())
            .field("generation", &self.generation())
            .finish()
    }
}

/// 32 bits of whose it is, 16 of an index and 16 of a generation.
fn join(upper: u32, index: u16, generation: u16) -> u64 {
    u64::from(upper) << 32 | u64::from(index) << 16 | u64::from(generation)
}

/// The parts of [`join`]; `None` for an index and a generation that are never given out.
fn split(bits: u64) -> Option<(u32, u16, u16)> {
    let (index, generation) = ((bits >> 16) as u16, bits as u16);
    (index != NO_CLIP && generation != RETIRED).then_some(((bits >> 32) as u32, index, generation))
}

impl ClipId {
    pub(crate) fn new(owner: Owner, index: u16, generation: u16) -> Self {
        Self {
            owner,
            index,
            generation,
        }
    }

    /// Its place in the crowd's or mixer's list of clips: below the number of clips ever held at once.
    pub fn index(self) -> usize {
        usize::from(self.index)
    }

    /// The handle as a number, for files and other languages: from the top 32 bits of its
    /// rig or its mixers' skeleton (the first says which), 16 of its place, 16 of a generation.
    pub fn to_bits(self) -> u64 {
        join(self.owner.bits(), self.index, self.generation)
    }

    /// The handle with these bits; `None` if no handle of a clip has them.
    pub fn from_bits(bits: u64) -> Option<Self> {
        let (owner, index, generation) = split(bits)?;
        Some(Self::new(Owner::from_bits(owner)?, index, generation))
    }
}

impl BlendSpaceId {
    pub(crate) fn new(owner: Owner, index: u16, generation: u16) -> Self {
        Self {
            owner,
            index,
            generation,
        }
    }

    /// The handle as a number, for files and other languages: from the top 32 bits of its
    /// rig or its mixers' skeleton (the first says which), 16 of its place, 16 of a generation.
    pub fn to_bits(self) -> u64 {
        join(self.owner.bits(), self.index, self.generation)
    }

    /// The handle with these bits; `None` if no handle of a blend space has them.
    pub fn from_bits(bits: u64) -> Option<Self> {
        let (owner, index, generation) = split(bits)?;
        Some(Self::new(Owner::from_bits(owner)?, index, generation))
    }
}

impl ActionId {
    /// The handle as a number, for files and other languages: from the top 32 bits of its
    /// mixer, 16 of its place, 16 of a generation.
    pub fn to_bits(self) -> u64 {
        join(self.mixer.get(), self.index, self.generation)
    }

    /// The handle with these bits; `None` if no handle of an action has them.
    pub fn from_bits(bits: u64) -> Option<Self> {
        let (mixer, index, generation) = split(bits)?;
        Some(Self {
            mixer: NonZeroU32::new(mixer)?,
            index,
            generation,
        })
    }
}

impl From<ClipId> for Motion {
    fn from(clip: ClipId) -> Self {
        Self::Clip(clip)
    }
}

impl From<BlendSpaceId> for Motion {
    fn from(space: BlendSpaceId) -> Self {
        Self::Space(space)
    }
}
