//! The three backends against each other, and rows on a device against rows in heap memory.

use glam::Quat;
use phalanx::crowd::BoneBuffer;
use phalanx::gpu::{Gpu, GpuBoneBuffer, GpuBoneOptions, GpuError, GpuOptions, PaletteBackend};
use phalanx::mesh::MorphTarget;
use phalanx_render::{Backend, GpuRenderer, Palette, Picture, RenderError, RigShape, Scene, draw};

use crate::model::tube;
use crate::parade::{DETAILS, Parade, WIDE};
use crate::scenes::{self, SIZE, device_lock, differing, keep};

/// Share of pixels that may differ by more than 2 of 255 between backends; none did.
const SHARE: f64 = 0.001;

fn same(name: &str, a: &Picture, b: &Picture) {
    let share = differing(&a.image, &b.image, 2);
    println!("{name}: {share:.5} differ");
    assert_eq!(a.counts, b.counts, "{name}");
    assert!(share <= SHARE, "{name}: {share} of the pixels differ");
}

/// A device with no more than WebGL2's limits.
fn webgl() -> GpuOptions {
    GpuOptions { limits: wgpu::Limits::downlevel_webgl2_defaults(), ..GpuOptions::default() }
}

/// Two models of four and of eight influences, one of them with morph targets.
fn tubes() -> scenes::Crowd {
    let mut morphing = tube(5, 1.7, 0.16, 4);
    let p = &mut morphing.parts[0].0;
    p.targets = vec![MorphTarget {
        positions: p.normals.iter().map(|n| n.map(|v| v * 0.3)).collect(),
        ..Default::default()
    }];
    let models = vec![vec![(morphing, 0.0)], vec![(tube(3, 1.1, 0.25, 8), 0.0)]];
    let mut crowd = scenes::Crowd::new(models, 21, |i, _| {
        Quat::from_rotation_x(0.2 + 0.03 * i as f32) * Quat::from_rotation_y(0.2)
    });
    for (i, instance) in crowd.instances.iter_mut().enumerate() {
        instance.morph_offset = i as u32;
        crowd.weights.push((i % 4) as f32 * 0.3);
    }
    crowd
}

pub fn backends_draw_the_same() {
    let _one_at_a_time = device_lock();
    let crowd = tubes();
    let picture = |options: &GpuOptions, backend| {
        let mut renderer = GpuRenderer::open(options, 5, Some(backend)).expect("the backend");
        let picture = crowd.with(|s| renderer.draw(s, SIZE)).expect("a picture");
        keep(&picture.image, &format!("tubes by {backend}"));
        picture
    };
    let storage = picture(&GpuOptions::default(), PaletteBackend::Storage);
    let empty = crowd.with(|s| {
        let empty = Scene { instances: &[], ..s.clone() };
        draw(&empty, SIZE, Backend::Gpu).expect("a picture")
    });
    assert!(differing(&storage.image, &empty.image, 12) > 0.1);
    for backend in [PaletteBackend::Texture, PaletteBackend::Uniform] {
        let name = format!("{backend} and storage");
        same(&name, &picture(&GpuOptions::default(), backend), &storage);
        same(&format!("{name}, WebGL2"), &picture(&webgl(), backend), &storage);
        // Pages of 23 rows: not two instances of five joints in a window's 16 and the next.
        let paged = GpuOptions { page_bytes: 23 * 48, ..GpuOptions::default() };
        same(&format!("{name}, paged"), &picture(&paged, backend), &storage);
    }
}

pub fn the_choice_follows_the_device() {
    let _one_at_a_time = device_lock();
    let backend = |options: &GpuOptions, joints| {
        let renderer = GpuRenderer::open(options, joints, None).expect("some backend");
        renderer.backend()
    };
    assert_eq!(backend(&GpuOptions::default(), 67), PaletteBackend::Storage);
    for joints in [67, 1500, 60_000] {
        assert_eq!(backend(&webgl(), joints), PaletteBackend::Texture);
    }
    let refused = |backend, joints| {
        let error = GpuRenderer::open(&webgl(), joints, Some(backend)).expect_err("not there");
        match error {
            RenderError::Gpu(GpuError::Joints { needed, limit, .. }) => (needed, limit),
            error => panic!("{error}"),
        }
    };
    assert_eq!(refused(PaletteBackend::Storage, 67), (67, 0));
    assert_eq!(refused(PaletteBackend::Uniform, 342), (342, 341));
    // A model larger than what the renderer was opened for is refused as it is loaded.
    let mut renderer = GpuRenderer::open(&webgl(), 1, Some(PaletteBackend::Uniform)).unwrap();
    let long = vec![vec![(tube(400, 1.7, 0.2, 4), 0.0)]];
    let crowd = scenes::Crowd::new(long, 1, |_, _| Quat::IDENTITY);
    let error = crowd.with(|s| renderer.draw(s, SIZE)).expect_err("400 joints");
    let RenderError::Gpu(GpuError::Joints { needed, limit, .. }) = error else {
        panic!("{error}");
    };
    assert_eq!((needed, limit), (400, 341));
}

