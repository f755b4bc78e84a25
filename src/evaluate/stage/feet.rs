//! Feet on the ground: the pelvis follows the lower foot, legs bend for the others, soles turn to the ground.
//!
//! All of it is in model space. A height of the ground over the instance's own is a way along `up`, the displacement by
//! which the model has to move for one unit along world y. Sines and cosines come from the tangent of half an angle.

use super::aim::arc;
use super::contacts::Contacts;
use super::{Chain, Chains, IkTarget, Pole, PoseMut, linear};
use crate::math::Affine3x4;
use glam::{Mat3A, Vec3, Vec3A};

/// The most feet of one modifier.
pub(crate) const MAX_FEET: usize = 8;

/// The legs of an instance, below one joint.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Feet {
    pub pelvis: u16,
    pub legs: Vec<Leg>,
    /// The farthest that the pelvis moves.
    pub reach: f32,
    /// Tangent of half the greatest angle by which a sole is turned.
    pub tilt: f32,
}

/// A leg.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Leg {
    pub chain: Chain,
    /// The joints below the pelvis, down to the ankle.
    pub path: Vec<u16>,
    /// The position of the ankle in the rest pose, and the height over it at which the foot no longer counts as on the
    /// ground, if its clip does not say.
    pub rest: Vec3,
    pub lift: f32,
}

/// The ground below a foot, in world space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Footing {
    /// Height over the instance's own ground.
    pub height: f32,
    /// Of any length.
    pub normal: Vec3,
}

impl Footing {
    /// Level ground on which the instance stands.
    pub const LEVEL: Self = Self { height: 0.0, normal: Vec3::Y };
}

impl Feet {
    /// The joints that stand on the ground.
    pub fn ankles(&self) -> impl Iterator<Item = u16> {
        self.legs.iter().filter_map(|leg| leg.path.last().copied())
    }

    /// Puts the feet of an instance on their grounds, in the order of the legs. `given` is the weight of a pose that the
    /// host has given.
    pub fn place(
        &self,
        pose: &mut PoseMut<'_>,
        (world, grounds): (&Affine3x4, &[Footing; MAX_FEET]),
        contacts: &Contacts,
        (weight, given): (f32, f32),
    ) {
        let world = linear(world);
        let up = world.inverse().y_axis;
        let unit = up.length();
        if !(unit > 0.0 && unit.is_finite()) {
            return;
        }
        let level = (world.transpose() * Vec3A::Y).normalize();
        let legs = || self.legs.iter().zip(grounds).enumerate();
        let lowest = legs().map(|(_, (_, ground))| ground.height).fold(f32::INFINITY, f32::min);
        let reach = self.reach / unit;
        let sinks = lowest.clamp(-reach, reach);
        let shift = up * (sinks * weight);
        let pelvis = usize::from(self.pelvis);
        let above = pose.above(pelvis);
        let local = pose.local(pelvis);
        if shift != Vec3A::ZERO {
            let to = local.translation() + Vec3::from(linear(&above).inverse() * shift);
            if !to.is_finite() {
                return;
            }
            pose.set_local(pelvis, &super::affine(linear(&local), to));
        }
        // The shift moves what is below the pelvis as a whole.
        let from = above * local;
        // Legs do not share joints, but the pole of one may be a joint of another.
        let mut chains = Chains::default();
        for (foot, (leg, ground)) in legs() {
            let rises = up * (ground.height - sinks);
            let turn = self.turn(ground.normal);
            let bends = rises != Vec3A::ZERO || !leg.chain.rests();
            let Some(&ankle) = leg.path.last().filter(|_| bends || turn.is_some()) else {
                continue;
            };
            let (mut above, mut model) = (from, from);
            for &joint in &leg.path {
                (above, model) = (model, model * pose.local(joint.into()));
            }
            if let Some((direction, tangent)) = turn {
                let height = || {
                    let raised = Vec3A::from(model.translation() - leg.rest).dot(up);
                    (1.0 - raised / (unit * leg.lift)).clamp(0.0, 1.0)
                };
                let share = contacts.share(pose, (foot, ankle.into()), given, height) * weight;
                if share > 0.0 {
                    let turn = sole(&world, level, (direction, tangent * share));
                    let ankle = usize::from(ankle);
                    let local = pose.turned(ankle, (&above, &model), turn);
                    pose.set_local(ankle, &local);
                }
            }
            if bends {
                let position = Vec3::from(Vec3A::from(model.translation()) + shift + rises);
                if !position.is_finite() {
                    continue;
                }
                let reads = matches!(leg.chain.pole, Pole::Joint(_));
                if reads || chains.len() == Chains::MOST {
                    chains.bend(pose);
                    chains = Chains::default();
                }
                let target = IkTarget { position, rotation: None, normal: None, weight };
                chains.add(&leg.chain, target);
            }
        }
        chains.bend(pose);
    }

    /// The direction across world y to which the ground falls, and the tangent of half the angle by which a sole turns to it;
    /// `None` for a level ground.
    fn turn(&self, normal: Vec3) -> Option<(Vec3, f32)> {
        let aside = (normal.x * normal.x + normal.z * normal.z).sqrt();
        let tangent = (aside / (normal.length() + normal.y)).min(self.tilt);
        // Of a ground that is seen from below the direction is not known.
        (aside > 0.0 && tangent > 0.0)
            .then(|| (Vec3::new(normal.x / aside, 0.0, normal.z / aside), tangent))
    }
}

/// The rotation in model space that turns the plane of level ground, whose normal there is `level`, to that of a ground.
/// Planes go with the transposed matrix.
fn sole(world: &Mat3A, level: Vec3A, (direction, tangent): (Vec3, f32)) -> Mat3A {
    let normal = direction * (2.0 * tangent) + Vec3::Y * (1.0 - tangent * tangent);
    let to = (world.transpose() * Vec3A::from(normal)).normalize();
    // Half a turn is beyond any limit; it can only come from a world that flattens.
    arc(level, to, || level.any_orthonormal_vector())
}

impl Chain {
    /// Whether the chain stays as it is if its end stays.
    fn rests(&self) -> bool {
        self.pole == Pole::Animated && self.twist == 0.0 && self.soft == 0.0
    }
}
