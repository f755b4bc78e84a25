//! Cubic splines as exporters write them: with still joints and still components.

use super::poses::{ClipSource, components, still};
use super::scene::LiveError;
use crate::hash01;
use glam::Quat;
use phalanx::import::raw::{Interpolation, RawChannel, RawClip, RawTrack};
use phalanx::rig::Rig;
use phalanx::skeleton::Trs;

/// Length of a clip, in seconds.
const SECONDS: f64 = 4.0;
/// One in this many rotating joints turns about one axis alone: two components of its rotations are still.
const HINGES: usize = 3;
/// Decimal exponents of the noise in still tangents, per second: differences of f32 keys over a frame time at most,
/// products of rounded sines and cosines at least.
const NOISE: [f64; 2] = [-20.0, -6.0];

/// Builds a rig of cubic splines, one clip for each of `clips`.
///
/// Keys are those of the original, which is run forwards and backwards for four seconds; tangents are central
/// differences. The tangents of joints and components that stand still are zero, or with `noise` numbers of 1e-20 to
/// 1e-6 per second in place of zero. The poses of both rigs are equal but for that noise.
///
/// # Errors
/// If the rig has no such clip, or the new rig cannot be built.
pub fn cubic_clips(source: &ClipSource, clips: &[usize], noise: bool) -> Result<Rig, LiveError> {
    let joints = source.rig().skeleton().len();
    let mut made = Vec::with_capacity(clips.len());
    for (number, &clip) in clips.iter().enumerate() {
        let poses = source.poses(clip, None)?;
        let keys = (SECONDS * poses.rate).round() as usize + 1;
        let times: Vec<f32> = (0..keys).map(|k| (k as f64 / poses.rate) as f32).collect();
        let mut tracks = Vec::new();
        let mut rotating = 0;
        for joint in 0..joints {
            let mut keyed: Vec<Trs> = (0..keys).map(|k| poses.reflected(k)[joint]).collect();
            if poses.rotates(joint) {
                rotating += 1;
                if rotating % HINGES == 0 {
                    hinge(&mut keyed);
                }
            }
            align(&mut keyed);
            for channel in [RawChannel::Translation, RawChannel::Rotation, RawChannel::Scale] {
                let width = components(&Trs::IDENTITY, channel).1;
                let values: Vec<[f32; 4]> =
                    keyed.iter().map(|k| components(k, channel).0).collect();
                let seed = ((number * joints + joint) as u64) << 32 | (channel as u64) << 28;
                let noise = noise.then_some(seed);
                tracks.push(RawTrack {
                    node: source.node(joint),
                    channel,
                    interpolation: Interpolation::CubicSpline,
                    times: times.clone(),
                    values: spline(&values, width, poses.rate as f32, noise),
                });
            }
        }
        made.push(RawClip {
            name: Some(poses.name),
            duration: times.last().copied().unwrap_or_default(),
            tracks,
            ..RawClip::default()
        });
    }
    source.build(made)
}

/// In-tangent, value and out-tangent of every key.
fn spline(values: &[[f32; 4]], width: usize, rate: f32, noise: Option<u64>) -> Vec<f32> {
    let last = values.len() - 1;
    let mut values = values.to_vec();
    let moves: Vec<bool> = (0..width)
        .map(|c| {
            let one: Vec<[f32; 4]> = values.iter().map(|v| [v[c], 0.0, 0.0, 0.0]).collect();
            !still(&one)
        })
        .collect();
    for c in (0..width).filter(|&c| !moves[c]) {
        let held = values[0][c];
        values.iter_mut().for_each(|v| v[c] = held);
    }
    let mut out = Vec::with_capacity(values.len() * width * 3);
    for k in 0..values.len() {
        let (before, after) = (k.saturating_sub(1), (k + 1).min(last));
        let span = (after - before).max(1) as f32;
        let tangent = |side: u64, c: usize| match (moves[c], noise) {
            (true, _) => (values[after][c] - values[before][c]) * rate / span,
            (false, None) => 0.0,
            (false, Some(seed)) => {
                let number = hash01(seed ^ ((k as u64) << 8) ^ ((c as u64) << 2) ^ side);
                let exponent = NOISE[0] + (NOISE[1] - NOISE[0]) * number;
                let negative = ((number * 1024.0) as u64).is_multiple_of(2);
                let sign = if negative { -1.0 } else { 1.0 };
                (sign * 10f64.powf(exponent)) as f32
            }
        };
        out.extend((0..width).map(|c| tangent(0, c)));
        out.extend_from_slice(&values[k][..width]);
        out.extend((0..width).map(|c| tangent(1, c)));
    }
    out
}

/// Keeps the angle of each rotation to the first one, about z alone.
fn hinge(keys: &mut [Trs]) {
    let first = keys[0].rotation;
    for key in keys {
        let angle = first.angle_between(key.rotation);
        key.rotation = Quat::from_rotation_z(angle);
    }
}

/// Turns neighbouring quaternions to one hemisphere.
fn align(keys: &mut [Trs]) {
    for k in 1..keys.len() {
        if keys[k].rotation.dot(keys[k - 1].rotation) < 0.0 {
            keys[k].rotation = -keys[k].rotation;
        }
    }
}
