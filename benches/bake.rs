//! Baking by the length of a clip, in raw bytes (40 per joint and frame): clips in which all joints rotate, at 30
//! frames per second. One thread.
//!
//! Uses `pab.glb` if the test models are available (`PHALANX_ASSETS`, else `../shared/assets`), otherwise the
//! built-in character.

mod common;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use phalanx::bake::{BakeOptions, bake};
use phalanx_workload::live::{ClipSource, LONG_RATE, long_clips};
use std::time::Duration;

const FRAMES: [usize; 3] = [41, 1_001, 18_001];
/// Bytes of raw data per joint and frame.
const RAW_BYTES: usize = 40;

fn bakes(c: &mut Criterion) {
    let subject = common::subject();
    let source = ClipSource::new(&subject.rig);
    let options = BakeOptions::default();
    let mut group = c.benchmark_group("bake");
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(4));
    for frames in FRAMES {
        let seconds = (frames - 1) as f64 / LONG_RATE;
        let rig = long_clips(&source, &subject.clips.clips[..1], seconds);
        let rig = rig.expect("the model has the clip");
        let raw = rig.skeleton().len() * frames * RAW_BYTES;
        group.throughput(Throughput::Bytes(raw as u64));
        group.bench_function(BenchmarkId::from_parameter(frames), |b| {
            b.iter(|| bake(&rig.clips()[0], rig.skeleton(), &options).expect("the clip fits"));
        });
    }
    group.finish();
}

criterion_group!(benches, bakes);
criterion_main!(benches);
