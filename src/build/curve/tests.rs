//! Which curves count as constant.

use super::*;
use crate::build::clip_builder::variation::{ROTATION_TOLERANCE, SCALE_TOLERANCE};

/// A cubic curve with equal keys, one every `gap` seconds; `tangent` takes key, component and side.
fn spline(
    channel: RawChannel,
    value: &[f32],
    (keys, gap): (usize, f32),
    tangent: impl Fn(usize, usize, usize) -> f32,
) -> Curve {
    let mut values = Vec::new();
    for k in 0..keys {
        for side in 0..3 {
            let part = (0..value.len()).map(|c| match side {
                1 => value[c],
                _ => tangent(k, c, side / 2),
            });
            values.extend(part);
        }
    }
    let track = RawTrack {
        node: 0,
        channel,
        interpolation: Interpolation::CubicSpline,
        times: (0..keys).map(|k| k as f32 * gap).collect(),
        values,
    };
    Curve::new(&track, 0)
}

/// Numbers from 1e-20 to 1e-6 of either sign.
fn noise(key: usize, component: usize, side: usize) -> f32 {
    let number = (key * 8 + component * 2 + side) * 7_919 % 15_001;
    let size = 10f64.powf(-20.0 + 14.0 * number as f64 / 15_000.0);
    (if number.is_multiple_of(2) { size } else { -size }) as f32
}

const TURN: [f32; 4] = [0.0, 0.0, 0.6, 0.8];

#[test]
fn splines_with_noise_in_their_tangents_are_constant_however_long() {
    // A second, a minute and ten minutes at 30 keys per second.
    for keys in [31, 1_801, 18_001] {
        let span = (keys, 1.0 / 30.0);
        let turn = spline(RawChannel::Rotation, &TURN, span, noise);
        let still = turn.constant([ROTATION_TOLERANCE; 4]).expect("noise alone");
        // The unit quaternion of the key.
        let key = turn.at(0.0).value;
        let length = key.iter().map(|v| v * v).sum::<f64>().sqrt();
        assert_eq!(still, key.map(|v| v / length));
        let scale = spline(RawChannel::Scale, &[1.0; 3], span, noise);
        assert_eq!(scale.constant([SCALE_TOLERANCE; 4]), Some([1.0, 1.0, 1.0, 0.0]), "{keys} keys");
    }
}

#[test]
fn splines_that_leave_the_tolerance_between_keys_are_not_constant() {
    // The same tangents over a minute between keys lead 9e-6 away.
    let long = spline(RawChannel::Rotation, &TURN, (3, 60.0), |_, c, _| [0.0, 0.0, 1e-6, 0.0][c]);
    assert_eq!(long.constant([ROTATION_TOLERANCE; 4]), None);
    // One tangent of one interval among many is steep.
    for side in [0, 1] {
        let steep = |k: usize, c: usize, s: usize| match (k, c, s) {
            (900, 1, s) if s == side => 1e-3,
            _ => noise(k, c, s),
        };
        let curve = spline(RawChannel::Scale, &[1.0; 3], (1_801, 1.0 / 30.0), steep);
        assert_eq!(curve.constant([SCALE_TOLERANCE; 4]), None);
    }
    for bad in [f32::NAN, f32::INFINITY] {
        let one = |k: usize, _: usize, _: usize| if k == 1 { bad } else { 0.0 };
        let curve = spline(RawChannel::Scale, &[1.0; 3], (3, 1.0), one);
        assert_eq!(curve.constant([SCALE_TOLERANCE; 4]), None, "{bad}");
    }
}

/// The bound of a tangent is reached, and bounds of one side add up over intervals.
#[test]
fn a_tangent_leads_away_by_four_twentysevenths_of_its_interval() {
    let gap = 0.5;
    let out = |k: usize, c: usize, side: usize| match (k, c, side) {
        (0, 0, 1) => 1e-3,
        _ => 0.0,
    };
    let curve = spline(RawChannel::Translation, &[2.0; 3], (2, gap), out);
    let reached = (0..=300).map(|i| curve.at(gap * i as f32 / 300.0).value[0] - 2.0);
    let reached = reached.fold(0.0, f64::max);
    assert!((reached - BULGE * 0.5e-3).abs() < 1e-9, "{reached}");
    assert_eq!(curve.constant([0.99 * BULGE * 0.5e-3; 4]), None);
    assert!(curve.constant([1.01 * BULGE * 0.5e-3; 4]).is_some());
    // In-tangents of the first key and out-tangents of the last are never read.
    let outer = |k: usize, _: usize, side: usize| if k == side { 9.0 } else { 0.0 };
    let curve = spline(RawChannel::Translation, &[2.0; 3], (2, gap), outer);
    assert_eq!(curve.constant([0.0; 4]), Some([2.0, 2.0, 2.0, 0.0]));
    // One way in one interval, the other way in another: the range is twice as wide.
    let both = |k: usize, c: usize, side: usize| match (k, c, side) {
        (0, 0, 1) => 1e-3,
        (1, 0, 1) => -1e-3,
        _ => 0.0,
    };
    let curve = spline(RawChannel::Translation, &[2.0; 3], (3, gap), both);
    assert_eq!(curve.constant([1.99 * BULGE * 0.5e-3; 4]), None);
    assert!(curve.constant([2.01 * BULGE * 0.5e-3; 4]).is_some());
}