/// Frames from turning cameras: instances outside the picture are not evaluated and their rows are carried over;
/// instances that enter it are drawn as if all had been evaluated.
pub fn rows_on_a_device_draw_the_same() {
    let _one_at_a_time = device_lock();
    for backend in PaletteBackend::ALL {
        // Pages of 700 rows, and windows of 341 of them: many of both.
        let options = GpuOptions {
            page_bytes: 700 * 48,
            limits: match backend {
                PaletteBackend::Storage => wgpu::Limits::unlimited(),
                _ => wgpu::Limits::downlevel_webgl2_defaults(),
            },
            ..GpuOptions::default()
        };
        let mut renderer = GpuRenderer::open(&options, 47, Some(backend)).expect("the backend");
        let mut bones =
            GpuBoneBuffer::new(renderer.gpu(), backend, &GpuBoneOptions::default()).unwrap();
        let mut parade = Parade::new(150);
        let mut carried = 0;
        for (frame, turn) in [0.0, 0.5, -0.6, 0.0].into_iter().enumerate() {
            let camera = Parade::camera(turn);
            parade.crowd.advance(0.1).expect("a short step");
            parade.look(&camera);
            let seen = parade.view.seen().filter(|(_, seen)| seen.any()).count();
            let done = bones.evaluate(&mut parade.crowd, renderer.gpu()).expect("room");
            // In the first frame there are no rows to keep.
            let expected = if frame == 0 { 150 } else { seen };
            assert_eq!(done.frame.instances, expected, "{backend}, frame {frame}");
            assert!(frame == 0 || seen < 140, "{seen} are seen");
            carried += done.frame.carried;
            let palette = Palette::from(&bones);
            assert!(matches!(palette, Palette::Device(_)));
            let device = parade.picture(camera, palette, |s| renderer.draw(s, WIDE));
            let device = device.expect("a picture");
            keep(&device.image, &format!("parade by {backend} {frame}"));
            // The reference: every instance evaluated by a crowd without history, into heap memory.
            let mut everyone = Parade::new(150);
            everyone.restore(&parade);
            everyone.look(&camera);
            let mut heap = BoneBuffer::new();
            assert_eq!(everyone.crowd.evaluate(&mut heap).instances, 150);
            let truth = everyone.picture(camera, heap.rows().into(), |s| renderer.draw(s, WIDE));
            let truth = truth.expect("a picture");
            same(&format!("{backend}, frame {frame}"), &device, &truth);
        }
        assert!(carried > 100, "only {carried} were carried over");
    }
}

/// Edges in place of surfaces, on every backend and with WebGL2's limits: the same counts and shadows, less that
/// hides what is behind.
pub fn wireframes_show_edges() {
    let _one_at_a_time = device_lock();
    let crowd = tubes();
    let mut first: Option<Picture> = None;
    for (backend, options) in [
        (PaletteBackend::Storage, GpuOptions::default()),
        (PaletteBackend::Texture, webgl()),
        (PaletteBackend::Uniform, webgl()),
    ] {
        let mut renderer = GpuRenderer::open(&options, 5, Some(backend)).expect("the backend");
        let canvas = renderer.canvas(SIZE).expect("a canvas");
        let surfaces = crowd.with(|s| renderer.draw(s, SIZE)).expect("a picture");
        let counts = crowd.with(|s| {
            let edges = renderer.load_wireframe(s.models).expect("sound meshes");
            renderer.paint(&edges, s, &canvas).expect("a picture")
        });
        let edges = Picture {
            image: renderer.read(&canvas).expect("a picture"),
            counts,
            ..surfaces.clone()
        };
        keep(&edges.image, &format!("wireframe by {backend}"));
        assert_eq!(counts, surfaces.counts);
        let empty = crowd.with(|s| {
            let empty = Scene { instances: &[], ..s.clone() };
            renderer.draw(&empty, SIZE).expect("a picture").image
        });
        let [solid, lines] = [&surfaces, &edges].map(|p| differing(&p.image, &empty, 12));
        let changed = differing(&edges.image, &surfaces.image, 12);
        println!("{backend}: surfaces {solid:.4}, lines {lines:.4}, changed {changed:.4}");
        // At this size the edges of a character cover it almost whole.
        assert!(lines > 0.5 * solid && changed > 0.05, "{lines} {solid} {changed}");
        let first = first.get_or_insert_with(|| edges.clone());
        same(&format!("wireframe by {backend}"), &edges, first);
    }
}

