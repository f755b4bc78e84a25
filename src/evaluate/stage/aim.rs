//! Looks at a target: joints of a chain turn one after another, each by its share of what is left.
//!
//! All turns are of whole subtrees in model space, so scales of any kind keep their lengths. They are reckoned before the
//! turns of the joints above: with `T` what those turn together, a joint turns by `T · R · T⁻¹`, and its local matrix
//! changes by `R` alone.

use super::angle::{angle, sin_cos};
use super::{IkTarget, PoseMut, affine, linear};
use crate::math::Affine3x4;
use glam::{Affine3A, Mat3A, Vec2, Vec3, Vec3A};

/// The most joints that turn.
pub(crate) const MAX_TURNS: usize = 16;
/// As many as a look usually has.
const FEW: usize = 4;

/// A chain of joints, and how they turn.
#[derive(Clone, Debug)]
pub(crate) struct Aim {
    /// The joints from a root down to the one that looks.
    pub path: Box<[u16]>,
    pub turns: Box<[Turn]>,
    pub axes: Axes,
    /// Direction of model space to which the up axis is turned.
    pub up: Option<Vec3>,
    pub limit: Limit,
    /// If the speed is limited.
    pub follow: Option<Follow>,
}

/// A joint that turns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    /// Its place in the path.
    pub place: usize,
    /// The part that it takes of what the joints above have left; 1 of the joint that looks.
    pub share: f32,
}

/// Axes of the joint that looks, in its space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axes {
    pub forward: Vec3A,
    pub up: Vec3A,
}

/// The largest angle between the animated direction and a look, and how it is approached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    limit: f32,
    sin_cos: (f32, f32),
    /// The angle from which a look is turned less than is wanted, and its cosine.
    begins: f32,
    cos_begins: f32,
    /// 1 by what remains up to the limit; 0 if nothing does.
    per_rest: f32,
}

/// What a look of limited speed is compared with: the joint in the rest pose.
#[derive(Clone, Debug)]
pub(crate) struct Follow {
    /// The largest angular speed, radians per second.
    pub speed: f32,
    limit: Limit,
    origin: Vec3,
    frame: Frame,
    /// Model matrices of all joints in the rest pose.
    models: Box<[Affine3A]>,
}

/// Where a look of limited speed has got to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Gaze {
    /// Up and aside of forward. Its length is the angle, radians.
    pub at: Vec2,
    /// The part of the pose's differences from the rest pose that the look heeds, 0 when it starts.
    pub share: f32,
}

/// How a look differs from what is wanted: `share` of that, and `by`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lag {
    by: Vec2,
    share: f32,
}

/// Directions of a joint in model space, each across the others.
#[derive(Clone, Copy, Debug)]
struct Frame {
    forward: Vec3A,
    up: Vec3A,
    side: Vec3A,
}

impl Aim {
    /// Turns the joints of an instance.
    pub fn turn(&self, pose: &mut PoseMut<'_>, target: &IkTarget, lag: Option<Lag>) {
        let none = Room::default();
        match self.turns.len() {
            0..=FEW => self.turn_with(pose, target, lag, &mut [none; FEW]),
            _ => self.turn_with(pose, target, lag, &mut [none; MAX_TURNS]),
        }
    }

    /// Turns with room for what is known of each joint.
    fn turn_with(
        &self,
        pose: &mut PoseMut<'_>,
        target: &IkTarget,
        lag: Option<Lag>,
        rooms: &mut [Room],
    ) {
        let mut model = Affine3x4::IDENTITY;
        let mut turns = self.turns.iter().zip(&mut *rooms);
        let mut next = turns.next();
        for (place, &joint) in self.path.iter().enumerate() {
            let (above, local) = (model, pose.local(joint.into()));
            model = if place == 0 { local } else { above * local };
            if let Some((_, room)) = next.as_mut().filter(|(turn, _)| turn.place == place) {
                **room = Room { above, model, translation: local.translation() };
                next = turns.next();
            }
        }
        let look = linear(&model);
        let Some(forward) = (look * self.axes.forward).try_normalize() else {
            return;
        };
        let eye = model.translation();
        let mut turned = Mat3A::IDENTITY;
        // The last joint as it was animated, and where it is now.
        let mut last = [Vec3A::ZERO; 2];
        for (n, (turn, room)) in self.turns.iter().zip(&*rooms).enumerate() {
            let from = Vec3A::from(room.model.translation());
            let to = if n == 0 { from } else { last[1] + turned * (from - last[0]) };
            last = [from, to];
            let eye = to + turned * (Vec3A::from(eye) - from);
            let line = Vec3A::from(target.position) - eye;
            let frame = || Frame::new(forward, &look, &self.axes);
            let looks = n + 1 == self.turns.len();
            let share = if looks { 1.0 } else { turn.share };
            // The first joint's share is of the whole angle; those below have turned already.
            let first = if n == 0 { share } else { 1.0 };
            let mut wanted = self.wanted(forward, &look, line, lag, (target.weight, first));
            if n > 0 {
                wanted = turned.transpose() * wanted;
                if !looks {
                    let (angle, aside) = polar(forward, wanted, || frame().side);
                    wanted = polar_direction(forward, aside, share * angle);
                }
            }
            let mut by = arc(forward, wanted, || frame().up);
            if let Some(up) = target.normal.or(self.up).filter(|_| looks) {
                let now = by * (look * self.axes.up);
                let up = turned.transpose() * Vec3A::from(up);
                by = roll(by * forward, now, up, target.weight) * by;
            }
            let joint = usize::from(self.path[turn.place]);
            let (above, model) = (linear(&room.above), linear(&room.model));
            let local = affine(above.inverse() * (by * model), room.translation);
            // A joint below a scale of 0 stays.
            if local.is_finite() {
                pose.set_local(joint, &local);
                turned *= by;
            }
        }
    }

