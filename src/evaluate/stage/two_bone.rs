//! Two-bone inverse kinematics: the positions of three joints and a target become two rotations, for four chains at
//! once.
//!
//! The angle at the upper joint follows from the law of cosines on the sides upper, lower and the distance of the
//! target; the plane of the bend is turned to the pole. Both are applied as rotations of whole subtrees in model space,
//! so lengths stay whatever scales the chain has.

use super::angle::{angle, decay, sin_cos};
use super::lanes3::{LANES, Mat3x4, Vec3x4};
use super::vec3s::Mat3s;
use crate::simd::each;
use fearless_simd::{f32x4, mask32x4, prelude::*};
use glam::{Quat, Vec3};

/// The positions of chains and where their ends are wanted, in model space.
#[derive(Clone, Copy, Debug)]
pub(super) struct TwoBone<'a, S: Simd> {
    /// The lanes that have a chain; the others have any numbers.
    pub live: mask32x4<S>,
    pub upper: Vec3x4<S>,
    pub middle: Vec3x4<S>,
    pub end: Vec3x4<S>,
    pub target: Vec3x4<S>,
    /// Direction to which the middle joint bends; without a length it keeps the animated plane.
    pub pole: Option<Vec3x4<S>>,
    /// The linear part of the upper joint's model matrix, and in its space the normal of the bend if the chain is
    /// straight.
    pub axis: (Mat3x4<S>, [&'a Vec3; LANES]),
    /// Share of the length over which the chain slows down before it is straight.
    pub soft: f32x4<S>,
    /// The largest factor on both lengths.
    pub stretch: f32x4<S>,
    /// Turn of the plane around the line from the upper joint to the target, radians.
    pub twist: f32x4<S>,
    /// 0 leaves the chain as it is, 1 reaches the target.
    pub weight: f32x4<S>,
}

/// Rotations in model space, and the factor on both lengths.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bent<S: Simd> {
    /// The rotation of the upper joint's subtree about that joint.
    pub upper: Mat3x4<S>,
    /// The rotation of the middle joint's subtree about that joint, before `upper`.
    pub middle: Mat3x4<S>,
    pub stretch: f32x4<S>,
    /// The chains that bend: the others have a bone without a length.
    pub bends: mask32x4<S>,
}

/// Lengths below this share of the chain count as none.
const SMALL: f32 = 1e-5;

impl<S: Simd> TwoBone<'_, S> {
    #[inline(always)]
    pub fn solve(&self, simd: S) -> Bent<S> {
        let (zero, one) = (f32x4::splat(simd, 0.0), f32x4::splat(simd, 1.0));
        let small = f32x4::splat(simd, SMALL);
        let Self { live, weight, .. } = *self;
        let (first, second) = (self.middle - self.upper, self.end - self.middle);
        let (a, b) = (first.length(), second.length());
        let whole = a + b;
        let least = small * whole;
        let bends =
            a.simd_gt(least) & b.simd_gt(least) & whole.simd_lt(f32x4::splat(simd, f32::INFINITY));
        let (x, y) = (first * (one / a), second * (one / b));
        let line = self.end - self.upper;
        let wanted = line.plus(self.target - self.end, weight);
        let along = wanted.length();
        // A target in the upper joint folds the chain up where it points.
        let from = direction_or(line, least, x);
        let to = direction_or(wanted, least, from);
        let soft = self.soft * weight;
        let straight = whole * (one - soft);
        let mut distance = along.min(whole);
        if (soft.simd_gt(zero) & along.simd_gt(straight) & live).any_true() {
            distance = slowed(distance, [along, whole, straight, soft]);
        }
        let stretch = (along / distance.max(least)).max(one).min(self.stretch);
        // Angles are those of the chain that is not stretched: the triangle only grows.
        let (sum, less) = (a + b, a - b);
        let distance = distance.max(less.abs()).min(sum).max(least);

        let (mut bend, known) = first.cross(second).direction(small * a * b);
        if (!known & live).any_true() {
            bend = Vec3x4::select(known, bend, self.bend_of_straight(simd, x));
        }
        let mut plane = turned(from, to, bend);
        if let Some(pole) = self.pole {
            let (pole, _) = pole.direction(f32x4::splat(simd, f32::MIN_POSITIVE));
            let (wanted, known) = pole.across(to);
            // Lanes without a chain have no weight.
            let share = live.select(weight, one);
            plane = turned_about(to, plane, (wanted.cross(to), known), share);
        }
        if self.twist.simd_eq(zero).to_bitmask() != 15 {
            plane = twisted(to, plane, self.twist * weight);
        }
        // It is across the line and has length 1, but for rounding: of turns by nearly half a turn, and of normals of
        // chains that are nearly straight, that is much. Usually nothing has to wait for this.
        let rounding = f32x4::splat(simd, 1e-6);
        let off = plane.dot(to).abs().max((plane.dot(plane) - one).abs());
        if (off.simd_gt(rounding) & live).any_true() {
            let (across_to, known) = plane.across(to);
            plane = Vec3x4::select(known & off.simd_gt(rounding), across_to, plane);
        }
        let aside = to.cross(plane);
        let side = one / (2.0 * a * distance);
        let cos = distance.mul_add(distance, less * sum) * side;
        // By Heron's formula: of a straight chain exactly 0, where 1 - cos² leaves 3e-4.
        let sides = (sum + distance) * (sum - distance) * ((distance + less) * (distance - less));
        let sin = sides.max(zero).sqrt() * side;
        let bent = (to * cos.max(-one).min(one)).plus(aside, sin);
        // The lower bone. Of the angle between both the sine and the cosine are made a pair below, so it keeps its length.
        let rest = (to * distance).plus(bent, -a);
        let shortest = small * b;
        let rest = Vec3x4::select(rest.dot(rest).simd_gt(shortest * shortest), rest, to);
        // The normal of a chain that is nearly straight is rounded: it is across the upper bone only.
        let (bend, _) = bend.across(x);
        let before = (x.dot(y), bend.dot(x.cross(y)));
        let after = (bent.dot(rest), plane.dot(bent.cross(rest)));
        // By the difference of both angles.
        let cos = after.0.mul_add(before.0, after.1 * before.1);
        let sin = after.1.mul_sub(before.0, after.0 * before.1);
        let by = one / cos.mul_add(cos, sin * sin).sqrt();
        let middle = Mat3x4::about(bend, cos * by, sin * by);
        let upper = frame(bent, plane) * frame(x, bend).transposed();
        Bent { upper, middle, stretch, bends }
    }

    /// The normal of the bend of straight chains: the axis, as far as it is across the upper bone; else any normal.
    #[cold]
    fn bend_of_straight(&self, simd: S, x: Vec3x4<S>) -> Vec3x4<S> {
        let columns = self.axis.0.0;
        let normal = |i: usize| {
            let x = x.lane(i).try_normalize().unwrap_or(Vec3::X);
            let [a, b, c] = self.axis.1[i].to_array();
            let axis = columns[0].lane(i) * a + columns[1].lane(i) * b + columns[2].lane(i) * c;
            let axis = axis.normalize_or_zero();
            let across = axis - x * axis.dot(x);
            match across.length() > 1e-4 {
                true => across.normalize(),
                false => x.any_orthonormal_vector(),
            }
        };
        Vec3x4::from_lanes(simd, each!(Vec3::ZERO; LANES; i => normal(i)))
    }
}

