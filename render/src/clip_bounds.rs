//! `ClipBounds`: where the clips of a rig can bring its meshes, measured once.

use super::Sphere;
use phalanx::playback::{EvaluatedPose, PoseAction, PoseError, evaluate_pose};
use phalanx::rig::{Aabb, Rig};
use phalanx::runtime::BoundsJob;

/// Moments per second at which clips are measured, as many as common files have keys, and the bounds
/// of their number: twenty minutes.
const RATE: f32 = 30.0;
const MOMENTS: std::ops::RangeInclusive<usize> = 2..=36_000;

/// Share of its half sides that a box is enlarged by: for what lies between the moments, and for
/// blends, whose limbs can reach beyond those of both clips. 0.03 is the most that was seen, of the
/// built-in character's clips in crossfades.
const SLACK: f32 = 0.12;

/// The same for rigs with morph targets, whose weights may leave 0 and 1.
const MORPH_SLACK: f32 = 0.5;

/// A box per clip of a rig, in model space, that holds its meshes while the clip plays.
///
/// So instances can be culled before they are evaluated. Source of a pose's box: [`BoundsJob`].
#[derive(Clone, Debug)]
pub struct ClipBounds {
    /// By the clip's place in the rig.
    clips: Vec<Aabb>,
    rest: Aabb,
    slack: f32,
}

impl ClipBounds {
    /// Measures all clips of a rig; some milliseconds for each minute of clips.
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

    /// The sphere around blends of some clips and the rest pose; none if one of them is not the
    /// rig's, or nothing is drawn of the rig, or numbers are out of range.
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
