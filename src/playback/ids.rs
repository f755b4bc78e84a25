//! Handles: an owner, an index, and the generation of the value at that index. Stale and foreign handles are detected.
//!
//! ```text
//! a crowd's rig         | 0000 | tag 10 | number 18 |             28 bits; the tag is 1 to 1,023
//! a skeleton's mixers   | 1 | structure hash 31 |                 32 bits
//! RigId                 | rig 28 |
//! InstanceId            | rig 28 | index 20 | generation 16 |
//! ClipId, BlendSpaceId, ModifierId
//!                       | rig or mixers 32 | index 16 | generation 16 |
//! ```
//!
//! Arrays store bare indices, which stay valid because a playing clip cannot be unloaded. Handles are made when they
//! are returned.

use super::unknown::Unknown;
use std::num::{NonZeroU32, NonZeroU64};

mod text;

/// The largest tag of a crowd; no crowd has the tag 0.
pub const MAX_TAG: u16 = (1 << TAG_BITS) - 1;

/// The most instances of one rig: an [`InstanceId`] has 20 bits for the index.
pub const MAX_INSTANCES: usize = 1 << INDEX_BITS;

const TAG_BITS: u32 = 10;
const NUMBER_BITS: u32 = 18;
const INDEX_BITS: u32 = 20;
const GENERATION_BITS: u32 = 16;

/// The most rigs added to a crowd over its lifetime: a rig number has 18 bits and is never reused.
pub(crate) const MAX_RIGS_GIVEN: usize = (1 << NUMBER_BITS) - 1;

/// The generation of an index whose generations are used up; it is not reused.
pub(crate) const RETIRED: u16 = u16::MAX;

/// The clip index of an action slot that plays nothing; no clip has it.
pub(crate) const NO_CLIP: u16 = u16::MAX;

/// A rig of a crowd.
///
/// Valid until [`Crowd::remove_rig`](crate::crowd::Crowd::remove_rig). No other rig of the crowd gets the
/// same handle, unless a [`restore`](crate::crowd::Crowd::restore) goes back to a time before this rig was
/// added. Crowds with another [tag](crate::crowd::Crowd::with_tag) reject it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RigId(Owner);

/// A clip of a rig of a crowd, or of the mixers of a skeleton.
///
/// Valid until the clip is unloaded. A later clip may reuse the index under another handle. After a
/// [`restore`](crate::crowd::Crowd::restore), repeated calls reuse the handles of clips that were added and
/// unloaded since the snapshot. Other rigs of the crowd and crowds with another
/// [tag](crate::crowd::Crowd::with_tag) reject the handle. In all mixers of one skeleton, the clip at an index has
/// the same handle; skeletons are distinguished by 31 bits of their hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClipId {
    pub(super) owner: Owner,
    pub(crate) index: u16,
    pub(super) generation: u16,
}

/// A blend space of a rig of a crowd, or of the mixers of a skeleton: clips at ascending values of a parameter, such as a
/// walking speed.
///
/// At any value, the two neighbouring clips are blended with linear weights. All clips share one phase, which advances
/// at the blend of their rates, so that their strides match. The time of an action that plays a blend space is its
/// phase.
///
/// Valid until the blend space is removed, with [`ClipId`]'s exception for restored crowds. Other rigs of
/// the crowd and crowds with another [tag](crate::crowd::Crowd::with_tag) reject it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlendSpaceId {
    pub(super) owner: Owner,
    pub(super) index: u16,
    pub(super) generation: u16,
}

/// A modifier of a rig of a crowd, or of the mixers of a skeleton.
///
/// Valid until the modifier is removed. Other rigs of the crowd and crowds with another
/// [tag](crate::crowd::Crowd::with_tag) reject it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModifierId {
    pub(super) owner: Owner,
    pub(super) index: u16,
    pub(super) generation: u16,
}

/// An instance of a crowd.
///
/// Valid until [`Crowd::despawn`](crate::crowd::Crowd::despawn). An index serves at most 65,535 instances,
/// each under another handle. Crowds with another [tag](crate::crowd::Crowd::with_tag) reject the handle. After a
/// [`restore`](crate::crowd::Crowd::restore) the crowd reuses the handles that it returned since the
/// snapshot: such a handle then refers to whatever the replay spawns at that index.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InstanceId(NonZeroU64);

/// The clip or blend space that an action plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Playable {
    /// A clip.
    Clip(ClipId),
    /// The two neighbours of a blend space's parameter, in phase.
    Space(BlendSpaceId),
}

