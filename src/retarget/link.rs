//! `Link`: the transfer of one bone's rotation to the target.

use super::body::Body;
use super::humanoid::HumanBone;
use super::motion::{Motion, Property, path, unit};
use super::pairs::{Pair, pairs};
use super::space::Space;
use crate::skeleton::NO_JOINT;
use glam::DQuat;

/// A bone, or a joint paired by name below one, that both characters have.
///
/// With W the rotations of the reference poses in model space and p the bone above on the target, VRM's note on
/// transferring humanoid poses has N = W·L⁻¹·q·W⁻¹ on the source and q′ = L′·W′⁻¹·N·W′ on the target. As W·L⁻¹ is W of the
/// joint above, N is the change of the bone's rotation in space relative to that of p. The product of the local rotations
/// from p's joint down replaces q, so that joints without a bone, and bones that the target lacks, pass their rotation
/// on. The constants are one product on each side: q′ = left · q₁ q₂ … qₙ · right.
pub(super) struct Link {
    /// The bone; `None` for a joint that is paired by name.
    pub bone: Option<HumanBone>,
    /// Index of the source's joint.
    pub source: usize,
    /// Index of the target's joint.
    pub target: usize,
    /// Joints of the source whose rotations are undone: from the common joint to the bone above.
    pub up: Vec<usize>,
    /// Joints whose rotations are applied: from the common joint to the bone.
    pub down: Vec<usize>,
    pub left: DQuat,
    pub right: DQuat,
}

impl Link {
    /// The links of all pairs; joints above come before those below them.
    pub fn all(source: &Body, target: &Body, space: &Space) -> Vec<Self> {
        let pairs = pairs(source, target, space);
        let link = |(&joint, pair): (&usize, &Pair)| {
            let from = pair.source;
            let parents = target.skeleton.parents();
            let parent = Some(parents[joint]).filter(|&p| p != NO_JOINT).map(usize::from);
            // The nearest joint above that follows a bone; the human order may differ from the rig's.
            let over = std::iter::successors(parent, |&j| {
                Some(parents[j]).filter(|&p| p != NO_JOINT).map(usize::from)
            });
            let above = over.filter_map(|j| pairs.get(&j)).next().map(|p| p.source);
            let mut down = path(&source.skeleton, from);
            let mut up = above.map_or_else(Vec::new, |j| path(&source.skeleton, j));
            let common = up.iter().zip(&down).take_while(|(a, b)| a == b).count();
            let (up, down) = (up.split_off(common), down.split_off(common));
            // Rotations in the space of the joint above, in the source and in the target.
            let before = above.map_or(DQuat::IDENTITY, |j| source.worlds[j]);
            let (left, right) = space.ends(before, source.worlds[from].conjugate());
            let over = parent.map_or(DQuat::IDENTITY, |p| target.worlds[p]);
            Self {
                bone: pair.bone,
                source: from,
                target: joint,
                up,
                down,
                left: unit(over.conjugate() * left),
                right: unit(right * target.worlds[joint]),
            }
        };
        pairs.iter().map(link).collect()
    }

    /// The joints on the link whose rotation moves.
    pub fn moving(&self, motion: &Motion<'_>) -> Vec<usize> {
        let all = self.up.iter().chain(&self.down).copied();
        all.filter(|&j| motion.curve(j, Property::Rotation).is_some()).collect()
    }
}

/// The product of the source's rotations that a link follows, as a function of time. Neighbours that do not move are one
/// factor.
pub(super) struct Chain<'a> {
    motion: &'a Motion<'a>,
    up: Vec<Factor>,
    down: Vec<Factor>,
}

enum Factor {
    Still(DQuat),
    Moving(usize),
}

impl<'a> Chain<'a> {
    pub fn new(link: &Link, motion: &'a Motion<'a>) -> Self {
        let factors = |joints: &[usize]| {
            let mut factors: Vec<Factor> = Vec::new();
            for &joint in joints {
                match (motion.curve(joint, Property::Rotation), factors.last_mut()) {
                    (Some(_), _) => factors.push(Factor::Moving(joint)),
                    (None, Some(Factor::Still(product))) => *product *= motion.rotation(joint, 0.0),
                    (None, _) => factors.push(Factor::Still(motion.rotation(joint, 0.0))),
                }
            }
            factors
        };
        Self { motion, up: factors(&link.up), down: factors(&link.down) }
    }

    pub fn at(&self, time: f32) -> DQuat {
        let product = |factors: &[Factor]| {
            factors.iter().fold(DQuat::IDENTITY, |all, factor| match factor {
                Factor::Still(q) => all * *q,
                Factor::Moving(joint) => all * self.motion.rotation(*joint, time),
            })
        };
        product(&self.up).conjugate() * product(&self.down)
    }
}
