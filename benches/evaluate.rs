//! A frame of a crowd, advance and evaluate, by workload, crowd size, number of threads and SIMD level,
//! beside the textbook pipeline.
//!
//! Uses `pab.glb` if the test models are available (`PHALANX_ASSETS`, else `../shared/assets`), otherwise the
//! built-in character.

mod common;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use phalanx::crowd::BoneBuffer;
use phalanx_workload::Workload;
use phalanx_workload::textbook::Textbook;
use phalanx_workload::tutorial::Tutorial;
use std::hint::black_box;
use std::time::Duration;

const FRAME: f64 = 1.0 / 60.0;

fn frames(c: &mut Criterion) {
    let subject = common::subject();
    let book = Textbook::new(&subject.raw).expect("a model without splines");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut pools = Vec::new();
    for threads in if cores > 1 { vec![1, cores] } else { vec![1] } {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pools.push(pool.expect("threads can be started"));
    }
    for workload in Workload::ALL {
        for pool in &pools {
            let threads = pool.current_num_threads();
            let mut group = c.benchmark_group(format!("{workload:?}/{threads} threads"));
            group
                .sample_size(10)
                .warm_up_time(Duration::from_millis(300))
                .measurement_time(Duration::from_millis(700));
            for count in [1usize, 1_000, 10_000] {
                group.throughput(Throughput::Elements(count as u64));
                common::at_levels(|level| {
                    group.bench_function(BenchmarkId::new(level.name(), count), |b| {
                        let (mut crowd, _) = workload
                            .crowd(subject.rig.clone(), &subject.clips, count)
                            .expect("the crowd accepts its rig");
                        let mut buffer = BoneBuffer::new();
                        pool.install(|| {
                            b.iter(|| {
                                crowd.advance(FRAME).expect("a valid time step");
                                crowd.evaluate(&mut buffer)
                            });
                        });
                    });
                });
                group.bench_function(BenchmarkId::new("textbook", count), |b| {
                    let mut tutorial = Tutorial::new(&book, &subject, workload, count);
                    pool.install(|| {
                        b.iter(|| {
                            tutorial.frame(FRAME as f32);
                            black_box(tutorial.palettes());
                        });
                    });
                });
            }
            group.finish();
        }
    }
}

criterion_group!(benches, frames);
criterion_main!(benches);
