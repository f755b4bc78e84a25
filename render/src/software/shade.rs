//! Shading: the functions of `shaders/view.wgsl`, `character.wgsl` and `background.wgsl` on the CPU.

use glam::{Vec2, Vec3, Vec4};

use super::super::look::palette;
use super::super::texture::{to_linear, to_srgb};
use super::super::view::Eye;
use phalanx::mesh::{Image, Sampler, Wrap};

/// Half the side of the ground's square, as in `background.wgsl`.
const REACH: f32 = 50_000.0;

fn rgb(c: [f32; 3]) -> Vec3 {
    Vec3::from_array(c)
}

/// Share of the ambient light that reaches a point at `height` above the ground, for a character of `size`.
pub(super) fn openness(height: f32, size: f32) -> f32 {
    if size <= 0.0 {
        return 1.0;
    }
    let t = (height / size).clamp(0.0, 1.0);
    let smooth = t * t * (3.0 - 2.0 * t);
    palette::FLOOR_OPENNESS + (1.0 - palette::FLOOR_OPENNESS) * smooth
}

/// The colour of the sky in a unit direction.
pub(super) fn sky_color(direction: Vec3) -> Vec3 {
    let rest = 1.0 - direction.y.clamp(0.0, 1.0);
    rgb(palette::HORIZON).lerp(rgb(palette::ZENITH), 1.0 - rest * rest * rest)
}

/// A colour seen through haze over `distance` metres.
pub(super) fn hazed(eye: &Eye, color: Vec3, distance: f32) -> Vec3 {
    let depth = distance / eye.haze;
    rgb(palette::HORIZON).lerp(color, (-depth * depth).exp())
}

fn ambient(normal: Vec3) -> Vec3 {
    rgb(palette::BOUNCE).lerp(rgb(palette::SKY), normal.y * 0.5 + 0.5)
}

/// The colour of a matte surface seen from the eye, with haze.
pub(super) fn lit(eye: &Eye, albedo: Vec3, normal: Vec3, position: Vec3, openness: f32) -> Vec3 {
    let sun = normal.dot(eye.light).max(0.0);
    let distance = position.length();
    let facing = (normal.dot(-position) / distance.max(1e-20)).clamp(0.0, 1.0);
    let edge = 1.0 - facing;
    let around = ambient(normal) * openness;
    let color =
        albedo * (rgb(palette::SUN) * sun + around) + around * (edge * edge * edge * palette::RIM);
    hazed(eye, color, distance)
}

/// The ground or the sky behind everything at one pixel.
pub(super) struct Backdrop {
    pub color: Vec3,
    /// The ground's depth; zero for the sky.
    pub depth: f32,
}

/// The ground or sky at a pixel; `shadow` is the share of the pixel that is in shadow.
pub(super) fn backdrop(eye: &Eye, x: usize, y: usize, shadow: f32) -> Backdrop {
    let (x, y) = (x as f32 + 0.5, y as f32 + 0.5);
    let ray = eye.ray(x, y);
    match eye.ground.filter(|g| g * ray.y > 0.0) {
        Some(ground) => Backdrop {
            color: ground_color(eye, ground, x, y, shadow),
            depth: (eye.near / (ground / ray.y)).min(1.0),
        },
        None => Backdrop { color: sky_color(ray.normalize_or_zero()), depth: 0.0 },
    }
}

fn ground_color(eye: &Eye, ground: f32, x: f32, y: f32, shadow: f32) -> Vec3 {
    let at = |x: f32, y: f32| {
        let ray = eye.ray(x, y);
        let down = ground * ray.y > 0.0;
        let t = if down { (ground / ray.y).min(REACH) } else { REACH };
        Vec2::new(ray.x, ray.z) * t
    };
    let here = at(x, y);
    let width = ((at(x + 1.0, y) - here).abs() + (at(x, y + 1.0) - here).abs()) / eye.tile;
    let period = eye.tile * 2.0;
    let origin = Vec2::new(eye.position.x.rem_euclid(period), eye.position.z.rem_euclid(period));
    let share = tiles((here + origin) / eye.tile, width);
    let albedo = rgb(palette::TILE_DARK).lerp(rgb(palette::TILE_LIGHT), share);
    let shade = shadow * palette::SHADOW;
    let sun = rgb(palette::SUN) * (eye.light.y.max(0.0) * (1.0 - shade));
    let color = albedo * (sun + ambient(Vec3::Y) * (1.0 - 0.35 * shade));
    hazed(eye, color, Vec3::new(here.x, ground, here.y).length())
}

/// The share of light tiles in a footprint of `width` tiles around `at`.
fn tiles(at: Vec2, width: Vec2) -> f32 {
    let w = width.max(Vec2::splat(1e-4));
    let wave = |v: Vec2| ((v * 0.5 - (v * 0.5).floor()) * 2.0 - 1.0).abs();
    let mean = (wave(at + w * 0.5) - wave(at - w * 0.5)) / w;
    0.5 + 0.5 * mean.x * mean.y
}

