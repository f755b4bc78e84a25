//! The `baked` profile: clips of 16-bit keys whose error was measured.

mod metric;
mod optimise;
mod pack;
mod reference;
mod report;
mod tracks;
mod walk;

pub use metric::{measure_error, measure_error_across};
pub use report::{ErrorReport, TrackBytes};

use crate::clip::{Clip, ClipError, ClipKind};
use crate::runtime::JobError;
use crate::skeleton::Skeleton;
use optimise::optimise;
use rayon::prelude::*;
use std::sync::Arc;
use thiserror::Error;
use tracks::Tracks;

/// The largest error of a baked clip if nothing else is said, metres.
pub const MAX_ERROR: f32 = 1e-4;
/// Distance of the shell around a joint if nothing else is said, metres.
pub const SHELL: f32 = 0.03;
/// Times a clip is baked anew, more finely, when what was measured is above what was asked for.
const ATTEMPTS: usize = 4;
/// The part of the error that the finest step of 16 bits may make on its own: tracks that need coarser
/// steps stay f32. The next part is tried where what the others make comes on top of it.
const COARSEST: [f64; 3] = [0.8, 0.2, 0.05];
/// The most joints × key times of a clip. Baking holds 0.3 kB of each: 5 GB. Ten minutes of 200 joints at
/// 60 frames a second are 7 million.
pub const MAX_BAKED_KEYS: usize = 1 << 24;

/// Settings of [`bake`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BakeSettings {
    /// The largest distance of a point on a joint's shell from where the raw clip carries it, metres.
    pub max_error: f32,
    /// Distance of the shell's points from the joint, metres.
    pub shell: f32,
    /// The largest error of morph weights and user channels, relative to their range or to 1.
    pub scalar_error: f32,
    /// Joints with settings of their own.
    pub joints: Vec<JointQuality>,
}

/// Settings of one joint.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointQuality {
    /// The joint.
    pub joint: u16,
    /// Its largest error, metres, in place of the clip's.
    pub max_error: Option<f32>,
    /// Its shell, metres, in place of the clip's.
    pub shell: Option<f32>,
}

impl Default for BakeSettings {
    fn default() -> Self {
        Self {
            max_error: MAX_ERROR,
            shell: SHELL,
            scalar_error: 1e-4,
            joints: Vec::new(),
        }
    }
}

