//! The rest poses of two skeletons compared: offsets, units, the joints down to the hips, and the heights of the hips.

use super::names::is_hips;
use super::path::Route;
use super::report::BindReport;
use crate::retarget::pose::{compose, rest, unit};
use crate::skeleton::{MAX_LENGTH, Skeleton};
use glam::{DAffine3, DQuat, DVec3};
use std::collections::HashSet;

/// Bounds of the root's scale.
pub const LEAST_SCALE: f32 = 1e-6;
pub const MOST_SCALE: f32 = 1e6;

/// The position of a route's joint in the target's rest pose, relative to the bound joint above it.
fn target_rest(target: &Skeleton, route: &Route) -> DVec3 {
    let own = target.rest(route.target.into()).translation.as_dvec3();
    route.between.transform_point3(own)
}

/// Offsets of rest poses that differ by less than this share of their length count as equal: rounding of files. The same
/// value holds for retargeting.
const SAME: f64 = 1e-4;

/// Whether a joint is below the same joint at the same offset in both rest poses, with no joint between.
pub fn same_offset(source: &Skeleton, target: &Skeleton, route: &Route, unit: f64) -> bool {
    let direct = route.between == DAffine3::IDENTITY
        && matches!(route.steps.as_slice(), [step] if !step.inverse);
    let (a, b) = (route.at_rest(source).translation * unit, target_rest(target, route));
    direct && a.distance(b) <= SAME * a.length().max(b.length())
}

/// The ratio of the distances to the joint above, target to source; the `unit` if there is no ratio.
pub fn lengths(source: &Skeleton, target: &Skeleton, route: &Route, unit: f64) -> f64 {
    let from = route.at_rest(source).translation.length() * unit;
    ratio(target_rest(target, route).length(), from) * unit
}

fn ratio(target: f64, source: f64) -> f64 {
    let ratio = target / source;
    let sound = f64::from(LEAST_SCALE)..=f64::from(MOST_SCALE);
    if sound.contains(&ratio) { ratio } else { 1.0 }
}

/// For each route whether it belongs to the root, down to the hips; and the route of the hips.
pub fn roots(source: &Skeleton, target: &Skeleton, routes: &[Route]) -> (Vec<bool>, usize) {
    if routes.is_empty() {
        return (Vec::new(), 0);
    }
    let mut root: Vec<bool> = routes.iter().map(|r| r.above.is_none()).collect();
    let named = |r: &Route| {
        is_hips(&target.names()[usize::from(r.target)])
            || is_hips(&source.names()[usize::from(r.source)])
    };
    let mut children = vec![0usize; routes.len()];
    let mut only = vec![0usize; routes.len()];
    for (at, route) in routes.iter().enumerate() {
        if let Some(above) = route.above {
            children[above] += 1;
            only[above] = at;
        }
    }
    let hips = routes.iter().position(named).unwrap_or_else(|| {
        // Without a named one, the hips are the first joint with several joints below it; a chain has none.
        let mut at = 0;
        while children[at] == 1 {
            at = only[at];
        }
        if children[at] == 0 { 0 } else { at }
    });
    let mut at = Some(hips);
    while let Some(route) = at {
        root[route] = true;
        at = routes[route].above;
    }
    // Copies of the source move like the first of them.
    let carried = routes.iter().zip(&root).filter(|(_, root)| **root);
    let carried: HashSet<u16> = carried.map(|(r, _)| r.source).collect();
    for (root, route) in root.iter_mut().zip(routes) {
        *root |= carried.contains(&route.source);
    }
    (root, hips)
}

/// For each joint, the scale of its frame in model space, at rest: the mean of its axes.
pub fn scales(skeleton: &Skeleton) -> Vec<f64> {
    let models = skeleton.rest_models();
    let volume = |m: &glam::Affine3A| f64::from(m.matrix3.determinant().abs());
    // A product of scales beyond f32 counts as 1.
    let scale = |m| Some(volume(m).cbrt()).filter(|s| s.is_finite());
    models.iter().map(|m| scale(m).unwrap_or(1.0)).collect()
}

/// The scale of the frame of a joint's translation, from the scales of all joints.
pub fn frame_scale(skeleton: &Skeleton, scales: &[f64], joint: u16) -> f64 {
    let parent = skeleton.parents()[usize::from(joint)];
    scales.get(usize::from(parent)).copied().unwrap_or(1.0)
}

