//! A humanoid by its shape in a pose, whatever its joints are called: two equal chains that go down, one that goes up,
//! and two equal chains that branch off that.
//!
//! Lengths of segments are the same in all poses, so equal chains are found by them. Directions distinguish legs from
//! arms, and give the up direction.

use super::map::is_below;
use super::names::sides;
use crate::retarget::pose::{Local, models, parent, path};
use crate::skeleton::{HumanBone as B, Skeleton, Trs};
use glam::DVec3;

/// Limit on the pairs of joints that are compared: a hostile file has 65,535 joints. A body of 500 needs some 10,000.
const MOST_COMPARED: usize = 1 << 18;
/// Limit on the joints of a limb, with fingers or toes.
const MOST_DEEP: usize = 32;
/// Largest difference of segments of both sides, as a share of the longer one.
const UNEVEN: f64 = 0.2;
/// Cosine of the largest angle between trunk or legs and up: 50°.
const UPRIGHT: f64 = 0.64;
/// Largest height of ankles, as a share of the leg's height.
const ANKLE: f64 = 0.2;
/// Largest height of ankles of feet that turn away from the leg, as a share of the leg's height.
const TURNED_ANKLE: f64 = 0.35;
/// Least height of hands above the ankles, as a share of the legs' length; front legs of animals are lower.
const HANDS: f64 = 0.2;
/// Largest length of the joints behind the hand, as a share of the arm.
const FINGERS: f64 = 0.4;
/// Human proportions: length of the arms, and of the trunk from hips to shoulders, as shares of the legs.
const ARMS: f64 = 0.62;
const TRUNK: f64 = 0.55;
/// Costs of sides that follow from names or toes, and of sides that follow only from the usual axes.
const TOLD: f64 = 0.02;
const GUESSED: f64 = 0.2;
/// The least confidence of a shape that is offered.
const LEAST: f64 = 0.6;

/// The bones found by a shape.
pub(super) struct Shape {
    pub pairs: Vec<(B, usize)>,
    /// Confidence in per cent.
    pub confidence: u8,
}

/// The humanoid of a skeleton in a pose, if it has the shape of one.
pub(super) fn by_shape(skeleton: &Skeleton, pose: &[Trs]) -> Option<Shape> {
    let tree = Tree::new(skeleton, pose)?;
    let twins = tree.twins();
    let axes = [DVec3::Y, DVec3::Z, DVec3::X];
    let axes = axes.into_iter().chain(axes.map(|axis| -axis));
    let (cost, pairs) =
        axes.filter_map(|up| tree.body(&twins, up)).min_by(|a, b| a.0.total_cmp(&b.0))?;
    let confidence = (-cost).exp();
    (confidence >= LEAST).then_some(Shape { pairs, confidence: (100.0 * confidence).round() as u8 })
}

struct Tree<'a> {
    skeleton: &'a Skeleton,
    places: Vec<DVec3>,
    children: Vec<Vec<usize>>,
}

/// Two chains of equal segments that begin below one joint, without that joint.
struct Twins {
    from: usize,
    chain: Vec<[usize; 2]>,
}

/// Three joints of a limb by their indices in its chain.
#[derive(Clone, Copy)]
struct Limb {
    upper: usize,
    middle: usize,
    end: usize,
}

impl<'a> Tree<'a> {
    fn new(skeleton: &'a Skeleton, pose: &[Trs]) -> Option<Self> {
        if pose.len() != skeleton.len() {
            return None;
        }
        let models = models(skeleton, &pose.iter().map(|t| Local::from(*t)).collect::<Vec<_>>());
        let mut children = vec![Vec::new(); skeleton.len()];
        for joint in 0..skeleton.len() {
            if let Some(parent) = parent(skeleton, joint) {
                children[parent].push(joint);
            }
        }
        let places: Vec<DVec3> = models.iter().map(|m| m.translation).collect();
        let sound = pose.iter().all(Trs::is_finite) && places.iter().all(|p| p.is_finite());
        sound.then_some(Self { skeleton, places, children })
    }

