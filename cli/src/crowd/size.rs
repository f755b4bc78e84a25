//! Measures a model's size in motion, for the formation and the camera.

use super::super::error::CliError;
use super::super::model::Model;
use super::cast::Choice;
use glam::Vec3;
use phalanx::playback::{EvaluatedPose, PoseAction};
use phalanx::rig::Aabb;

/// Number of times sampled per clip.
const MOMENTS: usize = 6;

/// Largest number of clips measured; more did not change the size of any model seen.
const MOST_CLIPS: usize = 16;

/// Bounding box of all vertices at several times of the clips, or in the rest pose without clips. A model without
/// vertices is measured by its joints. Poses of clips that travel are centred horizontally. Always finite.
pub fn measure(model: &Model, choice: &Choice) -> Result<Aabb, CliError> {
    let clips = &choice.clips;
    let mut size = Aabb::EMPTY;
    if clips.is_empty() {
        size = pose_size(model, &model.pose(&[])?)?;
    }
    for &clip in clips.iter().take(MOST_CLIPS) {
        let duration = model.rig.clips().get(clip).map_or(0.0, |c| c.duration());
        for moment in 0..MOMENTS {
            let time = duration * (moment as f32 + 0.5) / MOMENTS as f32;
            let action = PoseAction { clip, time, weight: 1.0 };
            let mut pose = pose_size(model, &model.pose(&[action])?)?;
            if choice.travel && !pose.is_empty() {
                let away = pose.center().with_y(0.0);
                pose.min -= away;
                pose.max -= away;
            }
            size.union(&pose);
        }
    }
    let usable = !size.is_empty() && size.min.is_finite() && size.max.is_finite();
    Ok(if usable { size } else { Aabb { min: Vec3::ZERO, max: Vec3::ZERO } })
}

/// The longest side of a box.
pub fn longest_side(size: &Aabb) -> f32 {
    (size.max - size.min).max_element()
}

/// Bounding box of all triangles' vertices in a pose, or of all joints if there are none.
pub fn pose_size(model: &Model, pose: &EvaluatedPose) -> Result<Aabb, CliError> {
    let mut size = Aabb::EMPTY;
    let posed = pose
        .vertices(&model.rig)
        .map_err(|source| CliError::Pose { file: model.file.clone(), source: Box::new(source) })?;
    let mut any = false;
    let posed = model.rig.meshes().iter().zip(&posed);
    for (primitive, positions) in posed.flat_map(|(m, posed)| m.mesh.primitives.iter().zip(posed)) {
        // Points and lines are not drawn.
        if primitive.indices.is_empty() {
            continue;
        }
        any |= !positions.is_empty();
        positions.iter().for_each(|&p| size.add(p.into()));
    }
    if !any {
        for (node, world) in model.rig.nodes().iter().zip(&pose.worlds) {
            if node.joint.is_some() {
                size.add(world.transform_point3(Vec3::ZERO));
            }
        }
    }
    Ok(size)
}
