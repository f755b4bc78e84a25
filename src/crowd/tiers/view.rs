//! `View`: a camera that sees a crowd, and what it makes of bounding spheres.

use super::tier::refused;
use crate::playback::PlaybackError as CrowdError;
use crate::words::number;
use ultraviolet::{Vec3, Vec3x8};
use wide::{CmpGe, CmpGt, f32x8};

/// A camera: one of the pictures of a frame, a mirror in it, or the map of a shadow.
///
/// Only the four sides of the picture and the plane of the eye are used, so any convention of depth will do: reversed,
/// infinite, [0, 1] or [-1, 1].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// World space to clip space, projection × view, column by column. Perspective or orthographic.
    pub clip_from_world: [[f32; 4]; 4],
    /// Height of the picture in pixels, above 0.
    pub height: f32,
    /// True for the map of a shadow: an instance that has no tier in the other views is then needed for its shadow alone,
    /// see [`Tiers::shadows`](super::Tiers::shadows).
    pub shadows: bool,
}

impl View {
    pub(super) fn validate(&self, view: usize) -> Result<(), CrowdError> {
        let numbers = self.clip_from_world.as_flattened().iter();
        let (what, value) = match numbers.into_iter().find(|v| !v.is_finite()) {
            Some(&value) => ("a number of the matrix", value),
            None if self.height > 0.0 && self.height.is_finite() => return Ok(()),
            None => ("the height of the picture", self.height),
        };
        Err(refused(format!("view {view}: {what} is {}", number(value.into()))))
    }
}

/// A plane in all lanes, with a unit normal that points inwards: `n · p + d`.
#[derive(Clone, Copy, Debug)]
struct Plane {
    n: Vec3x8,
    d: f32x8,
}

/// A view in all lanes.
#[derive(Clone, Copy, Debug)]
pub(super) struct WideView {
    sides: [Plane; 4],
    /// The fourth row of the matrix: the depth of a point, or 1.
    depth: Plane,
    /// The length of the depth's normal.
    slope: f32x8,
    /// Pixels per metre at depth 1.
    scale: f32x8,
    pub shadows: bool,
}

impl WideView {
    pub fn new(view: &View) -> Self {
        let m = view.clip_from_world;
        let row = |r: usize| [m[0][r], m[1][r], m[2][r], m[3][r]];
        let [x, y, w] = [row(0), row(1), row(3)];
        let length = |r: [f32; 4]| (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]).sqrt();
        let plane = |r: [f32; 4], scale: f32| Plane {
            n: Vec3x8::splat(Vec3::new(r[0], r[1], r[2]) * scale),
            d: f32x8::splat(r[3] * scale),
        };
        let side = |r: [f32; 4], sign: f32| {
            let sum: [f32; 4] = std::array::from_fn(|i| w[i] + sign * r[i]);
            // A plane without a direction hides nothing.
            let length = length(sum);
            plane(sum, if length > 0.0 { 1.0 / length } else { 0.0 })
        };
        Self {
            sides: [side(x, 1.0), side(x, -1.0), side(y, 1.0), side(y, -1.0)],
            depth: plane(w, 1.0),
            slope: f32x8::splat(length(w)),
            scale: f32x8::splat(length(y) * view.height * 0.5),
            shadows: view.shadows,
        }
    }

    /// The heights in pixels of things of these sizes in eight spheres: 0 if a sphere is outside the picture, infinite
    /// if it contains the eye.
    #[inline(always)]
    pub fn heights(&self, center: Vec3x8, radius: f32x8, size: f32x8) -> f32x8 {
        let at = |p: &Plane| p.n.dot(center) + p.d;
        let depth = at(&self.depth);
        let reach = radius * self.slope;
        let mut seen = (depth + reach).cmp_gt(f32x8::ZERO);
        for side in &self.sides {
            seen &= (at(side) + radius).cmp_ge(f32x8::ZERO);
        }
        // From the nearest point of the sphere on; at the eye or behind it the height is infinite.
        let depth = (depth - reach).max(f32x8::ZERO);
        seen & (size * self.scale / depth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    type Sphere = ([f32; 3], f32);

    fn heights(view: &View, spheres: &[Sphere]) -> Vec<f32> {
        let lane = |f: &dyn Fn(&Sphere) -> f32| {
            f32x8::new(std::array::from_fn(|l| spheres.get(l).map_or(0.0, f)))
        };
        let center = [0, 1, 2].map(|c| lane(&|s| s.0[c])).into();
        let heights = WideView::new(view).heights(center, lane(&|s| s.1), f32x8::splat(2.0));
        heights.to_array()[..spheres.len()].to_vec()
    }

    #[test]
    fn heights_are_those_of_the_projection_in_any_convention_of_depth() {
        let eye =
            glam::camera::rh::view::look_at_mat4(Vec3::new(0.0, 0.0, 10.0), Vec3::ZERO, Vec3::Y);
        let fov = 60f32.to_radians();
        let spheres = [
            ([0.0, 0.0, -10.0], 0.0),
            ([0.0, 0.0, 10.2], 0.5),
            ([0.0, 0.0, 12.0], 0.5),
            ([100.0, 0.0, 0.0], 1.0),
            // At the right side: 10 · tan 30° · 16/9 = 10.264.
            ([11.0, 0.0, 0.0], 0.5),
            ([11.0, 0.0, 0.0], 0.9),
        ];
        for projection in [
            glam::camera::rh::proj::directx::perspective(fov, 16.0 / 9.0, 0.1, 1000.0),
            glam::camera::rh::proj::directx::perspective_infinite_reverse(fov, 16.0 / 9.0, 0.1),
            glam::camera::rh::proj::opengl::perspective(fov, 16.0 / 9.0, 0.1, 1000.0),
        ] {
            let view = View {
                clip_from_world: (projection * eye).to_cols_array_2d(),
                height: 1080.0,
                shadows: false,
            };
            let h = heights(&view, &spheres);
            let exact = 2.0 * 540.0 / (20.0 * (fov * 0.5).tan());
            assert!((h[0] - exact).abs() < 1e-3, "{h:?} {exact}");
            assert_eq!(h[1], f32::INFINITY);
            assert_eq!((h[2], h[3], h[4]), (0.0, 0.0, 0.0), "{h:?}");
            assert!(h[5] > 0.0);
        }
        let flat = glam::camera::rh::proj::directx::orthographic(-5.0, 5.0, -5.0, 5.0, 0.0, 100.0);
        let view = View { clip_from_world: flat.to_cols_array_2d(), height: 500.0, shadows: true };
        let h = heights(&view, &[([0.0, 0.0, -50.0], 0.1), ([6.0, 0.0, 0.0], 0.5)]);
        assert_eq!(h, [100.0, 0.0]);
    }
}
