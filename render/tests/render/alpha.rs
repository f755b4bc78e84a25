//! Masked and blended surfaces, and how textures lie on them: against colours worked out by hand, and both ways of
//! drawing against each other.

use glam::{Quat, Vec3};
use image::RgbaImage;
use phalanx::math::Affine3x4;
use phalanx::mesh::{
    AlphaMode, Image, Material, Primitive, Sampler, Texture, TextureTransform, Wrap,
};
use phalanx_render::{
    Backend, Camera, DrawDetail, DrawInstance, DrawMesh, DrawModel, Look, Palette, PictureSize,
    Placement, Scene, draw,
};

use crate::agree::quad;
use crate::scenes::{device_lock, differing, keep, mean_difference};

const SIZE: PictureSize = PictureSize { width: 128, height: 128 };

/// A square of side 2 at a depth, with its material and image.
struct Part {
    z: f32,
    primitive: Primitive,
    material: Material,
    image: Option<Image>,
}

/// A square that shows its colour unchanged.
fn plain(z: f32, base_color: [f32; 4], alpha_mode: AlphaMode) -> Part {
    let mut primitive = quad();
    // The image stands upright: v points downwards.
    primitive.uvs = vec![[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]];
    Part {
        z,
        primitive,
        material: Material { base_color, alpha_mode, unlit: true, ..Material::default() },
        image: None,
    }
}

/// Whether parts are meshes of one model, or a model each.
#[derive(Clone, Copy, PartialEq)]
enum Grouping {
    Meshes,
    Models,
}

fn moved(z: f32) -> Affine3x4 {
    Affine3x4::from_scale_rotation_translation(Vec3::ONE, Quat::IDENTITY, Vec3::Z * z)
}

fn mesh(part: &Part, z: f32) -> DrawMesh<'_> {
    DrawMesh {
        primitive: &part.primitive,
        material: &part.material,
        image: part.image.as_ref(),
        tint: 0.0,
        placement: Placement::Rigid(moved(z)),
        first_weight: 0,
    }
}

/// A picture of squares that just fill it, from so far away that all depths are equally large.
fn picture(backend: Backend, parts: &[Part], grouping: Grouping) -> RgbaImage {
    let _one_at_a_time = (backend != Backend::Software).then(device_lock);
    let meshes: Vec<Vec<DrawMesh>> = match grouping {
        Grouping::Meshes => vec![parts.iter().map(|p| mesh(p, p.z)).collect()],
        Grouping::Models => parts.iter().map(|p| vec![mesh(p, 0.0)]).collect(),
    };
    let detail = |meshes| DrawDetail { meshes, min_pixels: 0.0 };
    let details: Vec<[DrawDetail; 1]> = meshes.iter().map(|m| [detail(m)]).collect();
    let models: Vec<DrawModel> = details.iter().map(|d| DrawModel { details: d }).collect();
    let instance = |(model, z)| DrawInstance {
        model,
        world: moved(z),
        palette_offset: 0,
        lerp: None,
        morph_offset: 0,
        tint: [1.0; 4],
        bounds: None,
    };
    let instances: Vec<DrawInstance> = match grouping {
        Grouping::Meshes => vec![instance((0, 0.0))],
        Grouping::Models => (0u32..).zip(parts.iter().map(|p| p.z)).map(instance).collect(),
    };
    let scene = Scene {
        models: &models,
        instances: &instances,
        palette: Palette::Heap(&[]),
        morph_weights: &[],
        camera: Camera {
            eye: Vec3::Z * 400.0,
            target: Vec3::ZERO,
            up: Vec3::Y,
            fov_y: 2.0 * (1.0f32 / 400.0).atan(),
            near: 0.1,
        },
        look: Look { ground: None, haze: f32::INFINITY, light: Vec3::Z, ..Look::default() },
    };
    draw(&scene, SIZE, backend).expect("a picture").image
}

