//! Light, air and ground: numbers that both ways of drawing share.

use glam::Vec3;

/// The surroundings of a crowd.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Towards the light, any length; shadows need it above the horizon.
    pub light: Vec3,
    /// Height of the ground plane with its shadows, metres; none leaves the characters in the air.
    pub ground: Option<f32>,
    /// Distance at which 63% of a colour is lost in the haze, metres; infinity clears the air.
    pub haze: f32,
    /// Side of the ground's tiles, metres.
    pub tile: f32,
}

impl Default for Look {
    fn default() -> Self {
        Self {
            light: Vec3::new(-0.45, 0.78, 0.5),
            ground: Some(0.0),
            haze: 300.0,
            tile: 2.0,
        }
    }
}

impl Look {
    /// A look whose haze suits what lies between `min` and `max` when seen from `eye`, in metres.
    pub fn over(min: Vec3, max: Vec3, eye: Vec3) -> Self {
        let far = Vec3::new(
            (eye.x - min.x).abs().max((max.x - eye.x).abs()),
            0.0,
            (eye.z - min.z).abs().max((max.z - eye.z).abs()),
        )
        .length();
        Self {
            ground: Some(min.y),
            // The farthest corner keeps three quarters of its colour.
            haze: (far * 1.9).max(1.0),
            ..Self::default()
        }
    }
}

/// Linear colours and strengths of the picture, named as in `shaders/view.wgsl`.
pub(super) mod palette {
    /// Light from its direction.
    pub const SUN: [f32; 3] = [0.98, 0.92, 0.80];
    /// Share of the sun that a shadow takes away.
    pub const SHADOW: f32 = 0.80;
    /// Light from above.
    pub const SKY: [f32; 3] = [0.38, 0.44, 0.54];
    /// Light that glances off edges.
    pub const RIM: f32 = 0.22;
    /// Light from below.
    pub const BOUNCE: [f32; 3] = [0.23, 0.20, 0.17];
    /// Share of the surroundings' light that reaches the feet of a crowd.
    pub const FLOOR_OPENNESS: f32 = 0.45;
    /// The air far away.
    pub const HORIZON: [f32; 3] = [0.70, 0.77, 0.84];
    /// The sky overhead.
    pub const ZENITH: [f32; 3] = [0.16, 0.34, 0.66];
    /// Light tiles of the ground.
    pub const TILE_LIGHT: [f32; 3] = [0.400, 0.395, 0.375];
    /// Dark tiles of the ground.
    pub const TILE_DARK: [f32; 3] = [0.335, 0.333, 0.322];
}
