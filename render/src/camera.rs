//! `Camera`, with framings of crowds and single models, and `Projection`.

use super::view::Eye;
use super::{Look, PictureSize, RenderError};
use glam::{Vec2, Vec3};

/// A perspective camera in world space: right-handed, Y up, metres, no far plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Position in metres.
    pub eye: Vec3,
    /// A point in the middle of the picture.
    pub target: Vec3,
    /// A direction that points up in the picture.
    pub up: Vec3,
    /// Vertical field of view in radians, 0.001 to 3.
    pub fov_y: f32,
    /// Distance of the near plane in metres, > 0.
    pub near: f32,
}

/// Vertical field of view of [`Camera::overlooking`], radians: for a few characters, for thousands.
const FOV_Y: (f32, f32) = (0.62, 0.92);

/// Depth of a formation, in character heights, from which the widest field of view is used.
const DEEP: f32 = 24.0;

/// Share of half the field of view that the framings fill; the rest is margin.
const FILL: f32 = 0.92;

/// Share of the free height below the front row's feet.
const FREE_BELOW: f32 = 0.36;

/// Yaw of the camera of [`Camera::overlooking`], to the right of straight ahead, radians: for a few
/// characters, for thousands.
const YAW: (f32, f32) = (0.30, 0.11);

/// Yaw of the camera of [`Camera::around`], to the right of straight ahead, radians.
const AROUND_YAW: f32 = 0.55;
/// Elevation of the camera of [`Camera::around`], radians.
const AROUND_RISE: f32 = 0.16;

impl Camera {
    /// Frames a formation that faces +Z and fills the box from `min` to `max`, in metres.
    ///
    /// The tallest character is as high as the box. A few characters fill the picture. Of thousands, the
    /// front row stands whole at the lower edge and the others recede towards the horizon.
    pub fn overlooking(min: Vec3, max: Vec3, aspect: f32) -> Self {
        let size = (max - min).max(Vec3::splat(1e-3));
        let height = size.y;
        let depth = (size.z / height - 1.0).max(0.0);
        let between = |(few, many): (f32, f32)| few + (many - few) * (depth / DEEP).min(1.0);
        let fov_y = between(FOV_Y);
        let (sin, cos) = between(YAW).sin_cos();
        let half = fov_y * 0.5 * FILL;
        let (tan_x, tan_y) = ((fov_y * 0.5).tan() * aspect.max(0.1) * FILL, half.tan());
        // Deep formations are viewed from higher up, so that their rows do not hide each other.
        let rise = height * (0.72 + 0.42 * depth.powf(0.45));
        // Wide formations are not shown whole: their front row keeps a minimum share of the picture.
        let alone = height * 0.53 / tan_y;
        let whole = size.x * 0.5 / tan_x + size.x * 0.5 * sin;
        let distance = whole.clamp(alone.max(rise), (alone * 2.4).max(rise * 1.05));
        let front = Vec3::new((min.x + max.x) * 0.5, min.y, max.z);
        let eye = front + Vec3::new(sin * distance, rise, cos * distance);
        // The front row is nearer at the right; its last visible character sets the near distance.
        let aside = (distance * tan_x / (cos + sin * tan_x)).min(size.x * 0.5);
        let near = distance - aside * sin;
        let far = distance + size.z * cos;
        let angle = |up: f32, away: f32| ((up - rise) / away).atan();
        let bottom = angle(0.0, near);
        let top = angle(height, near).max(angle(height, far));
        // Most of the free height is sky.
        let free = (2.0 * half - (top - bottom)).max(0.0);
        let pitch = bottom + half - free * FREE_BELOW;
        let forward = Vec3::new(-sin * pitch.cos(), pitch.sin(), -cos * pitch.cos());
        Self {
            eye,
            target: eye + forward * distance,
            up: Vec3::Y,
            fov_y,
            near: (near * 0.02).min(height * 0.1),
        }
    }

