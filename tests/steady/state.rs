//! The size of a crowd's state, and frames in which many characters begin a crossfade.

use phalanx::clip::Marker;
use phalanx::crowd::{ClipId, Crowd, InstanceId, PlayOptions};
use phalanx::playback::{CrossFade, FadeKind};
use phalanx_testkit::alloc::{self, allocations, pool};
use phalanx_testkit::chain::forty;
use phalanx_workload::hash01;
use std::sync::Arc;

const COUNT: usize = 10_000;

/// A crowd of one rig with one layer, whose instances play a clip each.
fn crowd() -> (Crowd, Vec<InstanceId>, Vec<ClipId>) {
    let mut rig = phalanx::build::build_rig(forty(), &Default::default()).unwrap();
    rig.set_markers(0, vec![Marker::new("step", 0.2)]).unwrap();
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(Arc::new(rig)).unwrap();
    let clips: Vec<_> = (0..2).map(|c| crowd.clip_by_index(id, c).unwrap()).collect();
    let instances: Vec<_> = (0..COUNT).map(|_| crowd.spawn(id).unwrap()).collect();
    for (n, &i) in instances.iter().enumerate() {
        let options = PlayOptions { time: hash01(n as u64), ..PlayOptions::default() };
        crowd.play(i, clips[n % 2], &options).unwrap();
    }
    (crowd, instances, clips)
}

/// World transforms included, palettes and what an evaluation keeps not.
#[test]
fn a_character_takes_256_bytes() {
    let _alone = alloc::alone();
    let before = alloc::live();
    let (mut crowd, instances, clips) = crowd();
    let handles = std::mem::size_of_val(&instances[..]) + std::mem::size_of_val(&clips[..]);
    let bytes = |now: i64| (now - before - handles as i64) / COUNT as i64;
    let spawned = bytes(alloc::live());
    crowd.advance(1.0 / 60.0).unwrap();
    let advanced = bytes(alloc::live());
    println!("{spawned} bytes, {advanced} with room for events");
    assert!(spawned <= 256, "{spawned}");
    assert!(crowd.events().len() < COUNT);
}

/// In every frame 2% begin a crossfade of 0.3 s; some are interrupted, some change their speeds.
#[test]
fn frames_with_new_crossfades_allocate_nothing() {
    let _alone = alloc::alone();
    let (counted, events) = pool(2).install(|| {
        let (mut crowd, instances, clips) = crowd();
        let mut events = 0;
        let mut frame = |crowd: &mut Crowd, n: usize| {
            for k in 0..COUNT / 50 {
                let seed = (n * COUNT + k) as u64;
                let at = (hash01(seed) * COUNT as f64) as usize;
                let (i, to) = (instances[at], clips[(n + k) % 2]);
                let options = PlayOptions::default();
                if k % 10 > 0 {
                    crowd.fade_to(i, to, 0.3, &options).unwrap();
                    continue;
                }
                let from = crowd.playing(i).unwrap().clips().next().unwrap();
                let kind = if k % 20 == 0 { FadeKind::Inertial } else { FadeKind::Blend };
                let fade = CrossFade { warp: true, kind, ..0.3.into() };
                let mut player = crowd.player(i).unwrap();
                player.cross_fade(0, from, to, fade, &options).unwrap();
            }
            crowd.advance(1.0 / 60.0).unwrap();
            events += crowd.events().len();
        };
        (0..60).for_each(|n| frame(&mut crowd, n));
        let before = allocations();
        (60..180).for_each(|n| frame(&mut crowd, n));
        (allocations() - before, events)
    });
    assert!(events > COUNT, "{events}");
    assert_eq!(counted, 0);
}

/// All are in an inertial fade at any time, each of at most 2 kB; some are interrupted, and frames evaluate them.
#[test]
fn a_crowd_of_inertial_fades_allocates_nothing() {
    let _alone = alloc::alone();
    const SOME: usize = 1000;
    let counted = pool(2).install(|| {
        let (mut crowd, instances, clips) = crowd();
        crowd.despawn_many(&instances[SOME..]).unwrap();
        let mut bones = phalanx::crowd::BoneBuffer::new();
        let mut frame = |crowd: &mut Crowd, n: usize| {
            for (k, &i) in instances[..SOME].iter().enumerate().filter(|(k, _)| k % 12 == n % 12) {
                let from = crowd.playing(i).unwrap().clips().next().unwrap();
                let to = if from == clips[0] { clips[1] } else { clips[0] };
                let seconds = if k % 3 == 0 { 0.5 } else { 0.25 };
                let fade = CrossFade { seconds, kind: FadeKind::Inertial, ..CrossFade::default() };
                let mut player = crowd.player(i).unwrap();
                player.cross_fade(0, from, to, fade, &PlayOptions::default()).unwrap();
            }
            crowd.advance(1.0 / 60.0).unwrap();
            crowd.evaluate(&mut bones);
        };
        (0..60).for_each(|n| frame(&mut crowd, n));
        let bytes = crowd.inertial_bytes();
        assert!((SOME..=SOME * 2048).contains(&bytes), "{bytes}");
        assert_eq!(crowd.inertial_refused(), 0);
        let before = allocations();
        (60..120).for_each(|n| frame(&mut crowd, n));
        allocations() - before
    });
    assert_eq!(counted, 0);
}

/// With tiers the first crossfade makes room for a quarter of the crowd: 18 bytes a character in place of 72.
#[test]
fn with_tiers_crossfades_take_less() {
    let _alone = alloc::alone();
    let taken = |tiers: Option<phalanx::crowd::Tiers>| {
        let (mut crowd, instances, clips) = crowd();
        crowd.set_tiers(tiers).unwrap();
        let before = alloc::live();
        let options = PlayOptions::default();
        crowd.fade_to(instances[0], clips[1], 0.3, &options).unwrap();
        alloc::live() - before
    };
    let (without, with) = (taken(None), taken(Some(Default::default())));
    let each = COUNT as i64;
    assert!(without > 60 * each && with < 30 * each, "{with} {without}");
}