    /// All pairs of equal chains of three joints or more.
    fn twins(&self) -> Vec<Twins> {
        let mut left = MOST_COMPARED;
        let mut all = Vec::new();
        for (from, children) in self.children.iter().enumerate() {
            for (n, &a) in children.iter().enumerate() {
                for &b in &children[n + 1..] {
                    let Some(less) = left.checked_sub(1) else { return all };
                    left = less;
                    if !alike(self.distance(from, a), self.distance(from, b)) {
                        continue;
                    }
                    let mut chain = self.zip([a, b], MOST_DEEP, &mut left).1;
                    chain.reverse();
                    if chain.len() >= 3 {
                        all.push(Twins { from, chain });
                    }
                }
            }
        }
        all
    }

    /// The longest equal chains that begin at two joints, with the last joints first.
    fn zip(&self, [a, b]: [usize; 2], deep: usize, left: &mut usize) -> (f64, Vec<[usize; 2]>) {
        let mut best = (0.0, Vec::new());
        for &x in self.children[a].iter().filter(|_| deep > 0) {
            for &y in &self.children[b] {
                let Some(less) = left.checked_sub(1) else { break };
                *left = less;
                let lengths = [self.distance(a, x), self.distance(b, y)];
                if !alike(lengths[0], lengths[1]) {
                    continue;
                }
                let (length, chain) = self.zip([x, y], deep - 1, left);
                // Of equally long chains the ones that differ least win.
                let apart = (lengths[0] - lengths[1]).abs();
                let length = length + 0.5 * (lengths[0] + lengths[1]) - apart;
                if length > best.0 || best.1.is_empty() {
                    best = (length, chain);
                }
            }
        }
        best.1.push([a, b]);
        best
    }

    fn distance(&self, a: usize, b: usize) -> f64 {
        self.places[a].distance(self.places[b])
    }

    fn middle(&self, [a, b]: [usize; 2]) -> DVec3 {
        0.5 * (self.places[a] + self.places[b])
    }

    /// The mean length of both sides from one pair to another.
    fn span(&self, a: [usize; 2], b: [usize; 2]) -> f64 {
        0.5 * (self.distance(a[0], b[0]) + self.distance(a[1], b[1]))
    }

    /// The mean length of a segment, by the index of its end.
    fn segment(&self, chain: &[[usize; 2]], at: usize) -> f64 {
        at.checked_sub(1).map_or(0.0, |before| self.span(chain[before], chain[at]))
    }

    /// The difference of the sides, as a share of their length.
    fn uneven(&self, chain: &[[usize; 2]], to: usize) -> f64 {
        let side = |s: usize| -> f64 {
            let segments = chain[..=to].windows(2);
            segments.map(|w| self.distance(w[0][s], w[1][s])).sum()
        };
        let [a, b] = [side(0), side(1)];
        (a - b).abs() / a.max(b)
    }

    /// The best body for an up direction, and its cost: 0 for human proportions.
    fn body(&self, twins: &[Twins], up: DVec3) -> Option<(f64, Vec<(B, usize)>)> {
        let height = |place: DVec3| place.dot(up);
        let legs = twins.iter().filter_map(|legs| {
            let limb = self.leg(&legs.chain, up)?;
            Some((legs, limb, height(self.middle(legs.chain[limb.end]))))
        });
        let legs: Vec<_> = legs.collect();
        let lowest = legs.iter().map(|l| l.2).fold(f64::INFINITY, f64::min);
        let mut best: Option<(f64, Vec<(B, usize)>)> = None;
        for (legs, leg, low) in &legs {
            for arms in twins {
                let body = Parts { tree: self, up, legs, leg: *leg, arms, twins };
                let Some((cost, pairs)) = body.bones() else { continue };
                // Legs reach the ground; skirts and coats do not.
                let cost = cost + (low - lowest) / self.size(&legs.chain, *leg);
                if best.as_ref().is_none_or(|b| cost < b.0) {
                    best = Some((cost, pairs));
                }
            }
        }
        best
    }

    fn bones_of(&self, chain: &[[usize; 2]], limb: Limb) -> [f64; 2] {
        let [upper, middle, end] = [limb.upper, limb.middle, limb.end].map(|at| chain[at]);
        [self.span(upper, middle), self.span(middle, end)]
    }

    fn size(&self, chain: &[[usize; 2]], limb: Limb) -> f64 {
        self.bones_of(chain, limb).iter().sum()
    }

