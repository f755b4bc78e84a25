//! A humanoid by its shape in a pose, whatever its joints are called: two equal chains that go down, one that goes up,
//! and two equal chains that branch off that.
//!
//! Lengths of segments are the same in all poses, so equal chains are found by them. Directions distinguish legs from
//! arms, and give the up direction.

mod parts;

use crate::retarget::pose::{Local, models, parent};
use crate::skeleton::{HumanBone as B, Skeleton, Trs};
use glam::DVec3;
use parts::Parts;

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
/// Largest length of the joints behind the hand, as a share of the arm.
const FINGERS: f64 = 0.4;
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
