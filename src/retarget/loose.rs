//! Bones that hang elsewhere than below the bone above them are carried along with it.

use super::body::{Body, Loose};
use super::error::RetargetError;
use super::link::Link;
use super::motion::{Motion, Property, union};
use super::track::{BETWEEN, HALVINGS, middle_gap, sampled, track};
use super::work::Work;
use crate::import::raw::RawTrack;
use crate::skeleton::NO_JOINT;
use glam::{DAffine3, DQuat, DVec3};

/// The tracks of a loose bone; `result` holds the target's other tracks.
pub(super) fn carried(
    loose: &Loose,
    target: &Body,
    links: &[Link],
    result: &Motion<'_>,
    work: &mut Work,
) -> Result<Vec<RawTrack>, RetargetError> {
    let parent = target.skeleton.parents()[loose.joint];
    let above = (parent != NO_JOINT).then_some(usize::from(parent));
    let mut path = result.path(loose.carrier);
    path.extend(above.map(|j| result.path(j)).unwrap_or_default());
    path.sort_unstable();
    path.dedup();
    let all = || path.iter().flat_map(|&j| Property::ALL.map(|p| (j, p)));
    let times = union(all().filter_map(|(j, p)| result.curve(j, p)));
    let times = if times.is_empty() { vec![0.0] } else { times };
    work.take(times.len() << HALVINGS, path.len())?;
    let model = |time: f32| above.map_or(DAffine3::IDENTITY, |j| result.model(j, time));
    let at = |time: f32| {
        let place = result
            .model(loose.carrier, time)
            .transform_point3(loose.offset);
        let local = model(time).inverse().transform_point3(place);
        // Below a scale of zero it stays where it was.
        let rest = target.locals[loose.joint].translation;
        if local.is_finite() { local } else { rest }.to_array()
    };
    let accuracy = (BETWEEN * target.height, work.refine);
    let (keys, _) = sampled(times.clone(), false, accuracy, &at, &middle_gap);
    let mut tracks = vec![track(loose.joint, Property::Translation, keys)];
    if links.iter().all(|l| l.target != loose.joint) {
        let turn = target.worlds[loose.carrier].conjugate() * target.worlds[loose.joint];
        let at = |time: f32| {
            let above = above.map_or(DQuat::IDENTITY, |j| result.model_rotation(j, time));
            let own = above.conjugate() * result.model_rotation(loose.carrier, time) * turn;
            own.to_array()
        };
        let gap = |_: &[f64; 4], _: &[f64; 4], _: &[f64; 4]| 0.0;
        let (keys, _) = sampled(times, false, (BETWEEN, false), &at, &gap);
        tracks.push(track(loose.joint, Property::Rotation, keys));
    }
    Ok(tracks)
}

/// Where a loose bone is at a time.
pub(super) fn place(loose: &Loose, result: &Motion<'_>, time: f32) -> DVec3 {
    result
        .model(loose.carrier, time)
        .transform_point3(loose.offset)
}
