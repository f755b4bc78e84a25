//! Angles and slerp of unit quaternions in f64: for builders and measurements.

/// The angle in radians of the shorter rotation between two unit quaternions.
pub(crate) fn angle(a: &[f64], b: &[f64]) -> f64 {
    let dot: f64 = a.iter().zip(b).map(|(x, y)| x * y).sum();
    let apart: f64 = a
        .iter()
        .zip(b)
        .map(|(x, y)| (x - y * dot.signum()).powi(2))
        .sum();
    // From the chord: accurate at small angles, where the cosine is flat.
    4.0 * (0.5 * apart.sqrt()).min(1.0).asin()
}

/// Value and derivative per second at `u` in [0, 1] of the great arc from `a` to `b`, which takes `h` seconds. The
/// quaternions are on one hemisphere.
pub(crate) fn slerp(
    (a, b): (&[f64], &[f64]),
    u: f64,
    h: f64,
    value: &mut [f64; 4],
    derivative: &mut [f64; 4],
) {
    let theta = 0.5 * angle(a, b);
    for c in 0..4 {
        if theta < 1e-9 {
            value[c] = a[c] + (b[c] - a[c]) * u;
            derivative[c] = (b[c] - a[c]) / h;
        } else {
            let s = theta.sin();
            value[c] = (((1.0 - u) * theta).sin() * a[c] + (u * theta).sin() * b[c]) / s;
            derivative[c] =
                theta * ((u * theta).cos() * b[c] - ((1.0 - u) * theta).cos() * a[c]) / (s * h);
        }
    }
}
