//! `HumanoidMap::find`, `of_rig` and `draft`: by the file's extension, by tables of names, checked against the hierarchy, or
//! by shape.

use super::map::{HumanoidMap, MapOrigin, is_below, is_loose};
use super::names::{are_indexed, cut_affixes, plain, sides, unindexed, without_middle};
use super::shape::{Shape, by_shape, spread};
use super::tables::{SIDES, TABLES, Table};
use crate::retarget::bind::Numbered;
use crate::retarget::error::RetargetError;
use crate::retarget::motion::Motion;
use crate::retarget::reference::{bound, narrow};
use crate::rig::Rig;
use crate::skeleton::{HumanBone, NO_JOINT, Skeleton, Trs};
use std::collections::HashMap;

/// The bones that joints with known names must at least have: a body that walks and swings its arms.
const LEAST: [HumanBone; 10] = [
    HumanBone::Hips,
    HumanBone::Spine,
    HumanBone::LeftUpperLeg,
    HumanBone::LeftLowerLeg,
    HumanBone::RightUpperLeg,
    HumanBone::RightLowerLeg,
    HumanBone::LeftUpperArm,
    HumanBone::LeftLowerArm,
    HumanBone::RightUpperArm,
    HumanBone::RightLowerArm,
];

/// The ends of arms and legs.
const ENDS: [HumanBone; 4] =
    [HumanBone::LeftFoot, HumanBone::RightFoot, HumanBone::LeftHand, HumanBone::RightHand];

/// Bones beside those of limbs that a shape shows where names do not cover them.
const MORE: [HumanBone; 4] =
    [HumanBone::Neck, HumanBone::Head, HumanBone::LeftToes, HumanBone::RightToes];

const TRUNK: [HumanBone; 3] = [HumanBone::Spine, HumanBone::Chest, HumanBone::UpperChest];

/// Bones of the head that shapes do not show.
const FACE: [HumanBone; 3] = [HumanBone::LeftEye, HumanBone::RightEye, HumanBone::Jaw];

/// Number of bones by which the table of general words must exceed other tables.
const GENERAL: usize = 3;

/// Limit on the prefixes, one after the other, that are removed from names.
const MOST_PREFIXES: usize = 4;

/// Limit on the joints of one name that are examined: a hostile file may have 65,535 joints of one name in one chain.
const MOST_ALIKE: usize = 64;

/// Limits on the clips, and on the frames of each, that are examined for the shape of a humanoid.
const CLIPS: usize = 8;
const FRAMES: usize = 8;

/// A skeleton, prepared for a search.
struct Joints<'a> {
    skeleton: &'a Skeleton,
    /// Joints by plain name.
    by_name: HashMap<String, Vec<usize>>,
    /// Number of joints below each joint.
    below: Vec<usize>,
}

impl HumanoidMap {
    /// Finds the humanoid of a skeleton by the names of its joints, or else by the shape of its rest pose.
    ///
    /// Known are the conventions of Mixamo, CMU, LAFAN1, VRM, Unity, VRoid, Unreal, Rigify, Biped, Poser, 3ds Max, Xsens,
    /// Biovision, OptiTrack and VRM's add-on for Blender, those of a few sample models, and the usual words for parts of the
    /// body, as in SMPL, Kinect, Second Life, Daz, Character Creator, MakeHuman, Roblox, Valve, ARKit, Rokoko and MMD. Names
    /// are compared without namespaces, common prefixes and suffixes, separators, case, the indices of Sketchfab and those
    /// numbers of Blender's copies (`.001`) that do not distinguish joints. The table that finds most bones wins. A bone's
    /// joint must lie below that of the bone above it; only feet and hands may be elsewhere.
    ///
    /// Joints of other names are a humanoid if two equal chains go down from one of them, one goes up, and two equal chains
    /// branch off that: [`MapOrigin::Shape`]. Left and right follow from names that state them, or from the directions of
    /// toes and bent knees; a body without these faces z, or -y if z is up.
    ///
    /// # Errors
    /// If no table finds hips, spine, both legs and both arms, each with an upper and a lower bone, and the rest pose does not
    /// have that shape.
    pub fn find(skeleton: &Skeleton) -> Result<Self, RetargetError> {
        Self::find_in_pose(skeleton, &rest(skeleton))
    }

