//! The common joints of two skeletons: by equal names, then without namespaces and prefixes, then without case. A name
//! that several joints share binds the joints whose paths are equal, and copies of the source. Joints without names bind
//! by index if the hierarchies are equal. Skeletons that differ only in the order of their joints are recognised before
//! all of this.

use crate::math::Fnv1a;
use crate::retarget::humanoid::unindexed;
use crate::skeleton::Skeleton;
use crate::words::{unnumbered, without_number};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

/// The rule by which the names of two joints are the same, see [`BindReport`](super::BindReport).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindMatch {
    Exact,
    WithoutPrefix,
    WithoutCase,
    Index,
}

/// A name without namespaces (`mixamorig:`, `Armature|`, `rig.ns:`) and without the rest that exporters leave of them.
fn unprefixed(name: &str) -> &str {
    let mut rest = name.rsplit([':', '|']).next().unwrap_or(name);
    if rest.is_empty() {
        return name;
    }
    if let Some(after) = rest.strip_prefix("mixamorig") {
        let after = after.trim_start_matches(|c: char| c.is_ascii_digit());
        let after = after.trim_start_matches('_');
        rest = if after.is_empty() { rest } else { after };
    }
    rest
}

/// A name without the number that exporters give to copies: Blender's, or `_1`.
fn uncopied(name: &str) -> &str {
    match unnumbered(name) {
        stem if stem.len() == name.len() => without_number(name, '_', 1..=2),
        stem => stem,
    }
}

/// A name without namespaces and without the number of a copy.
fn stripped(name: &str) -> &str {
    unnumbered(unprefixed(name))
}

/// Names, in lower case and without number, whose numbers distinguish joints: a skeleton has several joints that differ
/// only in the number, such as Rigify's `spine`, `spine.001` and `spine.003`.
pub struct Numbered(HashSet<String>);

impl Numbered {
    /// The names with numbers in several lists.
    pub fn of<'n>(lists: impl IntoIterator<Item = impl Iterator<Item = &'n str>>) -> Self {
        let mut found = HashSet::new();
        for names in lists {
            let mut first: HashMap<String, String> = HashMap::new();
            for name in names {
                let name = unprefixed(name).to_lowercase();
                let stem = unnumbered(&name).to_owned();
                match first.entry(stem) {
                    Entry::Occupied(e) if *e.get() != name => drop(found.insert(e.key().clone())),
                    Entry::Occupied(_) => {}
                    Entry::Vacant(e) => drop(e.insert(name)),
                }
            }
        }
        Self(found)
    }

    /// A name without namespaces, and without its number unless that distinguishes joints.
    pub fn strip<'a>(&self, name: &'a str) -> &'a str {
        let name = unprefixed(name);
        let stem = unnumbered(name);
        if stem.len() < name.len() && self.0.contains(&stem.to_lowercase()) { name } else { stem }
    }
}

type Key<'a> = &'a dyn Fn(&str) -> String;

