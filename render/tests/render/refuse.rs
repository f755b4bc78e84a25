//! Scenes, sizes and devices that cannot be drawn: typed errors, never a panic.

use glam::{Quat, Vec3};
use phalanx::gpu::{GpuError, GpuOptions, PaletteBackend};
use phalanx::mesh::{Image, MorphTarget, Primitive};
use phalanx_render::{
    Backend, DrawnBy, GpuRenderer, Palette, Picture, PictureSize, RenderError, Scene, draw,
    draw_with,
};

use crate::model::tube;
use crate::scenes::{Crowd, SIZE, device_lock, differing};

fn crowd() -> Crowd {
    Crowd::new(vec![vec![(tube(4, 1.7, 0.2, 4), 0.0)]], 2, |_, _| Quat::IDENTITY)
}

fn software(crowd: &Crowd) -> RenderError {
    let drawn = crowd.with(|s| draw(s, SIZE, Backend::Software));
    drawn.expect_err("the scene is bad")
}

pub fn no_adapter() {
    let none = GpuOptions { backends: wgpu::Backends::empty(), ..GpuOptions::default() };
    crowd().with(|scene| {
        let error = draw_with(scene, SIZE, Backend::Gpu, &none).expect_err("no adapter");
        assert!(matches!(error, RenderError::Gpu(GpuError::NoAdapter { .. })), "{error}");
        let picture = draw_with(scene, SIZE, Backend::Auto, &none).expect("a software picture");
        let DrawnBy::Software { instead: Some(reason) } = &picture.drawn_by else {
            panic!("{}", picture.drawn_by);
        };
        assert_eq!(*reason, error.to_string());
        assert!(picture.drawn_by.to_string().contains("no graphics adapter"));
        let asked = draw_with(scene, SIZE, Backend::Software, &none).expect("a picture");
        assert_eq!(asked.drawn_by, DrawnBy::Software { instead: None });
    });
    assert_eq!("auto".parse::<Backend>(), Ok(Backend::Auto));
    assert!("vulkan".parse::<Backend>().is_err());
}

pub fn bad_sizes() {
    crowd().with(|scene| {
        for (width, height) in [(0, 0), (0, 100), (100, 0)] {
            for backend in [Backend::Software, Backend::Gpu, Backend::Auto] {
                let error = draw(scene, PictureSize { width, height }, backend);
                let error = error.expect_err("no pixels");
                assert_eq!(error, RenderError::EmptyPicture { width, height });
            }
        }
        for (width, height) in [(u32::MAX, 1), (20_000, 20_000), (16_000, 16_000)] {
            let error = draw(scene, PictureSize { width, height }, Backend::Auto);
            let error = error.expect_err("too large");
            assert!(matches!(error, RenderError::PictureTooLarge { .. }), "{error}");
            assert!(error.to_string().contains(&width.to_string()), "{error}");
        }
    });
}

pub fn bad_scenes() {
    let mut short = crowd();
    short.palette.truncate(7);
    let error = software(&short);
    let expected = RenderError::Palette { instance: 1, needed: 8, rows: 7 };
    assert_eq!(error, expected);
    assert!(error.to_string().contains('8') && error.to_string().contains('7'));
    let mut offset = crowd();
    offset.instances[0].palette_offset = u32::MAX;
    assert!(matches!(software(&offset), RenderError::Palette { instance: 0, .. }));

    let mut slot = crowd();
    slot.models[0][0].0.parts[0].0.influences.joints[5] = 999;
    let expected = RenderError::Palette { instance: 0, needed: 1000, rows: 8 };
    assert_eq!(software(&slot), expected);

    let mut unknown = crowd();
    unknown.instances[1].model = 3;
    let expected = RenderError::Model { instance: 1, model: 3, models: 1 };
    assert_eq!(software(&unknown), expected);

    let mut morphs = crowd();
    let p = &mut morphs.models[0][0].0.parts[0].0;
    p.targets = vec![MorphTarget::default(); 3];
    morphs.weights = vec![0.0; 4];
    morphs.instances[1].morph_offset = 2;
    let expected = RenderError::MorphWeights { instance: 1, needed: 5, weights: 4 };
    assert_eq!(software(&morphs), expected);
    morphs.weights = vec![0.0, 0.0, 0.0, 0.0, f32::NAN];
    let error = software(&morphs);
    assert!(matches!(error, RenderError::NotFinite { instance: 1, .. }), "{error}");

    for backend in [Backend::Gpu, Backend::Auto] {
        // The scene's error is the same for every renderer, with or without an adapter.
        let error = short.with(|s| draw(s, SIZE, backend)).expect_err("a short palette");
        assert!(matches!(error, RenderError::Palette { .. }), "{error}");
    }
}

