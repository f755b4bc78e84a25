//! Rasterises triangles to covered samples.

use std::ops::Range;

use glam::Vec3;

/// Fixed-point steps per pixel.
pub(super) const SUBPIXELS: i32 = 256;

/// Samples per pixel.
pub(super) const SAMPLES: usize = 4;

/// Offsets of a pixel's samples from its centre: the standard pattern of graphics APIs for four samples.
const OFFSETS: [(i32, i32); SAMPLES] = [(-32, -96), (96, -32), (-96, 32), (32, 96)];

/// A triangle's corner in the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Corner {
    /// Pixels from the left, times [`SUBPIXELS`].
    pub x: i32,
    /// Pixels from the top, times [`SUBPIXELS`].
    pub y: i32,
    /// Near distance over distance: 1 at the near plane, 0 at infinity.
    pub depth: f32,
    /// Barycentric coordinates in the unclipped triangle.
    pub share: Vec3,
}

/// The part of a triangle in one pixel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    pub x: usize,
    pub y: usize,
    /// One bit per covered sample.
    pub covered: u8,
    /// Depths at the samples; valid for covered ones only.
    pub depth: [f32; SAMPLES],
    /// Perspective-correct barycentric coordinates of the pixel's centre in the unclipped triangle.
    pub share: Vec3,
}

/// Twice the area of a triangle in fixed-point steps; positive if it is counter-clockwise in the picture.
pub(super) fn area(t: &[Corner; 3]) -> i64 {
    let [a, b, c] = t;
    let d = |p: i32, q: i32| i64::from(p) - i64::from(q);
    d(b.y, a.y) * d(c.x, a.x) - d(b.x, a.x) * d(c.y, a.y)
}

/// Calls `hit` for every pixel of `columns` × `rows` with a covered sample, for either winding.
///
/// Triangles that share an edge neither overlap on it nor leave a gap. Coordinates must be within ±2^26.
pub(super) fn triangle(
    t: &[Corner; 3],
    columns: usize,
    rows: Range<usize>,
    mut hit: impl FnMut(Hit),
) {
    let area = area(t);
    if area == 0 {
        return;
    }
    let [a, mut b, mut c] = *t;
    if area < 0 {
        std::mem::swap(&mut b, &mut c);
    }
    let inverse = 1.0 / area.unsigned_abs() as f32;
    let first = |low: i32| usize::try_from((low - SUBPIXELS).div_euclid(SUBPIXELS)).unwrap_or(0);
    let last = |high: i32| usize::try_from(high.div_euclid(SUBPIXELS) + 1).unwrap_or(0);
    let xs = first(a.x.min(b.x).min(c.x))..last(a.x.max(b.x).max(c.x)).min(columns);
    let low = first(a.y.min(b.y).min(c.y)).max(rows.start);
    let ys = low..last(a.y.max(b.y).max(c.y)).min(rows.end);
    // Each edge belongs to the opposite corner.
    let edges = [Edge::new(b, c), Edge::new(c, a), Edge::new(a, b)];
    for y in ys {
        for x in xs.clone() {
            let at = |v: usize| (v as i64) * i64::from(SUBPIXELS) + i64::from(SUBPIXELS / 2);
            let middle = edges.each_ref().map(|e| e.at(at(x), at(y)));
            let mut covered = 0;
            let mut depth = [0.0; SAMPLES];
            for (s, depth) in depth.iter_mut().enumerate() {
                let [u, v, w] = [0, 1, 2].map(|i| middle[i] + edges[i].offsets[s]);
                if (u | v | w) < 0 {
                    continue;
                }
                covered |= 1 << s;
                *depth = (u as f32 * a.depth + v as f32 * b.depth + w as f32 * c.depth) * inverse;
            }
            if covered == 0 {
                continue;
            }
            // The centre may be outside the triangle; it is then clamped to the edge. Devices extrapolate
            // there, but the mean of the covered samples differed more from their pictures.
            let [u, v, w] = middle.map(|m| m.max(0) as f32);
            let (u, v, w) = (u * a.depth, v * b.depth, w * c.depth);
            let sum = u + v + w;
            let share =
                if sum > 0.0 { (a.share * u + b.share * v + c.share * w) / sum } else { a.share };
            hit(Hit { x, y, covered, depth, share });
        }
    }
}

