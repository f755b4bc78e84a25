//! Times the stages of a frame: a crowd of the built-in character in its three levels of detail, evaluated,
//! uploaded, skinned and drawn. CPU time for every stage and, by timestamps, device time.
//!
//! All characters are visible: near ones in the finest detail, thousands in the coarsest. Each frame waits
//! for the device after the copies and after drawing, so stages do not overlap. The bench prints its own
//! table because criterion measures one thing at a time. `-- 10000` sets the number of characters, `--test`
//! runs few characters briefly, and `PHALANX_BENCH_BACKEND` pins the backend.

#[path = "draw/skinning.rs"]
mod skinning;
#[path = "draw/table.rs"]
mod table;

use glam::{Quat, Vec3};
use phalanx::crowd::{Crowd, InstanceId};
use phalanx::gpu::{GpuBoneBuffer, GpuBoneOptions};
use phalanx::import::mannequin;
use phalanx::math::Affine3x4;
use phalanx::rig::Rig;
use phalanx::simd::SimdLevel;
use phalanx_render::{
    Camera, CrowdView, DrawDetail, DrawMesh, DrawModel, GpuRenderer, Look, Palette, PictureSize,
    RigShape, Scene,
};
use phalanx_testkit::device;
use phalanx_workload::standard_crowd;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};
use table::Table;

const FRAME: f64 = 1.0 / 60.0;
const COUNTS: [usize; 2] = [10_000, 100_000];
const TEST_COUNT: usize = 100;

/// Time to measure frames of one count.
const BUDGET: Duration = Duration::from_secs(10);
/// The fewest measured frames, whatever they take: software devices are slow.
const FEWEST: usize = 5;
const WARM_UP: usize = 2;

const SIZE: PictureSize = PictureSize { width: 1280, height: 720 };

/// Pixel heights from which the details are used, as in `phalanx crowd`.
const DETAILS: [f32; 3] = [110.0, 40.0, 0.0];

/// Metres between neighbours.
const STEP: f32 = 1.5;
/// Metres from the eye to the first row.
const NEAREST: f32 = 7.0;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let test = arguments.iter().any(|a| a == "--test");
    let asked: Vec<usize> = arguments.iter().filter_map(|a| a.parse().ok()).collect();
    let counts = match (test, asked.is_empty()) {
        (true, _) => vec![TEST_COUNT],
        (false, true) => COUNTS.to_vec(),
        (false, false) => asked,
    };
    let rig = Arc::new(mannequin()?);
    let Some(gpu) = device::open("drawn") else {
        return Ok(());
    };
    let backend = device::backend(&gpu, rig.palette_len());
    let mut renderer = GpuRenderer::on(gpu, rig.palette_len(), Some(backend))?;
    let (adapter, level) = (renderer.gpu().adapter_name(), SimdLevel::current());
    let threads = rayon::current_num_threads();
    println!("{adapter}, {backend} backend; processor: {level}, {threads} threads");
    if !renderer.time_passes() {
        println!("the device has no timestamps between passes; the table has no device times");
    }
    let budget = if test { Duration::ZERO } else { BUDGET };
    for count in counts {
        measure(&mut renderer, &rig, count, budget)?;
    }
    Ok(())
}

