//! Pairs of joints that rotate alike: by their bones, and below bones by their names.

use super::body::{Body, twin};
use super::humanoid::{HumanBone, sides};
use super::space::Space;
use crate::skeleton::NO_JOINT;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Limit on the pairs by name. Each walks up its skeleton, which may be a chain of 65,535 joints; rigs with twist
/// joints, hair and clothes have some 200.
const MAX_NAMED: usize = 1024;

/// Limit on the joints between one that is paired by name and the pair above it.
const MAX_BETWEEN: usize = 256;

/// The joint of the source that a joint of the target follows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    /// The bone of both; `None` for a pair by name.
    pub bone: Option<HumanBone>,
    pub source: usize,
}

/// The pairs by the target's joints.
///
/// Joints without a bone, such as twist joints, tails and hair, are paired if their names are equal and unique in the
/// source, and the nearest pairs above them are the same. When mirroring, the name of the other side counts.
pub(super) fn pairs(source: &Body, target: &Body, space: &Space) -> BTreeMap<usize, Pair> {
    let bones = target.map.bones().filter_map(|(bone, to)| {
        let source = source.map.joint(twin(bone, space))?;
        let bone = Some(bone);
        Some((to, Pair { bone, source }))
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
    for (joint, &parent) in target.skeleton.parents().iter().enumerate() {
        if parent != NO_JOINT {
            let parent = usize::from(parent);
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
        let (Some(above), false) = (near[joint], name.is_empty()) else {
            continue;
        };
        let free = !pairs.contains_key(&joint) && target.map.bone(joint).is_none();
        let found = by_name.get(name).copied().flatten();
        let found = found.filter(|f| !taken.contains(f) && source.map.bone(*f).is_none());
        let (Some(found), true, true) = (found, free, named < MAX_NAMED) else {
            continue;
        };
        let over = std::iter::successors(Some(found), |&j| {
            let parent = source.skeleton.parents()[j];
            (parent != NO_JOINT).then_some(usize::from(parent))
        });
        let over = over.skip(1).take(MAX_BETWEEN).find(|j| taken.contains(j));
        if over.is_some() && over == pairs.get(&above).map(|p| p.source) {
            let pair = Pair { bone: None, source: found };
            pairs.insert(joint, pair);
            taken.insert(found);
            named += 1;
        }
    }
    pairs
}
