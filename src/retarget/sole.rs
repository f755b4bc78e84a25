//! Soles of a source whose reference pose spreads the legs.
//!
//! Positions of joints do not show whether the feet are level in it or turned along with the legs: an ankle and a toe have
//! no roll. Feet that stand in a clip show it: their soles are level then.

use super::body::Body;
use super::looks::Looks;
use super::motion::Motion;
use super::stance::LEGS;
use glam::DQuat;

/// Smallest spread of legs at which feet may be tilted, radians: below it the difference is not visible.
const SPREAD: f64 = 3.0 * DEGREE;
/// Largest turn of the legs of a body that stands, radians.
const MOST: f64 = 60.0 * DEGREE;
const DEGREE: f64 = std::f64::consts::PI / 180.0;

/// Rotations from level soles to those of the reference pose, for both feet.
pub(super) type Tilts = [DQuat; 2];

/// The rotations of the feet of a reference pose if they are turned along with the legs; `None` if legs are not spread.
pub(super) fn tilts(body: &Body) -> Option<Tilts> {
    let up = body.up();
    let tilts = LEGS.map(|[upper, _, foot]| {
        let (Some(upper), Some(foot)) = (body.bone(upper), body.bone(foot)) else {
            return DQuat::IDENTITY;
        };
        let leg = (upper - foot).try_normalize().unwrap_or(up);
        match (SPREAD..MOST).contains(&leg.angle_between(up)) {
            true => DQuat::from_rotation_arc(up, leg),
            false => DQuat::IDENTITY,
        }
    });
    (tilts != [DQuat::IDENTITY; 2]).then_some(tilts)
}

/// Whether soles are level while feet stand in a clip, if they count as tilted in the reference pose: nearer by half than
/// without the tilts, in the median of all times.
pub(super) fn are_tilted(body: &Body, tilts: &Tilts, motion: &Motion<'_>, looks: &Looks) -> bool {
    let up = body.up();
    let mut off: [Vec<f64>; 2] = Default::default();
    for (side, [_, _, foot]) in LEGS.into_iter().enumerate() {
        let tilted = tilts[side] * up;
        let (Some(joint), Some(across)) =
            (body.map.joint(foot), (tilted - up * tilted.dot(up)).try_normalize())
        else {
            continue;
        };
        for time in looks.on_ground(side, body.height) {
            // The up direction relative to the foot of the reference pose. A lifted heel tilts it about another axis.
            let turn = motion.model_rotation(joint, time) * body.worlds[joint].conjugate();
            let level = turn.conjugate() * up;
            let roll = f64::atan2(level.dot(across), level.dot(up));
            off[0].push(roll.abs());
            off[1].push((roll - tilted.angle_between(up)).abs());
        }
    }
    let [level, tilted] = off.map(|mut off| {
        off.sort_by(f64::total_cmp);
        off.get(off.len() / 2).copied().unwrap_or(0.0)
    });
    tilted < 0.5 * level
}
