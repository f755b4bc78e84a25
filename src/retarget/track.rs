//! Tracks of the target: keys at the times of the source's keys, exact where one curve moves.

use super::error::RetargetError;
use super::link::{Chain, Link};
use super::motion::{Motion, Property, all_step, union, unit};
use super::space::Space;
use super::work::Work;
use crate::build::curve::Curve;
use crate::import::raw::{Interpolation, RawTrack};
use glam::{DQuat, DVec3};

/// The largest deviation from the source between two keys, radians, before a key is inserted. Deviations add up
/// along a limb, whose directions are to stay within 1e-4.
pub(super) const BETWEEN: f64 = 2e-5;

/// How often an interval between keys is halved. A sixteenth of a captured frame is below any playback rate.
pub(super) const HALVINGS: u32 = 4;

/// Tracks of more keys get none inserted: a take of that length is captured at 30 keys per second and more, and
/// sixteen times as many would be more than a timeline holds.
const MAX_REFINED: usize = 4000;

/// A track of the target's rotations, and its largest deviation from the source halfway between its keys, radians.
pub(super) fn rotations(
    link: &Link,
    motion: &Motion<'_>,
    space: &Space,
    work: &mut Work,
) -> Result<(RawTrack, f64), RetargetError> {
    let moving = link.moving(motion);
    let chain = Chain::new(link, motion);
    let at = |time: f32| unit(link.left * space.reflect(chain.at(time)) * link.right).to_array();
    Ok(match moving.as_slice() {
        [] => (
            track(link.target, Property::Rotation, constant(at(0.0))),
            0.0,
        ),
        // Multiplied with constants, a curve keeps its kind, and its values between keys.
        [joint] if link.down.contains(joint) => {
            let [before, after] = around(link, motion, *joint);
            let (left, right) = (
                link.left * space.reflect(before),
                space.reflect(after) * link.right,
            );
            let curve = motion.curve(*joint, Property::Rotation);
            let map = |v: &[f64]| {
                let [x, y, z, w] = [0, 1, 2, 3].map(|c| v.get(c).copied().unwrap_or(0.0));
                // No unit quaternion if it is a tangent; the product is linear all the same.
                let image = left * space.reflect(DQuat::from_xyzw(x, y, z, w)) * right;
                image.to_array().to_vec()
            };
            let keys = curve.map_or_else(|| constant(at(0.0)), |curve| mapped(curve, map));
            (track(link.target, Property::Rotation, keys), 0.0)
        }
        joints => {
            let curves = || {
                joints
                    .iter()
                    .filter_map(|&j| motion.curve(j, Property::Rotation))
            };
            let (times, step) = (union(curves()), all_step(curves()));
            work.take(times.len() << HALVINGS, joints.len())?;
            let gap = |a: &[f64; 4], b: &[f64; 4], exact: &[f64; 4]| {
                let [a, b, exact] = [a, b, exact].map(|q| DQuat::from_array(*q));
                let near = if a.dot(b) < 0.0 { -b } else { b };
                // Halfway along the arc.
                2.0 * chord((a + near).normalize(), exact)
            };
            let (keys, left) = sampled(times, step, (BETWEEN, work.refine), &at, &gap);
            (track(link.target, Property::Rotation, keys), left)
        }
    })
}

/// Half the angle between unit quaternions on the nearer hemisphere, from the chord: accurate for small angles.
fn chord(a: DQuat, b: DQuat) -> f64 {
    let apart = (a - b).length().min((a + b).length());
    2.0 * (0.5 * apart).min(1.0).asin()
}

/// The constant products before and after the one joint that moves.
fn around(link: &Link, motion: &Motion<'_>, joint: usize) -> [DQuat; 2] {
    let place = link.down.iter().position(|&j| j == joint).unwrap_or(0);
    let product = |joints: &[usize]| {
        joints
            .iter()
            .fold(DQuat::IDENTITY, |all, &j| all * motion.rotation(j, 0.0))
    };
    let undone = product(&link.up).conjugate();
    [
        undone * product(&link.down[..place]),
        product(&link.down[place + 1..]),
    ]
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

/// One key.
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
    Keys {
        times: curve.times.clone(),
        interpolation: curve.interpolation,
        values,
    }
}

/// Keys of a function at given times, and at halves of intervals where a straight line deviates by more than
/// `tolerance`. `gap` measures that: from two keys and the value halfway. Returns the largest deviation left.
pub(super) fn sampled<const N: usize>(
    times: Vec<f32>,
    step: bool,
    (tolerance, refine): (f64, bool),
    at: &impl Fn(f32) -> [f64; N],
    gap: &impl Fn(&[f64; N], &[f64; N], &[f64; N]) -> f64,
) -> (Keys, f64) {
    let interpolation = match step {
        true => Interpolation::Step,
        false => Interpolation::Linear,
    };
    let mut out = Keys {
        times: Vec::with_capacity(times.len()),
        interpolation,
        values: Vec::with_capacity(times.len() * N),
    };
    let halvings = match refine && times.len() <= MAX_REFINED {
        true => HALVINGS,
        false => 0,
    };
    let mut refine = Refine {
        keys: Vec::with_capacity(times.len()),
        tolerance,
        left: 0.0,
    };
    let mut last: Option<(f32, [f64; N])> = None;
    for &time in &times {
        let value = at(time);
        if let Some(last) = last.filter(|_| !step) {
            refine.between(last, (time, value), halvings, at, gap);
        }
        refine.keys.push((time, value));
        last = Some((time, value));
    }
    for (time, value) in refine.keys {
        out.times.push(time);
        out.values.extend(value.map(|v| v as f32));
    }
    (out, refine.left)
}

struct Refine<const N: usize> {
    keys: Vec<(f32, [f64; N])>,
    tolerance: f64,
    left: f64,
}

impl<const N: usize> Refine<N> {
    fn between(
        &mut self,
        a: (f32, [f64; N]),
        b: (f32, [f64; N]),
        halvings: u32,
        at: &impl Fn(f32) -> [f64; N],
        gap: &impl Fn(&[f64; N], &[f64; N], &[f64; N]) -> f64,
    ) {
        let time = a.0 + 0.5 * (b.0 - a.0);
        if time <= a.0 || time >= b.0 {
            return;
        }
        let value = at(time);
        let error = gap(&a.1, &b.1, &value);
        if error > self.tolerance && halvings > 0 {
            self.between(a, (time, value), halvings - 1, at, gap);
            self.keys.push((time, value));
            self.between((time, value), b, halvings - 1, at, gap);
        } else {
            self.left = self.left.max(error);
        }
    }
}

/// The deviation of a vector from the middle of two.
pub(super) fn middle_gap(a: &[f64; 3], b: &[f64; 3], exact: &[f64; 3]) -> f64 {
    let [a, b, exact] = [a, b, exact].map(|v| DVec3::from_array(*v));
    (0.5 * (a + b) - exact).length()
}