    /// The direction in which a joint looks that looks `forward` as animated, with a target along `line`, a weight, and a
    /// share of the turn.
    #[inline]
    fn wanted(
        &self,
        forward: Vec3A,
        look: &Mat3A,
        line: Vec3A,
        lag: Option<Lag>,
        (weight, share): (f32, f32),
    ) -> Vec3A {
        let length = line.length();
        let known = length > 0.0 && length < f32::INFINITY;
        // Angles do not need its length: few steps have to wait for that.
        let (to, length) = if known { (line, length) } else { (forward, 1.0) };
        let whole = weight >= 1.0 && share >= 1.0 && lag.is_none();
        if whole && to.dot(forward) >= self.limit.cos_begins * length {
            return to / length;
        }
        let frame = || Frame::new(forward, look, &self.axes);
        if whole && self.limit.begins == self.limit.limit {
            let (sin, cos) = self.limit.sin_cos;
            return forward * cos + aside(forward, to, || frame().side).0 * sin;
        }
        let (angle, mut aside) = polar(forward, to, || frame().side);
        let mut angle = self.limit.soften(angle);
        if let Some(lag) = lag {
            let Frame { up, side, .. } = frame();
            let at = Vec2::new(aside.dot(up), aside.dot(side)) * (angle * lag.share) + lag.by;
            angle = at.length();
            if angle > 0.0 {
                aside = (up * at.x + side * at.y) / angle;
            }
            angle = angle.min(self.limit.limit);
        }
        polar_direction(forward, aside, angle * (weight * share))
    }
}

/// What is known of a joint that turns: model matrices of its parent and of itself, and its local translation.
#[derive(Clone, Copy, Default)]
struct Room {
    above: Affine3x4,
    model: Affine3x4,
    translation: Vec3,
}

impl Limit {
    /// `soft` is the share of the limit over which a look slows down.
    pub fn new(limit: f32, soft: f32) -> Self {
        let limit = limit.min(std::f32::consts::PI);
        let begins = limit * (1.0 - soft);
        // At half a turn a rounded cosine is no bound.
        let cos_begins = if begins >= std::f32::consts::PI { -2.0 } else { sin_cos(begins).1 };
        let per_rest = if limit > begins { 1.0 / (limit - begins) } else { 0.0 };
        Self { limit, sin_cos: sin_cos(limit), begins, cos_begins, per_rest }
    }

    /// An angle within the limit: as it is up to where the limit begins, then ever less of it. Slopes are continuous.
    fn soften(&self, angle: f32) -> f32 {
        let beyond = angle - self.begins;
        if beyond <= 0.0 || self.per_rest == 0.0 {
            return angle.min(self.limit);
        }
        let over = beyond * self.per_rest;
        self.begins + beyond / (1.0 + over * over).sqrt()
    }
}

impl Follow {
    /// `None` if the joint has no forward axis in the rest pose.
    pub fn new(
        (speed, limit): (f32, Limit),
        joint: usize,
        axes: &Axes,
        models: Vec<Affine3A>,
    ) -> Option<Self> {
        let model = models.get(joint)?;
        let forward = (model.matrix3 * axes.forward).try_normalize()?;
        let frame = Frame::new(forward, &model.matrix3, axes);
        let origin = model.translation.into();
        Some(Self { speed, limit, origin, frame, models: models.into() })
    }

    /// The model matrix of a joint in the rest pose.
    pub fn model(&self, joint: usize) -> Affine3A {
        self.models.get(joint).copied().unwrap_or_default()
    }

