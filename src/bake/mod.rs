//! Baking: reduces clips of f32 keys to 16-bit keys, within a measured error bound.
//!
//! Start with [`bake`]; clips are independent, so a host bakes them in parallel. [`measure_error`] compares any two
//! clips, [`measure_source`] compares a clip with the file that it was made from. The error metric is that of ACL
//! (Animation Compression Library): the displacement in model space of points on a shell around each joint.

mod locals;
mod metric;
mod optimise;
mod pack;
mod quantise;
mod reference;
mod report;
mod shells;
mod source;
#[cfg(test)]
mod tests;
mod times;
mod tracks;
mod transforms;

pub use metric::measure_error;
pub use report::ErrorReport;
pub use source::measure_source;

use crate::clip::{Clip, ClipKind};
use crate::error::BuildError;
use crate::runtime::JobError;
use crate::skeleton::{Skeleton, SkeletonMismatch};
use crate::words::{plural, shorten};
use optimise::optimise;
use thiserror::Error;
use tracks::Tracks;

/// Attempts to bake a clip, each with a finer target if the measured error is above the bound.
const ATTEMPTS: usize = 4;
/// Share of the error that the finest 16-bit step of a track may cause; tracks that need a coarser step stay f32. The
/// next, smaller share is tried if the errors of all tracks together exceed the bound.
const COARSEST: [f64; 3] = [0.8, 0.2, 0.05];
/// Bytes of memory that [`bake`] and [`measure_error`] need at most for each joint and key time of a clip, in addition to
/// the clip. Measured: 160 if rotations are animated, 227 with translations, so about 290 with scales as well.
pub const BAKE_BYTES_PER_KEY: u64 = 300;

/// Limit on joints × key times of a clip. Baking needs [`BAKE_BYTES_PER_KEY`] for each, so at most 5.0 GB. Ten minutes of
/// 200 joints at 60 frames per second are 7 million, ten minutes of 31 joints at 120 Hz 2.2 million.
///
/// A clip may hold more ([`MAX_KEYS`](crate::clip::MAX_KEYS) for any number of joints): 31 joints are baked up to
/// 541,200 keys, which are 75 minutes at 120 Hz. A longer take plays and is stored with exact keys; to bake it, cut it.
pub const MAX_BAKED_KEYS: usize = 1 << 24;

/// Bytes of memory that [`bake`] needs for a clip at most, so that a caller can check that they are available: the
/// process ends if memory runs out.
///
/// # Errors
/// If the clip is not of the skeleton, or larger than [`MAX_BAKED_KEYS`].
pub fn bake_memory(clip: &Clip, skeleton: &Skeleton) -> Result<u64, BakeError> {
    metric::check(clip, skeleton)?;
    let keys = times::key_times(clip).len() as u64 * skeleton.len() as u64;
    Ok(keys * BAKE_BYTES_PER_KEY)
}

/// Settings of [`bake`]. Each number is finite and above 0.
#[derive(Clone, Debug, PartialEq)]
pub struct BakeOptions {
    /// Bound on the displacement of points on a joint's shell from the raw clip, metres of model space.
    /// [`ErrorReport::max`], which is kept below it, says how far that holds between keys. Default: 0.1 mm.
    pub max_error: f32,
    /// Distance of the shell from the joint, metres of model space. Default: 3 cm.
    pub shell: f32,
    /// Bound on the error of morph weights and user channels, relative to their range or to 1, whichever is
    /// larger. Default: 1e-4.
    pub scalar_error: f32,
    /// Joints by index with bounds that replace `max_error`, metres. Default: none.
    pub joint_errors: Vec<(u16, f32)>,
    /// Joints by index with distances that replace `shell`, metres. Default: none.
    pub joint_shells: Vec<(u16, f32)>,
}

impl Default for BakeOptions {
    fn default() -> Self {
        Self {
            max_error: 1e-4,
            shell: 0.03,
            scalar_error: 1e-4,
            joint_errors: Vec::new(),
            joint_shells: Vec::new(),
        }
    }
}

