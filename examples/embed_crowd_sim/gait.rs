//! The coupling: an agent's speed, position and heading drive its instance.

use crate::square::Agent;
use glam::{Affine3A, Quat, Vec3};
use phalanx::crowd::{Crowd, CrowdError, InstanceId, PlayOptions};
use phalanx::playback::{ClipId, RigId};
use std::f32::consts::TAU;

/// Speed ranges, in m/s, over which one gait blends into the next.
///
/// Walk, Jog and Run match ground speeds of 1.4, 2.7 and 4.5 m/s; each gait is played a little faster or
/// slower before the next is blended in.
const CHANGES: [[f32; 2]; 3] = [[0.05, 0.5], [1.9, 2.3], [3.3, 3.8]];
/// Ground speed in m/s at which each clip's feet do not slide (`assets/mannequin.md`).
const GROUND_SPEED: [f32; 4] = [0.0, 1.4, 2.7, 4.5];
const NAMES: [&str; 4] = ["Idle", "Walk", "Jog", "Run"];

/// The clips of the gaits.
pub struct Gait {
    clips: [ClipId; 4],
    durations: [f32; 4],
}

impl Gait {
    /// Finds the clips of the gaits in a rig.
    pub fn new(crowd: &Crowd, rig: RigId) -> Result<Self, String> {
        let mut clips = Vec::new();
        for name in NAMES {
            clips.push(crowd.clip_named(rig, name).map_err(|e| e.to_string())?);
        }
        let clips: [ClipId; 4] = clips.try_into().map_err(|_| "expected four clips")?;
        let mut durations = [0.0; 4];
        for (duration, &clip) in durations.iter_mut().zip(&clips) {
            *duration = crowd.clip(clip).map_err(|e| e.to_string())?.duration();
        }
        Ok(Self { clips, durations })
    }

    /// Spawns an instance with all gaits added, synchronised, at its own phase.
    pub fn spawn(
        &self,
        crowd: &mut Crowd,
        rig: RigId,
        index: usize,
    ) -> Result<InstanceId, CrowdError> {
        let instance = crowd.spawn(rig)?;
        // The golden ratio spreads phases evenly.
        let phase = (index as f64 * 0.618_033_988_75).fract();
        for (gait, &clip) in self.clips.iter().enumerate() {
            let options = PlayOptions {
                weight: if gait == 0 { 1.0 } else { 0.0 },
                time: phase * f64::from(self.durations[gait]),
                ..PlayOptions::default()
            };
            // An action of weight 0 costs only its time update.
            crowd.player(instance)?.add(0, clip, &options)?;
        }
        Ok(instance)
    }

    /// Weights of the four gaits at a speed.
    pub fn weights(speed: f32) -> [f32; 4] {
        let passed = CHANGES.map(|[from, to]| {
            let way = ((speed - from) / (to - from)).clamp(0.0, 1.0);
            way * way * (3.0 - 2.0 * way)
        });
        let [walk, jog, run] = passed;
        [1.0 - walk, walk - jog, jog - run, run]
    }

    /// Cycles per second at which the blended feet move back as fast as the agent moves forward, computed
    /// from the blended stride in metres per cycle.
    fn cadence(&self, speed: f32, weights: &[f32; 4]) -> f32 {
        let strides = (1..4).map(|g| weights[g] * GROUND_SPEED[g] * self.durations[g]);
        let stride: f32 = strides.sum();
        // At very low speed there is no stride to divide by.
        (speed / stride.max(0.01)).clamp(0.25, 2.0)
    }

    /// Updates an instance from its agent.
    pub fn follow(
        &self,
        crowd: &mut Crowd,
        instance: InstanceId,
        agent: &Agent,
    ) -> Result<(), CrowdError> {
        let speed = agent.speed();
        let weights = Self::weights(speed);
        let cadence = self.cadence(speed, &weights);
        let mut player = crowd.player(instance)?;
        for (gait, (&clip, weight)) in self.clips.iter().zip(weights).enumerate() {
            player.set_weight(0, clip, weight)?;
            if gait > 0 {
                // One cadence for all gaits keeps them in phase.
                player.set_speed(0, clip, cadence * self.durations[gait])?;
            }
        }
        let [x, z] = agent.position;
        // The mannequin faces +Z.
        let turn = Quat::from_rotation_y(agent.heading.rem_euclid(TAU));
        let world = Affine3A::from_rotation_translation(turn, Vec3::new(x, 0.0, z));
        crowd.set_world(instance, world)
    }
}