/// The sRGB values of a linear colour, in f64.
fn encoded(linear: [f64; 3]) -> [f64; 3] {
    linear.map(|v| {
        let v = v.clamp(0.0, 1.0);
        255.0 * if v <= 0.003_130_8 { v * 12.92 } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 }
    })
}

#[track_caller]
fn shows(image: &RgbaImage, x: u32, y: u32, linear: [f64; 3]) {
    let (found, expected) = (image.get_pixel(x, y).0, encoded(linear));
    let off = |c: usize| (f64::from(found[c]) - expected[c]).abs();
    // Colours are stored with 8 bits before they are mixed again.
    assert!((0..3).all(|c| off(c) < 2.5), "{found:?} at {x}, {y}, expected {expected:.1?}");
}

fn both(test: impl Fn(Backend)) {
    test(Backend::Software);
    test(Backend::Gpu);
}

/// One over the other, by alpha.
fn over(behind: [f64; 3], [r, g, b, a]: [f64; 4]) -> [f64; 3] {
    let front = [r, g, b];
    [0, 1, 2].map(|c| front[c] * a + behind[c] * (1.0 - a))
}

/// Surfaces that blend show what lies behind them by its distance, whatever the order in which they are listed.
pub fn blended_back_to_front() {
    let colors = [[0.1, 0.2, 0.9, 1.0], [0.9, 0.1, 0.1, 0.5], [0.1, 0.8, 0.2, 0.25]];
    let wide = |c: [f32; 4]| c.map(f64::from);
    let [back, middle, front] = colors.map(wide);
    let [r, g, b, _] = back;
    let expected = over(over([r, g, b], middle), front);
    both(|backend| {
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            for grouping in [Grouping::Meshes, Grouping::Models] {
                let parts = order.map(|i| {
                    let mode = match i {
                        0 => AlphaMode::Opaque,
                        _ => AlphaMode::Blend,
                    };
                    plain(i as f32, colors[i], mode)
                });
                let image = picture(backend, &parts, grouping);
                shows(&image, 64, 64, expected);
                // What is behind an opaque surface is not seen.
                let mut parts = parts;
                for p in &mut parts {
                    p.z = if p.z == 0.0 { 5.0 } else { p.z };
                }
                shows(&picture(backend, &parts, grouping), 64, 64, [r, g, b]);
            }
        }
        // Over the sky: its colour is that of an empty picture.
        let sky = picture(backend, &[], Grouping::Models);
        let clear = plain(0.0, [1.0, 0.0, 0.0, 0.0], AlphaMode::Blend);
        let through = picture(backend, &[clear], Grouping::Meshes);
        assert!(mean_difference(&sky, &through) < 0.5, "alpha 0 is seen");
        let clear = plain(0.0, [0.2, 0.4, 0.6, 0.0], AlphaMode::Opaque);
        let opaque = picture(backend, &[clear], Grouping::Meshes);
        shows(&opaque, 64, 64, [0.2, 0.4, 0.6]);
    });
}

/// Alpha is the product of the factor, the texture and the vertices.
pub fn alpha_of_factor_texture_and_vertices() {
    let mut part = plain(1.0, [1.0, 1.0, 1.0, 0.8], AlphaMode::Blend);
    part.primitive.colors = vec![[1.0, 1.0, 1.0, 0.5]; 4];
    part.image = Some(Image { width: 1, height: 1, rgba: vec![255, 0, 0, 102] });
    part.material.base_color_texture = Some(Texture::default());
    let behind = plain(0.0, [0.0, 0.0, 1.0, 1.0], AlphaMode::Opaque);
    let parts = [part, behind];
    // 0.8 × 0.4 × 0.5
    let expected = over([0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.16]);
    both(|backend| {
        let image = picture(backend, &parts, Grouping::Meshes);
        shows(&image, 64, 64, expected);
    });
}

