//! The camera and the look as the numbers that the shaders and the software rasteriser read.

use bytemuck::{Pod, Zeroable};
use glam::{Mat4, Vec3, Vec4};

use super::look::palette;
use super::{Camera, Look, PictureSize, RenderError};

/// `View` of `shaders/view.wgsl`, byte for byte.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct ViewUniform {
    pub clip: [[f32; 4]; 4],
    pub right: [f32; 4],
    pub up: [f32; 4],
    pub forward: [f32; 4],
    pub ground: [f32; 4],
    pub light: [f32; 4],
    pub sun: [f32; 4],
    pub sky: [f32; 4],
    pub bounce: [f32; 4],
    pub horizon: [f32; 4],
    pub zenith: [f32; 4],
    pub tile_light: [f32; 4],
    pub tile_dark: [f32; 4],
}

/// A validated camera with its look: axes, field of view and light, for positions relative to the eye.
#[derive(Clone, Copy, Debug)]
pub(super) struct Eye {
    pub position: Vec3,
    pub right: Vec3,
    pub up: Vec3,
    pub forward: Vec3,
    /// Tangents of half the horizontal and half the vertical field of view.
    pub tan_x: f32,
    pub tan_y: f32,
    pub near: f32,
    pub light: Vec3,
    /// Height of the ground relative to the eye.
    pub ground: Option<f32>,
    pub haze: f32,
    pub tile: f32,
    pub size: PictureSize,
}

/// The narrowest and widest vertical field of view, radians: about 0.06 and 172 degrees.
const FOV_RANGE: (f32, f32) = (1e-3, 3.0);

/// The lowest light that still casts shadows: 3 degrees, shadows 20 times as long as their casters are high.
const LOWEST_SHADOW: f32 = 0.05;

impl Eye {
    /// # Errors
    /// If a number is not finite, or the camera has no direction or no field of view.
    pub fn new(camera: &Camera, look: &Look, size: PictureSize) -> Result<Self, RenderError> {
        let refuse = |what, value| Err(RenderError::View { what, value });
        let (near, fov) = (camera.near, camera.fov_y);
        if !(near > 0.0 && near.is_finite()) {
            return refuse("camera's near distance", near);
        }
        if !(fov >= FOV_RANGE.0 && fov <= FOV_RANGE.1) {
            return refuse("camera's vertical field of view in radians", fov);
        }
        let Some(forward) = (camera.target - camera.eye).try_normalize() else {
            return refuse("camera's distance to its target", {
                (camera.target - camera.eye).length()
            });
        };
        let Some(right) = forward.cross(camera.up).try_normalize() else {
            return refuse(
                "length of the camera's up vector (zero or parallel to the view)",
                camera.up.length(),
            );
        };
        let Some(light) = look.light.try_normalize() else {
            return refuse("length of the light direction", look.light.length());
        };
        if !camera.eye.is_finite() {
            return refuse("camera's distance from the origin", camera.eye.length());
        }
        if let Some(height) = look.ground.filter(|h| !h.is_finite()) {
            return refuse("height of the ground", height);
        }
        // Infinity means clear air.
        if look.haze.is_nan() || look.haze <= 0.0 {
            return refuse("haze distance", look.haze);
        }
        if !(look.tile > 0.0 && look.tile.is_finite()) {
            return refuse("side of the ground tiles", look.tile);
        }
        let tan_y = (fov * 0.5).tan();
        Ok(Self {
            position: camera.eye,
            right,
            up: right.cross(forward),
            forward,
            tan_x: tan_y * size.aspect(),
            tan_y,
            near,
            light,
            ground: look.ground.map(|h| h - camera.eye.y),
            // WGSL does not guarantee infinities.
            haze: look.haze.min(1e30),
            tile: look.tile,
            size,
        })
    }

    /// The height of the ground relative to the eye, if the light casts shadows on it.
    pub fn shadow_ground(&self) -> Option<f32> {
        self.ground.filter(|_| self.light.y > LOWEST_SHADOW)
    }

    /// Clip space of a point relative to the eye: reversed depth, far plane at infinity.
    pub fn clip(&self, p: Vec3) -> Vec4 {
        let x = self.right.dot(p) / self.tan_x;
        let y = self.up.dot(p) / self.tan_y;
        Vec4::new(x, y, self.near, self.forward.dot(p))
    }

    /// The matrix of [`clip`](Self::clip).
    pub fn clip_matrix(&self) -> Mat4 {
        let row = |v: Vec3| v.extend(0.0);
        Mat4::from_cols(
            row(self.right / self.tan_x),
            row(self.up / self.tan_y),
            Vec4::new(0.0, 0.0, 0.0, self.near),
            row(self.forward),
        )
        .transpose()
    }

