//! `Link`: the transfer of one bone's rotation to the target; and the pairs of joints that rotate alike, by their bones,
//! and below bones by their names.

use super::body::{Body, twin};
use super::humanoid::{HumanBone, sides};
use super::motion::Motion;
use super::pose::{Step, ancestors, parent, steps, unit};
use super::space::Space;
use crate::clip::Channel;
use glam::DQuat;
use std::collections::{BTreeMap, HashMap, HashSet};

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
    /// Number of the nearest link above the joint on the target; it comes before this one.
    pub above: Option<usize>,
    /// Joints of the source from the bone above to the bone; the rotations on the way up are undone.
    pub steps: Vec<Step>,
    pub left: DQuat,
    pub right: DQuat,
}

impl Link {
    /// The links of all pairs; joints above come before those below them.
    pub fn all(source: &Body, target: &Body, space: &Space) -> Vec<Self> {
        let pairs = pairs(source, target, space);
        let number: BTreeMap<usize, usize> = pairs.keys().copied().zip(0..).collect();
        let link = |(&joint, pair): (&usize, &Pair)| {
            let from = pair.source;
            // The nearest joint above that follows a bone; the human order may differ from the rig's.
            let mut all = ancestors(&target.skeleton, joint);
            let over = all.find_map(|j| Some((j, pairs.get(&j)?.source)));
            let above = over.map(|(_, source)| source);
            let top = above.map(|j| j as u16);
            let steps = steps(&source.skeleton, top, from as u16, usize::MAX);
            // Rotations in the space of the joint above, in the source and in the target.
            let before = above.map_or(DQuat::IDENTITY, |j| source.worlds[j]);
            let (left, right) = space.ends(before, source.worlds[from].conjugate());
            Self {
                bone: pair.bone,
                source: from,
                target: joint,
                above: over.and_then(|(j, _)| number.get(&j).copied()),
                steps: steps.unwrap_or_default(),
                left: unit(target.world_above(joint).conjugate() * left),
                right: unit(right * target.worlds[joint]),
            }
        };
        pairs.iter().map(link).collect()
    }

    /// The joints on the link whose rotation moves.
    pub fn moving(&self, motion: &Motion<'_>) -> Vec<usize> {
        let joints = self.steps.iter().map(|s| usize::from(s.joint));
        joints.filter(|&j| motion.curve(j, Channel::Rotation).is_some()).collect()
    }

    /// Whether the joint's rotation is applied.
    pub fn applies(&self, joint: usize) -> bool {
        self.steps.iter().any(|s| usize::from(s.joint) == joint && !s.inverse)
    }

    /// Whether the target's rotation follows one curve of the source, and needs no inserted keys.
    pub fn is_exact(&self, motion: &Motion<'_>) -> bool {
        match self.moving(motion).as_slice() {
            [] => true,
            [joint] => self.applies(*joint),
            _ => false,
        }
    }
}

/// Limit on the pairs by name. Each walks up its skeleton, which may be a chain of 65,535 joints; rigs with twist
/// joints, hair and clothes have some 200.
const MAX_NAMED: usize = 1024;

/// Limit on the joints between one that is paired by name and the pair above it.
const MAX_BETWEEN: usize = 256;

/// The joint of the source that a joint of the target follows.
struct Pair {
    /// The bone of both; `None` for a pair by name.
    bone: Option<HumanBone>,
    source: usize,
}

/// The pairs by the target's joints.
///
/// Joints without a bone, such as twist joints, tails and hair, are paired if their names are equal and unique in the
/// source, and the nearest pairs above them are the same. When mirroring, the name of the other side counts.
fn pairs(source: &Body, target: &Body, space: &Space) -> BTreeMap<usize, Pair> {
    let bones = target.map.bones().filter_map(|(bone, to)| {
        let source = source.map.joint(twin(bone, space))?;
        Some((to, Pair { bone: Some(bone), source }))
    });
    let mut pairs: BTreeMap<usize, Pair> = bones.collect();
    let mut taken: HashSet<usize> = pairs.values().map(|p| p.source).collect();
    let mut by_name: HashMap<&str, Option<usize>> = HashMap::new();
    for (joint, name) in source.skeleton.names().iter().enumerate() {
        let place = by_name.entry(name).or_insert(Some(joint));
        // `None` marks a name that several joints have.
        *place = place.filter(|first| *first == joint);
    }
    let mut named = 0;
    // This becomes the nearest pair at or above every joint; parents come first.
    let mut near: Vec<Option<usize>> = vec![None; target.skeleton.len()];
    for joint in 0..near.len() {
        if let Some(parent) = parent(&target.skeleton, joint) {
            near[joint] = if pairs.contains_key(&parent) { Some(parent) } else { near[parent] };
        }
        let name = target.skeleton.names()[joint].as_str();
        // A name without another side belongs to the middle.
        let twin = |name| {
            let mut others = sides(name).into_iter().map(|side| side.other());
            others.find(|other| by_name.contains_key(other.as_str()))
        };
        let other = if space.mirror { twin(name) } else { None };
        let name = other.as_deref().unwrap_or(name);
        let (Some(above), false) = (near[joint], name.is_empty()) else { continue };
        let free = !pairs.contains_key(&joint) && target.map.bone(joint).is_none();
        let found = by_name.get(name).copied().flatten();
        let found = found.filter(|f| !taken.contains(f) && source.map.bone(*f).is_none());
        let (Some(found), true, true) = (found, free, named < MAX_NAMED) else { continue };
        let mut over = ancestors(&source.skeleton, found).take(MAX_BETWEEN);
        let over = over.find(|j| taken.contains(j));
        if over.is_some() && over == pairs.get(&above).map(|p| p.source) {
            pairs.insert(joint, Pair { bone: None, source: found });
            taken.insert(found);
            named += 1;
        }
    }
    pairs
}