/// For each route, the unit of the source's frame in units of the target's frame: the quotient of the scales of the
/// bound joints above. An armature may have scale 0.01 in one file and 1 in the other.
pub fn units(routes: &[Route], scales: &[Vec<f64>; 2]) -> Vec<f64> {
    let units = routes.iter().map(|route| above(routes, route, scales));
    units.map(|[from, to]| ratio(from, to)).collect()
}

/// The scales of the bound joints above a route's, in source and target.
fn above(routes: &[Route], route: &Route, [from, to]: &[Vec<f64>; 2]) -> [f64; 2] {
    let above = route.above.map(|above| &routes[above]);
    above.map_or([1.0; 2], |r| [from[usize::from(r.source)], to[usize::from(r.target)]])
}

/// The heights of the hips of source and target above the lowest bound joint, in the rest poses: along y, or along the
/// axis in which the hips are highest if that height exceeds four times the height along y (Z-up files).
///
/// A rest pose need not stand: in motion captures all bones may lie along one axis. If the ratio of the heights differs
/// from the ratio of the bone lengths by a factor of two or more, the source's height follows from the target's height
/// and the bone lengths; the second result is then true.
pub fn heights(
    source: &Skeleton,
    target: &Skeleton,
    routes: &[Route],
    hips: usize,
) -> Option<([f64; 2], bool)> {
    routes.get(hips)?;
    // The hips above the lowest joint, and the lengths of the bones below them together.
    let measure = |skeleton: &Skeleton, joint: fn(&Route) -> u16| -> (DVec3, f64) {
        let models = skeleton.rest_models();
        let place = |r: &Route| models[usize::from(joint(r))].translation.as_dvec3();
        let lowest = routes.iter().map(place).fold(DVec3::INFINITY, DVec3::min);
        let bone = |r: &Route| Some(place(r).distance(place(&routes[r.above?])));
        let below = routes.iter().filter(|r| r.above >= Some(hips));
        (place(&routes[hips]) - lowest, below.filter_map(bone).sum())
    };
    let (there, size) = measure(source, |r| r.source);
    let (here, own_size) = measure(target, |r| r.target);
    let highest = (0..3).max_by(|&a, &b| here[a].total_cmp(&here[b]))?;
    let axis = if here.y * 4.0 >= here[highest] { 1 } else { highest };
    let usable = |h: f64| h > f64::from(LEAST_SCALE) && h < f64::from(MAX_LENGTH);
    let size = own_size / size;
    let off = size * there[axis] / here[axis];
    let by_lengths = size.is_finite() && size > 0.0 && !(0.5..2.0).contains(&off);
    let height = if by_lengths { here[axis] / size } else { there[axis] };
    let sound = usable(here[axis]) && usable(height);
    let found = ([height, here[axis]], by_lengths);
    (sound && ratio(here[axis], height) == here[axis] / height).then_some(found)
}

/// Finds the largest differences of the rest poses.
pub fn compare(
    (source, target): (&Skeleton, &Skeleton),
    routes: &[Route],
    scales: &[Vec<f64>; 2],
    report: &mut BindReport,
) {
    let (from, to) = (model_rotations(source), model_rotations(target));
    let mut worst = [f64::NEG_INFINITY; 2];
    for route in routes {
        let name = &target.names()[usize::from(route.target)];
        // Lengths are compared in metres: the frames of both joints above may have other units.
        let units = above(routes, route, scales);
        let a = route.at_rest(source).translation * units[0];
        let b = target_rest(target, route) * units[1];
        let distance = a.distance(b);
        if distance > worst[0] {
            worst[0] = distance;
            report.translation_joint.clone_from(name);
            report.translations = [a, b].map(|v| v.as_vec3().to_array());
            report.translation_distance = distance;
        }
        let (a, b) = (from[usize::from(route.source)], to[usize::from(route.target)]);
        let angle = a.angle_between(b).min(a.angle_between(-b));
        if angle > worst[1] {
            worst[1] = angle;
            report.rotation_joint.clone_from(name);
            report.rotations = [a, b].map(|q| q.as_quat().to_array());
            report.rotation_angle = angle;
        }
    }
}

fn model_rotations(skeleton: &Skeleton) -> Vec<DQuat> {
    let rest = rest(skeleton);
    let mut all = compose(skeleton, |joint| rest[joint].rotation);
    all.iter_mut().for_each(|q| *q = unit(*q));
    all
}
