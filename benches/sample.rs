//! Samples one clip with the public job at every SIMD level, beside the textbook pipeline.

mod common;

use criterion::{Criterion, criterion_group, criterion_main};
use phalanx_workload::stages::Stage;

fn jobs(c: &mut Criterion) {
    common::stage(c, Stage::Sample);
}

criterion_group!(benches, jobs);
criterion_main!(benches);
