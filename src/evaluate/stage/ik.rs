//! Two-bone inverse kinematics on the pose of an instance.

use super::two_bone::TwoBone;
use super::{PoseMut, near, rotation};
use crate::math::Affine3x4;
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

impl Chain {
    /// Bends the chain of an instance.
    pub fn bend(&self, pose: &mut PoseMut<'_>, target: &IkTarget) {
        let (Some(&middle), Some(&end)) = (self.to_middle.last(), self.to_end.last()) else {
            return;
        };
        let [upper, middle, end] = [self.upper, middle, end].map(usize::from);
        let above_upper = pose.above(upper);
        let upper_model = above_upper * pose.local(upper);
        let (above_middle, middle_model) = down(pose, upper_model, &self.to_middle);
        let (above_end, end_model) = down(pose, middle_model, &self.to_end);
        let positions = [upper_model, middle_model, end_model].map(|m| m.translation());
        let pole = match self.pole {
            Pole::Animated => None,
            Pole::Direction(direction) => Some(direction),
            Pole::Joint(joint) => Some(pose.model(joint).translation() - positions[0]),
        };
        let chain = TwoBone {
            upper: positions[0],
            middle: positions[1],
            end: positions[2],
            target: target.position,
            pole,
            axis: upper_model.transform_vector3(self.axis),
            soft: self.soft,
            stretch: self.stretch,
            twist: self.twist,
            weight: target.weight,
        };
        let Some(bent) = chain.solve() else {
            return;
        };
        let wanted = match (target.rotation, target.normal) {
            (Some(to), _) => to * rotation(&end_model).inverse(),
            (None, Some(normal)) => {
                let axis = end_model.transform_vector3(self.normal_axis);
                arc(axis, normal)
            }
            _ => Quat::IDENTITY,
        };
        let end_turn = match self.end_rotation {
            EndRotation::Follow if target.rotation.is_none() && target.normal.is_none() => {
                bent.middle
            }
            _ => Mat3A::from_quat(Quat::IDENTITY.slerp(near(wanted), target.weight)),
        };
        let turned = |joint: usize, above: &Affine3x4, model: &Affine3x4, by: Mat3A| {
            (joint, pose.turned(joint, (above, model), by))
        };
        let by = bent.upper.transpose() * bent.middle;
        let end_by = bent.middle.transpose() * end_turn;
        let locals = [
            turned(upper, &above_upper, &upper_model, bent.upper),
            turned(middle, &above_middle, &middle_model, by),
            turned(end, &above_end, &end_model, end_by),
        ];
        // Where one joint cannot be turned, none is.
        if locals.iter().any(|(_, local)| !local.is_finite()) {
            return;
        }
        locals.iter().for_each(|(joint, local)| pose.set_local(*joint, local));
        if bent.stretch != 1.0 {
            for &joint in self.to_middle.iter().chain(&self.to_end) {
                let mut local = pose.local(joint.into());
                local.rows.iter_mut().for_each(|row| row[3] *= bent.stretch);
                pose.set_local(joint.into(), &local);
            }
        }
    }
}

/// The model matrices of the parent of the last of `joints`, and of the last, below a joint with the model matrix
/// `from`.
fn down(pose: &PoseMut<'_>, from: Affine3x4, joints: &[u16]) -> (Affine3x4, Affine3x4) {
    let (mut above, mut model) = (from, from);
    for &joint in joints {
        above = model;
        model = above * pose.local(joint.into());
    }
    (above, model)
}

/// The shortest rotation from one direction to another; none if either has no length.
fn arc(from: Vec3, to: Vec3) -> Quat {
    match (from.try_normalize(), to.try_normalize()) {
        (Some(from), Some(to)) => Quat::from_rotation_arc(from, to),
        _ => Quat::IDENTITY,
    }
}
