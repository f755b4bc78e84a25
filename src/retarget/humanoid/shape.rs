//! A humanoid by the shape of its rest pose, whatever its joints are called: two chains that go down, one that goes up,
//! two that go to the sides.

use super::map::is_below;
use crate::skeleton::HumanBone as B;
use crate::skeleton::{NO_JOINT, Skeleton};
use glam::{DAffine3, DVec3};

/// The most ends of chains that are looked at in pairs.
const MOST_ENDS: usize = 96;

/// Lengths of a body are shares of its height from the lowest joint to the highest. Hips are at least this high.
const LEAST_DROP: f64 = 0.25;
/// Feet are within this share of the hips' height of the lowest joint.
const FOOT: f64 = 0.2;
/// An arm has at least this length.
const LEAST_ARM: f64 = 0.15;
/// Lengths of both sides differ by at most this share.
const UNEVEN: f64 = 0.15;
/// A segment below this share of the longest one of its chain is no part of the limb: fingers.
const SHORT: f64 = 0.35;
/// A bone is at most this much longer than the other of its limb.
const UNLIKE: f64 = 2.2;
/// The least confidence with which a shape is offered.
const LEAST: f64 = 0.5;

/// What a shape tells.
pub(super) struct Shape {
    pub pairs: Vec<(B, usize)>,
    /// Per cent: how alike the sides are, and how near proportions are to those of people.
    pub confidence: u8,
}

/// The humanoid of a skeleton's rest pose, if it has the shape of one.
pub(super) fn by_shape(skeleton: &Skeleton) -> Option<Shape> {
    let tree = Tree::new(skeleton)?;
    // Files whose z points up are rare: of equals the first is taken.
    let found = [DVec3::Y, DVec3::Z]
        .into_iter()
        .filter_map(|up| tree.body(up));
    found.reduce(|a, b| if b.confidence > a.confidence { b } else { a })
}

struct Tree<'a> {
    skeleton: &'a Skeleton,
    places: Vec<DVec3>,
    children: Vec<Vec<usize>>,
    /// Joints without others below.
    ends: Vec<usize>,
}

/// Two chains from one joint, of both sides; without that joint.
struct Chains {
    from: usize,
    sides: [Vec<usize>; 2],
    /// By how much they differ, as a share.
    uneven: f64,
}

/// Three joints of a limb in a chain, by their indices in it.
#[derive(Clone, Copy)]
struct Limb {
    upper: usize,
    middle: usize,
    end: usize,
}

impl<'a> Tree<'a> {
    fn new(skeleton: &'a Skeleton) -> Option<Self> {
        let count = skeleton.len();
        let mut models: Vec<DAffine3> = Vec::with_capacity(count);
        let mut children = vec![Vec::new(); count];
        for (joint, &parent) in skeleton.parents().iter().enumerate() {
            let rest = skeleton.rest(joint);
            let mut model = DAffine3::from_scale_rotation_translation(
                rest.scale.as_dvec3(),
                rest.rotation.as_dquat(),
                rest.translation.as_dvec3(),
            );
            if parent != NO_JOINT {
                model = models[usize::from(parent)] * model;
                children[usize::from(parent)].push(joint);
            }
            models.push(model);
        }
        let places: Vec<DVec3> = models.iter().map(|m| m.translation).collect();
        let mut ends: Vec<usize> = (0..count).filter(|&j| children[j].is_empty()).collect();
        // A body has some twenty; of crowds of props those nearest to the root are taken.
        ends.truncate(MOST_ENDS);
        let sound = places.iter().all(|p| p.is_finite());
        sound.then_some(Self {
            skeleton,
            places,
            children,
            ends,
        })
    }

    fn above(&self, joint: usize) -> Option<usize> {
        let parent = self.skeleton.parents()[joint];
        (parent != NO_JOINT).then_some(usize::from(parent))
    }