    /// Points relative to the eye to their shadows on the ground, along the light; `None` without shadows.
    pub fn shadow_matrix(&self) -> Option<Mat4> {
        let ground = self.shadow_ground()?;
        let along = self.light / self.light.y;
        Some(Mat4::from_cols(
            Vec4::X,
            (Vec3::Y - along).extend(0.0),
            Vec4::Z,
            (along * ground).extend(1.0),
        ))
    }

    /// The ray through a point of the picture in pixels, of length 1 along the view axis.
    pub fn ray(&self, x: f32, y: f32) -> Vec3 {
        let x = x / self.size.width as f32 * 2.0 - 1.0;
        let y = 1.0 - y / self.size.height as f32 * 2.0;
        self.forward + self.right * (self.tan_x * x) + self.up * (self.tan_y * y)
    }

    pub fn uniform(&self) -> ViewUniform {
        let with = |v: [f32; 3], w: f32| [v[0], v[1], v[2], w];
        let axis = |v: Vec3, w: f32| [v.x, v.y, v.z, w];
        let clip = self.clip_matrix();
        let period = self.tile * 2.0;
        let pattern = |v: f32| v.rem_euclid(period);
        ViewUniform {
            clip: clip.to_cols_array_2d(),
            right: axis(self.right * self.tan_x, self.size.width as f32),
            up: axis(self.up * self.tan_y, self.size.height as f32),
            forward: axis(self.forward, self.near),
            ground: [
                pattern(self.position.x),
                self.ground.unwrap_or(0.0),
                pattern(self.position.z),
                if self.ground.is_some() { 1.0 } else { 0.0 },
            ],
            light: axis(self.light, self.haze),
            sun: with(palette::SUN, palette::SHADOW),
            sky: with(palette::SKY, palette::RIM),
            bounce: with(palette::BOUNCE, palette::FLOOR_OPENNESS),
            horizon: with(palette::HORIZON, 0.0),
            zenith: with(palette::ZENITH, 0.0),
            tile_light: with(palette::TILE_LIGHT, self.tile),
            tile_dark: with(palette::TILE_DARK, 0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eye() -> Eye {
        let camera = Camera {
            eye: Vec3::new(1.0, 2.0, 3.0),
            target: Vec3::new(0.0, 1.0, -4.0),
            up: Vec3::Y,
            fov_y: 0.8,
            near: 0.1,
        };
        let size = PictureSize { width: 320, height: 180 };
        Eye::new(&camera, &Look::default(), size).unwrap()
    }

    #[test]
    fn the_uniform_projects_like_the_eye_and_rays_hit_what_is_projected() {
        let eye = eye();
        let m = Mat4::from_cols_array_2d(&eye.uniform().clip);
        for p in [Vec3::new(0.3, -1.0, -5.0), Vec3::new(-2.0, 0.5, -9.0)] {
            let clip = eye.clip(p);
            assert!((m * p.extend(1.0) - clip).length() < 1e-4);
            let (x, y) = (clip.x / clip.w, clip.y / clip.w);
            let ray = eye.ray((x + 1.0) * 160.0, (1.0 - y) * 90.0);
            assert!(ray.cross(p).length() / p.length() < 1e-4);
        }
    }

    #[test]
    fn shadows_lie_on_the_ground_along_the_light() {
        let eye = eye();
        let shadow = eye.shadow_matrix().unwrap();
        for p in [Vec3::new(0.3, 1.0, -5.0), Vec3::new(-2.0, 0.5, -9.0)] {
            let on = (shadow * p.extend(1.0)).truncate();
            assert!((on.y + 2.0).abs() < 1e-5, "{on}");
            assert!((on - p).cross(eye.light).length() < 1e-5, "{on}");
        }
    }

    #[test]
    fn cameras_without_a_view_are_refused() {
        let good =
            Camera { eye: Vec3::ZERO, target: Vec3::NEG_Z, up: Vec3::Y, fov_y: 0.8, near: 0.1 };
        let size = PictureSize { width: 4, height: 4 };
        let cameras = [
            Camera { near: 0.0, ..good },
            Camera { near: f32::NAN, ..good },
            Camera { fov_y: 0.0, ..good },
            Camera { fov_y: 4.0, ..good },
            Camera { target: Vec3::ZERO, ..good },
            Camera { up: Vec3::Z, ..good },
            Camera { eye: Vec3::NAN, ..good },
        ];
        for camera in cameras {
            assert!(Eye::new(&camera, &Look::default(), size).is_err(), "{camera:?}");
        }
        let look = Look { light: Vec3::ZERO, ..Look::default() };
        assert!(Eye::new(&good, &look, size).is_err());
        assert!(Eye::new(&good, &Look { haze: 0.0, ..Look::default() }, size).is_err());
    }
}
