//! The size of a model, its unit, and how far its clips travel.

use super::super::crowd::size::pose_size;
use super::super::model::Model;
use glam::Vec3;
use phalanx::playback::{EvaluatedPose, PoseAction};
use serde::Serialize;

/// Longest side in metres above which a model seems to be in centimetres: no character is as large, and one
/// of 20 cm is as small in centimetres.
const LARGE: f32 = 20.0;

/// Distance along the ground, relative to the longest side of the model, from which a clip travels. Loops in
/// place end below 0.01.
const TRAVELS: f32 = 0.1;

/// Largest number of nodes, over all clips, that are posed to see which clips travel: a second of work.
const MOST_POSED: usize = 1 << 22;

/// The box of all vertices in the rest pose, metres; of all joints if the model has no meshes.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Bounds {
    pub min: [f32; 3],
    pub max: [f32; 3],
    /// Width, height and depth.
    pub size: [f32; 3],
}

/// Distance that a clip moves its root joint.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Travel {
    /// Metres from the first pose to the last; along the ground if it is not extracted.
    pub distance: f32,
    /// Metres per second.
    pub speed: f32,
    /// True if the file has it as root motion, false if the joint moves in the pose.
    pub extracted: bool,
}

impl Bounds {
    /// `None` if there is nothing to measure.
    pub fn of(model: &Model) -> Option<Self> {
        let pose = model.pose(&[]).ok()?;
        let bounds = pose_size(model, &pose).ok()?;
        let finite = bounds.min.is_finite() && bounds.max.is_finite();
        (finite && !bounds.is_empty()).then(|| Self {
            min: bounds.min.to_array(),
            max: bounds.max.to_array(),
            size: (bounds.max - bounds.min).to_array(),
        })
    }

    /// The longest side.
    pub fn longest(&self) -> f32 {
        self.size.into_iter().fold(0.0, f32::max)
    }

    /// The unit that the model seems to have, if it is not metres.
    pub fn unit_hint(&self) -> Option<&'static str> {
        (self.longest() > LARGE).then_some("centimetres")
    }
}

/// The travel of every clip.
pub fn travels(model: &Model, bounds: Option<&Bounds>) -> Vec<Option<Travel>> {
    let clips = model.rig.clips();
    let few = clips.len().saturating_mul(model.rig.nodes().len()) <= MOST_POSED;
    let travel = |clip: usize| {
        let duration = clips[clip].duration();
        let of = |distance: f32, extracted| {
            (duration > 0.0).then(|| Travel { distance, speed: distance / duration, extracted })
        };
        if let Some(motion) = clips[clip].root_motion() {
            return of(motion.whole().translation.length() as f32, true);
        }
        let size = bounds.filter(|_| few)?.longest();
        let distance = in_pose(model, clip, duration)?;
        (distance > TRAVELS * size && distance.is_finite()).then(|| of(distance, false)).flatten()
    };
    (0..clips.len()).map(travel).collect()
}

/// Distance along the ground covered by the first joint whose local translation differs at the end.
fn in_pose(model: &Model, clip: usize, duration: f32) -> Option<f32> {
    let pose = |time: f32| -> Option<EvaluatedPose> {
        let weight = 1.0;
        model.pose(&[PoseAction { clip, time, weight }]).ok()
    };
    let (start, end) = (pose(0.0)?, pose(duration)?);
    let nodes = model.rig.nodes();
    let mut of_joint = vec![None; model.rig.skeleton().len()];
    for (n, node) in nodes.iter().enumerate() {
        if let Some(slot) = node.joint.and_then(|j| of_joint.get_mut(usize::from(j))) {
            *slot = Some(n);
        }
    }
    // Joints are listed parents first.
    let moved = |&n: &usize| {
        let translation = |pose: &EvaluatedPose| pose.locals[n].translation;
        translation(&start) != translation(&end)
    };
    let joint = of_joint.into_iter().flatten().find(moved)?;
    let place = |pose: &EvaluatedPose| pose.worlds[joint].transform_point3(Vec3::ZERO);
    Some((place(&end) - place(&start)).with_y(0.0).length())
}
