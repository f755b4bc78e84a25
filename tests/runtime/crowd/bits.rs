//! The same bits, whatever was played before, for any number of workers, and from snapshots.

use phalanx::build::build_rig;
use phalanx::crowd::{BoneBuffer, Crowd, CrowdError, PlayOptions};
use phalanx_testkit::chain::{raw, rig};
use phalanx_workload::standard_crowd;
use std::sync::Arc;

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

/// Thousands of sets of clips, so that plans are forgotten and made again, change no bits.
#[test]
fn what_was_played_before_changes_no_bits() {
    let mut scene = raw();
    for n in 0..12 {
        let mut more = scene.clips[n % 3].clone();
        more.name = Some(format!("more{n}"));
        more.tracks.truncate(5 + n);
        scene.clips.push(more);
    }
    let rig = Arc::new(build_rig(scene, &Default::default()).unwrap());
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig).unwrap();
    let clips: Vec<_> = (0..15).map(|c| crowd.clip_by_index(id, c).unwrap()).collect();
    let i = crowd.spawn(id).unwrap();
    let before = crowd.snapshot();
    let mut buffer = BoneBuffer::new();
    let mut play = |crowd: &mut Crowd, set: &[usize]| {
        crowd.player(i).unwrap().stop_layer(0, 0.0).unwrap();
        for &c in set {
            let options = PlayOptions { time: 0.3, weight: 0.31, ..PlayOptions::default() };
            crowd.player(i).unwrap().add(0, clips[c], &options).unwrap();
        }
        crowd.evaluate(&mut buffer);
        buffer.hash()
    };
    let fresh = play(&mut crowd, &[0, 4, 9]);
    for a in 0..15 {
        for b in 0..a {
            for c in 0..b {
                for d in 0..c {
                    play(&mut crowd, &[a, b, c, d]);
                }
            }
        }
    }
    crowd.restore(&before).unwrap();
    assert_eq!(play(&mut crowd, &[0, 4, 9]), fresh);
}

#[test]
fn any_number_of_workers_gives_the_same_bits() {
    let hash = |threads: usize| {
        pool(threads).install(|| {
            let (mut crowd, instances) = standard_crowd(rig(), &[], 500).unwrap();
            crowd.set_visible(instances[7], false).unwrap();
            let mut buffer = BoneBuffer::new();
            for _ in 0..5 {
                crowd.advance(1.0 / 60.0).unwrap();
                crowd.evaluate(&mut buffer);
            }
            buffer.hash()
        })
    };
    let one = hash(1);
    for threads in [2, 7, 32] {
        assert_eq!(hash(threads), one, "{threads} workers");
    }
}

#[test]
fn snapshots_restore_to_the_same_bits() {
    let (mut crowd, instances) = standard_crowd(rig(), &[], 100).unwrap();
    let snapshot = crowd.snapshot();
    let id = instances[0].rig();
    let c = crowd.clip_named(id, "c").unwrap();
    let mut buffer = BoneBuffer::new();
    let run = |crowd: &mut Crowd, buffer: &mut BoneBuffer| {
        let mut hashes = Vec::new();
        for frame in 0..40 {
            if frame == 5 {
                crowd.fade_to(instances[2], c, 0.3, &PlayOptions::default()).unwrap();
                crowd.despawn(instances[9]).unwrap();
                crowd.spawn(id).unwrap();
            }
            crowd.advance(1.0 / 60.0).unwrap();
            crowd.evaluate(buffer);
            hashes.push(buffer.hash());
        }
        hashes
    };
    let first = run(&mut crowd, &mut buffer);
    crowd.restore(&snapshot).unwrap();
    assert_eq!(crowd.snapshot(), snapshot);
    assert_eq!(run(&mut crowd, &mut buffer), first);

    let mut other = Crowd::new();
    assert!(matches!(other.restore(&snapshot), Err(CrowdError::Snapshot { part: "rigs", .. })));
}
