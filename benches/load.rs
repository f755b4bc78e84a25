//! Opening libraries, read and mapped: opening and validating all clips, opening files with many clips, and
//! reading single clips. The files are in the page cache, so disk speed is not measured. `resident.rs` measures
//! memory.

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use phalanx::bake::{BakeOptions, bake};
use phalanx::clip::Clip;
use phalanx::format::{ClipForm, Library, LibraryWriter, Provenance};
use phalanx::import::mannequin;
use phalanx::rig::Rig;
use rayon::ThreadPoolBuilder;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A way to open a file, and its name.
type Way = (&'static str, fn(&Path) -> Library);

const WAYS: [Way; 2] = [
    ("read", |path| Library::open(path).expect("the file was just written")),
    ("mapped", |path| {
        // SAFETY: this benchmark has written the file and removes it when no library is left.
        let library = unsafe { Library::open_mapped(path) };
        library.expect("the file was just written")
    }),
];

/// Writes a library of `count` clips, cycling through `clips`.
fn write(path: &Path, rig: &Rig, clips: &[Arc<Clip>], count: usize, form: ClipForm) {
    let file = File::create(path).expect("the folder can be written");
    let mut writer = LibraryWriter::new(BufWriter::new(file), rig.skeleton()).expect("it fits");
    for i in 0..count {
        let clip = &clips[i % clips.len()];
        let name = format!("{} {i}", clip.name());
        writer.add_clip(clip, &name, form).expect("it fits");
    }
    writer.finish(&Provenance::default()).expect("it fits");
}

fn load(c: &mut Criterion) {
    let rig = mannequin().expect("the built-in character loads");
    let options = BakeOptions::default();
    let baked = rig.clips().iter().map(|clip| bake(clip, rig.skeleton(), &options));
    let baked = baked.map(|b| Arc::new(b.expect("the clips fit").0));
    let baked: Vec<Arc<Clip>> = baked.collect();
    let shortest = baked.iter().min_by_key(|c| c.bytes()).expect("eleven clips");
    let small = std::slice::from_ref(shortest);
    let folder = std::env::temp_dir().join(format!("phalanx-load-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("the temporary folder can be written");
    let files: Vec<(String, PathBuf)> = ClipForm::ALL
        .into_iter()
        .flat_map(|form| {
            [("exact", rig.clips(), 1_000), ("baked", &baked[..], 1_000), ("small", small, 10_000)]
                .map(|(kind, clips, count)| {
                    let name = format!("{count} {kind} clips, {}", form.name());
                    let path = folder.join(&name);
                    write(&path, &rig, clips, count, form);
                    (name, path)
                })
        })
        .collect();
    let pool = |threads| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("threads can be started")
    };
    for threads in [1, 0] {
        let pool = pool(threads);
        let place = if threads == 1 { "one thread" } else { "all threads" };
        let mut group = c.benchmark_group(format!("open and validate, {place}"));
        group.sample_size(10);
        for (name, path) in &files {
            let bytes = fs::metadata(path).expect("the file was just written").len();
            group.throughput(Throughput::Bytes(bytes));
            for (way, open) in WAYS {
                group.bench_function(BenchmarkId::new(way, name), |b| {
                    b.iter(|| {
                        let clips = pool.install(|| open(path).clips());
                        clips.expect("the file was just written")
                    });
                });
            }
        }
        group.finish();
    }
    let mut group = c.benchmark_group("open");
    group.sample_size(10);
    for (name, path) in &files {
        for (way, open) in WAYS {
            group.bench_function(BenchmarkId::new(way, name), |b| b.iter(|| open(path)));
        }
    }
    group.finish();
    // One clip of many, as streaming reads them.
    let mut group = c.benchmark_group("one clip");
    for (name, path) in &files {
        for (way, open) in WAYS {
            let library = open(path);
            let mut next = 0;
            group.bench_function(BenchmarkId::new(way, name), |b| {
                let turn = || {
                    next = (next + 7) % library.clip_count();
                    next
                };
                b.iter_batched(turn, |c| library.clip(c), BatchSize::SmallInput);
            });
        }
    }
    group.finish();
    fs::remove_dir_all(&folder).expect("the folder was created above");
}

criterion_group!(benches, load);
criterion_main!(benches);
