//! Angles, sines, cosines and exponentials by polynomials: the same bits on every machine.

use glam::{Quat, Vec3};
use std::f32::consts::{FRAC_PI_2, PI};

/// The angle with a sine of at least 0 and a cosine, in [0, π]. Abramowitz and Stegun, Handbook of Mathematical Functions,
/// 4.4.49: within 2e-8 and rounding.
pub(super) fn angle(sin: f32, cos: f32) -> f32 {
    const C: [f32; 8] = [
        -0.333_331_45,
        0.199_935_51,
        -0.142_089,
        0.106_562_64,
        -0.075_289_64,
        0.042_909_614,
        -0.016_165_737,
        0.002_866_225_7,
    ];
    // Without branches: which octant it is cannot be foreseen.
    const OCTANTS: [(f32, f32); 4] = [(0.0, 1.0), (FRAC_PI_2, -1.0), (PI, -1.0), (FRAC_PI_2, 1.0)];
    let (first, sign) = OCTANTS[usize::from(sin > cos.abs()) + 2 * usize::from(cos < 0.0)];
    let x = sin.min(cos.abs()) / sin.max(cos.abs()).max(f32::MIN_POSITIVE);
    let x2 = x * x;
    let x4 = x2 * x2;
    let [a, b, c, d] = [0, 2, 4, 6].map(|n| C[n] + x2 * C[n + 1]);
    first + sign * (x + x * x2 * ((a + x4 * b) + x4 * x4 * (c + x4 * d)))
}

/// Sine and cosine of an angle in [0, π], from the sine and cosine of its half. Abramowitz and Stegun, 4.3.97 and 4.3.99:
/// within 1e-8 and rounding, in all 5e-7.
pub(super) fn sin_cos(angle: f32) -> (f32, f32) {
    let half = 0.5 * angle;
    let x2 = half * half;
    let sin = [-0.166_666_67, 0.008_333_332, -0.000_198_409, 2.752_6e-6, -2.39e-8];
    let cos = [-0.5, 0.041_666_64, -0.001_388_839_7, 2.476_09e-5, -2.605e-7];
    let x4 = x2 * x2;
    let sum = |[a, b, c, d, e]: [f32; 5]| x2 * ((a + x2 * b) + x4 * ((c + x2 * d) + x4 * e));
    let (sin, cos) = (half + half * sum(sin), 1.0 + sum(cos));
    (2.0 * sin * cos, 1.0 - 2.0 * sin * sin)
}

/// The exponential of -x for x ≥ 0: Taylor's series about the nearest power of two, within 1e-8 and rounding.
pub(super) fn decay(x: f32) -> f32 {
    // Beyond, it is less than the rounding of 1.
    let powers = x.min(80.0) * std::f32::consts::LOG2_E;
    let whole = (powers + 0.5) as u32;
    let y = (whole as f32 - powers) * std::f32::consts::LN_2;
    let terms = [5040.0, 720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0];
    let sum = terms.iter().fold(0.0, |sum, by| sum * y + 1.0 / by);
    sum * f32::from_bits((127 - whole) << 23)
}

/// The part `share` of a rotation of at most half a turn.
pub(super) fn part(turn: Quat, share: f32) -> Quat {
    let axis = turn.xyz();
    let sine = axis.length();
    let (sin, cos) = sin_cos(angle(sine, turn.w) * share);
    let by = if sine > 1e-6 { sin / sine } else { share };
    let Vec3 { x, y, z } = axis * by;
    Quat::from_xyzw(x, y, z, cos).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DQuat, DVec3};

    #[test]
    fn angles_are_those_of_f64() {
        for n in 0..=10_000 {
            let wide = f64::from((f64::from(n) / 10_000.0 * std::f64::consts::PI) as f32);
            let (sin, cos) = sin_cos(wide as f32);
            assert!((f64::from(sin) - wide.sin()).abs() < 3e-7, "{wide}: {sin}");
            assert!((f64::from(cos) - wide.cos()).abs() < 5e-7, "{wide}: {cos}");
            let back = f64::from(angle(wide.sin().abs() as f32, wide.cos() as f32));
            assert!((back - wide).abs() < 4e-7, "{wide}: {back}");
        }
        assert_eq!((angle(0.0, 1.0), angle(0.0, 0.0), sin_cos(0.0)), (0.0, 0.0, (0.0, 1.0)));
    }

    #[test]
    fn decay_is_that_of_f64() {
        for n in 0..=10_000 {
            let x = n as f32 * 0.009;
            let wide = (-f64::from(x)).exp();
            assert!((f64::from(decay(x)) - wide).abs() < 3e-7, "{x}: {} for {wide}", decay(x));
        }
        assert_eq!(decay(0.0), 1.0);
        assert!(decay(f32::INFINITY) < 1e-30);
    }

    #[test]
    fn parts_of_turns_are_those_of_f64() {
        let axis = DVec3::new(0.36, -0.48, 0.8);
        for (n, share) in (0..=1000).flat_map(|n| [0.0, 0.3, 1.0].map(|share| (n, share))) {
            let wide = f64::from(n) / 1000.0 * std::f64::consts::PI;
            let wanted = DQuat::from_axis_angle(axis, wide * share).as_quat();
            let found = part(DQuat::from_axis_angle(axis, wide).as_quat(), share as f32);
            assert!((found - wanted).length() < 5e-7, "{wide}, {share}: {found} for {wanted}");
        }
    }
}
