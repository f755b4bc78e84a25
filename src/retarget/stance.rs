//! `Stance`: properties of a pose from the positions of a body's bones: whether it stands, along which axis, and whether it
//! shows a T or an A.

use super::humanoid::{HumanBone as B, HumanoidMap};
use glam::{DAffine3, DVec3};
use std::f64::consts::PI;

/// Largest angle of trunk and legs from up in a body that stands, radians; `STOOPED` is that of one that at least does not
/// lie.
const UPRIGHT: f64 = 45.0 * DEGREE;
const STOOPED: f64 = 60.0 * DEGREE;
const DEGREE: f64 = PI / 180.0;

/// Least height of the hips above the lowest foot of a body that stands, as a share of its legs' length.
const LEAST_HEIGHT: f64 = 0.5;
/// Least height of the hips of a body that neither crouches nor sits, as a share of its legs' length.
const ERECT: f64 = 0.8;

/// Least horizontal part of the distance of a pair of bones that shows a facing, as a share of it.
const STEEP: f64 = 0.2;

/// Tolerances of a T- or A-pose, radians: limbs are straight and legs point down within `STRAIGHT`; arms are at least
/// `SPREAD` from the plane between left and right, and at most `SPREAD` from the plane of left and up.
const STRAIGHT: f64 = 25.0 * DEGREE;
const SPREAD: f64 = 25.0 * DEGREE;

/// Least distance of a bent knee from the line between hip and ankle, as a share of that line.
const BENT: f64 = 0.01;

/// Pairs of bones of both sides, the hips' first.
const PAIRS: [[B; 2]; 3] = [
    [B::LeftUpperLeg, B::RightUpperLeg],
    [B::LeftUpperArm, B::RightUpperArm],
    [B::LeftShoulder, B::RightShoulder],
];

const TOES: [[B; 2]; 2] = [[B::LeftFoot, B::LeftToes], [B::RightFoot, B::RightToes]];
pub(super) const LEGS: [[B; 3]; 2] = [
    [B::LeftUpperLeg, B::LeftLowerLeg, B::LeftFoot],
    [B::RightUpperLeg, B::RightLowerLeg, B::RightFoot],
];
const ARMS: [[B; 3]; 2] = [
    [B::LeftUpperArm, B::LeftLowerArm, B::LeftHand],
    [B::RightUpperArm, B::RightLowerArm, B::RightHand],
];

/// The bones of a body in a pose.
#[derive(Clone, Copy)]
pub(super) struct Stance<'a> {
    pub map: &'a HumanoidMap,
    pub models: &'a [DAffine3],
}

/// Bones of the trunk, from its top.
const TRUNK: [B; 5] = [B::Head, B::Neck, B::UpperChest, B::Chest, B::Spine];

