//! The plaza: 100,000 and 1,000,000 built-in characters around a camera with tiers; allocations and bytes by a counting
//! allocator, the worst of 1,000 frames, everybody at full rate beside a crowd without tiers, then criterion. `--test`
//! takes small crowds.

mod common;

use criterion::{BenchmarkId, Criterion, Throughput};
use phalanx::crowd::{BoneBuffer, CrowdSnapshot, Tier, TierDetail, Tiers};
use phalanx_testkit::alloc;
use phalanx_workload::PARADE;
use phalanx_workload::plaza::{Plaza, PlazaTimes};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: alloc::Counting = alloc::Counting;

/// Heights in pixels down to which levels of detail are drawn.
const LEVELS: [f32; 3] = [110.0, 40.0, 0.0];
/// Frames before the measured ones: all phases of clips have been shown.
const WARM_UP: usize = 600;
/// Frames that are replayed, and how often; the least time per frame counts.
const FRAMES: usize = 1000;
const REPLAYS: usize = 5;

fn plaza(count: usize, tiers: Option<Tiers>) -> Plaza {
    let rig = Arc::new(phalanx::import::mannequin().expect("the built-in character is valid"));
    let clips: Vec<usize> = PARADE.iter().filter_map(|name| rig.find_clip(name)).collect();
    Plaza::new(rig, &clips, count, tiers).expect("the crowd accepts its rig")
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(0.0)
}

/// Runs frames, and returns the times of each.
fn frames(plaza: &mut Plaza, bones: &mut BoneBuffer, count: usize) -> Vec<PlazaTimes> {
    let frame = |_| {
        plaza.direct().expect("valid calls");
        plaza.frame(bones).expect("a valid frame")
    };
    (0..count).map(frame).collect()
}

/// The same frames again and again: the median of the least times per frame, and the worst of them.
fn worst(count: usize, threads: usize, run: (usize, usize, usize)) {
    let (warm_up, length, replays) = run;
    let pool = alloc::pool(threads);
    let (least, allocations, bytes) = pool.install(|| {
        let before = alloc::live();
        let mut scene = plaza(count, Some(Tiers::default()));
        let mut bones = BoneBuffer::new();
        frames(&mut scene, &mut bones, warm_up);
        let bytes = (alloc::live() - before) as f64 - bones.bytes().len() as f64;
        drop((scene, bones));
        let mut least: Vec<PlazaTimes> = Vec::new();
        let mut allocations = 0;
        for _ in 0..replays {
            let mut scene = plaza(count, Some(Tiers::default()));
            let mut bones = BoneBuffer::new();
            frames(&mut scene, &mut bones, warm_up);
            let before = alloc::allocations();
            let now = frames(&mut scene, &mut bones, length);
            // The list of times is one.
            allocations = alloc::allocations() - before - 1;
            if least.is_empty() {
                least.clone_from(&now);
            }
            for (least, now) in least.iter_mut().zip(now) {
                if now.total() < least.total() {
                    *least = now;
                }
            }
        }
        (least, allocations, bytes)
    });
    let of = |part: &dyn Fn(&PlazaTimes) -> f64| median(least.iter().map(part).collect()) / 1e6;
    let total = of(&PlazaTimes::total);
    let worst = least.iter().map(PlazaTimes::total).fold(0.0, f64::max) / 1e6;
    println!(
        "plaza of {count}, {threads} threads: {total:.3} ms (advance {:.3}, schedule {:.3}, evaluate {:.3}), worst \
         {worst:.3} ms = {:.2} of the median; {:.3} allocations a frame; {:.0} B a character beside rows",
        of(&|t| t.advance),
        of(&|t| t.schedule),
        of(&|t| t.evaluate),
        worst / total,
        allocations as f64 / length as f64,
        bytes / count as f64,
    );
}

/// One tier of rate 1 for all.
fn full_rate() -> Option<Tiers> {
    Some(Tiers { tiers: vec![Default::default()], ..Tiers::default() })
}

/// Everybody at full rate, with one tier and without tiers. Where a crowd lies in memory weighs more than the difference,
/// so every crowd runs both ways, some frames at a time, in either order; the medians of three crowds.
fn side_by_side(count: usize, (rounds, length): (usize, usize)) {
    let pool = alloc::pool(1);
    pool.install(|| {
        // By crowd and round: the medians without and with a tier.
        let mut all: Vec<[f64; 2]> = Vec::new();
        let mut crowds: Vec<_> = (0..3)
            .map(|_| (plaza(count, None), BoneBuffer::new()))
            .collect();
        for round in 0..rounds {
            for (scene, bones) in &mut crowds {
                let mut times = [0.0; 2];
                for turn in 0..2 {
                    let with = (turn + round) % 2 == 0;
                    let crowd = scene.crowd_mut();
                    let tiers = if with { full_rate() } else { None };
                    crowd.set_tiers(tiers).expect("valid tiers");
                    if with {
                        crowd.clear_views().expect("there are tiers");
                    }
                    frames(scene, bones, 5);
                    let now = frames(scene, bones, length);
                    let now = now.iter().map(PlazaTimes::total).collect();
                    times[usize::from(with)] = median(now) / 1e6;
                }
                all.push(times);
            }
        }
        let of = |way: usize| median(all.iter().map(|times| times[way]).collect());
        let mut ratios: Vec<f64> = all.iter().map(|[without, with]| with / without).collect();
        ratios.sort_by(f64::total_cmp);
        let at = |quarter: usize| ratios[quarter * (ratios.len() - 1) / 4];
        println!(
            "full rate of {count}, 1 thread: with a tier {:.3} ms, without {:.3} ms; ratios {:.3} (quartiles {:.3}, {:.3})",
            of(1),
            of(0),
            at(2),
            at(1),
            at(3)
        );
    });
}