/// For every scalar of the source the scalars of the target, by the names of their nodes, compared like joints. Scalars
/// with equal names are paired in order, and a single one of the source with all of the target, which are copies. Names
/// that are equal otherwise must be unique. Nodes without names match only if all scalars are equal.
pub fn scalar_pairs(source: &[&str], target: &[&str]) -> Vec<Vec<usize>> {
    let nodes = |names: &[&str]| -> Vec<String> {
        let names = names.iter();
        names.map(|n| node_of(n).0.to_owned()).collect()
    };
    let nodes = [nodes(source), nodes(target)];
    let numbered = Numbered::of([&nodes[0], &nodes[1]].map(|n| n.iter().map(String::as_str)));
    let keyed = |name: &str, key: Key<'_>| {
        let (node, rest) = node_of(name);
        (key(node), rest.to_owned())
    };
    let steps: [Key<'_>; 3] = [&|n| n.to_owned(), &|n| numbered.strip(n).to_owned(), &|n| {
        numbered.strip(n).to_lowercase()
    }];
    let mut found: Vec<Vec<usize>> = vec![Vec::new(); source.len()];
    let says = |name: &str| source == target || !node_of(name).0.is_empty();
    let mut taken: Vec<bool> = target.iter().map(|name| !says(name)).collect();
    for (step, key) in steps.into_iter().enumerate() {
        let mut groups: HashMap<_, [Vec<usize>; 2]> = HashMap::new();
        for (at, name) in
            source.iter().enumerate().filter(|(i, name)| found[*i].is_empty() && says(name))
        {
            groups.entry(keyed(name, key)).or_default()[0].push(at);
        }
        for (at, name) in target.iter().enumerate().filter(|(i, _)| !taken[*i]) {
            groups.entry(keyed(name, key)).or_default()[1].push(at);
        }
        for [from, to] in groups.into_values() {
            if step > 0 && (from.len(), to.len()) != (1, 1) {
                continue;
            }
            let copies = if from.len() == 1 { to.len() } else { 1 };
            let from = from.iter().flat_map(|&a| std::iter::repeat_n(a, copies));
            for (a, b) in from.zip(to) {
                found[a].push(b);
                taken[b] = true;
            }
        }
    }
    found
}

/// For every scalar of the source that of the target by index, if both have one node with morph weights, and equally many
/// of them: names are then absent or have nothing in common.
pub fn scalars_by_index(source: &[&str], target: &[&str]) -> Option<Vec<Vec<usize>>> {
    let weights = |names: &[&str]| -> Option<Vec<usize>> {
        let of = |at: &usize| node_of(names[*at]);
        let all: Vec<usize> = (0..names.len()).filter(|at| !of(at).1.is_empty()).collect();
        let first = of(all.first()?).0;
        // The weights of a second node without a name begin at 0 again.
        let in_order = |(k, at): (usize, &usize)| of(at) == (first, &*format!(".weights[{k}]"));
        all.iter().enumerate().all(in_order).then_some(all)
    };
    let (from, to) = (weights(source)?, weights(target)?);
    (from.len() == to.len()).then(|| {
        let mut found = vec![Vec::new(); source.len()];
        from.into_iter().zip(to).for_each(|(a, b)| found[a].push(b));
        found
    })
}

/// The node's part of a scalar's name, and the rest: `Face` and `.weights[3]`. The name of a user channel has no rest.
fn node_of(name: &str) -> (&str, &str) {
    let at = name.rfind(".weights[").filter(|_| name.ends_with(']'));
    name.split_at(at.unwrap_or(name.len()))
}

/// The joint of the source for every joint of the target.
pub type Pairs = Vec<Option<(u16, BindMatch)>>;