/// The distance of ends that slow down towards the whole length. Chains that do not keep theirs.
#[cold]
fn slowed<S: Simd>(distance: f32x4<S>, [along, whole, straight, soft]: [f32x4<S>; 4]) -> f32x4<S> {
    let of = |i: usize| {
        let [distance, along, whole, straight, soft] =
            [distance, along, whole, straight, soft].map(|v| v.as_array()[i]);
        let (rest, beyond) = (whole - straight, along - straight);
        match soft > 0.0 && beyond > 0.0 {
            true => straight + rest * (1.0 - decay(beyond / rest.max(f32::MIN_POSITIVE))),
            false => distance,
        }
    };
    f32x4::load_array(distance.simd, each!(0.0; LANES; i => of(i)))
}

/// The part `share` of the turn of unit vectors about a unit axis to others, all across the axis, where those are
/// known.
#[inline(always)]
fn turned_about<S: Simd>(
    axis: Vec3x4<S>,
    from: Vec3x4<S>,
    (to, known): (Vec3x4<S>, mask32x4<S>),
    share: f32x4<S>,
) -> Vec3x4<S> {
    let mut turned = to;
    if share.simd_lt(f32x4::splat(share.simd, 1.0)).any_true() {
        turned = turned_partly(axis, from, to, share);
    }
    Vec3x4::select(known, turned, from)
}

#[cold]
fn turned_partly<S: Simd>(
    axis: Vec3x4<S>,
    from: Vec3x4<S>,
    to: Vec3x4<S>,
    share: f32x4<S>,
) -> Vec3x4<S> {
    let of = |i: usize| {
        let (axis, from, to, share) = (axis.lane(i), from.lane(i), to.lane(i), share.as_array()[i]);
        if share >= 1.0 {
            return to;
        }
        let sine = from.cross(to).dot(axis);
        let (sin, cos) = sin_cos(angle(sine.abs(), from.dot(to)) * share);
        from * cos + axis.cross(from) * sin.copysign(sine)
    };
    Vec3x4::from_lanes(share.simd, each!(Vec3::ZERO; LANES; i => of(i)))
}

#[cold]
fn twisted<S: Simd>(axis: Vec3x4<S>, plane: Vec3x4<S>, by: f32x4<S>) -> Vec3x4<S> {
    let of = |i: usize| {
        let by = by.as_array()[i];
        let (sin, cos) = sin_cos(by.abs() * 0.5);
        let Vec3 { x, y, z } = axis.lane(i) * sin.copysign(by);
        Quat::from_xyzw(x, y, z, cos) * plane.lane(i)
    };
    Vec3x4::from_lanes(by.simd, each!(Vec3::ZERO; LANES; i => of(i)))
}

/// Vectors turned by the shortest rotation from one unit vector to another. If the second is opposite to the first, to
/// which the vectors are orthogonal, they stay.
#[inline(always)]
fn turned<S: Simd>(from: Vec3x4<S>, to: Vec3x4<S>, v: Vec3x4<S>) -> Vec3x4<S> {
    let (normal, cos) = (from.cross(to), from.dot(to));
    let out = (normal.cross(v)).plus(v, cos).plus(normal, normal.dot(v) / (1.0 + cos));
    let apart = cos.simd_gt(f32x4::splat(cos.simd, 2.0 * f32::EPSILON - 1.0));
    Vec3x4::select(apart, out, v)
}

#[inline(always)]
fn frame<S: Simd>(x: Vec3x4<S>, z: Vec3x4<S>) -> Mat3x4<S> {
    Mat3s([x, z, x.cross(z)])
}

#[inline(always)]
fn direction_or<S: Simd>(v: Vec3x4<S>, least: f32x4<S>, or: Vec3x4<S>) -> Vec3x4<S> {
    let (direction, known) = v.direction(least);
    Vec3x4::select(known, direction, or)
}
