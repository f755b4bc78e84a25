//! Blend spaces by brute force: every triple of points whose circle holds no other point is a triangle.

type At = [f64; 2];

fn minus(a: At, b: At) -> At {
    [a[0] - b[0], a[1] - b[1]]
}

fn cross(a: At, b: At) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

fn dot(a: At, b: At) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

/// Centre of the circle through three points, by the lines that halve two of their sides.
fn center([a, b, c]: [At; 3]) -> At {
    let (u, v) = (minus(b, a), minus(c, a));
    let (p, q, d) = (dot(u, u), dot(v, v), 2.0 * cross(u, v));
    [a[0] + (v[1] * p - u[1] * q) / d, a[1] + (u[0] * q - v[0] * p) / d]
}

/// The weights of points in a plane at a value, of points in general position: no three on a line, no four on a circle.
/// Outside of all triangles, those of the nearest point of a segment between two points.
pub fn in_plane(points: &[At], value: At) -> Vec<f64> {
    let n = points.len();
    let mut weights = vec![0.0; n];
    for a in 0..n {
        for b in a + 1..n {
            for c in b + 1..n {
                let corners = [a, b, c].map(|i| points[i]);
                let center = center(corners);
                let far = |p: At| dot(minus(p, center), minus(p, center));
                let empty = (0..n)
                    .filter(|i| ![a, b, c].contains(i))
                    .all(|i| far(points[i]) > far(corners[0]));
                let [p, q, r] = corners.map(|p| minus(p, value));
                let parts = [cross(q, r), cross(r, p), cross(p, q)];
                let all: f64 = parts.iter().sum();
                if empty && parts.iter().all(|part| part / all >= 0.0) {
                    for (i, part) in [a, b, c].into_iter().zip(parts) {
                        weights[i] = part / all;
                    }
                    return weights;
                }
            }
        }
    }
    let mut nearest = f64::INFINITY;
    for a in 0..n {
        for b in (0..n).filter(|&b| b != a) {
            let along = minus(points[b], points[a]);
            let t = dot(minus(value, points[a]), along) / dot(along, along);
            let t = t.clamp(0.0, 1.0);
            let off = minus(value, [points[a][0] + t * along[0], points[a][1] + t * along[1]]);
            if dot(off, off) < nearest {
                nearest = dot(off, off);
                weights.fill(0.0);
                (weights[a], weights[b]) = (1.0 - t, t);
            }
        }
    }
    weights
}

/// The value of a cubic in time from `from` with a velocity to `to` at rest, `seconds` after its start, and its velocity.
pub fn follow((from, velocity): (f64, f64), to: f64, (seconds, all): (f64, f64)) -> (f64, f64) {
    if seconds >= all {
        return (to, 0.0);
    }
    // c0 + c1 s + c2 s² + c3 s³, with the value and the velocity at both ends.
    let (c0, c1) = (from, velocity);
    let far = to - from;
    let c2 = (3.0 * far - 2.0 * velocity * all) / (all * all);
    let c3 = (velocity * all - 2.0 * far) / (all * all * all);
    let s = seconds;
    (c0 + c1 * s + c2 * s * s + c3 * s * s * s, c1 + 2.0 * c2 * s + 3.0 * c3 * s * s)
}
