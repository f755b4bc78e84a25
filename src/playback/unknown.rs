//! `Unknown`: why a handle is unknown where it was used.

use super::ids::RigId;

/// Why a handle is unknown where it was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// What it refers to is gone: unloaded, removed or despawned, or undone by a
    /// [`restore`](crate::crowd::Crowd::restore).
    Gone,
    /// It belongs to another rig of the same crowd.
    OtherRig {
        /// The rig that it was used with.
        here: RigId,
        /// What it was used with, for the message: `this instance`, `the blend space`.
        user: &'static str,
    },
    /// It belongs to another crowd.
    OtherCrowd,
    /// It belongs to the mixers of another skeleton.
    OtherSkeleton,
    /// It belongs to a mixer and was used with a crowd.
    OfMixer,
    /// It belongs to a crowd and was used with a mixer.
    OfCrowd,
}

impl Unknown {
    /// A sentence about a handle with this `name`, of this owner. `known` is the name of the rig that it was used with,
    /// if there is one; `gone` says what became of it.
    pub(super) fn sentence(
        self,
        name: &str,
        rig: Option<RigId>,
        known: &str,
        gone: &str,
    ) -> String {
        let quoted = match known {
            "" => String::new(),
            known => format!(" (\"{known}\")"),
        };
        let what = match self {
            Self::OtherRig { here, user } => {
                let own = rig.map_or("another rig".into(), |rig| rig.to_string());
                return format!("{name} belongs to {own}, {user} is of {here}{quoted}");
            }
            Self::Gone => {
                return match rig {
                    Some(rig) => format!("{name} of {rig}{quoted} {gone}"),
                    None if known.is_empty() => format!("{name} {gone}"),
                    None => format!("{name} of a mixer{quoted} {gone}"),
                };
            }
            Self::OtherCrowd => "belongs to another crowd",
            Self::OtherSkeleton => "belongs to the mixers of another skeleton",
            Self::OfMixer => "belongs to a mixer, not to this crowd",
            Self::OfCrowd => "belongs to a crowd, not to this mixer",
        };
        match rig {
            Some(rig) => format!("{name} of {rig} {what}"),
            None => format!("{name} {what}"),
        }
    }
}
