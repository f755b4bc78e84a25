//! `Tiers`: what the height of an instance on screen decides.

use crate::evaluate::TierDetail;
use crate::playback::PlaybackError as CrowdError;
use crate::playback::pool::Pool;
use crate::words::{are, number, plural};

/// The most tiers.
pub const MAX_TIERS: usize = 16;

/// The rates of tiers: numbers of frames from one update of an instance to the next. Each divides 16, so the pattern of
/// updates repeats after 16 frames.
pub const RATES: [u8; 5] = [1, 2, 4, 8, 16];

/// How instances of a range of heights on screen are evaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct Tier {
    /// The least height on screen in pixels: of the longest side of the rest pose's box, around the meshes, or around
    /// the joints of a rig that draws nothing. Finite, at least 0. Default 0.
    pub height: f32,
    /// Frames from one update to the next, one of [`RATES`]. Default 1.
    pub rate: u8,
    /// Between updates, whether the rows are interpolated from the last pose to the pose predicted for the next update;
    /// otherwise they are held. Without effect at rate 1. An interpolated instance has two palettes, and no latency:
    /// the next pose is predicted from what plays and from the length of the last frames. A call that changes what
    /// plays predicts it again; a call that sets the value that is set already does not. Held rows are up to `rate` - 1
    /// frames late. Default false.
    pub interpolate: bool,
    /// The error within which instances share palettes, in metres of model space, above 0. Default `None`: every
    /// instance has a palette of its own.
    ///
    /// Instances of one rig share if they play the same single clip at full weight on a layer of full weight without
    /// mask, or if they play nothing. Layers and actions whose weight is 0 do not count, unless the weight fades.
    /// Instances with overrides of joints, or with a mirror, do not share.
    ///
    /// An instance shows the nearest of the clip's phases. A clip has enough phases to keep all vertices within the
    /// error when the instance looks for its phase: half of a phase at the largest speed in the clip, with the jumps of
    /// step keys. In a tier with a `rate` above 1 the instance shows that phase until it looks again, so the motion of
    /// half of these frames is added to the error. A clip that needs more than 4,096 phases, or jumps farther than the
    /// error, is not shared. Shared palettes are not interpolated.
    ///
    /// Speeds are measured at the key times of a clip, 60 times a second between them, and between these samples where
    /// it is fastest: when the clip first plays in a crowd with such a tier, once per rig and clip, in the call that
    /// plays it. That takes some milliseconds per minute of a clip whose tracks have common key times, ten times as
    /// long if each has its own, and two seconds at most: what needs longer is not shared.
    pub shared_error: Option<f32>,
    /// The detail of the rig whose palette instances have. It has fewer rows, and only the meshes of its level can be
    /// drawn with them: see [`Shown::detail`](crate::crowd::Shown::detail). Default `None`: the full rig.
    ///
    /// Instances with overrides of joints, or with a mirror, keep the full rig. Joints that all instances
    /// [watch](crate::crowd::Crowd::watch) are evaluated, with those above them, whatever the level lacks or
    /// [`leave_out`](TierDetail::leave_out) lists; the rows stay the same. Model matrices on request, scenes and bounds
    /// use the full rig. Palettes are shared among tiers of one detail.
    pub detail: Option<TierDetail>,
    /// Whether [springs](crate::playback::Modifier::Springs) swing. Where they do not, an instance is as if it had none, and
    /// may share a palette; they start at rest when it comes back. Default true.
    ///
    /// An update catches up four steps of 1/60 s at most: at 60 frames per second, instances of a `rate` of 8 or 16 have
    /// their springs at rest in all frames, and cost less without them.
    pub springs: bool,
}

impl Default for Tier {
    fn default() -> Self {
        Self {
            height: 0.0,
            rate: 1,
            interpolate: false,
            shared_error: None,
            detail: None,
            springs: true,
        }
    }
}

/// The tiers of a crowd: see [`Crowd::set_tiers`](crate::crowd::Crowd::set_tiers).
///
/// The default tiers are for 1080 lines at 60 frames per second; their error is meant to be below half a pixel.
/// docs/performance/tiers.md has what was measured with the clips of the built-in character. Their errors of sharing
/// are for characters of the size of people in metres, about 1.8 m: [`for_size`](Self::for_size) fits them to other
/// models.
#[derive(Clone, Debug, PartialEq)]
pub struct Tiers {
    /// The tiers by descending [`Tier::height`], at most [`MAX_TIERS`]. An instance below the last height is not drawn:
    /// it counts as out of the picture, unless a map of shadows needs it.
    pub tiers: Vec<Tier>,
    /// An instance changes its tier when its height is beyond the tier's by this share: 0.1 means from 10% above or
    /// below on. In 0 to 1. Default 0.1.
    pub hysteresis: f32,
    /// The most frames that an instance waits for the budget, counted from its last update. At least 1. Default 32.
    pub max_age: u32,
    /// The tier of instances that have none in the pictures and are in a map of shadows, unless their height there
    /// gives a coarser one, or none. Default `None`: the height alone decides.
    pub shadows: Option<usize>,
}

