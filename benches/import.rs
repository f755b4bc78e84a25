//! Import from file bytes to a rig: the built-in character, the test models if available, and a minute of motion
//! capture of 31 joints at 120 Hz. Images are not decoded.

mod common;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use phalanx::import::{ImportOptions, MANNEQUIN, import_slice};
use phalanx_testkit::{capture, trials};

fn imports(c: &mut Criterion) {
    let (name, bytes) = MANNEQUIN[0];
    let mut files = vec![(name, bytes.to_vec())];
    for name in ["pab.glb", "Fox.glb", "bl_manyjoints.glb", "robot.glb"] {
        match trials::asset(name).map(std::fs::read) {
            Some(bytes) => files.push((name, bytes.expect("the model can be read"))),
            None => println!("skipped: {name} is not among the test models"),
        }
    }
    files.push(("capture.bvh", capture::take(31, 7_200, 1.0 / 120.0).into_bytes()));
    let options =
        ImportOptions { images: phalanx::mesh::ImageMode::Skip, ..ImportOptions::default() };
    let mut group = c.benchmark_group("import");
    group.sample_size(20);
    for (name, bytes) in &files {
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function(BenchmarkId::from_parameter(name), |b| {
            b.iter(|| import_slice(bytes, name, None, &options).expect("the model imports"));
        });
    }
    group.finish();
}

criterion_group!(benches, imports);
criterion_main!(benches);
