//! Libraries of many clips: seeded variants of the clips of a rig, with unshared key rows.

use super::poses::{ClipSource, Poses, STILL};
use super::scene::LiveError;
use crate::hash01;
use glam::{Quat, Vec3};
use phalanx::import::raw::RawClip;
use phalanx::rig::Rig;
use phalanx::skeleton::Trs;

/// Length of a variant, in seconds: the shortest, and how much longer the longest is.
const SECONDS: [f64; 2] = [1.0, 2.0];
/// Swing of a joint around its mean rotation, relative to the clip's: the least, and how much larger the largest is.
const SWING: [f64; 2] = [0.6, 0.5];
/// Largest angle, in radians and per axis, by which a still joint is turned: the fingers of another hand pose.
const HAND_POSE: f32 = 0.15;

/// Builds a rig of `count` clips, variants of `clips` in turn.
///
/// A variant begins at another frame of its clip and runs forwards and backwards over it for 1 to 3 seconds, at the
/// clip's own key rate. Every joint swings more or less widely, in every other variant the other way. Joints that
/// stand still, and that some clip of the rig holds otherwise, are turned a little: in real libraries the fingers
/// of two clips differ. So no two variants have equal keys or equal constants.
///
/// # Errors
/// If the rig has no such clip, or the new rig cannot be built.
pub fn library(source: &ClipSource, clips: &[usize], count: usize) -> Result<Rig, LiveError> {
    let bases = clips.iter().map(|&clip| Base::new(source, clip));
    let bases = bases.collect::<Result<Vec<Base>, _>>()?;
    let posed = posed_joints(source, &bases)?;
    let variants = (0..count).map(|variant| {
        let base = &bases[variant % bases.len()];
        base.variant(source, variant, &posed)
    });
    source.build(variants.collect())
}

/// A clip that variants are made of.
struct Base {
    poses: Poses,
    /// Mean transform of each joint, and whether it rotates.
    joints: Vec<(Trs, bool)>,
}

impl Base {
    fn new(source: &ClipSource, clip: usize) -> Result<Self, LiveError> {
        let poses = source.poses(clip, None)?;
        let joints = 0..source.rig().skeleton().len();
        Ok(Self { joints: joints.map(|j| (poses.mean(j), poses.rotates(j))).collect(), poses })
    }

    fn variant(&self, source: &ClipSource, variant: usize, posed: &[bool]) -> RawClip {
        let number = |joint: usize, what: u64| {
            hash01(((variant as u64) << 24) ^ ((joint as u64) << 8) ^ what)
        };
        let joints = self.joints.len();
        let seconds = SECONDS[0] + SECONDS[1] * number(joints, 0);
        let keys = (seconds * self.poses.rate).round() as usize + 1;
        let first = (number(joints, 1) * 2.0 * self.poses.frames.len() as f64) as usize;
        let sign = if number(joints, 2) < 0.5 { 1.0 } else { -1.0 };
        let keyed = (0..joints).map(|joint| {
            let (mean, rotates) = self.joints[joint];
            let swing = sign * (SWING[0] + SWING[1] * number(joint, 3)) as f32;
            let turn = match posed[joint] && !rotates {
                true => {
                    let axis = [4, 5, 6].map(|what| number(joint, what) as f32 * 2.0 - 1.0);
                    Quat::from_scaled_axis(Vec3::from(axis) * HAND_POSE)
                }
                false => Quat::IDENTITY,
            };
            let frames = (0..keys).map(|k| self.poses.reflected(first + k)[joint]);
            frames
                .map(|key| Trs {
                    translation: mean.translation + (key.translation - mean.translation) * swing,
                    rotation: match rotates {
                        true => {
                            mean.rotation * scaled(mean.rotation.inverse() * key.rotation, swing)
                        }
                        false => key.rotation * turn,
                    },
                    scale: key.scale,
                })
                .collect()
        });
        let keyed: Vec<Vec<Trs>> = keyed.collect();
        let name = format!("{} {variant}", self.poses.name);
        source.clip(name, self.poses.rate, &keyed)
    }
}

/// A rotation about the same axis by a multiple of the angle.
fn scaled(rotation: Quat, factor: f32) -> Quat {
    let rotation = if rotation.w < 0.0 { -rotation } else { rotation };
    Quat::from_scaled_axis(rotation.to_scaled_axis() * factor)
}

/// The joints that clips of the rig hold differently. If there is one clip, all but roots.
fn posed_joints(source: &ClipSource, bases: &[Base]) -> Result<Vec<bool>, LiveError> {
    let rig = source.rig();
    let joints = rig.skeleton().len();
    let mut posed = vec![false; joints];
    let mut first: Option<Vec<Trs>> = None;
    for clip in 0..rig.clips().len() {
        // Two frames suffice to see how a clip holds its still joints.
        let duration = f64::from(rig.clips()[clip].duration());
        let poses = source.poses(clip, (duration > 0.0).then(|| 1.0 / duration))?;
        for frame in &poses.frames {
            let first = first.get_or_insert_with(|| frame.clone());
            for ((posed, a), b) in posed.iter_mut().zip(first).zip(frame) {
                *posed |= 1.0 - a.rotation.dot(b.rotation).abs() > STILL;
            }
        }
    }
    let still = |joint: usize| bases.iter().all(|base| !base.joints[joint].1);
    if !(0..joints).any(|joint| posed[joint] && still(joint)) {
        let parents = rig.skeleton().parents().iter();
        posed = parents.map(|&p| usize::from(p) < joints).collect();
    }
    Ok(posed)
}
