//! Handles: an index and the generation of what lay there, so that a stale one is known as such.

/// A rig of a crowd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RigId {
    pub(crate) index: u16,
    pub(crate) generation: u16,
}

/// A clip of a rig of a crowd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClipId {
    pub(crate) rig: RigId,
    pub(crate) index: u16,
    pub(crate) generation: u16,
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
