//! The stage between blending and the hierarchy, where an instance's pose is changed: overrides first, then its active
//! modifiers, through a view of the worker's scratch (`PoseMut`).

mod aim;
mod angle;
mod contacts;
mod feet;
mod ik;
mod lanes3;
mod springs;
mod two_bone;
mod vec3s;

pub(crate) use aim::{Aim, Axes, Follow, Gaze, Lag, Limit, MAX_TURNS, Turn};
pub(crate) use contacts::{CONTACT_FADE, Contacts};
pub(crate) use feet::{Feet, Footing, Leg, MAX_FEET};
pub(crate) use ik::{Chain, Chains, IkTarget};
pub use ik::{EndRotation, Pole};
pub(crate) use springs::{Springs, Steps, Tails};

use super::offsets::Offsets;
use super::scratch::{ActionInput, JointOverride, LayerInput, Replaces, Sources};
use super::tables::{ROTATION, SCALE, TRANSLATION, UnitSet, scratch_row};
use crate::math::{Affine3x4, Row};
use crate::skeleton::Trs;
use crate::skeleton::limits::check_set;
use fearless_simd::Level;
use glam::{Affine3A, Mat3A, Quat, Vec3, Vec3A};

/// Rows of 16 lanes of a given pose: translations, rotations, scales.
pub(crate) const POSE_ROWS: usize = 10;

/// A pose of the host, which is blended with that of the clips.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given<'a> {
    /// [`POSE_ROWS`] for every 16 lanes. Rotations have length 1.
    pub rows: &'a [Row],
    /// Above 0, at most 1.
    pub weight: f32,
    /// Whether all scales are known to be 1.
    pub even: bool,
}

/// The modifiers of a pool.
pub(crate) trait Modify: Sync {
    /// The pose that the host gives an instance; `None` if its weight is 0.
    fn given(&self, index: usize) -> Option<Given<'_>>;

    /// Changes the pose of an instance after its overrides.
    fn modify(&self, index: usize, pose: &mut PoseMut<'_>);
}

/// What a modifier does to a pose.
#[derive(Debug)]
pub(crate) enum Change {
    Ik(Chain),
    Aim(Aim),
    Feet(Feet),
    Springs(Springs),
    /// The host's code does it.
    Hook,
}

impl Change {
    /// What a look of limited speed follows.
    pub fn follow(&self) -> Option<&Follow> {
        match self {
            Self::Aim(aim) => aim.follow.as_ref(),
            Self::Ik(_) | Self::Feet(_) | Self::Springs(_) | Self::Hook => None,
        }
    }
}

/// The changes to one instance's pose.
#[derive(Clone, Copy, Default)]
pub(crate) struct Stage<'a> {
    /// The overrides, in ascending order of joints.
    pub overrides: &'a [JointOverride],
    /// The modifiers, and the index of the instance; `None` if none is active.
    pub modifiers: Option<(&'a dyn Modify, usize)>,
    /// One more than the last lane of a joint that modifiers may change, or from which its model matrix follows.
    pub lanes: usize,
    /// True to stop before the modifiers.
    pub stops: bool,
    /// The pool of the offsets of layers, which are applied before all that; `None` if no layer has one.
    pub offsets: Option<&'a Offsets>,
}

impl Stage<'_> {
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.overrides.is_empty() && self.modifiers.is_none()
    }

    /// The pose that is blended with that of the clips before all else.
    #[inline(always)]
    pub fn given(&self) -> Option<Given<'_>> {
        self.modifiers.and_then(|(by, index)| by.given(index))
    }

    /// Changes a pose.
    #[inline(never)]
    pub fn run(&self, pose: &mut PoseMut<'_>) {
        pose.changed.fill(0);
        if self.stops {
            return;
        }
        for by in self.overrides {
            match (by.weight >= 1.0, by.replaces) {
                (true, Replaces::Local) => pose.set_local(by.joint.into(), &by.matrix),
                _ => pose.override_partly(by),
            }
        }
        if let Some((by, index)) = self.modifiers {
            by.modify(index, pose);
        }
    }
}

