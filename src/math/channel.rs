//! `Channel`: what the rows of a value stand for.

/// The properties that a clip animates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Channel {
    /// Translations in metres: three components.
    Translation = 0,
    /// Rotations, quaternions xyzw: four components.
    Rotation = 1,
    /// Scales: three components.
    Scale = 2,
    /// Morph weights and components of user channels: one component.
    Scalar = 3,
}

impl Channel {
    /// All channels in order.
    pub const ALL: [Self; 4] = [Self::Translation, Self::Rotation, Self::Scale, Self::Scalar];

    /// Components of a value; each takes one row.
    pub const fn components(self) -> usize {
        match self {
            Self::Translation | Self::Scale => 3,
            Self::Rotation => 4,
            Self::Scalar => 1,
        }
    }
}

/// The channel's name, as in messages.
impl std::fmt::Display for Channel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Translation => "translation",
            Self::Rotation => "rotation",
            Self::Scale => "scale",
            Self::Scalar => "scalar",
        })
    }
}