/// An edge function: zero or positive inside.
struct Edge {
    x: i64,
    y: i64,
    dx: i64,
    dy: i64,
    bias: i64,
    /// Differences of the samples' values to the value at the pixel's centre.
    offsets: [i64; SAMPLES],
}

impl Edge {
    fn new(from: Corner, to: Corner) -> Self {
        let dx = i64::from(to.x) - i64::from(from.x);
        let dy = i64::from(to.y) - i64::from(from.y);
        // A sample on an edge belongs to one of its two triangles. The edge has opposite directions in
        // them, so exactly one of them gets the bias.
        let owns = dy < 0 || (dy == 0 && dx > 0);
        Self {
            x: from.x.into(),
            y: from.y.into(),
            dx,
            dy,
            bias: if owns { 0 } else { -1 },
            offsets: OFFSETS.map(|(x, y)| dy * i64::from(x) - dx * i64::from(y)),
        }
    }

    fn at(&self, x: i64, y: i64) -> i64 {
        self.dy * (x - self.x) - self.dx * (y - self.y) + self.bias
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corner(x: f32, y: f32, depth: f32) -> Corner {
        Corner { x: (x * 256.0) as i32, y: (y * 256.0) as i32, depth, share: Vec3::ZERO }
    }

    #[test]
    fn a_fan_covers_every_sample_of_its_square_once() {
        // Corners on and off the sample grid, in both directions.
        let ring = [
            (0.0, 0.0),
            (3.25, 0.0),
            (16.0, 0.0),
            (16.0, 7.125),
            (16.0, 16.0),
            (5.5, 16.0),
            (0.0, 16.0),
            (0.0, 2.0),
        ];
        let middle = corner(6.375, 5.625, 0.5);
        let mut count = [[0u32; SAMPLES]; 256];
        for (i, &(x, y)) in ring.iter().enumerate() {
            let (u, v) = ring[(i + 1) % ring.len()];
            let mut t = [middle, corner(x, y, 0.5), corner(u, v, 0.5)];
            if i % 2 == 0 {
                t.swap(1, 2);
            }
            triangle(&t, 16, 0..16, |h| {
                for (s, count) in count[h.y * 16 + h.x].iter_mut().enumerate() {
                    *count += u32::from(h.covered >> s & 1);
                }
            });
        }
        assert!(count.iter().flatten().all(|&c| c == 1));
    }

    #[test]
    fn depth_and_shares_are_those_of_the_plane() {
        let mut t = [corner(0.0, 0.0, 1.0), corner(32.0, 0.0, 0.5), corner(0.0, 32.0, 0.25)];
        for (corner, share) in t.iter_mut().zip([Vec3::X, Vec3::Y, Vec3::Z]) {
            corner.share = share;
        }
        let mut seen = 0;
        triangle(&t, 32, 0..32, |h| {
            let (x, y) = ((h.x as f32 + 0.5) / 32.0, (h.y as f32 + 0.5) / 32.0);
            if x + y > 0.9 {
                return;
            }
            seen += 1;
            let flat = 1.0 - 0.5 * x - 0.75 * y;
            let mean: f32 = h.depth.iter().sum::<f32>() / 4.0;
            assert!((mean - flat).abs() < 1e-3);
            // 1 / depth is linear in space: 1, 2 and 4 at the corners.
            let distance = h.share.dot(Vec3::new(1.0, 2.0, 4.0));
            assert!((distance * flat - 1.0).abs() < 1e-3);
        });
        assert!(seen > 300);
        assert!(area(&t) < 0, "clockwise on the picture");
    }

    #[test]
    fn bands_and_edges_of_the_picture_bound_what_is_hit() {
        let t = [corner(-90.0, -90.0, 0.5), corner(-90.0, 200.0, 0.5), corner(200.0, -90.0, 0.5)];
        let mut hits = 0;
        triangle(&t, 10, 4..6, |h| {
            assert!(h.x < 10 && (4..6).contains(&h.y));
            hits += 1;
        });
        assert_eq!(hits, 20);
    }
}
