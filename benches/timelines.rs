//! Key search within a sample: timelines with even key times, and with uneven ones whose key hints are
//! right (forwards), one interval off (backwards), or useless (random).

mod common;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use phalanx::build::build_rig;
use phalanx::clip::Cursor;
use phalanx::import::raw::{
    Interpolation, RawChannel, RawClip, RawNode, RawScene, RawSkin, RawTrack,
};
use phalanx::rig::Rig;
use phalanx::runtime::SampleJob;
use phalanx::skeleton::Trs;
use phalanx_workload::hash01;
use std::hint::black_box;

/// Four blocks of lanes, each with its own key times.
const JOINTS: usize = 64;
const LANES: usize = 16;
/// Number of keys, a hundred per second for 20 s: a binary search takes eleven steps.
const KEYS: usize = 2_000;
const SECONDS: f32 = 20.0;

/// A rig whose joints all rotate. `uneven` moves each key by up to this fraction of an interval.
fn rig(uneven: f64) -> Rig {
    let track = |node: usize| {
        let block = node / LANES;
        let time = |key: usize| {
            let place = if key == 0 || key == KEYS - 1 {
                key as f64
            } else {
                key as f64 + uneven * hash01((block * KEYS + key) as u64)
            };
            (place / (KEYS - 1) as f64 * f64::from(SECONDS)) as f32
        };
        let value = |key: usize| {
            let angle = 0.5 * (key as f32 * 0.01 + node as f32).sin();
            [angle.sin(), 0.0, 0.0, angle.cos()]
        };
        RawTrack {
            node,
            channel: RawChannel::Rotation,
            interpolation: Interpolation::Linear,
            times: (0..KEYS).map(time).collect(),
            values: (0..KEYS).flat_map(value).collect(),
        }
    };
    let identity = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    let scene = RawScene {
        name: "chain".into(),
        nodes: (0..JOINTS)
            .map(|i| RawNode {
                source: i,
                parent: i.checked_sub(1),
                local: Trs::IDENTITY,
                ..RawNode::default()
            })
            .collect(),
        skins: vec![RawSkin {
            name: None,
            joints: (0..JOINTS).collect(),
            inverse_bind: vec![identity; JOINTS],
        }],
        clips: vec![RawClip {
            duration: SECONDS,
            tracks: (0..JOINTS).map(track).collect(),
            ..RawClip::default()
        }],
        scenes: vec![vec![0]],
        default_scene: Some(0),
        ..RawScene::default()
    };
    build_rig(scene, &Default::default()).expect("a chain of joints is a rig")
}

fn samples(c: &mut Criterion) {
    // In frame steps forwards and backwards, and at random times.
    let frame = |pass: u64| pass as f32 / 60.0 % SECONDS;
    let orders: [(&str, &dyn Fn(u64) -> f32); 3] = [
        ("forwards", &frame),
        ("backwards", &|pass| SECONDS - frame(pass)),
        ("random", &|pass| hash01(pass) as f32 * SECONDS),
    ];
    for (name, uneven) in [("regular", 0.0), ("irregular", 0.9)] {
        let rig = rig(uneven);
        let clip = &rig.clips()[0];
        assert_eq!(clip.hint_count() > 0, uneven > 0.0, "{name} timelines");
        println!("{name}: {} timelines", clip.timelines().len());
        let mut hints = vec![0; clip.hint_count()];
        let mut cursors = vec![Cursor::default(); clip.timelines().len()];
        let mut output = rig.skeleton().rest_pose().clone();
        let mut group = c.benchmark_group(format!("timelines/{name}"));
        for (order, time) in &orders {
            let mut pass = 0;
            group.bench_function(BenchmarkId::from_parameter(order), |b| {
                b.iter(|| {
                    pass += 1;
                    let job = SampleJob {
                        skeleton: rig.skeleton(),
                        clip,
                        time: time(pass),
                        hints: &mut hints,
                        cursors: &mut cursors,
                        output: &mut output,
                    };
                    job.run().expect("the buffers fit");
                    black_box(&mut output);
                });
            });
        }
        group.finish();
    }
}

criterion_group!(benches, samples);
criterion_main!(benches);
