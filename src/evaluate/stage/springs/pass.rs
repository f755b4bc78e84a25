//! One pass down joints that swing: eight tails at once, then the joints that they turn.
//!
//! Source: VRM 1.0, `VRMC_springBone`, "Update procedure"; colliders: `VRMC_springBone_extended_collider`, appendix.

use super::lanes8::{
    LANES, Mat3x8, Models8, Vec3x8, load_models, model_of, row, rows_of, splat_model, store_models,
    wide,
};
use super::{Above, Group, Springs, TailGroup};
use crate::evaluate::kernel::multiply;
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

/// Finds the matrices of the joints above the springs; the first place is there.
pub(super) struct Places<'a, 'p> {
    pub springs: &'a Springs,
    pub pose: &'a PoseMut<'p>,
    pub places: &'a mut [Affine3x4],
}

impl Kernel for Places<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<S: simd::Lanes>(self, simd: S) {
        for (at, &(joint, parent)) in self.springs.above.iter().enumerate() {
            let local = self.pose.local(joint.into());
            let (done, next) = self.places.split_at_mut(at + 1);
            multiply(simd, &done[parent as usize], local.rows.each_ref(), &mut next[0]);
        }
    }
}

pub(super) struct Pass<'a, 'p> {
    pub springs: &'a Springs,
    pub pose: &'a mut PoseMut<'p>,
    pub groups: &'a mut [TailGroup],
    pub places: &'a [Affine3x4],
    /// The model matrices of the groups, behind the places.
    pub models: &'a mut [Models8],
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

impl Pass<'_, '_> {
    #[inline(always)]
    fn group<S: simd::Lanes>(&mut self, simd: S, at: usize) {
        let springs = self.springs;
        let group = &springs.groups[at];
        let ((above, place), (linear, offset)) =
            (self.above(simd, group), self.locals(simd, group));
        let model = above * linear;
        let head = place + above * offset;
        let [x, y, z] = &group.tail;
        let rest = model * Vec3x8::load(simd, [x, y, z]);
        let square = rest.dot(rest);
        let zero = f32x8::splat(simd, 0.0);
        let length = square.sqrt();
        let known = length.simd_gt(f32x8::splat(simd, 1e-15))
            & square.simd_lt(f32x8::splat(simd, f32::INFINITY));
        let bones = Bones { head, rest, length, axis: rest * (1.0 / length) };
        let direction = self.tails(simd, at, &bones);
        let mut turned = turn(simd, bones.axis, direction, self.weight) * model;
        // What cannot turn stays.
        let turns = known & (turned.sum() * zero).simd_eq(zero);
        if !turns.all_true() {
            turned = Mat3s(each!(head; 3; c => Vec3x8::select(turns, turned.0[c], model.0[c])));
        }
        store_models((&turned, head), &mut self.models[at]);
        if matches!(self.kind, Kind::Rest | Kind::Step { shown: false }) {
            return;
        }
        let mut local = above.inverse() * turned;
        let turns = turns & (local.sum() * zero).simd_eq(zero);
        if !turns.all_true() {
            local = Mat3s(each!(head; 3; c => Vec3x8::select(turns, local.0[c], linear.0[c])));
        }
        let to = &group.rows[S::f32s::LEN.trailing_zeros() as usize - 2];
        let mut r = 0;
        while r < 3 {
            let rows = row(simd, (&local, offset), r);
            let mut lane = 0;
            while lane < LANES {
                // Lanes behind the last joint write what the first one does.
                if let Some(to) = self.pose.locals.get_mut(to[lane] as usize + r * S::f32s::LEN) {
                    rows[lane].store_array(to);
                }
                lane += 1;
            }
            r += 1;
        }
        if turns.all_true() {
            for &(word, bits) in &group.changes {
                self.pose.changed[usize::from(word)] |= bits;
            }
            return;
        }
        let turns = turns.to_bitmask();
        for (lane, &of) in group.lanes.iter().enumerate() {
            if turns >> lane & 1 == 1 {
                self.pose.changed[usize::from(of) / 64] |= 1 << (of % 64);
            }
        }
    }