    /// Frames the box from `min` to `max`, in metres, from the front, slightly from the right and from above.
    ///
    /// All of the box is in the picture, as large as possible.
    pub fn around(min: Vec3, max: Vec3, aspect: f32) -> Self {
        let half = ((max - min) * 0.5).max(Vec3::splat(1e-3));
        let center = (min + max) * 0.5;
        let (sin, cos) = AROUND_YAW.sin_cos();
        let (rise, level) = AROUND_RISE.sin_cos();
        let forward = -Vec3::new(sin * level, rise, cos * level);
        let right = Vec3::new(cos, 0.0, -sin);
        let up = right.cross(forward);
        let tan_y = (FOV_Y.0 * 0.5).tan() * FILL;
        let tan_x = tan_y * aspect.max(0.1);
        let (mut distance, mut nearest) = (0.0f32, 0.0f32);
        for i in 0..8 {
            let side = |bit: i32| if i & bit == 0 { -1.0 } else { 1.0 };
            let corner = half * Vec3::new(side(1), side(2), side(4));
            let away = forward.dot(corner);
            let across = (right.dot(corner).abs() / tan_x).max(up.dot(corner).abs() / tan_y);
            distance = distance.max(across - away);
            nearest = nearest.min(away);
        }
        Self {
            eye: center - forward * distance,
            target: center,
            up: Vec3::Y,
            fov_y: FOV_Y.0,
            near: ((distance + nearest) * 0.5).max(distance * 0.01),
        }
    }
}

/// Projects points of the world into a picture.
#[derive(Clone, Copy, Debug)]
pub struct Projection(Eye);

impl Camera {
    /// The projection into a picture of this size.
    ///
    /// # Errors
    /// If the camera is invalid or the picture is empty.
    pub fn projection(&self, size: PictureSize) -> Result<Projection, RenderError> {
        size.validate()?;
        Ok(Projection(Eye::new(self, &Look::default(), size)?))
    }
}

