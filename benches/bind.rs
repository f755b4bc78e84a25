//! Laying out 1,000 clips in another lane order, and binding them to a skeleton of the same joints by name. One thread.
//! A key is a key of a block: 16 lanes of one channel. What is counted is the keys of the clips in the other lane order:
//! those that `reorder_lanes` writes and `add_clip` reads, and for binding by name those of the file.
//!
//! Uses `pab.glb` if the test models are available (`PHALANX_ASSETS`, else `../shared/assets`), otherwise the
//! built-in character.

mod common;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use phalanx::clip::{Clip, reorder_lanes};
use phalanx::crowd::Crowd;
use phalanx::retarget::{BindOptions, Binding};
use phalanx::skeleton::{Joint, Skeleton};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Clips of a library.
const CLIPS: usize = 1_000;

/// The skeleton in the opposite lane order; `prefix` stands before its names.
fn turned(skeleton: &Skeleton, prefix: &str) -> Skeleton {
    let joints = skeleton.names().iter().enumerate().map(|(joint, name)| Joint {
        name: format!("{prefix}{name}"),
        parent: Some(usize::from(skeleton.parents()[joint])).filter(|&p| p < joint),
        rest: skeleton.rest(joint),
    });
    let joints: Vec<Joint> = joints.collect();
    let order: Vec<u16> = (0..joints.len() as u16).rev().collect();
    let new = Skeleton::new(&joints, Some(&order), skeleton.scalars().to_vec());
    new.expect("the joints are those of a skeleton")
}

fn binds(c: &mut Criterion) {
    let subject = common::subject();
    let rig = &subject.rig;
    let order: Vec<u16> = (0..rig.skeleton().len() as u16).rev().collect();
    let turned_order = rig.skeleton().in_lane_order(&order).expect("a permutation");
    let own = rig.clips();
    let clip = |n: usize| {
        let clip = own[n % own.len()].as_ref().clone();
        clip.with_name(format!("clip {n}"))
    };
    let clips: Vec<Arc<Clip>> = (0..CLIPS).map(|n| Arc::new(clip(n))).collect();
    let keys: usize = clips.iter().map(|c| c.key_count()).sum();
    // The other order mixes lanes of several timelines, which are split at the union of their key times.
    let laid: Vec<Arc<Clip>> = clips
        .iter()
        .map(|c| reorder_lanes(c, &turned_order, c.reorder_limit()).expect("it fits"))
        .map(Arc::new)
        .collect();
    let laid_keys: usize = laid.iter().map(|c| c.key_count()).sum();
    println!("keys: {keys}, in the other order {laid_keys}");
    let mut group = c.benchmark_group("bind");
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .throughput(Throughput::Elements(laid_keys as u64));
    group.bench_function("reorder_lanes", |b| {
        b.iter(|| {
            let laid = |c: &Arc<Clip>| {
                reorder_lanes(c, &turned_order, c.reorder_limit()).expect("it fits")
            };
            clips.iter().map(|c| laid(c).key_count()).sum::<usize>()
        });
    });
    // As a crowd does it: with the search for a layout that is already there.
    group.bench_function("add_clip", |b| {
        b.iter_custom(|rounds| {
            let mut spent = Duration::ZERO;
            for _ in 0..rounds {
                // A copy has no layouts yet.
                let fresh = Arc::new(phalanx::rig::Rig::clone(rig));
                let mut crowd = Crowd::new();
                let id = crowd.add_rig(fresh).expect("a rig");
                let start = Instant::now();
                for clip in &laid {
                    crowd.add_clip(id, clip.clone()).expect("it is laid out");
                }
                spent += start.elapsed();
            }
            spent
        });
    });
    group.throughput(Throughput::Elements(keys as u64));
    let other = turned(rig.skeleton(), "mixamorig:");
    let binding = Binding::new(rig.skeleton(), &other, &BindOptions::default());
    let binding = binding.expect("the names are the same");
    group.bench_function("by name", |b| {
        b.iter(|| {
            let bound = |c: &Arc<Clip>| binding.clip(c).expect("it binds").clip.key_count();
            clips.iter().map(bound).sum::<usize>()
        });
    });
    group.finish();
}

criterion_group!(benches, binds);
criterion_main!(benches);
