//! Angles and slerp of unit quaternions in f64: for builders and measurements.

/// The angle in radians of the shorter rotation between two unit quaternions.
pub(crate) fn angle(a: &[f64], b: &[f64]) -> f64 {
    let dot: f64 = a.iter().zip(b).map(|(x, y)| x * y).sum();
    let chord: f64 = a.iter().zip(b).map(|(x, y)| (x - y * dot.signum()).powi(2)).sum();
    // The chord is accurate at small angles, where the cosine is flat.
    4.0 * (0.5 * chord.sqrt()).min(1.0).asin()
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
    arc((a, b), u, theta, value);
    if theta < 1e-9 {
        for c in 0..4 {
            derivative[c] = (b[c] - a[c]) / h;
        }
        return;
    }
    let (s, from, to) = (theta.sin(), ((1.0 - u) * theta).cos(), (u * theta).cos());
    for c in 0..4 {
        derivative[c] = theta * (to * b[c] - from * a[c]) / (s * h);
    }
}

/// The value of [`slerp`] alone.
pub(crate) fn slerp_value((a, b): (&[f64], &[f64]), u: f64, value: &mut [f64; 4]) {
    arc((a, b), u, 0.5 * angle(a, b), value);
}

/// The place at `u` on the arc of half angle `theta`.
fn arc((a, b): (&[f64], &[f64]), u: f64, theta: f64, value: &mut [f64; 4]) {
    if theta < 1e-9 {
        for c in 0..4 {
            value[c] = a[c] + (b[c] - a[c]) * u;
        }
        return;
    }
    let (s, from, to) = (theta.sin(), ((1.0 - u) * theta).sin(), (u * theta).sin());
    for c in 0..4 {
        value[c] = (from * a[c] + to * b[c]) / s;
    }
}