/// Details by size on screen, for the built-in character: the number of triangles equals that of an oracle in f64.
pub fn parades_use_all_details() {
    let mut parade = Parade::new(400);
    let camera = Parade::camera(0.0);
    parade.look(&camera);
    let mut heap = BoneBuffer::new();
    parade.crowd.evaluate(&mut heap);
    let counts = parade.picture(camera, heap.rows().into(), |s| {
        draw(s, WIDE, Backend::Software).expect("a picture").counts
    });
    let shape = RigShape::new(&parade.rig);
    let triangles = |lod| -> u64 {
        let meshes = shape.meshes(lod);
        meshes.iter().map(|m| m.primitive.indices.len() as u64 / 3).sum()
    };
    let triangles = [0, 1, 2].map(triangles);
    assert!(triangles[0] > triangles[1] && triangles[1] > triangles[2]);
    let forward = (camera.target - camera.eye).as_dvec3().normalize();
    let scale = f64::from(WIDE.height) / (f64::from(camera.fov_y) / 2.0).tan();
    let (mut least, mut most, mut used) = (0, 0, [0; 3]);
    let seen = parade.view.seen().filter(|(_, seen)| seen.any());
    let drawn = seen.zip(parade.view.instances()).filter(|((_, seen), _)| seen.body);
    for (_, instance) in drawn {
        let sphere = instance.bounds.expect("bounds");
        let middle = instance.world.transform_point3(sphere.center.into());
        let along = forward.dot((middle - camera.eye).as_dvec3());
        let pixels = f64::from(sphere.radius) / along * scale;
        let detail = |pixels: f64| {
            let fine = DETAILS.iter().position(|&d| pixels >= f64::from(d));
            fine.unwrap_or(2)
        };
        used[detail(pixels)] += 1;
        // Bounds are rounded up by at most 0.1%.
        least += triangles[detail(pixels)];
        most += triangles[detail(pixels * 1.001)];
    }
    assert!(used.iter().all(|&n| n > 5), "{used:?}");
    assert_eq!(counts.instances, used.iter().sum::<usize>());
    assert!((least..=most).contains(&counts.triangles), "{counts:?}");
}

/// A device that goes away between two frames: the same frame is in heap memory and can be drawn in
/// software; on a new device the crowd goes on.
pub fn crowds_outlive_their_device() {
    let _one_at_a_time = device_lock();
    let open = || GpuRenderer::open(&GpuOptions::default(), 47, None).expect("an adapter");
    let mut renderer = open();
    let mut bones =
        GpuBoneBuffer::new(renderer.gpu(), renderer.backend(), &GpuBoneOptions::default())
            .expect("the backend");
    let mut parade = Parade::new(40);
    let camera = Parade::camera(0.0);
    let mut frame = |renderer: &mut GpuRenderer, bones: &mut GpuBoneBuffer| {
        parade.crowd.advance(0.1).expect("a short step");
        parade.look(&camera);
        let lost = bones.evaluate(&mut parade.crowd, renderer.gpu()).err();
        let palette = Palette::from(&*bones);
        let picture = match palette {
            Palette::Heap(_) => parade.picture(camera, palette, |s| {
                let on_device = renderer.draw(s, WIDE).map(|p| p.counts);
                assert!(matches!(on_device, Err(RenderError::Gpu(GpuError::Lost { .. }))));
                draw(s, WIDE, Backend::Software)
            }),
            Palette::Device(_) => parade.picture(camera, palette, |s| {
                let without = draw(s, WIDE, Backend::Auto).map(|p| p.counts);
                assert_eq!(without, Err(RenderError::OnDevice));
                renderer.draw(s, WIDE)
            }),
        };
        (lost, picture.expect("a picture"))
    };
    let (lost, before) = frame(&mut renderer, &mut bones);
    assert_eq!(lost, None);
    renderer.gpu().device.destroy();
    let (lost, meanwhile) = frame(&mut renderer, &mut bones);
    assert!(matches!(lost, Some(GpuError::Lost { .. })), "{lost:?}");
    renderer = open();
    let (lost, after) = frame(&mut renderer, &mut bones);
    assert_eq!(lost, None);
    for picture in [&before, &meanwhile, &after] {
        assert_eq!(picture.counts.instances, before.counts.instances);
    }
    assert!(differing(&before.image, &after.image, 12) > 0.001, "time stood still");
    // Another crowd that saw no device comes to the same picture.
    let mut other = Parade::new(40);
    for _ in 0..3 {
        other.crowd.advance(0.1).expect("a short step");
    }
    other.look(&camera);
    let mut heap = BoneBuffer::new();
    other.crowd.evaluate(&mut heap);
    let truth = other.picture(camera, heap.rows().into(), |s| renderer.draw(s, WIDE));
    same("after a loss", &after, &truth.expect("a picture"));
}

