//! Frame time of a crowd by the number of clips it plays: the cost of f32 rows and of 16-bit keys once they
//! outgrow the caches. One thread; the rows are in a library's bytes.
//!
//! Uses `pab.glb` if the test models are available (`PHALANX_ASSETS`, else `../shared/assets`), otherwise the
//! built-in character.

mod common;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use phalanx::bake::{BakeOptions, bake};
use phalanx::clip::Clip;
use phalanx::crowd::{BoneBuffer, Crowd, PlayOptions};
use phalanx::format::{ClipForm, Library, LibraryWriter, Provenance, RigOptions};
use phalanx::rig::Rig;
use phalanx_workload::subject::Subject;
use std::io::Cursor;
use std::sync::Arc;
use std::time::{Duration, Instant};

const FRAME: f64 = 1.0 / 60.0;
const CHARACTERS: usize = 4_000;

/// The character with `count` clips, each stored separately.
fn rig_of(rig: &Rig, clips: &[Arc<Clip>], count: usize) -> Arc<Rig> {
    let memory = Cursor::new(Vec::new());
    let mut writer =
        LibraryWriter::new(memory, rig.skeleton()).expect("writing to memory succeeds");
    writer.add_rig(rig).expect("the rig has this skeleton");
    for i in 0..count {
        let clip = &clips[i % clips.len()];
        let name = format!("{} {i}", clip.name());
        let added = writer.add_clip(clip, &name, ClipForm::Rows);
        added.expect("the clip has this skeleton");
    }
    let file = writer.finish(&Provenance::default()).expect("it fits");
    let library = Library::from_bytes(&file.into_inner()).expect("the file was just written");
    let options = RigOptions { images: phalanx::mesh::ImageMode::Skip, ..RigOptions::default() };
    Arc::new(library.rig(&options).expect("the file was just written"))
}

/// Every character plays one clip, or with `two` a blend of two at half weight; neighbours play others.
fn crowd_of(rig: &Arc<Rig>, two: bool) -> Crowd {
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig.clone()).expect("the rig fits");
    let count = rig.clips().len();
    for i in 0..CHARACTERS {
        let one = crowd.spawn(id).expect("there is room");
        for k in 0..1 + usize::from(two) {
            let index = (i * 7_919 + k) % count;
            let clip = crowd.clip_by_index(id, index);
            let clip = clip.expect("the index is in range");
            let duration = f64::from(rig.clips()[index].duration());
            let options = PlayOptions {
                time: (i * 7 + k * 3) as f64 * 0.377 % duration,
                weight: if two { 0.5 } else { 1.0 },
                ..PlayOptions::default()
            };
            let added = crowd.player(one).and_then(|mut player| player.add(0, clip, &options));
            added.expect("the clip belongs to the rig");
        }
    }
    crowd
}

/// A crowd and its bone buffer.
struct Stage {
    crowd: Crowd,
    buffer: BoneBuffer,
}

impl Stage {
    fn new(rig: &Arc<Rig>, two: bool) -> Self {
        Self { crowd: crowd_of(rig, two), buffer: BoneBuffer::new() }
    }

    fn frame(&mut self) {
        self.crowd.advance(FRAME).expect("a valid time step");
        self.crowd.evaluate(&mut self.buffer);
    }
}

/// Times frames of both alternately, so that other load on the machine affects both equally. Reports the
/// median ratio of 16-bit keys to f32 rows, with its quartiles.
fn in_turns(rigs: &[Arc<Rig>; 2], two: bool) -> String {
    let test = std::env::args().any(|a| a == "--test");
    let (first, turns) = if test { (0, 1) } else { (20, 101) };
    let [mut floats, mut packed] = rigs.each_ref().map(|rig| Stage::new(rig, two));
    let time = |stage: &mut Stage| {
        let start = Instant::now();
        (0..3).for_each(|_| stage.frame());
        start.elapsed().as_secs_f64()
    };
    let mut ratios: Vec<f64> = (0..first + turns)
        .map(|i| {
            // The order alternates from turn to turn.
            if i % 2 == 0 {
                let floats = time(&mut floats);
                time(&mut packed) / floats
            } else {
                let packed = time(&mut packed);
                packed / time(&mut floats)
            }
        })
        .skip(first)
        .collect();
    ratios.sort_by(f64::total_cmp);
    let [low, middle, high] = [25, 50, 75].map(|p| ratios[p * (ratios.len() - 1) / 100]);
    format!("16-bit keys take {middle:.3} of the time of f32 rows ({low:.3} to {high:.3})")
}

fn frames(c: &mut Criterion) {
    let subject: Subject = common::subject();
    let rig = &subject.rig;
    let exact: Vec<Arc<Clip>> = subject.clips.clips.map(|i| rig.clips()[i].clone()).into();
    let baked = exact.iter().map(|clip| {
        let baked = bake(clip, rig.skeleton(), &BakeOptions::default());
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
            let rigs = [&exact, &baked].map(|clips| rig_of(rig, clips, count));
            for (kind, rig) in ["f32 rows", "16 bits"].into_iter().zip(&rigs) {
                let bytes: usize = rig.clips().iter().map(|c| c.bytes()).sum();
                println!("{count} clips, {kind}: {:.1} MB", bytes as f64 * 1e-6);
                let mut stage = Stage::new(rig, two);
                group.bench_function(BenchmarkId::new(kind, count), |b| {
                    pool.install(|| b.iter(|| stage.frame()));
                });
            }
            println!("{name}, {count} clips: {}", pool.install(|| in_turns(&rigs, two)));
        }
        group.finish();
    }
}

criterion_group!(benches, frames);
criterion_main!(benches);
