//! Long clips in which every joint moves.

use super::poses::ClipSource;
use super::scene::LiveError;
use crate::hash01;
use glam::{Quat, Vec3};
use phalanx::rig::Rig;
use phalanx::skeleton::Trs;

/// Keys per second.
pub const LONG_RATE: f64 = 30.0;
/// Largest angle of the added sway, in radians.
const SWAY: f32 = 0.1;

/// Builds a rig whose clips last `seconds` at [`LONG_RATE`], one for each of `clips`.
///
/// A clip runs forwards and backwards over its original, and every joint sways besides, about an axis and at a
/// frequency of its own, so that all rotations move.
///
/// # Errors
/// If the rig has no such clip, or the new rig cannot be built.
pub fn long_clips(source: &ClipSource, clips: &[usize], seconds: f64) -> Result<Rig, LiveError> {
    let joints = source.rig().skeleton().len();
    let keys = (seconds * LONG_RATE).round().max(1.0) as usize + 1;
    let mut long = Vec::with_capacity(clips.len());
    for (number, &clip) in clips.iter().enumerate() {
        let poses = source.poses(clip, Some(LONG_RATE))?;
        let swayed = (0..joints).map(|joint| {
            let seed = ((number as u64) << 24) ^ ((joint as u64) << 8);
            let axis = [0, 1, 2].map(|k| hash01(seed ^ k) as f32 - 0.5);
            let axis = Vec3::from(axis).try_normalize().unwrap_or(Vec3::X);
            let hertz = 0.2 + 0.8 * hash01(seed ^ 3);
            let keys = (0..keys).map(|k| {
                let turns = hertz * k as f64 / LONG_RATE + hash01(seed ^ 4);
                let angle = SWAY * (turns * std::f64::consts::TAU).sin() as f32;
                let key = poses.reflected(k)[joint];
                Trs { rotation: key.rotation * Quat::from_axis_angle(axis, angle), ..key }
            });
            keys.collect()
        });
        let swayed: Vec<Vec<Trs>> = swayed.collect();
        let name = format!("{} of {seconds} s", poses.name);
        long.push(source.clip(name, LONG_RATE, &swayed));
    }
    source.build(long)
}
