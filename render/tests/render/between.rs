//! Instances between two palettes: every backend and the software rasteriser against palettes that were interpolated
//! before they were drawn.

use glam::Quat;
use image::RgbaImage;
use phalanx::gpu::{GpuBoneBuffer, GpuBoneOptions, GpuOptions, PaletteBackend};
use phalanx::math::Affine3x4;
use phalanx::mesh::{AlphaMode, MorphTarget};
use phalanx::runtime::LerpPaletteJob;
use phalanx_render::{
    Backend, DrawInstance, GpuRenderer, Palette, PaletteLerp, RenderError, Scene, draw,
};

use crate::model::tube;
use crate::parade::{Parade, WIDE};
use crate::scenes::{self, SIZE, device_lock, differing, keep, mean_difference};

/// Share of pixels that may differ by more than 2 of 255 between rows that shaders interpolate and rows that the job
/// does; none did.
const SHARE: f64 = 0.001;

/// A device with no more than WebGL2's limits.
fn webgl() -> GpuOptions {
    GpuOptions { limits: wgpu::Limits::downlevel_webgl2_defaults(), ..GpuOptions::default() }
}

/// Opaque characters of four influences with morph targets, and blended ones of eight.
fn tubes(pose: f32) -> scenes::Crowd {
    let mut morphing = tube(5, 1.7, 0.16, 4);
    let p = &mut morphing.parts[0].0;
    p.targets = vec![MorphTarget {
        positions: p.normals.iter().map(|n| n.map(|v| v * 0.3)).collect(),
        ..Default::default()
    }];
    let mut clear = tube(3, 1.1, 0.25, 8);
    clear.parts[0].1.alpha_mode = AlphaMode::Blend;
    clear.parts[0].1.base_color[3] = 0.6;
    let models = vec![vec![(morphing, 0.0)], vec![(clear, 0.0)]];
    let mut crowd = scenes::Crowd::new(models, 13, |i, joint| match joint {
        "joint0" => Quat::from_rotation_y(0.4 * pose),
        _ => Quat::from_rotation_x(0.2 + 0.03 * i as f32 - 0.5 * pose) * Quat::from_rotation_y(0.2),
    });
    for (i, instance) in crowd.instances.iter_mut().enumerate() {
        instance.morph_offset = i as u32;
        crowd.weights.push((i % 4) as f32 * 0.3);
    }
    crowd
}

/// The rows between two palettes, by the job.
fn lerped(from: &[Affine3x4], to: &[Affine3x4], factor: f32) -> Vec<Affine3x4> {
    let mut output = vec![Affine3x4::IDENTITY; from.len()];
    let job = LerpPaletteJob { from, to, factor, output: &mut output };
    job.run().expect("a sound factor");
    output
}

/// The same crowd with two palettes per instance side by side, and with one that was interpolated. The palette at
/// factor 1 comes first for every other instance.
fn pairs(factor: impl Fn(usize) -> f32) -> (scenes::Crowd, scenes::Crowd) {
    let (start, end) = (tubes(0.0), tubes(1.0));
    let (mut pairs, mut single) = (tubes(0.0), tubes(0.0));
    let ends: Vec<usize> = (end.instances.iter().skip(1))
        .map(|i| i.palette_offset as usize)
        .chain([end.palette.len()])
        .collect();
    pairs.palette.clear();
    single.palette.clear();
    for (i, last) in ends.into_iter().enumerate() {
        let rows = end.instances[i].palette_offset as usize..last;
        let (from, to) = (&start.palette[rows.clone()], &end.palette[rows]);
        single.palette.extend(lerped(from, to, factor(i)));
        let first = pairs.palette.len() as u32;
        let second = first + from.len() as u32;
        let (palette_offset, to_offset) = match i % 2 {
            0 => (first, second),
            _ => (second, first),
        };
        let order = if i % 2 == 0 { [from, to] } else { [to, from] };
        pairs.palette.extend(order.concat());
        let instance = &mut pairs.instances[i];
        instance.palette_offset = palette_offset;
        instance.lerp = Some(PaletteLerp { to_offset, factor: factor(i) });
    }
    (pairs, single)
}

