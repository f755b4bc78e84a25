//! Modifiers: what changes poses after blending. Definitions belong to a rig in a crowd or mixer, inputs to instances.

use super::error::PlaybackError;
use super::options::check;
use crate::evaluate::{Chain, EndRotation, Pole};
use crate::math::Fnv1a;
use crate::rig::Rig;
use crate::skeleton::Skeleton;
use crate::skeleton::limits::{Beyond, MAX_WORLD, beyond};
use crate::words::shorten;
use glam::{Quat, Vec3};

/// The most modifiers of one rig.
pub const MAX_MODIFIERS: usize = 64;

/// The definition of a modifier of a rig's instances: [`Crowd::add_modifier`](crate::crowd::Crowd::add_modifier).
///
/// Modifiers change the blended local pose of an instance before the hierarchy is composed, after its overrides, in the
/// order of their handles' indices. Palettes, watched joints and mirrors follow. An instance whose weight of a modifier
/// is 0 is not changed by it, and costs nothing.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Modifier {
    /// Bends two bones so that their end reaches a target.
    TwoBoneIk(TwoBoneIk),
}

/// Inverse kinematics of two bones: a leg, an arm.
///
/// The upper and the middle joint are turned as wholes in model space, so that the end joint reaches the
/// [target](Target) of the instance. Bones keep their lengths in model space, whatever scales the joints above have,
/// unless [`stretch`](Self::stretch) is above 1. Angles follow from the law of cosines.
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
    /// Axis of the end joint, in its space, that is turned to [`Target::normal`]. Default: the axis that points along
    /// model y in the rest pose.
    pub normal_axis: Option<Vec3>,
}

/// The space of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// World space: that of the instance's world transform.
    World,
    /// Model space of the instance.
    Model,
    /// The space of the instance's joint with this index, as the modifiers before have left it.
    Joint(usize),
}

/// The target of an instance's modifier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// The space of the other fields.
    pub space: Space,
    /// The position that the end joint reaches.
    pub position: Vec3,
    /// The rotation of the end joint. Of a joint that is mirrored in the model, that of its axes reversed.
    pub rotation: Option<Quat>,
    /// The direction to which [`TwoBoneIk::normal_axis`] is turned, if there is no rotation.
    pub normal: Option<Vec3>,
}

impl Default for Target {
    /// The origin of model space.
    fn default() -> Self {
        Self::model(Vec3::ZERO)
    }
}

impl Target {
    /// A position in world space.
    pub fn world(position: Vec3) -> Self {
        Self { space: Space::World, position, rotation: None, normal: None }
    }

    /// A position in model space.
    pub fn model(position: Vec3) -> Self {
        Self { space: Space::Model, position, rotation: None, normal: None }
    }

    /// A position in the space of a joint of the same instance, by index.
    pub fn joint(joint: usize, position: Vec3) -> Self {
        Self { space: Space::Joint(joint), position, rotation: None, normal: None }
    }

    /// Checks the numbers, and that the joint is of this skeleton.
    pub(crate) fn check(&self, skeleton: &Skeleton) -> Result<(), PlaybackError> {
        if let Space::Joint(joint) = self.space {
            skeleton.joint(joint)?;
        }
        let rotation = self.rotation.map_or([0.0, 0.0, 0.0, 1.0], |q| q.to_array());
        let normal = self.normal.map_or([0.0, 1.0, 0.0], |n| n.to_array());
        let numbers = [&self.position.to_array()[..], &rotation, &normal];
        for (what, values) in ["position", "rotation", "normal"].into_iter().zip(numbers) {
            beyond(what, values, MAX_WORLD).map_err(|Beyond { what, value, limit }| {
                refused(format!(
                    "the {what} of a target is {value:e}, beyond the limit of {limit:e}"
                ))
            })?;
            if what != "position" && values.iter().all(|v| v.abs() < 1e-6) {
                return Err(refused(format!("the {what} of a target has no length")));
            }
        }
        Ok(())
    }
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

/// A modifier of a rig, as it is evaluated.
#[derive(Debug)]
pub(crate) struct Definition {
    pub chain: Chain,
    /// The joint of the last lane among those that may change and those above them.
    pub last: u16,
    /// The hash of its kind's fields and joints.
    pub hash: u64,
}

impl Definition {
    /// Checks a modifier against a skeleton.
    pub fn new(modifier: &Modifier, rig: &Rig) -> Result<Self, PlaybackError> {
        let Modifier::TwoBoneIk(ik) = modifier;
        let skeleton = rig.skeleton();
        let chain = chain(ik, skeleton)?;
        if let Some(out) = above(skeleton, ik.end).find(|&joint| !rig.is_evaluated(joint.into())) {
            let name = shorten(&skeleton.names()[usize::from(out)]);
            return Err(refused(format!("joint {out} (\"{name}\") is left out of this detail")));
        }
        let lane = |joint: &u16| skeleton.lane_of()[usize::from(*joint)];
        let last = above(skeleton, ik.end).max_by_key(lane).unwrap_or_default();
        let hash = hash(ik, &chain);
        Ok(Self { chain, last, hash })
    }

    /// The joints that may change.
    pub fn joints(&self) -> impl Iterator<Item = u16> {
        let Chain { upper, to_middle, to_end, .. } = &self.chain;
        std::iter::once(*upper).chain(to_middle.iter().copied()).chain(to_end.iter().copied())
    }
}

fn refused(what: String) -> PlaybackError {
    PlaybackError::Modifier { what }
}

/// A joint and all joints above it.
fn above(skeleton: &Skeleton, joint: usize) -> impl Iterator<Item = u16> {
    let parents = skeleton.parents();
    let next = |joint: &u16| {
        let parent = parents[usize::from(*joint)];
        (usize::from(parent) < parents.len()).then_some(parent)
    };
    std::iter::successors(Some(joint as u16), next)
}

/// The joints below `from`, down to `to`; `None` if `to` is not below `from`.
fn below(skeleton: &Skeleton, from: usize, to: usize) -> Option<Vec<u16>> {
    let mut path: Vec<u16> = above(skeleton, to).collect();
    let at = path.iter().position(|&joint| usize::from(joint) == from)?;
    path.truncate(at);
    path.reverse();
    (!path.is_empty()).then_some(path)
}

fn chain(ik: &TwoBoneIk, skeleton: &Skeleton) -> Result<Chain, PlaybackError> {
    let quoted =
        |joint: usize| format!("joint {joint} (\"{}\")", shorten(&skeleton.names()[joint]));
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

fn unit(what: &str, v: Vec3) -> Result<Vec3, PlaybackError> {
    let unit = v.try_normalize();
    unit.ok_or_else(|| refused(format!("{what} is {v}, which has no direction")))
}

/// The hash of the chain's joints and of the other fields as they were given: the same on every machine.
fn hash(ik: &TwoBoneIk, chain: &Chain) -> u64 {
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
