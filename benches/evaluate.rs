//! A frame of a crowd, advance and evaluate, by workload, crowd size, number of threads and SIMD level,
//! beside the textbook pipeline; and the built-in character with and without what its coarsest level leaves out.
//!
//! Uses `pab.glb` if the test models are available (`PHALANX_ASSETS`, else `../shared/assets`), otherwise the
//! built-in character.

mod common;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use phalanx::clip::{Block, Channel};
use phalanx::crowd::BoneBuffer;
use phalanx::rig::DetailOptions;
use phalanx::skeleton::JointRef;
use phalanx_workload::subject::{Subject, SubjectOptions};
use phalanx_workload::textbook::Textbook;
use phalanx_workload::tutorial::Tutorial;
use phalanx_workload::{Workload, WorkloadClips};
use std::hint::black_box;
use std::sync::Arc;
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

/// The built-in character on one thread: its full rig, beside the details of its coarsest level as the meshes make it
/// and without fingers. It plays its gaits, and the clips that move fingers.
fn details(c: &mut Criterion) {
    let subject = Subject::load(None, &SubjectOptions::default()).expect("the built-in character");
    let rig = Arc::new(phalanx::import::mannequin().expect("the built-in character"));
    let skeleton = rig.skeleton();
    let names = skeleton.names().iter();
    let fingers = names.filter(|n| n.contains("Hand") && !n.ends_with("Hand"));
    let fingers: Vec<JointRef> = fingers.map(JointRef::from).collect();
    let detail = |leave_out: &[JointRef]| {
        let options =
            DetailOptions { level: rig.lod_count() - 1, leave_out, ..DetailOptions::default() };
        rig.detail(&options).expect("a level of the rig")
    };
    let rigs = [
        ("full", rig.clone()),
        ("coarsest", detail(&[])),
        ("coarsest without fingers", detail(&fingers)),
    ];
    let moves_fingers = |clip: &usize| {
        fingers.iter().any(|&finger| {
            let joint = skeleton.joint(finger).expect("a joint of the skeleton");
            let lane = usize::from(skeleton.lane_of()[joint]);
            let mut blocks = rig.clips()[*clip].blocks(Channel::Rotation).iter();
            let here = |b: &&Block| usize::from(b.block) == lane / 16;
            blocks.find(here).is_some_and(|b| b.moving >> (lane % 16) & 1 == 1)
        })
    };
    let hands: Vec<usize> = (0..rig.clips().len()).filter(moves_fingers).collect();
    let hands =
        WorkloadClips { clips: [0, 1, 2].map(|i| hands[i % hands.len()]), ..subject.clips.clone() };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.expect("a thread can be started");
    for (clips, of) in [("gaits", &subject.clips), ("hands", &hands)] {
        for workload in Workload::ALL {
            let mut group = c.benchmark_group(format!("details/{clips}/{workload:?}"));
            group
                .sample_size(10)
                .warm_up_time(Duration::from_millis(200))
                .measurement_time(Duration::from_millis(500))
                .throughput(Throughput::Elements(1_000));
            common::at_levels(|level| {
                for (name, rig) in &rigs {
                    group.bench_function(BenchmarkId::new(level.name(), name), |b| {
                        let (mut crowd, _) = workload
                            .crowd(rig.clone(), of, 1_000)
                            .expect("the crowd accepts its rig");
                        let mut buffer = BoneBuffer::new();
                        pool.install(|| {
                            b.iter(|| {
                                crowd.advance(FRAME).expect("a valid time step");
                                crowd.evaluate(&mut buffer)
                            });
                        });
                    });
                }
            });
            group.finish();
        }
    }
}

criterion_group!(benches, frames, details);
criterion_main!(benches);