/// A name, the factor of each instance, and whether some are between 0 and 1.
type Factors = (&'static str, fn(usize) -> f32, bool);

/// All instances alike, and each with its own.
const FACTORS: [Factors; 4] = [
    ("0", |_| 0.0, false),
    ("0.3", |_| 0.3, true),
    ("1", |_| 1.0, false),
    ("many", |i| (i % 5) as f32 / 4.0, true),
];

fn near(name: &str, a: &RgbaImage, b: &RgbaImage, exact: bool) {
    let share = differing(a, b, if exact { 0 } else { 2 });
    println!("{name}: {share:.5} differ");
    assert!(share <= if exact { 0.0 } else { SHARE }, "{name}: {share} of the pixels differ");
}

pub fn backends_draw_the_same() {
    let _one_at_a_time = device_lock();
    let software = |crowd: &scenes::Crowd| crowd.software().image;
    let mut seen: Vec<RgbaImage> = Vec::new();
    for (name, factor, inner) in FACTORS {
        let (pairs, single) = pairs(factor);
        let truth = software(&single);
        // The same job: the same rows.
        near(&format!("software at {name}"), &software(&pairs), &truth, true);
        keep(&truth, &format!("between at {name} in software"));
        for earlier in &seen {
            assert!(differing(earlier, &truth, 12) > 0.02, "{name} is no other");
        }
        seen.push(truth.clone());
        for (backend, options) in [
            (PaletteBackend::Storage, GpuOptions::default()),
            (PaletteBackend::Texture, GpuOptions::default()),
            (PaletteBackend::Uniform, GpuOptions::default()),
            (PaletteBackend::Texture, webgl()),
            (PaletteBackend::Uniform, webgl()),
            // Pages of 23 rows hold two pairs of five joints, or three of three.
            (PaletteBackend::Uniform, GpuOptions { page_bytes: 23 * 48, ..GpuOptions::default() }),
        ] {
            let mut renderer = GpuRenderer::open(&options, 10, Some(backend)).expect("the backend");
            let mut picture = |crowd: &scenes::Crowd| {
                let drawn = crowd.with(|s| renderer.draw(s, SIZE));
                drawn.expect("a picture").image
            };
            let (between, whole) = (picture(&pairs), picture(&single));
            keep(&between, &format!("between at {name} by {backend}"));
            let name = format!("{backend} at {name}");
            near(&name, &between, &whole, !inner);
            let mean = mean_difference(&between, &truth);
            let share = differing(&between, &truth, 12);
            println!("{name}, software: mean {mean:.3}, differing {share:.4}");
            assert!(mean < 0.5 && share < 0.025, "{name}: {mean} {share}");
        }
    }
}

pub fn wireframes_are_between() {
    let _one_at_a_time = device_lock();
    let (pairs, single) = pairs(|_| 0.3);
    for backend in PaletteBackend::ALL {
        let mut renderer = GpuRenderer::open(&webgl_unless(backend), 10, Some(backend)).unwrap();
        let canvas = renderer.canvas(SIZE).expect("a canvas");
        let [a, b] = [&pairs, &single].map(|crowd| {
            crowd.with(|s| {
                let edges = renderer.load_wireframe(s.models).expect("sound meshes");
                renderer.paint(&edges, s, &canvas).expect("a picture");
            });
            renderer.read(&canvas).expect("a picture")
        });
        // Lines of one pixel: rounding moves some of them by one.
        let share = differing(&a, &b, 12);
        assert!(share < 0.005, "{backend}: {share} of the pixels differ");
    }
}

fn webgl_unless(backend: PaletteBackend) -> GpuOptions {
    match backend {
        PaletteBackend::Storage => GpuOptions::default(),
        PaletteBackend::Texture | PaletteBackend::Uniform => webgl(),
    }
}

/// Rows that were evaluated into device memory: neighbours of a crowd as the two palettes of one instance.
pub fn rows_on_a_device() {
    let _one_at_a_time = device_lock();
    for backend in PaletteBackend::ALL {
        let options = GpuOptions { page_bytes: 700 * 48, ..webgl_unless(backend) };
        let mut renderer = GpuRenderer::open(&options, 95, Some(backend)).expect("the backend");
        let mut bones =
            GpuBoneBuffer::new(renderer.gpu(), backend, &GpuBoneOptions::default()).unwrap();
        let mut parade = Parade::new(60);
        let camera = Parade::camera(0.0);
        parade.crowd.advance(0.3).expect("a short step");
        parade.look(&camera);
        bones.evaluate(&mut parade.crowd, renderer.gpu()).expect("room");
        let rows = bones.read(renderer.gpu()).expect("rows");
        let joints = parade.rig.palette_len();
        let mut heap = rows.clone();
        let mut apart = 0;
        let (between, single) = parade.picture(camera, (&bones).into(), |s| {
            let mut pair = |i: usize, instance: &DrawInstance| {
                let first = instance.palette_offset as usize;
                let next = first + joints.next_multiple_of(backend.align());
                let [here, there] = [first, next].map(|r| r..r + joints);
                let places = bones.locate(&here).zip(bones.locate(&there));
                let Some((from, to)) = places.filter(|(from, to)| from.page == to.page) else {
                    // Of the last one of a page.
                    apart += 1;
                    return *instance;
                };
                assert_eq!(to.row - from.row, (next - first) as u32);
                let factor = (i % 4) as f32 / 3.0;
                heap[here.clone()].copy_from_slice(&lerped(&rows[here], &rows[there], factor));
                DrawInstance {
                    lerp: Some(PaletteLerp { to_offset: next as u32, factor }),
                    ..*instance
                }
            };
            let instances: Vec<_> =
                (s.instances.iter().enumerate()).map(|(i, instance)| pair(i, instance)).collect();
            let with = |palette, instances| Scene { instances, palette, ..s.clone() };
            let between = renderer.draw(&with(Palette::Device(&bones), &instances), WIDE);
            let single = renderer.draw(&with((&heap).into(), s.instances), WIDE);
            (between.expect("a picture"), single.expect("a picture"))
        });
        let drawn = between.counts.instances;
        assert!(apart > 1 && drawn > 2 * apart, "{apart} of {drawn} are apart");
        near(&format!("{backend} on a device"), &between.image, &single.image, false);
    }
}

pub fn what_does_not_fit_is_refused() {
    let software = |crowd: &scenes::Crowd| {
        let drawn = crowd.with(|s| draw(s, SIZE, Backend::Software));
        drawn.map(|picture| picture.counts)
    };
    for factor in [f32::NAN, -0.1, 1.1, f32::INFINITY] {
        let (mut bad, _) = pairs(|_| 0.3);
        bad.instances[2].lerp.as_mut().expect("a pair").factor = factor;
        let error = software(&bad).expect_err("the factor is bad");
        assert!(matches!(error, RenderError::Factor { instance: 2, .. }), "{error}");
    }
    let (mut beyond, _) = pairs(|_| 0.3);
    let rows = beyond.palette.len();
    beyond.instances[1].lerp.as_mut().expect("a pair").to_offset = rows as u32 - 2;
    let expected = RenderError::Palette { instance: 1, needed: rows as u64 + 1, rows };
    assert_eq!(software(&beyond), Err(expected));
    // At factor 0 the second palette is not read.
    beyond.instances[1].lerp.as_mut().expect("a pair").factor = 0.0;
    assert!(software(&beyond).is_ok());
}

/// Two palettes that no window holds at once: refused by the uniform backend, drawn by the others.
pub fn palettes_apart_are_refused() {
    let _one_at_a_time = device_lock();
    let (mut apart, single) = pairs(|_| 0.3);
    let lerp = apart.instances[0].lerp.as_mut().expect("a pair");
    let to = lerp.to_offset as usize;
    let far = apart.palette.len() + 400;
    lerp.to_offset = far as u32;
    let rows = apart.palette[to..to + 5].to_vec();
    apart.palette.resize(far, Affine3x4::IDENTITY);
    apart.palette.extend(rows);
    let mut renderer = GpuRenderer::open(&webgl(), 10, Some(PaletteBackend::Uniform)).unwrap();
    let error = apart.with(|s| renderer.draw(s, SIZE).map(|p| p.counts));
    let expected = RenderError::Apart {
        instance: 0,
        backend: PaletteBackend::Uniform,
        needed: far as u64 + 5,
        limit: 341,
    };
    assert_eq!(error, Err(expected));
    let mut renderer = GpuRenderer::open(&webgl(), 10, Some(PaletteBackend::Texture)).unwrap();
    let [a, b] = [&apart, &single].map(|crowd| {
        let drawn = crowd.with(|s| renderer.draw(s, SIZE));
        drawn.expect("a picture").image
    });
    near("apart", &a, &b, false);
}