/// Finds the pairs. `ambiguous` gets the names that several joints share and that paths do not distinguish.
pub fn pairs(source: &Skeleton, target: &Skeleton, ambiguous: &mut Vec<String>) -> Pairs {
    if let Some(joints) = source.joints_in(target) {
        let exact = |a| Some((a, BindMatch::Exact));
        return joints.into_iter().map(exact).collect();
    }
    let mut found: Pairs = vec![None; target.len()];
    let mut used = vec![false; source.len()];
    let paths = (path_hashes(source), path_hashes(target));
    let numbered = Numbered::of([source, target].map(|s| s.names().iter().map(String::as_str)));
    let steps: [(BindMatch, Key<'_>); 3] = [
        (BindMatch::Exact, &|n| n.to_owned()),
        (BindMatch::WithoutPrefix, &|n| numbered.strip(n).to_owned()),
        (BindMatch::WithoutCase, &|n| numbered.strip(n).to_lowercase()),
    ];
    for (how, key) in steps {
        let from = by_key(source, &used, key);
        let taken: Vec<bool> = found.iter().map(Option::is_some).collect();
        let mut to: Vec<(String, Vec<u16>)> = by_key(target, &taken, key).into_iter().collect();
        to.sort();
        for (name, targets) in to {
            let Some(sources) = from.get(&name) else { continue };
            if let ([a], [b]) = (sources.as_slice(), targets.as_slice()) {
                found[usize::from(*b)] = Some((*a, how));
                used[usize::from(*a)] = true;
                continue;
            }
            let mut left = false;
            let mut free: HashMap<u64, Vec<u16>> = HashMap::new();
            for &a in sources.iter().rev() {
                let path = paths.0[usize::from(a)];
                free.entry(path).or_default().push(a);
            }
            for &b in &targets {
                let same = free.get_mut(&paths.1[usize::from(b)]);
                match same.and_then(Vec::pop) {
                    Some(a) => {
                        found[usize::from(b)] = Some((a, how));
                        used[usize::from(a)] = true;
                    }
                    None => left = true,
                }
            }
            // The next step would find it again.
            if left && how == BindMatch::WithoutCase {
                ambiguous.push(name);
            }
        }
    }
    for (how, key) in steps {
        copies(source, target, (how, key), &mut found);
    }
    let left = found.iter().map(Option::is_some).collect::<Vec<_>>();
    let left = by_key(target, &left, steps[2].1);
    ambiguous.retain(|name| left.contains_key(name));
    ambiguous.sort();
    ambiguous.dedup();
    by_index(source, target, &mut found);
    found
}

/// Binds copies of the source's skeleton in the target, such as outfits: a joint below a bound joint follows the source's
/// joint of its name below the same joint, if both names are unique there. Copies of a root need no bound joint above.
/// Nor do copies of a joint on the single chain down from the root: their parent may have another name.
fn copies(
    source: &Skeleton,
    target: &Skeleton,
    (how, key): (BindMatch, Key<'_>),
    found: &mut Pairs,
) {
    if found.iter().all(Option::is_some) {
        return;
    }
    let keys = |skeleton: &Skeleton| -> Vec<Option<String>> {
        let names = skeleton.names().iter();
        names.map(|n| (!n.is_empty()).then(|| key(n))).collect()
    };
    let (from, own) = (keys(source), keys(target));
    // Exporters number the names of copies. The number of a name is left out if the source has the name only without a
    // number, and the target has it without a number too, or has half of the source's names with this number. Other
    // numbers distinguish joints.
    let set =
        |keys: &[Option<String>]| -> HashSet<String> { keys.iter().flatten().cloned().collect() };
    let (known, beside) = (set(&from), set(&own));
    let mut whole: HashMap<&str, HashSet<String>> = HashMap::new();
    for name in target.names() {
        let (stem, number) = name.split_at(uncopied(name).len());
        let place = whole.entry(number).or_default();
        place.extend(Some(key(stem)).filter(|stem| known.contains(stem)));
    }
    let is_whole = |number: &str| {
        let count = whole.get(number).map_or(0, HashSet::len);
        count > 1 && 2 * count >= known.len()
    };
    let numbers: HashSet<String> = source
        .names()
        .iter()
        .filter(|n| uncopied(n).len() < n.len())
        .map(|n| key(uncopied(n)))
        .collect();
    let to = target.names().iter().zip(&own).map(|(name, own)| {
        let own = own.as_deref()?;
        let (stem, number) = name.split_at(uncopied(name).len());
        let stem = key(stem);
        let is_copy = !known.contains(own)
            && known.contains(&stem)
            && !numbers.contains(&stem)
            && (beside.contains(&stem) || is_whole(number));
        Some(if is_copy { stem } else { own.to_owned() })
    });
    let to: Vec<Option<String>> = to.collect();
    let from_above = above(source, &from, &to);
    let to_above = above(target, &to, &from);
    // For each name and joint above: the joint, and the number of such joints.
    let mut there: HashMap<(&str, Option<u16>), (u16, usize)> = HashMap::new();
    for (joint, (name, &above)) in from.iter().zip(&from_above).enumerate() {
        if let Some(name) = name {
            there.entry((name, above)).or_insert((joint as u16, 0)).1 += 1;
        }
    }
    let tops = tops(source, &from);
    let mut counts: HashMap<(&str, Option<u16>), usize> = HashMap::new();
    for (name, &above) in to.iter().zip(&to_above) {
        if let Some(name) = name {
            *counts.entry((name, above)).or_default() += 1;
        }
    }
    // Parents come before their children.
    for joint in 0..target.len() {
        let (None, Some(name)) = (found[joint], &to[joint]) else { continue };
        let top = tops.get(name.as_str()).copied().flatten();
        let single = |above| match there.get(&(name.as_str(), above)) {
            Some(&(joint, 1)) => Some(joint),
            _ => None,
        };
        let of = match to_above[joint] {
            None => single(None).or(top),
            Some(_) if top.is_none() && counts[&(name.as_str(), to_above[joint])] > 1 => None,
            Some(above) => found[usize::from(above)].and_then(|(above, _)| single(Some(above))),
        };
        if let Some(of) = of {
            found[joint] = Some((of, how));
        }
    }
}

/// For each name its joint, if that is on the single chain down from a root and no other joint has the name.
fn tops<'a>(skeleton: &Skeleton, names: &'a [Option<String>]) -> HashMap<&'a str, Option<u16>> {
    let mut children = vec![0usize; skeleton.len()];
    for &parent in skeleton.parents() {
        if let Some(count) = children.get_mut(usize::from(parent)) {
            *count += 1;
        }
    }
    let mut alone: Vec<bool> = Vec::with_capacity(skeleton.len());
    let mut tops = HashMap::new();
    for (joint, (&parent, name)) in skeleton.parents().iter().zip(names).enumerate() {
        let parent = usize::from(parent);
        let is_alone = alone.get(parent).is_none_or(|above| *above && children[parent] == 1);
        alone.push(is_alone);
        if let Some(name) = name {
            let own = is_alone.then_some(joint as u16);
            let place = tops.entry(name.as_str());
            place.and_modify(|top| *top = None).or_insert(own);
        }
    }
    tops
}

