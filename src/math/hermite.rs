//! Cubic Hermite curves in f64: for builders and measurements.

/// Value and derivative at `u` in [0, 1] of the cubic from `p` to `q`. Tangents `m` at `p` and `n` at `q`, and the
/// derivative, are per interval.
///
/// Source: glTF 2.0, appendix C.5.
pub(crate) fn hermite((p, m): (f64, f64), (q, n): (f64, f64), u: f64) -> (f64, f64) {
    let (u2, u3) = (u * u, u * u * u);
    let value = (2.0 * u3 - 3.0 * u2 + 1.0) * p
        + (u3 - 2.0 * u2 + u) * m
        + (3.0 * u2 - 2.0 * u3) * q
        + (u3 - u2) * n;
    let derivative =
        (6.0 * u2 - 6.0 * u) * (p - q) + (3.0 * u2 - 4.0 * u + 1.0) * m + (3.0 * u2 - 2.0 * u) * n;
    (value, derivative)
}