    /// The bones of a leg, which goes down to the ankle.
    fn leg(&self, chain: &[[usize; 2]], up: DVec3) -> Option<Limb> {
        let place = |at: usize| self.middle(chain[at]);
        let heights: Vec<f64> = (0..chain.len()).map(|at| place(at).dot(up)).collect();
        let lowest = heights.iter().copied().fold(f64::INFINITY, f64::min);
        let share = |at: usize| (heights[at] - lowest) / (heights[0] - lowest);
        let down = |at: usize| {
            let way = self.way(chain, at);
            -way.dot(up)
        };
        let turned = |at: usize| at + 1 < chain.len() && down(at + 1) < UPRIGHT;
        let end = (2..chain.len())
            .find(|&at| share(at) <= ANKLE || share(at) <= TURNED_ANKLE && turned(at))?;
        let first = (0..end - 1).find(|&at| down(at + 1) >= UPRIGHT)?;
        let limb = self.limb(chain, first..first + 1, end, |_| 0.0)?.1;
        let way = (place(limb.end) - place(limb.upper)).try_normalize()?;
        let apart = chain[limb.end];
        let apart = self.distance(apart[0], apart[1]) > 0.05 * self.size(chain, limb);
        (way.dot(up) <= -UPRIGHT && apart).then_some(limb)
    }

    /// The mean direction of a segment, by the index of its end.
    fn way(&self, chain: &[[usize; 2]], at: usize) -> DVec3 {
        let way = |side: usize| {
            let [from, to] = [chain[at - 1][side], chain[at][side]];
            (self.places[to] - self.places[from]).normalize_or_zero()
        };
        0.5 * (way(0) + way(1))
    }

    /// Candidates for the index of the hand in an arm's chain: the joint with fingers, or the last before short segments.
    fn hands(&self, chain: &[[usize; 2]]) -> Vec<usize> {
        let segments: Vec<f64> = (0..chain.len()).map(|at| self.segment(chain, at)).collect();
        let all: f64 = segments.iter().sum();
        let behind = |at: usize| segments[at + 1..].iter().sum::<f64>();
        let deep = |joint: usize| {
            let children = self.children[joint].iter();
            children.filter(|&&c| !self.children[c].is_empty()).count()
        };
        let fingers = |&at: &usize| deep(chain[at][0]) >= 2 && behind(at) <= FINGERS * all;
        if let Some(hand) = (2..chain.len()).find(fingers) {
            return vec![hand];
        }
        let longest = segments.iter().copied().fold(0.0, f64::max);
        let last = |is_long: &dyn Fn(usize) -> bool| (2..chain.len()).rfind(|&at| is_long(at));
        // The segment behind a hand is shorter than an arm, but halves of an arm are short too.
        let ends = [
            last(&|at| segments[at] >= 0.6 * longest),
            last(&|at| segments[at] >= 0.8 * longest),
            last(&|at| segments[at] >= 0.6 * segments[at - 1]),
        ];
        ends.into_iter().flatten().collect()
    }

    /// Upper, middle and end joint of a limb that ends at an index of its chain, and their cost: bones of one length, which
    /// make up most of it, with a bend between them.
    fn limb(
        &self,
        chain: &[[usize; 2]],
        uppers: std::ops::Range<usize>,
        end: usize,
        cost: impl Fn(usize) -> f64,
    ) -> Option<(f64, Limb)> {
        let length = |segments: std::ops::Range<usize>| -> f64 {
            segments.map(|at| self.segment(chain, at)).sum()
        };
        let all = length(1..chain.len());
        let limbs = uppers.filter_map(|upper| {
            let middles = (upper + 1..end).map(|middle| {
                let limb = Limb { upper, middle, end };
                // Lengths are taken along the chain, since they are equal in all poses.
                let [a, b] = [upper + 1..middle + 1, middle + 1..end + 1].map(length);
                let bend = (0..2).map(|side| {
                    let [u, m, e] = [upper, middle, end].map(|at| self.places[chain[at][side]]);
                    let way = (e - u).normalize_or_zero();
                    (m - u - way * (m - u).dot(way)).length() / (a + b)
                });
                let bend = (0.5 * bend.sum::<f64>()).min(0.1);
                let unlike = (a / b).ln().abs();
                (unlike - 4.0 * bend, unlike, limb)
            });
            let (_, unlike, limb) = middles.min_by(|a, b| a.0.total_cmp(&b.0))?;
            let left_out = 1.0 - length(upper + 1..end + 1) / all;
            Some((unlike + 0.4 * left_out + cost(upper), limb))
        });
        let best = limbs.min_by(|a, b| a.0.total_cmp(&b.0))?;
        best.0.is_finite().then_some(best)
    }

