//! Soles of a source whose reference pose spreads the legs.
//!
//! Places of joints do not tell whether its feet are level there or turned along with the legs: an ankle and a toe have no
//! roll. What feet do while they stand does: their soles are level then.

use super::body::Body;
use super::looks::Looks;
use super::motion::Motion;
use super::stance::LEGS;
use glam::DQuat;

/// Legs that are spread by less have level feet: it makes no difference that could be seen. Radians.
const SPREAD: f64 = 3.0 * DEGREE;
/// Legs that are turned by more do not stand.
const MOST: f64 = 60.0 * DEGREE;
const DEGREE: f64 = std::f64::consts::PI / 180.0;

/// From a level sole to that of the reference pose, for both feet.
pub(super) type Tilts = [DQuat; 2];

/// What feet of a reference pose are turned by if they are turned along with the legs; `None` if those are not spread.
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

/// Whether soles are level while feet stand in a clip, if they are taken to have tilts in the reference pose: nearer by
/// half than without, in the median of all times.
pub(super) fn are_tilted(body: &Body, tilts: &Tilts, motion: &Motion<'_>, looks: &Looks) -> bool {
    let up = body.up();
    let mut off: [Vec<f64>; 2] = Default::default();
    for (side, [_, _, foot]) in LEGS.into_iter().enumerate() {
        let tilted = tilts[side] * up;
        let (Some(joint), Some(across)) = (
            body.map.joint(foot),
            (tilted - up * tilted.dot(up)).try_normalize(),
        ) else {
            continue;
        };
        for time in looks.on_ground(side, body.height) {
            // Up as the foot of the reference pose sees it. A heel that is lifted tilts it another way.
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
