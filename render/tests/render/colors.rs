//! Colours of a surface that is seen head-on: what the file says, times the instance's tint.

use glam::Vec3;
use phalanx::math::Affine3x4;
use phalanx::mesh::{Image, Material};
use phalanx_render::{
    Backend, Camera, DrawDetail, DrawInstance, DrawMesh, DrawModel, Look, Palette, PictureSize,
    Placement, Scene, draw,
};

use crate::agree::quad;
use crate::scenes::device_lock;

const SIZE: PictureSize = PictureSize { width: 96, height: 32 };

/// Linear values of a pixel, in f64.
fn linear(pixel: [u8; 4]) -> [f64; 3] {
    [0, 1, 2].map(|c| {
        let v = f64::from(pixel[c]) / 255.0;
        if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
    })
}

/// The colours and textures of one mesh.
#[derive(Clone, Copy)]
struct Paint {
    base: [f32; 4],
    vertex: [f32; 4],
    /// A texel, as the file has it: sRGB.
    texel: Option<[u8; 4]>,
    tint: f32,
}

/// The linear colours of three quads side by side, of one mesh with three tints.
fn painted(backend: Backend, paint: Paint, tints: [[f32; 4]; 3]) -> [[f64; 3]; 3] {
    let mut primitive = quad();
    primitive.uvs = vec![[0.3, 0.7]; 4];
    primitive.colors = vec![paint.vertex; 4];
    let material = Material { base_color: paint.base, ..Material::default() };
    let image = paint.texel.map(|texel| Image { width: 2, height: 2, rgba: texel.repeat(4) });
    let meshes = [DrawMesh {
        primitive: &primitive,
        material: &material,
        image: image.as_ref(),
        tint: paint.tint,
        placement: Placement::Rigid(Affine3x4::IDENTITY),
        first_weight: 0,
    }];
    let details = [DrawDetail { meshes: &meshes, min_pixels: 0.0 }];
    let mut instances = Vec::new();
    for (i, tint) in tints.into_iter().enumerate() {
        let at = Vec3::X * (i as f32 - 1.0) * 2.0;
        instances.push(DrawInstance {
            model: 0,
            world: Affine3x4::from_scale_rotation_translation(Vec3::ONE, glam::Quat::IDENTITY, at),
            palette_offset: 0,
            lerp: None,
            morph_offset: 0,
            tint,
            bounds: None,
        });
    }
    let scene = Scene {
        models: &[DrawModel { details: &details }],
        instances: &instances,
        palette: Palette::Heap(&[]),
        morph_weights: &[],
        // So far away that all three are seen head-on: at the edge rims are lit.
        camera: Camera {
            eye: Vec3::Z * 200.0,
            target: Vec3::ZERO,
            up: Vec3::Y,
            fov_y: 0.01,
            near: 0.1,
        },
        look: Look { ground: None, haze: f32::INFINITY, light: Vec3::Z, ..Look::default() },
    };
    let image = draw(&scene, SIZE, backend).expect("a picture").image;
    [16, 48, 80].map(|x| linear(image.get_pixel(x, 16).0))
}

fn colours(backend: Backend) {
    let white = Paint { base: [1.0; 4], vertex: [1.0; 4], texel: None, tint: 0.0 };
    let tints = [[1.0, 0.2, 0.1, 1.0], [0.1, 0.9, 0.3, 1.0], [0.3, 0.25, 0.8, 1.0]];
    // A grey that light does not take beyond white.
    let half = |paint: Paint| Paint { base: paint.base.map(|v| v * 0.5), ..paint };
    let light = painted(backend, half(white), tints);
    assert_eq!(light[0], light[2], "tints of strength 0 do nothing");
    let texel = [200, 128, 90, 255];
    let cases = [
        Paint { base: [0.8, 0.3, 0.5, 1.0], ..white },
        Paint { vertex: [0.25, 1.0, 0.6, 1.0], ..white },
        Paint { texel: Some(texel), ..white },
        Paint { tint: 1.0, ..white },
        Paint {
            base: [0.9, 0.8, 0.7, 1.0],
            vertex: [0.7, 0.9, 0.8, 1.0],
            texel: Some(texel),
            tint: 0.35,
        },
    ];
    for paint in cases {
        let found = painted(backend, half(paint), tints);
        let texel = paint.texel.map_or([1.0; 3], linear);
        for (tint, (found, light)) in tints.iter().zip(found.iter().zip(&light)) {
            let strength = f64::from(paint.tint);
            let expected = [0, 1, 2].map(|c| {
                let tinted = 1.0 - strength + strength * f64::from(tint[c]);
                f64::from(paint.base[c]) * f64::from(paint.vertex[c]) * texel[c] * tinted
            });
            let found = [0, 1, 2].map(|c| found[c] / light[c]);
            let far = |(a, b): (f64, f64)| (a - b).abs() >= 0.012;
            // A step of 255 is at most 0.01 of these.
            assert!(!found.into_iter().zip(expected).any(far), "{found:?} for {expected:?}");
        }
    }
}

pub fn colours_in_software() {
    colours(Backend::Software);
}

pub fn colours_on_the_gpu() {
    let _one_at_a_time = device_lock();
    colours(Backend::Gpu);
}
