//! Cost of uploading a crowd's palettes to the device: frames of `GpuBoneBuffer` through the ring of mapped
//! buffers and through `write_buffer`, beside evaluation into heap memory alone and a plain copy of the same
//! number of bytes on the device.
//!
//! Every frame is waited for, so times include the device's copies. The rates of upload and plain copy are
//! then compared, with timestamps if the device supports them. Runs on the adapter that wgpu selects; a
//! software adapter shares the cores with the workers. `PHALANX_BENCH_BACKEND` pins the backend.

mod common;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use phalanx::crowd::{BoneBuffer, Crowd};
use phalanx::gpu::{Gpu, GpuBoneBuffer, GpuBoneOptions, GpuError, PaletteBackend, Stamps};
use phalanx::math::Affine3x4;
use phalanx_testkit::device;
use phalanx_workload::Workload;
use std::time::{Duration, Instant};

const FRAME: f64 = 1.0 / 60.0;
const COUNTS: [usize; 3] = [1_000, 10_000, 100_000];

/// Rounds of the comparison with a plain copy; the first round is not counted.
const ROUNDS: usize = 10;

fn upload(c: &mut Criterion) {
    let subject = common::subject();
    let Some(gpu) = device::open("uploaded") else {
        return;
    };
    let joints = subject.rig.palette_len();
    let backend = device::backend(&gpu, joints);
    println!("{}, {backend} backend", gpu.adapter_name());
    let mut group = c.benchmark_group(format!("upload/{backend}"));
    group
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2));
    for count in COUNTS {
        let crowd = || {
            let crowd = Workload::C1.crowd(subject.rig.clone(), &subject.clips, count);
            crowd.expect("the crowd accepts its rig").0
        };
        let bytes = (count * joints * size_of::<Affine3x4>()) as u64;
        println!("{count} characters: {bytes} bytes per frame");
        group.throughput(Throughput::Bytes(bytes));
        group.bench_function(BenchmarkId::new("evaluate alone", count), |b| {
            let (mut crowd, mut heap) = (crowd(), BoneBuffer::new());
            b.iter(|| {
                crowd.advance(FRAME).expect("a valid time step");
                crowd.evaluate(&mut heap)
            });
        });
        for (way, mapped) in [("ring", true), ("write_buffer", false)] {
            group.bench_function(BenchmarkId::new(way, count), |b| {
                let options = GpuBoneOptions { mapped, ..GpuBoneOptions::default() };
                let bones = GpuBoneBuffer::new(&gpu, backend, &options);
                let mut bones = bones.expect("the device supports the backend");
                let mut crowd = crowd();
                b.iter(|| {
                    crowd.advance(FRAME).expect("a valid time step");
                    let upload = bones.evaluate(&mut crowd, &gpu);
                    gpu.wait().expect("the device works");
                    upload.expect("the device works")
                });
            });
        }
        group.bench_function(BenchmarkId::new("plain copy", count), |b| {
            let pair = copied(&gpu, bytes).expect("the device has enough memory");
            b.iter(|| copy(&gpu, &pair, &mut None).expect("the device works"));
        });
        let compared = compare(&gpu, backend, crowd(), bytes);
        println!("{}", compared.expect("the device works"));
    }
    group.finish();
}

/// Buffer pairs for copying this many bytes, split at the device's largest buffer size.
fn copied(gpu: &Gpu, bytes: u64) -> Result<Vec<[wgpu::Buffer; 2]>, GpuError> {
    let piece = gpu.device.limits().max_buffer_size.min(128 << 20);
    let buffer = |size, usage| {
        gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage,
            mapped_at_creation: false,
        })
    };
    let (write, read) = (wgpu::BufferUsages::MAP_WRITE, wgpu::BufferUsages::COPY_DST);
    let pieces = (0..bytes.div_ceil(piece)).map(|i| piece.min(bytes - i * piece));
    gpu.checked(|| {
        let pair = |size| {
            let from = buffer(size, write | wgpu::BufferUsages::COPY_SRC);
            [from, buffer(size, read | wgpu::BufferUsages::VERTEX)]
        };
        Ok(pieces.map(pair).collect())
    })
}

fn copy(
    gpu: &Gpu,
    pairs: &[[wgpu::Buffer; 2]],
    stamps: &mut Option<Stamps>,
) -> Result<(), GpuError> {
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    if let Some(stamps) = stamps {
        stamps.begin(&mut encoder, 0);
    }
    for [from, to] in pairs {
        encoder.copy_buffer_to_buffer(from, 0, to, 0, from.size());
    }
    if let Some(stamps) = stamps {
        stamps.end(&mut encoder, 0);
    }
    gpu.queue.submit([encoder.finish()]);
    gpu.wait()
}

/// Compares the rate of the ring's upload with that of a plain copy of the same bytes, as a line of text.
/// Frames and copies alternate, so that disturbances affect both.
fn compare(
    gpu: &Gpu,
    backend: PaletteBackend,
    mut crowd: Crowd,
    bytes: u64,
) -> Result<String, GpuError> {
    let pairs = copied(gpu, bytes)?;
    let mut stamps = Stamps::new(gpu, 1);
    let options = GpuBoneOptions { timed: true, ..GpuBoneOptions::default() };
    let mut bones = GpuBoneBuffer::new(gpu, backend, &options)?;
    let mut heap = BoneBuffer::new();
    let [mut alone, mut frame, mut plain, mut upload, mut copied] = [(); 5].map(|()| Vec::new());
    let test = std::env::args().any(|a| a == "--test");
    for round in 0..if test { 2 } else { ROUNDS } {
        let start = Instant::now();
        crowd.advance(FRAME).expect("a valid time step");
        crowd.evaluate(&mut heap);
        let evaluated = start.elapsed();
        let start = Instant::now();
        crowd.advance(FRAME).expect("a valid time step");
        bones.evaluate(&mut crowd, gpu)?;
        gpu.wait()?;
        let brought = start.elapsed();
        let start = Instant::now();
        copy(gpu, &pairs, &mut stamps)?;
        let once = start.elapsed();
        // The first round allocates memory and touches it for the first time.
        if round == 0 {
            continue;
        }
        alone.push(evaluated);
        frame.push(brought);
        plain.push(once);
        upload.extend(bones.copy_time(gpu)?);
        if let Some(times) = stamps.as_ref().map_or(Ok(None), |s| s.read(gpu))? {
            copied.extend(times);
        }
    }
    let beyond = median(&mut frame).saturating_sub(median(&mut alone));
    let by_clock = share(median(&mut plain), beyond);
    if upload.is_empty() || copied.is_empty() {
        return Ok(format!(
            "upload / plain copy of the same bytes: {by_clock} by wall clock (time beyond evaluation); \
             this device has no timestamps; the aim is 80 %"
        ));
    }
    let by_device = share(median(&mut copied), median(&mut upload));
    Ok(format!(
        "upload / plain copy of the same bytes: {by_device} by device timestamps, {by_clock} by wall clock \
         (time beyond evaluation); the aim is 80 %"
    ))
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// One rate relative to another, from their times, with the times.
fn share(plain: Duration, upload: Duration) -> String {
    let [plain, upload] = [plain, upload].map(|t| t.as_secs_f64() * 1e3);
    let percent = 100.0 * plain / upload.max(1e-6);
    format!("{percent:.0} % ({plain:.2} ms over {upload:.2} ms)")
}

criterion_group!(benches, upload);
criterion_main!(benches);