/// A masked surface ends where alpha falls below the cutoff, between two texels.
pub fn masked_by_the_cutoff() {
    let mut part = plain(1.0, [1.0, 0.0, 0.0, 1.0], AlphaMode::Mask);
    part.image =
        Some(Image { width: 2, height: 1, rgba: vec![255, 255, 255, 0, 255, 255, 255, 255] });
    let sampler = Sampler { wrap_u: Wrap::ClampToEdge, ..Sampler::default() };
    part.material.base_color_texture = Some(Texture { sampler, ..Texture::default() });
    let mut parts = [part, plain(0.0, [0.0, 0.0, 1.0, 1.0], AlphaMode::Opaque)];
    for (cutoff, column) in [(0.5f32, 64), (0.25, 48), (0.75, 80)] {
        parts[0].material.alpha_cutoff = cutoff;
        both(|backend| {
            let image = picture(backend, &parts, Grouping::Meshes);
            // Alpha rises from a quarter of the width to three quarters.
            shows(&image, column - 3, 64, [0.0, 0.0, 1.0]);
            shows(&image, column + 3, 64, [1.0, 0.0, 0.0]);
        });
    }
    // What is not drawn does not cover either: the blue square is seen from behind, too.
    parts[0].material.alpha_cutoff = 2.0;
    both(|backend| shows(&picture(backend, &parts, Grouping::Meshes), 100, 64, [0.0, 0.0, 1.0]));
}

const CORNERS: [[u8; 4]; 4] =
    [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [255, 255, 255, 255]];

/// An image of 4 × 4 texels, in quarters of one colour each: red, green above blue, white.
fn quarters() -> Image {
    let texel = |i: usize| CORNERS[i % 4 / 2 + i / 8 * 2];
    Image { width: 4, height: 4, rgba: (0..16).flat_map(texel).collect() }
}

/// The quarter of the image at texture coordinates, in f64, as the specification words it; `off` is added at the end.
fn quarter(t: &Texture, u: f64, v: f64, off: (f64, f64)) -> [f64; 3] {
    let [x, y] = t.transform.scale.map(f64::from);
    let [a, b] = t.transform.offset.map(f64::from);
    let (sin, cos) = f64::from(t.transform.rotation).sin_cos();
    // Scaled, turned against the clock with v downwards, moved.
    let (u, v) = (u * x, v * y);
    let (u, v) = (cos * u + sin * v + a, cos * v - sin * u + b);
    let (u, v) = (u + off.0, v + off.1);
    let wrapped = |wrap, c: f64| match wrap {
        Wrap::Repeat => c.rem_euclid(1.0),
        Wrap::ClampToEdge => c.clamp(0.0, 0.999),
        Wrap::MirroredRepeat => 1.0 - (c.rem_euclid(2.0) - 1.0).abs(),
    };
    let (u, v) = (wrapped(t.sampler.wrap_u, u), wrapped(t.sampler.wrap_v, v));
    let color = CORNERS[usize::from(u >= 0.5) + 2 * usize::from(v >= 0.5)];
    [0, 1, 2].map(|c| f64::from(color[c]) / 255.0)
}