impl Stance<'_> {
    /// The bones that determine whether a body stands.
    pub fn bones() -> impl Iterator<Item = B> {
        let legs = LEGS.into_iter().flatten();
        legs.chain(TRUNK).chain([B::Hips])
    }

    fn place(&self, bone: B) -> Option<DVec3> {
        self.map.joint(bone).map(|j| self.models[j].translation)
    }

    fn way(&self, from: B, to: B) -> Option<DVec3> {
        (self.place(to)? - self.place(from)?).try_normalize()
    }

    /// The lengths of two bodies from the hips to the highest bone of the trunk that both have, if one has no bones of legs
    /// below the upper ones.
    pub fn trunks(both: [Stance<'_>; 2]) -> Option<[f64; 2]> {
        let legless = |of: &Stance<'_>| {
            LEGS.iter().all(|[_, lower, foot]| of.place(*lower).or(of.place(*foot)).is_none())
        };
        let length = |of: &Stance<'_>, top| Some(of.place(top)?.distance(of.place(B::Hips)?));
        let [a, b] = &both;
        let lengths = TRUNK.into_iter().find_map(|top| Some([length(a, top)?, length(b, top)?]));
        let legless = both.iter().any(legless);
        lengths.filter(|lengths| legless && lengths.iter().all(|length| *length > 0.0))
    }

    /// The vector from the hips to the highest bone of the trunk.
    fn trunk(&self) -> Option<DVec3> {
        TRUNK.into_iter().find_map(|top| self.way(B::Hips, top))
    }

    /// The vector from the feet up, over both legs.
    fn legs(&self) -> Option<DVec3> {
        let leg =
            |[upper, lower, foot]: [B; 3]| self.way(foot, upper).or_else(|| self.way(lower, upper));
        let [left, right] = LEGS.map(leg);
        match (left, right) {
            (Some(left), Some(right)) => (left + right).try_normalize(),
            (left, right) => left.or(right),
        }
    }

    /// The angle of the trunk from up, radians.
    pub fn lean(&self, up: DVec3) -> f64 {
        self.trunk().map_or(0.0, |trunk| trunk.angle_between(up))
    }

    /// The length of the longer leg, if one is whole.
    pub fn leg(&self) -> Option<f64> {
        let leg = |[upper, lower, foot]: [B; 3]| {
            let [a, b, c] = [self.place(upper)?, self.place(lower)?, self.place(foot)?];
            Some(a.distance(b) + b.distance(c))
        };
        let legs = LEGS.into_iter().filter_map(leg);
        legs.reduce(f64::max).filter(|leg| *leg > 0.0)
    }

    /// The height of the hips above the lowest foot along a direction.
    pub fn height(&self, up: DVec3) -> Option<f64> {
        let feet = LEGS.iter().filter_map(|leg| self.place(leg[2]));
        let low = feet.map(|place| place.dot(up)).reduce(f64::min)?;
        Some(self.place(B::Hips)?.dot(up) - low)
    }

    /// Whether trunk and legs go along a direction and the hips are above the feet; missing bones do not count.
    pub fn stands(&self, up: DVec3) -> bool {
        let along = |part: Option<DVec3>| part.is_none_or(|v| v.dot(up) >= UPRIGHT.cos());
        along(self.trunk()) && along(self.legs()) && self.is_above(up, LEAST_HEIGHT)
    }

    /// Whether it stands with legs that are nearly straight.
    pub fn is_erect(&self, up: DVec3) -> bool {
        self.stands(up) && self.is_above(up, ERECT)
    }

    /// Whether it stands or stoops, but does not lie.
    pub fn is_up(&self, up: DVec3) -> bool {
        let trunk = self.trunk();
        trunk.is_none_or(|v| v.dot(up) >= STOOPED.cos()) && self.is_above(up, LEAST_HEIGHT)
    }

    /// Whether the hips are nearly a leg's length above the origin along a direction.
    pub fn is_high(&self, up: DVec3) -> bool {
        let (Some(hips), Some(leg)) = (self.place(B::Hips), self.leg()) else { return false };
        (0.5 * leg..=1.5 * leg).contains(&hips.dot(up))
    }

    /// The difference of a standing pose from one with an upright trunk, both legs straight down, feet pitched alike, and
    /// hips, shoulders and feet that face one way: the sum of angles, radians.
    pub fn strain(&self, up: DVec3) -> f64 {
        let legs = LEGS
            .into_iter()
            .flat_map(|[upper, lower, foot]| [self.way(lower, upper), self.way(foot, lower)]);
        let bent = legs.flatten().map(|bone| bone.angle_between(up));
        let turns: Vec<f64> = self.turns(up).map(|turn| turn.1).collect();
        let twist = turns.iter().map(|turn| wrapped(turn - turns[0]).abs());
        let [l, r] = TOES.map(|[foot, toes]| self.way(foot, toes));
        let pitch =
            l.zip(r).map_or(0.0, |(l, r)| (l.angle_between(up) - r.angle_between(up)).abs());
        bent.sum::<f64>() + twist.sum::<f64>() + self.lean(up) + pitch
    }

    fn is_above(&self, up: DVec3, least: f64) -> bool {
        match (self.height(up), self.leg()) {
            (Some(height), Some(leg)) => height >= least * leg,
            _ => true,
        }
    }

    /// The axis along which the body stands, if it does.
    pub fn axis(&self) -> Option<DVec3> {
        let trunk = self.trunk()?;
        let along = trunk + self.legs().unwrap_or(trunk);
        let dot = |axis: &DVec3| axis.dot(along);
        let nearest = axes().max_by(|a, b| dot(a).total_cmp(&dot(b)));
        nearest.filter(|axis| self.stands(*axis))
    }

    /// Whether the body stands along a direction with straight legs and straight arms that are spread to the sides.
    pub fn is_t_or_a(&self, up: DVec3) -> bool {
        let straight = |[upper, lower, end]: [B; 3]| {
            let [a, b] = [self.way(upper, lower)?, self.way(lower, end)?];
            Some(a.dot(b) >= STRAIGHT.cos())
        };
        let down = |leg: [B; 3]| Some(self.way(leg[0], leg[2])?.dot(up) <= -STRAIGHT.cos());
        let across = self.way(B::RightUpperArm, B::LeftUpperArm);
        let spread = |(arm, side): ([B; 3], f64)| {
            let arm = self.way(arm[0], arm[2])?;
            let out = arm.dot(across?) * side;
            let ahead = arm.dot(across?.cross(up)).abs();
            Some(out >= SPREAD.sin() && ahead <= SPREAD.sin())
        };
        let limbs = LEGS.into_iter().chain(ARMS).map(straight);
        let all = limbs.chain(LEGS.map(down));
        let mut all = all.chain([(ARMS[0], 1.0), (ARMS[1], -1.0)].map(spread));
        self.stands(up) && all.all(|is| is == Some(true))
    }

    /// The turns of hips, arms, shoulders and feet about `up` from [`left_of`] it, radians; each with the number of its part.
    pub fn turns(&self, up: DVec3) -> impl Iterator<Item = (usize, f64)> {
        let left = left_of(up);
        let forward = left.cross(up);
        let pairs = PAIRS.map(|[l, r]| Some((self.way(r, l)?, [left, -forward])));
        let [l, r] = TOES.map(|[foot, toes]| self.way(foot, toes));
        let feet = l.zip(r).map(|(l, r)| ((l + r) * 0.5, [forward, left]));
        let parts = pairs.into_iter().chain([feet]).enumerate();
        parts.filter_map(move |(part, way)| {
            let (way, [ahead, beside]) = way?;
            let flat = way - up * way.dot(up);
            let turn = f64::atan2(flat.dot(beside), flat.dot(ahead));
            (flat.length() > STEEP).then_some((part, turn))
        })
    }

    /// Whether toes point backwards, or knees of a body without toes bend backwards, as they do if joints of the left side
    /// have names of the right.
    pub fn is_swapped(&self, forward: DVec3) -> bool {
        let toes = TOES.into_iter().filter_map(|[foot, toes]| self.way(foot, toes));
        let toes: Vec<DVec3> = toes.collect();
        let knees = LEGS.into_iter().filter_map(|leg| self.knee(leg));
        let ways = if toes.is_empty() { knees.collect() } else { toes };
        !ways.is_empty() && ways.iter().all(|way| way.dot(forward) < -0.5)
    }

    /// The direction in which a knee is bent, if it is.
    fn knee(&self, [upper, lower, foot]: [B; 3]) -> Option<DVec3> {
        let [hip, knee, ankle] = [self.place(upper)?, self.place(lower)?, self.place(foot)?];
        let way = (ankle - hip).try_normalize()?;
        let bend = (knee - hip) - way * (knee - hip).dot(way);
        (bend.length() > BENT * hip.distance(ankle)).then(|| bend.normalize())
    }
}

/// The axis to the left of a body that is not turned, for an up axis.
pub(super) fn left_of(up: DVec3) -> DVec3 {
    if up.x == 0.0 { DVec3::X } else { DVec3::Y }
}

/// An angle between −π and π.
pub(super) fn wrapped(angle: f64) -> f64 {
    angle - (angle / (2.0 * PI)).round() * 2.0 * PI
}

/// The six directions of the axes.
pub(super) fn axes() -> impl Iterator<Item = DVec3> {
    let axes = [DVec3::X, DVec3::Y, DVec3::Z];
    axes.into_iter().flat_map(|axis| [axis, -axis])
}