    /// The same as [`HumanoidMap::find`], by the shape of a pose in which the body stands instead of the rest pose: the
    /// bind pose, or a pose of a clip. `pose` holds local transforms in joint order.
    ///
    /// # Errors
    /// Those of [`HumanoidMap::find`]. A pose with another number of joints, or that is not finite, has no shape.
    pub fn find_in_pose(skeleton: &Skeleton, pose: &[Trs]) -> Result<Self, RetargetError> {
        let best = best_match(skeleton, pose);
        if best.whole {
            return Self::new(skeleton, &best.pairs, best.origin);
        }
        Err(RetargetError::NoHumanoid {
            tables: TABLES.len(),
            best: if let MapOrigin::Names(table) = best.origin { table } else { "" },
            found: best.pairs.len(),
            lacking: Self::unchecked(&best.pairs, best.origin).lacking().collect(),
        })
    }

    /// The humanoid of a rig: from its file's extension (`VRMC_vrm`, `VRM`, `VRMC_vrm_animation`) if it has one, or else by
    /// [`HumanoidMap::find`] from names or the shape of the rest pose. As rest poses may lie, the shapes of the bind pose and
    /// of some frames of its clips come last.
    ///
    /// # Errors
    /// If [`HumanoidMap::new`] refuses the extension's table, no table of names fits, and no pose has the shape.
    pub fn of_rig(rig: &Rig) -> Result<Self, RetargetError> {
        if !rig.humanoid().is_empty() {
            return Self::new(rig.skeleton(), &stated(rig), MapOrigin::Extension);
        }
        Self::find(rig.skeleton()).or_else(|refused| {
            let mut found = poses(rig).filter_map(|pose| shape_match(rig.skeleton(), &pose));
            let found = found.find_map(|m| Self::new(rig.skeleton(), &m.pairs, m.origin).ok());
            found.ok_or(refused)
        })
    }

    /// A map to complete by hand. The bones come from the file's extension if it has one, from [`HumanoidMap::of_rig`],
    /// or from the best table of names. The map is unchecked: it may have too few bones for retargeting, or none.
    pub fn draft(rig: &Rig) -> Self {
        if !rig.humanoid().is_empty() {
            return Self::unchecked(&stated(rig), MapOrigin::Extension);
        }
        Self::of_rig(rig).unwrap_or_else(|_| {
            let best = best_match(rig.skeleton(), &rest(rig.skeleton()));
            Self::unchecked(&best.pairs, best.origin)
        })
    }
}

fn poses(rig: &Rig) -> impl Iterator<Item = Vec<Trs>> {
    let clips = rig.clips().iter().take(CLIPS);
    let clips = clips.filter(|clip| RetargetError::check(clip, rig.skeleton()).is_ok());
    let frames = clips.flat_map(|clip| {
        let (motion, _) = Motion::of_clip(clip, rig.skeleton());
        let time = |k: usize| clip.duration() * (k as f32 / FRAMES as f32);
        (0..FRAMES).map(move |k| narrow(&motion.pose(time(k))))
    });
    std::iter::once_with(move || bound(rig)).flatten().chain(frames)
}

fn stated(rig: &Rig) -> Vec<(HumanBone, usize)> {
    let pairs = rig.humanoid().iter();
    pairs.map(|&(b, joint)| (b, usize::from(joint))).collect()
}

fn rest(skeleton: &Skeleton) -> Vec<Trs> {
    (0..skeleton.len()).map(|j| skeleton.rest(j)).collect()
}

