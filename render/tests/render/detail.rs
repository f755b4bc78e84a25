//! Instances whose rows are those of a rig's detail, against the same meshes on the full palette.

use glam::{Quat, Vec3};
use image::RgbaImage;
use phalanx::crowd::BoneBuffer;
use phalanx::gpu::{GpuOptions, PaletteBackend};
use phalanx::import;
use phalanx::math::Affine3x4;
use phalanx::rig::{DetailOptions, Rig};
use phalanx_render::{
    Backend, Camera, DrawDetail, DrawInstance, DrawMesh, DrawModel, GpuRenderer, Look, Picture,
    RenderError, RigShape, Scene, draw,
};
use phalanx_workload::standard_crowd;
use std::sync::Arc;

use crate::parade::{DETAILS, WIDE};
use crate::scenes::{device_lock, differing, keep};

/// Instances in the picture.
const COUNT: usize = 6;

/// Share of the pixels that may differ, and by how much: rows differ in their last bits, at edges.
const SAME: (f64, u8) = (0.001, 12);

/// The rows of the standard crowd of a rig.
fn rows(rig: &Arc<Rig>) -> Vec<Affine3x4> {
    let (mut crowd, _) = standard_crowd(rig.clone(), &[], COUNT).expect("room");
    crowd.advance(0.4).expect("a valid step");
    let mut buffer = BoneBuffer::new();
    crowd.evaluate(&mut buffer);
    buffer.rows().to_vec()
}

/// The picture of rows, `stride` per instance.
fn picture<T>(
    details: &[Vec<DrawMesh>],
    (rows, stride): (&[Affine3x4], usize),
    detail: Option<u32>,
    draw: impl FnOnce(&Scene) -> T,
) -> T {
    let details = details.iter().zip(DETAILS);
    let details: Vec<DrawDetail> = details
        .map(|(meshes, min_pixels)| DrawDetail { meshes, min_pixels })
        .collect();
    let instances = (0..COUNT).map(|i| DrawInstance {
        model: 0,
        world: Affine3x4::from_scale_rotation_translation(
            Vec3::ONE,
            Quat::from_rotation_y(i as f32),
            Vec3::X * (i as f32 - 2.5) * 1.2,
        ),
        palette_offset: (i * stride) as u32,
        lerp: None,
        morph_offset: 0,
        tint: [0.8, 0.4, 0.2, 1.0],
        // The finest detail, if the instance does not say otherwise.
        bounds: None,
        detail,
    });
    let instances: Vec<DrawInstance> = instances.collect();
    draw(&Scene {
        models: &[DrawModel { details: &details }],
        instances: &instances,
        palette: rows.into(),
        morph_weights: &[],
        camera: Camera {
            eye: Vec3::new(0.0, 1.5, 6.0),
            target: Vec3::Y,
            up: Vec3::Y,
            fov_y: 0.6,
            near: 0.1,
        },
        look: Look::default(),
    })
}

/// The coarsest level through its detail's palette and through the full one.
fn both(name: &str, mut draw: impl FnMut(&Scene) -> Picture) {
    let rig = Arc::new(import::mannequin().expect("the built-in character"));
    let level = |level: usize| {
        let options = DetailOptions {
            level,
            ..DetailOptions::default()
        };
        rig.detail(&options).expect("a level of the rig")
    };
    let rigs = [0, 1, 2].map(level);
    let shapes = [0, 1, 2].map(|l| RigShape::new(&rigs[l]));
    let details: Vec<Vec<DrawMesh>> = (0..3).map(|l| shapes[l].meshes(l)).collect();
    let shape = RigShape::new(&rig);
    let full = (rows(&rig), rig.palette_len());
    let coarse = (rows(&rigs[2]), rigs[2].palette_len());
    assert!(coarse.1 < full.1);
    let a = picture(&[shape.meshes(2)], (&full.0, full.1), None, &mut draw);
    let b = picture(&details, (&coarse.0, coarse.1), Some(2), &mut draw);
    assert_eq!(a.counts, b.counts, "{name}: body meshes of the level alone");
    let images: [&RgbaImage; 2] = [&a.image, &b.image];
    for (image, which) in images.into_iter().zip(["full", "detail"]) {
        keep(image, &format!("coarsest level by {name}, {which}"));
    }
    let share = differing(&a.image, &b.image, SAME.1);
    assert!(share <= SAME.0, "{name}: {share} of the pixels differ");
}

pub fn details_draw_the_same_in_software() {
    both("software", |s| {
        draw(s, WIDE, Backend::Software).expect("a picture")
    });
}

pub fn details_draw_the_same_on_the_gpu() {
    let _one_at_a_time = device_lock();
    for backend in PaletteBackend::ALL {
        both(&backend.to_string(), |s| {
            let options = GpuOptions::default();
            let mut renderer = GpuRenderer::open(&options, 64, Some(backend)).expect("the backend");
            renderer.draw(s, WIDE).expect("a picture")
        });
    }
}

pub fn unknown_details_are_refused() {
    let rig = Arc::new(import::mannequin().expect("the built-in character"));
    let shape = RigShape::new(&rig);
    let rows = (rows(&rig), rig.palette_len());
    let error = picture(&[shape.meshes(0)], (&rows.0, rows.1), Some(1), |s| {
        draw(s, WIDE, Backend::Software).expect_err("one detail")
    });
    let expected = RenderError::Detail {
        instance: 0,
        detail: 1,
        details: 1,
    };
    assert_eq!(error, expected);
}
