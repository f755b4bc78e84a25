//! Routes between a bound joint and the bound joint above it: in the source they pass joints whose motion is folded, in
//! the target joints that rest.

use super::names::Pairs;
use crate::retarget::error::RetargetError;
use crate::retarget::motion::Local;
use crate::skeleton::{NO_JOINT, Skeleton, Trs};
use glam::{DAffine3, DQuat};

/// Limit on the steps of all routes of a binding together. A character has one to three per joint; two hostile skeletons
/// can need the square of their joints.
pub const MAX_STEPS: usize = 1 << 20;

/// A joint on a route, with its local transform or the inverse of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    pub joint: u16,
    pub inverse: bool,
}

/// The source of a target joint's motion.
#[derive(Clone, Debug)]
pub struct Route {
    pub source: u16,
    pub target: u16,
    /// The nearest bound joint above it in the target, as an index of the routes.
    pub above: Option<usize>,
    /// Steps from the source's joint of `above` to the source's joint.
    pub steps: Vec<Step>,
    /// The rest transform of the target's joints between the one above and this, without both.
    pub between: DAffine3,
    pub between_rotation: DQuat,
}

/// A local transform as a matrix in f64.
pub fn affine(trs: &Trs) -> DAffine3 {
    Local::from(*trs).to_affine()
}

/// The rotation of a local transform, normalised in f64.
pub fn rotation(trs: &Trs) -> DQuat {
    Local::from(*trs).rotation
}

impl Route {
    /// The rotation along the steps, for given local rotations.
    pub fn rotation(&self, local: impl Fn(u16) -> DQuat) -> DQuat {
        turn(&self.steps, local)
    }

    /// The transform along the steps, for given local transforms.
    pub fn transform(&self, local: impl Fn(u16) -> DAffine3) -> DAffine3 {
        carry(&self.steps, local)
    }
}

/// The product of the rotations of some steps.
pub fn turn(steps: &[Step], local: impl Fn(u16) -> DQuat) -> DQuat {
    steps.iter().fold(DQuat::IDENTITY, |q, step| {
        let own = local(step.joint);
        q * if step.inverse { own.inverse() } else { own }
    })
}

/// The product of the transforms of some steps.
pub fn carry(steps: &[Step], local: impl Fn(u16) -> DAffine3) -> DAffine3 {
    steps.iter().fold(DAffine3::IDENTITY, |m, step| {
        let own = local(step.joint);
        m * if step.inverse { own.inverse() } else { own }
    })
}

/// The routes of all bound joints, parents first.
pub fn routes(
    source: &Skeleton,
    target: &Skeleton,
    pairs: &Pairs,
) -> Result<Vec<Route>, RetargetError> {
    // For each joint of the target: the nearest bound joint at or above it, and the rest transform from there.
    let mut nearest: Vec<Option<usize>> = Vec::with_capacity(target.len());
    let mut below: Vec<(DAffine3, DQuat)> = Vec::with_capacity(target.len());
    let mut routes: Vec<Route> = Vec::new();
    let mut total = 0usize;
    for (joint, &parent) in target.parents().iter().enumerate() {
        let parent = usize::from(parent);
        let above = nearest.get(parent).copied().flatten();
        let start = (DAffine3::IDENTITY, DQuat::IDENTITY);
        let (between, between_rotation) = below.get(parent).copied().unwrap_or(start);
        let Some((from, _)) = pairs[joint] else {
            let rest = target.rest(joint);
            nearest.push(above);
            below.push((between * affine(&rest), between_rotation * rotation(&rest)));
            continue;
        };
        let room = MAX_STEPS - total;
        let top = above.map(|a| routes[a].source);
        let steps =
            way(source, top, from, room).ok_or(RetargetError::BindSteps { limit: MAX_STEPS })?;
        total += steps.len();
        nearest.push(Some(routes.len()));
        below.push(start);
        routes.push(Route {
            source: from,
            target: joint as u16,
            above,
            steps,
            between,
            between_rotation,
        });
    }
    Ok(routes)
}

/// The steps from one joint to another, or from model space if there is none; `None` if there are more than `room`.
fn way(skeleton: &Skeleton, from: Option<u16>, to: u16, room: usize) -> Option<Vec<Step>> {
    let parent = |joint: u16| skeleton.parents().get(usize::from(joint)).copied();
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
        *joint = parent(*joint).unwrap_or(NO_JOINT);
    }
    up.extend(down.into_iter().rev());
    Some(up)
}
