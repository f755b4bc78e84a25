//! Two-bone inverse kinematics on the pose of an instance.

use super::angle::part;
use super::lanes3::{LANES, Mat3x4, Vec3x4};
use super::two_bone::TwoBone;
use super::vec3s::{Mat3s, Vec3s};
use super::{PoseMut, affine, near, rotation};
use crate::math::Affine3x4;
use crate::simd::{self, Kernel, dispatch_on, each};
use fearless_simd::{f32x4, mask32x4, prelude::*};
use glam::{Mat3A, Quat, Vec3};

/// The direction in which the middle joint of a chain points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pole {
    /// As animated.
    Animated,
    /// In a direction of model space.
    Direction(Vec3),
    /// Towards the joint with this index.
    Joint(usize),
}

/// The rotation of the joint at the end of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndRotation {
    /// It turns with the middle joint.
    Follow,
    /// It keeps its animated rotation in model space.
    Keep,
}

/// A chain of three joints, with the joints between them, as an evaluation bends it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chain {
    pub upper: u16,
    /// The joints below the upper one, down to the middle joint.
    pub to_middle: Vec<u16>,
    /// The joints below the middle one, down to the end.
    pub to_end: Vec<u16>,
    /// Normal of the bend of a straight chain, in the space of the upper joint.
    pub axis: Vec3,
    /// A direction has length 1.
    pub pole: Pole,
    pub end_rotation: EndRotation,
    /// Axis of the end joint, in its space, that is turned to a normal.
    pub normal_axis: Vec3,
    pub soft: f32,
    pub stretch: f32,
    pub twist: f32,
}

/// The target of a chain's end, in model space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IkTarget {
    pub position: Vec3,
    pub rotation: Option<Quat>,
    pub normal: Option<Vec3>,
    pub weight: f32,
}

/// Chains of one instance that are bent at once: none reads what another one changes.
#[derive(Clone, Copy, Default)]
pub(crate) struct Chains<'a> {
    all: [Option<Aimed<'a>>; LANES],
    len: usize,
    /// Position of the target and weight of each chain.
    targets: RowOfFour,
    /// Softness, stretch and twist of each chain.
    limits: RowOfFour,
}

/// A chain and its target.
#[derive(Clone, Copy)]
struct Aimed<'a> {
    chain: &'a Chain,
    target: IkTarget,
}

/// Values by lane; lanes behind the last chain repeat those of the first, but in another pose.
type ByLane<'a, T> = [&'a T; LANES];

/// A row of four matrices, lane by lane.
type RowOfFour = [f32; 4 * LANES];

/// The upper, middle or end joints of chains in a pose.
#[derive(Clone, Copy)]
struct Posed {
    /// Lanes in the pose.
    lanes: [usize; LANES],
    /// Model matrices of the parents and of the joints themselves.
    above: [RowOfFour; 3],
    model: [RowOfFour; 3],
    /// Local translations.
    translation: [[f32; LANES]; 3],
}

impl Posed {
    const NONE: Self = Self {
        lanes: [0; LANES],
        above: [[0.0; 4 * LANES]; 3],
        model: [[0.0; 4 * LANES]; 3],
        translation: [[0.0; LANES]; 3],
    };
}

impl<'a> Chains<'a> {
    /// The most chains.
    pub const MOST: usize = LANES;

    pub fn len(&self) -> usize {
        self.len
    }

    /// Adds a chain, which reads nothing that the others change, if there is room.
    #[inline]
    pub fn add(&mut self, chain: &'a Chain, target: IkTarget) {
        if let Some(free) = self.all.get_mut(self.len) {
            let [x, y, z] = target.position.to_array();
            self.targets.as_chunks_mut::<4>().0[self.len] = [x, y, z, target.weight];
            let limits = [chain.soft, chain.stretch, chain.twist, 0.0];
            self.limits.as_chunks_mut::<4>().0[self.len] = limits;
            *free = Some(Aimed { chain, target });
            self.len += 1;
        }
    }

    /// Bends the chains in a pose.
    pub fn bend(&self, pose: &mut PoseMut<'_>) {
        if self.len > 0 {
            dispatch_on(pose.level, Bend { chains: self, pose });
        }
    }

    #[cold]
    fn stretch(&self, pose: &mut PoseMut<'_>, bends: u64, by: [f32; LANES]) {
        for (i, aimed) in self.all.iter().enumerate() {
            let Some(Aimed { chain, .. }) = aimed else { return };
            if bends >> i & 1 == 0 || by[i].is_nan() || by[i] <= 1.0 {
                continue;
            }
            for &joint in chain.to_middle.iter().chain(&chain.to_end) {
                let mut local = pose.local(joint.into());
                local.rows.iter_mut().for_each(|row| row[3] *= by[i]);
                pose.set_local(joint.into(), &local);
            }
        }
    }
}

struct Bend<'a, 'b, 'p> {
    chains: &'a Chains<'b>,
    pose: &'a mut PoseMut<'p>,
}