/// The best result of tables and shape: one with all of [`LEAST`] comes before others, then the table with most bones.
fn best_match(skeleton: &Skeleton, pose: &[Trs]) -> Match {
    let indexed = are_indexed(skeleton.names());
    let numbered = Numbered::of([skeleton.names().iter().map(String::as_str)]);
    let own = skeleton.names().iter().map(|name| {
        let name = if indexed { unindexed(name) } else { name };
        numbered.strip(name).to_owned()
    });
    let mut names: Vec<String> = own.collect();
    let mut best = Match::default();
    for _ in 0..=MOST_PREFIXES {
        let joints = Joints::new(skeleton, &names);
        for table in TABLES {
            let pairs = joints.matches(table);
            let found =
                Match { whole: is_whole(&pairs), origin: MapOrigin::Names(table.name), pairs };
            if best.origin == MapOrigin::Given || found.rank() > best.rank() {
                best = found;
            }
        }
        if !cut_affixes(&mut names) {
            break;
        }
    }
    let has = |bone: &HumanBone| best.pairs.iter().any(|pair| pair.0 == *bone);
    if best.whole && ENDS.iter().chain(&MORE).chain(&TRUNK).all(has) {
        return best;
    }
    match shape_match(skeleton, pose) {
        None => best,
        // Names of arms and legs may not cover what is at their ends, nor all of the trunk.
        Some(shape) if best.whole => {
            best.complete(&shape, skeleton);
            best
        }
        Some(mut shape) => {
            let small = |bone: HumanBone| bone.is_finger() || FACE.contains(&bone);
            best.pairs.retain(|pair| small(pair.0));
            shape.join(best, skeleton);
            shape
        }
    }
}

/// The result of a pose's shape, if it has all of [`LEAST`].
fn shape_match(skeleton: &Skeleton, pose: &[Trs]) -> Option<Match> {
    let Shape { pairs, confidence } = by_shape(skeleton, pose)?;
    let whole = is_whole(&pairs);
    whole.then_some(Match { whole, origin: MapOrigin::Shape(confidence), pairs })
}

fn is_whole(pairs: &[(HumanBone, usize)]) -> bool {
    LEAST.iter().all(|bone| pairs.iter().any(|p| p.0 == *bone))
}

#[derive(Default)]
struct Match {
    /// Whether it has all of [`LEAST`].
    whole: bool,
    origin: MapOrigin,
    pairs: Vec<(HumanBone, usize)>,
}

impl Match {
    /// The words of the last table mean different bones in different rigs, so that a few more of them count less.
    fn rank(&self) -> (bool, usize) {
        let last = TABLES.last().map(|table| table.name);
        let general = self.origin == MapOrigin::Names(last.unwrap_or(""));
        let counted = if general { GENERAL } else { 0 };
        (self.whole, self.pairs.len().saturating_sub(counted))
    }

    /// Adds the ends of limbs, neck and head of a shape that has the same arms and legs; and its trunk, if that has more bones.
    fn complete(&mut self, shape: &Self, skeleton: &Skeleton) {
        let part = |bones: &[HumanBone]| -> Self {
            let pairs = shape.pairs.iter().filter(|pair| bones.contains(&pair.0));
            Self { pairs: pairs.copied().collect(), ..*shape }
        };
        let limbs = part(&LEAST[2..]).pairs;
        if !limbs.iter().all(|pair| self.pairs.contains(pair)) {
            return;
        }
        self.join(part(&ENDS), skeleton);
        MORE.into_iter().for_each(|bone| self.join(part(&[bone]), skeleton));
        let trunk = part(&TRUNK);
        let (own, others): (Vec<_>, Vec<_>) =
            self.pairs.iter().copied().partition(|pair| TRUNK.contains(&pair.0));
        let mut joined = Self { pairs: others, ..*self };
        joined.join(trunk, skeleton);
        let hips = |all: &Self| all.pairs.iter().find(|pair| pair.0 == HumanBone::Hips).copied();
        if hips(self) == hips(shape) && joined.pairs.len() > self.pairs.len() && !own.is_empty() {
            self.pairs = joined.pairs;
        }
    }

    /// Adds bones that were found in another way, such as fingers by names, if they contradict none.
    fn join(&mut self, other: Self, skeleton: &Skeleton) {
        let known = |pair: &&(HumanBone, usize)| {
            let mut own = self.pairs.iter();
            own.any(|p| p.0 == pair.0 || p.1 == pair.1)
        };
        let mut shared = other.pairs.iter().filter(known);
        if shared.any(|pair| !self.pairs.contains(pair)) {
            return;
        }
        let more = other.pairs.iter().filter(|pair| !known(pair));
        let mut pairs = self.pairs.clone();
        pairs.extend(more);
        if HumanoidMap::new(skeleton, &pairs, self.origin).is_ok() {
            self.pairs = pairs;
        }
    }
}