    /// The joints from one to another below it, the first left out.
    fn chain(&self, from: usize, to: usize) -> Vec<usize> {
        let up = std::iter::successors(Some(to), |&j| self.above(j));
        let mut chain: Vec<usize> = up.take_while(|&j| j != from).collect();
        chain.reverse();
        chain
    }

    /// The lowest joint that has both below it, or is one of them.
    fn common(&self, a: usize, b: usize) -> Option<usize> {
        let mut up = std::iter::successors(Some(a), |&j| self.above(j));
        up.find(|&j| j == b || is_below(self.skeleton, b, j))
    }

    fn length(&self, from: usize, chain: &[usize]) -> f64 {
        let starts = std::iter::once(&from).chain(chain);
        let segments = starts.zip(chain);
        segments.map(|(&a, &b)| self.distance(a, b)).sum()
    }

    fn distance(&self, a: usize, b: usize) -> f64 {
        self.places[a].distance(self.places[b])
    }

    /// The best pair of chains to ends from among some, by `rank`, which may refuse one.
    fn chains(
        &self,
        ends: &[usize],
        across: impl Fn(DVec3) -> f64,
        rank: impl Fn(&Chains) -> Option<f64>,
    ) -> Option<Chains> {
        let mut best: Option<(f64, Chains)> = None;
        for (n, &a) in ends.iter().enumerate() {
            for &b in &ends[n + 1..] {
                let Some(from) = self.common(a, b) else {
                    continue;
                };
                let sides = [a, b].map(|end| self.chain(from, end));
                let [left, right] = [0, 1].map(|s| self.length(from, &sides[s]));
                let ways = [a, b].map(|end| across(self.places[end] - self.places[from]));
                let uneven = (left - right).abs() / left.max(right);
                let both = sides.iter().all(|side| !side.is_empty());
                if !both || uneven.is_nan() || uneven > UNEVEN || ways[0] * ways[1] > 0.0 {
                    continue;
                }
                let found = Chains {
                    from,
                    sides,
                    uneven,
                };
                // Fingers and toes make many: the most even of them.
                if let Some(rank) = rank(&found).map(|rank| rank * (1.0 - uneven))
                    && best.as_ref().is_none_or(|b| rank > b.0)
                {
                    best = Some((rank, found));
                }
            }
        }
        best.map(|b| b.1)
    }