impl Kernel for Bend<'_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<S: simd::Lanes>(self, simd: S) {
        let Self { chains, pose } = self;
        let [Some(first), ..] = &chains.all else { return };
        let all: ByLane<'_, Aimed<'_>> =
            each!(first; LANES; i => chains.all[i].as_ref().unwrap_or(first));
        let mut posed = [Posed::NONE; 3];
        find(&mut posed, chains, pose);
        let [upper, middle, end] = &posed;
        let (above_u, _) = wide(simd, &upper.above);
        let (model_u, at_u) = wide(simd, &upper.model);
        let (model_m, at_m) = wide(simd, &middle.model);
        let (model_e, at_e) = wide(simd, &end.model);
        let [x, y, z, weight] = simd.load_four_interleaved_f32x4(&chains.targets);
        let [soft, stretch, twist, _] = simd.load_four_interleaved_f32x4(&chains.limits);
        let axes = each!(&first.chain.axis; LANES; i => &all[i].chain.axis);
        let bent = TwoBone {
            live: mask32x4::from_bitmask(simd, (1 << chains.len) - 1),
            upper: at_u,
            middle: at_m,
            end: at_e,
            target: Vec3s([x, y, z]),
            pole: poles(simd, all, pose, at_u),
            axis: (model_u, axes),
            soft,
            stretch,
            twist,
            weight,
        }
        .solve(simd);
        let local_u = above_u.inverse() * (bent.upper * model_u);
        // The usual middle and end joints are below the joint before.
        let above_m = match all.iter().all(|aimed| aimed.chain.to_middle.len() == 1) {
            true => model_u,
            false => wide(simd, &middle.above).0,
        };
        let local_m = above_m.inverse() * (bent.middle * model_m);
        let above_e = match all.iter().all(|aimed| aimed.chain.to_end.len() == 1) {
            true => model_m,
            false => wide(simd, &end.above).0,
        };
        let back = (bent.upper * bent.middle).transposed();
        let turned = match all.iter().any(|aimed| aimed.turns_end()) {
            true => turned_ends(simd, all, &end.model, back, model_e),
            false => back * model_e,
        };
        let local_e = above_e.inverse() * turned;
        // Where one joint cannot be turned, none is.
        let sum = local_u.sum() + local_m.sum() + local_e.sum();
        let zero = f32x4::splat(simd, 0.0);
        let bends = ((sum * zero).simd_eq(zero) & bent.bends).to_bitmask();
        let which = (chains.len, bends);
        put(simd, pose, local_u, upper, which);
        put(simd, pose, local_m, middle, which);
        put(simd, pose, local_e, end, which);
        if bent.stretch.simd_gt(f32x4::splat(simd, 1.0)).any_true() {
            chains.stretch(pose, bends, *bent.stretch.as_array());
        }
    }
}

/// The directions from the upper joints to the poles, if there are any.
#[inline(always)]
fn poles<S: Simd>(
    simd: S,
    all: ByLane<'_, Aimed<'_>>,
    pose: &PoseMut<'_>,
    upper: Vec3x4<S>,
) -> Option<Vec3x4<S>> {
    let pole = |i: usize| match all[i].chain.pole {
        Pole::Animated => Vec3::ZERO,
        Pole::Direction(direction) => direction,
        Pole::Joint(joint) => pose.model(joint).translation() - upper.lane(i),
    };
    match all.iter().any(|aimed| aimed.chain.pole != Pole::Animated) {
        true => Some(Vec3x4::from_lanes(simd, each!(Vec3::ZERO; LANES; i => pole(i)))),
        false => None,
    }
}

/// The model matrices of the end joints, turned, in the middle joints' subtrees, which `back` turns back.
#[inline(always)]
fn turned_ends<S: Simd>(
    simd: S,
    all: ByLane<'_, Aimed<'_>>,
    models: &[RowOfFour; 3],
    back: Mat3x4<S>,
    model: Mat3x4<S>,
) -> Mat3x4<S> {
    let (turns, follows) = turns_of_ends(all, models);
    let turned = back * (wide(simd, &turns).0 * model);
    let follows = mask32x4::from_bitmask(simd, follows);
    Mat3s(each!(model.0[0]; 3; c => Vec3x4::select(follows, model.0[c], turned.0[c])))
}

/// The turns of the end joints in model space, and the lanes whose end joints follow the middle ones instead, as bits.
#[inline(never)]
fn turns_of_ends(all: ByLane<'_, Aimed<'_>>, models: &[RowOfFour; 3]) -> ([RowOfFour; 3], u64) {
    let mut rows = [[0.0; 4 * LANES]; 3];
    let mut follows = 0;
    for (i, Aimed { chain, target }) in all.into_iter().enumerate() {
        let lane = i * 4..i * 4 + 4;
        let mut model = Affine3x4::IDENTITY;
        for (row, rows) in model.rows.iter_mut().zip(models) {
            row.copy_from_slice(&rows[lane.clone()]);
        }
        let turn = affine(chain.turn_of_end(&model, target), Vec3::ZERO);
        for (row, rows) in turn.rows.iter().zip(&mut rows) {
            rows[lane.clone()].copy_from_slice(row);
        }
        let turns = chain.end_rotation == EndRotation::Keep || target.turns();
        follows |= u64::from(!turns) << i;
    }
    (rows, follows)
}