    /// Neck and head among the joints above the arms: the head is the first joint with pairs of others (eyes, ears) or many
    /// (hair), otherwise the last but the top.
    fn head(&self, first: usize, up: DVec3, leg: f64) -> Vec<(B, usize)> {
        let top = |joint: usize| self.top(joint, up);
        let next = |&joint: &usize| {
            let children = self.children[joint].iter().copied();
            children.max_by(|&a, &b| top(a).total_cmp(&top(b)))
        };
        let chain: Vec<usize> = std::iter::successors(Some(first), next).take(MOST_DEEP).collect();
        let paired = |&joint: &usize| {
            let children = &self.children[joint];
            let places = |c: usize| self.places[c] - self.places[joint];
            let twin = |a: usize, b: usize| {
                let [a, b] = [places(a), places(b)];
                a.length() > 0.0
                    && alike(a.length(), b.length())
                    && a.distance(b) > 0.2 * a.length()
            };
            let mut pairs = children.iter().enumerate();
            children.len() > 2 || pairs.any(|(n, &a)| children[n + 1..].iter().any(|&b| twin(a, b)))
        };
        let last = chain.len() - 1;
        let length =
            last.checked_sub(1).map_or(0.0, |before| self.distance(chain[before], chain[last]));
        // A short segment belongs to the neck; the top of the head is farther away.
        let long = if last > 1 { 0.08 } else { 0.15 };
        let tip = last > 0 && (self.is_tip(chain[last]) || length >= long * leg);
        let mut at = chain.iter().position(paired).unwrap_or(last - usize::from(tip));
        while at > 0 && self.distance(chain[at - 1], chain[at]) < 0.01 * leg {
            at -= 1;
        }
        match at {
            0 => vec![(B::Head, first)],
            at => vec![(B::Neck, first), (B::Head, chain[at])],
        }
    }

    /// The largest height along the chain upwards from a joint.
    fn top(&self, joint: usize, up: DVec3) -> f64 {
        let mut top = f64::NEG_INFINITY;
        let mut open = vec![(joint, 0)];
        while let Some((joint, deep)) = open.pop() {
            top = top.max(self.places[joint].dot(up));
            if deep < MOST_DEEP {
                open.extend(self.children[joint].iter().map(|&c| (c, deep + 1)));
            }
        }
        top
    }

    /// Whether a joint marks the end of the one above it.
    fn is_tip(&self, joint: usize) -> bool {
        let name = self.skeleton.names()[joint].to_lowercase();
        let words = ["end", "nub", "tip", "top", "site", "leaf", "effector"];
        self.children[joint].is_empty()
            && (name.is_empty() || words.iter().any(|word| name.contains(word)))
    }
}

/// Legs and arms that may belong to one body.
struct Parts<'a> {
    tree: &'a Tree<'a>,
    up: DVec3,
    legs: &'a Twins,
    leg: Limb,
    arms: &'a Twins,
    /// All twins of the skeleton.
    twins: &'a [Twins],
}

impl Parts<'_> {
    /// The cost of the body and its bones, if it is one.
    fn bones(&self) -> Option<(f64, Vec<(B, usize)>)> {
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

/// Whether lengths of both sides are equal within the asymmetry of bodies.
fn alike(a: f64, b: f64) -> bool {
    (a - b).abs() <= UNEVEN * a.max(b)
}

/// Spine, chest and upper chest among the joints from the hips to the one below which the arms begin.
pub(super) fn spread(joints: &[usize]) -> Vec<(B, usize)> {
    match *joints {
        [] => Vec::new(),
        [one] => vec![(B::Spine, one)],
        [one, two] => vec![(B::Spine, one), (B::Chest, two)],
        [first, ref between @ .., last] => {
            vec![(B::Spine, first), (B::Chest, between[between.len() / 2]), (B::UpperChest, last)]
        }
    }
}
