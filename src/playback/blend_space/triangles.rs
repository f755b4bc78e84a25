//! Delaunay triangles of a few points: swept from left to right, then flipped.

use std::cmp::Ordering;

/// Two points are one if they are nearer than this share of the extent, and points form a line if all are within this
/// share of one.
const NEAR: f64 = 1e-5;

/// By how much a point must lie within a circle for its edge to be flipped, as a share of the extent to the fourth: points
/// on one circle, as in a grid, are not flipped to and fro.
const INSIDE: f64 = 1e-12;

type At = [f64; 2];

/// The points that form no triangles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Flat {
    /// These two are one.
    Close(usize, usize),
    /// The last is the farthest from the line through the others, by this distance.
    Line([usize; 3], f64),
}

/// Twice the area of a triangle; positive if it runs counter-clockwise. Differences of f32 are exact, and so is the sign.
pub(super) fn area(a: At, b: At, c: At) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

/// Positive if `d` lies within the circle through `a`, `b` and `c`, which run counter-clockwise.
fn in_circle([a, b, c, d]: [At; 4]) -> f64 {
    let [a, b, c] = [a, b, c].map(|p| [p[0] - d[0], p[1] - d[1]]);
    let lift = |p: At| p[0] * p[0] + p[1] * p[1];
    let cross = |p: At, q: At| p[0] * q[1] - p[1] * q[0];
    lift(a) * cross(b, c) + lift(b) * cross(c, a) + lift(c) * cross(a, b)
}

/// The triangles of points, each counter-clockwise.
pub(super) fn triangulate(points: &[[f32; 2]]) -> Result<Vec<[u16; 3]>, Flat> {
    let at = |i: u16| points[usize::from(i)].map(f64::from);
    let area_of = |[a, b, c]: [u16; 3]| area(at(a), at(b), at(c));
    let mut order: Vec<u16> = (0..points.len() as u16).collect();
    // Numbers are finite; -0 equals 0.
    order.sort_by(|&a, &b| at(a).partial_cmp(&at(b)).unwrap_or(Ordering::Equal));
    let extent = check(points, &order)?;
    // From the left: a run on one line, and the first point beside it.
    let beside = |&p: &u16| area_of([order[0], order[1], p]) != 0.0;
    let apex = order.iter().position(beside).unwrap_or(order.len() - 1);
    let mut hull: Vec<u16> = order[..apex].to_vec();
    if area_of([order[0], order[1], order[apex]]) < 0.0 {
        hull.reverse();
    }
    let mut triangles: Vec<[u16; 3]> = hull.windows(2).map(|w| [w[0], w[1], order[apex]]).collect();
    hull.push(order[apex]);
    for &p in &order[apex + 1..] {
        // The edges that the point sees are neighbours; it takes the place of what lies between their ends.
        let sees = |hull: &[u16], i: usize| {
            area_of([hull[i % hull.len()], hull[(i + 1) % hull.len()], p]) < 0.0
        };
        let n = hull.len();
        let first = (0..n).find(|&i| sees(&hull, i) && !sees(&hull, i + n - 1)).unwrap_or(0);
        hull.rotate_left(first);
        let seen = (0..n - 1).take_while(|&i| sees(&hull, i)).count();
        triangles.extend((0..seen).map(|i| [hull[(i + 1) % n], hull[i], p]));
        if seen > 0 {
            hull.splice(1..seen, [p]);
        }
    }
    let least = INSIDE * extent.powi(4);
    let inside = |[a, b, c]: [u16; 3], d: u16| in_circle([at(a), at(b), at(c), at(d)]) > least;
    // Every flip brings the triangles nearer to Delaunay's; the bound is for rounding.
    for _ in 0..points.len() * points.len() {
        if !flip_all(&mut triangles, inside) {
            break;
        }
    }
    Ok(triangles)
}

/// Flips every edge whose other corner lies `inside` the circle of a triangle. Returns whether there was one.
fn flip_all(triangles: &mut [[u16; 3]], inside: impl Fn([u16; 3], u16) -> bool) -> bool {
    let mut any = false;
    for t in 0..triangles.len() {
        for i in 0..3 {
            let [a, b, c] = [0, 1, 2].map(|n| triangles[t][(i + n) % 3]);
            let edge = |w: &[u16; 3]| (0..3).find(|&i| (w[i], w[(i + 1) % 3]) == (b, a));
            let mut others = triangles.iter().enumerate();
            let other = others.find_map(|(u, w)| edge(w).map(|i| (u, w[(i + 2) % 3])));
            if let Some((u, d)) = other
                && inside([a, b, c], d)
            {
                (triangles[t], triangles[u], any) = ([c, a, d], [d, b, c], true);
            }
        }
    }
    any
}

/// Checks that points form triangles. Returns the greatest distance from the first point to another.
fn check(points: &[[f32; 2]], order: &[u16]) -> Result<f64, Flat> {
    let at = |i: usize| points[i].map(f64::from);
    let apart = |a: usize, b: usize| {
        let [a, b] = [at(a), at(b)];
        ((b[0] - a[0]).powi(2) + (b[1] - a[1]).powi(2)).sqrt()
    };
    let first = usize::from(order[0]);
    let far = (0..points.len())
        .fold(first, |far, i| if apart(first, i) > apart(first, far) { i } else { far });
    let extent = apart(first, far);
    for i in 0..points.len() {
        if let Some(other) = (0..i).find(|&other| apart(i, other) <= NEAR * extent) {
            return Err(Flat::Close(other, i));
        }
    }
    let beside = |i: usize| area(at(first), at(far), at(i)).abs() / extent;
    let others = (0..points.len()).filter(|i| ![first, far].contains(i));
    let most = others.reduce(|most, i| if beside(i) > beside(most) { i } else { most });
    let most = most.unwrap_or(first);
    if beside(most) <= NEAR * extent {
        return Err(Flat::Line([first, far, most], beside(most)));
    }
    Ok(extent)
}