    /// The model matrices of the parents.
    #[inline(always)]
    fn above<S: simd::Lanes>(&self, simd: S, group: &Group) -> (Mat3x8<S>, Vec3x8<S>) {
        match group.above {
            Above::Group(of) => return load_models(simd, &self.models[of]),
            Above::Place(at) => return splat_model(simd, &self.places[at]),
            Above::Each => {}
        }
        let mut all = [Affine3x4::IDENTITY; LANES];
        for (parent, to) in group.parents.iter().zip(&mut all) {
            let at = *parent as usize;
            *to = match at.checked_sub(self.places.len()) {
                None => self.places[at],
                Some(at) => model_of(&self.models[at / LANES], at % LANES),
            };
        }
        for (lane, via) in &group.via {
            for &joint in via {
                let to = &mut all[usize::from(*lane)];
                *to = *to * self.pose.local(joint.into());
            }
        }
        wide(simd, &rows_of(&all))
    }

    /// The local matrices.
    #[inline(always)]
    fn locals<S: simd::Lanes>(&self, simd: S, group: &Group) -> (Mat3x8<S>, Vec3x8<S>) {
        let n = S::f32s::LEN;
        if group.end > self.pose.moving {
            let mut all = [Affine3x4::IDENTITY; LANES];
            for (&joint, to) in group.joints.iter().zip(&mut all) {
                *to = self.pose.local(joint.into());
            }
            return wide(simd, &rows_of(&all));
        }
        let rows = &group.rows[n.trailing_zeros() as usize - 2];
        let zero = &[0.0; 4];
        let mut all = [[zero; LANES]; 3];
        let mut lane = 0;
        while lane < LANES {
            let of = &self.pose.locals[rows[lane] as usize..][..2 * n + 1];
            (all[0][lane], all[1][lane], all[2][lane]) = (&of[0], &of[n], &of[2 * n]);
            lane += 1;
        }
        wide(simd, &all)
    }

