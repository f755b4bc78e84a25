//! One pass down joints that swing: eight tails at once, then the joints that they turn.
//!
//! Source: VRM 1.0, `VRMC_springBone`, "Update procedure"; colliders: `VRMC_springBone_extended_collider`, appendix.

use super::lanes8::{LANES, Mat3x8, RowOf8, Vec3x8, rows, wide};
use super::{Group, Springs, TailGroup};
use crate::evaluate::stage::PoseMut;
use crate::evaluate::stage::vec3s::{Mat3s, Vec3s};
use crate::math::Affine3x4;
use crate::simd::{self, Kernel, each};
use crate::skeleton::ColliderShape;
use fearless_simd::{f32x8, mask32x8, prelude::*};
use glam::{Affine3A, Vec3, Vec3A};

/// What a pass does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// Puts the tails to rest.
    Rest,
    /// Steps the tails. If they are shown, turns the joints of the pose.
    Step { shown: bool },
    /// Turns the joints of the pose towards tails after a share of a step, which is not kept.
    Show { rest: f32 },
}

/// A collider in a pass, along the axes of the world.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    from: Vec3,
    /// To the other end, and 1 / its squared length; of a plane, its normal.
    way: Vec3,
    by: f32,
    radius: f32,
    /// -1: tails are kept inside.
    side: f32,
    flat: bool,
}

impl Shape {
    pub fn new(shape: &ColliderShape, model: &Affine3x4) -> Self {
        match shape {
            ColliderShape::Capsule { ends, radius, inside } => {
                let [from, to] = ends.map(|end| model.transform_point3(end));
                let way = to - from;
                let square = way.length_squared();
                let by = if ends[0] != ends[1] && square > 0.0 { 1.0 / square } else { 0.0 };
                let side = if *inside { -1.0 } else { 1.0 };
                Self { from, way, by, radius: radius * largest_scale(model), side, flat: false }
            }
            ColliderShape::Plane { point, normal } => {
                let linear = Affine3A::from(*model).matrix3;
                // Planes go with the cofactors: also where there is no inverse.
                let [x, y, z] = [linear.x_axis, linear.y_axis, linear.z_axis];
                let mut way = y.cross(z) * normal.x + z.cross(x) * normal.y + x.cross(y) * normal.z;
                if x.dot(y.cross(z)) < 0.0 {
                    way = -way;
                }
                let way = Vec3::from(way.normalize_or(Vec3A::ZERO));
                let from = model.transform_point3(*point);
                Self { from, way, by: 0.0, radius: 0.0, side: 1.0, flat: true }
            }
        }
    }
}

/// The length of the longest axis.
fn largest_scale(model: &Affine3x4) -> f32 {
    let linear = Affine3A::from(*model).matrix3;
    let squares = [linear.x_axis, linear.y_axis, linear.z_axis].map(|axis| axis.length_squared());
    squares.into_iter().fold(0.0, f32::max).sqrt()
}

pub(super) struct Pass<'a, 'p> {
    pub springs: &'a Springs,
    pub pose: &'a mut PoseMut<'p>,
    pub groups: &'a mut [TailGroup],
    pub places: &'a mut [Affine3x4],
    pub shapes: &'a [Shape],
    /// What moves tails with their centres; empty if none moves.
    pub moves: &'a [Affine3x4],
    pub kind: Kind,
    pub weight: f32,
}

impl Kernel for Pass<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<S: simd::Lanes>(mut self, simd: S) {
        for at in 0..self.springs.groups.len() {
            self.group(simd, at);
        }
    }
}

/// A matrix into the lane of rows.
#[inline(always)]
fn set(rows: &mut [RowOf8; 3], lane: usize, matrix: &Affine3x4) {
    let [x, y, z] = rows;
    x.as_chunks_mut::<4>().0[lane] = matrix.rows[0];
    y.as_chunks_mut::<4>().0[lane] = matrix.rows[1];
    z.as_chunks_mut::<4>().0[lane] = matrix.rows[2];
}