/// The clip or blend space that an action plays, by its index in the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Clip(u16),
    Space(u16),
}

/// The owner of a handle: a rig of a crowd, or the mixers of a skeleton.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Owner(NonZeroU32);

impl Owner {
    /// The bit that is set in owners of mixers and clear in owners of crowds.
    const MIXERS: u32 = 1 << 31;

    /// The owner of a mixer's only instance. It differs from any crowd's, since no crowd has the tag 0.
    const OF_ANY_MIXER: Self = Self(NonZeroU32::MIN);

    /// The owner for a rig of a crowd.
    pub fn of_rig(tag: u16, number: u32) -> Self {
        let bits = u32::from(tag) << NUMBER_BITS | number;
        // A tag is never 0.
        Self(NonZeroU32::new(bits).unwrap_or(NonZeroU32::MIN))
    }

    /// The owner for the mixers of a skeleton.
    pub fn of_mixers(structure: u64) -> Self {
        let folded = (structure ^ structure >> 32) as u32;
        Self(NonZeroU32::MIN | Self::MIXERS | folded)
    }

    /// The owner with these bits; `None` if no clip or blend space can have such an owner.
    #[inline]
    fn from_bits(bits: u32) -> Option<Self> {
        let tag = bits >> NUMBER_BITS;
        let known = bits >= Self::MIXERS || (1..=u32::from(MAX_TAG)).contains(&tag);
        NonZeroU32::new(bits).filter(|_| known).map(Self)
    }

    pub fn rig(self) -> RigId {
        let mixers = self.is_mixers();
        RigId(if mixers { Self::OF_ANY_MIXER } else { self })
    }

    /// The rig of a crowd; `None` for the mixers of a skeleton.
    fn crowd_rig(self) -> Option<RigId> {
        (!self.is_mixers()).then_some(RigId(self))
    }

    pub fn is_mixers(self) -> bool {
        self.0.get() >= Self::MIXERS
    }

    /// The reason why a handle of this owner is unknown to `here`. `user` names what the handle was used with.
    pub fn unknown_to(self, here: Self, user: &'static str) -> Unknown {
        match (self.crowd_rig(), here.crowd_rig()) {
            (None, Some(_)) => Unknown::OfMixer,
            (Some(_), None) => Unknown::OfCrowd,
            _ if self == here => Unknown::Gone,
            (None, None) => Unknown::OtherSkeleton,
            (Some(rig), Some(here)) if rig.tag() == here.tag() => Unknown::OtherRig { here, user },
            _ => Unknown::OtherCrowd,
        }
    }

    fn bits(self) -> u32 {
        self.0.get()
    }
}

impl RigId {
    /// The handle as a number, for files and other languages.
    ///
    /// From the highest bit used: the crowd's tag (10 bits) and the rig's number (18 bits), 28 bits in all.
    pub fn to_bits(self) -> u64 {
        u64::from(self.0.bits())
    }

    /// The handle with these bits; `None` if no rig handle has them.
    #[inline]
    pub fn from_bits(bits: u64) -> Option<Self> {
        let id = Self(Owner(NonZeroU32::new(u32::try_from(bits).ok()?)?));
        let of_crowd = (1..=MAX_TAG).contains(&id.tag());
        (of_crowd || id.0 == Owner::OF_ANY_MIXER).then_some(id)
    }

    /// The tag of the rig's crowd.
    pub(crate) fn tag(self) -> u16 {
        (self.0.bits() >> NUMBER_BITS) as u16
    }

    /// The rig's number in its crowd.
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

    /// The rig of the instance.
    ///
    /// The events of mixers have one instance handle, equal for all mixers and unknown to crowds.
    pub fn rig(self) -> RigId {
        let bits = (self.0.get() >> (INDEX_BITS + GENERATION_BITS)) as u32;
        RigId(Owner(NonZeroU32::new(bits).unwrap_or(Owner::OF_ANY_MIXER.0)))
    }

    /// The index among the instances of its rig, below [`MAX_INSTANCES`]: for the caller's arrays.
    ///
    /// A later instance may reuse the index.
    pub fn index(self) -> usize {
        (self.0.get() >> GENERATION_BITS) as usize & (MAX_INSTANCES - 1)
    }

    pub(crate) fn generation(self) -> u16 {
        self.0.get() as u16
    }

    /// The handle as a number, for files and other languages.
    ///
    /// From the top: rig (28 bits), index (20 bits), generation (16 bits).
    pub fn to_bits(self) -> u64 {
        self.0.get()
    }

