//! Meshes on the rows of a rig's detail, against the same meshes on the full palette.

use glam::{Quat, Vec3};
use image::RgbaImage;
use phalanx::crowd::{BoneBuffer, Tier, TierDetail, Tiers, View};
use phalanx::gpu::{GpuOptions, PaletteBackend};
use phalanx::import;
use phalanx::math::Affine3x4;
use phalanx::rig::{DetailOptions, Rig};
use phalanx_render::{
    Backend, Camera, CrowdView, DrawDetail, DrawInstance, DrawMesh, DrawModel, GpuRenderer, Look,
    Picture, RigShape, Scene, ViewError, draw,
};
use phalanx_workload::standard_crowd;
use std::sync::Arc;

use crate::parade::{Parade, WIDE};
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
    meshes: &[DrawMesh],
    (rows, stride): (&[Affine3x4], usize),
    draw: impl FnOnce(&Scene) -> T,
) -> T {
    let details = [DrawDetail { meshes, min_pixels: 0.0 }];
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
        bounds: None,
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
    let options = DetailOptions { level: 2, ..DetailOptions::default() };
    let detail = rig.detail(&options).expect("a level of the rig");
    let [full, coarse] = [&rig, &detail].map(|rig| (rows(rig), rig.palette_len()));
    assert!(coarse.1 < full.1);
    let [of_full, of_detail] = [&rig, &detail].map(|rig| RigShape::new(rig));
    let a = picture(&of_full.meshes(2), (&full.0, full.1), &mut draw);
    let b = picture(&of_detail.meshes(2), (&coarse.0, coarse.1), &mut draw);
    assert_eq!(a.counts, b.counts, "{name}: body meshes of the level alone");
    let images: [&RgbaImage; 2] = [&a.image, &b.image];
    for (image, which) in images.into_iter().zip(["full", "detail"]) {
        keep(image, &format!("coarsest level by {name}, {which}"));
    }
    let share = differing(&a.image, &b.image, SAME.1);
    assert!(share <= SAME.0, "{name}: {share} of the pixels differ");
}

pub fn details_draw_the_same_in_software() {
    both("software", |s| draw(s, WIDE, Backend::Software).expect("a picture"));
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

/// Tiers of which all but the first have the coarsest level; of that the details of the rig, or none.
fn tiers(details: bool) -> Tiers {
    let tier = |height, level: Option<usize>| Tier {
        height,
        detail: level
            .filter(|_| details)
            .map(|level| TierDetail { level, ..TierDetail::default() }),
        ..Tier::default()
    };
    Tiers {
        tiers: vec![tier(50.0, None), tier(20.0, Some(2)), tier(0.0, Some(2))],
        ..Tiers::default()
    }
}

/// A camera as the tiers of a crowd take it.
fn view(camera: &Camera) -> View {
    let projection = glam::camera::rh::proj::directx::perspective_infinite_reverse(
        camera.fov_y,
        WIDE.aspect(),
        camera.near,
    );
    let eye = glam::camera::rh::view::look_at_mat4(camera.eye, camera.target, camera.up);
    View {
        clip_from_world: (projection * eye).to_cols_array_2d(),
        height: WIDE.height as f32,
        shadows: false,
    }
}

/// A plaza whose far characters have the palettes of a detail, against the same meshes on full palettes.
fn plaza(name: &str, mut draw: impl FnMut(&Scene) -> Picture) {
    let camera = Parade::camera(0.3);
    let mut pictures = Vec::new();
    let mut rows = Vec::new();
    for details in [true, false] {
        let mut parade = Parade::new(300);
        let rig = parade.rig.clone();
        let crowd = &mut parade.crowd;
        let id = crowd.instances().next().expect("an instance").rig();
        crowd.set_tiers(Some(tiers(details))).expect("sound tiers");
        crowd.set_views(&[view(&camera)]).expect("a sound view");
        crowd.advance(0.4).expect("a valid step");
        let models: &[u32] = if details { &[1] } else { &[] };
        (parade.view.set_details(crowd, id, models)).expect("a model per detail");
        parade.look(&camera);
        let mut bones = BoneBuffer::new();
        rows.push(parade.crowd.evaluate(&mut bones).rows);
        let crowd = &parade.crowd;
        parade.view.collect(crowd, |_| [0.8, 0.4, 0.2, 1.0]).expect("models for all");
        let shown = parade.view.seen().filter(|(id, seen)| seen.any() && crowd.tier(*id).is_some());
        let mut instances = parade.view.instances().to_vec();
        let mut far = 0;
        for ((id, _), instance) in shown.zip(&mut instances) {
            let is_far = crowd.tier(id) != Some(0);
            if details {
                assert_eq!(instance.model, u32::from(is_far));
            }
            instance.model = is_far.into();
            far += usize::from(is_far);
        }
        assert!(far > 50 && instances.len() > far + 5, "{far} of {}", instances.len());
        let of_far = crowd.tier_details(id).expect("the rig").next().unwrap_or(&rig).clone();
        let shapes = [RigShape::new(&rig), RigShape::new(&of_far)];
        let meshes = [shapes[0].meshes(0), shapes[1].meshes(2)];
        let levels = meshes.each_ref().map(|meshes| [DrawDetail { meshes, min_pixels: 0.0 }]);
        let models = levels.each_ref().map(|details| DrawModel { details });
        pictures.push(draw(&Scene {
            models: &models,
            instances: &instances,
            palette: bones.rows().into(),
            morph_weights: &[],
            camera,
            look: Look::default(),
        }));
    }
    assert!(rows[0] < rows[1], "{rows:?}");
    let [a, b] = [&pictures[0], &pictures[1]];
    assert_eq!(a.counts, b.counts, "{name}");
    keep(&a.image, &format!("plaza by {name}, details"));
    keep(&b.image, &format!("plaza by {name}, full palettes"));
    let share = differing(&a.image, &b.image, SAME.1);
    println!("{name}: {share} of the pixels differ; rows {rows:?}");
    assert!(share <= SAME.0, "{name}: {share} of the pixels differ");
}

pub fn tiers_with_details_draw_the_same_in_software() {
    plaza("software", |s| draw(s, WIDE, Backend::Software).expect("a picture"));
}

pub fn tiers_with_details_draw_the_same_on_the_gpu() {
    let _one_at_a_time = device_lock();
    for backend in PaletteBackend::ALL {
        plaza(&backend.to_string(), |s| {
            let options = GpuOptions::default();
            let mut renderer = GpuRenderer::open(&options, 64, Some(backend)).expect("the backend");
            renderer.draw(s, WIDE).expect("a picture")
        });
    }
}

pub fn details_without_models_are_refused() {
    let mut parade = Parade::new(4);
    let id = parade.crowd.instances().next().expect("an instance").rig();
    let mut all = tiers(true);
    all.tiers.remove(0);
    parade.crowd.set_tiers(Some(all)).expect("sound tiers");
    let view = &mut parade.view;
    let refused = view.set_details(&parade.crowd, id, &[1, 2]);
    let wanted = ViewError::Details { found: 2, needed: 1 };
    assert_eq!(refused, Err(wanted));
    let refused = CrowdView::new().set_details(&parade.crowd, id, &[1]);
    assert_eq!(refused, Err(ViewError::NotAdded { rig: id }));
    parade.look(&Parade::camera(0.3));
    parade.crowd.evaluate(&mut BoneBuffer::new());
    let refused = parade.view.collect(&parade.crowd, |_| [1.0; 4]);
    let wanted = ViewError::NoModel { rig: id, detail: 0 };
    assert_eq!(refused, Err(wanted));
}
