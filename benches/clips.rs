//! A frame of a crowd by the number of clips that it plays: what the bytes of f32 rows and of 16-bit keys
//! cost once they outgrow the caches. One thread; the rows lie in a library's bytes.
//!
//! Runs on `pab.glb` where the models are (`PHALANX_ASSETS`, else `../shared/assets`), else on the
//! built-in character.

mod common;

use common::subject::Subject;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use phalanx::clip::Clip;
use phalanx::crowd::{BoneBuffer, Crowd, PlayOptions};
use phalanx::format::{ClipForm, Library, LibraryWriter, Provenance, RigOptions};
use phalanx::offline::{BakeSettings, bake};
use phalanx::rig::Rig;
use std::io::Cursor;
use std::sync::Arc;
use std::time::Duration;

const FRAME: f64 = 1.0 / 60.0;
const CHARACTERS: usize = 4_000;

/// The character with so many clips, each in a place of its own.
fn rig_of(rig: &Rig, clips: &[Arc<Clip>], count: usize) -> Arc<Rig> {
    let memory = Cursor::new(Vec::new());
    let mut writer = LibraryWriter::new(memory, rig.skeleton()).expect("memory takes bytes");
    writer.add_rig(rig).expect("the rig has this skeleton");
    for i in 0..count {
        let clip = &clips[i % clips.len()];
        let name = format!("{} {i}", clip.name());
        let added = writer.add_clip(clip, &name, ClipForm::Rows);
        added.expect("the clip has this skeleton");
    }
    let file = writer.finish(&Provenance::default()).expect("it fits");
    let library = Library::from_bytes(&file.into_inner()).expect("it was written");
    let options = RigOptions {
        images: false,
        ..RigOptions::default()
    };
    Arc::new(library.rig(options).expect("it was written"))
}

/// Every character plays one clip or, if `two`, half of it and half of the next; neighbours play others.
fn crowd_of(rig: &Arc<Rig>, two: bool) -> Crowd {
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig.clone()).expect("the rig fits");
    let count = rig.clips().len();
    for i in 0..CHARACTERS {
        let one = crowd.spawn(id).expect("there is room");
        for k in 0..1 + usize::from(two) {
            let index = (i * 7_919 + k) % count;
            let clip = crowd.clip_by_index(id, index);
            let clip = clip.expect("it is one of the rig's");
            let duration = f64::from(rig.clips()[index].duration());
            let options = PlayOptions {
                time: (i * 7 + k * 3) as f64 * 0.377 % duration,
                weight: if two { 0.5 } else { 1.0 },
                ..PlayOptions::default()
            };
            let added = crowd.add_action(one, 0, clip, &options);
            added.expect("the clip is the rig's");
        }
    }
    crowd
}

fn frames(c: &mut Criterion) {
    let subject: Subject = common::subject();
    let rig = &subject.rig;
    let exact: Vec<Arc<Clip>> = subject.clips.clips.map(|i| rig.clips()[i].clone()).into();
    let baked = exact.iter().map(|clip| {
        let baked = bake(clip, rig.skeleton(), &BakeSettings::default());
        Arc::new(baked.expect("the clip fits").0)
    });
    let baked: Vec<Arc<Clip>> = baked.collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.expect("a thread can be started");
    for two in [false, true] {
        let name = if two { "two clips each" } else { "a clip each" };
        let mut group = c.benchmark_group(format!("{CHARACTERS} characters, {name}"));
        group
            .sample_size(20)
            .warm_up_time(Duration::from_millis(500))
            .measurement_time(Duration::from_secs(2));
        for count in [3usize, 30, 300, 3_000] {
            group.throughput(Throughput::Elements(CHARACTERS as u64));
            for (kind, clips) in [("f32 rows", &exact), ("16 bits", &baked)] {
                let rig = rig_of(rig, clips, count);
                let bytes: usize = rig.clips().iter().map(|c| c.bytes()).sum();
                println!("{count} clips, {kind}: {:.1} MB", bytes as f64 * 1e-6);
                let mut crowd = crowd_of(&rig, two);
                let mut buffer = BoneBuffer::new();
                group.bench_function(BenchmarkId::new(kind, count), |b| {
                    pool.install(|| {
                        b.iter(|| {
                            crowd.advance(FRAME).expect("a short step");
                            crowd.evaluate(&mut buffer)
                        });
                    });
                });
            }
        }
        group.finish();
    }
}

criterion_group!(benches, frames);
criterion_main!(benches);