/// Draws frames of `count` characters until the budget is spent, and prints their times.
fn measure(
    renderer: &mut GpuRenderer,
    rig: &Arc<Rig>,
    count: usize,
    budget: Duration,
) -> Result<(), Box<dyn Error>> {
    let (mut crowd, ids) = standard_crowd(rig.clone(), &[], count)?;
    let camera = spread(&mut crowd, &ids)?;
    let mut view = CrowdView::new();
    view.add_rig(&crowd, ids[0].rig(), 0)?;
    let shape = RigShape::new(rig);
    let meshes: Vec<Vec<DrawMesh<'_>>> = (0..rig.lod_count()).map(|l| shape.meshes(l)).collect();
    let details = meshes.iter().zip(DETAILS);
    let details: Vec<DrawDetail<'_>> =
        details.map(|(meshes, min_pixels)| DrawDetail { meshes, min_pixels }).collect();
    let models = [DrawModel { details: &details }];
    let loaded = renderer.load(&models)?;
    let canvas = renderer.canvas(SIZE)?;
    let options = GpuBoneOptions { timed: true, ..GpuBoneOptions::default() };
    let mut bones = GpuBoneBuffer::new(renderer.gpu(), renderer.backend(), &options)?;
    let look = Look::default();
    let mut table = Table::default();
    let mut counts = None;
    let (mut frames, start) = (0, Instant::now());
    while frames < WARM_UP + FEWEST || start.elapsed() < budget {
        if frames == WARM_UP {
            table = Table::default();
        }
        frames += 1;
        table.time("advance", || crowd.advance(FRAME))?;
        table.time("cull", || view.look(&mut crowd, &camera, &look, SIZE, false))?;
        let gpu = renderer.gpu();
        table.time("evaluate, write, copy", || bones.evaluate(&mut crowd, gpu))?;
        table.time("wait for the copies", || gpu.wait())?;
        table.device("evaluate, write, copy", bones.copy_time(gpu)?);
        table.time("collect", || view.collect(&crowd, tint))?;
        let scene = Scene {
            models: &models,
            instances: view.instances(),
            palette: Palette::from(&bones),
            morph_weights: view.morph_weights(),
            camera,
            look,
        };
        let drawn = table.time("sort and record", || renderer.paint(&loaded, &scene, &canvas))?;
        table.time("wait for the picture", || renderer.gpu().wait())?;
        let passes = renderer.pass_times()?;
        table.device("shadows on the ground", passes.map(|p| p.shadows));
        table.device("characters, ground, sky", passes.map(|p| p.picture));
        counts = Some(drawn);
    }
    let counts = counts.ok_or("no frame was drawn")?;
    println!(
        "\n{count} characters, {} of them visible, {} triangles, {} x {}, {} palette bytes; \
         median of {} frames, ms",
        counts.instances,
        counts.triangles,
        SIZE.width,
        SIZE.height,
        count * rig.palette_len() * size_of::<Affine3x4>(),
        frames - WARM_UP,
    );
    println!("{table}");
    let places = ids.iter().filter_map(|&id| bones.locate(&crowd.palette_range(id)?));
    skinning::measure(renderer.gpu(), rig, &bones, &places.collect::<Vec<_>>())?;
    Ok(())
}

/// Places the instances in rows that widen with the camera's view, and returns the camera.
fn spread(crowd: &mut Crowd, ids: &[InstanceId]) -> Result<Camera, Box<dyn Error>> {
    let camera = Camera {
        eye: Vec3::new(0.0, 3.2, NEAREST),
        target: Vec3::new(0.0, 0.4, -NEAREST),
        up: Vec3::Y,
        fov_y: 0.9,
        near: 0.1,
    };
    let half_width = (camera.fov_y * 0.5).tan() * SIZE.aspect() * 0.9;
    let mut left = ids.iter();
    for row in 0.. {
        let distance = NEAREST + STEP * row as f32;
        let places = (2.0 * half_width * distance / STEP) as usize;
        for place in 0..places.max(1) {
            let Some(&id) = left.next() else {
                return Ok(camera);
            };
            let x = (place as f32 - 0.5 * (places as f32 - 1.0)) * STEP;
            let at = Vec3::new(x, 0.0, camera.eye.z - distance);
            let turn = Quat::from_rotation_y(0.7 * place as f32);
            crowd.set_world(id, Affine3x4::from_scale_rotation_translation(Vec3::ONE, turn, at))?;
        }
    }
    Ok(camera)
}

fn tint(place: usize) -> [f32; 4] {
    let step = |n: usize| 0.25 + 0.1 * (place % n) as f32;
    [step(5), step(4), step(7), 1.0]
}
