//! `Unknown`: why a handle is unknown.

use super::ids::RigId;

/// The reason why a handle is unknown in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// The value is gone: unloaded, removed or despawned, or undone by a [`restore`](crate::crowd::Crowd::restore).
    Gone,
    /// The handle belongs to another rig of the same crowd.
    OtherRig {
        /// The rig that the handle was used with.
        here: RigId,
        /// Name, for messages, of the value that it was used with: `this instance`, `the blend space`.
        user: &'static str,
    },
    /// The handle belongs to another crowd.
    OtherCrowd,
    /// The handle belongs to the mixers of another skeleton.
    OtherSkeleton,
    /// The handle belongs to a mixer and was used with a crowd.
    OfMixer,
    /// The handle belongs to a crowd and was used with a mixer.
    OfCrowd,
}

impl Unknown {
    /// A sentence about a handle with this `name`, of `rig`. `known` is the name of the rig that it was used with,
    /// empty if there is none; `gone` says how the value went.
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
