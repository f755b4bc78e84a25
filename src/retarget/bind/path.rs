//! Routes between a bound joint and the bound joint above it: in the source they pass joints whose motion is folded, in
//! the target joints that rest.

use super::names::Pairs;
use crate::retarget::error::RetargetError;
use crate::retarget::pose::{Local, Step, product, steps};
use crate::skeleton::Skeleton;
use glam::{DAffine3, DQuat};

/// Limit on the steps of all routes of a binding together. A character has one to three per joint; two hostile skeletons
/// can need the square of their joints.
pub const MAX_STEPS: usize = 1 << 20;

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

impl Route {
    /// The transform along the steps in the source's rest pose.
    pub fn at_rest(&self, source: &Skeleton) -> DAffine3 {
        product(&self.steps, |joint| Local::from(source.rest(joint.into())).to_affine())
    }
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
            let rest = Local::from(target.rest(joint));
            nearest.push(above);
            below.push((between * rest.to_affine(), between_rotation * rest.rotation));
            continue;
        };
        let room = MAX_STEPS - total;
        let top = above.map(|a| routes[a].source);
        let steps =
            steps(source, top, from, room).ok_or(RetargetError::BindSteps { limit: MAX_STEPS })?;
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