impl Pass<'_, '_> {
    #[inline(always)]
    fn group<S: simd::Lanes>(&mut self, simd: S, at: usize) {
        let group = &self.springs.groups[at];
        let (mut above, mut local) = ([[0.0; 4 * LANES]; 3], [[0.0; 4 * LANES]; 3]);
        let mut lanes = [0; LANES];
        for (lane, to) in lanes.iter_mut().enumerate() {
            let joint = group.joints[lane].into();
            *to = self.pose.lane(joint);
            set(&mut above, lane, &self.places[group.parents[lane] as usize]);
            set(&mut local, lane, &self.pose.local_of(*to, joint));
        }
        for (lane, via) in &group.via {
            let mut parent = self.places[group.parents[usize::from(*lane)] as usize];
            for &joint in via {
                parent = parent * self.pose.local(joint.into());
            }
            set(&mut above, (*lane).into(), &parent);
        }
        let ((above, place), (linear, offset)) = (wide(simd, &above), wide(simd, &local));
        let model = above * linear;
        let head = place + above * offset;
        let [x, y, z] = &group.tail;
        let rest = model * Vec3x8::load(simd, [x, y, z]);
        let square = rest.dot(rest);
        let zero = f32x8::splat(simd, 0.0);
        let length = square.sqrt();
        let known = length.simd_gt(f32x8::splat(simd, 1e-15))
            & square.simd_lt(f32x8::splat(simd, f32::INFINITY));
        let axis = rest * (1.0 / length);
        let bones = Bones { head, rest, length, axis };
        let tails = self.tails(simd, at, &bones);
        let turn = turn(simd, axis, bones.direction(tails - head), self.weight);
        let turned = turn * model;
        // What cannot turn stays.
        let turns = known & (turned.sum() * zero).simd_eq(zero);
        let turned = Mat3s(each!(head; 3; c => Vec3x8::select(turns, turned.0[c], model.0[c])));
        let first = self.places.len() - (self.springs.groups.len() - at) * LANES;
        let [x, y, z] = &rows(simd, turned, head);
        let (x, y, z) = (x.as_chunks::<4>().0, y.as_chunks::<4>().0, z.as_chunks::<4>().0);
        for (lane, place) in self.places[first..first + LANES].iter_mut().enumerate() {
            place.rows = [x[lane], y[lane], z[lane]];
        }
        if matches!(self.kind, Kind::Rest | Kind::Step { shown: false }) {
            return;
        }
        let local = above.inverse() * turned;
        let turns = (turns & (local.sum() * zero).simd_eq(zero)).to_bitmask();
        let [x, y, z] = &rows(simd, local, offset);
        let (x, y, z) = (x.as_chunks::<4>().0, y.as_chunks::<4>().0, z.as_chunks::<4>().0);
        for (lane, &to) in lanes.iter().enumerate().take(group.len) {
            if turns >> lane & 1 == 1 {
                self.pose.put(to, [&x[lane], &y[lane], &z[lane]]);
            }
        }
    }

    /// The tails that the joints turn to; steps those that are stored.
    #[inline(always)]
    fn tails<S: simd::Lanes>(&mut self, simd: S, at: usize, bones: &Bones<S>) -> Vec3x8<S> {
        let group = &self.springs.groups[at];
        let stored = &mut self.groups[at];
        let at_rest = bones.head + bones.rest;
        let nothing = Vec3s([f32x8::splat(simd, 0.0); 3]);
        if self.kind == Kind::Rest {
            let at_rest = at_rest.finite_or(nothing);
            let (now, before) = stored.split_at_mut(3);
            at_rest.store(now);
            at_rest.store(before);
            return at_rest;
        }
        let [x, y, z, a, b, c] = &*stored;
        let (mut now, mut before) = (Vec3x8::load(simd, [x, y, z]), Vec3x8::load(simd, [a, b, c]));
        if !self.moves.is_empty() && group.centers != [0; LANES] {
            let mut rows = [[0.0; 4 * LANES]; 3];
            for (lane, &center) in group.centers.iter().enumerate() {
                set(&mut rows, lane, &self.moves[usize::from(center)]);
            }
            let (linear, translation) = wide(simd, &rows);
            now = (translation + linear * now).finite_or(at_rest);
            before = (translation + linear * before).finite_or(at_rest);
            let (to, last) = stored.split_at_mut(3);
            now.finite_or(nothing).store(to);
            before.finite_or(nothing).store(last);
        }
        if self.kind == (Kind::Show { rest: 0.0 }) {
            return now;
        }
        let keep = f32x8::load_array_ref(simd, &group.keep);
        let stiffness = f32x8::load_array_ref(simd, &group.stiffness);
        let [x, y, z] = &group.gravity;
        let next = now.plus(now - before, keep).plus(bones.axis, stiffness);
        let next = bones.constrain(next + Vec3x8::load(simd, [x, y, z]));
        let next = self.collide(simd, group, bones, next).finite_or(at_rest);
        match self.kind {
            Kind::Show { rest } => now.plus(next - now, f32x8::splat(simd, rest)),
            _ => {
                let next = next.finite_or(nothing);
                let (to, last) = self.groups[at].split_at_mut(3);
                next.store(to);
                now.store(last);
                next
            }
        }
    }

