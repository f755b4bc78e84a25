//! Which way is up for a body, and which way it faces in a pose.

use super::stance::{Stance, axes};
use glam::{DMat3, DQuat, DVec3};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_6, PI};

/// Hips of a rest pose that alone face up to here beside an axis face along it: they are no spirit level. Radians.
const UNEVEN: f64 = FRAC_PI_6;

/// A body is turned as a whole if its pairs of bones are turned alike up to this share of their turn.
const ALIKE: f64 = 0.2;

/// Pairs that are less beside an axis than this face along it: rounding of files. Radians.
const ROUNDED: f64 = 1e-4;

/// From left, up and forward as x, y and z to the model space of a body in a pose.
///
/// Up is the axis along which the rest pose stands, else the one along which the pose does, else y: what another pose
/// leans is not taken for it. One turn about it leads to where the pose faces, as its hips do.
pub(super) fn facing(rest: Stance<'_>, pose: Option<Stance<'_>>) -> DQuat {
    let (up, stands) = up(rest, pose);
    let left = if up.x == 0.0 { DVec3::X } else { DVec3::Y };
    let frame = [left, up];
    let own = match stands {
        true => at_rest(&rest.turns(frame).collect::<Vec<_>>()),
        false => 0.0,
    };
    let turn = match pose {
        None => own,
        // Its sides are even, those of a rest pose of another kind are not.
        Some(pose) if pose.is_t_or_a(up) && !rest.is_t_or_a(up) => {
            at_rest(&pose.turns(frame).collect::<Vec<_>>())
        }
        Some(pose) => pose.turns(frame).next().map_or(own, |(number, turn)| {
            let mut before = rest.turns(frame).filter(|_| stands);
            before
                .find(|pair| pair.0 == number)
                .map_or(turn, |pair| turn - pair.1 + own)
        }),
    };
    let quarters = (turn / FRAC_PI_2).round();
    let rest = turn - quarters * FRAC_PI_2;
    let axis = axes().find(|axis| {
        let turned = DQuat::from_axis_angle(up, quarters * FRAC_PI_2) * left;
        axis.dot(turned) > 0.9
    });
    let base = quarter_turn(axis.unwrap_or(left), up);
    match rest.abs() <= ROUNDED {
        true => base,
        false => DQuat::from_axis_angle(up, rest) * base,
    }
}

/// The turn of a rest pose: that of its hips, but of an axis if its pairs do not agree that it is turned.
fn at_rest(turns: &[(usize, f64)]) -> f64 {
    let Some(&(_, hips)) = turns.first() else {
        return 0.0;
    };
    let axis = (hips / FRAC_PI_2).round() * FRAC_PI_2;
    let off = hips - axis;
    let alike = |turn: f64| wrapped(turn - hips).abs() <= ALIKE * off.abs();
    let whole = turns.len() > 1 && turns.iter().all(|pair| alike(pair.1));
    match whole || off.abs() > UNEVEN {
        true => hips,
        false => axis,
    }
}

/// An angle between −π and π.
fn wrapped(angle: f64) -> f64 {
    angle - (angle / (2.0 * PI)).round() * 2.0 * PI
}

/// Up, and whether the rest pose stands along it.
fn up(rest: Stance<'_>, pose: Option<Stance<'_>>) -> (DVec3, bool) {
    let own = rest.axis();
    let up = match (own, pose.and_then(|pose| pose.axis())) {
        // A rest pose that lies beside a pose that stands, or a pose that lies beside a rest pose that stands.
        (Some(own), Some(pose)) if own != pose && pose == DVec3::Y => pose,
        (Some(own), _) => own,
        (None, pose) => pose.unwrap_or(DVec3::Y),
    };
    (up, own == Some(up))
}

/// The rotation that maps x and y to two axes.
fn quarter_turn(left: DVec3, up: DVec3) -> DQuat {
    let exact = DQuat::from_mat3(&DMat3::from_cols(left, up, left.cross(up)));
    // Components are 0, ½, √½ or 1; rounding would tilt what stands straight.
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
            let turns = all.iter().enumerate();
            let turns: Vec<_> = turns.map(|(n, d)| (n, d.to_radians())).collect();
            at_rest(&turns).to_degrees()
        };
        for (pairs, expected) in [
            (&[3.0, 0.0][..], 0.0),
            (&[3.0, 2.9, 3.1], 3.0),
            (&[25.0, 24.0], 25.0),
            (&[25.0, 10.0], 0.0),
            (&[25.0], 0.0),
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
