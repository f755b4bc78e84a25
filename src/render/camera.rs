//! Where a picture is taken from.

use glam::Vec3;

/// A perspective camera in world space: right-handed, Y up, metres, no far plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Position.
    pub eye: Vec3,
    /// A point in the middle of the picture.
    pub target: Vec3,
    /// A direction that points up in the picture.
    pub up: Vec3,
    /// Vertical opening angle, radians.
    pub fov_y: f32,
    /// Distance of the near plane.
    pub near: f32,
}

/// Vertical opening angle of [`Camera::overlooking`], radians.
const FOV_Y: f32 = 0.72;

/// Share of half the opening angle that [`Camera::overlooking`] fills; the rest is margin.
const FILL: f32 = 0.88;

impl Camera {
    /// Looks at a formation that faces +Z and fills the box from `min` to `max`, its tallest member
    /// as high as the box.
    ///
    /// Few characters fill the picture; of thousands the front row stands whole at its lower edge
    /// and the others recede towards the horizon.
    pub fn overlooking(min: Vec3, max: Vec3, aspect: f32) -> Self {
        let size = (max - min).max(Vec3::splat(1e-3));
        let height = size.y;
        let half = FOV_Y * 0.5 * FILL;
        let (tan_x, tan_y) = ((FOV_Y * 0.5).tan() * aspect.max(0.1) * FILL, half.tan());
        // Deep formations are seen from higher up, so that their rows do not hide each other.
        let depth = size.z / height;
        let rise = height * (0.62 + 0.10 * depth.max(0.0)).min(0.62 + 0.48 * depth.sqrt());
        // Wide formations are not shown whole: their front row keeps a fair share of the picture.
        let whole = size.x * 0.5 / tan_x;
        let alone = height * 0.62 / tan_y;
        let distance = whole.clamp(alone, (alone * 2.2).max(rise * 1.05));
        let center = (min + max) * 0.5;
        let eye = Vec3::new(center.x, min.y + rise, max.z + distance);
        // The angles under which the front row's feet and the highest heads are seen.
        let angle = |y: f32, z: f32| ((y - eye.y) / (eye.z - z)).atan();
        let bottom = angle(min.y, max.z);
        let top = angle(max.y, max.z).max(angle(max.y, min.z));
        let pitch = if top - bottom > 2.0 * half {
            bottom + half
        } else {
            (top + bottom) * 0.5
        };
        Self {
            eye,
            target: eye + Vec3::new(0.0, pitch.sin(), -pitch.cos()) * distance,
            up: Vec3::Y,
            fov_y: FOV_Y,
            near: (distance * 0.02).min(height * 0.1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::view::Eye;
    use crate::render::{Look, PictureSize};

    /// Where a point lands in the picture, from -1 to 1.
    fn project(camera: &Camera, size: PictureSize, point: Vec3) -> (f32, f32) {
        let eye = Eye::new(camera, &Look::default(), size).unwrap();
        let clip = eye.clip(point - camera.eye);
        (clip.x / clip.w, clip.y / clip.w)
    }

    #[test]
    fn front_rows_stand_whole_in_the_picture() {
        let size = PictureSize {
            width: 1600,
            height: 900,
        };
        for (columns, rows) in [(1, 1), (3, 1), (10, 10), (100, 100), (400, 250), (1, 50)] {
            let half = Vec3::new(columns as f32, 0.0, rows as f32) * 0.75;
            let (min, max) = (-half, half + Vec3::Y * 1.76);
            let camera = Camera::overlooking(min, max, size.aspect());
            for y in [min.y, max.y] {
                let (at, high) = project(&camera, size, Vec3::new(0.0, y, max.z));
                assert!(at.abs() < 1e-4, "{columns} x {rows}: off centre by {at}");
                assert!(high.abs() < 1.0, "{columns} x {rows}: {y} at {high}");
            }
            // Also the last row, and the horizon is not far above it.
            let (_, high) = project(&camera, size, Vec3::new(0.0, max.y, min.z));
            assert!(high.abs() < 1.0, "{columns} x {rows}: last row at {high}");
        }
    }

    #[test]
    fn a_lone_character_fills_most_of_the_height() {
        let size = PictureSize {
            width: 900,
            height: 900,
        };
        let (min, max) = (Vec3::new(-0.4, 0.0, -0.2), Vec3::new(0.4, 1.8, 0.2));
        let camera = Camera::overlooking(min, max, size.aspect());
        let (_, feet) = project(&camera, size, Vec3::ZERO);
        let (_, head) = project(&camera, size, Vec3::Y * 1.8);
        assert!(head - feet > 1.1, "{}", head - feet);
    }
}
