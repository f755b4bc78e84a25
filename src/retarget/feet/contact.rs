//! When a foot of the source stands.

use super::FootPlanting;
use crate::retarget::body::Body;
use crate::retarget::humanoid::HumanBone as B;
use crate::retarget::motion::Motion;
use glam::DVec3;

/// Contacts shorter than this are passages, not steps. Seconds.
const SHORTEST: f64 = 0.05;

/// A foot of the source over time.
pub(super) struct Foot {
    /// The bone that touches the ground: toes, or the foot.
    pub tip: B,
    pub places: Vec<DVec3>,
}

/// The places of both feet at given times. Without feet there is none.
pub(super) fn feet(source: &Body, motion: &Motion<'_>, times: &[f32]) -> Vec<(B, Foot)> {
    let sides = [(B::LeftFoot, B::LeftToes), (B::RightFoot, B::RightToes)];
    let foot = |(foot, toes): (B, B)| {
        source.map.joint(foot)?;
        let tip = if source.map.joint(toes).is_some() {
            toes
        } else {
            foot
        };
        let joint = source.map.joint(tip)?;
        let places = times.iter().map(|&t| motion.model(joint, t).translation);
        let places = places.collect();
        Some((foot, Foot { tip, places }))
    };
    sides.into_iter().filter_map(foot).collect()
}

/// Velocities by differences of neighbouring places.
pub(super) fn velocities(places: &[DVec3], times: &[f32]) -> Vec<DVec3> {
    let last = places.len().saturating_sub(1);
    let velocity = |k: usize| {
        let (a, b) = (k.saturating_sub(1), (k + 1).min(last));
        let seconds = f64::from(times[b]) - f64::from(times[a]);
        match seconds > 0.0 {
            true => (places[b] - places[a]) / seconds,
            false => DVec3::ZERO,
        }
    };
    (0..places.len()).map(velocity).collect()
}

/// Removes what is along `up`.
pub(super) fn level(v: DVec3, up: DVec3) -> DVec3 {
    v - up * v.dot(up)
}

/// For every place whether it is near the lowest one.
fn low(foot: &Foot, up: DVec3, height: f64) -> Vec<bool> {
    let heights = foot.places.iter().map(|p| p.dot(up));
    let least = heights.clone().fold(f64::INFINITY, f64::min);
    heights.map(|h| h - least <= height).collect()
}

/// The velocity of the ground: the median of that of low feet, component by component.
pub(super) fn ground(feet: &[(B, Foot)], times: &[f32], up: DVec3, height: f64) -> DVec3 {
    let mut parts: [Vec<f64>; 3] = Default::default();
    for (_, foot) in feet {
        let moves = velocities(&foot.places, times);
        for (v, _) in moves
            .iter()
            .zip(low(foot, up, height))
            .filter(|(_, low)| *low)
        {
            let v = level(*v, up);
            parts
                .iter_mut()
                .zip(v.to_array())
                .for_each(|(part, v)| part.push(v));
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
    times: &[f32],
    (up, ground): (DVec3, DVec3),
    size: f64,
    options: &FootPlanting,
) -> Vec<std::ops::Range<usize>> {
    let low = low(foot, up, options.height * size);
    let moves = velocities(&foot.places, times);
    let slow = moves
        .iter()
        .map(|v| level(*v - ground, up).length() <= options.speed * size);
    let stands: Vec<bool> = slow.zip(low).map(|(slow, low)| slow && low).collect();
    let mut out = Vec::new();
    let mut at = 0;
    while at < stands.len() {
        let len = stands[at..]
            .iter()
            .take_while(|s| **s == stands[at])
            .count();
        let range = at..at + len;
        let seconds = f64::from(times[range.end - 1]) - f64::from(times[at]);
        if stands[at] && seconds >= SHORTEST {
            out.push(range);
        }
        at += len;
    }
    out
}
