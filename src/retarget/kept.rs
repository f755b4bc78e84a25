//! Translations of joints other than the hips: kept if both characters have the same bone. Scales: kept, approximated, or
//! dropped.
//!
//! A scale is a factor per axis of its joint. Relative to axes that are turned by R it is the tensor R·diag(f)·Rᵀ, whose
//! diagonal is all that a joint can have. If R is a signed permutation, or all factors are equal, that is exact.

use super::body::Body;
use super::link::Link;
use super::motion::Motion;
use super::pose::{parent, path};
use super::report::RetargetReport;
use super::setup::Setup;
use super::track::{Tracks, constant, mapped_vectors};
use crate::build::curve::Curve;
use crate::clip::Channel;
use glam::{DMat3, DVec3};
use std::collections::HashMap;

/// Offsets of reference poses that differ by less than this share of their length count as equal: rounding of files.
const SAME_OFFSET: f64 = 1e-4;

/// A translation that differs from the reference by less than this share of its length counts as equal to it.
const STILL: f64 = 1e-6;

/// A scale that differs from the reference by less counts as equal to it.
const SAME: f64 = 1e-6;

/// Largest angle between axes of two joints that count as the same, radians: rounding of rest poses, and bones that are
/// not quite straight.
const AXES: f64 = 1.0 * std::f64::consts::PI / 180.0;

/// Transfers the translation of a joint if source and target have it below the same bone, at the same offset in the
/// reference pose, in model space: they then have one unit of length. `hips` is the target's joint, whose translation is
/// scaled elsewhere. Returns the joints of the source whose translations are kept.
pub(super) fn translations(
    setup: &Setup,
    motion: &Motion<'_>,
    hips: usize,
    tracks: &mut Tracks<'_>,
) -> Vec<usize> {
    let (source, target) = (&setup.source, &setup.target);
    let followed: HashMap<usize, usize> =
        setup.links.iter().map(|l| (l.target, l.source)).collect();
    let mut kept = Vec::new();
    for link in &setup.links {
        let loose = target.loose.iter().any(|l| l.joint == link.target);
        let over = parent(&source.skeleton, link.source).zip(parent(&target.skeleton, link.target));
        let Some((from, to)) = over.filter(|(from, to)| followed.get(to) == Some(from)) else {
            continue;
        };
        if loose || link.target == hips {
            continue;
        }
        let (own, base) =
            (source.locals[link.source].translation, target.locals[link.target].translation);
        // The frames of both bones above may have other units.
        let unit = frame_scale(source, from) / frame_scale(target, to);
        let there = DMat3::from_quat(target.worlds[to].conjugate())
            * (setup.space.matrix() * unit)
            * DMat3::from_quat(source.worlds[from]);
        let size = (there * own).length().max(base.length());
        let sound = unit > 0.0 && unit.is_finite();
        if !sound || (there * own - base).length() > SAME_OFFSET * size {
            continue;
        }
        let still = motion.local(link.source, 0.0).translation;
        let place = |v: DVec3| base + there * (v - own);
        let keys = match motion.curve(link.source, Channel::Translation) {
            Some(curve) => mapped_vectors(curve, place, |v| there * v),
            None if (still - own).length() > STILL * own.length().max(base.length() / unit) => {
                constant(place(still).to_array())
            }
            None => continue,
        };
        tracks.set(keys.track(link.target, Channel::Translation));
        kept.push(link.source);
    }
    kept
}

/// The length in model space of a length of 1 below a joint: the mean of the axes' scales, multiplied down to it. Exactly
/// 1 if nothing is scaled.
fn frame_scale(body: &Body, joint: usize) -> f64 {
    let scale = |j: usize| body.locals[j].scale.element_product().abs().cbrt();
    path(&body.skeleton, joint).into_iter().map(scale).product()
}

/// The joints whose scale moves or differs from the reference.
pub(super) fn scaled(source: &Body, motion: &Motion<'_>) -> impl Iterator<Item = usize> {
    (0..source.skeleton.len()).filter(|&joint| {
        let apart = motion.local(joint, 0.0).scale - source.locals[joint].scale;
        motion.curve(joint, Channel::Scale).is_some() || apart.abs().max_element() > SAME
    })
}