impl Projection {
    /// The ends of a line in pixels from the upper left corner, clipped at the near plane.
    ///
    /// They may be outside the picture. `None` if the whole line is nearer than the near plane.
    pub fn line(&self, a: Vec3, b: Vec3) -> Option<[Vec2; 2]> {
        let eye = &self.0;
        let (a, b) = (a - eye.position, b - eye.position);
        let over = |p: Vec3| eye.forward.dot(p) - eye.near;
        let (from, to) = (over(a), over(b));
        let cut = || a.lerp(b, from / (from - to));
        let (a, b) = match (from >= 0.0, to >= 0.0) {
            (true, true) => (a, b),
            (true, false) => (a, cut()),
            (false, true) => (cut(), b),
            _ => return None,
        };
        let pixel = |p: Vec3| {
            let clip = eye.clip(p);
            let (x, y) = (clip.x / clip.w, clip.y / clip.w);
            let half = Vec2::new(eye.size.width as f32, eye.size.height as f32) * 0.5;
            half + half * Vec2::new(x, -y)
        };
        Some([pixel(a), pixel(b)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Position of a point in the picture, from -1 to 1.
    fn project(camera: &Camera, size: PictureSize, point: Vec3) -> (f32, f32) {
        let eye = Eye::new(camera, &Look::default(), size).unwrap();
        let clip = eye.clip(point - camera.eye);
        (clip.x / clip.w, clip.y / clip.w)
    }

    #[test]
    fn all_of_a_box_is_in_the_picture() {
        for (width, height) in [(320, 320), (1600, 200), (90, 400)] {
            let size = PictureSize { width, height };
            for sides in [Vec3::new(0.6, 1.8, 0.4), Vec3::new(0.01, 0.0, 30.0), Vec3::splat(2.0)] {
                let (min, max) = (Vec3::splat(3.0), Vec3::splat(3.0) + sides);
                let camera = Camera::around(min, max, size.aspect());
                let mut most = 0.0f32;
                for i in 0..8 {
                    let pick = |bit: i32, a: f32, b: f32| if i & bit == 0 { a } else { b };
                    let corner = Vec3::new(
                        pick(1, min.x, max.x),
                        pick(2, min.y, max.y),
                        pick(4, min.z, max.z),
                    );
                    let depth = (camera.target - camera.eye).normalize().dot(corner - camera.eye);
                    assert!(depth > camera.near);
                    let (x, y) = project(&camera, size, corner);
                    most = most.max(x.abs()).max(y.abs());
                }
                assert!((0.85..0.93).contains(&most), "{width} x {height}, {sides}: {most}");
            }
        }
    }

    #[test]
    fn front_rows_stand_whole_in_the_picture() {
        let size = PictureSize { width: 1600, height: 900 };
        for (columns, rows) in [(1, 1), (3, 1), (10, 10), (100, 100), (400, 250), (1, 50)] {
            let half = Vec3::new(columns as f32, 0.0, rows as f32) * 0.75;
            let (min, max) = (-half, half + Vec3::Y * 1.76);
            let camera = Camera::overlooking(min, max, size.aspect());
            for y in [min.y, max.y] {
                for side in [-1.0f32, -0.5, 0.0, 0.25, 0.5, 0.75, 1.0] {
                    // Points of the front row that the picture shows, and the very middle.
                    let point = Vec3::new(side * half.x.min(12.0), y, max.z);
                    let (at, high) = project(&camera, size, point);
                    if at.abs() < 1.0 {
                        assert!(high.abs() < 1.0, "{columns} x {rows}: {point} at {high}");
                    } else {
                        assert!(side != 0.0, "{columns} x {rows}: off centre by {at}");
                    }
                }
            }
            // Also the last row, and the horizon is not far above it.
            let (_, high) = project(&camera, size, Vec3::new(0.0, max.y, min.z));
            assert!(high.abs() < 1.0, "{columns} x {rows}: last row at {high}");
        }
    }

    #[test]
    fn a_lone_character_fills_most_of_the_height() {
        let size = PictureSize { width: 900, height: 900 };
        let (min, max) = (Vec3::new(-0.4, 0.0, -0.2), Vec3::new(0.4, 1.8, 0.2));
        let camera = Camera::overlooking(min, max, size.aspect());
        let (_, feet) = project(&camera, size, Vec3::ZERO);
        let (_, head) = project(&camera, size, Vec3::Y * 1.8);
        assert!(head - feet > 1.1, "{}", head - feet);
    }

    #[test]
    fn lines_are_cut_at_the_near_plane() {
        let camera = Camera {
            eye: Vec3::new(0.0, 1.0, 5.0),
            target: Vec3::new(0.0, 1.0, 0.0),
            up: Vec3::Y,
            fov_y: std::f32::consts::FRAC_PI_2,
            near: 0.5,
        };
        let size = PictureSize { width: 400, height: 200 };
        let projection = camera.projection(size).unwrap();
        let line = |a: Vec3, b: Vec3| projection.line(a, b);
        // At distance 5 half the height is 5 metres: 100 pixels.
        let [a, b] = line(Vec3::new(-5.0, 1.0, 0.0), Vec3::new(0.0, 6.0, 0.0)).unwrap();
        assert!(a.distance(Vec2::new(100.0, 100.0)) < 1e-3, "{a}");
        assert!(b.distance(Vec2::new(200.0, 0.0)) < 1e-3, "{b}");
        // The far end is behind the eye: at distance 0.5 the line is half a metre high.
        let [a, b] = line(Vec3::new(0.0, 1.0, 4.0), Vec3::new(0.0, 2.0, 6.0)).unwrap();
        assert!(a.distance(Vec2::new(200.0, 100.0)) < 1e-3, "{a}");
        assert!(b.distance(Vec2::new(200.0, 100.0 - 50.0)) < 1e-3, "{b}");
        assert_eq!(line(Vec3::new(0.0, 0.0, 5.0), Vec3::new(0.0, 0.0, 9.0)), None);
        assert!(camera.projection(PictureSize { width: 0, ..size }).is_err());
    }
}
