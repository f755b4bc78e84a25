//! `RetargetOptions`: the settings of a retargeting, and how poses are compared.

use super::feet::FootPlanting;
use super::reference::Reference;

/// The bones of the target's reference pose that are turned into the directions of the source's.
///
/// An A-pose and a T-pose differ in the directions of the arms. A bone is turned by the smallest rotation, so its twist
/// stays. Hands and toes follow the bone above; feet keep their rest rotation, as soles are flat in both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Alignment {
    /// No bones: both reference poses are alike already.
    None,
    /// Upper and lower arms and legs.
    #[default]
    Limbs,
    /// Arms, legs and fingers.
    LimbsAndFingers,
}

/// The ground on which the source stands: the height that counts as zero when its hips are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ground {
    /// `Reference`, unless the reference pose does not stand on the origin and the clip's lowest foot is nearer to the origin
    /// than to the pose's lowest foot, as in files of motion capture: then `Origin`.
    #[default]
    Auto,
    /// The lowest foot of the reference pose.
    Reference,
    /// Height 0 of model space.
    Origin,
}

/// Settings of a [`Retargeting`](super::Retargeting).
#[derive(Clone, Debug, PartialEq)]
pub struct RetargetOptions {
    /// The source's reference pose. Default: its rest pose.
    pub source_reference: Reference,
    /// The target's reference pose. Default: its rest pose.
    pub target_reference: Reference,
    /// Bones that are aligned. Default: limbs.
    pub alignment: Alignment,
    /// Whether animated scales are kept: bones take the ratio of the source's scale to its reference, axis by axis. This is
    /// exact if the ratio is uniform or the axes of both joints are the same within 1°, in any order and sign; otherwise the
    /// target gets the nearest scale that its axes allow. The report names both, and joints whose scale is dropped.
    /// Default: yes.
    pub keep_scales: bool,
    /// Ground on which the source stands. Default: found from the clip.
    pub ground: Ground,
    /// Whether left and right are swapped. Default: no.
    pub mirror: bool,
    /// Planting of feet. Default: `None`.
    pub feet: Option<FootPlanting>,
    /// Limit on the rows of a resulting clip, bytes. Default: 1 GiB.
    pub max_clip_bytes: usize,
}

impl Default for RetargetOptions {
    fn default() -> Self {
        Self {
            source_reference: Reference::Rest,
            target_reference: Reference::Rest,
            alignment: Alignment::default(),
            keep_scales: true,
            ground: Ground::default(),
            mirror: false,
            feet: None,
            // An hour of 60 joints at 60 Hz takes 220 MB.
            max_clip_bytes: 1 << 30,
        }
    }
}