/// Transfers scales if they are to be kept; the report says how.
pub(super) fn scales(
    setup: &Setup,
    motion: &Motion<'_>,
    keeps: bool,
    tracks: &mut Tracks<'_>,
    report: &mut RetargetReport,
) {
    let (source, target) = (&setup.source, &setup.target);
    let links: HashMap<usize, &Link> = setup.links.iter().map(|l| (l.source, l)).collect();
    for joint in scaled(source, motion) {
        let reference = source.locals[joint].scale;
        let name = source.skeleton.names()[joint].clone();
        let sound = reference.to_array().iter().all(|v| *v != 0.0);
        let Some(link) = links.get(&joint).filter(|_| sound && keeps) else {
            report.scales_dropped.push(name);
            continue;
        };
        let own = target.worlds[link.target].conjugate();
        let axes = [DVec3::X, DVec3::Y, DVec3::Z];
        let axes = Axes::new(axes.map(|a| own * setup.space.direction(source.worlds[joint] * a)));
        let base = target.locals[link.target].scale;
        let curve = motion.curve(joint, Channel::Scale);
        let still = motion.local(joint, 0.0).scale;
        let even = curve.map_or_else(|| is_uniform(still / reference), |c| is_even(c, reference));
        let exact = even || axes.angle <= AXES;
        let scale = |v: DVec3| base * axes.turned(v / reference, exact);
        let keys = match curve {
            Some(curve) => mapped_vectors(curve, scale, scale),
            None => constant(scale(still).to_array()),
        };
        tracks.set(keys.track(link.target, Channel::Scale));
        match exact {
            true => report.scales_kept.push(name),
            false => report.scales_approximated.push((name, axes.angle)),
        }
    }
}

/// The axes of a source joint, relative to the axes of the target joint.
struct Axes {
    turned: [DVec3; 3],
    /// For every axis of the target the nearest axis of the source, each once.
    nearest: [usize; 3],
    /// The largest angle between an axis and its nearest, radians.
    angle: f64,
}

impl Axes {
    fn new(turned: [DVec3; 3]) -> Self {
        const ORDERS: [[usize; 3]; 6] =
            [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        // The sine is accurate for small angles.
        let sine = |order: &[usize; 3]| {
            let aside = |c: usize| {
                let mut axis = turned[order[c]];
                axis[c] = 0.0;
                axis.length()
            };
            (0..3).map(aside).fold(0.0, f64::max)
        };
        let first = ORDERS[0];
        let nearer = |best, next| if sine(&next) < sine(&best) { next } else { best };
        let nearest = ORDERS.into_iter().fold(first, nearer);
        Self { turned, nearest, angle: sine(&nearest).min(1.0).asin() }
    }

    /// Converts factors along the source's axes to factors along the target's axes. If `exact`, each axis takes the
    /// factor of its nearest axis. Otherwise the result is the diagonal of the scale tensor: the scale that is nearest
    /// to the tensor, by the squares of its elements.
    fn turned(&self, factors: DVec3, exact: bool) -> DVec3 {
        if exact {
            return DVec3::from_array(self.nearest.map(|axis| factors[axis]));
        }
        let along = |axis: usize| self.turned[axis] * self.turned[axis] * factors[axis];
        (0..3).map(along).sum()
    }
}

/// Whether three factors are equal.
fn is_uniform(factors: DVec3) -> bool {
    let most = factors.abs().max_element();
    factors.max_element() - factors.min_element() <= SAME * most
}

/// Whether a curve's factors are equal in all keys and tangents.
fn is_even(curve: &Curve, reference: DVec3) -> bool {
    let all = [&curve.values, &curve.tangents_in, &curve.tangents_out];
    let mut keys = all.into_iter().flat_map(|v| v.chunks_exact(3));
    keys.all(|key| is_uniform(DVec3::from_slice(key) / reference))
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DMat3, DQuat};

    /// Axes of a source that is turned by `q`.
    fn turned(q: DQuat) -> Axes {
        Axes::new([DVec3::X, DVec3::Y, DVec3::Z].map(|a| q * a))
    }

    #[test]
    fn axes_are_assigned_one_to_one() {
        let factors = DVec3::new(2.0, 3.0, 5.0);
        let quarter = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2);
        let tilt = |degrees: f64| DQuat::from_axis_angle(DVec3::Z, degrees.to_radians());
        let near = turned(tilt(0.9) * quarter);
        assert!((near.angle.to_degrees() - 0.9).abs() < 1e-9);
        assert_eq!(near.turned(factors, true), DVec3::new(2.0, 5.0, 3.0));
        assert!(turned(tilt(1.1)).angle > AXES && near.angle <= AXES);
        // About the diagonal by 45°, the same axis of the source is nearest to two axes of the target.
        for degrees in [30.0, 45.0, 60.0, 75.0, 90.0, 120.0f64] {
            let q = DQuat::from_axis_angle(DVec3::ONE.normalize(), degrees.to_radians());
            let mut order = turned(q).nearest;
            order.sort_unstable();
            assert_eq!(order, [0, 1, 2], "{degrees}°");
        }
    }

    #[test]
    fn between_axes_the_nearest_scale_is_taken() {
        let factors = DVec3::new(2.0, 0.5, 1.25);
        let q = DQuat::from_xyzw(0.3, -0.2, 0.6, 0.5).normalize();
        let own = DMat3::from_quat(q);
        let tensor = own * DMat3::from_diagonal(factors) * own.transpose();
        let have = turned(q).turned(factors, false);
        for c in 0..3 {
            assert!((have[c] - tensor.col(c)[c]).abs() < 1e-12, "{have} {tensor}");
        }
        assert!(!is_uniform(factors) && is_uniform(DVec3::splat(-3.0)));
    }
}