    /// The body of a pose with this up.
    fn body(&self, up: DVec3) -> Option<Shape> {
        let height = |joint: usize| self.places[joint].dot(up);
        let heights = (0..self.places.len()).map(height);
        let lowest = heights.clone().fold(f64::INFINITY, f64::min);
        let size = heights.fold(f64::NEG_INFINITY, f64::max) - lowest;
        if size.is_nan() || size <= 0.0 {
            return None;
        }
        let drop = |chains: &Chains| {
            let ends = chains.sides.iter().filter_map(|side| side.last());
            let low = ends
                .map(|&end| height(end))
                .fold(f64::NEG_INFINITY, f64::max);
            height(chains.from) - low
        };
        // Of ends at the same depth those that are far apart: feet, not the seam of a coat.
        let legs = self.chains(
            &self.ends,
            |_| 0.0,
            |chains| {
                let low = chains.sides.iter().filter_map(|side| side.last());
                let on_ground = low.clone().all(|&end| height(end) - lowest <= FOOT * size);
                let apart = self.distance(*chains.sides[0].last()?, *chains.sides[1].last()?);
                let drop = drop(chains);
                (on_ground && drop >= LEAST_DROP * size && apart > 0.02 * size).then_some(drop)
            },
        )?;
        let flat = |v: DVec3| v - up * v.dot(up);
        let tops = [0, 1].map(|side| self.places[legs.sides[side][0]]);
        let ends = [0, 1].map(|s| self.places[*legs.sides[s].last().unwrap_or(&legs.from)]);
        let across = flat(tops[0] - tops[1]).try_normalize();
        let across = across.or_else(|| flat(ends[0] - ends[1]).try_normalize())?;
        let beside = |v: DVec3| v.dot(across);
        let middle = beside(self.places[legs.from]);
        // The head is above the legs, in the middle.
        let in_legs = |joint: usize| {
            let mut sides = legs.sides.iter();
            sides.any(|side| joint == side[0] || is_below(self.skeleton, joint, side[0]))
        };
        let free: Vec<usize> = self.ends.iter().copied().filter(|&e| !in_legs(e)).collect();
        let central = |joint: usize| (beside(self.places[joint]) - middle).abs() < 0.08 * size;
        let heads = free.iter().copied().filter(|&end| central(end));
        let top = heads.max_by(|&a, &b| height(a).total_cmp(&height(b)))?;
        let hips = self.common(legs.from, top)?;
        let spine = self.chain(hips, top);
        let arms = self.chains(&free, beside, |chains| {
            let length = self.length(chains.from, &chains.sides[0]);
            let on_spine = spine.contains(&chains.from);
            (on_spine && length >= LEAST_ARM * size).then_some(length)
        })?;
        let neck = self.chain(arms.from, top);
        let trunk = self.chain(hips, arms.from);
        if neck.is_empty() || height(hips) - lowest < LEAST_DROP * size {
            return None;
        }
        let mut pairs = vec![(B::Hips, hips)];
        pairs.extend(spread(&trunk));
        pairs.extend(self.head(&neck));
        let mut feet = Vec::new();
        let mut limbs = Vec::new();
        for side in &legs.sides {
            let chain = self.chain(hips, *side.last()?);
            let ankle = chain
                .iter()
                .position(|&j| height(j) - lowest <= FOOT * (height(hips) - lowest));
            let leg = self.limb(hips, &chain, ankle?)?;
            let foot = chain[leg.end];
            let toes = self.children[foot].iter().copied();
            let ahead = |joint: usize| flat(self.places[joint] - self.places[foot]).length();
            let toes = toes.max_by(|&a, &b| ahead(a).total_cmp(&ahead(b)));
            let toes = toes.filter(|&t| ahead(t) > 0.02 * size);
            feet.push((foot, toes));
            limbs.push((chain, leg));
        }
        // Toes point forward; of bodies without them z does, as glTF has it.
        let ahead: DVec3 = feet
            .iter()
            .filter_map(|&(foot, toes)| Some(flat(self.places[toes?] - self.places[foot])))
            .sum();
        let forward = ahead.try_normalize().unwrap_or(match up.z == 0.0 {
            true => DVec3::Z,
            false => -DVec3::Y,
        });
        let left = up.cross(forward);
        let is_left = |joint: usize| (self.places[joint] - self.places[hips]).dot(left) > 0.0;
        for ((chain, leg), (foot, toes)) in limbs.iter().zip(feet) {
            let side = sided(is_left(foot));
            let bones = [B::LeftUpperLeg, B::LeftLowerLeg, B::LeftFoot];
            let joints = [leg.upper, leg.middle, leg.end].map(|at| chain[at]);
            pairs.extend(bones.into_iter().map(side).zip(joints));
            let toes = toes.filter(|&t| !self.is_tip(t));
            pairs.extend(toes.map(|toes| (side(B::LeftToes), toes)));
        }
        for chain in &arms.sides {
            let hand = self.hand(arms.from, chain);
            let arm = self.limb(arms.from, chain, hand)?;
            let side = sided(is_left(chain[arm.end]));
            let bones = [B::LeftUpperArm, B::LeftLowerArm, B::LeftHand];
            let joints = [arm.upper, arm.middle, arm.end].map(|at| chain[at]);
            pairs.extend(bones.into_iter().map(side).zip(joints));
            let shoulder = arm.upper.checked_sub(1).map(|at| chain[at]);
            pairs.extend(shoulder.map(|joint| (side(B::LeftShoulder), joint)));
        }
        pairs.sort_by_key(|p| p.0);
        if pairs.windows(2).any(|two| two[0].0 == two[1].0) {
            return None;
        }
        // People's hips are at half of their height, and their arms are nearly as long.
        let share = (height(hips) - lowest) / size;
        let reach = self.length(arms.from, &arms.sides[0]) / size;
        let off = [
            2.0 * legs.uneven,
            2.0 * arms.uneven,
            ((share - 0.55).abs() - 0.1).max(0.0),
            ((reach - 0.45).abs() - 0.15).max(0.0),
        ];
        let confidence = 1.0 - off.iter().sum::<f64>();
        (confidence >= LEAST).then_some(Shape {
            pairs,
            confidence: (100.0 * confidence).round() as u8,
        })
    }