    /// The directions from the joints to the tails that they turn to; steps the tails that are stored.
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
            return bones.axis;
        }
        let [x, y, z, a, b, c] = &*stored;
        let (mut now, mut before) = (Vec3x8::load(simd, [x, y, z]), Vec3x8::load(simd, [a, b, c]));
        if !self.moves.is_empty() && group.centers != [0; LANES] {
            let mut all = [Affine3x4::IDENTITY; LANES];
            for (&center, to) in group.centers.iter().zip(&mut all) {
                *to = self.moves[usize::from(center)];
            }
            let (linear, translation) = wide(simd, &rows_of(&all));
            now = (translation + linear * now).finite_or(at_rest);
            before = (translation + linear * before).finite_or(at_rest);
            let (to, last) = stored.split_at_mut(3);
            now.finite_or(nothing).store(to);
            before.finite_or(nothing).store(last);
        }
        if self.kind == (Kind::Show { rest: 0.0 }) {
            return bones.direction(now - bones.head);
        }
        let keep = f32x8::load_array_ref(simd, &group.keep);
        let stiffness = f32x8::load_array_ref(simd, &group.stiffness);
        let [x, y, z] = &group.gravity;
        let next = now.plus(now - before, keep).plus(bones.axis, stiffness);
        let next = next + Vec3x8::load(simd, [x, y, z]);
        let way = bones.constrain(next - bones.head);
        let way = self.collide(simd, group, bones, way);
        let mut next = bones.head + way;
        let finite = next.finite();
        if !finite.all_true() {
            next = Vec3x8::select(finite, next, at_rest);
        }
        if let Kind::Show { rest } = self.kind {
            let tails = now.plus(next - now, f32x8::splat(simd, rest));
            return bones.direction(tails - bones.head);
        }
        if !finite.all_true() {
            next = next.finite_or(nothing);
        }
        let (to, last) = self.groups[at].split_at_mut(3);
        next.store(to);
        now.store(last);
        // From what is stored, not from the way: those who show it again have the same bits.
        bones.direction(next - bones.head)
    }

    /// Pushes tails, at `way` from the joints, out of colliders.
    #[inline(always)]
    fn collide<S: simd::Lanes>(
        &self,
        simd: S,
        group: &Group,
        bones: &Bones<S>,
        mut way: Vec3x8<S>,
    ) -> Vec3x8<S> {
        let zero = f32x8::splat(simd, 0.0);
        let radius = f32x8::load_array_ref(simd, &group.radius) * bones.length;
        for &(collider, lanes) in &group.colliders {
            let shape = &self.shapes[usize::from(collider)];
            let lanes = mask32x8::from_bitmask(simd, lanes.into());
            // Known before the tails are.
            let from = bones.head - Vec3x8::splat(simd, shape.from.to_array());
            let mut away = from + way;
            if shape.flat {
                let normal = Vec3x8::splat(simd, shape.way.to_array());
                let distance = away.dot(normal) - radius;
                let hits = distance.simd_lt(zero) & lanes;
                if hits.any_true() {
                    let pushed = bones.constrain(way.plus(normal, -distance));
                    way = Vec3x8::select(hits, pushed, way);
                }
                continue;
            }
            if shape.by > 0.0 {
                let axis = Vec3x8::splat(simd, shape.way.to_array());
                let along = (away.dot(axis) * f32x8::splat(simd, shape.by))
                    .max(zero)
                    .min(f32x8::splat(simd, 1.0));
                away = away.plus(axis, -along);
            }
            let square = away.dot(away);
            // Most tails are far from most bodies, and roots take long.
            let reach = radius + f32x8::splat(simd, shape.radius * 1.0001);
            if shape.side > 0.0 && !(square.simd_lt(reach * reach) & lanes).any_true() {
                continue;
            }
            let length = square.sqrt();
            let side = f32x8::splat(simd, shape.side);
            let distance = side * (length - f32x8::splat(simd, shape.radius)) - radius;
            let hits = distance.simd_lt(zero) & length.simd_gt(zero) & lanes;
            if hits.any_true() {
                let pushed = bones.constrain(way.plus(away, -(distance * side) / length));
                way = Vec3x8::select(hits, pushed, way);
            }
        }
        way
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
    /// Ways at another length; where there is none, others in their place.
    #[inline(always)]
    fn scaled(way: Vec3x8<S>, length: f32x8<S>, other: Vec3x8<S>) -> Vec3x8<S> {
        let square = way.dot(way);
        let simd = square.simd;
        let known = square.simd_gt(f32x8::splat(simd, f32::MIN_POSITIVE))
            & square.simd_lt(f32x8::splat(simd, f32::INFINITY));
        Vec3x8::select(known, way * (length / square.sqrt()), other)
    }

    /// The directions of ways; where there is none, that at rest.
    #[inline(always)]
    fn direction(&self, way: Vec3x8<S>) -> Vec3x8<S> {
        Self::scaled(way, f32x8::splat(self.length.simd, 1.0), self.axis)
    }

    /// Ways from the joints as long as the bones.
    #[inline(always)]
    fn constrain(&self, way: Vec3x8<S>) -> Vec3x8<S> {
        Self::scaled(way, self.length, self.rest)
    }
}

/// The shortest rotations from unit vectors to others, in part if the weight is below 1.
#[inline(always)]
fn turn<S: Simd>(simd: S, from: Vec3x8<S>, to: Vec3x8<S>, weight: f32) -> Mat3x8<S> {
    let (zero, one) = (f32x8::splat(simd, 0.0), f32x8::splat(simd, 1.0));
    let (mut axis, dot) = (from.cross(to), from.dot(to));
    let mut w = one + dot;
    // Both have length 1, so |axis|² + w² = 2·w.
    let mut s = 1.0 / w;
    let far = w.simd_lt(f32x8::splat(simd, 0.5));
    let some_far = far.any_true();
    if some_far {
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
    if some_far || weight < 1.0 {
        s = 2.0 / (axis.dot(axis) + w * w);
    }
    Mat3x8::turning(axis, w, s)
}