/// The pose of an instance in a worker's scratch: local matrices of the joints that the run moves, all others constant.
pub(crate) struct PoseMut<'a> {
    /// The level at which the instance is evaluated.
    pub level: Level,
    pub sources: Sources<'a>,
    /// Lanes and parents by joint.
    pub lane_of: &'a [u16],
    pub parents: &'a [u16],
    /// What the instance plays.
    pub layers: &'a [LayerInput],
    pub actions: &'a [ActionInput],
    /// The registers of the blended pose, those of its constants, and the units that come from the first.
    pub pose: &'a [f32],
    pub constants: [&'a [f32]; 3],
    pub varying: UnitSet,
    /// Local matrices of the first lanes.
    pub locals: &'a mut [[f32; 4]],
    /// The number of lanes whose local matrices are read by the walk.
    pub moving: usize,
    /// The lanes whose local matrices the stage has changed, as bits.
    pub changed: &'a mut [u64],
}

impl PoseMut<'_> {
    pub fn reborrow(&mut self) -> PoseMut<'_> {
        PoseMut { locals: self.locals, changed: self.changed, ..*self }
    }

    #[inline]
    pub fn lane(&self, joint: usize) -> usize {
        self.lane_of[joint].into()
    }

    /// The parent of a joint; `None` for a root.
    #[inline]
    pub fn parent(&self, joint: usize) -> Option<usize> {
        let parent = usize::from(self.parents[joint]);
        (parent < self.parents.len()).then_some(parent)
    }

    /// The blended local transform of a joint, without overrides and modifiers.
    #[inline(always)]
    pub fn blended(&self, joint: usize) -> Trs {
        let (units, lane) = (&self.sources.program.units, self.lane(joint));
        let n = units.width;
        // The width is a power of two.
        let (group, lane) = (lane >> n.trailing_zeros(), lane & (n - 1));
        let unit = group as u32 >> units.shift;
        let of = |channel: usize| {
            let varies = self.varying.contains(channel, unit);
            let from = if varies { self.pose } else { self.constants[channel] };
            &from[units.offset(channel, group) + lane..]
        };
        // No arrays in between: a register that is read from elements just stored has to wait for them.
        let (t, r, s) = (of(TRANSLATION), of(ROTATION), of(SCALE));
        let rotation = Quat::from_xyzw(r[0], r[n], r[2 * n], r[3 * n]);
        let length = rotation.length();
        Trs {
            translation: Vec3::new(t[0], t[n], t[2 * n]),
            rotation: if length > 0.0 { rotation / length } else { Quat::IDENTITY },
            scale: Vec3::new(s[0], s[n], s[2 * n]),
        }
    }

    /// The local transform of a joint as it is now. A matrix with shear, which turns of joints below scales can give,
    /// loses it.
    #[inline]
    pub fn local_trs(&self, joint: usize) -> Trs {
        let (blended, lane) = (self.blended(joint), self.lane(joint));
        match self.changed[lane / 64] >> (lane % 64) & 1 == 1 {
            // Number by number, so that those of the other arm stay in registers.
            true => parts(&self.local(joint), blended.scale).to_array().into(),
            false => blended,
        }
    }

    /// The local matrix of a joint as it is now.
    #[inline]
    pub fn local(&self, joint: usize) -> Affine3x4 {
        self.local_of(self.lane(joint), joint)
    }

    /// The local matrix of a joint that the run does not move.
    #[cold]
    fn constant(&self, joint: usize) -> Affine3x4 {
        self.blended(joint).into()
    }

    #[inline]
    fn local_of(&self, lane: usize, joint: usize) -> Affine3x4 {
        if lane >= self.moving {
            return self.constant(joint);
        }
        let n = self.sources.program.units.width;
        let rows = &self.locals[scratch_row(lane, n) as usize..];
        Affine3x4 { rows: [rows[0], rows[n], rows[2 * n]] }
    }

    /// Sets the local matrix of a joint, if it is finite. Joints that the run does not move stay.
    pub fn set_local(&mut self, joint: usize, local: &Affine3x4) {
        if local.is_finite() {
            self.put(self.lane(joint), local.rows.each_ref());
        }
    }

    /// Sets the local matrix of a lane, which is finite.
    #[inline]
    pub fn put(&mut self, lane: usize, rows: [&[f32; 4]; 3]) {
        if lane < self.moving {
            let n = self.sources.program.units.width;
            let to = &mut self.locals[scratch_row(lane, n) as usize..];
            (to[0], to[n], to[2 * n]) = (*rows[0], *rows[1], *rows[2]);
            self.changed[lane / 64] |= 1 << (lane % 64);
        }
    }

    /// The model matrix of a joint as it is now.
    pub fn model(&self, joint: usize) -> Affine3x4 {
        let mut model = self.local(joint);
        let mut at = joint;
        while let Some(parent) = self.parent(at) {
            model = self.local(parent) * model;
            at = parent;
        }
        model
    }

    /// The model matrix of a joint's parent; the identity for a root.
    pub fn above(&self, joint: usize) -> Affine3x4 {
        self.parent(joint).map_or(Affine3x4::IDENTITY, |parent| self.model(parent))
    }

    /// The local matrix of a joint whose subtree is turned about the joint, by a rotation in model space, with the model
    /// matrices of its parent and of itself. If the parent's has no inverse, the result is not finite.
    pub fn turned(
        &self,
        joint: usize,
        (above, model): (&Affine3x4, &Affine3x4),
        by: Mat3A,
    ) -> Affine3x4 {
        let turned = linear(above).inverse() * (by * linear(model));
        affine(turned, self.local(joint).translation())
    }

    /// Applies an override that has a weight below 1, or that is in model space.
    #[inline(never)]
    pub fn override_partly(&mut self, by: &JointOverride) {
        let (joint, weight) = (usize::from(by.joint), by.weight);
        if by.replaces == Replaces::Local {
            let from = self.blended(joint);
            let to = parts(&by.matrix, from.scale);
            let mixed = Trs {
                translation: from.translation.lerp(to.translation, weight),
                rotation: from.rotation.lerp(to.rotation, weight).normalize(),
                scale: from.scale.lerp(to.scale, weight),
            };
            return self.set_local(joint, &mixed.into());
        }
        let above = self.above(joint);
        let model = above * self.local(joint);
        if by.replaces == Replaces::ModelRotation {
            let turn = rotation(&by.matrix) * rotation(&model).inverse();
            let turn = Mat3A::from_quat(angle::part(near(turn), weight));
            return self.set_local(joint, &self.turned(joint, (&above, &model), turn));
        }
        let model = if weight < 1.0 { mixed(&model, &by.matrix, weight) } else { by.matrix };
        let local = beneath(&above, &model);
        // Otherwise the joint stays as it is animated.
        if let Some(local) = local.filter(|local| weight > 0.0 && check_set(local).is_ok()) {
            self.set_local(joint, &local);
        }
    }
}