    /// Neck and head of what is above the arms: the head is the first joint that several others hang on, else the last
    /// but its tip.
    fn head(&self, chain: &[usize]) -> Vec<(B, usize)> {
        let &[first, ref rest @ ..] = chain else {
            return Vec::new();
        };
        let several = rest.iter().position(|&j| self.children[j].len() > 1);
        let tip = rest.last().is_some_and(|&j| self.is_tip(j)) || rest.len() > 2;
        let last = (rest.len() - usize::from(tip && !rest.is_empty())).checked_sub(1);
        match several.or(last).map(|at| rest[at]) {
            Some(head) => vec![(B::Neck, first), (B::Head, head)],
            None => vec![(B::Head, first)],
        }
    }

    /// The index of the hand in an arm's chain: what fingers hang on, else the last joint that is not near to the one
    /// before it.
    fn hand(&self, from: usize, chain: &[usize]) -> usize {
        if let Some(hand) = chain.iter().position(|&j| self.children[j].len() > 2) {
            return hand;
        }
        let start = |at: usize| if at == 0 { from } else { chain[at - 1] };
        let segment = |at: usize| self.distance(start(at), chain[at]);
        let longest = (0..chain.len()).map(segment).fold(0.0, f64::max);
        let tips = chain.iter().rev().take_while(|&&j| self.is_tip(j)).count();
        let mut hand = (chain.len() - tips).saturating_sub(1);
        while hand > 0 && segment(hand) < SHORT * longest {
            hand -= 1;
        }
        hand
    }

    /// Upper, middle and end joint of a limb that ends at an index of its chain: the bones are of one length, and begin
    /// near to the body.
    fn limb(&self, from: usize, chain: &[usize], end: usize) -> Option<Limb> {
        let mut best: Option<(f64, Limb)> = None;
        for upper in 0..end {
            for middle in upper + 1..end {
                let [a, b] = [[upper, middle], [middle, end]]
                    .map(|[from, to]| self.distance(chain[from], chain[to]));
                let unlike = (a / b).max(b / a);
                let before = self.distance(from, chain[upper]);
                let late = if before > a { 0.5 } else { 0.0 };
                let rank = unlike.ln() + late + 0.1 * upper as f64;
                let sound = a > 0.0 && b > 0.0 && unlike <= UNLIKE;
                if sound && best.as_ref().is_none_or(|best| rank < best.0) {
                    best = Some((rank, Limb { upper, middle, end }));
                }
            }
        }
        best.map(|b| b.1)
    }

    /// Whether a joint marks the end of the one above it.
    fn is_tip(&self, joint: usize) -> bool {
        let name = self.skeleton.names()[joint].to_lowercase();
        let words = ["end", "nub", "tip", "site", "leaf", "effector"];
        self.children[joint].is_empty() && words.iter().any(|word| name.contains(word))
    }
}

/// Spine, chest and upper chest of the joints from the hips to the one that the arms hang on.
pub(super) fn spread(joints: &[usize]) -> Vec<(B, usize)> {
    match *joints {
        [] => Vec::new(),
        [one] => vec![(B::Spine, one)],
        [one, two] => vec![(B::Spine, one), (B::Chest, two)],
        [first, ref between @ .., last] => vec![
            (B::Spine, first),
            (B::Chest, between[between.len() / 2]),
            (B::UpperChest, last),
        ],
    }
}

/// Gives a bone of the left side that of one side.
fn sided(left: bool) -> impl Fn(B) -> B + Copy {
    move |bone| if left { bone } else { bone.mirrored() }
}
