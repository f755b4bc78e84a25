//! `Look`: light, haze and ground, and the colours that both backends share.

use glam::Vec3;

/// Light, haze and ground of a scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Direction towards the light, of any length > 0. Shadows need a light above the horizon.
    pub light: Vec3,
    /// Height of the ground plane in metres; without it, neither ground nor shadows are drawn. Default 0.
    pub ground: Option<f32>,
    /// Distance in metres at which haze replaces 63% of a colour; infinity means no haze. Default 300.
    pub haze: f32,
    /// Side of the ground's tiles in metres, > 0. Default 2.
    pub tile: f32,
}

impl Default for Look {
    fn default() -> Self {
        Self { light: Vec3::new(-0.62, 0.72, 0.42), ground: Some(0.0), haze: 300.0, tile: 2.0 }
    }
}

impl Look {
    /// A look whose haze and tiles suit the box from `min` to `max`, viewed from `eye`, in metres.
    pub fn over(min: Vec3, max: Vec3, eye: Vec3) -> Self {
        let far = Vec3::new(
            (eye.x - min.x).abs().max((max.x - eye.x).abs()),
            0.0,
            (eye.z - min.z).abs().max((max.z - eye.z).abs()),
        )
        .length();
        Self {
            ground: Some(min.y),
            tile: round_length((max.y - min.y).max(1e-3) * 1.15),
            // The farthest corner keeps three quarters of its colour; small scenes have almost no haze.
            haze: (far * 1.9).max((max.y - min.y).max(0.1) * 70.0),
            ..Self::default()
        }
    }
}

/// The largest product of 1, 2 or 5 and a power of ten that is not above `length`.
fn round_length(length: f32) -> f32 {
    let power = 10f32.powf(length.log10().floor());
    let steps = [5.0, 2.0].map(|s| s * power);
    steps.into_iter().find(|&s| s <= length).unwrap_or(power)
}

/// Linear colours and strengths of the picture, named as in `shaders/view.wgsl`.
pub(super) mod palette {
    /// Directional light.
    pub const SUN: [f32; 3] = [1.22, 1.12, 0.95];
    /// Share of the sun that a shadow removes.
    pub const SHADOW: f32 = 0.80;
    /// Ambient light from above.
    pub const SKY: [f32; 3] = [0.27, 0.33, 0.43];
    /// Strength of the rim light.
    pub const RIM: f32 = 0.3;
    /// Ambient light from below.
    pub const BOUNCE: [f32; 3] = [0.17, 0.145, 0.12];
    /// Share of the ambient light that reaches the feet of a crowd.
    pub const FLOOR_OPENNESS: f32 = 0.45;
    /// Sky at the horizon, and haze.
    pub const HORIZON: [f32; 3] = [0.70, 0.77, 0.84];
    /// Sky overhead.
    pub const ZENITH: [f32; 3] = [0.16, 0.34, 0.66];
    /// Light tiles of the ground.
    pub const TILE_LIGHT: [f32; 3] = [0.44, 0.42, 0.38];
    /// Dark tiles of the ground.
    pub const TILE_DARK: [f32; 3] = [0.37, 0.355, 0.325];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_have_round_sides() {
        let sides = [0.013, 1.0, 2.02, 4.9, 7.0, 150.0].map(round_length);
        let expected = [0.01f32, 1.0, 2.0, 2.0, 5.0, 100.0];
        for (side, expected) in sides.into_iter().zip(expected) {
            assert!((side / expected - 1.0).abs() < 1e-5, "{side} {expected}");
        }
    }
}