/// An error of baking or measuring a clip.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum BakeError {
    /// A setting is not a finite number above 0.
    #[error("{setting} is {value}; it must be a finite number above 0")]
    Setting {
        /// Name of the setting.
        setting: &'static str,
        /// Value of the setting.
        value: f32,
    },
    /// An override names a joint that does not exist.
    #[error("settings for joint {joint}: the skeleton has {}", plural(*.joints as u64, "joint"))]
    Joint {
        /// Index of the joint.
        joint: u16,
        /// Number of joints of the skeleton.
        joints: usize,
    },
    /// A clip has more joints × key times than [`MAX_BAKED_KEYS`].
    #[error(
        "clip \"{clip}\": {times} key times × {joints} joints, the limit of the product is {MAX_BAKED_KEYS}", clip = shorten(.clip)
    )]
    TooLarge {
        /// Name of the clip.
        clip: String,
        /// Number of distinct key times.
        times: usize,
        /// Number of joints of the skeleton.
        joints: usize,
    },
    /// A clip cannot be sampled with the skeleton.
    #[error(transparent)]
    Sample(#[from] JobError),
    /// Two clips cannot be compared: they are of different skeletons.
    #[error("clip \"{clip}\" and the raw clip are of different skeletons: {mismatch}", clip = shorten(.clip))]
    Skeleton {
        /// Name of the clip.
        clip: String,
        /// The first difference between the skeletons of the clip and of the raw clip.
        mismatch: SkeletonMismatch,
    },
    /// Two clips cannot be compared: their kind or duration differs.
    #[error("clip \"{clip}\": {what} is {have}, that of the raw clip is {needed}", clip = shorten(.clip))]
    Different {
        /// Name of the clip.
        clip: String,
        /// The property that differs.
        what: &'static str,
        /// Value of the clip.
        have: String,
        /// Value of the raw clip.
        needed: String,
    },
    /// The baked clip was rejected.
    #[error(transparent)]
    Clip(#[from] BuildError),
}

impl BakeOptions {
    fn check(&self, skeleton: &Skeleton) -> Result<(), BakeError> {
        let above = |setting, value: f32| match value > 0.0 && value.is_finite() {
            true => Ok(()),
            false => Err(BakeError::Setting { setting, value }),
        };
        above("max_error", self.max_error)?;
        above("shell", self.shell)?;
        above("scalar_error", self.scalar_error)?;
        let joints =
            [("a joint's max_error", &self.joint_errors), ("a joint's shell", &self.joint_shells)];
        for (setting, &(joint, value)) in
            joints.into_iter().flat_map(|(s, all)| all.iter().map(move |j| (s, j)))
        {
            if usize::from(joint) >= skeleton.len() {
                return Err(BakeError::Joint { joint, joints: skeleton.len() });
            }
            above(setting, value)?;
        }
        Ok(())
    }

    /// For each joint, the distance of the shell, and the weight that makes its error comparable with `max_error`.
    fn shells(&self, skeleton: &Skeleton) -> Vec<(f64, f64)> {
        let mut shells = vec![(f64::from(self.shell), 1.0); skeleton.len()];
        for &(joint, error) in &self.joint_errors {
            shells[usize::from(joint)].1 = f64::from(self.max_error) / f64::from(error);
        }
        for &(joint, shell) in &self.joint_shells {
            shells[usize::from(joint)].0 = shell.into();
        }
        shells
    }
}

/// Bakes a clip of f32 rows to 16-bit keys, and reports the measured error.
///
/// Blocks for which 16 bits cannot keep the error within the settings stay f32. Key times, markers and root
/// motion are kept; timelines that no block uses any more are dropped. Additive clips are measured on top
/// of the rest pose. The result is bit-identical on every machine.
///
/// ```
/// use phalanx::bake::{BakeOptions, bake};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let rig = phalanx::import::mannequin()?;
/// let raw = &rig.clips()[0];
/// let options = BakeOptions::default(); // 0.1 mm, on a shell of 3 cm
/// let (baked, report) = bake(raw, rig.skeleton(), &options)?;
/// assert!(baked.bytes() < raw.bytes());
/// assert!(report.max <= options.max_error);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// If a setting is out of range, the clip does not fit the skeleton, or it is larger than
/// [`MAX_BAKED_KEYS`].
pub fn bake(
    raw: &Clip,
    skeleton: &Skeleton,
    settings: &BakeOptions,
) -> Result<(Clip, ErrorReport), BakeError> {
    settings.check(skeleton)?;
    metric::check(raw, skeleton)?;
    let mut before = None;
    for coarsest in COARSEST {
        let tracks = Tracks::new(raw, skeleton, settings, coarsest);
        let forms = tracks.forms();
        if before.as_ref() == Some(&forms) {
            continue;
        }
        if let Some(baked) = attempt(raw, skeleton, settings, &tracks)? {
            return Ok(baked);
        }
        before = Some(forms);
    }
    // 16-bit keys do not reach the bound, so the clip is kept.
    let (report, _) = metric::measure((raw, skeleton), raw, settings)?;
    Ok((raw.clone(), report))
}

fn attempt(
    raw: &Clip,
    skeleton: &Skeleton,
    settings: &BakeOptions,
    tracks: &Tracks,
) -> Result<Option<(Clip, ErrorReport)>, BakeError> {
    let mut target = f64::from(settings.max_error) * metric::MARGIN;
    for _ in 0..ATTEMPTS {
        let built = optimise(tracks, target);
        let clip = match pack::pack(raw, skeleton, settings, tracks, &built) {
            // The steps are so coarse that a rotation lost its direction or a scale exceeds its limit.
            Err(BuildError::Beyond { .. }) if built.reached => {
                target *= 0.5;
                continue;
            }
            Err(BuildError::Beyond { .. }) => break,
            packed => packed?,
        };
        let (report, weighted) = metric::measure((raw, skeleton), &clip, settings)?;
        if weighted <= settings.max_error {
            return Ok(Some((clip, report)));
        }
        if !built.reached {
            break;
        }
        target *= 0.985 * f64::from(settings.max_error / weighted);
    }
    Ok(None)
}

/// The size of a model, to choose [`BakeOptions`] in proportion to it: the longest side of the box around its joints
/// in the rest pose, metres. 0 for a skeleton whose joints lie at one place.
pub fn model_size(skeleton: &Skeleton) -> f32 {
    let models = skeleton.rest_models();
    let places = models.iter().map(|m| m.translation);
    let least = places.clone().reduce(|a, b| a.min(b)).unwrap_or_default();
    let most = places.reduce(|a, b| a.max(b)).unwrap_or_default();
    (most - least).max_element()
}

/// True if lanes without keys are the identity, false if they are the rest pose.
fn is_additive(clip: &Clip) -> bool {
    clip.kind() == ClipKind::Additive
}
