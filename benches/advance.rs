//! `Crowd::advance` of a million steady characters: each plays one clip without end, from a phase and at a speed of its
//! own, and nothing fades. By what is listened to, and by threads. `--test` takes a small crowd.

use criterion::{BenchmarkId, Criterion, Throughput};
use phalanx::crowd::{Crowd, MAX_INSTANCES, PlayOptions};
use phalanx::playback::EventKinds;
use phalanx_workload::hash01;
use std::sync::Arc;
use std::time::Duration;

const FRAME: f64 = 1.0 / 60.0;

/// A crowd of the built-in character, after the step that visits all.
fn crowd(count: usize, kinds: EventKinds) -> Crowd {
    let rig = Arc::new(phalanx::import::mannequin().expect("the built-in character is valid"));
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig.clone()).expect("the rig fits");
    let clips: Vec<_> = (0..rig.clips().len())
        .filter_map(|clip| crowd.clip_by_index(id, clip))
        .collect();
    let mut all = Vec::new();
    let spawned = crowd.spawn_many(id, count, &mut all);
    spawned.expect("there is room");
    for (n, &instance) in all.iter().enumerate() {
        let random = |k: usize| hash01((8 * n + k) as u64);
        let options = PlayOptions {
            time: 10.0 * random(0),
            speed: (0.8 + 0.4 * random(1)) as f32,
            ..PlayOptions::default()
        };
        let played = crowd.play(instance, clips[n % clips.len()], &options);
        played.expect("the clip is of the rig");
    }
    crowd.listen(id, kinds).expect("the rig is known");
    for _ in 0..4 {
        crowd.advance(FRAME).expect("a valid time step");
    }
    crowd
}

fn main() {
    let test = std::env::args().any(|a| a == "--test");
    let count = if test {
        1000
    } else {
        MAX_INSTANCES.min(1_000_000)
    };
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group(format!("advance/{count}"));
    group
        .sample_size(20)
        .throughput(Throughput::Elements(count as u64))
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2));
    let markers = EventKinds {
        markers: true,
        ..EventKinds::NONE
    };
    let listened = [
        ("all", EventKinds::ALL),
        ("markers", markers),
        ("nothing", EventKinds::NONE),
    ];
    for (name, kinds) in listened {
        let mut crowd = crowd(count, kinds);
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.expect("threads can be started");
            group.bench_function(BenchmarkId::new(name, threads), |b| {
                pool.install(|| b.iter(|| crowd.advance(FRAME).expect("a valid time step")));
            });
        }
    }
    group.finish();
    criterion.final_summary();
}