/// Why a clip cannot be baked or measured.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum BakeError {
    /// A setting is negative, NaN or infinite.
    #[error("{setting} is {value}; it must be a finite number above 0")]
    Setting {
        /// The setting.
        setting: &'static str,
        /// Its value.
        value: f32,
    },
    /// A setting names a joint that is not there.
    #[error("settings of joint {joint}, the skeleton has {joints}")]
    Joint {
        /// The joint.
        joint: u16,
        /// Joints of the skeleton.
        joints: usize,
    },
    /// A clip is too long for so many joints.
    #[error(
        "clip \"{clip}\": {times} key times of {joints} joints, the limit of both together is {MAX_BAKED_KEYS}"
    )]
    TooLarge {
        /// The clip.
        clip: String,
        /// Times at which it has keys.
        times: usize,
        /// Joints of the skeleton.
        joints: usize,
    },
    /// A clip does not fit the skeleton.
    #[error(transparent)]
    Sample(#[from] JobError),
    /// Two clips are compared that are not of one kind or length.
    #[error("clip \"{clip}\": {what} is {have}, of the clip that it is compared with {needed}")]
    Different {
        /// The clip.
        clip: String,
        /// What differs.
        what: &'static str,
        /// The clip's.
        have: String,
        /// The other's.
        needed: String,
    },
    /// The baked parts were refused.
    #[error(transparent)]
    Clip(#[from] ClipError),
}

impl BakeSettings {
    fn check(&self, skeleton: &Skeleton) -> Result<(), BakeError> {
        let above = |setting, value: f32| match value > 0.0 && value.is_finite() {
            true => Ok(()),
            false => Err(BakeError::Setting { setting, value }),
        };
        above("max_error", self.max_error)?;
        above("shell", self.shell)?;
        above("scalar_error", self.scalar_error)?;
        for j in &self.joints {
            if usize::from(j.joint) >= skeleton.len() {
                return Err(BakeError::Joint {
                    joint: j.joint,
                    joints: skeleton.len(),
                });
            }
            above("a joint's max_error", j.max_error.unwrap_or(1.0))?;
            above("a joint's shell", j.shell.unwrap_or(1.0))?;
        }
        Ok(())
    }

    /// Per joint: the shell's distance, and what its errors are multiplied by to be compared with
    /// `max_error`.
    fn shells(&self, skeleton: &Skeleton) -> Vec<(f64, f64)> {
        let mut shells = vec![(f64::from(self.shell), 1.0); skeleton.len()];
        for j in &self.joints {
            let place = &mut shells[usize::from(j.joint)];
            place.0 = f64::from(j.shell.unwrap_or(self.shell));
            place.1 = f64::from(self.max_error) / f64::from(j.max_error.unwrap_or(self.max_error));
        }
        shells
    }
}

/// Bakes a clip of f32 rows: 16-bit keys where they keep the error below the settings' bound, as
/// measured on the clip as it is sampled. Times, markers and root motion stay.
///
/// Additive clips are measured on top of the rest pose. The result does not depend on the machine.
///
/// # Errors
/// If a setting is out of range, the clip does not fit the skeleton, or it is too long.
pub fn bake(
    raw: &Clip,
    skeleton: &Skeleton,
    settings: &BakeSettings,
) -> Result<(Clip, ErrorReport), BakeError> {
    settings.check(skeleton)?;
    metric::check(raw, skeleton)?;
    let mut before = None;
    for coarsest in COARSEST {
        let tracks = Tracks::new(raw, skeleton, settings, coarsest);
        let motions = tracks.motions();
        if before.as_ref() == Some(&motions) {
            continue;
        }
        if let Some(baked) = attempt(raw, skeleton, settings, &tracks)? {
            return Ok(baked);
        }
        before = Some(motions);
    }
    // No 16-bit keys reach it: the rows stay as they are.
    let (report, _) = metric::measure((raw, skeleton), (raw, skeleton), settings)?;
    Ok((raw.clone(), report))
}

/// Bakes with these tracks; none if the error is not reached.
fn attempt(
    raw: &Clip,
    skeleton: &Skeleton,
    settings: &BakeSettings,
    tracks: &Tracks,
) -> Result<Option<(Clip, ErrorReport)>, BakeError> {
    let mut target = f64::from(settings.max_error) * metric::MARGIN;
    for _ in 0..ATTEMPTS {
        let built = optimise(tracks, target);
        let clip = match pack::pack(raw, skeleton, settings, tracks, &built) {
            // Steps so coarse that a rotation has no direction, or a scale grows beyond its limit.
            Err(ClipError::Beyond { .. } | ClipError::Scale { .. }) if built.reached => {
                target *= 0.5;
                continue;
            }
            Err(ClipError::Beyond { .. } | ClipError::Scale { .. }) => break,
            packed => packed?,
        };
        let (report, weighted) = metric::measure((raw, skeleton), (&clip, skeleton), settings)?;
        if weighted <= settings.max_error {
            return Ok(Some((clip, report)));
        }
        if !built.reached {
            break;
        }
        target *= 0.95 * f64::from(settings.max_error / weighted);
    }
    Ok(None)
}

/// Bakes many clips of a skeleton on rayon's current pool; results are in the order of the clips.
/// `done` is called once per finished clip, from any thread, with its index.
pub fn bake_all(
    raw: &[Arc<Clip>],
    skeleton: &Skeleton,
    settings: &BakeSettings,
    done: &(dyn Fn(usize) + Sync),
) -> Vec<Result<(Clip, ErrorReport), BakeError>> {
    let one = |(i, clip): (usize, &Arc<Clip>)| {
        let baked = bake(clip, skeleton, settings);
        done(i);
        baked
    };
    raw.par_iter().enumerate().map(one).collect()
}

/// What a lane without keys is: the rest pose, or nothing added to it.
fn is_additive(clip: &Clip) -> bool {
    clip.kind() == ClipKind::Additive
}
