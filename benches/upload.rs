//! What it costs to bring a crowd's palettes to the device: frames of `GpuBoneBuffer` through the ring of
//! mapped buffers and through `write_buffer`, beside evaluation into heap memory alone, and the device's
//! plain copy of as many bytes.
//!
//! Every frame is waited for, so a figure holds the device's copies too. Runs on the adapter that wgpu
//! finds; a software one shares the cores with the workers. `PHALANX_BENCH_BACKEND` pins the backend.

mod common;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use phalanx::crowd::{BoneBuffer, Workload};
use phalanx::gpu::{
    Gpu, GpuBoneBuffer, GpuBoneOptions, GpuError, GpuOptions, PaletteBackend, ROW_BYTES,
};
use std::time::Duration;

const FRAME: f64 = 1.0 / 60.0;
const COUNTS: [usize; 3] = [1_000, 10_000, 100_000];

fn upload(c: &mut Criterion) {
    let subject = common::subject();
    let gpu = match Gpu::open(&GpuOptions::default()) {
        Ok(gpu) => gpu,
        Err(error) => return println!("nothing is uploaded: {error}"),
    };
    let joints = subject.rig.palette_len();
    let best = PaletteBackend::choose(&gpu, joints).expect("the device holds the palette");
    let backend = match std::env::var("PHALANX_BENCH_BACKEND") {
        Ok(name) => PaletteBackend::ALL
            .into_iter()
            .find(|b| b.to_string() == name),
        Err(_) => Some(best),
    };
    let backend = backend.expect("PHALANX_BENCH_BACKEND is uniform, texture or storage");
    println!("{}, {backend} backend", gpu.adapter());
    let mut group = c.benchmark_group(format!("upload/{backend}"));
    group
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2));
    for count in COUNTS {
        let crowd = || {
            let crowd = Workload::C1.crowd(subject.rig.clone(), &subject.clips, count);
            crowd.expect("the crowd takes its rig").0
        };
        let bytes = (count * joints) as u64 * ROW_BYTES;
        println!("{count} characters: {bytes} bytes per frame");
        group.throughput(Throughput::Bytes(bytes));
        group.bench_function(BenchmarkId::new("evaluate alone", count), |b| {
            let (mut crowd, mut heap) = (crowd(), BoneBuffer::new());
            b.iter(|| {
                crowd.advance(FRAME).expect("a short step");
                crowd.evaluate(&mut heap)
            });
        });
        let mut copies = None;
        for (way, mapped) in [("ring", true), ("write_buffer", false)] {
            group.bench_function(BenchmarkId::new(way, count), |b| {
                let options = GpuBoneOptions {
                    mapped,
                    ..GpuBoneOptions::new(backend)
                };
                let bones = GpuBoneBuffer::new(&gpu, options);
                let mut bones = bones.expect("the device has the backend");
                if mapped {
                    bones.time_copies(&gpu);
                }
                let mut crowd = crowd();
                b.iter(|| {
                    crowd.advance(FRAME).expect("a short step");
                    let upload = bones.evaluate(&mut crowd, &gpu);
                    gpu.wait().expect("the device works");
                    upload.expect("the device works")
                });
                copies = bones.copy_time(&gpu).expect("the device works").or(copies);
            });
        }
        if let Some(time) = copies {
            println!("of the ring's last frame the device's copies took {time:?}");
        }
        group.bench_function(BenchmarkId::new("plain copy", count), |b| {
            let pair = copied(&gpu, bytes).expect("the device has memory");
            b.iter(|| copy(&gpu, &pair).expect("the device works"));
        });
    }
    group.finish();
}

/// Buffers of as many bytes, in pieces that the device makes.
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

fn copy(gpu: &Gpu, pairs: &[[wgpu::Buffer; 2]]) -> Result<(), GpuError> {
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    for [from, to] in pairs {
        encoder.copy_buffer_to_buffer(from, 0, to, 0, from.size());
    }
    gpu.queue.submit([encoder.finish()]);
    gpu.wait()
}

criterion_group!(benches, upload);
criterion_main!(benches);
