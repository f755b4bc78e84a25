//! Two-bone inverse kinematics: the positions of three joints and a target become two rotations.
//!
//! The angle at the upper joint follows from the law of cosines on the sides upper, lower and the distance of the
//! target; the plane of the bend is turned to the pole. Both are applied as rotations of whole subtrees in model space,
//! so lengths stay whatever scales the chain has.

use glam::{Mat3A, Quat, Vec3};

/// The positions of a chain and where its end is wanted, in model space.
#[derive(Clone, Copy, Debug)]
pub(super) struct TwoBone {
    pub upper: Vec3,
    pub middle: Vec3,
    pub end: Vec3,
    pub target: Vec3,
    /// Direction to which the middle joint bends; `None` keeps the animated plane.
    pub pole: Option<Vec3>,
    /// Normal of the bend if the chain is straight.
    pub axis: Vec3,
    /// Share of the length over which the chain slows down before it is straight.
    pub soft: f32,
    /// The largest factor on both lengths.
    pub stretch: f32,
    /// Turn of the plane around the line from the upper joint to the target, radians.
    pub twist: f32,
    /// 0 leaves the chain as it is, 1 reaches the target.
    pub weight: f32,
}

/// Rotations in model space, and the factor on both lengths.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bent {
    /// Of the upper joint's subtree about the upper joint.
    pub upper: Mat3A,
    /// Of the middle joint's subtree about the middle joint; it replaces `upper` there.
    pub middle: Mat3A,
    pub stretch: f32,
}

/// Lengths below this share of the chain count as none.
const SMALL: f32 = 1e-5;

impl TwoBone {
    /// `None` if a bone has no length: such a chain stays as it is.
    pub fn solve(&self) -> Option<Bent> {
        let (first, second) = (self.middle - self.upper, self.end - self.middle);
        let (a, b) = (first.length(), second.length());
        let whole = a + b;
        if !(a > SMALL * whole && b > SMALL * whole && whole.is_finite()) {
            return None;
        }
        let line = self.end - self.upper;
        let wanted = line + (self.target - self.end) * self.weight;
        let along = wanted.length();
        // A target in the upper joint folds the chain up where it points.
        let from = direction(line, SMALL * whole).unwrap_or(first / a);
        let to = direction(wanted, SMALL * whole).unwrap_or(from);
        let mut distance = along.min(whole);
        let straight = whole * (1.0 - self.soft * self.weight);
        if along > straight && self.soft > 0.0 {
            let rest = whole - straight;
            distance =
                straight + rest * (1.0 - (-(along - straight) / rest.max(f32::MIN_POSITIVE)).exp());
        }
        let stretch = (along / distance.max(SMALL * whole)).clamp(1.0, self.stretch);
        // Angles are those of the chain that is not stretched: the triangle only grows.
        let distance = distance.clamp((a - b).abs(), a + b).max(SMALL * whole);

        let normal = first.cross(second);
        let least = SMALL * a * b;
        let (x, y) = (first.normalize(), second.normalize());
        let across = |v: Vec3, of: Vec3| direction(v - of * v.dot(of), 1e-4);
        let bend = direction(normal, least)
            .or_else(|| across(self.axis.normalize_or_zero(), x))
            .unwrap_or_else(|| x.any_orthonormal_vector());
        let mut plane = Quat::from_rotation_arc(from, to) * bend;
        if let Some(wanted) = self.pole.and_then(|pole| across(pole.normalize_or_zero(), to)) {
            let pole = wanted.cross(to);
            plane = turn_about(to, plane, pole, self.weight) * plane;
        }
        if self.twist != 0.0 {
            plane = Quat::from_axis_angle(to, self.twist * self.weight) * plane;
        }
        let plane = across(plane, to).unwrap_or(plane);
        let aside = to.cross(plane);
        let (sum, less) = (a + b, a - b);
        let cos = (distance * distance + less * sum) / (2.0 * a * distance);
        let cos = cos.clamp(-1.0, 1.0);
        // By Heron's formula: of a straight chain exactly 0, where 1 - cos² leaves 3e-4.
        let sides = [(sum + distance) * (sum - distance), (distance + less) * (distance - less)];
        let sin = sides.map(|s| s.max(0.0).sqrt()).iter().product::<f32>() / (2.0 * a * distance);
        let bent = (to * cos + aside * sin) * a;
        let rest = to * distance - bent;
        let rest = direction(rest, SMALL * b).unwrap_or(to);
        let frame = |x: Vec3, z: Vec3| Mat3A::from_cols(x.into(), z.into(), x.cross(z).into());
        // The normal of a chain that is nearly straight is rounded: it is across one bone only.
        let before = |x: Vec3| {
            frame(x, across(bend, x).unwrap_or_else(|| x.any_orthonormal_vector())).transpose()
        };
        let rotation = |to: Vec3, from: Vec3| frame(to, plane) * before(from);
        Some(Bent { upper: rotation(bent / a, x), middle: rotation(rest, y), stretch })
    }
}

/// The direction of a vector longer than `least`.
fn direction(v: Vec3, least: f32) -> Option<Vec3> {
    let length = v.length();
    (length > least && length.is_finite()).then(|| v / length)
}

/// The part `share` of the turn about a unit axis from one vector to another, both across the axis.
fn turn_about(axis: Vec3, from: Vec3, to: Vec3, share: f32) -> Quat {
    let angle = from.cross(to).dot(axis).atan2(from.dot(to));
    Quat::from_axis_angle(axis, angle * share)
}
