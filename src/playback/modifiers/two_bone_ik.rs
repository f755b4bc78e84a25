//! The definition of two-bone inverse kinematics.

use super::{Definition, Modifier, above, below, quoted, refused, unit};
use crate::evaluate::{Chain, Change, EndRotation, Pole};
use crate::math::Fnv1a;
use crate::playback::error::PlaybackError;
use crate::playback::options::check;
use crate::rig::Rig;
use crate::skeleton::Skeleton;
use glam::Vec3;

/// Inverse kinematics of two bones: a leg, an arm.
///
/// The upper and the middle joint are turned as wholes in model space, so that the end joint reaches the
/// [target](super::Target) of the instance. Bones keep their lengths in model space, whatever scales the joints above
/// have, unless [`stretch`](Self::stretch) is above 1. Angles follow from the law of cosines.
///
/// - A target out of reach: the chain points to it, and is straight unless [`soft`](Self::soft) keeps it bent.
/// - A target nearer than the difference of both lengths: the end stays at that distance.
/// - A target in the upper joint: the chain is folded in the direction that it had.
/// - A bone without a length: the chain stays as it is.
/// - A joint above the end with a scale of 0: the chain stays as it is.
///
/// ```
/// use phalanx::playback::{Mixer, Target, TwoBoneIk};
/// # #[cfg(feature = "gltf")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut mixer = Mixer::new(std::sync::Arc::new(phalanx::import::mannequin()?))?;
/// let hand = mixer.rig().skeleton().joint("RightHand")?;
/// let reach = mixer.add_modifier(TwoBoneIk::new(hand))?;
/// let target = glam::Vec3::new(-0.3, 1.2, 0.3);
/// mixer.player().set_target(reach, Target::model(target))?;
/// mixer.player().fade_modifier(reach, 1.0, 0.0)?;
/// let reached = mixer.model_matrix(hand)?.translation();
/// assert!(reached.distance(target) < 1e-4);
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "gltf"))]
/// # fn main() {}
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TwoBoneIk {
    /// Index of the joint that reaches the target.
    pub end: usize,
    /// Index of the joint that bends, above `end`. Default: the parent of `end`.
    pub middle: Option<usize>,
    /// Index of the joint at the root of the chain, above the middle joint. Default: the parent of the middle joint.
    pub upper: Option<usize>,
    /// The direction in which the middle joint points. Default: [`Pole::Animated`].
    pub pole: Pole,
    /// Axis of the bend of a straight chain in model space in the rest pose: the upper bone turns about it towards the
    /// lower one by the right-hand rule. Default: that of the bend in the rest pose.
    pub axis: Option<Vec3>,
    /// Share of the length over which the chain slows down before it is straight, in [0, 0.999]. Default 0.
    pub soft: f32,
    /// The largest factor on both lengths if the target is out of reach, in [1, 10]. Default 1.
    pub stretch: f32,
    /// Turn of the plane of the bend about the line from the upper joint to the target, radians, within ±2π. Default 0.
    pub twist: f32,
    /// How the end joint is turned if the target says nothing about it. Default: [`EndRotation::Keep`].
    pub end_rotation: EndRotation,
    /// Axis of the end joint, in its space, that is turned to [`Target::normal`](super::Target::normal). Default: the axis
    /// that points along model y in the rest pose.
    pub normal_axis: Option<Vec3>,
}

impl TwoBoneIk {
    /// The chain of a joint, its parent and its grandparent.
    pub fn new(end: usize) -> Self {
        Self {
            end,
            middle: None,
            upper: None,
            pole: Pole::Animated,
            axis: None,
            soft: 0.0,
            stretch: 1.0,
            twist: 0.0,
            end_rotation: EndRotation::Keep,
            normal_axis: None,
        }
    }
}

impl From<TwoBoneIk> for Modifier {
    fn from(ik: TwoBoneIk) -> Self {
        Self::TwoBoneIk(ik)
    }
}

impl TwoBoneIk {
    pub(super) fn define(&self, rig: &Rig) -> Result<Definition, PlaybackError> {
        let chain = chain(self, rig.skeleton())?;
        let hash = hash(self, &chain);
        let Chain { upper, to_middle, to_end, .. } = &chain;
        let joints = [&[*upper][..], to_middle, to_end].concat();
        let pole = match chain.pole {
            Pole::Joint(joint) => Some(joint),
            Pole::Animated | Pole::Direction(_) => None,
        };
        let definition = Definition::of(rig, Change::Ik(chain), (joints, pole), hash)?;
        Ok(Definition { stretch: self.stretch, ..definition })
    }
}

