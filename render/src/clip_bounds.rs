//! `ClipBounds`: bounds of a rig's meshes per clip, measured once.

use super::Sphere;
use phalanx::playback::{EvaluatedPose, PoseAction, PoseError, evaluate_pose};
use phalanx::rig::{Aabb, Rig};
use phalanx::runtime::BoundsJob;

/// Samples per second at which clips are measured; common files have as many keys.
const RATE: f32 = 30.0;
/// The fewest and most intervals between the samples of a clip; the most is 20 minutes of it.
const MOMENTS: std::ops::RangeInclusive<usize> = 2..=36_000;

/// Share by which a sphere's radius is enlarged: for poses between samples, and for blends, whose limbs
/// can reach beyond those of both clips. The most that was measured is 0.03, in crossfades of the built-in
/// character's clips.
const SLACK: f32 = 0.12;

/// The same for rigs with morph targets, whose weights may leave [0, 1].
const MORPH_SLACK: f32 = 0.5;

/// Bounds of a rig's meshes while each of its clips plays, in model space.
///
/// With them, instances can be culled before they are evaluated. [`BoundsJob`] measures each pose.
#[derive(Clone, Debug)]
pub struct ClipBounds {
    /// By the clip's index in the rig.
    clips: Vec<Aabb>,
    rest: Aabb,
    slack: f32,
}

impl ClipBounds {
    /// Measures all clips of a rig: some milliseconds per minute of clips.
    ///
    /// # Errors
    /// If a pose cannot be evaluated.
    pub fn measure(rig: &Rig) -> Result<Self, PoseError> {
        let clips = 0..rig.clips().len();
        Ok(Self {
            rest: pose_box(rig, &evaluate_pose(rig, &[])?)?,
            clips: clips
                .map(|clip| clip_box(rig, clip))
                .collect::<Result<_, _>>()?,
            slack: if rig.morphs().is_empty() {
                SLACK
            } else {
                MORPH_SLACK
            },
        })
    }

    /// The sphere around any blend of some clips and the rest pose, in model space.
    ///
    /// `None` if an index is not that of a clip of the rig, the rig draws nothing, or the bounds are not
    /// finite.
    pub fn sphere(&self, clips: impl IntoIterator<Item = usize>) -> Option<Sphere> {
        let mut all = self.rest;
        for clip in clips {
            all.union(self.clips.get(clip)?);
        }
        let (center, radius) = (all.center(), all.half_size().length());
        let radius = radius * (1.0 + self.slack);
        let usable = !all.is_empty() && center.is_finite() && radius.is_finite();
        usable.then(|| Sphere {
            center: center.to_array(),
            radius,
        })
    }
}

fn clip_box(rig: &Rig, clip: usize) -> Result<Aabb, PoseError> {
    let duration = rig.clips().get(clip).map_or(0.0, |c| c.duration());
    let moments = (duration * RATE).ceil().clamp(0.0, *MOMENTS.end() as f32) as usize;
    let moments = moments.clamp(*MOMENTS.start(), *MOMENTS.end());
    let mut all = Aabb::EMPTY;
    for moment in 0..=moments {
        let action = PoseAction {
            clip,
            time: duration * moment as f32 / moments as f32,
            weight: 1.0,
        };
        all.union(&pose_box(rig, &evaluate_pose(rig, &[action])?)?);
    }
    Ok(all)
}

fn pose_box(rig: &Rig, pose: &EvaluatedPose) -> Result<Aabb, PoseError> {
    let job = BoundsJob {
        slots: rig.slot_bounds(),
        palette: &pose.palettes.concat(),
    };
    Ok(job.run()?)
}
