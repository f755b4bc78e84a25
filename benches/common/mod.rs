//! Shared by the benchmarks: the subject (as in `phalanx bench`) and the SIMD levels.

// Every benchmark includes the whole module but uses only part of it.
#![allow(dead_code)]

use criterion::{BenchmarkId, Criterion};
use phalanx::simd::SimdLevel;
use phalanx_testkit::trials;
use phalanx_workload::stages::{BookJobs, Jobs, Stage};
use phalanx_workload::subject::{Subject, SubjectOptions};
use phalanx_workload::textbook::Textbook;
use std::time::Duration;

/// `pab.glb` if the test models are available, otherwise the built-in character.
pub fn subject() -> Subject {
    let subject = Subject::load(trials::asset("pab.glb").as_deref(), &SubjectOptions::default());
    let subject = subject.expect("the model can be measured");
    println!("subject: {}", subject.name);
    subject
}

/// Calls `each` at every SIMD level that this machine supports; the best one is set last.
pub fn at_levels(mut each: impl FnMut(SimdLevel)) {
    for level in SimdLevel::supported() {
        level.set().expect("the level is supported");
        each(level);
    }
}

/// Benchmarks one job of one character, resident in the cache, at every level, and the textbook's version.
pub fn stage(c: &mut Criterion, stage: Stage) {
    let subject = subject();
    let mut jobs = Jobs::new(&subject).expect("the jobs accept their buffers");
    let mut group = c.benchmark_group(stage.name());
    group.warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    at_levels(|level| {
        group.bench_function(BenchmarkId::from_parameter(level), |b| {
            b.iter(|| jobs.passes(stage, 1).expect("the job ran before"));
        });
    });
    let book = Textbook::new(&subject.raw).expect("a model without splines");
    let mut book = BookJobs::new(&book, &subject);
    group.bench_function(BenchmarkId::from_parameter("textbook"), |b| {
        b.iter(|| book.passes(stage, 1));
    });
    group.finish();
}
