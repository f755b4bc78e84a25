//! Scenes, pictures and the difference of two pictures.

use std::sync::{Mutex, MutexGuard, PoisonError};

use glam::{Quat, Vec3};
use image::RgbaImage;
use phalanx::gpu::{Gpu, GpuOptions};
use phalanx::math::Affine3x4;
use phalanx::mesh::Image;
use phalanx::rig::Sphere;
use phalanx_render::{
    Backend, Camera, DrawDetail, DrawInstance, DrawMesh, DrawModel, GpuRenderer, Look, Picture,
    PictureSize, Placement, Scene, Winding, draw, tint_strength,
};

use crate::model::Model;

pub const SIZE: PictureSize = PictureSize { width: 321, height: 200 };

/// A model's meshes as the renderer wants them.
pub fn meshes<'a>(model: &'a Model, image: Option<&'a Image>) -> Vec<DrawMesh<'a>> {
    let tinted = model.parts.iter().any(|(_, m)| m.name.as_deref() == Some("Tint"));
    let part = |(primitive, material): &'a (_, _)| DrawMesh {
        primitive,
        material,
        image,
        tint: tint_strength(material, tinted),
        placement: Placement::Skinned { first_slot: 0, winding: Winding::ByRows },
        first_weight: 0,
    };
    model.parts.iter().map(part).collect()
}

/// Owned parts of a scene with one model in several details.
pub struct Crowd {
    pub models: Vec<Vec<(Model, f32)>>,
    pub instances: Vec<DrawInstance>,
    pub palette: Vec<Affine3x4>,
    pub weights: Vec<f32>,
    pub image: Option<Image>,
    pub camera: Camera,
    pub look: Look,
}

impl Crowd {
    /// Characters of each model in turn, in a square formation, bent by `pose(index, joint)`.
    pub fn new(
        models: Vec<Vec<(Model, f32)>>,
        count: usize,
        pose: impl Fn(usize, &str) -> Quat,
    ) -> Self {
        let side = (count as f32).sqrt().ceil().max(1.0);
        let half = Vec3::new(side, 0.0, side) * 0.6;
        let (min, max) = (-half, half + Vec3::Y * 1.76);
        let camera = Camera::overlooking(min, max, SIZE.aspect());
        let mut crowd = Self {
            look: Look::over(min, max, camera.eye),
            models,
            instances: Vec::new(),
            palette: Vec::new(),
            weights: Vec::new(),
            image: None,
            camera,
        };
        for i in 0..count {
            let (column, row) = (i % side as usize, i / side as usize);
            let at = Vec3::new(column as f32 + 0.5, 0.0, row as f32 + 0.5) * 1.2 - half;
            let model = i % crowd.models.len();
            let rows = crowd.models[model][0].0.palette(|joint| pose(i, joint));
            crowd.instances.push(DrawInstance {
                model: model as u32,
                world: Affine3x4::from_scale_rotation_translation(
                    Vec3::ONE,
                    Quat::from_rotation_y(i as f32 * 0.4),
                    at,
                ),
                palette_offset: crowd.palette.len() as u32,
                lerp: None,
                morph_offset: 0,
                tint: [0.3 + 0.23 * (i % 4) as f32, 0.9 - 0.2 * (i % 3) as f32, 0.35, 1.0],
                bounds: Some(Sphere { center: [0.0, 0.9, 0.0], radius: 1.3 }),
            });
            crowd.palette.extend(rows);
        }
        crowd
    }

    /// Lends the scene to `work`.
    pub fn with<T>(&self, work: impl FnOnce(&Scene) -> T) -> T {
        let meshes: Vec<Vec<_>> = self
            .models
            .iter()
            .map(|details| {
                let drawn = details.iter().map(|(m, px)| (meshes(m, self.image.as_ref()), *px));
                drawn.collect::<Vec<_>>()
            })
            .collect();
        let details: Vec<Vec<DrawDetail>> = meshes
            .iter()
            .map(|model| {
                let details = model
                    .iter()
                    .map(|(meshes, min_pixels)| DrawDetail { meshes, min_pixels: *min_pixels });
                details.collect()
            })
            .collect();
        let models: Vec<DrawModel> = details.iter().map(|d| DrawModel { details: d }).collect();
        work(&Scene {
            models: &models,
            instances: &self.instances,
            palette: (&self.palette).into(),
            morph_weights: &self.weights,
            camera: self.camera,
            look: self.look,
        })
    }

    pub fn software(&self) -> Picture {
        self.with(|s| draw(s, SIZE, Backend::Software)).expect("a software picture")
    }

    /// A picture by wgpu, on a new device.
    pub fn gpu(&self, page_bytes: u64) -> Picture {
        let _one_at_a_time = device_lock();
        let options = GpuOptions { page_bytes, ..GpuOptions::default() };
        let mut renderer = GpuRenderer::open(&options, 0, None).expect("an adapter");
        self.with(|s| renderer.draw(s, SIZE)).expect("a picture")
    }
}

/// Keeps a picture for a look at it, if `PHALANX_PICTURES` names a folder.
pub fn keep(picture: &RgbaImage, name: &str) {
    if let Some(folder) = std::env::var_os("PHALANX_PICTURES") {
        let path = std::path::Path::new(&folder).join(format!("{name}.png"));
        picture.save(&path).expect("a folder for pictures");
    }
}

/// Lock held while a device is open: software drivers fill all cores with one device, and old ones fail when many
/// devices come and go at once.
pub fn device_lock() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The reason why no adapter was found; `None` if there is one.
pub fn no_adapter() -> Option<String> {
    let _one_at_a_time = device_lock();
    Gpu::open(&GpuOptions::default()).err().map(|e| e.to_string())
}

/// Mean difference of two pictures' values, of 255.
pub fn mean_difference(a: &RgbaImage, b: &RgbaImage) -> f64 {
    assert_eq!(a.dimensions(), b.dimensions());
    let sum: u64 = a.iter().zip(b.iter()).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
    sum as f64 / a.len() as f64
}

/// The share of pixels that differ by more than `tolerance` in some channel.
pub fn differing(a: &RgbaImage, b: &RgbaImage, tolerance: u8) -> f64 {
    assert_eq!(a.dimensions(), b.dimensions());
    let far = |(a, b): (&image::Rgba<u8>, &image::Rgba<u8>)| {
        a.0.iter().zip(b.0).any(|(a, b)| a.abs_diff(b) > tolerance)
    };
    a.pixels().zip(b.pixels()).filter(|&p| far(p)).count() as f64
        / f64::from(a.width() * a.height())
}

/// Which pixels differ from an empty picture of the same scene.
pub fn silhouette(picture: &RgbaImage, empty: &RgbaImage) -> Vec<bool> {
    let pairs = picture.pixels().zip(empty.pixels());
    pairs.map(|(p, e)| p.0.iter().zip(e.0).any(|(p, e)| p.abs_diff(e) > 12)).collect()
}

/// Intersection of two silhouettes divided by their union.
pub fn overlap(a: &[bool], b: &[bool]) -> f64 {
    let count = |f: fn(bool, bool) -> bool| a.iter().zip(b).filter(|&(&a, &b)| f(a, b)).count();
    count(|a, b| a && b) as f64 / count(|a, b| a || b).max(1) as f64
}
