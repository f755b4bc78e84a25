//! Bones whose joint is not below the bone above them, as in rigs driven by inverse kinematics: they move along with that
//! bone.

use super::body::Body;
use super::error::RetargetError;
use super::link::Link;
use super::motion::Motion;
use super::pose::parent;
use super::sampler::evaluations;
use super::work::{BETWEEN, Work};
use crate::clip::Channel;
use crate::raw::RawTrack;
use glam::{DAffine3, DQuat, DVec3};

#[derive(Clone, Copy, Debug)]
pub(super) struct Loose {
    pub joint: usize,
    /// Joint of the bone above.
    pub carrier: usize,
    /// Position relative to the carrier.
    pub offset: DVec3,
}

impl Loose {
    /// The bone's position at a time.
    pub fn place(&self, result: &Motion<'_>, time: f32) -> DVec3 {
        result.model(self.carrier, time).transform_point3(self.offset)
    }
}

/// The tracks of a loose bone, and their largest deviation between keys as an angle of the limb that ends there;
/// `result` holds the target's other tracks.
pub(super) fn carried(
    loose: &Loose,
    target: &Body,
    links: &[Link],
    result: &Motion<'_>,
    work: &mut Work,
) -> Result<(Vec<RawTrack>, f64), RetargetError> {
    let above = parent(&target.skeleton, loose.joint);
    let path = result.with_above([loose.carrier].into_iter().chain(above));
    let curves = result.curves(&path);
    // The position and the rotation are evaluated.
    work.take(evaluations(&curves).saturating_mul(2), path.len())?;
    let model = |time: f32| above.map_or(DAffine3::IDENTITY, |j| result.model(j, time));
    let at = |time: f32| {
        let local = model(time).inverse().transform_point3(loose.place(result, time));
        // Below a scale of zero the bone keeps its position.
        let rest = target.locals[loose.joint].translation;
        if local.is_finite() { local } else { rest }
    };
    let limb = target.position(loose.joint).distance(target.position(loose.carrier));
    let limb = if limb > 0.0 { limb } else { target.height };
    let size = target.model_above(loose.joint).matrix3.determinant().abs().cbrt();
    let (keys, left) = work.sample(&curves, path.len(), BETWEEN * limb / size, at);
    let mut between = left * size / limb;
    let mut tracks = vec![keys.track(loose.joint, Channel::Translation)];
    if links.iter().all(|l| l.target != loose.joint) {
        let turn = target.worlds[loose.carrier].conjugate() * target.worlds[loose.joint];
        let at = |time: f32| {
            let above = above.map_or(DQuat::IDENTITY, |j| result.model_rotation(j, time));
            above.conjugate() * result.model_rotation(loose.carrier, time) * turn
        };
        let (keys, left) = work.sample(&curves, path.len(), BETWEEN, at);
        between = between.max(left);
        tracks.push(keys.track(loose.joint, Channel::Rotation));
    }
    Ok((tracks, between))
}
