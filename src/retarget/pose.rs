//! Poses in f64: local transforms, their products down a hierarchy, and the steps from one joint to another.

use crate::skeleton::{NO_JOINT, Skeleton, Trs};
use glam::{DAffine3, DQuat, DVec3, Quat, Vec3};
use std::ops::Mul;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Local {
    pub translation: DVec3,
    pub rotation: DQuat,
    pub scale: DVec3,
}

impl From<Trs> for Local {
    fn from(trs: Trs) -> Self {
        Self {
            translation: trs.translation.as_dvec3(),
            rotation: unit(trs.rotation.as_dquat()),
            scale: trs.scale.as_dvec3(),
        }
    }
}

impl Local {
    pub fn to_affine(self) -> DAffine3 {
        DAffine3::from_scale_rotation_translation(self.scale, self.rotation, self.translation)
    }

    /// The transform rounded to f32, component by component.
    pub fn to_trs(self) -> Trs {
        let vector = |v: DVec3| Vec3::from_array(v.to_array().map(|v| v as f32));
        Trs {
            translation: vector(self.translation),
            rotation: Quat::from_array(self.rotation.to_array().map(|v| v as f32)),
            scale: vector(self.scale),
        }
    }
}

pub(super) fn three([x, y, z, _]: [f64; 4]) -> DVec3 {
    DVec3::new(x, y, z)
}

/// The quaternion normalised; the identity if it has no direction.
pub(super) fn unit(q: DQuat) -> DQuat {
    let length = q.length();
    if length > 0.0 && length.is_finite() { q / length } else { DQuat::IDENTITY }
}

pub(super) fn rest(skeleton: &Skeleton) -> Vec<Local> {
    (0..skeleton.len()).map(|j| skeleton.rest(j).into()).collect()
}

/// The joint above a joint; `None` also for joints that the skeleton does not have.
pub(super) fn parent(skeleton: &Skeleton, joint: usize) -> Option<usize> {
    let parent = skeleton.parents().get(joint).copied();
    parent.filter(|p| *p != NO_JOINT).map(usize::from)
}

/// The joints above a joint, from its parent up.
pub(super) fn ancestors(skeleton: &Skeleton, joint: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(parent(skeleton, joint), |&j| parent(skeleton, j))
}

/// A joint and the joints above it, from the root down.
pub(super) fn path(skeleton: &Skeleton, joint: usize) -> Vec<usize> {
    let mut path = vec![joint];
    path.extend(ancestors(skeleton, joint));
    path.reverse();
    path
}

/// For every joint, parents first, the product of the values from the root down to it.
pub(super) fn compose<T: Transform>(skeleton: &Skeleton, local: impl Fn(usize) -> T) -> Vec<T> {
    let mut all: Vec<T> = Vec::with_capacity(skeleton.len());
    for joint in 0..skeleton.len() {
        all.push(match parent(skeleton, joint) {
            Some(parent) => all[parent] * local(joint),
            None => local(joint),
        });
    }
    all
}

/// The transforms of all joints of a pose in model space.
pub(super) fn models(skeleton: &Skeleton, pose: &[Local]) -> Vec<DAffine3> {
    compose(skeleton, |joint| pose[joint].to_affine())
}

pub(super) trait Transform: Copy + Mul<Output = Self> {
    const IDENTITY: Self;
    fn inverted(self) -> Self;
}

impl Transform for DQuat {
    const IDENTITY: Self = Self::IDENTITY;

    fn inverted(self) -> Self {
        self.conjugate()
    }
}

impl Transform for DAffine3 {
    const IDENTITY: Self = Self::IDENTITY;

    fn inverted(self) -> Self {
        self.inverse()
    }
}

/// A joint on the way between two joints, with its local transform or the inverse of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Step {
    pub joint: u16,
    pub inverse: bool,
}

impl Step {
    fn of<T: Transform>(self, local: T) -> T {
        if self.inverse { local.inverted() } else { local }
    }
}

/// The steps from one joint to another, or from model space if there is none; `None` if there are more than `room`.
pub(super) fn steps(
    skeleton: &Skeleton,
    from: Option<u16>,
    to: u16,
    room: usize,
) -> Option<Vec<Step>> {
    let parents = skeleton.parents();
    let (mut up, mut down) = (Vec::new(), Vec::new());
    let (mut a, mut b) = (from.unwrap_or(NO_JOINT), to);
    // Parents have smaller indices, so the larger of two joints is not above the other.
    while a != b {
        if up.len() + down.len() >= room {
            return None;
        }
        let climb = b == NO_JOINT || (a != NO_JOINT && a > b);
        let (joint, list) = if climb { (&mut a, &mut up) } else { (&mut b, &mut down) };
        list.push(Step { joint: *joint, inverse: climb });
        *joint = parents.get(usize::from(*joint)).copied().unwrap_or(NO_JOINT);
    }
    up.extend(down.into_iter().rev());
    Some(up)
}

/// The product along steps, for given local transforms.
pub(super) fn product<T: Transform>(steps: &[Step], local: impl Fn(u16) -> T) -> T {
    steps.iter().fold(T::IDENTITY, |all, step| all * step.of(local(step.joint)))
}

/// The product along steps as a function of time. Neighbours that do not move are one factor.
pub(super) struct Chain<T>(Vec<Factor<T>>);

enum Factor<T> {
    Still(T),
    Moving(Step),
}

impl<T: Transform> Chain<T> {
    /// `still` gives the local transforms of joints that do not move.
    pub fn new(steps: &[Step], moves: impl Fn(u16) -> bool, still: impl Fn(u16) -> T) -> Self {
        let mut factors: Vec<Factor<T>> = Vec::new();
        for step in steps {
            match factors.last_mut() {
                _ if moves(step.joint) => factors.push(Factor::Moving(*step)),
                Some(Factor::Still(all)) => *all = *all * step.of(still(step.joint)),
                _ => factors.push(Factor::Still(step.of(still(step.joint)))),
            }
        }
        Self(factors)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The product for given local transforms of the joints that move.
    pub fn at(&self, local: impl Fn(u16) -> T) -> T {
        self.0.iter().fold(T::IDENTITY, |all, factor| {
            all * match factor {
                Factor::Still(value) => *value,
                Factor::Moving(step) => step.of(local(step.joint)),
            }
        })
    }
}
