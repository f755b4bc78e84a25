//! [`Framing`]: the camera from which all vertices of a movement fill a picture.

use glam::Vec3;
use phalanx::math::Affine3x4;
use phalanx::rig::Aabb;
use phalanx_render::Camera;

/// Share of half the field of view that is filled; the rest is margin.
const FILL: f32 = 0.92;

/// Shortest distance to the middle of the model, relative to its size. Nearer cameras look at no more than a
/// point.
const LEAST_DISTANCE: f32 = 0.5;

/// Collects vertices. The direction of view is that of [`Camera::around`]; only the position is chosen.
///
/// A vertex p is in the picture of an eye e if along each axis a of the picture
/// `-low (f·p - f·e) <= a·p - a·e <= high (f·p - f·e)`, with f the direction of view and the tangents of both
/// half angles. So the greatest `a·p - high f·p` and the least `a·p + low f·p` of all vertices decide.
#[derive(Clone, Debug)]
pub struct Framing {
    extent: Aabb,
    aspect: f32,
    forward: Vec3,
    fov_y: f32,
    axes: [Axis; 2],
    nearest: f32,
}

#[derive(Clone, Copy, Debug)]
struct Axis {
    direction: Vec3,
    /// Tangents towards the greater and the lesser side.
    high: f32,
    low: f32,
    greatest: f32,
    least: f32,
}

impl Framing {
    /// For pictures of an aspect ratio, of whose height a share stays free at the top.
    pub fn new(aspect: f32, headroom: f32) -> Self {
        let usual = Camera::around(Vec3::splat(-1.0), Vec3::ONE, aspect);
        let forward = (usual.target - usual.eye).normalize();
        let right = forward.cross(usual.up).normalize();
        let tan = (usual.fov_y * 0.5).tan();
        let axis = |direction, high, low| Axis {
            direction,
            high,
            low,
            greatest: f32::NEG_INFINITY,
            least: f32::INFINITY,
        };
        let side = tan * aspect.max(0.1) * FILL;
        let top = FILL.min(1.0 - 2.0 * headroom).max(0.1) * tan;
        Self {
            extent: Aabb::EMPTY,
            aspect,
            forward,
            fov_y: usual.fov_y,
            axes: [axis(right, side, side), axis(right.cross(forward), top, tan * FILL)],
            nearest: f32::INFINITY,
        }
    }

    /// Adds a vertex.
    pub fn add(&mut self, p: Vec3) {
        self.extent.add(p);
        let away = self.forward.dot(p);
        self.nearest = self.nearest.min(away);
        for a in &mut self.axes {
            let along = a.direction.dot(p);
            a.greatest = a.greatest.max(along - a.high * away);
            a.least = a.least.min(along + a.low * away);
        }
    }

    /// The box of all vertices.
    pub fn extent(&self) -> Aabb {
        self.extent
    }

    /// The camera for vertices that `place` moves and scales to the box from `min` to `max`.
    pub fn camera(&self, place: &Affine3x4, min: Vec3, max: Vec3) -> Camera {
        let usual = Camera::around(min, max, self.aspect);
        // The same in the space of the vertices, which `place` scales evenly.
        let scale = (place.transform_point3(Vec3::X) - place.transform_point3(Vec3::ZERO)).length();
        let mut away = f32::INFINITY;
        for a in &self.axes {
            away = away.min((a.least - a.greatest) / (a.high + a.low));
        }
        let mut eye = self.forward * away;
        for a in &self.axes {
            let (from, to) = (a.greatest + a.high * away, a.least - a.low * away);
            eye += a.direction * ((from + to) * 0.5);
        }
        let distance = self.forward.dot(self.extent.center()) - away;
        let size = self.extent.half_size().length();
        let near = (self.nearest - away) * scale;
        let placed = place.transform_point3(eye);
        let usable = distance > LEAST_DISTANCE * size && size > 0.0 && near > 0.0;
        if !(usable && placed.is_finite() && (distance * scale).is_normal()) {
            return usual;
        }
        Camera {
            eye: placed,
            target: placed + self.forward * (distance * scale),
            up: usual.up,
            fov_y: self.fov_y,
            near: (near * 0.5).max(distance * scale * 0.01),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Affine3A;
    use phalanx_render::PictureSize;

    #[test]
    fn every_vertex_is_in_the_picture_and_one_is_at_each_margin() {
        let points = [
            Vec3::new(-30.0, 0.0, -80.0),
            Vec3::new(12.0, 0.5, 70.0),
            Vec3::new(0.0, 78.0, 40.0),
            Vec3::new(3.0, 20.0, -85.0),
        ];
        let foot = Vec3::new(-9.0, 0.0, -7.5);
        let place = Affine3A::from_scale(Vec3::splat(0.01)) * Affine3A::from_translation(-foot);
        let place: Affine3x4 = place.into();
        for (width, height, headroom) in [(320, 320, 0.1), (640, 200, 0.0), (90, 400, 0.2)] {
            let size = PictureSize { width, height };
            let mut framing = Framing::new(size.aspect(), headroom);
            points.iter().for_each(|&p| framing.add(p));
            let camera = framing.camera(&place, Vec3::splat(-1.0), Vec3::ONE);
            let projection = camera.projection(size).unwrap();
            let mut all = Vec::new();
            for p in points {
                let p = place.transform_point3(p);
                let Some([at, _]) = projection.line(p, p + Vec3::Y * 1e-6) else {
                    panic!("{p} is not seen");
                };
                all.push(at);
            }
            let (w, h) = (width as f32, height as f32);
            let margin = 0.5 * (1.0 - FILL);
            let span = |pick: &dyn Fn(&glam::Vec2) -> f32| {
                let all = all.iter().map(pick);
                (all.clone().fold(f32::MAX, f32::min), all.fold(f32::MIN, f32::max))
            };
            let ((left, right), (top, bottom)) = (span(&|p| p.x), span(&|p| p.y));
            let free_top = margin.max(headroom) * h;
            assert!(left >= margin * w - 0.1 && right <= w * (1.0 - margin) + 0.1);
            assert!(top >= free_top - 0.1 && bottom <= h * (1.0 - margin) + 0.1);
            let wide = (right - left) / (w * FILL);
            let high = (bottom - top) / (h * (1.0 - margin) - free_top);
            assert!(wide.max(high) > 0.999, "{width} x {height}: {wide} {high}");
        }
    }

    #[test]
    fn a_model_without_extent_has_a_camera() {
        let place = Affine3x4::IDENTITY;
        let mut framing = Framing::new(1.0, 0.0);
        let usual = Camera::around(Vec3::splat(-1.0), Vec3::ONE, 1.0);
        assert_eq!(framing.camera(&place, Vec3::splat(-1.0), Vec3::ONE), usual);
        framing.add(Vec3::ONE);
        assert_eq!(framing.camera(&place, Vec3::splat(-1.0), Vec3::ONE), usual);
    }
}