impl Default for Tiers {
    fn default() -> Self {
        let shared = |height, error, rate| Tier {
            height,
            rate,
            interpolate: rate > 1,
            shared_error: Some(error),
            detail: None,
            springs: true,
        };
        Self {
            tiers: vec![
                Tier { height: 240.0, ..Tier::default() },
                shared(80.0, 0.003, 1),
                shared(40.0, 0.006, 1),
                shared(16.0, 0.018, 1),
                shared(5.0, 0.04, 1),
                shared(0.5, 0.03, 2),
            ],
            hysteresis: 0.1,
            max_age: 32,
            shadows: None,
        }
    }
}

/// A height with its unit.
fn pixels(height: f32) -> String {
    let height = number(f64::from(height));
    let unit = if height == "1" { "pixel" } else { "pixels" };
    format!("{height} {unit}")
}

/// The error for tiers, views or importances.
pub(super) fn refused(what: impl Into<String>) -> CrowdError {
    CrowdError::Tiers { what: what.into() }
}

/// Checks that a number is within its range.
fn within(what: &str, value: f64, low: f64, high: f64) -> Result<(), CrowdError> {
    if value >= low && value <= high {
        return Ok(());
    }
    let [value, low, high] = [value, low, high].map(number);
    Err(refused(format!("{what} is {value}, outside {low} to {high}")))
}

/// The greatest height of a tier in pixels.
const MAX_HEIGHT: f32 = 1e6;

impl Tier {
    /// Whether its cells store what they are evaluated from: they are not evaluated in every frame, or a budget may let
    /// them wait.
    pub(super) fn stores(&self, budget: bool) -> bool {
        self.rate > 1 || budget
    }
}

/// The longest side of the characters that the default tiers are for, in metres.
const HUMAN_SIZE: f32 = 1.8;

impl Tiers {
    /// Fits tiers for people of 1.8 m, as the default ones are, to a model whose rest pose has a box of this longest
    /// side, in units of the model: [`Tier::shared_error`] becomes as large in relation to the model. The error in
    /// pixels is then the same, since tiers go by the height on screen. A side that is not above 0 and finite changes
    /// nothing.
    #[must_use]
    pub fn for_size(mut self, longest_side: f32) -> Self {
        let factor = longest_side / HUMAN_SIZE;
        if factor > 0.0 && factor.is_finite() {
            for tier in &mut self.tiers {
                if let Some(error) = &mut tier.shared_error {
                    // Within what `validate` accepts.
                    *error = (*error * factor).clamp(f32::MIN_POSITIVE, f32::MAX);
                }
            }
        }
        self
    }

    /// Gives every tier the detail of the level that is drawn there. `heights` has the height in pixels down to which
    /// each level is drawn, the finest level first; a tier gets the finest level that is drawn anywhere from its height
    /// to the height of the tier before it. Tiers with level 0 are not changed: the full rig serves them. The joints
    /// that a tier leaves out are kept.
    ///
    /// The hysteresis is not considered, so that tiers may begin at the heights of levels. An instance that comes
    /// nearer stays in the coarser tier, with the coarser level, up to the hysteresis above the height of the finer
    /// one.
    ///
    /// ```
    /// use phalanx::crowd::Tiers;
    ///
    /// // Level 0 down to 110 pixels, level 1 down to 40, level 2 below.
    /// let tiers = Tiers::default().with_levels(&[110.0, 40.0, 0.0]);
    /// let level = |tier: usize| tiers.tiers[tier].detail.as_ref().map(|d| d.level);
    /// assert_eq!([level(1), level(2), level(3)], [None, Some(1), Some(2)]);
    /// ```
    #[must_use]
    pub fn with_levels(mut self, heights: &[f32]) -> Self {
        let mut most = f32::INFINITY;
        for tier in &mut self.tiers {
            let level = heights.iter().position(|&height| most > height);
            let level = level.unwrap_or(heights.len().saturating_sub(1));
            if level > 0 {
                tier.detail.get_or_insert_default().level = level;
            }
            most = tier.height;
        }
        self
    }

    /// Makes the details of a pool's rig, and measures the speeds of the clips that play if tiers need them.
    pub(in crate::crowd) fn prepare(&self, pool: &mut Pool) {
        pool.set_details(self.tiers.iter().map(|tier| tier.detail.as_ref()));
        pool.need_speeds(self.tiers.iter().any(|tier| tier.shared_error.is_some()));
    }

