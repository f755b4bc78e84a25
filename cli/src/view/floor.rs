//! The height of the ground below a clip: that of its lowest vertex.

use glam::Vec3;
use phalanx::playback::{PoseAction, PoseError, evaluate_pose};
use phalanx::rig::Rig;
use rayon::prelude::*;

/// Samples per second of a clip, and the fewest and most samples. At 30 per second, the rate of most keys, the
/// feet of a run were 4 mm lower between two samples.
const RATE: f32 = 120.0;
const MOMENTS: (usize, usize) = (6, 120);

/// Largest number of vertices deformed for all clips of one call, unless the fewest samples need more: some
/// tens of milliseconds.
const MOST_VERTICES: usize = 6_000_000;

/// Height of the lowest vertex while each of some clips plays, in model space; of the rest pose for `None`.
///
/// Without vertices it is the lowest joint's, and without joints 0. Always finite.
pub fn lowest(rig: &Rig, clips: &[Option<usize>]) -> Result<Vec<f32>, PoseError> {
    let finest = rig.meshes().iter().filter(|m| m.lod == 0);
    let primitives = finest.flat_map(|m| &m.mesh.primitives);
    let vertices: usize = primitives.map(|p| p.positions.len()).sum();
    let affordable = MOST_VERTICES / vertices.max(1) / clips.len().max(1);
    let most = affordable.clamp(MOMENTS.0, MOMENTS.1);
    clips
        .par_iter()
        .map(|&clip| Ok(lowest_of(rig, clip, most)?.unwrap_or(0.0)))
        .collect()
}

fn lowest_of(rig: &Rig, clip: Option<usize>, most: usize) -> Result<Option<f32>, PoseError> {
    let Some(clip) = clip else {
        return lowest_at(rig, &[]);
    };
    let duration = rig.clips().get(clip).map_or(0.0, |c| c.duration());
    let steps = ((duration * RATE).ceil() as usize).clamp(MOMENTS.0, most);
    let mut lowest: Option<f32> = None;
    for step in 0..=steps {
        let action = PoseAction {
            clip,
            time: duration * step as f32 / steps as f32,
            weight: 1.0,
        };
        let now = lowest_at(rig, &[action])?;
        lowest = lowest.into_iter().chain(now).reduce(f32::min);
    }
    Ok(lowest)
}

fn lowest_at(rig: &Rig, actions: &[PoseAction]) -> Result<Option<f32>, PoseError> {
    let pose = evaluate_pose(rig, actions)?;
    let posed = pose.vertices(rig)?;
    // Points and lines are not drawn.
    let drawn = posed.iter().filter(|p| {
        let primitive = &rig.meshes()[p.mesh].mesh.primitives[p.primitive];
        !primitive.indices.is_empty()
    });
    let heights = drawn.flat_map(|p| &p.positions).map(|p| p[1]);
    let finite =
        |heights: &mut dyn Iterator<Item = f32>| heights.filter(|y| y.is_finite()).reduce(f32::min);
    let joints = rig.nodes().iter().zip(&pose.worlds);
    let mut joints = joints
        .filter(|(node, _)| node.joint.is_some())
        .map(|(_, world)| world.transform_point3(Vec3::ZERO).y);
    Ok(finite(&mut { heights }).or_else(|| finite(&mut joints)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use phalanx::import;

    #[test]
    fn every_clip_has_a_floor_that_no_moment_is_below() {
        let rig = import::mannequin().unwrap();
        let clips: Vec<_> = (0..rig.clips().len()).map(Some).chain([None]).collect();
        let floors = lowest(&rig, &clips).unwrap();
        for (&clip, &floor) in clips.iter().zip(&floors) {
            let name = clip.map_or("rest", |c| rig.clips()[c].name());
            // Feet stand on the character's own ground, soles some millimetres thick.
            assert!(floor.abs() < 0.06, "{name}: {floor}");
            // Times between the samples.
            for step in 0..5 {
                let actions: Vec<_> = clip
                    .map(|clip| PoseAction {
                        clip,
                        time: rig.clips()[clip].duration() * (step as f32 + 0.37) / 5.0,
                        weight: 1.0,
                    })
                    .into_iter()
                    .collect();
                let now = lowest_at(&rig, &actions).unwrap().unwrap();
                assert!(now > floor - 0.004, "{name}: {now} below {floor}");
            }
        }
    }
}
