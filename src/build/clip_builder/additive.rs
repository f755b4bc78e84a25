//! Curves as differences to a reference pose.

use crate::build::curve::Curve;
use crate::clip::Channel;
use crate::skeleton::Pose;

/// Turns a curve into differences to the reference pose. Tangents pass through the same linear map.
pub(super) fn make_additive(curve: &mut Curve, channel: Channel, lane: usize, pose: &Pose) {
    match channel {
        Channel::Translation => {
            let base = pose.lane(lane).translation.to_array();
            curve.map(|v| v.iter_mut().zip(base).for_each(|(v, b)| *v -= f64::from(b)), |_| {});
        }
        Channel::Scale => {
            // No ratio to a reference of zero exists, so the blended scale is left unchanged.
            let base = pose.lane(lane).scale.to_array();
            let divide = |v: &mut [f64], none: f64| {
                for (v, b) in v.iter_mut().zip(base) {
                    *v = if b == 0.0 { none } else { *v / f64::from(b) };
                }
            };
            curve.map(|v| divide(v, 1.0), |v| divide(v, 0.0));
        }
        Channel::Rotation => {
            turn_back(curve, &pose.lane(lane).rotation.to_array().map(f64::from));
        }
        Channel::Scalar => {
            let base = f64::from(pose.scalar(lane));
            curve.map(|v| v[0] -= base, |_| {});
        }
    }
}

/// Turns rotations into differences to `base`.
pub(super) fn turn_back(curve: &mut Curve, base: &[f64; 4]) {
    let turn = |v: &mut [f64]| {
        let out = conjugate_times(base, v);
        v.copy_from_slice(&out);
    };
    curve.map(turn, turn);
}

/// `conj(a) × b` of quaternions xyzw.
fn conjugate_times(a: &[f64; 4], b: &[f64]) -> [f64; 4] {
    let [ax, ay, az, aw] = [-a[0], -a[1], -a[2], a[3]];
    let (bx, by, bz, bw) = (b[0], b[1], b[2], b[3]);
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by + ay * bw + az * bx - ax * bz,
        aw * bz + az * bw + ax * by - ay * bx,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}