/// Pairs joints of equal hierarchies by index if a name is missing, unless names contradict that order.
fn by_index(source: &Skeleton, target: &Skeleton, found: &mut Pairs) {
    let in_order = |(b, pair): (usize, &Option<(u16, BindMatch)>)| {
        pair.is_none_or(|(a, _)| usize::from(a) == b)
    };
    if source.parents() != target.parents() || !found.iter().enumerate().all(in_order) {
        return;
    }
    let names = source.names().iter().zip(target.names());
    for (joint, (pair, (a, b))) in found.iter_mut().zip(names).enumerate() {
        if pair.is_none() && (a.is_empty() || b.is_empty()) {
            *pair = Some((joint as u16, BindMatch::Index));
        }
    }
}

/// For each joint, the nearest joint above it whose name the other skeleton has.
fn above(
    skeleton: &Skeleton,
    own: &[Option<String>],
    other: &[Option<String>],
) -> Vec<Option<u16>> {
    let other: HashSet<&str> = other.iter().flatten().map(String::as_str).collect();
    let mut all: Vec<Option<u16>> = Vec::with_capacity(skeleton.len());
    for &parent in skeleton.parents() {
        let at = usize::from(parent);
        let named = own.get(at).and_then(Option::as_deref);
        let named = named.is_some_and(|name| other.contains(name));
        all.push(if named { Some(parent) } else { all.get(at).copied().flatten() });
    }
    all
}

/// A hash of the path of every joint, since hierarchies may be deep and paths are compared for all joints of one name.
fn path_hashes(skeleton: &Skeleton) -> Vec<u64> {
    let mut all: Vec<u64> = Vec::with_capacity(skeleton.len());
    for (name, &parent) in skeleton.names().iter().zip(skeleton.parents()) {
        let mut h = Fnv1a::default();
        h.write_u64(all.get(usize::from(parent)).copied().unwrap_or_default());
        h.write(name.as_bytes());
        all.push(h.finish());
    }
    all
}

