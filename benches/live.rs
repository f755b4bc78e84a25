//! The living crowd, the cases of `phalanx bench --live`: first the allocations of its frames and the bytes of its
//! state by a counting allocator, then a benchmark of each case. `--test` takes small crowds.
//!
//! Uses `pab.glb` if the test models are available (`PHALANX_ASSETS`, else `../shared/assets`), otherwise the
//! built-in character.

mod common;

use criterion::{BenchmarkId, Criterion, Throughput};
use phalanx::crowd::{BoneBuffer, Crowd, PlayOptions};
use phalanx_testkit::alloc;
use phalanx_workload::live::{Case, FRAME, Group, Kind, Models, Sizes, WARM_UP, groups};
use std::time::Duration;

#[global_allocator]
static ALLOCATOR: alloc::Counting = alloc::Counting;

/// Characters whose state is measured: a power of two, so that arrays that double have no spare room.
const CHARACTERS: usize = 1 << 14;
/// Frames whose allocations are counted.
const FRAMES: usize = 200;

fn cases(c: &mut Criterion, models: &mut Models, all: &[Group]) {
    let pools = [1, 2].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("threads can be started")
    });
    for group in all {
        let mut benchmarks = c.benchmark_group(format!("live/{}", group.name));
        benchmarks
            .sample_size(20)
            .warm_up_time(Duration::from_millis(300))
            .measurement_time(Duration::from_secs(1));
        for case in &group.cases {
            benchmarks.throughput(Throughput::Elements(case.count as u64));
            benchmarks.bench_function(BenchmarkId::from_parameter(case), |b| {
                let mut scene = case.scene(models).expect("the crowd accepts its rig");
                pools[case.threads - 1].install(|| {
                    b.iter_custom(|frames| {
                        let mut counted = Duration::ZERO;
                        for _ in 0..frames {
                            let times = scene.timed_frame().expect("the frame ran before");
                            counted += case.counted(&times);
                        }
                        counted
                    });
                });
            });
        }
        benchmarks.finish();
    }
}

/// Prints the allocations of each case's frames, once it has run for a while.
fn allocations(models: &mut Models, all: &[Group], frames: usize) {
    println!("allocations per frame, mean of {frames} frames after {WARM_UP}:");
    let mut seen: Vec<Case> = Vec::new();
    for case in all.iter().flat_map(|group| &group.cases) {
        // Clips differ by their memory alone.
        if seen.contains(case) || matches!(case.kind, Kind::AllJoints(60..)) {
            continue;
        }
        seen.push(*case);
        let mut scene = case.scene(models).expect("the crowd accepts its rig");
        let pool = alloc::pool(case.threads);
        let counted = pool.install(|| {
            (0..WARM_UP).for_each(|_| scene.frame().expect("a valid frame"));
            let before = alloc::allocations();
            (0..frames).for_each(|_| scene.frame().expect("a valid frame"));
            alloc::allocations() - before
        });
        println!("  {case}: {:.2}", counted as f64 / frames as f64);
    }
}

/// Prints the bytes that a crowd holds per character: one layer, one clip each, world transforms included, palettes
/// not.
fn state(models: &Models, count: usize) {
    let rig = models.rig();
    let before = alloc::live();
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig.clone()).expect("the rig fits");
    for i in 0..count {
        let instance = crowd.spawn(id).expect("there is room");
        let clip = models.clips().clips[i % 3];
        let clip = crowd.clip_by_index(id, clip).expect("the clip is loaded");
        let played = crowd.play(instance, clip, &PlayOptions::default());
        played.expect("the clip is of the rig");
    }
    let mut palettes = BoneBuffer::new();
    for _ in 0..3 {
        crowd.advance(FRAME).expect("a valid time step");
        crowd.evaluate(&mut palettes);
    }
    drop(palettes);
    let bytes = (alloc::live() - before) as f64 / count as f64;
    println!("state of {count} characters: {bytes:.0} bytes each");
}

fn main() {
    let test = std::env::args().any(|a| a == "--test");
    let (sizes, count, frames) = match test {
        true => (Sizes { count: 200, clips: 30 }, CHARACTERS / 16, FRAMES / 10),
        false => (Sizes::default(), CHARACTERS, FRAMES),
    };
    let subject = common::subject();
    let mut models = Models::new(&subject.rig, &subject.clips);
    let all = groups(&sizes);
    state(&models, count);
    allocations(&mut models, &all, frames);
    let mut criterion = Criterion::default().configure_from_args();
    cases(&mut criterion, &mut models, &all);
    criterion.final_summary();
}
