//! Steady frames allocate nothing, counted by the global allocator.

use phalanx::build::{BuildOptions, RootMotionOptions, build_rig};
use phalanx::clip::Marker;
use phalanx::crowd::{BoneBuffer, Crowd, PlayOptions, Tier, TierDetail, Tiers};
use phalanx::playback::{EventKinds, Mixer, Playable};
use phalanx::rig::Rig;
use phalanx_testkit::alloc::{self, allocations, pool};
use phalanx_testkit::chain::forty;
use phalanx_workload::standard_crowd;
use std::sync::{Arc, Mutex};

/// One test at a time: the count is of the whole process.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn steady_frames_allocate_nothing() {
    let _alone = alloc::alone();
    let _alone = ALONE.lock();
    for (threads, travels) in [(1, false), (4, false), (4, true)] {
        let counted = pool(threads).install(|| {
            let options = BuildOptions {
                root_motion: travels.then(RootMotionOptions::default),
                ..BuildOptions::default()
            };
            let rig = Arc::new(build_rig(forty(), &options).unwrap());
            let (mut crowd, all) = standard_crowd(rig, &[], 700).unwrap();
            let id = all[0].rig();
            crowd.apply_root_motion(id, travels).unwrap();
            let mut buffer = BoneBuffer::new();
            let mut frame = |crowd: &mut phalanx::crowd::Crowd| {
                crowd.advance(1.0 / 60.0).unwrap();
                crowd.evaluate(&mut buffer);
            };
            // The first frames make the buffers.
            (0..3).for_each(|_| frame(&mut crowd));
            let before = allocations();
            (0..100).for_each(|_| frame(&mut crowd));
            let steady = allocations() - before;
            let moved = crowd.root_motion(id).unwrap().instances.len();
            assert_eq!(moved, if travels { 700 } else { 0 });
            // That the count can rise at all.
            crowd.snapshot();
            assert!(allocations() > before + steady);
            steady
        });
        assert_eq!(counted, 0, "{threads} workers, travelling: {travels}");
    }
}

/// A rig whose first clip has markers.
fn marked() -> Arc<Rig> {
    let mut rig = build_rig(forty(), &Default::default()).unwrap();
    let markers = (0..5).map(|i| Marker::new("m", 0.2 * i as f32)).collect();
    rig.set_markers(0, markers).unwrap();
    Arc::new(rig)
}

/// Markers, loops, blend spaces whose parameter moves, and fades between the same clips.
#[test]
fn steady_frames_with_events_and_blend_spaces_allocate_nothing() {
    let _alone = alloc::alone();
    let _alone = ALONE.lock();
    let (crowd, mixer) = pool(2).install(|| {
        let mut crowd = Crowd::new();
        let id = crowd.add_rig(marked()).unwrap();
        let clips = [0, 1].map(|c| crowd.clip_by_index(id, c).unwrap());
        let space = crowd.add_blend_space(id, &[(0.0, clips[0]), (1.0, clips[1])]).unwrap();
        let instances = [0; 300].map(|_| crowd.spawn(id).unwrap());
        for (n, &i) in instances.iter().enumerate() {
            let options = PlayOptions { time: 0.013 * n as f64, ..PlayOptions::default() };
            let motion = if n % 2 == 0 { Playable::Clip(clips[0]) } else { Playable::Space(space) };
            crowd.play(i, motion, &options).unwrap();
        }
        let mut buffer = BoneBuffer::new();
        let mut events = 0;
        let mut frame = |crowd: &mut Crowd, n: usize| {
            for &i in instances.iter().skip(1).step_by(2) {
                let value = 0.5 + 0.5 * (n as f32 * 0.3).sin();
                crowd.player(i).unwrap().set_parameter(0, space, value).unwrap();
            }
            crowd.advance(1.0 / 60.0).unwrap();
            events += crowd.events().len();
            crowd.evaluate(&mut buffer);
        };
        (0..30).for_each(|n| frame(&mut crowd, n));
        let before = allocations();
        (30..150).for_each(|n| frame(&mut crowd, n));
        let crowd = allocations() - before;
        assert!(events > 1000, "{events}");

        let mut mixer = Mixer::new(marked()).unwrap();
        let clips = [0, 1].map(|c| mixer.clip_by_index(c).unwrap());
        let mut frame = |n: usize| {
            if n.is_multiple_of(20) {
                mixer.player().fade_to(0, clips[n / 20 % 2], 0.2, &PlayOptions::default()).unwrap();
            }
            mixer.advance(1.0 / 60.0).unwrap();
            mixer.evaluate();
        };
        (0..60).for_each(&mut frame);
        let before = allocations();
        (60..160).for_each(&mut frame);
        (crowd, allocations() - before)
    });
    assert_eq!((crowd, mixer), (0, 0));
}