    /// The handle with these bits; `None` if no instance handle has them.
    #[inline]
    pub fn from_bits(bits: u64) -> Option<Self> {
        RigId::from_bits(bits >> (INDEX_BITS + GENERATION_BITS))?;
        let id = NonZeroU64::new(bits).map(Self);
        id.filter(|id| id.generation() != RETIRED)
    }
}

/// The handle of a clip, blend space or modifier as a number.
fn bits_of(owner: Owner, index: u16, generation: u16) -> u64 {
    let at = u64::from(index) << 16 | u64::from(generation);
    u64::from(owner.bits()) << 32 | at
}

/// Owner, index and generation of a number; `None` if no such handle has them.
#[inline]
fn parts_of(bits: u64) -> Option<(Owner, u16, u16)> {
    let (index, generation) = ((bits >> 16) as u16, bits as u16);
    let known = index != NO_CLIP && generation != RETIRED;
    let owner = Owner::from_bits((bits >> 32) as u32).filter(|_| known)?;
    Some((owner, index, generation))
}

impl ClipId {
    pub(crate) fn new(owner: Owner, index: u16, generation: u16) -> Self {
        Self { owner, index, generation }
    }

    /// The handle as a number, for files and other languages.
    ///
    /// From the top: owner (32 bits; the first distinguishes mixers from crowds), index (16 bits), generation
    /// (16 bits).
    pub fn to_bits(self) -> u64 {
        bits_of(self.owner, self.index, self.generation)
    }

    /// The handle with these bits; `None` if no handle of this kind has them.
    #[inline]
    pub fn from_bits(bits: u64) -> Option<Self> {
        let (owner, index, generation) = parts_of(bits)?;
        Some(Self::new(owner, index, generation))
    }

    /// The rig of the clip; `None` for a clip of a mixer.
    pub fn rig(self) -> Option<RigId> {
        self.owner.crowd_rig()
    }

    /// The index in the list of clips of the rig or mixer: below the largest number of clips held at once.
    pub fn index(self) -> usize {
        usize::from(self.index)
    }
}

impl ModifierId {
    pub(crate) fn new(owner: Owner, index: u16, generation: u16) -> Self {
        Self { owner, index, generation }
    }

    /// The handle as a number, for files and other languages.
    ///
    /// From the top: owner (32 bits; the first distinguishes mixers from crowds), index (16 bits), generation
    /// (16 bits).
    pub fn to_bits(self) -> u64 {
        bits_of(self.owner, self.index, self.generation)
    }

    /// The handle with these bits; `None` if no handle of this kind has them.
    #[inline]
    pub fn from_bits(bits: u64) -> Option<Self> {
        let (owner, index, generation) = parts_of(bits)?;
        Some(Self::new(owner, index, generation))
    }

    pub(crate) fn rig(self) -> Option<RigId> {
        self.owner.crowd_rig()
    }

    pub(super) fn index(self) -> usize {
        usize::from(self.index)
    }
}

impl BlendSpaceId {
    pub(crate) fn new(owner: Owner, index: u16, generation: u16) -> Self {
        Self { owner, index, generation }
    }

    /// The handle as a number, for files and other languages.
    ///
    /// From the top: owner (32 bits; the first distinguishes mixers from crowds), index (16 bits), generation
    /// (16 bits).
    pub fn to_bits(self) -> u64 {
        bits_of(self.owner, self.index, self.generation)
    }

    /// The handle with these bits; `None` if no handle of this kind has them.
    #[inline]
    pub fn from_bits(bits: u64) -> Option<Self> {
        let (owner, index, generation) = parts_of(bits)?;
        Some(Self::new(owner, index, generation))
    }

    pub(super) fn rig(self) -> Option<RigId> {
        self.owner.crowd_rig()
    }

    pub(super) fn index(self) -> usize {
        usize::from(self.index)
    }
}

impl Playable {
    /// The rig of the clip or blend space; `None` if it is of a mixer.
    pub(crate) fn rig(self) -> Option<RigId> {
        match self {
            Self::Clip(clip) => clip.rig(),
            Self::Space(space) => space.rig(),
        }
    }
}

impl From<ClipId> for Playable {
    fn from(clip: ClipId) -> Self {
        Self::Clip(clip)
    }
}

impl From<BlendSpaceId> for Playable {
    fn from(space: BlendSpaceId) -> Self {
        Self::Space(space)
    }
}
