//! The text of handles in messages.

use super::{BlendSpaceId, ClipId, InstanceId, ModifierId, Owner, Playable, RigId};
use std::fmt::{self, Debug, Display, Formatter};

impl Debug for Owner {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.is_mixers() {
            write!(f, "mixers of {:08x}", self.bits() & !Self::MIXERS)
        } else {
            write!(f, "crowd {} rig {}", self.rig().tag(), self.rig().number())
        }
    }
}

/// Writes the rig of a crowd, or "a mixer".
impl Display for Owner {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.crowd_rig() {
            Some(rig) if rig.0 != Self::OF_ANY_MIXER => write!(f, "{rig}"),
            _ => f.write_str("a mixer"),
        }
    }
}

/// `rig 0`: the rig's number in its crowd, counted over the crowd's lifetime.
impl Display for RigId {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0 == Owner::OF_ANY_MIXER {
            return f.write_str("the rig of a mixer");
        }
        write!(f, "rig {}", self.number())
    }
}

/// `instance 7 of rig 0`.
impl Display for InstanceId {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "instance {} of {}", self.index(), self.rig().0)
    }
}

/// Writes the text of the clip or the blend space.
impl Display for Playable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clip(clip) => Display::fmt(clip, f),
            Self::Space(space) => Display::fmt(space, f),
        }
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

/// `clip 1 of rig 0`, or "of a mixer".
impl Display for ClipId {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "clip {} of {}", self.index, self.owner)
    }
}

/// `blend space 1 of rig 0`, or "of a mixer".
impl Display for BlendSpaceId {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "blend space {} of {}", self.index, self.owner)
    }
}

/// `modifier 1 of rig 0`, or "of a mixer".
impl Display for ModifierId {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "modifier {} of {}", self.index, self.owner)
    }
}
