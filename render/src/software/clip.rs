//! Clips triangles that reach behind the camera or far outside the picture.

use glam::{Vec3, Vec4};

use super::super::PictureSize;
use super::raster::Corner;
use super::vertices::{GUARD, corner};

/// A corner of a clipped polygon: clip-space position and barycentric coordinates in the triangle.
type Point = (Vec4, Vec3);

/// Clips a triangle at the near plane and the guard band, and calls `draw` with the resulting triangles.
pub(super) fn clip_triangle(
    size: PictureSize,
    near: f32,
    corners: [Vec4; 3],
    mut draw: impl FnMut(&[Corner; 3]),
) {
    let [a, b, c] = corners;
    let mut polygon = vec![(a, Vec3::X), (b, Vec3::Y), (c, Vec3::Z)];
    let inside: [&dyn Fn(Vec4) -> f32; 5] = [
        &|p| p.w - near,
        &|p| GUARD * p.w - p.x,
        &|p| GUARD * p.w + p.x,
        &|p| GUARD * p.w - p.y,
        &|p| GUARD * p.w + p.y,
    ];
    for plane in inside {
        polygon = cut(&polygon, plane);
    }
    let corners: Vec<Corner> =
        polygon.iter().map(|&(clip, share)| corner(size, clip, share)).collect();
    let Some((first, rest)) = corners.split_first() else {
        return;
    };
    for pair in rest.windows(2) {
        if let &[second, third] = pair {
            draw(&[*first, second, third]);
        }
    }
}

/// The part of a convex polygon on the positive side of a plane.
fn cut(polygon: &[Point], distance: &dyn Fn(Vec4) -> f32) -> Vec<Point> {
    let mut out = Vec::with_capacity(polygon.len() + 1);
    let next = polygon.iter().cycle().skip(1);
    for (&from, &to) in polygon.iter().zip(next) {
        let (d, e) = (distance(from.0), distance(to.0));
        if d >= 0.0 {
            out.push(from);
        }
        if (d >= 0.0) != (e >= 0.0) {
            let t = d / (d - e);
            out.push((from.0.lerp(to.0, t), from.1.lerp(to.1, t)));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: PictureSize = PictureSize { width: 100, height: 100 };

    fn clipped(corners: [Vec4; 3]) -> Vec<[Corner; 3]> {
        let mut out = Vec::new();
        clip_triangle(SIZE, 0.5, corners, |t| out.push(*t));
        out
    }

    #[test]
    fn triangles_behind_the_camera_vanish_and_straddling_ones_are_cut() {
        let p = |x: f32, y: f32, w: f32| Vec4::new(x, y, 0.5, w);
        assert!(clipped([p(0.0, 0.0, -1.0), p(1.0, 0.0, -2.0), p(0.0, 1.0, 0.1)]).is_empty());
        let whole = clipped([p(0.0, 0.0, 1.0), p(1.0, 0.0, 2.0), p(0.0, 1.0, 1.0)]);
        assert_eq!(whole.len(), 1);
        assert_eq!(whole[0][1].share, Vec3::Y);
        let cut = clipped([p(0.0, 0.0, 1.5), p(1.0, 0.0, 1.5), p(0.0, 1.0, -0.5)]);
        assert_eq!(cut.len(), 2);
        for corner in cut.iter().flatten() {
            // The nearest possible depth is 1, at the near plane.
            assert!(corner.depth <= 1.0 + 1e-5, "{corner:?}");
            assert!((corner.share.element_sum() - 1.0).abs() < 1e-5);
        }
    }

    #[test]
    fn coordinates_stay_within_the_guard_band() {
        let p = |x: f32, y: f32, w: f32| Vec4::new(x, y, 0.5, w);
        let far = clipped([p(1e9, 0.0, 1.0), p(-1e9, 1e9, 1.0), p(0.0, -1e9, 1.0)]);
        assert!(!far.is_empty());
        for corner in far.iter().flatten() {
            assert!(corner.x.abs() <= 100 * 256 * 9 && corner.y.abs() <= 100 * 256 * 9);
        }
    }
}