/// The unbound joints by the key of their names. Joints without a name have no key.
fn by_key(
    skeleton: &Skeleton,
    taken: &[bool],
    key: &dyn Fn(&str) -> String,
) -> HashMap<String, Vec<u16>> {
    let mut all: HashMap<String, Vec<u16>> = HashMap::new();
    for (joint, name) in skeleton.names().iter().enumerate() {
        if !taken[joint] && !name.is_empty() {
            all.entry(key(name)).or_default().push(joint as u16);
        }
    }
    all
}

/// Names of the joint that carries a body: the whole name, without prefixes and case.
const HIPS: [&str; 10] = [
    "hips",
    "hip",
    "pelvis",
    "cog",
    "hips_jnt",
    "bip01 pelvis",
    "bip001 pelvis",
    "bip01_pelvis",
    "j_bip_c_hips",
    "def-spine",
];

/// Whether a name is that of the hips, with or without the number of a copy or of an export by Sketchfab. Rigify's
/// `DEF-spine` are the hips; with a number it is another joint of the spine.
pub fn is_hips(name: &str) -> bool {
    let whole = unprefixed(name).to_lowercase();
    let stem = stripped(unindexed(name)).to_lowercase();
    HIPS.contains(&whole.as_str()) || (HIPS.contains(&stem.as_str()) && stem != "def-spine")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skeleton::{Joint, Trs};

    fn skeleton(joints: &[(&str, Option<usize>)]) -> Skeleton {
        let joints: Vec<Joint> = joints
            .iter()
            .map(|&(name, parent)| Joint { name: name.into(), parent, rest: Trs::IDENTITY })
            .collect();
        Skeleton::new(&joints, None, Vec::new()).unwrap()
    }

    #[test]
    fn prefixes_are_stripped() {
        for (name, short) in [
            ("mixamorig:Hips", "Hips"),
            ("mixamorig1:Hips", "Hips"),
            ("mixamorigHips", "Hips"),
            ("mixamorig9_Hips", "Hips"),
            ("mixamorig", "mixamorig"),
            ("Armature|Hips.001", "Hips"),
            ("a:b:Hips", "Hips"),
            ("Hips", "Hips"),
            ("Spine.1", "Spine.1"),
            (".001", ".001"),
            ("ns:", "ns:"),
            ("", ""),
        ] {
            assert_eq!(stripped(name), short, "{name}");
        }
    }

    #[test]
    fn scalars_pair_as_the_joints_of_their_nodes_do() {
        let source = [
            "rig:Face.weights[0]",
            "rig:Face.weights[1]",
            "TEETH.001.weights[0]",
            "brow.weights[0]",
            "grip",
            "Tail.weights[0]",
            "Tail.weights[0]",
            "Brow.weights[0]",
            "x:Twin.weights[0]",
            "y:Twin.weights[0]",
            "Spine.001.weights[0]",
            "Spine.002.weights[0]",
        ];
        let target = [
            "Face.weights[1]",
            "Face.weights[0]",
            "Teeth.weights[0]",
            "brow.weights[1]",
            "hand:Grip",
            "Tail.weights[0]",
            "Tail.weights[0]",
            "Brow.weights[0]",
            "Brow.weights[0]",
            "Twin.weights[0]",
            "Spine.weights[0]",
        ];
        let (none, some) = (Vec::new, |place: usize| vec![place]);
        let expected = [
            some(1),
            some(0),
            some(2),
            none(),
            some(4),
            some(5),
            some(6),
            vec![7, 8],
            none(),
            none(),
            none(),
            none(),
        ];
        assert_eq!(scalar_pairs(&source, &target), expected);
    }

    #[test]
    fn hips_are_known_by_their_names() {
        for name in [
            "mixamorig:Hips",
            "Hips.001",
            "Hips_01",
            "mixamorig:Hips_010",
            "Bip01_Pelvis_02",
            "DEF-spine",
        ] {
            assert!(is_hips(name), "{name}");
        }
        for name in ["DEF-spine.001", "DEF-spine_01", "Hips_1", "Hips2", "spine_01", "_01", ""] {
            assert!(!is_hips(name), "{name}");
        }
    }

    #[test]
    fn equal_names_come_first_and_case_last() {
        let source = skeleton(&[("mixamorig:Hips", None), ("Leg", Some(0)), ("ARM.001", Some(0))]);
        let target = skeleton(&[
            ("Armature", None),
            ("Hips", Some(0)),
            ("leg", Some(1)),
            ("Leg", Some(1)),
            ("Arm", Some(1)),
        ]);
        let mut ambiguous = Vec::new();
        let found = pairs(&source, &target, &mut ambiguous);
        let expected = [
            None,
            Some((0, BindMatch::WithoutPrefix)),
            None,
            Some((1, BindMatch::Exact)),
            Some((2, BindMatch::WithoutCase)),
        ];
        assert_eq!(found, expected);
        assert!(ambiguous.is_empty());
    }

    #[test]
    fn numbers_that_tell_joints_apart_are_kept() {
        let bound = |source: &[&str], target: &[&str]| -> Vec<(String, String)> {
            let [source, target] = [source, target].map(|names| {
                let joints: Vec<_> = names.iter().map(|n| (*n, None)).collect();
                skeleton(&joints)
            });
            let mut ambiguous = Vec::new();
            let found = pairs(&source, &target, &mut ambiguous);
            assert!(ambiguous.is_empty(), "{ambiguous:?}");
            let names = |(b, a): (usize, u16)| {
                let a = source.names()[usize::from(a)].clone();
                (a, target.names()[b].clone())
            };
            let pairs = found.iter().enumerate();
            pairs.filter_map(|(b, p)| Some(names((b, p.as_ref()?.0)))).collect()
        };
        let same = |names: &[&str]| -> Vec<(String, String)> {
            let both = names.iter().map(|n| (n.to_string(), n.to_string()));
            both.collect()
        };
        // The remaining joints of both are different bones.
        let a = ["DEF-spine", "DEF-spine.001", "DEF-spine.006"];
        let b = ["DEF-spine", "DEF-spine.001", "DEF-spine.003"];
        assert_eq!(bound(&a, &b), same(&a[..2]));
        // One side alone may have the numbered names, without the bare one.
        assert_eq!(bound(&a[2..], &b), []);
        assert_eq!(bound(&b, &a[2..]), []);
        assert_eq!(bound(&["spine"], &["spine.001", "spine.002"]), []);
        assert_eq!(bound(&["spine.002"], &["Spine", "SPINE.001"]), []);
        // Below a prefix, and without case, equal numbers still bind.
        let prefixed = ["rig:DEF-spine", "rig:DEF-Spine.003"];
        let expected = [("DEF-spine", "rig:DEF-spine"), ("DEF-spine.003", "rig:DEF-Spine.003")]
            .map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(bound(&b, &prefixed), expected);
        // The target is a copy of a whole armature.
        let copy = ["Hips.001", "Leg.L.001", "Leg.R.001"];
        assert_eq!(bound(&copy, &["Hips", "Leg.L", "Leg.R"]).len(), 3);
    }

    #[test]
    fn names_that_repeat_bind_by_their_paths_alone() {
        let source = skeleton(&[("l", None), ("end", Some(0)), ("r", None), ("end", Some(2))]);
        let target = skeleton(&[("r", None), ("l", None), ("end", Some(0)), ("end", Some(1))]);
        let mut ambiguous = Vec::new();
        let found = pairs(&source, &target, &mut ambiguous);
        let joints: Vec<_> = found.iter().map(|p| p.map(|p| p.0)).collect();
        assert_eq!(joints, [Some(2), Some(0), Some(3), Some(1)]);
        assert!(ambiguous.is_empty());
        let other = skeleton(&[("x", None), ("end", Some(0)), ("end", Some(0))]);
        let found = pairs(&source, &other, &mut ambiguous);
        assert!(found.iter().all(Option::is_none));
        assert_eq!(ambiguous, ["end"]);
    }
}
