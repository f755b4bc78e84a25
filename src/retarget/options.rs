//! `RetargetOptions`: what a retargeting keeps, and how poses are compared.

use super::feet::FootPlanting;
use super::reference::Reference;

/// Which bones of the target's reference pose are turned into the directions of the source's.
///
/// An A-pose and a T-pose differ in the directions of the arms. A bone is turned by the smallest rotation, so its
/// twist stays. Hands and toes follow the bone above; feet keep their rest rotation, as soles are flat in both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Alignment {
    /// None: both reference poses are alike already.
    None,
    /// Upper and lower arms and legs.
    #[default]
    Limbs,
    /// Arms, legs and fingers.
    LimbsAndFingers,
}

/// What becomes of animated scales.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScaleMode {
    /// Dropped, and named in the report.
    Drop,
    /// Bones take the factor of the source's scale to its reference, axis by axis. It is exact if the factor is uniform
    /// or the axes of both joints are the same within 1°, in any order and sign; else the target gets the nearest scale
    /// that its axes allow. The report names both, and other joints, whose scale is dropped.
    #[default]
    Keep,
}

/// Where the source stands: the height that counts as zero when its hips are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ground {
    /// As the reference pose, unless that does not stand on the origin and the clip's lowest foot is nearer to the origin
    /// than to the pose's lowest foot, as in files of motion capture: then as `Origin`.
    #[default]
    Auto,
    /// The lowest foot of the reference pose.
    Reference,
    /// Height 0 of model space.
    Origin,
}

/// Options of a [`Retargeting`](super::Retargeting).
#[derive(Clone, Debug, PartialEq)]
pub struct RetargetOptions {
    /// The source's reference pose. Default: its rest pose.
    pub source_reference: Reference,
    /// The target's reference pose. Default: its rest pose.
    pub target_reference: Reference,
    /// Which bones are aligned. Default: limbs.
    pub alignment: Alignment,
    /// What becomes of animated scales. Default: kept.
    pub scale: ScaleMode,
    /// Where the source stands. Default: found.
    pub ground: Ground,
    /// Whether left and right are swapped. Default: no.
    pub mirror: bool,
    /// Planting of feet. Default: `None`.
    pub feet: Option<FootPlanting>,
    /// The most bytes of rows of a resulting clip. Default: 1 GiB.
    pub max_clip_bytes: usize,
}

impl Default for RetargetOptions {
    fn default() -> Self {
        Self {
            source_reference: Reference::Rest,
            target_reference: Reference::Rest,
            alignment: Alignment::default(),
            scale: ScaleMode::default(),
            ground: Ground::default(),
            mirror: false,
            feet: None,
            // An hour of 60 joints at 60 Hz takes 220 MB.
            max_clip_bytes: 1 << 30,
        }
    }
}
