//! Tracks of the target: keys at the times of the source's keys, exact where one curve moves.

use super::link::{Chain, Link};
use super::motion::{Motion, Property, unit};
use super::space::Space;
use super::work::Work;
use crate::build::curve::Curve;
use crate::raw::{Interpolation, RawTrack};
use glam::DQuat;

/// A track of the target's rotations, and its largest deviation from the source between its keys, radians. Keys are
/// inserted until the deviation is below `tolerance`, or `work` has no room.
pub(super) fn rotations(
    link: &Link,
    motion: &Motion<'_>,
    space: &Space,
    tolerance: f64,
    work: &mut Work,
) -> (RawTrack, f64) {
    let moving = link.moving(motion);
    let chain = Chain::new(link, motion);
    let at = |time: f32| unit(link.left * space.reflect(chain.at(time)) * link.right);
    let still = || constant(at(0.0).to_array());
    match moving.as_slice() {
        [] => (track(link.target, Property::Rotation, still()), 0.0),
        // Multiplied by constants, a curve keeps its interpolation and its values between keys.
        [joint] if link.down.contains(joint) => {
            let [before, after] = around(link, motion, *joint);
            let (left, right) =
                (link.left * space.reflect(before), space.reflect(after) * link.right);
            let curve = motion.curve(*joint, Property::Rotation);
            let map = |v: &[f64]| {
                let [x, y, z, w] = [0, 1, 2, 3].map(|c| v.get(c).copied().unwrap_or(0.0));
                // A tangent is not a unit quaternion, but the product is linear.
                let image = left * space.reflect(DQuat::from_xyzw(x, y, z, w)) * right;
                image.to_array().to_vec()
            };
            let keys = curve.map_or_else(still, |curve| mapped(curve, map));
            (track(link.target, Property::Rotation, keys), 0.0)
        }
        joints => {
            let curves = motion.rotations(joints);
            let (keys, left) = work.sample(&curves, curves.len(), tolerance, at);
            (track(link.target, Property::Rotation, keys), left)
        }
    }
}

/// Whether a link's track follows one curve of the source, and needs no inserted keys.
pub(super) fn is_exact(link: &Link, motion: &Motion<'_>) -> bool {
    match link.moving(motion).as_slice() {
        [] => true,
        [joint] => link.down.contains(joint),
        _ => false,
    }
}

/// The constant products before and after the one joint that moves.
fn around(link: &Link, motion: &Motion<'_>, joint: usize) -> [DQuat; 2] {
    let place = link.down.iter().position(|&j| j == joint).unwrap_or(0);
    let product = |joints: &[usize]| {
        joints.iter().fold(DQuat::IDENTITY, |all, &j| all * motion.rotation(j, 0.0))
    };
    let undone = product(&link.up).conjugate();
    [undone * product(&link.down[..place]), product(&link.down[place + 1..])]
}

/// Times, interpolation and values of a track.
pub(super) struct Keys {
    pub times: Vec<f32>,
    pub interpolation: Interpolation,
    pub values: Vec<f32>,
}

pub(super) fn track(node: usize, property: Property, keys: Keys) -> RawTrack {
    RawTrack {
        node,
        channel: property.channel(),
        interpolation: keys.interpolation,
        times: keys.times,
        values: keys.values,
    }
}

/// A single key.
pub(super) fn constant<const N: usize>(value: [f64; N]) -> Keys {
    Keys {
        times: vec![0.0],
        interpolation: Interpolation::Linear,
        values: value.iter().map(|&v| v as f32).collect(),
    }
}

/// A curve with every value and tangent mapped linearly.
fn mapped(curve: &Curve, map: impl Fn(&[f64]) -> Vec<f64>) -> Keys {
    mapped_with(curve, &map, &map)
}

/// A curve with values and tangents mapped.
pub(super) fn mapped_with(
    curve: &Curve,
    value: impl Fn(&[f64]) -> Vec<f64>,
    tangent: impl Fn(&[f64]) -> Vec<f64>,
) -> Keys {
    let width = curve.width;
    let mut values = Vec::with_capacity(curve.values.len() + 2 * curve.tangents_in.len());
    let mut put = |numbers: Vec<f64>| values.extend(numbers.into_iter().map(|v| v as f32));
    for k in 0..curve.times.len() {
        let part = |of: &[f64]| of.get(k * width..(k + 1) * width).map(&tangent);
        part(&curve.tangents_in).into_iter().for_each(&mut put);
        put(value(curve.key(k)));
        part(&curve.tangents_out).into_iter().for_each(&mut put);
    }
    Keys { times: curve.times.clone(), interpolation: curve.interpolation, values }
}