/// Transforms, wrapping and the second coordinates, at points away from the borders of texels.
pub fn textures_lie_as_they_are_told() {
    let texture = |offset, rotation, scale, wrap_u, wrap_v| Texture {
        transform: TextureTransform { offset, rotation, scale },
        sampler: Sampler { wrap_u, wrap_v, ..Sampler::default() },
        ..Texture::default()
    };
    use Wrap::{ClampToEdge, MirroredRepeat, Repeat};
    let quarter_turn = std::f32::consts::FRAC_PI_2;
    let cases = [
        texture([0.0; 2], 0.0, [1.0; 2], Repeat, Repeat),
        texture([0.5, 0.0], 0.0, [1.0; 2], Repeat, Repeat),
        texture([0.0, 0.5], quarter_turn, [1.0; 2], Repeat, Repeat),
        texture([0.25, 0.25], 0.0, [2.0, 0.5], Repeat, Repeat),
        texture([-0.5, -0.5], 0.0, [2.0; 2], ClampToEdge, ClampToEdge),
        texture([0.0; 2], 0.0, [2.0; 2], MirroredRepeat, Repeat),
        texture([0.0; 2], 0.0, [-1.0, 2.0], ClampToEdge, MirroredRepeat),
        texture([0.5, -0.25], 0.5 * quarter_turn, [1.5, 0.7], Repeat, MirroredRepeat),
    ];
    for (case, texture) in cases.into_iter().enumerate() {
        for tex_coord in [0, 1] {
            let mut part = plain(0.0, [1.0; 4], AlphaMode::Opaque);
            part.image = Some(quarters());
            part.material.base_color_texture = Some(Texture { tex_coord, ..texture });
            if tex_coord == 1 {
                let p = &mut part.primitive;
                p.uvs1 = std::mem::replace(&mut p.uvs, vec![[0.1, 0.2]; 4]);
            }
            both(|backend| {
                let image = picture(backend, std::slice::from_ref(&part), Grouping::Meshes);
                let mut seen = 0;
                for y in (8..128).step_by(16) {
                    for x in (8..128).step_by(16) {
                        let at = |off| {
                            let (u, v) = (f64::from(x) + 0.5, f64::from(y) + 0.5);
                            quarter(&texture, u / 128.0, v / 128.0, off)
                        };
                        // Between texels colours are mixed: only where half a texel around has one.
                        let around = [-0.13, 0.0, 0.13];
                        let mut all = around.iter().flat_map(|&u| around.map(|v| (u, v)));
                        let expected = at((0.0, 0.0));
                        if all.any(|off| at(off) != expected) {
                            continue;
                        }
                        seen += 1;
                        shows(&image, x, y, expected);
                    }
                }
                assert!(seen >= 4, "case {case}: {seen} points were looked at");
                keep(&image, &format!("texture {case} {tex_coord} {backend:?}"));
            });
        }
    }
}

/// Both ways of drawing, with all of it in one picture.
pub fn alpha_looks_alike() {
    let mut leaves = plain(1.5, [0.7, 1.0, 0.6, 1.0], AlphaMode::Mask);
    leaves.material.unlit = false;
    leaves.image = Some(Image {
        width: 16,
        height: 16,
        rgba: (0..256u32)
            .flat_map(|i| {
                let (x, y) = (i % 16, i / 16);
                let inside = (x as f32 - 7.5).hypot(y as f32 - 7.5) < 6.0;
                [40, 200, 60 + y as u8 * 8, if inside { 255 } else { 0 }]
            })
            .collect(),
    });
    leaves.material.base_color_texture = Some(Texture {
        transform: TextureTransform {
            rotation: 0.4,
            scale: [3.0, 2.0],
            ..TextureTransform::default()
        },
        ..Texture::default()
    });
    let mut glass = plain(2.0, [0.3, 0.5, 1.0, 0.4], AlphaMode::Blend);
    glass.material.unlit = false;
    glass.primitive.colors = vec![
        [1.0, 1.0, 1.0, 1.0],
        [1.0, 0.2, 0.2, 0.1],
        [1.0, 1.0, 0.2, 1.0],
        [0.2, 1.0, 0.2, 0.0],
    ];
    glass.primitive.positions.iter_mut().for_each(|p| p[0] *= 0.7);
    let mut wall = plain(0.0, [0.8, 0.5, 0.3, 1.0], AlphaMode::Opaque);
    wall.primitive.positions.iter_mut().for_each(|p| p[1] *= 0.5);
    let parts = [glass, leaves, wall];
    for grouping in [Grouping::Meshes, Grouping::Models] {
        let gpu = picture(Backend::Gpu, &parts, grouping);
        let software = picture(Backend::Software, &parts, grouping);
        keep(&gpu, "alpha by wgpu");
        keep(&software, "alpha in software");
        let mean = mean_difference(&gpu, &software);
        let share = differing(&gpu, &software, 12);
        println!("alpha: mean {mean:.3}, differing {share:.4}");
        assert!(mean < 0.8 && share < 0.03, "mean {mean}, differing {share}");
    }
}

