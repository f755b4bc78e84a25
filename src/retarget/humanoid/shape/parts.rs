//! Legs and arms as one body: its bones, its sides, and its distance from human proportions.

use super::{Limb, Tree, Twins, UPRIGHT, spread};
use crate::retarget::humanoid::map::is_below;
use crate::retarget::humanoid::names::sides;
use crate::retarget::pose::path;
use crate::skeleton::HumanBone as B;
use glam::DVec3;

/// Least height of hands above the ankles, as a share of the legs' length; front legs of animals are lower.
const HANDS: f64 = 0.2;

/// Human proportions: length of the arms, and of the trunk from hips to shoulders, as shares of the legs.
const ARMS: f64 = 0.62;
const TRUNK: f64 = 0.55;

/// Costs of sides that follow from names or toes, and of sides that follow only from the usual axes.
const TOLD: f64 = 0.02;
const GUESSED: f64 = 0.2;

/// Legs and arms that may belong to one body.
pub(super) struct Parts<'a> {
    pub tree: &'a Tree<'a>,
    pub up: DVec3,
    pub legs: &'a Twins,
    pub leg: Limb,
    pub arms: &'a Twins,
    /// All twins of the skeleton.
    pub twins: &'a [Twins],
}

impl Parts<'_> {
    /// The cost of the body and its bones, if it is one.
    pub fn bones(&self) -> Option<(f64, Vec<(B, usize)>)> {
        let Self { tree, up, legs, leg, arms, .. } = *self;
        let chest = arms.from;
        let skeleton = tree.skeleton;
        let within = |joint: usize, root: usize| joint == root || is_below(skeleton, joint, root);
        let mut trunk = path(skeleton, chest);
        let first = trunk.iter().position(|&j| !within(legs.from, j))?;
        let hips = trunk[first.checked_sub(1)?];
        trunk.drain(..first);
        if legs.chain[0].iter().any(|&top| within(chest, top)) {
            return None;
        }
        let tops = legs.chain[leg.upper];
        let [pelvis, ankles] = [leg.upper, leg.end].map(|at| tree.middle(legs.chain[at]));
        let size = tree.size(&legs.chain, leg);
        let width = tree.distance(tops[0], tops[1]);
        let axis = arms_axis(tree, arms);
        // Shoulders are about as wide as hips; the inner ends of collarbones are not.
        let narrow = |at: usize| {
            let [a, b] = arms.chain[at].map(|j| tree.places[j].dot(axis));
            if (a - b).abs() < 0.7 * width { 0.3 } else { 0.0 }
        };
        let hands = tree.hands(&arms.chain).into_iter();
        let arm = hands.filter_map(|end| tree.limb(&arms.chain, 0..end - 1, end, narrow));
        let arm = arm.min_by(|a, b| a.0.total_cmp(&b.0))?.1;
        let shoulders = tree.middle(arms.chain[arm.upper]);
        let spine = (shoulders - pelvis).try_normalize()?;
        let hand = tree.middle(arms.chain[arm.end]);
        if spine.dot(up) < UPRIGHT || (hand - ankles).dot(up) < HANDS * size {
            return None;
        }
        let heads = tree.children[chest].iter().copied();
        let heads = heads.filter(|joint| {
            let aside = (tree.places[*joint] - tree.places[chest]).dot(axis).abs();
            // Wings have equal twins, a neck has none.
            let twin = |other: &Twins| {
                let equal = tree.uneven(&other.chain, other.chain.len() - 1) < 0.05;
                other.from == chest && other.chain[0].contains(joint) && equal
            };
            !arms.chain[0].contains(joint)
                && !self.twins.iter().any(twin)
                && aside < 0.5 * width.max(0.1 * size)
        });
        let neck = heads.max_by(|&a, &b| tree.top(a, up).total_cmp(&tree.top(b, up)))?;
        let head = tree.head(neck, up, size);
        let top = tree.places[head.last()?.1];
        if (top - shoulders).dot(up) <= 0.0 || head.is_empty() {
            return None;
        }

        let mut pairs = vec![(B::Hips, hips)];
        pairs.extend(spread(&trunk));
        pairs.extend(head);
        let toes = legs.chain.get(leg.end + 1).filter(|toes| {
            let way = tree.way(&legs.chain, leg.end + 1);
            (way - up * way.dot(up)).length() > 0.3 && !tree.is_tip(toes[0])
        });
        let (forward, unsure) = self.forward();
        let forward = forward.try_normalize()?;
        let left = up.cross(forward);
        let first =
            |pair: [usize; 2]| (tree.places[pair[0]] - tree.places[pair[1]]).dot(left) > 0.0;
        let [legs_first, arms_first] = [tops, arms.chain[arm.upper]].map(first);
        let leg_bones = [B::LeftUpperLeg, B::LeftLowerLeg, B::LeftFoot, B::LeftToes];
        let leg_joints = [leg.upper, leg.middle, leg.end].map(|at| legs.chain[at]);
        let leg_joints = leg_joints.iter().chain(toes);
        let arm_bones = [B::LeftUpperArm, B::LeftLowerArm, B::LeftHand, B::LeftShoulder];
        let arm_joints = [arm.upper, arm.middle, arm.end].map(|at| arms.chain[at]);
        let shoulder = (arm.upper > 0).then(|| &arms.chain[0]);
        let arm_joints = arm_joints.iter().chain(shoulder);
        let limbs = leg_bones.into_iter().zip(leg_joints).map(|l| (l, legs_first));
        let limbs = limbs.chain(arm_bones.into_iter().zip(arm_joints).map(|a| (a, arms_first)));
        let limbs: Vec<_> = limbs
            .flat_map(|((bone, pair), first)| {
                let [left, right] = if first { *pair } else { [pair[1], pair[0]] };
                [(bone, left), (bone.mirrored(), right)]
            })
            .collect();
        // Names that state sides count more than the direction that a body seems to face.
        let agree = limbs.iter().map(|&(bone, joint)| {
            let left = bone.name().starts_with("left");
            let side = sides(&skeleton.names()[joint]).into_iter().next();
            side.map_or(0, |side| if side.left == left { 1 } else { -1 })
        });
        let agree = agree.sum::<i32>();
        let swapped = agree < 0;
        let unsure = if agree == 0 { unsure } else { TOLD };
        let sided = |bone: B| if swapped { bone.mirrored() } else { bone };
        pairs.extend(limbs.into_iter().map(|(bone, joint)| (sided(bone), joint)));

        let off = |value: f64, usual: f64, free: f64| ((value / usual).ln().abs() - free).max(0.0);
        let reach = tree.size(&arms.chain, arm);
        let [thigh, shin] = tree.bones_of(&legs.chain, leg);
        let [upper, lower] = tree.bones_of(&arms.chain, arm);
        let beside = |pair: [usize; 2]| tree.distance(pair[0], pair[1]) / (2.0 * reach);
        let cost = [
            2.0 * tree.uneven(&legs.chain, leg.end),
            2.0 * tree.uneven(&arms.chain, arm.end),
            0.5 * off(reach / size, ARMS, 0.3),
            0.5 * off((shoulders - pelvis).length() / size, TRUNK, 0.4),
            off(thigh, shin, 0.2),
            off(upper, lower, 0.2),
            1.0 - spine.dot(up),
            unsure,
            // Hands are far apart; hair and capes hang down in the middle.
            (0.5 - beside(arms.chain[arm.end])).max(0.0),
        ];
        let cost: f64 = cost.iter().sum();
        cost.is_finite().then_some((cost, pairs))
    }

    /// The direction that the body faces: that of toes, or of bent knees, or z, as in glTF, or -y if z is up. The cost states
    /// the uncertainty.
    fn forward(&self) -> (DVec3, f64) {
        let Self { tree, up, legs, leg, .. } = *self;
        let flat = |v: DVec3| v - up * v.dot(up);
        let place = |at: usize| tree.middle(legs.chain[at]);
        let size = tree.size(&legs.chain, leg);
        let toes = legs.chain.len() - 1;
        let toes = flat(place(toes) - place(leg.end));
        if toes.length() > 0.05 * size {
            return (toes, TOLD);
        }
        let [hip, knee, ankle] = [leg.upper, leg.middle, leg.end].map(place);
        let way = (ankle - hip).normalize_or_zero();
        let knee = flat(knee - hip - way * (knee - hip).dot(way));
        match (knee.length() > 0.01 * size, up.z.abs() > 0.5) {
            (true, _) => (knee, 2.0 * TOLD),
            (false, true) => (-DVec3::Y, GUESSED),
            (false, false) => (DVec3::Z, GUESSED),
        }
    }
}

/// The direction from one side to the other, by the first joints of the arms that are apart.
fn arms_axis(tree: &Tree<'_>, arms: &Twins) -> DVec3 {
    let ways = arms.chain.iter().map(|&[a, b]| tree.places[a] - tree.places[b]);
    let mut ways = ways.filter_map(DVec3::try_normalize);
    ways.next().unwrap_or(DVec3::X)
}