pub fn backends_that_do_not_fit_are_refused() {
    let _one_at_a_time = device_lock();
    let storage = Some(PaletteBackend::Storage);
    let mut renderer = GpuRenderer::open(&GpuOptions::default(), 47, storage).expect("an adapter");
    let mut bones =
        GpuBoneBuffer::new(renderer.gpu(), PaletteBackend::Texture, &GpuBoneOptions::default())
            .expect("textures");
    let mut parade = Parade::new(3);
    let camera = Parade::camera(0.0);
    parade.look(&camera);
    bones.evaluate(&mut parade.crowd, renderer.gpu()).expect("room");
    let error = parade.picture(camera, (&bones).into(), |s| renderer.draw(s, WIDE));
    let expected = RenderError::PaletteBackend {
        found: PaletteBackend::Texture,
        expected: PaletteBackend::Storage,
    };
    assert_eq!(error.map(|p| p.counts), Err(expected));
    // A palette without rows: instances that refer to rows are refused before the device is used.
    let gpu = Gpu::open(&GpuOptions::default()).expect("an adapter");
    let none =
        GpuBoneBuffer::new(&gpu, PaletteBackend::Storage, &GpuBoneOptions::default()).unwrap();
    let error = parade.picture(camera, (&none).into(), |s| renderer.draw(s, WIDE));
    let error = error.map(|p| p.counts).expect_err("no rows");
    assert!(matches!(error, RenderError::Palette { rows: 0, .. }), "{error}");
}

/// A renderer refuses the models, canvases and rows of another device.
pub fn what_another_device_has_is_refused() {
    let _one_at_a_time = device_lock();
    let open = || GpuRenderer::open(&GpuOptions::default(), 47, None).expect("an adapter");
    let (first, mut second) = (open(), open());
    let mut parade = Parade::new(3);
    let camera = Parade::camera(0.0);
    parade.look(&camera);
    let mut bones = GpuBoneBuffer::new(first.gpu(), first.backend(), &GpuBoneOptions::default())
        .expect("the backend");
    let uploaded = bones.evaluate(&mut parade.crowd, first.gpu());
    assert_eq!(uploaded.expect("room").frame.instances, 3);
    let astray = parade.picture(camera, (&bones).into(), |s| second.draw(s, WIDE));
    assert_eq!(astray.map(|p| p.counts), Err(RenderError::OnDevice));
    let mut heap = BoneBuffer::new();
    parade.crowd.evaluate(&mut heap);
    parade.picture(camera, heap.rows().into(), |s| {
        let loaded = [&first, &second].map(|r| r.load(s.models).expect("models"));
        let canvases = [&first, &second].map(|r| r.canvas(WIDE).expect("a canvas"));
        let other = |what| Err(RenderError::OtherDevice { what });
        let painted = second.paint(&loaded[0], s, &canvases[1]);
        assert_eq!(painted, other("set of models"));
        let painted = second.paint(&loaded[1], s, &canvases[0]);
        assert_eq!(painted, other("canvas"));
        assert!(second.read(&canvases[0]).is_err());
        assert!(second.paint(&loaded[1], s, &canvases[1]).is_ok());
    });
}
