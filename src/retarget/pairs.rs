//! Pairs of joints that rotate alike: by their bones, and below bones by their names.

use super::body::{Body, twin};
use super::humanoid::HumanBone;
use super::space::Space;
use crate::skeleton::NO_JOINT;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The most pairs by name. Each walks up its skeleton, which may be a chain of 65,535 joints; rigs with twist
/// joints, hair and clothes have some 200.
const MAX_NAMED: usize = 1024;

/// The most joints between one that is paired by name and the pair above it.
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
/// Joints without a bone, such as twist joints, tails and hair, are paired if their names are equal, are unique in
/// the source, and the nearest pairs above them are the same. In a mirroring the name of the other side counts.
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
        // `None` for a name that several have.
        *place = place.filter(|first| *first == joint);
    }
    let mut named = 0;
    // The nearest pair above every joint; parents come first.
    let mut near: Vec<Option<usize>> = vec![None; target.skeleton.len()];
    for (joint, &parent) in target.skeleton.parents().iter().enumerate() {
        if parent != NO_JOINT {
            let parent = usize::from(parent);
            near[joint] = if pairs.contains_key(&parent) {
                Some(parent)
            } else {
                near[parent]
            };
        }
        let name = target.skeleton.names()[joint].as_str();
        let other = if space.mirror { other_side(name) } else { None };
        // What has no twin is in the middle.
        let other = other.filter(|other| by_name.contains_key(other.as_str()));
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
            let pair = Pair {
                bone: None,
                source: found,
            };
            pairs.insert(joint, pair);
            taken.insert(found);
            named += 1;
        }
    }
    pairs
}

/// The name of the other side: `Left` and `Right` in any case of the first letter, 左 and 右, else `L` and `R` as a word of
/// their own (`hair.L`, `EarL`, `LThumb`). `None` if the name has no side.
fn other_side(name: &str) -> Option<String> {
    let words = [
        ("Left", "Right"),
        ("left", "right"),
        ("LEFT", "RIGHT"),
        ("左", "右"),
    ];
    for (left, right) in words {
        for (from, to) in [(left, right), (right, left)] {
            if name.contains(from) {
                return Some(name.replacen(from, to, 1));
            }
        }
    }
    let letters = name.char_indices().find(|&(at, c)| {
        let mut after = name[at + c.len_utf8()..].chars();
        let around = [name[..at].chars().next_back(), after.next(), after.next()];
        matches!(c, 'l' | 'r' | 'L' | 'R') && is_word(c, around)
    });
    let (at, c) = letters?;
    let other = match c {
        'l' => 'r',
        'r' => 'l',
        'L' => 'R',
        _ => 'L',
    };
    Some(format!("{}{other}{}", &name[..at], &name[at + 1..]))
}

/// Whether a letter is a word of its own, by the character before it and the two behind it: it stands apart, or is a
/// capital that ends a word of small letters (`EarL`, `EarL2`) or begins one (`LThumb`).
fn is_word(c: char, [before, after, next]: [Option<char>; 3]) -> bool {
    let apart = |c: Option<char>| c.is_none_or(|c| matches!(c, '.' | '_' | '-' | ' ' | ':'));
    let small = |c: Option<char>| c.is_some_and(char::is_lowercase);
    let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let ends = apart(after) || digit(after);
    let begins = apart(before) && after.is_some_and(char::is_uppercase) && small(next);
    match c.is_uppercase() {
        true => (apart(before) || small(before)) && ends || begins,
        false => apart(before) && apart(after),
    }
}

#[cfg(test)]
mod tests {
    use super::other_side;

    #[test]
    fn names_have_another_side() {
        for (name, other) in [
            ("upperarm_twist_l", Some("upperarm_twist_r")),
            ("LeftHandPinky1", Some("RightHandPinky1")),
            ("Bip01 R Toe0Nub", Some("Bip01 L Toe0Nub")),
            ("hair.L.001", Some("hair.R.001")),
            ("r_ear", Some("l_ear")),
            ("EarL", Some("EarR")),
            ("EarR_01", Some("EarL_01")),
            ("HairR2", Some("HairL2")),
            ("LThumb", Some("RThumb")),
            ("左耳", Some("右耳")),
            ("RGBCurve", None),
            ("ABR", None),
            ("LEAF", None),
            ("Tail", None),
            ("roll", None),
            ("Größe", None),
        ] {
            assert_eq!(other_side(name).as_deref(), other, "{name}");
        }
    }
}
