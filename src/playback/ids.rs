//! Handles: an index and the generation of what lay there, so that a stale one is known as such.

/// A rig of a crowd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RigId {
    pub(crate) index: u16,
    pub(crate) generation: u16,
}

/// A clip of a rig of a crowd, or of a mixer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClipId {
    pub(crate) rig: RigId,
    pub(crate) index: u16,
    pub(crate) generation: u16,
}

impl ClipId {
    /// Whether this is [`NO_CLIP`]: no rig has its number.
    pub(crate) fn is_none(self) -> bool {
        self.rig.index == NO_RIG.index
    }
}

/// An instance of a crowd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InstanceId {
    pub(crate) rig: RigId,
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

impl InstanceId {
    /// The rig that it is an instance of.
    pub fn rig(self) -> RigId {
        self.rig
    }
}

/// What stands for no rig.
const NO_RIG: RigId = RigId {
    index: u16::MAX,
    generation: u16::MAX,
};

/// An action slot that plays nothing.
pub(crate) const NO_CLIP: ClipId = ClipId {
    rig: NO_RIG,
    index: u16::MAX,
    generation: u16::MAX,
};

/// A blend space of a rig of a crowd, or of a mixer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlendSpaceId {
    pub(crate) rig: RigId,
    pub(crate) index: u16,
    pub(crate) generation: u16,
}

/// What an action plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Motion {
    /// A clip.
    Clip(ClipId),
    /// Two neighbours of a [`BlendSpace1D`](super::BlendSpace1D), in step.
    Space(BlendSpaceId),
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