    /// Checks the tiers.
    ///
    /// # Errors
    /// If a number is outside its range, or the heights do not descend.
    pub fn validate(&self) -> Result<(), CrowdError> {
        let tiers = self.tiers.len();
        if !(1..=MAX_TIERS).contains(&tiers) {
            return Err(refused(format!("{tiers} tiers; a crowd has 1 to {MAX_TIERS}")));
        }
        for (tier, t) in self.tiers.iter().enumerate() {
            let value = |what: &str, value: f32, low: f32, high: f32| {
                within(&format!("tier {tier}: {what}"), value.into(), low.into(), high.into())
            };
            value("the height", t.height, 0.0, MAX_HEIGHT)?;
            if !RATES.contains(&t.rate) {
                let rate = t.rate;
                let known = "which is none of 1, 2, 4, 8 and 16";
                return Err(refused(format!("tier {tier}: the rate is {rate}, {known}")));
            }
            if let Some(error) = t.shared_error {
                value("the error of sharing", error, f32::MIN_POSITIVE, f32::MAX)?;
            }
            let above = tier.checked_sub(1).map(|before| self.tiers[before].height);
            if let Some(above) = above.filter(|&above| t.height >= above) {
                let [height, above] = [t.height, above].map(pixels);
                let before = "of the tier before it";
                return Err(refused(format!(
                    "tier {tier} begins at {height}, which is not below the {above} {before}"
                )));
            }
        }
        within("the hysteresis", self.hysteresis.into(), 0.0, 1.0)?;
        within("the greatest age", self.max_age.into(), 1.0, u32::MAX.into())?;
        match self.shadows {
            Some(tier) if tier >= tiers => {
                let (are, there) = (are(tiers as u64), plural(tiers as u64, "tier"));
                Err(refused(format!("the tier of shadows is {tier}; there {are} {there}")))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Errors grow with the model and stay valid.
    #[test]
    fn errors_are_relative_to_the_size_of_a_model() {
        let errors = |tiers: &Tiers| -> Vec<f32> {
            tiers.tiers.iter().filter_map(|t| t.shared_error).collect()
        };
        let default = Tiers::default();
        assert_eq!(default.clone().for_size(1.8), default);
        for side in [0.08, 150.0] {
            let scaled = default.clone().for_size(side);
            for (scaled, error) in errors(&scaled).iter().zip(errors(&default)) {
                assert!((scaled / error * 1.8 / side - 1.0).abs() < 1e-6);
            }
        }
        for side in [f32::MIN_POSITIVE, 1e-40, 1e38, f32::MAX] {
            assert_eq!(default.clone().for_size(side).validate(), Ok(()), "{side}");
        }
        for side in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            assert_eq!(default.clone().for_size(side), default);
        }
    }

    /// Tiers may begin where levels do.
    #[test]
    fn levels_are_those_of_a_tiers_heights_without_hysteresis() {
        let tiers = Tiers { hysteresis: 0.5, ..Tiers::default() };
        let tiers = tiers.with_levels(&[80.0, 40.0, 0.0]);
        let levels = tiers.tiers.iter().map(|t| t.detail.as_ref().map(|d| d.level));
        let wanted = [None, None, Some(1), Some(2), Some(2), Some(2)];
        assert!(levels.eq(wanted));
    }

    #[test]
    fn tier_validity() {
        assert_eq!(Tiers::default().validate(), Ok(()));
        let changed = |change: &dyn Fn(&mut Tiers)| {
            let mut tiers = Tiers::default();
            change(&mut tiers);
            tiers.validate().unwrap_err().to_string()
        };
        let refused = [
            changed(&|t| t.tiers.clear()),
            changed(&|t| t.tiers = vec![Tier::default(); 17]),
            changed(&|t| t.tiers[1].height = f32::NAN),
            changed(&|t| t.tiers[2].rate = 3),
            changed(&|t| t.tiers[1].shared_error = Some(0.0)),
            changed(&|t| t.tiers[1].shared_error = Some(f32::NAN)),
            changed(&|t| t.tiers[1].height = 240.0),
            changed(&|t| t.hysteresis = 1.5),
            changed(&|t| t.max_age = 0),
            changed(&|t| t.shadows = Some(6)),
        ];
        let parts = [
            "0 tiers",
            "17 tiers",
            "tier 1: the height is NaN",
            "tier 2: the rate is 3",
            "tier 1: the error of sharing is 0",
            "tier 1: the error of sharing is NaN",
            "tier 1 begins at 240 pixels",
            "the hysteresis is 1.5",
            "the greatest age is 0",
            "the tier of shadows is 6; there are 6 tiers",
        ];
        for (refused, part) in refused.iter().zip(parts) {
            assert!(refused.starts_with(part), "{refused} / {part}");
        }
    }
}
