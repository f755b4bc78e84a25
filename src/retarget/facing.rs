//! The up direction of a body, and the direction that it faces in a pose.

use super::stance::{Stance, axes, left_of, wrapped};
use glam::{DMat3, DQuat, DVec3};
use std::f64::consts::{FRAC_PI_2, PI};

/// If all parts turn alike within this, radians, the body turns as a whole, and only a turn below it is rounding.
const RIGID: f64 = 0.5 * PI / 180.0;

/// Otherwise a body faces along an axis if it is this near to it, radians: bodies are not quite symmetrical.
const UNEVEN: f64 = 3.0 * PI / 180.0;

/// A turn this near to an axis, radians, goes along it: rounding of files.
const ROUNDED: f64 = 1e-4;

/// The rotation from left, up and forward as x, y and z to the model space of a body in a pose.
///
/// Up is the axis along which the rest pose stands, or the one along which the pose does, or y: the lean of another pose
/// does not count. A turn about it leads to the direction that most of hips, shoulders and feet face.
pub(super) fn facing(rest: Stance<'_>, pose: Option<Stance<'_>>) -> DQuat {
    let (up, stands) = up(rest, pose);
    let left = left_of(up);
    let before: Vec<_> = rest.turns(up).filter(|_| stands).collect();
    let own = at_rest(before.iter().map(|turn| turn.1).collect());
    let turn = match pose {
        None => own,
        // The sides of this pose are symmetrical; those of a rest pose of another kind are not.
        Some(pose) if pose.is_t_or_a(up) && !rest.is_t_or_a(up) => {
            at_rest(pose.turns(up).map(|turn| turn.1).collect())
        }
        Some(pose) => {
            let turned = pose.turns(up).map(|(part, turn)| {
                let before = before.iter().find(|before| before.0 == part);
                before.map_or(turn, |before| turn - before.1 + own)
            });
            most(&turned.collect::<Vec<_>>()).unwrap_or(own)
        }
    };
    let quarters = (turn / FRAC_PI_2).round();
    let rest = turn - quarters * FRAC_PI_2;
    let axis = axes().find(|axis| {
        let turned = DQuat::from_axis_angle(up, quarters * FRAC_PI_2) * left;
        axis.dot(turned) > 0.9
    });
    let base = quarter_turn(axis.unwrap_or(left), up);
    if rest.abs() <= ROUNDED { base } else { DQuat::from_axis_angle(up, rest) * base }
}

/// The turn of a symmetrical pose, from the turns of its parts.
fn at_rest(turns: Vec<f64>) -> f64 {
    let Some(turn) = most(&turns) else { return 0.0 };
    let axis = (turn / FRAC_PI_2).round() * FRAC_PI_2;
    let rigid = turns.len() > 1 && turns.iter().all(|t| wrapped(t - turn).abs() <= RIGID);
    match (turn - axis).abs() > if rigid { RIGID } else { UNEVEN } {
        true => turn,
        false => axis,
    }
}

/// The turn with the least sum of distances to the others, so that a single turned part does not count; the first of equals.
fn most(turns: &[f64]) -> Option<f64> {
    let far = |turn: &f64| -> f64 { turns.iter().map(|t| wrapped(t - turn).abs()).sum() };
    let turns = turns.iter().copied();
    turns.min_by(|a, b| far(a).total_cmp(&far(b)))
}

/// Up, and whether the rest pose stands along it.
fn up(rest: Stance<'_>, pose: Option<Stance<'_>>) -> (DVec3, bool) {
    let own = rest.axis();
    let there = pose.and_then(|pose| Some((pose, pose.axis()?)));
    let up = match (own, there) {
        // One of them lies: a rest pose beside a frame that stands, or a pose beside a rest pose that stands.
        (Some(own), Some((pose, up))) if own != up => {
            let own_is_up = match [own, up].map(|axis| pose.is_high(axis)) {
                [true, false] => true,
                [false, true] => false,
                _ => rest.is_high(own),
            };
            if own_is_up { own } else { up }
        }
        (Some(own), _) => own,
        (None, there) => there.map_or(DVec3::Y, |there| there.1),
    };
    (up, own == Some(up))
}

/// The rotation that maps x and y to two axes.
fn quarter_turn(left: DVec3, up: DVec3) -> DQuat {
    let exact = DQuat::from_mat3(&DMat3::from_cols(left, up, left.cross(up)));
    // Components are 0, ½, √½ or 1; rounding would tilt an upright body.
    let clean = exact.to_array().map(|v| {
        let near = [0.0, 0.5, std::f64::consts::FRAC_1_SQRT_2, 1.0];
        let size = near.into_iter().find(|n| (v.abs() - n).abs() < 0.1);
        size.map_or(v, |size| size.copysign(v))
    });
    DQuat::from_array(clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uneven_hips_are_no_turn_of_the_body() {
        let degrees = |all: &[f64]| -> f64 {
            at_rest(all.iter().map(|d| d.to_radians()).collect()).to_degrees()
        };
        for (pairs, expected) in [
            (&[2.9, 0.0][..], 0.0),
            (&[3.0, 2.9, 3.1], 3.0),
            (&[25.0, 24.0], 25.0),
            (&[11.0, 8.0, 8.0, 7.6], 8.0),
            (&[31.0, 0.0, 0.2, -0.1], 0.0),
            (&[0.0, 0.1, -0.2, 180.0], 0.0),
            (&[2.0], 0.0),
            (&[25.0], 25.0),
            (&[40.0], 40.0),
            (&[-92.0, -90.0], -90.0),
            (&[178.0, -178.0], 180.0),
            (&[181.0, -179.0], 181.0),
            (&[], 0.0),
        ] {
            assert!((degrees(pairs) - expected).abs() < 1e-9, "{pairs:?}");
        }
    }

    #[test]
    fn quarter_turns_are_exact() {
        for up in axes() {
            for left in axes().filter(|left| left.dot(up) == 0.0) {
                let q = quarter_turn(left, up);
                assert!((q.length() - 1.0).abs() < 1e-15);
                assert!((q * DVec3::X - left).length() < 1e-15, "{left} {up}");
                assert!((q * DVec3::Y - up).length() < 1e-15, "{left} {up}");
            }
        }
    }
}
