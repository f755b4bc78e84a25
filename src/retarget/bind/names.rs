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
mod tests;