/// The local matrix that gives a model matrix below that of a parent; `None` if the parent's has no inverse.
pub(crate) fn beneath(above: &Affine3x4, model: &Affine3x4) -> Option<Affine3x4> {
    let (above, model) = (Affine3A::from(*above), Affine3A::from(*model));
    let inverse = above.matrix3.inverse();
    // The difference first: far from the origin an inverse's translation is rounded more.
    let translation = inverse * (model.translation - above.translation);
    let local = Affine3A { matrix3: inverse * model.matrix3, translation };
    inverse.is_finite().then(|| local.into())
}

/// A matrix between two: their rotations are blended along the shorter arc, translations and what is left of the linear
/// parts without the rotations linearly.
fn mixed(from: &Affine3x4, to: &Affine3x4, weight: f32) -> Affine3x4 {
    let (a, b) = (rotation(from), rotation(to));
    let [of_a, of_b] = [(a, from), (b, to)].map(|(q, m)| Mat3A::from_quat(q.inverse()) * linear(m));
    let turn = Mat3A::from_quat(a.lerp(b, weight).normalize());
    let linear = turn * (of_a * (1.0 - weight) + of_b * weight);
    affine(linear, from.translation().lerp(to.translation(), weight))
}

/// The rotation of at most half a turn.
fn near(q: Quat) -> Quat {
    if q.w < 0.0 { -q } else { q }
}

