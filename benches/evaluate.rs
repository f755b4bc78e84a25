//! A frame of a crowd: advance and evaluate, per workload, crowd size and SIMD level, one thread,
//! beside the textbook pipeline.
//!
//! Runs on `pab.glb` where the models are (`PHALANX_ASSETS`, else `../shared/assets`), else on the
//! built-in character.

#[path = "../tests/textbook/mod.rs"]
mod textbook;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use glam::Mat4;
use phalanx::crowd::{BoneBuffer, Workload, WorkloadClips};
use phalanx::math::SimdLevel;
use phalanx::offline::gltf::{read_path, read_slice};
use phalanx::offline::raw::RawScene;
use phalanx::offline::{ImportOptions, MANNEQUIN, build_additive, build_rig};
use phalanx::playback::{PoseAction, evaluate_pose};
use phalanx::rig::Rig;
use phalanx::skeleton::{JointMask, Trs};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use textbook::Textbook;

/// The rig, its raw data, and the clips of the workloads.
fn subject() -> (Arc<Rig>, RawScene, WorkloadClips) {
    let folder = std::env::var_os("PHALANX_ASSETS").map(PathBuf::from);
    let folder =
        folder.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/assets"));
    let path = folder.join("pab.glb");
    let options = ImportOptions::default();
    let (raw, names, extra) = if path.exists() {
        let (raw, _) = read_path(&path, &options).expect("pab.glb imports");
        (raw, ["walk", "jog", "run"], "atlas")
    } else {
        let (name, bytes) = MANNEQUIN[0];
        let (raw, _) = read_slice(bytes, name, None, &options).expect("the mannequin imports");
        (raw, ["Walk", "Jog", "Run"], "Wave")
    };
    println!("subject: {}", raw.name);
    let rig = build_rig(raw.clone(), &Default::default()).expect("the model makes a rig");
    let find = |name: &str| rig.find_clip(name).expect("the clip is there");
    let extra = find(extra);
    let reference = PoseAction {
        clip: extra,
        time: 0.0,
        weight: 1.0,
    };
    let reference = evaluate_pose(&rig, &[reference]).expect("a pose of the rig");
    let additive = build_additive(&raw, extra, &rig, &reference.pose).expect("an additive clip");
    let spine = rig.skeleton().find("Spine1").expect("a joint Spine1");
    let clips = WorkloadClips {
        clips: names.map(find),
        additive: Some(Arc::new(additive)),
        mask: JointMask::subtree(rig.skeleton(), spine).ok(),
    };
    (Arc::new(rig), raw, clips)
}

fn frames(c: &mut Criterion) {
    let (rig, raw, clips) = subject();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .expect("a pool of one");
    for workload in Workload::ALL {
        let mut group = c.benchmark_group(format!("{workload:?}"));
        group
            .sample_size(10)
            .warm_up_time(Duration::from_millis(300))
            .measurement_time(Duration::from_millis(700));
        for count in [1usize, 1_000, 10_000] {
            group.throughput(Throughput::Elements(count as u64));
            for level in SimdLevel::supported() {
                let id = BenchmarkId::new(level.name(), count);
                group.bench_function(id, |b| {
                    level.set().expect("the level is supported");
                    let (mut crowd, _) = workload
                        .crowd(rig.clone(), &clips, count)
                        .expect("the crowd takes its rig");
                    let mut buffer = BoneBuffer::new();
                    pool.install(|| {
                        b.iter(|| {
                            crowd.advance(1.0 / 60.0).expect("a short step");
                            crowd.evaluate(&mut buffer)
                        });
                    });
                });
            }
        }
        let id = BenchmarkId::new("textbook", 1_000);
        group.throughput(Throughput::Elements(1_000));
        group.bench_function(id, |b| textbook_frames(b, &raw, workload, &clips));
        group.finish();
    }
    SimdLevel::best()
        .set()
        .expect("the best level is supported");
}

/// The same poses (without the additive layer), as tutorials write it.
fn textbook_frames(
    b: &mut criterion::Bencher<'_>,
    raw: &RawScene,
    workload: Workload,
    clips: &WorkloadClips,
) {
    let book = Textbook::new(raw, 0).expect("tracks without splines");
    let mut pose = vec![Trs::IDENTITY; book.joints()];
    let mut other = pose.clone();
    let mut world = vec![Mat4::IDENTITY; book.joints()];
    let mut palettes = vec![Mat4::IDENTITY; book.slots() * 1_000];
    let mut time = 0.0f32;
    b.iter(|| {
        time += 1.0 / 60.0;
        for (i, palette) in palettes.chunks_exact_mut(book.slots()).enumerate() {
            for k in 0..workload.actions() {
                let clip = clips.clips[(i + k) % 3];
                let t = (time + i as f32 * 0.37 + k as f32 * 0.11) % raw.clips[clip].duration;
                if k == 0 {
                    book.sample(clip, t, &mut pose);
                } else {
                    book.sample(clip, t, &mut other);
                    Textbook::blend(&mut pose, &other, 1.0 / (k + 1) as f32);
                }
            }
            book.palette(&pose, &mut world, palette);
        }
    });
}

criterion_group!(benches, frames);
criterion_main!(benches);