/// Finds chains in a pose.
fn find(posed: &mut [Posed; 3], chains: &Chains<'_>, pose: &PoseMut<'_>) {
    let mut above = (None, Affine3x4::IDENTITY);
    for i in 0..chains.len {
        let Some(Aimed { chain, .. }) = chains.all[i] else { return };
        // Legs have the same parent.
        let parent = pose.parent(chain.upper.into());
        if above.0 != Some(parent) {
            above = (Some(parent), parent.map_or(Affine3x4::IDENTITY, |parent| pose.model(parent)));
        }
        let mut model = above.1;
        let paths = [std::slice::from_ref(&chain.upper), &chain.to_middle, &chain.to_end];
        let mut at = 0;
        while at < 3 {
            let posed = &mut posed[at];
            for &joint in paths[at] {
                let lane = pose.lane(joint.into());
                let local = pose.local_of(lane, joint.into());
                set(&mut posed.above, i, &model);
                posed.lanes[i] = lane;
                let [x, y, z] = &local.rows;
                posed.translation[0][i] = x[3];
                posed.translation[1][i] = y[3];
                posed.translation[2][i] = z[3];
                model = model * local;
            }
            set(&mut posed.model, i, &model);
            at += 1;
        }
    }
}

#[inline(always)]
fn set(rows: &mut [RowOfFour; 3], i: usize, matrix: &Affine3x4) {
    let [x, y, z] = rows;
    x.as_chunks_mut::<4>().0[i] = matrix.rows[0];
    y.as_chunks_mut::<4>().0[i] = matrix.rows[1];
    z.as_chunks_mut::<4>().0[i] = matrix.rows[2];
}

/// Sets the local matrices of the joints of the first `len` chains that bend.
#[inline(always)]
fn put<S: Simd>(
    simd: S,
    pose: &mut PoseMut<'_>,
    local: Mat3x4<S>,
    posed: &Posed,
    (len, bends): (usize, u64),
) {
    let [x, y, z] = local.0;
    let mut rows = [[0.0; 4 * LANES]; 3];
    let mut r = 0;
    while r < 3 {
        let last = f32x4::load_array_ref(simd, &posed.translation[r]);
        simd.store_four_interleaved_f32x4([x.0[r], y.0[r], z.0[r], last], &mut rows[r]);
        r += 1;
    }
    let [x, y, z] = rows.each_ref().map(|row| row.as_chunks::<4>().0);
    for i in 0..len {
        if bends >> i & 1 == 1 {
            pose.put(posed.lanes[i], [&x[i], &y[i], &z[i]]);
        }
    }
}

impl Aimed<'_> {
    /// Whether the end joint does not keep its rotation in model space.
    fn turns_end(&self) -> bool {
        self.chain.end_rotation == EndRotation::Follow || self.target.turns()
    }
}

impl IkTarget {
    /// Whether the target says how the end joint is turned.
    fn turns(&self) -> bool {
        self.rotation.is_some() || self.normal.is_some()
    }
}

impl Chain {
    /// The rotation of the end joint's subtree in model space, unless it follows the middle joint.
    fn turn_of_end(&self, model: &Affine3x4, target: &IkTarget) -> Mat3A {
        let turn = match (target.rotation, target.normal) {
            (Some(to), _) => to * rotation(model).inverse(),
            (None, Some(normal)) => arc(model.transform_vector3(self.normal_axis), normal),
            _ => return Mat3A::IDENTITY,
        };
        Mat3A::from_quat(match target.weight < 1.0 {
            true => part(near(turn), target.weight),
            false => turn,
        })
    }
}

/// The linear parts and the translations of four matrices.
#[inline(always)]
fn wide<S: Simd>(simd: S, rows: &[RowOfFour; 3]) -> (Mat3x4<S>, Vec3x4<S>) {
    let x = simd.load_four_interleaved_f32x4(&rows[0]);
    let y = simd.load_four_interleaved_f32x4(&rows[1]);
    let z = simd.load_four_interleaved_f32x4(&rows[2]);
    let [a, b, c, d] = each!(Vec3s([x[0]; 3]); 4; c => Vec3s([x[c], y[c], z[c]]));
    (Mat3s([a, b, c]), d)
}

/// The shortest rotation from one direction to another; none if either has no length.
fn arc(from: Vec3, to: Vec3) -> Quat {
    match (from.try_normalize(), to.try_normalize()) {
        (Some(from), Some(to)) => Quat::from_rotation_arc(from, to),
        _ => Quat::IDENTITY,
    }
}
