//! The height of the ground below a character: the lowest vertex of its clips.

use super::super::error::CliError;
use glam::Vec3;
use phalanx::crowd::{Crowd, InstanceId};
use phalanx::math::Affine3x4;
use phalanx::playback::{Playable, PlaybackError, PoseAction, evaluate_pose};
use phalanx::rig::Rig;
use rayon::prelude::*;
use std::collections::HashMap;

/// Samples per second of a clip, and the fewest and most samples. At 30 per second, the rate of most keys, the
/// feet of a run were 4 mm lower between two samples.
const RATE: f32 = 120.0;
const MOMENTS: (usize, usize) = (6, 120);

/// Largest number of vertices deformed for all clips of one call, unless the fewest samples need more: some
/// tens of milliseconds.
const MOST_VERTICES: usize = 6_000_000;

/// Heights of the lowest vertices of the clips of one rig, in model space; `None` is the rest pose.
#[derive(Debug)]
pub struct Floors {
    heights: HashMap<Option<usize>, f32>,
    /// The height for clips that were not measured.
    otherwise: f32,
}

impl Floors {
    /// No clip is measured yet: all have the height `otherwise`.
    pub fn new(otherwise: f32) -> Self {
        Self { heights: HashMap::new(), otherwise }
    }

    /// Heights that need not be measured.
    #[cfg(all(test, feature = "view"))]
    pub fn known<const N: usize>(heights: [(Option<usize>, f32); N]) -> Self {
        Self { heights: heights.into(), otherwise: f32::NAN }
    }

    /// Measures the clips whose height is not known yet.
    pub fn measure(
        &mut self,
        rig: &Rig,
        clips: impl IntoIterator<Item = Option<usize>>,
    ) -> Result<(), PlaybackError> {
        let clips = clips.into_iter();
        let unknown = clips.filter(|clip| !self.heights.contains_key(clip));
        let unknown: Vec<_> = unknown.collect();
        let found = lowest(rig, &unknown)?;
        self.heights.extend(unknown.into_iter().zip(found));
        Ok(())
    }

    /// The height of the ground below a character. During a fade it lies between the heights of the clips, and the
    /// second value is true.
    pub fn below(&self, crowd: &Crowd, instance: InstanceId) -> Result<(f32, bool), CliError> {
        let of = |clip| self.heights.get(&clip).copied().unwrap_or(self.otherwise);
        let (mut height, mut total, mut clips) = (0.0, 0.0, 0);
        let playing = crowd.playing(instance)?;
        for (motion, state) in playing.actions(0)? {
            let weight = state.weight;
            match motion {
                Playable::Clip(clip) => height += weight * of(Some(clip.index())),
                Playable::Space(space) => {
                    // The mean of all its clips: which of them have weights changes with the parameter.
                    let each = crowd.blend_space(space)?.map(|(_, clip)| of(Some(clip.index())));
                    let (sum, count) =
                        each.fold((0.0, 0.0), |(sum, n), height| (sum + height, n + 1.0));
                    height += weight * sum / count;
                }
            }
            total += weight;
            clips += 1;
        }
        // The rest pose has the remaining weight.
        height = match total {
            t if t < 1.0 => height + (1.0 - t) * of(None),
            t => height / t,
        };
        Ok((height, clips > 1 || (clips == 1 && total != 1.0)))
    }
}

/// Moves a character that is turned around the vertical alone up or down, so that `floor`, a height in model space, is
/// at height 0.
pub fn on_ground(mut world: Affine3x4, floor: f32) -> Affine3x4 {
    let scale = world.rows[1][1];
    world.rows[1][3] = -floor * scale;
    world
}

/// Height of the lowest vertex while each of some clips plays; of the rest pose for `None`.
///
/// Without vertices it is the lowest joint's, and without joints 0. Always finite.
fn lowest(rig: &Rig, clips: &[Option<usize>]) -> Result<Vec<f32>, PlaybackError> {
    let finest = rig.meshes().iter().filter(|m| m.lod == 0);
    let primitives = finest.flat_map(|m| &m.mesh.primitives);
    let vertices: usize = primitives.map(|p| p.positions.len()).sum();
    let affordable = MOST_VERTICES / vertices.max(1) / clips.len().max(1);
    let most = affordable.clamp(MOMENTS.0, MOMENTS.1);
    clips.par_iter().map(|&clip| Ok(lowest_of(rig, clip, most)?.unwrap_or(0.0))).collect()
}

fn lowest_of(rig: &Rig, clip: Option<usize>, most: usize) -> Result<Option<f32>, PlaybackError> {
    let Some(clip) = clip else {
        return lowest_at(rig, &[]);
    };
    let duration = rig.clips().get(clip).map_or(0.0, |c| c.duration());
    let steps = ((duration * RATE).ceil() as usize).clamp(MOMENTS.0, most);
    let mut lowest: Option<f32> = None;
    for step in 0..=steps {
        let action = PoseAction { clip, time: duration * step as f32 / steps as f32, weight: 1.0 };
        let now = lowest_at(rig, &[action])?;
        lowest = lowest.into_iter().chain(now).reduce(f32::min);
    }
    Ok(lowest)
}

fn lowest_at(rig: &Rig, actions: &[PoseAction]) -> Result<Option<f32>, PlaybackError> {
    let pose = evaluate_pose(rig, actions)?;
    let posed = pose.vertices(rig)?;
    // Points and lines are not drawn.
    let posed = rig.meshes().iter().zip(&posed);
    let drawn = posed.flat_map(|(m, posed)| m.mesh.primitives.iter().zip(posed));
    let drawn = drawn.filter(|(primitive, _)| !primitive.indices.is_empty());
    let heights = drawn.flat_map(|(_, positions)| positions).map(|p| p[1]);
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
