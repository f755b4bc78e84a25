//! `RetargetOptions`: the settings of a retargeting, and how poses are compared.

use super::error::RetargetError;
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
    /// Whether feet that stand in the source are kept from sliding in the target, by bending the legs. Default: no.
    pub plant_feet: bool,
    /// With `plant_feet`: largest height of a foot in contact above its lowest position, as a share of the height of the
    /// source's hips. Default: 0.05.
    pub plant_height: f64,
    /// With `plant_feet`: largest speed of a foot in contact relative to the ground, heights of the source's hips per second.
    /// Default: 0.35.
    pub plant_speed: f64,
    /// With `plant_feet`: time over which a correction fades in and out, seconds. Default: 0.1.
    pub plant_fade: f64,
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
            plant_feet: false,
            plant_height: 0.05,
            plant_speed: 0.35,
            plant_fade: 0.1,
        }
    }
}

impl RetargetOptions {
    /// Fails if a threshold of the planting of feet is out of range.
    pub(super) fn check(&self) -> Result<(), RetargetError> {
        let all = [
            ("plant_height", self.plant_height),
            ("plant_speed", self.plant_speed),
            ("plant_fade", self.plant_fade),
        ];
        match all.into_iter().find(|(_, v)| self.plant_feet && !(*v > 0.0 && v.is_finite())) {
            Some((option, value)) => {
                let allowed = "finite numbers above 0";
                Err(RetargetError::Option { option, value, allowed })
            }
            None => Ok(()),
        }
    }
}