    /// Where the joint would look in the rest pose.
    pub fn wanted(&self, target: Vec3) -> Vec2 {
        let Frame { forward, up, side } = self.frame;
        let to = Vec3A::from(target - self.origin).try_normalize().unwrap_or(forward);
        let (angle, aside) = polar(forward, to, || side);
        Vec2::new(aside.dot(up), aside.dot(side)) * self.limit.soften(angle)
    }
}

impl Gaze {
    /// Moves towards what is wanted, by at most an angle. As the length of `at` is an angle about forward, no step is
    /// longer on the sphere than here, and a straight way between two looks stays within the limit.
    pub fn step(&mut self, wanted: Vec2, most: f32) {
        let way = wanted - self.at;
        let length = way.length();
        self.at = if length <= most { wanted } else { self.at + way * (most / length) };
        self.share = (self.share + most).min(1.0);
    }

    /// `None` if the look is what is wanted.
    pub fn lag(&self, wanted: Vec2) -> Option<Lag> {
        let lags = self.at != wanted || self.share < 1.0;
        lags.then(|| Lag { by: self.at - wanted * self.share, share: self.share })
    }
}

impl Frame {
    /// The frame of a joint that looks forward, with the linear part of its model matrix.
    fn new(forward: Vec3A, look: &Mat3A, axes: &Axes) -> Self {
        let up = look * axes.up;
        let up = up - forward * forward.dot(up);
        let up = up.try_normalize().unwrap_or_else(|| forward.any_orthonormal_vector());
        Self { forward, up, side: forward.cross(up) }
    }
}

/// The part of a vector across a direction, as a direction, and the lengths across and along. Where nothing is across, it
/// is `or`.
#[inline]
fn aside(from: Vec3A, to: Vec3A, or: impl FnOnce() -> Vec3A) -> (Vec3A, [f32; 2]) {
    let along = from.dot(to);
    let aside = to - from * along;
    let sine = aside.length();
    (if sine > 1e-6 * along.abs() { aside / sine } else { or() }, [sine, along])
}

/// The angle from a direction to a vector, and the direction across the first to which it turns.
#[inline]
fn polar(from: Vec3A, to: Vec3A, or: impl FnOnce() -> Vec3A) -> (f32, Vec3A) {
    let (aside, [sine, along]) = aside(from, to, or);
    (angle(sine, along), aside)
}

fn polar_direction(forward: Vec3A, aside: Vec3A, angle: f32) -> Vec3A {
    let (sin, cos) = sin_cos(angle);
    forward * cos + aside * sin
}

/// The rotation about a direction.
fn about(axis: Vec3A, (sin, cos): (f32, f32)) -> Mat3A {
    let (s, v) = (axis * sin, axis * (1.0 - cos));
    Mat3A::from_cols(
        v * axis.x + Vec3A::new(cos, s.z, -s.y),
        v * axis.y + Vec3A::new(-s.z, cos, s.x),
        v * axis.z + Vec3A::new(s.y, -s.x, cos),
    )
}

/// The shortest rotation from one direction to another (Rodrigues); about `or` if they are opposite.
#[inline]
pub(super) fn arc(from: Vec3A, to: Vec3A, or: impl FnOnce() -> Vec3A) -> Mat3A {
    let (axis, cos) = (from.cross(to), from.dot(to));
    if cos < -0.9 {
        // The axis as a direction: 1 + cos is rounded.
        let sine = axis.length();
        let axis = if sine > 1e-6 { axis / sine } else { or() };
        return about(axis, (sine, cos));
    }
    let v = axis / (1.0 + cos);
    Mat3A::from_cols(
        v * axis.x + Vec3A::new(cos, axis.z, -axis.y),
        v * axis.y + Vec3A::new(-axis.z, cos, axis.x),
        v * axis.z + Vec3A::new(axis.y, -axis.x, cos),
    )
}

/// The turn about a direction that brings one axis nearest to another; none if either is along the direction.
fn roll(about_axis: Vec3A, from: Vec3A, to: Vec3A, weight: f32) -> Mat3A {
    let across = |v: Vec3A| {
        let v = v.try_normalize()?;
        let across = v - about_axis * about_axis.dot(v);
        (across.length() > 1e-3).then(|| across.normalize())
    };
    let (Some(from), Some(to)) = (across(from), across(to)) else {
        return Mat3A::IDENTITY;
    };
    let (sine, cos) = (from.cross(to).dot(about_axis), from.dot(to));
    if weight >= 1.0 {
        return about(about_axis, (sine, cos));
    }
    let (sin, cos) = sin_cos(angle(sine.abs(), cos) * weight);
    about(about_axis, (sin.copysign(sine), cos))
}
