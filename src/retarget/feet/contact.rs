//! Contacts of the source's feet with the ground. Feet stand in the world, not in a pose from which root motion was
//! extracted.

use super::ring::Ring;
use crate::clip::RootMotion;
use crate::math::Rigid;
use crate::retarget::body::Body;
use crate::retarget::humanoid::HumanBone as B;
use crate::retarget::motion::Motion;
use crate::retarget::options::RetargetOptions;
use crate::retarget::pose::unit;
use crate::retarget::space::Space;
use glam::{DMat3, DQuat, DVec3};
use std::ops::Range;

/// Shortest contact, seconds: shorter ones are passages, not steps.
const SHORTEST: f64 = 0.05;

/// Largest distance of hips and feet at the end of a loop from its beginning, as a share of the hips' height.
const CLOSED: f64 = 1e-3;

/// The root motion of a clip, if it has some, on both bodies.
pub(super) struct Roots<'a> {
    pub motion: Option<&'a RootMotion>,
    pub space: &'a Space,
    /// Map from the source's distances to the target's.
    pub scale: DMat3,
}

impl Roots<'_> {
    pub fn source(&self, time: f32) -> Rigid {
        let motion = self.motion.map(|m| m.at(time.into()));
        motion.unwrap_or(Rigid::IDENTITY)
    }

    pub fn target(&self, time: f32) -> Rigid {
        let motion = self.motion.map(|m| m.at(time.into()));
        motion.map_or(Rigid::IDENTITY, |m| Rigid {
            rotation: unit(self.space.rotation(m.rotation)),
            translation: self.scale * m.translation,
        })
    }
}

pub(super) fn in_world(root: &Rigid, place: DVec3) -> DVec3 {
    root.rotation * place + root.translation
}

pub(super) struct Foot {
    /// The bone that touches the ground: toes, or the foot.
    pub tip: B,
    pub places: Vec<DVec3>,
}

/// The positions of both feet at given times, root motion included; empty without feet.
pub(super) fn feet(
    source: &Body,
    motion: &Motion<'_>,
    roots: &Roots<'_>,
    times: &[f32],
) -> Vec<(B, Foot)> {
    let sides = [(B::LeftFoot, B::LeftToes), (B::RightFoot, B::RightToes)];
    let foot = |(foot, toes): (B, B)| {
        source.map.joint(foot)?;
        let tip = if source.map.joint(toes).is_some() { toes } else { foot };
        let joint = source.map.joint(tip)?;
        let place = |&t: &f32| in_world(&roots.source(t), motion.place(joint, t));
        let places = times.iter().map(place).collect();
        Some((foot, Foot { tip, places }))
    };
    sides.into_iter().filter_map(foot).collect()
}

/// Removes the component along `up`.
pub(super) fn level(v: DVec3, up: DVec3) -> DVec3 {
    v - up * v.dot(up)
}

/// For every position whether its height is near the lowest.
fn low(foot: &Foot, up: DVec3, height: f64) -> Vec<bool> {
    let heights = foot.places.iter().map(|p| p.dot(up));
    let least = heights.clone().fold(f64::INFINITY, f64::min);
    heights.map(|h| h - least <= height).collect()
}

/// The velocity of the ground: 0, unless the clip walks in place and the ground moves below it. Then the hips stay, low
/// feet move faster than a foot in contact may, and at their velocity contacts last longer than at rest.
pub(super) fn ground(
    feet: &[(B, Foot)],
    ring: &Ring<'_>,
    up: DVec3,
    (size, travels): (f64, bool),
    options: &RetargetOptions,
) -> DVec3 {
    let moving = median_velocity(feet, ring, up, options.plant_height * size);
    if travels || moving.length() <= options.plant_speed * size {
        return DVec3::ZERO;
    }
    let seconds = |ground: DVec3| -> f64 {
        let all =
            feet.iter().flat_map(|(_, foot)| contacts(foot, ring, (up, ground), size, options));
        all.map(|contact| ring.seconds(&contact)).sum()
    };
    if seconds(moving) > seconds(DVec3::ZERO) { moving } else { DVec3::ZERO }
}

/// The median of the velocity of low feet, component by component.
fn median_velocity(feet: &[(B, Foot)], ring: &Ring<'_>, up: DVec3, height: f64) -> DVec3 {
    let mut parts: [Vec<f64>; 3] = Default::default();
    for (_, foot) in feet {
        let moves = ring.velocities(&foot.places);
        for (v, _) in moves.iter().zip(low(foot, up, height)).filter(|(_, low)| *low) {
            let v = level(*v, up);
            parts.iter_mut().zip(v.to_array()).for_each(|(part, v)| part.push(v));
        }
    }
    let median = |part: &mut Vec<f64>| {
        part.sort_by(f64::total_cmp);
        part.get(part.len() / 2).copied().unwrap_or(0.0)
    };
    DVec3::from_array(std::array::from_fn(|c| median(&mut parts[c])))
}

/// The contacts of a foot: ranges of samples.
pub(super) fn contacts(
    foot: &Foot,
    ring: &Ring<'_>,
    (up, ground): (DVec3, DVec3),
    size: f64,
    options: &RetargetOptions,
) -> Vec<Range<usize>> {
    let low = low(foot, up, options.plant_height * size);
    let moves = ring.velocities(&foot.places);
    let slow = moves.iter().map(|v| level(*v - ground, up).length() <= options.plant_speed * size);
    let stands: Vec<bool> = slow.zip(low).map(|(slow, low)| slow && low).collect();
    ring.ranges(&stands, SHORTEST)
}

/// Whether the hips travel: they move farther along the ground than a foot in contact may slide meanwhile.
pub(super) fn travels(
    source: &Body,
    motion: &Motion<'_>,
    duration: f32,
    options: &RetargetOptions,
) -> bool {
    let Some(hips) = source.map.joint(B::Hips) else { return false };
    let way = motion.place(hips, duration) - motion.place(hips, 0.0);
    let way = level(way, source.up()).length();
    way > options.plant_speed * source.height * f64::from(duration)
}

/// Whether the last pose of hips and feet equals the first one, except for a common motion along the ground.
pub(super) fn is_loop(
    source: &Body,
    motion: &Motion<'_>,
    roots: &Roots<'_>,
    duration: f32,
) -> bool {
    let bones = [B::Hips, B::LeftFoot, B::RightFoot, B::LeftToes, B::RightToes];
    let joints = bones.into_iter().filter_map(|b| source.map.joint(b));
    let mut ways = joints.map(|j| motion.place(j, duration) - motion.place(j, 0.0));
    let most = CLOSED * source.height;
    let turned_or_risen = roots.motion.map(RootMotion::whole).is_some_and(|whole| {
        let turn = whole.rotation.angle_between(DQuat::IDENTITY);
        turn > CLOSED || whole.translation.dot(source.up()).abs() > most
    });
    if turned_or_risen {
        return false;
    }
    // The hips come first.
    ways.next().is_some_and(|hips| {
        hips.dot(source.up()).abs() <= most && ways.all(|way| (way - hips).length() <= most)
    })
}