/// A level square two metres above the ground, seen from high above, with the light from the right and above: its
/// shadow lies from x = −3 to −1, and the left half of its texture is clear.
fn shadow_of(backend: Backend, part: Option<&Part>) -> RgbaImage {
    let _one_at_a_time = (backend != Backend::Software).then(device_lock);
    let level = Quat::from_rotation_x(-std::f32::consts::FRAC_PI_2);
    let place = Affine3x4::from_scale_rotation_translation(Vec3::ONE, level, Vec3::Y * 2.0);
    let meshes: Vec<DrawMesh> = part
        .iter()
        .map(|p| DrawMesh { placement: Placement::Rigid(place), ..mesh(p, 0.0) })
        .collect();
    let details = [DrawDetail { meshes: &meshes, min_pixels: 0.0 }];
    let models = [DrawModel { details: &details }];
    let instances = [DrawInstance {
        model: 0,
        world: moved(0.0),
        palette_offset: 0,
        lerp: None,
        morph_offset: 0,
        tint: [1.0; 4],
        bounds: None,
    }];
    let scene = Scene {
        models: &models,
        instances: &instances,
        palette: Palette::Heap(&[]),
        morph_weights: &[],
        camera: Camera {
            eye: Vec3::Y * 400.0,
            target: Vec3::ZERO,
            up: -Vec3::Z,
            fov_y: 2.0 * (4.0f32 / 400.0).atan(),
            near: 0.1,
        },
        look: Look {
            ground: Some(0.0),
            haze: f32::INFINITY,
            light: Vec3::new(1.0, 1.0, 0.0),
            ..Look::default()
        },
    };
    draw(&scene, SIZE, backend).expect("a picture").image
}

/// Shadows end where alpha falls below the cutoff, or below one half.
pub fn shadows_of_masked_and_blended_surfaces() {
    use AlphaMode::{Blend, Mask, Opaque};
    // Mode, alpha of the factor, cutoff; whether the clear and the full half cast shadows.
    let cases = [
        (Opaque, 0.25, 0.5, [true, true]),
        (Mask, 1.0, 0.5, [false, true]),
        (Mask, 0.4, 0.5, [false, false]),
        (Mask, 0.4, 0.3, [false, true]),
        (Mask, 1.0, 0.0, [true, true]),
        (Blend, 1.0, 0.9, [false, true]),
        (Blend, 0.6, 0.9, [false, true]),
        (Blend, 0.4, 0.1, [false, false]),
    ];
    for (mode, alpha, cutoff, expected) in cases {
        let mut part = plain(0.0, [1.0, 0.0, 0.0, alpha], mode);
        part.image =
            Some(Image { width: 2, height: 1, rgba: vec![255, 255, 255, 0, 255, 255, 255, 255] });
        part.material.alpha_cutoff = cutoff;
        part.material.base_color_texture = Some(Texture {
            sampler: Sampler { wrap_u: Wrap::ClampToEdge, ..Sampler::default() },
            ..Texture::default()
        });
        both(|backend| {
            let (with, empty) = (shadow_of(backend, Some(&part)), shadow_of(backend, None));
            // 16 pixels a metre, the origin in the middle: x = −2.75 and −1.25.
            let darker = [20, 44].map(|x| {
                let at = |image: &RgbaImage| {
                    image.get_pixel(x, 64).0[..3].iter().map(|&v| u32::from(v)).sum::<u32>()
                };
                at(&with) + 60 < at(&empty)
            });
            keep(&with, &format!("shadow {mode:?} {alpha} {cutoff} {backend:?}"));
            assert_eq!(darker, expected, "{mode:?} of {alpha}, cutoff {cutoff}, {backend:?}");
        });
    }
}