pub fn bad_meshes() {
    let bad = |change: fn(&mut Primitive), what: &str| {
        let mut crowd = crowd();
        change(&mut crowd.models[0][0].0.parts[0].0);
        let error = software(&crowd);
        assert!(matches!(error, RenderError::Mesh { .. }), "{error}");
        assert!(error.to_string().contains(what), "{error}");
    };
    bad(|p| p.normals.truncate(3), "normals");
    bad(|p| p.uvs = vec![[0.0; 2]], "texture coordinates");
    bad(|p| p.colors = vec![[0.0; 4]], "colours");
    bad(|p| p.indices[1] = 100_000, "an index is 100000");
    bad(|p| p.influences.weights.truncate(9), "weights is 9");
    bad(|p| p.influences.joints.truncate(9), "joint indices is 9");
    bad(|p| p.influences.per_vertex = 0, "influences");
}

pub fn numbers_that_are_none() {
    let mut world = crowd();
    world.instances[1].world.rows[1][3] = f32::NAN;
    assert!(matches!(software(&world), RenderError::NotFinite { instance: 1, .. }));
    let mut tint = crowd();
    tint.instances[0].tint[2] = f32::INFINITY;
    assert!(matches!(software(&tint), RenderError::NotFinite { instance: 0, .. }));
    let mut bounds = crowd();
    bounds.instances[0].bounds.as_mut().expect("bounds").radius = f32::NAN;
    assert!(matches!(software(&bounds), RenderError::NotFinite { instance: 0, .. }));
    let mut camera = crowd();
    camera.camera.fov_y = f32::NAN;
    assert!(matches!(software(&camera), RenderError::View { .. }));
    let mut image = crowd();
    image.image = Some(Image { width: 3, height: 3, rgba: vec![0; 35] });
    assert!(software(&image).to_string().contains("35"));
}

/// Palette rows may hold anything: they come from a simulation, and the rest is still drawn.
fn strange_rows(draw: fn(&Crowd) -> Picture) {
    let mut rows = crowd();
    let fine = draw(&rows).image;
    for (i, row) in rows.palette[..4].iter_mut().enumerate() {
        row.rows[i % 3][i] = [f32::NAN, f32::INFINITY, 1e30, -1e38][i];
    }
    let drawn = draw(&rows);
    assert_eq!(drawn.counts.instances, 2);
    assert!(differing(&fine, &drawn.image, 0) > 0.0);
}

pub fn strange_rows_in_software() {
    strange_rows(Crowd::software);
}

pub fn strange_rows_on_the_gpu() {
    strange_rows(|crowd| crowd.gpu(u64::MAX));
}

pub fn lost_device() {
    let _one_at_a_time = device_lock();
    let mut renderer = GpuRenderer::open(&GpuOptions::default(), 0, None).expect("an adapter");
    let crowd = crowd();
    crowd.with(|scene| {
        renderer.draw(scene, SIZE).expect("a picture");
        renderer.gpu().device.destroy();
        let error = renderer.draw(scene, SIZE).expect_err("the device is gone");
        assert!(matches!(error, RenderError::Gpu(GpuError::Lost { .. })), "{error}");
        // And again: the loss is remembered.
        let error = renderer.draw(scene, SIZE).expect_err("the device is gone");
        assert!(matches!(error, RenderError::Gpu(GpuError::Lost { .. })), "{error}");
    });
}

pub fn page_too_small() {
    let _one_at_a_time = device_lock();
    let tiny = GpuOptions { page_bytes: 3 * 48, ..GpuOptions::default() };
    let storage = Some(PaletteBackend::Storage);
    let error = GpuRenderer::open(&tiny, 4, storage).expect_err("four rows do not fit");
    let RenderError::Gpu(GpuError::Joints { needed, limit, .. }) = error else {
        panic!("{error}");
    };
    assert_eq!((needed, limit), (4, 3));
    // Windows do not depend on pages: the choice finds the backend that can.
    crowd().with(|scene| {
        let small = draw_with(scene, SIZE, Backend::Gpu, &tiny).expect("a picture");
        let whole = draw_with(scene, SIZE, Backend::Gpu, &GpuOptions::default());
        let share = differing(&small.image, &whole.expect("a picture").image, 2);
        assert!(share <= 0.001, "{share} of the pixels differ");
    });
}

pub fn picture_larger_than_the_device() {
    let _one_at_a_time = device_lock();
    let mut renderer = GpuRenderer::open(&GpuOptions::default(), 0, None).expect("an adapter");
    let limit = renderer.gpu().device.limits().max_texture_dimension_2d;
    let size = PictureSize { width: limit.saturating_add(1), height: 1 };
    let empty = Scene {
        models: &[],
        instances: &[],
        palette: Palette::Heap(&[]),
        morph_weights: &[],
        camera: crowd().camera,
        look: phalanx_render::Look { light: Vec3::Y, ..Default::default() },
    };
    let error = renderer.draw(&empty, size).expect_err("too wide");
    // Devices that hold 16,384 pixels meet the renderer's own limit first.
    let limited = matches!(
        error,
        RenderError::Gpu(GpuError::Limit { .. }) | RenderError::PictureTooLarge { .. }
    );
    assert!(limited, "{error}");
}