impl<'a> Joints<'a> {
    /// `names` are without their common affixes.
    fn new(skeleton: &'a Skeleton, names: &[String]) -> Self {
        let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
        for (joint, name) in names.iter().enumerate() {
            let mut add = |name| by_name.entry(name).or_default().push(joint);
            add(plain(name));
            let sides = sides(name);
            for side in &sides {
                add(format!("{}{}", SIDES[usize::from(!side.left)], plain(&side.stem())));
            }
            if let (Some(name), true) = (without_middle(name), sides.is_empty()) {
                add(plain(&name));
            }
        }
        let mut below = vec![0usize; skeleton.len()];
        for (joint, &parent) in skeleton.parents().iter().enumerate().rev() {
            if parent != NO_JOINT {
                below[usize::from(parent)] += below[joint] + 1;
            }
        }
        Self { skeleton, by_name, below }
    }

    /// The bones that a table finds, parents first.
    fn matches(&self, table: &Table) -> Vec<(HumanBone, usize)> {
        let mut found: Vec<(HumanBone, usize)> = Vec::new();
        let spine = self.spine(table);
        for bone in HumanBone::all() {
            let above = std::iter::successors(bone.parent(), |b| b.parent())
                .find_map(|b| found.iter().find(|f| f.0 == b));
            let arm = match bone {
                HumanBone::LeftShoulder => Some(HumanBone::LeftUpperArm),
                HumanBone::RightShoulder => Some(HumanBone::RightUpperArm),
                _ => None,
            };
            // A joint that has names of shoulder and arm is the arm.
            let arm = arm.and_then(|arm| self.named(table, arm, above.map(|a| a.1)));
            let joint = match bone {
                HumanBone::Spine => spine[0],
                HumanBone::Chest => spine[1],
                HumanBone::UpperChest => spine[2],
                _ => self.named(table, bone, above.map(|a| a.1)),
            };
            let free = |j: &usize| arm != Some(*j) && found.iter().all(|f| f.1 != *j);
            let Some(joint) = joint.filter(free) else { continue };
            let placed = above.is_none_or(|a| is_below(self.skeleton, joint, a.1));
            if placed || is_loose(bone) {
                found.push((bone, joint));
            }
        }
        // A shoulder without an arm below it may be the arm, so it is dropped.
        for (shoulder, arm) in [
            (HumanBone::LeftShoulder, HumanBone::LeftUpperArm),
            (HumanBone::RightShoulder, HumanBone::RightUpperArm),
        ] {
            if found.iter().all(|f| f.0 != arm) {
                found.retain(|f| f.0 != shoulder);
            }
        }
        found
    }

    /// The joint with one of a bone's names: preferably below `above`, then the one with most joints below it.
    fn named(&self, table: &Table, bone: HumanBone, above: Option<usize>) -> Option<usize> {
        let left = bone.name().starts_with("left");
        let right = bone.name().starts_with("right");
        let side = table.sides[usize::from(right)];
        for (row, names) in table.rows() {
            if row != bone && !(right && row.mirrored() == bone) {
                continue;
            }
            for name in names.filter(|name| !name.is_empty()) {
                let sided = name.contains(['~', '|']);
                let applies = row == bone || sided;
                if !applies || (sided && !left && !right) {
                    continue;
                }
                let name = name.split('|').nth(usize::from(right)).unwrap_or(name);
                let Some(joints) = self.by_name.get(&name.replace('~', side)) else { continue };
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

    /// The joints of spine, chest and upper chest: the longest chain of joints with names of the spine, spread over the three
    /// bones.
    fn spine(&self, table: &Table) -> [Option<usize>; 3] {
        let named = table.spine.split(' ').filter_map(|name| self.by_name.get(name));
        let mut joints: Vec<usize> = named.flatten().copied().collect();
        joints.sort_unstable();
        joints.dedup();
        let mut best: Vec<usize> = Vec::new();
        for &end in joints.iter().take(MOST_ALIKE) {
            let above = |&&j: &&usize| j == end || is_below(self.skeleton, end, j);
            let chain: Vec<usize> = joints.iter().take(MOST_ALIKE).filter(above).copied().collect();
            if chain.len() > best.len() {
                best = chain;
            }
        }
        let mut bones = [None; 3];
        for (place, (_, joint)) in bones.iter_mut().zip(spread(&best)) {
            *place = Some(joint);
        }
        bones
    }
}