/// Frames of a crowd that few listen to, and those after what is listened to has changed.
#[test]
fn unheard_frames_allocate_nothing() {
    let _alone = alloc::alone();
    let _alone = ALONE.lock();
    let markers = EventKinds { markers: true, ..EventKinds::NONE };
    for threads in [1, 3] {
        let counted = pool(threads).install(|| {
            let (mut crowd, all) = standard_crowd(marked(), &[], 3000).unwrap();
            let id = all[0].rig();
            let mut events = 0;
            let mut frames = |crowd: &mut Crowd, count: usize| {
                for _ in 0..count {
                    crowd.advance(1.0 / 60.0).unwrap();
                    events += crowd.events().len();
                }
            };
            frames(&mut crowd, 60);
            let before = allocations();
            for kinds in [EventKinds::NONE, markers, EventKinds::ALL, EventKinds::NONE] {
                crowd.set_event_filter(id, kinds).unwrap();
                frames(&mut crowd, 100);
            }
            let counted = allocations() - before;
            assert!(events > 3000, "{events}");
            counted
        });
        assert_eq!(counted, 0, "{threads} workers");
    }
}

/// Instances come to tiers with details and go back, fade, and share phases.
#[test]
fn steady_frames_of_tiers_with_details_allocate_nothing() {
    let _alone = alloc::alone();
    let _alone = ALONE.lock();
    let tier = |height, level: Option<usize>, rate, shared_error| Tier {
        height,
        rate,
        interpolate: rate > 1,
        shared_error,
        detail: level.map(|level| TierDetail { level, ..TierDetail::default() }),
        springs: true,
    };
    let tiers = Tiers {
        tiers: vec![
            tier(30.0, None, 1, None),
            tier(20.0, Some(1), 2, None),
            tier(0.0, Some(2), 1, Some(0.15)),
        ],
        ..Tiers::default()
    };
    for threads in [1, 3] {
        let counted = pool(threads).install(|| {
            let rig = Arc::new(phalanx::import::mannequin().unwrap());
            let (mut crowd, all) = standard_crowd(rig, &[0, 1, 2], 300).unwrap();
            let id = all[0].rig();
            let clips = [0, 1, 2].map(|c| crowd.clip_by_index(id, c).unwrap());
            crowd.set_tiers(Some(tiers.clone())).unwrap();
            let mut buffer = BoneBuffer::new();
            let mut heights = vec![0.0; all.len()];
            let mut frame = |crowd: &mut Crowd, n: usize| {
                for (i, height) in heights.iter_mut().enumerate() {
                    *height = 5.0 + 10.0 * ((i + n / 6) % 4) as f32;
                }
                crowd.set_importances(id, &heights).unwrap();
                let who = all[n % 24];
                let to = clips[n / 24 % 3];
                crowd.fade_to(who, to, 0.2, &PlayOptions::default()).unwrap();
                crowd.advance(1.0 / 60.0).unwrap();
                crowd.evaluate(&mut buffer);
            };
            (0..480).for_each(|n| frame(&mut crowd, n));
            let before = allocations();
            (480..640).for_each(|n| frame(&mut crowd, n));
            let counted = allocations() - before;
            let shown = all.iter().filter(|&&i| crowd.shown(i).and_then(|s| s.detail).is_some());
            assert!(shown.count() > 100);
            counted
        });
        assert_eq!(counted, 0, "{threads} workers");
    }
}
