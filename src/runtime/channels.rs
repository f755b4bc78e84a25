//! Quaternions among the scalars: arithmetic of user channels whose values are quaternions, in addition to the
//! arithmetic of the rows that hold their numbers. Scalar code, since few characters have more than one or two.

use crate::clip::{Channel, Clip, ClipKind};
use crate::math::LANES;
use crate::skeleton::Pose;
use glam::Quat;

fn load(pose: &Pose, first: usize) -> Quat {
    Quat::from_array(std::array::from_fn(|c| pose.scalar(first + c)))
}

/// Replaces every quaternion of a pose by a function of it and its first scalar.
fn replace(pose: &mut Pose, new: impl Fn(Quat, usize) -> Quat) {
    for i in 0..pose.quaternions.len() {
        let first = pose.quaternions[i] as usize;
        let q = new(load(pose, first), first);
        for (c, v) in q.to_array().into_iter().enumerate() {
            pose.set_scalar(first + c, v);
        }
    }
}

/// The quaternion normalised; one without a direction becomes the identity.
fn unit(q: Quat) -> Quat {
    let length = q.length_squared();
    if length > 0.0 && length.is_finite() { q / length.sqrt() } else { Quat::IDENTITY }
}

/// Completes a sample: a quaternion that an additive clip lacks is the identity, not zero; all are normalised.
pub(crate) fn finish_sample(clip: &Clip, pose: &mut Pose) {
    for i in 0..pose.quaternions.len() {
        let first = pose.quaternions[i] as usize;
        let w = first + 3;
        if clip.kind() == ClipKind::Additive && clip.block_at(Channel::Scalar, w / LANES).is_none()
        {
            pose.set_scalar(w, 1.0);
        }
    }
    normalize(pose);
}

/// Normalises the quaternions.
pub(crate) fn normalize(pose: &mut Pose) {
    replace(pose, |q, _| unit(q));
}

/// Turns the running sums to the hemisphere of the next pose. The sign of a sum means nothing, so the poses, which are
/// borrowed, need not be written.
pub(crate) fn align(sum: &mut Pose, next: &Pose) {
    replace(sum, |q, first| if q.dot(load(next, first)) < 0.0 { -q } else { q });
}

/// The lanes of a block of scalars that belong to quaternions (bit l: lane l).
pub(crate) fn lanes_of(pose: &Pose, block: usize) -> u16 {
    // First scalars ascend.
    let (begin, end) = (block * LANES, (block + 1) * LANES);
    let first = pose.quaternions.partition_point(|&q| q as usize + 4 <= begin);
    let here = pose.quaternions[first..].iter().map(|&q| q as usize);
    here.take_while(|&q| q < end)
        .flat_map(|q| q.max(begin)..(q + 4).min(end))
        .fold(0, |bits, lane| bits | 1 << (lane % LANES))
}

/// Adds the quaternions of an additive pose: q · nlerp(1, d, w); a negative weight rotates the other way.
pub(crate) fn add(pose: &mut Pose, delta: &Pose, weight: f32) {
    let size = weight.abs();
    replace(pose, |q, first| {
        let mut d = load(delta, first);
        if d.w < 0.0 {
            d = -d;
        }
        if weight < 0.0 {
            d = d.conjugate();
        }
        unit(q * unit(d * size + Quat::IDENTITY * (1.0 - size)))
    });
}