    /// Pushes tails out of colliders.
    #[inline(always)]
    fn collide<S: simd::Lanes>(
        &self,
        simd: S,
        group: &Group,
        bones: &Bones<S>,
        mut tails: Vec3x8<S>,
    ) -> Vec3x8<S> {
        let zero = f32x8::splat(simd, 0.0);
        let radius = f32x8::load_array_ref(simd, &group.radius) * bones.length;
        for &(collider, lanes) in &group.colliders {
            let shape = &self.shapes[usize::from(collider)];
            let lanes = mask32x8::from_bitmask(simd, lanes.into());
            let way = Vec3x8::splat(simd, shape.way.to_array());
            let away = tails - Vec3x8::splat(simd, shape.from.to_array());
            let (distance, direction, known) = if shape.flat {
                (away.dot(way) - radius, way, mask32x8::splat(simd, true))
            } else {
                let along = away.dot(way) * f32x8::splat(simd, shape.by);
                let along = along.max(zero).min(f32x8::splat(simd, 1.0));
                let away = away.plus(way, -along);
                let square = away.dot(away);
                // Most tails are far from most bodies, and roots take long.
                let reach = radius + f32x8::splat(simd, shape.radius * 1.0001);
                if shape.side > 0.0 && !(square.simd_lt(reach * reach) & lanes).any_true() {
                    continue;
                }
                let length = square.sqrt();
                let side = f32x8::splat(simd, shape.side);
                let distance = side * (length - f32x8::splat(simd, shape.radius)) - radius;
                (distance, away * (side / length), length.simd_gt(zero))
            };
            let hits = distance.simd_lt(zero) & known & lanes;
            if hits.any_true() {
                let pushed = bones.constrain(tails.plus(direction, -distance));
                tails = Vec3x8::select(hits, pushed, tails);
            }
        }
        tails
    }
}

/// Eight bones as they are animated.
struct Bones<S: Simd> {
    /// Where the joints are.
    head: Vec3x8<S>,
    /// From there to the tails at rest: the whole way, its length and direction.
    rest: Vec3x8<S>,
    length: f32x8<S>,
    axis: Vec3x8<S>,
}

impl<S: Simd> Bones<S> {
    /// The directions of ways; where there is none, that at rest.
    #[inline(always)]
    fn direction(&self, way: Vec3x8<S>) -> Vec3x8<S> {
        let square = way.dot(way);
        let simd = square.simd;
        let known = square.simd_gt(f32x8::splat(simd, f32::MIN_POSITIVE))
            & square.simd_lt(f32x8::splat(simd, f32::INFINITY));
        Vec3x8::select(known, way * (1.0 / square.sqrt()), self.axis)
    }

    /// Puts tails to their distance from the joints.
    #[inline(always)]
    fn constrain(&self, tails: Vec3x8<S>) -> Vec3x8<S> {
        self.head.plus(self.direction(tails - self.head), self.length)
    }
}

/// The shortest rotations from unit vectors to others, in part if the weight is below 1.
#[inline(always)]
fn turn<S: Simd>(simd: S, from: Vec3x8<S>, to: Vec3x8<S>, weight: f32) -> Mat3x8<S> {
    let (zero, one) = (f32x8::splat(simd, 0.0), f32x8::splat(simd, 1.0));
    let (mut axis, dot) = (from.cross(to), from.dot(to));
    let mut w = one + dot;
    let far = w.simd_lt(f32x8::splat(simd, 0.1));
    if far.any_true() {
        // The sum loses digits there.
        let square = axis.dot(axis);
        w = far.select(square / (one - dot), w);
        // Any axis across, for half a turn.
        let back = far & square.simd_lt(f32x8::splat(simd, 1e-12));
        let [x, y, z] = from.0;
        let steep = x.abs().simd_lt(f32x8::splat(simd, 0.7));
        let across = Vec3x8::select(steep, Vec3s([zero, -z, y]), Vec3s([z, zero, -x]));
        axis = Vec3x8::select(back, across, axis);
        w = back.select(zero, w);
    }
    if weight < 1.0 {
        let by = 1.0 / (axis.dot(axis) + w * w).sqrt();
        axis = axis * (by * f32x8::splat(simd, weight));
        w = (w * by).mul_add(f32x8::splat(simd, weight), f32x8::splat(simd, 1.0 - weight));
    }
    Mat3x8::turning(axis, w)
}