/// The linear part of a matrix.
#[inline]
pub(super) fn linear(m: &Affine3x4) -> Mat3A {
    Affine3A::from(*m).matrix3
}

#[inline]
pub(super) fn affine(linear: Mat3A, translation: Vec3) -> Affine3x4 {
    Affine3A { matrix3: linear, translation: translation.into() }.into()
}

/// The rotation of a matrix: its first two columns made orthonormal, of a mirroring matrix those of its negative.
pub(crate) fn rotation(m: &Affine3x4) -> Quat {
    let m = linear(m);
    let sign = if m.determinant() < 0.0 { -1.0 } else { 1.0 };
    let x = (m.x_axis * sign).normalize_or(Vec3A::X);
    let y = m.y_axis * sign;
    let y = (y - x * x.dot(y)).normalize_or(x.any_orthonormal_vector());
    Quat::from_mat3a(&Mat3A::from_cols(x, y, x.cross(y))).normalize()
}

/// The translation, rotation and scale of a matrix without shear. Its scale has the signs of `like`, if those mirror as
/// it does; otherwise a mirroring matrix is mirrored along x.
fn parts(m: &Affine3x4, like: Vec3) -> Trs {
    let l = linear(m);
    let mirrors = l.determinant() < 0.0;
    let signs = like.to_array().map(|v| if v < 0.0 { -1.0 } else { 1.0 });
    let signs = match mirrors == (signs.iter().product::<f32>() < 0.0) {
        true => Vec3::from_array(signs),
        false => Vec3::new(if mirrors { -1.0 } else { 1.0 }, 1.0, 1.0),
    };
    let lengths = Vec3::new(l.x_axis.length(), l.y_axis.length(), l.z_axis.length());
    let scale = lengths * signs;
    let axis = |axis: Vec3A, by: f32| (by != 0.0).then(|| axis / by);
    let axes = [axis(l.x_axis, scale.x), axis(l.y_axis, scale.y), axis(l.z_axis, scale.z)];
    let rotation = Quat::from_mat3a(&basis(axes)).normalize();
    Trs { translation: m.translation(), rotation, scale }
}

/// The rotation with these axes; unknown ones are perpendicular to the others.
fn basis(axes: [Option<Vec3A>; 3]) -> Mat3A {
    let (x, y, z) = match axes {
        [Some(x), Some(y), Some(z)] => (x, y, z),
        [Some(x), Some(y), None] => (x, y, x.cross(y)),
        [Some(x), None, Some(z)] => (x, z.cross(x), z),
        [None, Some(y), Some(z)] => (y.cross(z), y, z),
        [Some(x), None, None] => {
            (x, x.any_orthonormal_vector(), x.cross(x.any_orthonormal_vector()))
        }
        [None, Some(y), None] => {
            (y.cross(y.any_orthonormal_vector()), y, y.any_orthonormal_vector())
        }
        [None, None, Some(z)] => {
            (z.any_orthonormal_vector(), z.cross(z.any_orthonormal_vector()), z)
        }
        [None, None, None] => (Vec3A::X, Vec3A::Y, Vec3A::Z),
    };
    Mat3A::from_cols(x, y, z)
}
