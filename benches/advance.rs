//! `Crowd::advance` of a million steady characters: each plays one clip without end, from a phase and at a speed of its
//! own, and nothing fades. By what is listened to, and by threads. Then the same out of the picture, of a rig whose root
//! motion is tracked or not. `--test` takes a small crowd.

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput};
use phalanx::build::RootMotionOptions;
use phalanx::crowd::{BoneBuffer, Crowd, MAX_INSTANCES, PlayOptions, RigId, Tiers, View};
use phalanx::import::{ImportOptions, mannequin_with};
use phalanx::playback::EventKinds;
use phalanx_workload::hash01;
use std::sync::Arc;
use std::time::Duration;

const FRAME: f64 = 1.0 / 60.0;

/// A crowd of the built-in character. If it travels, its root motion is extracted, and only clips with such motion play.
fn crowd(count: usize, travels: bool) -> (Crowd, RigId) {
    let options = ImportOptions {
        root_motion: travels.then(RootMotionOptions::default),
        ..ImportOptions::default()
    };
    let rig = Arc::new(mannequin_with(&options).expect("the built-in character is valid"));
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig.clone()).expect("the rig fits");
    let clips: Vec<_> = (0..rig.clips().len())
        .filter(|&clip| !travels || rig.clips()[clip].root_motion().is_some())
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
    (crowd, id)
}

/// The steps that visit all.
fn settle(crowd: &mut Crowd) {
    for _ in 0..4 {
        crowd.advance(FRAME).expect("a valid time step");
    }
}

/// A crowd that is listened to.
fn listened(count: usize, kinds: EventKinds) -> Crowd {
    let (mut crowd, id) = crowd(count, false);
    crowd.set_event_filter(id, kinds).expect("the rig is known");
    settle(&mut crowd);
    crowd
}

/// A crowd of which no view shows anybody: nothing is evaluated, and nothing is listened to.
fn unseen(count: usize, tracked: bool) -> Crowd {
    let (mut crowd, id) = crowd(count, true);
    crowd.set_event_filter(id, EventKinds::NONE).expect("the rig is known");
    crowd.track_root_motion(id, tracked).expect("the rig is known");
    crowd.set_tiers(Some(Tiers::default())).expect("the default tiers are valid");
    // A square kilometre away.
    let away = glam::Mat4::from_scale(glam::Vec3::splat(0.001))
        * glam::Mat4::from_translation(glam::Vec3::X * 1e4);
    let view = View { clip_from_world: away.to_cols_array_2d(), height: 1080.0, shadows: false };
    crowd.set_views(&[view]).expect("the view is valid");
    settle(&mut crowd);
    let evaluated = crowd.evaluate(&mut BoneBuffer::new());
    assert_eq!(evaluated.instances, 0, "an instance is in the picture");
    let moved = crowd.root_motion(id).expect("the rig is known");
    assert_eq!(moved.instances.len(), if tracked { count } else { 0 });
    crowd
}

/// Steps of a crowd, by threads.
fn steps(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, mut crowd: Crowd) {
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.expect("threads can be started");
        group.bench_function(BenchmarkId::new(name, threads), |b| {
            pool.install(|| b.iter(|| crowd.advance(FRAME).expect("a valid time step")));
        });
    }
}

/// A group of benchmarks of crowds of so many.
fn group(criterion: &mut Criterion, name: String, count: usize) -> BenchmarkGroup<'_, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group
        .sample_size(20)
        .throughput(Throughput::Elements(count as u64))
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2));
    group
}

fn main() {
    let test = std::env::args().any(|a| a == "--test");
    let count = if test { 1000 } else { MAX_INSTANCES.min(1_000_000) };
    let mut criterion = Criterion::default().configure_from_args();
    let markers = EventKinds { markers: true, ..EventKinds::NONE };
    let kinds = [("all", EventKinds::ALL), ("markers", markers), ("nothing", EventKinds::NONE)];
    let mut by_kinds = group(&mut criterion, format!("advance/{count}"), count);
    for (name, kinds) in kinds {
        steps(&mut by_kinds, name, listened(count, kinds));
    }
    by_kinds.finish();
    let name = format!("advance/{count}/unseen root motion");
    let mut roots = group(&mut criterion, name, count);
    for (name, tracked) in [("tracked", true), ("not tracked", false)] {
        steps(&mut roots, name, unseen(count, tracked));
    }
    roots.finish();
    criterion.final_summary();
}
