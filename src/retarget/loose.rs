//! Bones whose joint is not below the bone above them move along with that bone.

use super::body::{Body, Loose};
use super::closeness::BETWEEN;
use super::error::RetargetError;
use super::link::Link;
use super::motion::{Motion, Property};
use super::sampler::evaluations;
use super::track::track;
use super::work::Work;
use crate::build::curve::Curve;
use crate::raw::RawTrack;
use crate::skeleton::NO_JOINT;
use glam::{DAffine3, DQuat, DVec3};

/// The tracks of a loose bone, and their largest deviation between keys as an angle of the limb that ends there;
/// `result` holds the target's other tracks.
pub(super) fn carried(
    loose: &Loose,
    target: &Body,
    links: &[Link],
    result: &Motion<'_>,
    work: &mut Work,
) -> Result<(Vec<RawTrack>, f64), RetargetError> {
    let parent = target.skeleton.parents()[loose.joint];
    let above = (parent != NO_JOINT).then_some(usize::from(parent));
    let mut path = result.path(loose.carrier);
    path.extend(above.map(|j| result.path(j)).unwrap_or_default());
    path.sort_unstable();
    path.dedup();
    let all = || path.iter().flat_map(|&j| Property::ALL.map(|p| (j, p)));
    let curves: Vec<&Curve> = all().filter_map(|(j, p)| result.curve(j, p)).collect();
    // The position and the rotation are evaluated.
    work.take(evaluations(&curves).saturating_mul(2), path.len())?;
    let model = |time: f32| above.map_or(DAffine3::IDENTITY, |j| result.model(j, time));
    let at = |time: f32| {
        let place = result.model(loose.carrier, time).transform_point3(loose.offset);
        let local = model(time).inverse().transform_point3(place);
        // Below a scale of zero the bone keeps its position.
        let rest = target.locals[loose.joint].translation;
        if local.is_finite() { local } else { rest }
    };
    let limb = target.position(loose.joint) - target.position(loose.carrier);
    let limb = match limb.length() {
        length if length > 0.0 => length,
        _ => target.height,
    };
    let size = above.map_or(1.0, |j| target.models[j].matrix3.determinant().abs().cbrt());
    let (keys, left) = work.sample(&curves, path.len(), BETWEEN * limb / size, at);
    let mut between = left * size / limb;
    let mut tracks = vec![track(loose.joint, Property::Translation, keys)];
    if links.iter().all(|l| l.target != loose.joint) {
        let turn = target.worlds[loose.carrier].conjugate() * target.worlds[loose.joint];
        let at = |time: f32| {
            let above = above.map_or(DQuat::IDENTITY, |j| result.model_rotation(j, time));
            above.conjugate() * result.model_rotation(loose.carrier, time) * turn
        };
        let (keys, left) = work.sample(&curves, path.len(), BETWEEN, at);
        between = between.max(left);
        tracks.push(track(loose.joint, Property::Rotation, keys));
    }
    Ok((tracks, between))
}

/// The position of a loose bone at a time.
pub(super) fn place(loose: &Loose, result: &Motion<'_>, time: f32) -> DVec3 {
    result.model(loose.carrier, time).transform_point3(loose.offset)
}
