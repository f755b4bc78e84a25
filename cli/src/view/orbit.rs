//! [`Orbit`]: a camera that orbits a point.

use glam::{Vec2, Vec3};
use phalanx_render::Camera;
use std::f32::consts::{FRAC_PI_2, PI};

/// Rotation in radians per pixel of a drag.
const TURN: f32 = 0.008;

/// Exponential zoom factor per wheel step.
const STEP: f32 = 0.12;

/// Range of the pitch in radians: from a little below the horizon to almost overhead.
const PITCH: (f32, f32) = (-0.1, FRAC_PI_2 - 0.02);

/// Range of the distance, in heights of a character.
const NEAREST: f32 = 0.3;
const FARTHEST: f32 = 2_000.0;

/// Distance of the near plane, relative to the camera's distance.
const NEAR: f32 = 0.02;

/// A camera that orbits a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orbit {
    target: Vec3,
    /// Yaw from +Z towards +X, and pitch upward, in radians.
    yaw: f32,
    pitch: f32,
    distance: f32,
    fov_y: f32,
    /// Height of a character, in metres.
    height: f32,
    /// True if the user has moved it.
    pub moved: bool,
}

impl Orbit {
    /// An orbit with the position of another camera, for characters of the given height.
    pub fn from_camera(camera: &Camera, height: f32) -> Self {
        let away = camera.eye - camera.target;
        let distance = away.length().max(1e-3);
        let mut orbit = Self {
            target: camera.target,
            yaw: away.x.atan2(away.z),
            pitch: (away.y / distance).clamp(-1.0, 1.0).asin(),
            distance,
            fov_y: camera.fov_y,
            height: height.max(1e-3),
            moved: false,
        };
        orbit.limit();
        orbit
    }

    /// The current camera.
    pub fn camera(&self) -> Camera {
        Camera {
            eye: self.target + self.away() * self.distance,
            target: self.target,
            up: Vec3::Y,
            fov_y: self.fov_y,
            near: (self.distance * NEAR).min(self.height * 0.1),
        }
    }

    /// Unit vector from the target to the eye.
    fn away(&self) -> Vec3 {
        let (sin, cos) = self.yaw.sin_cos();
        let (rise, level) = self.pitch.sin_cos();
        Vec3::new(sin * level, rise, cos * level)
    }

    /// Rotates by a drag in pixels; the scene follows the pointer.
    pub fn turn(&mut self, drag: Vec2) {
        self.moved = true;
        self.yaw = (self.yaw - drag.x * TURN + PI).rem_euclid(2.0 * PI) - PI;
        self.pitch += drag.y * TURN;
        self.limit();
    }

    /// Pans the target by a drag in pixels, in a picture of the given height in pixels.
    pub fn shift(&mut self, drag: Vec2, picture_height: f32) {
        self.moved = true;
        let metres = 2.0 * self.distance * (self.fov_y * 0.5).tan() / picture_height.max(1.0);
        let right = Vec3::Y.cross(self.away()).normalize_or(Vec3::X);
        let up = self.away().cross(right);
        self.target += (up * drag.y - right * drag.x) * metres;
    }

    /// Zooms in by wheel steps; negative steps zoom out.
    pub fn zoom(&mut self, steps: f32) {
        self.moved = true;
        self.distance *= (-steps * STEP).exp();
        self.limit();
    }

    fn limit(&mut self) {
        self.pitch = self.pitch.clamp(PITCH.0, PITCH.1);
        let (nearest, farthest) = (self.height * NEAREST, self.height * FARTHEST);
        self.distance = self.distance.clamp(nearest, farthest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn camera() -> Camera {
        Camera {
            eye: Vec3::new(3.0, 2.0, 6.0),
            target: Vec3::new(0.5, 1.0, -1.0),
            up: Vec3::Y,
            fov_y: 0.7,
            near: 0.1,
        }
    }

    #[test]
    fn it_begins_where_the_camera_stood() {
        let orbit = Orbit::from_camera(&camera(), 1.8);
        assert!(orbit.camera().eye.distance(camera().eye) < 1e-4);
        assert!(!orbit.moved);
    }

    #[test]
    fn it_turns_around_its_target_and_stops_overhead() {
        let mut orbit = Orbit::from_camera(&camera(), 1.8);
        let distance = camera().eye.distance(camera().target);
        orbit.turn(Vec2::new(120.0, 30.0));
        let turned = orbit.camera();
        assert_eq!(turned.target, camera().target);
        assert!((turned.eye.distance(turned.target) - distance).abs() < 1e-3);
        // Dragging to the right brings the left side to the front.
        assert!(turned.eye.x < camera().eye.x && turned.eye.y > camera().eye.y);
        orbit.turn(Vec2::new(0.0, 1e6));
        let overhead = orbit.camera();
        let level = (overhead.eye - overhead.target).with_y(0.0).length();
        assert!(level > 0.0 && level < 0.05 * distance);
    }

    #[test]
    fn wheels_and_shifts() {
        let mut orbit = Orbit::from_camera(&camera(), 1.8);
        orbit.zoom(3.0);
        let near = orbit.camera();
        assert!(near.eye.distance(near.target) < camera().eye.distance(camera().target));
        orbit.zoom(-1e9);
        assert!(orbit.camera().eye.is_finite());
        let mut orbit = Orbit::from_camera(&camera(), 1.8);
        orbit.shift(Vec2::new(0.0, 100.0), 500.0);
        assert!(orbit.camera().target.y > camera().target.y);
        assert!(orbit.moved);
    }
}
