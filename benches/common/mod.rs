//! Shared by the benchmarks: the subject, its set-up (that of `phalanx bench`), and the levels.

// Every benchmark includes the whole module and uses its own part of it.
#![allow(dead_code)]

#[path = "../../src/bin/phalanx/bench/sampling.rs"]
pub mod sampling;
#[path = "../../src/bin/phalanx/bench/stages.rs"]
pub mod stages;
#[path = "../../src/bin/phalanx/bench/subject.rs"]
pub mod subject;
#[path = "../../src/bin/phalanx/bench/textbook.rs"]
pub mod textbook;
#[path = "../../src/bin/phalanx/bench/tutorial.rs"]
pub mod tutorial;

use criterion::{BenchmarkId, Criterion};
use phalanx::math::SimdLevel;
use stages::{BookJobs, Jobs, Stage};
use std::path::{Path, PathBuf};
use std::time::Duration;
use subject::{Choice, Subject};
use textbook::Textbook;

/// A test model, if it is there: in `PHALANX_ASSETS`, else in `../shared/assets` or `assets`.
pub fn asset(name: &str) -> Option<PathBuf> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = match std::env::var_os("PHALANX_ASSETS") {
        Some(folder) if !folder.is_empty() => vec![PathBuf::from(folder)],
        _ => vec![package.join("../shared/assets"), package.join("assets")],
    };
    let mut paths = folders.into_iter().map(|folder| folder.join(name));
    paths.find(|path| path.is_file())
}

/// `pab.glb` where the test models are, else the built-in character.
pub fn subject() -> Subject {
    let subject = Subject::load(asset("pab.glb").as_deref(), &Choice::default());
    let subject = subject.expect("the model can be measured");
    println!("subject: {}", subject.name);
    subject
}

/// Runs `each` at every level of this machine; the best one is in force afterwards.
pub fn at_levels(mut each: impl FnMut(SimdLevel)) {
    for level in SimdLevel::supported() {
        level.set().expect("the level is supported");
        each(level);
    }
}

/// One job of one character that stays in the cache, at every level, and the textbook's way of doing it.
pub fn stage(c: &mut Criterion, stage: Stage) {
    let subject = subject();
    let mut jobs = Jobs::new(&subject).expect("the jobs take their buffers");
    let mut group = c.benchmark_group(stage.name());
    group
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
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
