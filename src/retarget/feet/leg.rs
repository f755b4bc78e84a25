//! The two-bone correction of a leg.

use crate::retarget::pose::unit;
use glam::{DQuat, DVec3};

/// The longest reach of a leg as a share of its length: a straight knee has no direction of bending.
const REACH: f64 = 0.9999;

#[derive(Clone, Copy, Debug)]
pub(super) struct Leg {
    pub hip: DVec3,
    pub knee: DVec3,
    pub ankle: DVec3,
}

/// Rotations in model space that bring the ankle to a goal: one of the knee, then one of the whole leg. The knee stays in
/// its plane. `false` if the goal is out of reach; the ankle then comes as near as it can.
pub(super) fn reach(leg: &Leg, goal: DVec3) -> (DQuat, DQuat, bool) {
    let (thigh, shin) = (leg.knee - leg.hip, leg.ankle - leg.knee);
    let (a, b) = (thigh.length(), shin.length());
    let wanted = (goal - leg.hip).length();
    let (least, most) = ((a - b).abs(), (a + b) * REACH);
    let distance = wanted.clamp(least, most.max(least));
    let reached = (distance - wanted).abs() <= 1e-9 * (a + b);
    // The angle at the knee before and after.
    let now = thigh.angle_between(-shin);
    let cosine = (a * a + b * b - distance * distance) / (2.0 * a * b);
    let then = cosine.clamp(-1.0, 1.0).acos();
    let side = (-thigh).cross(shin);
    let axis = side.try_normalize().unwrap_or_else(|| thigh.any_orthonormal_vector());
    if !(now.is_finite() && then.is_finite()) {
        return (DQuat::IDENTITY, DQuat::IDENTITY, false);
    }
    // The shin turns from the thigh's direction by the angle at the knee.
    let bend = DQuat::from_axis_angle(axis, then - now);
    let ankle = leg.knee + bend * shin;
    let turn = match ((ankle - leg.hip).try_normalize(), (goal - leg.hip).try_normalize()) {
        (Some(from), Some(to)) => unit(DQuat::from_rotation_arc(from, to)),
        _ => DQuat::IDENTITY,
    };
    (bend, turn, reached)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ankle_comes_to_the_goal_and_lengths_are_kept() {
        let leg = Leg {
            hip: DVec3::new(0.1, 0.9, 0.0),
            knee: DVec3::new(0.12, 0.5, 0.08),
            ankle: DVec3::new(0.1, 0.1, -0.02),
        };
        for goal in [DVec3::new(0.1, 0.12, 0.2), DVec3::new(0.0, 0.3, -0.3), leg.ankle] {
            let (bend, turn, reached) = reach(&leg, goal);
            let knee = leg.hip + turn * (leg.knee - leg.hip);
            let ankle = knee + turn * bend * (leg.ankle - leg.knee);
            assert!(reached && (ankle - goal).length() < 1e-9, "{goal}: {ankle}");
        }
        let far = DVec3::new(5.0, 0.9, 0.0);
        let (bend, turn, reached) = reach(&leg, far);
        let knee = leg.hip + turn * (leg.knee - leg.hip);
        let ankle = knee + turn * bend * (leg.ankle - leg.knee);
        let length = (leg.knee - leg.hip).length() + (leg.ankle - leg.knee).length();
        assert!(!reached && (ankle - leg.hip).length() > 0.999 * length);
        // A leg without a length does not move.
        let none = Leg { knee: leg.hip, ankle: leg.hip, ..leg };
        assert_eq!(reach(&none, far).0, DQuat::IDENTITY);
    }
}