pub(super) fn chain(ik: &TwoBoneIk, skeleton: &Skeleton) -> Result<Chain, PlaybackError> {
    let quoted = |joint| quoted(skeleton, joint);
    let parent = |joint: usize, what: &str| {
        above(skeleton, joint).nth(1).map(usize::from).ok_or_else(|| {
            refused(format!("{} has no parent that could be its {what}", quoted(joint)))
        })
    };
    let known = |joint: usize| skeleton.joint(joint).map(|_| ());
    known(ik.end)?;
    [ik.middle, ik.upper].into_iter().flatten().try_for_each(known)?;
    let middle = ik.middle.map_or_else(|| parent(ik.end, "middle joint"), Ok)?;
    let upper = ik.upper.map_or_else(|| parent(middle, "upper joint"), Ok)?;
    let path = |from, to| {
        let path = below(skeleton, from, to);
        path.ok_or_else(|| refused(format!("{} is not below {}", quoted(to), quoted(from))))
    };
    let (to_middle, to_end) = (path(upper, middle)?, path(middle, ik.end)?);
    check("soft", ik.soft.into(), 0.0, f64::from(0.999_f32))?;
    check("stretch", ik.stretch.into(), 1.0, 10.0)?;
    check("twist", ik.twist.into(), -TURN, TURN)?;
    let pole = match ik.pole {
        Pole::Direction(direction) => Pole::Direction(unit("direction of the pole", direction)?),
        Pole::Joint(joint) => known(joint).map(|()| ik.pole)?,
        Pole::Animated => ik.pole,
    };
    let models = skeleton.rest_models();
    let positions = [upper, middle, ik.end].map(|joint| Vec3::from(models[joint].translation));
    let (first, second) = (positions[1] - positions[0], positions[2] - positions[1]);
    let whole = first.length() + second.length();
    for (bone, [from, to]) in [(first, [upper, middle]), (second, [middle, ik.end])] {
        let length = bone.length();
        if length.is_nan() || length <= 1e-5 * whole {
            let (from, to) = (quoted(from), quoted(to));
            return Err(refused(format!("{from} and {to} are in one place in the rest pose")));
        }
    }
    let to_space = |joint: usize, v: Vec3| {
        (models[joint].matrix3.inverse() * glam::Vec3A::from(v)).try_normalize()
    };
    let bend = first.cross(second);
    let axis = match ik.axis {
        Some(axis) => Some(unit("axis", axis)?),
        None => Some(bend).filter(|b| b.length() > 1e-3 * first.length() * second.length()),
    };
    let known_axis = axis.is_some();
    let axis = axis.and_then(|axis| to_space(upper, axis));
    if axis.is_none() && known_axis {
        let upper = quoted(upper);
        return Err(refused(format!(
            "{upper}, or a joint above it, has a scale of 0 in the rest pose"
        )));
    }
    if axis.is_none() && ik.pole == Pole::Animated {
        let (upper, end) = (quoted(upper), quoted(ik.end));
        return Err(refused(format!(
            "the chain from {upper} to {end} is straight in the rest pose: it needs an axis or a pole"
        )));
    }
    let normal_axis = match ik.normal_axis {
        Some(axis) => unit("normal_axis", axis)?,
        None => to_space(ik.end, Vec3::Y).map_or(Vec3::Y, Vec3::from),
    };
    Ok(Chain {
        upper: upper as u16,
        to_middle,
        to_end,
        axis: axis.map_or(Vec3::ZERO, Vec3::from),
        pole,
        end_rotation: ik.end_rotation,
        normal_axis,
        soft: ik.soft,
        stretch: ik.stretch,
        twist: ik.twist,
    })
}

const TURN: f64 = std::f32::consts::TAU as f64;

/// The hash of the chain's joints and of the other fields as they were given: the same on every machine.
pub(super) fn hash(ik: &TwoBoneIk, chain: &Chain) -> u64 {
    let mut h = Fnv1a::default();
    let all = [&[chain.upper][..], &chain.to_middle, &chain.to_end];
    for joints in all {
        h.write_u64(joints.len() as u64);
        joints.iter().for_each(|&joint| h.write_u64(joint.into()));
    }
    let (pole, number) = match ik.pole {
        Pole::Animated => (Vec3::ZERO, 0),
        Pole::Direction(direction) => (direction, 1),
        Pole::Joint(joint) => (Vec3::ZERO, 2 + joint as u64),
    };
    h.write_u64(number << 1 | u64::from(ik.end_rotation == EndRotation::Keep));
    for v in [Some(pole), ik.axis, ik.normal_axis] {
        h.write_u64(v.is_some().into());
        v.unwrap_or_default().to_array().into_iter().for_each(|v| h.write_f32(v));
    }
    [ik.soft, ik.stretch, ik.twist].into_iter().for_each(|v| h.write_f32(v));
    h.finish()
}