/// Snapshots of a plaza: taken, written, read, and restored after 8 frames, as rollback does.
fn snapshots(c: &mut Criterion, count: usize, warm_up: usize) {
    let mut scene = plaza(count, Some(Tiers::default()));
    let mut bones = BoneBuffer::new();
    frames(&mut scene, &mut bones, warm_up);
    let saved = scene.crowd().snapshot();
    let bytes = saved.to_bytes();
    println!("a snapshot of {count} has {} bytes", bytes.len());
    let mut group = c.benchmark_group("snapshot");
    group.sample_size(10).throughput(Throughput::Elements(count as u64));
    group.bench_function("take", |b| b.iter(|| scene.crowd().snapshot()));
    group.bench_function("to_bytes", |b| b.iter(|| saved.to_bytes()));
    group.bench_function("from_bytes", |b| b.iter(|| CrowdSnapshot::from_bytes(&bytes)));
    // The restore, and the frame after it.
    for name in ["restore", "frame after"] {
        group.bench_function(name, |b| {
            b.iter_custom(|count| {
                let mut all = Duration::ZERO;
                for _ in 0..count {
                    let saved = scene.crowd().snapshot();
                    frames(&mut scene, &mut bones, 8);
                    let start = Instant::now();
                    scene.crowd_mut().restore(&saved).expect("it is of this crowd");
                    let restored = start.elapsed();
                    let times = frames(&mut scene, &mut bones, 1);
                    all += match name {
                        "restore" => restored,
                        _ => Duration::from_nanos(times[0].total() as u64),
                    };
                }
                all
            });
        });
    }
    group.finish();
}

fn main() {
    // `cargo bench` passes `--bench`, `cargo test` does not.
    let asked = |name: &str| std::env::args().any(|a| a == name);
    let test = asked("--test") || !asked("--bench");
    let (counts, run) = match test {
        true => (vec![500], (10, 10, 1)),
        false => (vec![100_000, 1_000_000], (WARM_UP, FRAMES, REPLAYS)),
    };
    // A filter of criterion's chooses among its own groups.
    let filtered = std::env::args().skip(1).any(|a| !a.starts_with('-'));
    for &count in counts.iter().filter(|_| !filtered) {
        for threads in [2, 1] {
            worst(count, threads, run);
        }
    }
    if !filtered {
        side_by_side(counts[0], if test { (2, 3) } else { (12, 15) });
    }
    let mut c = Criterion::default().configure_from_args();
    let mut group = c.benchmark_group("plaza");
    group
        .sample_size(20)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(3));
    for &count in counts.iter().take(1) {
        group.throughput(Throughput::Elements(count as u64));
        let cases = [
            ("tiers", Some(Tiers::default())),
            ("tiers with details", Some(Tiers::default().with_levels(&LEVELS))),
            (
                "full rate with details",
                Some(Tiers {
                    tiers: vec![Tier {
                        detail: Some(TierDetail { level: 2, ..TierDetail::default() }),
                        ..Tier::default()
                    }],
                    ..Tiers::default()
                }),
            ),
            ("full rate", full_rate()),
            ("without tiers", None),
        ];
        for (name, tiers) in cases {
            let full = !name.starts_with("tiers");
            group.bench_function(BenchmarkId::new(name, count), |b| {
                let mut scene = plaza(count, tiers.clone());
                if full && tiers.is_some() {
                    scene.crowd_mut().clear_views().expect("there are tiers");
                }
                let mut bones = BoneBuffer::new();
                frames(&mut scene, &mut bones, if test || full { 10 } else { WARM_UP });
                let pool = alloc::pool(1);
                pool.install(|| {
                    b.iter_custom(|count| {
                        let mut all = Duration::ZERO;
                        for _ in 0..count {
                            scene.direct().expect("valid calls");
                            let times = scene.frame(&mut bones).expect("a valid frame");
                            all += Duration::from_nanos(times.total() as u64);
                        }
                        all
                    });
                });
            });
        }
    }
    group.finish();
    snapshots(&mut c, counts[0], if test { 10 } else { WARM_UP });
    c.final_summary();
}
