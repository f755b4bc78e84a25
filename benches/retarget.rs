//! Retargeting onto the built-in character: the walk of `pab.glb`, and takes of ten minutes in which all joints
//! rotate, at 30 and at 100 keys per second. One thread; the clip is built, nothing is baked.
//!
//! Uses `pab.glb` if the test models are available (`PHALANX_ASSETS`, else `../shared/assets`), otherwise the
//! built-in character.

mod common;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use phalanx::retarget::{HumanoidMap, RetargetOptions, Retargeting, mirror};
use phalanx::rig::Rig;
use phalanx_workload::live::{ClipSource, LONG_RATE, long_clips};
use std::time::Duration;

/// Seconds of a take.
const TAKE: f64 = 600.0;
/// Keys per second of the takes.
const RATES: [f64; 2] = [30.0, 100.0];

fn ready(from: &Rig, to: &Rig) -> Retargeting {
    let maps = [from, to].map(|rig| HumanoidMap::of_rig(rig).expect("the model is a humanoid"));
    let sides = ((from.skeleton(), &maps[0]), (to.skeleton(), &maps[1]));
    Retargeting::new(sides.0, sides.1, RetargetOptions::default()).expect("the maps fit")
}

fn retargets(c: &mut Criterion) {
    let subject = common::subject();
    let onto = phalanx::import::mannequin().expect("the built-in character");
    let walk = &subject.rig.clips()[subject.clips.clips[0]];
    let retargeting = ready(&subject.rig, &onto);
    let mut group = c.benchmark_group("retarget");
    group.bench_function("walk", |b| {
        b.iter(|| retargeting.retarget(walk).expect("the clip fits"));
    });
    group.bench_function("walk, with the set-up", |b| {
        b.iter(|| ready(&subject.rig, &onto).retarget(walk).expect("the clip fits"));
    });
    let map = HumanoidMap::of_rig(&subject.rig).expect("the model is a humanoid");
    group.bench_function("walk, mirrored", |b| {
        b.iter(|| mirror(walk, subject.rig.skeleton(), &map).expect("the clip fits"));
    });
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(8));
    let source = ClipSource::new(&subject.rig);
    for rate in RATES {
        // Keys cost by their number, not by their distance.
        let seconds = TAKE * rate / LONG_RATE;
        let rig = long_clips(&source, &subject.clips.clips[..1], seconds);
        let rig = rig.expect("the model has the clip");
        let retargeting = ready(&rig, &onto);
        group.throughput(Throughput::Elements((TAKE * rate) as u64));
        group.bench_function(BenchmarkId::new("ten minutes", rate), |b| {
            b.iter(|| retargeting.retarget(&rig.clips()[0]).expect("the clip fits"));
        });
    }
    group.finish();
}

criterion_group!(benches, retargets);
criterion_main!(benches);
