//! `HumanoidMap::find` and `MapDraft::find`: by tables of names, checked by the shape of the hierarchy.

use super::draft::MapDraft;
use super::error::MapError;
use super::map::{HumanoidMap, MapOrigin, is_below, is_loose};
use super::names::{are_indexed, plain, unindexed};
use super::tables::{TABLES, Table};
use crate::retarget::bind::Numbered;
use crate::skeleton::HumanBone;
use crate::skeleton::{NO_JOINT, Skeleton};
use std::collections::HashMap;

/// The least that makes a humanoid of joints with known names: what a walk needs.
const LEAST: [HumanBone; 6] = [
    HumanBone::Hips,
    HumanBone::Spine,
    HumanBone::LeftUpperLeg,
    HumanBone::LeftLowerLeg,
    HumanBone::RightUpperLeg,
    HumanBone::RightLowerLeg,
];

/// The most joints of one name that are looked at: a hostile file may have 65,535, each with as many above it.
const MOST_ALIKE: usize = 64;

/// A skeleton, prepared for a search.
struct Joints<'a> {
    skeleton: &'a Skeleton,
    /// Joints by plain name.
    by_name: HashMap<String, Vec<usize>>,
    /// Number of joints below each.
    below: Vec<usize>,
}

impl HumanoidMap {
    /// Finds the humanoid of a skeleton by the names of its joints.
    ///
    /// Known are the conventions of Mixamo, CMU, LAFAN1, VRM, Unity, VRoid, Unreal, Rigify, Biped and Poser,
    /// and those of a few sample models. Names are compared without namespaces, prefixes, separators, case, the
    /// indices of Sketchfab and the numbers of Blender's copies (`.001`) that tell no joints apart.
    /// The table that finds most bones wins. A bone's joint must lie below that of the bone above it; only feet
    /// and hands may hang elsewhere.
    ///
    /// # Errors
    /// If no table finds hips, spine and both legs, each with an upper and a lower bone.
    pub fn find(skeleton: &Skeleton) -> Result<Self, MapError> {
        match best_match(skeleton) {
            Some(Match {
                whole: true,
                table,
                pairs,
            }) => Self::new(skeleton, &pairs, MapOrigin::Names(table.name)),
            best => Err(MapError::Unknown {
                tables: TABLES.len(),
                best: best.as_ref().map_or("", |b| b.table.name),
                found: best.as_ref().map_or(0, |b| b.pairs.len()),
                lacking: MapDraft::find(skeleton).lacking().collect(),
            }),
        }
    }
}

impl MapDraft {
    /// The bones that the table of names finds which finds most, as [`HumanoidMap::find`] does; they may be too few
    /// for a map.
    pub fn find(skeleton: &Skeleton) -> Self {
        let best = best_match(skeleton);
        best.map_or_else(Self::default, |b| {
            Self::new(b.pairs, MapOrigin::Names(b.table.name))
        })
    }
}

/// What the best table finds: one with all of [`LEAST`] before others, then the one that finds most bones.
fn best_match(skeleton: &Skeleton) -> Option<Match> {
    let joints = Joints::new(skeleton);
    let mut best: Option<Match> = None;
    for table in TABLES {
        let pairs = joints.matches(table);
        let has = |bone: &HumanBone| pairs.iter().any(|p| p.0 == *bone);
        let found = Match {
            whole: LEAST.iter().all(has),
            table,
            pairs,
        };
        if best.as_ref().is_none_or(|b| found.rank() > b.rank()) {
            best = Some(found);
        }
    }
    best
}

/// What a table finds.
struct Match {
    /// Whether it has the least that makes a humanoid.
    whole: bool,
    table: &'static Table,
    pairs: Vec<(HumanBone, usize)>,
}

impl Match {
    fn rank(&self) -> (bool, usize) {
        (self.whole, self.pairs.len())
    }
}

impl<'a> Joints<'a> {
    fn new(skeleton: &'a Skeleton) -> Self {
        let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
        let indexed = are_indexed(skeleton.names());
        let numbered = Numbered::of([skeleton.names().iter().map(String::as_str)]);
        for (joint, name) in skeleton.names().iter().enumerate() {
            let name = if indexed { unindexed(name) } else { name };
            let name = plain(numbered.strip(name));
            by_name.entry(name).or_default().push(joint);
        }
        let mut below = vec![0usize; skeleton.len()];
        for (joint, &parent) in skeleton.parents().iter().enumerate().rev() {
            if parent != NO_JOINT {
                below[usize::from(parent)] += below[joint] + 1;
            }
        }
        Self {
            skeleton,
            by_name,
            below,
        }
    }

    /// The bones that a table finds, parents first.
    fn matches(&self, table: &Table) -> Vec<(HumanBone, usize)> {
        let mut found: Vec<(HumanBone, usize)> = Vec::new();
        let spine = self.spine(table);
        for bone in HumanBone::all() {
            let above = std::iter::successors(bone.parent(), |b| b.parent())
                .find_map(|b| found.iter().find(|f| f.0 == b));
            let joint = match bone {
                HumanBone::Spine => spine[0],
                HumanBone::Chest => spine[1],
                HumanBone::UpperChest => spine[2],
                _ => self.named(table, bone, above.map(|a| a.1)),
            };
            let Some(joint) = joint.filter(|j| found.iter().all(|f| f.1 != *j)) else {
                continue;
            };
            let placed = above.is_none_or(|a| is_below(self.skeleton, joint, a.1));
            if placed || is_loose(bone) {
                found.push((bone, joint));
            }
        }
        found
    }

    /// The joint with one of a bone's names: one below `above`, else the one with most joints below it.
    fn named(&self, table: &Table, bone: HumanBone, above: Option<usize>) -> Option<usize> {
        let left = bone.name().starts_with("left");
        let right = bone.name().starts_with("right");
        let side = table.sides[usize::from(right)];
        for (row, names) in table.rows {
            for name in *names {
                let sided = name.contains('~');
                let applies = *row == bone || (sided && right && row.mirrored() == bone);
                if !applies || (sided && !left && !right) {
                    continue;
                }
                let Some(joints) = self.by_name.get(&name.replace('~', side)) else {
                    continue;
                };
                let rank = |&&j: &&usize| {
                    let placed = above.is_none_or(|a| is_below(self.skeleton, j, a));
                    (placed, self.below[j], std::cmp::Reverse(j))
                };
                if let Some(&joint) = joints.iter().take(MOST_ALIKE).max_by_key(rank) {
                    return Some(joint);
                }
            }
        }
        None
    }

    /// The joints of spine, chest and upper chest: the longest chain of joints with names of the spine, spread
    /// over three bones.
    fn spine(&self, table: &Table) -> [Option<usize>; 3] {
        let named = table
            .spine
            .iter()
            .filter_map(|name| self.by_name.get(*name));
        let mut joints: Vec<usize> = named.flatten().copied().collect();
        joints.sort_unstable();
        joints.dedup();
        let mut best: Vec<usize> = Vec::new();
        for &end in joints.iter().take(MOST_ALIKE) {
            let above = |&&j: &&usize| j == end || is_below(self.skeleton, end, j);
            let chain: Vec<usize> = joints
                .iter()
                .take(MOST_ALIKE)
                .filter(above)
                .copied()
                .collect();
            if chain.len() > best.len() {
                best = chain;
            }
        }
        match best.as_slice() {
            [] => [None; 3],
            [one] => [Some(*one), None, None],
            [one, two] => [Some(*one), Some(*two), None],
            [first, between @ .., last] => [
                Some(*first),
                between.get(between.len() / 2).copied(),
                Some(*last),
            ],
        }
    }
}