/// Samples a texture's linear colour and alpha, bilinear within one mip level.
pub(super) fn sample(chain: &[Image], sampler: &Sampler, uv: Vec2, level: usize) -> Vec4 {
    let Some(image) = chain.get(level.min(chain.len().saturating_sub(1))) else {
        return Vec4::ONE;
    };
    let u = footprint(sampler.wrap_u, uv.x, image.width);
    let v = footprint(sampler.wrap_v, uv.y, image.height);
    let texel = |x: usize, y: usize| {
        let first = (y * image.width as usize + x) * 4;
        match image.rgba.get(first..first.saturating_add(4)) {
            Some(&[r, g, b, a]) => {
                Vec4::new(to_linear(r), to_linear(g), to_linear(b), f32::from(a) / 255.0)
            }
            _ => Vec4::ONE,
        }
    };
    let top = texel(u.low, v.low).lerp(texel(u.high, v.low), u.part);
    let bottom = texel(u.low, v.high).lerp(texel(u.high, v.high), u.part);
    top.lerp(bottom, v.part)
}

/// Two neighbouring texels along one side of an image, and the share of the second.
struct Footprint {
    low: usize,
    high: usize,
    part: f32,
}

/// The texels around a coordinate. What is not finite gives some texel.
fn footprint(wrap: Wrap, coordinate: f32, side: u32) -> Footprint {
    // Into a range in which whole numbers of texels are exact.
    let period = match wrap {
        Wrap::Repeat => coordinate - coordinate.floor(),
        Wrap::ClampToEdge => coordinate.clamp(0.0, 1.0),
        Wrap::MirroredRepeat => coordinate - 2.0 * (coordinate * 0.5).floor(),
    };
    let at = period * side as f32 - 0.5;
    let sides = i64::from(side.max(1));
    let inside = |texel: i64| {
        let texel = match wrap {
            Wrap::Repeat => texel.rem_euclid(sides),
            Wrap::ClampToEdge => texel,
            Wrap::MirroredRepeat => {
                let texel = texel.rem_euclid(2 * sides);
                texel.min(2 * sides - 1 - texel)
            }
        };
        usize::try_from(texel.clamp(0, sides - 1)).unwrap_or(0)
    };
    let low = at.floor() as i64;
    Footprint { low: inside(low), high: inside(low.saturating_add(1)), part: at - at.floor() }
}

/// Encodes a linear colour as opaque 8-bit sRGB.
pub(super) fn encode(color: Vec3) -> [u8; 4] {
    [to_srgb(color.x), to_srgb(color.y), to_srgb(color.z), 255]
}

/// Decodes an 8-bit sRGB colour to linear.
pub(super) fn decode([r, g, b, _]: [u8; 4]) -> Vec3 {
    Vec3::new(to_linear(r), to_linear(g), to_linear(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_alternate_near_and_blend_far() {
        let narrow = Vec2::splat(0.01);
        let a = tiles(Vec2::new(0.5, 0.5), narrow);
        let b = tiles(Vec2::new(1.5, 0.5), narrow);
        let c = tiles(Vec2::new(1.5, 1.5), narrow);
        assert!((a - c).abs() < 1e-3 && (a - b).abs() > 0.99);
        let far = tiles(Vec2::new(0.3, 0.7), Vec2::splat(40.0));
        assert!((far - 0.5).abs() < 0.01);
    }

    #[test]
    fn samples_blend_between_texels_and_wrap() {
        let image = Image { width: 2, height: 1, rgba: vec![0, 0, 0, 51, 255, 255, 255, 51] };
        let chain = [image];
        let by = |wrap_u, u: f32| {
            let sampler = Sampler { wrap_u, ..Sampler::default() };
            sample(&chain, &sampler, Vec2::new(u, 0.5), 0)
        };
        let at = |u: f32| by(Wrap::Repeat, u).x;
        assert!(at(0.25) < 1e-6 && (at(0.75) - 1.0).abs() < 1e-6);
        assert!((at(0.5) - 0.5).abs() < 1e-6 && (at(0.0) - 0.5).abs() < 1e-6);
        assert!((at(-1.25) - 1.0).abs() < 1e-6);
        let clamped = [-7.0, 0.0, 0.75, 1.0, 3.0].map(|u| by(Wrap::ClampToEdge, u).x);
        assert_eq!(clamped, [0.0, 0.0, 1.0, 1.0, 1.0]);
        let mirrored = [-0.25, 0.25, 1.25, 1.75, 2.25, 2.75].map(|u| by(Wrap::MirroredRepeat, u).x);
        assert_eq!(mirrored, [0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
        assert_eq!(by(Wrap::Repeat, 0.25).w, 0.2);
        let sampler = Sampler::default();
        for u in [f32::NAN, f32::INFINITY, -f32::MAX, 1e30] {
            for wrap in Wrap::ALL {
                by(wrap, u);
            }
        }
        assert_eq!(sample(&[], &sampler, Vec2::ZERO, 3), Vec4::ONE);
    }
}
